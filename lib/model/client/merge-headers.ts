/** Merges headers for the client. Later ones win; names ignore case (RFC 9110, section 5.1) and become lower case. */
type Headers = Readonly<Record<string, string>>

export function mergeHeaders(...all: readonly (Headers | undefined)[]): Headers {
  const merged: Record<string, string> = {}
  for (const headers of all) for (const [name, value] of Object.entries(headers ?? {})) merged[name.toLowerCase()] = value
  return merged
}
