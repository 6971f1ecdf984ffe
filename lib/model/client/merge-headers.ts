/**
 * Merge headers: the headers of a call, of which the later ones replace the earlier. Names know no case (RFC 9110, section 5.1), and are in
 * small letters here.
 */
type Headers = Readonly<Record<string, string>>

export function mergeHeaders(...all: readonly (Headers | undefined)[]): Headers {
  const merged: Record<string, string> = {}
  for (const headers of all) for (const [name, value] of Object.entries(headers ?? {})) merged[name.toLowerCase()] = value
  return merged
}
