/**
 * Checks that headers can be sent. Headers of the application are checked where they are given, because a server that writes them could
 * only break off. The rules are those of `node:http`, which is not loaded for them: the typed client refuses with the same errors in
 * browsers.
 */

/** A token (RFC 9110 section 5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** What a value may not have: characters other than a tab, visible ones, the space and those up to 255 (RFC 9110 section 5.5). */
const FORBIDDEN = /[^\t\u0020-\u007E\u0080-\u00FF]/

/**
 * Returns the headers with lower-case names.
 *
 * @throws TypeError that names the place of an invalid header: names are tokens, values texts without control characters (RFC 9110
 * section 5).
 */
export function checkHeaders(headers: Readonly<Record<string, string>>, place: string): Record<string, string> {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const text: unknown = typeof value === 'number' ? String(value) : value
    const fault = findFault(name, text)
    if (fault !== undefined) throw new TypeError(`${place}: the header ${JSON.stringify(name)} cannot be sent: ${fault}.`)
    checked[name.toLowerCase()] = text as string
  }
  return checked
}

export function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function findFault(name: string, text: unknown): string | undefined {
  if (typeof text !== 'string') return `it is ${text === null ? 'null' : typeof text}, not a string`
  if (!NAME.test(name)) return 'its name is not a token'
  return FORBIDDEN.test(text) ? 'its value has a character that headers may not have' : undefined
}
