/**
 * Refuses wrong names and values of an application's headers early: a server would break off in the middle of an answer. Without
 * `node:http`, since the typed client has the same errors in browsers.
 */

/** A token (RFC 9110 section 5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Allowed: tab, space, visible characters up to 255 (RFC 9110 section 5.5). */
const FORBIDDEN = /[^\t\u0020-\u007E\u0080-\u00FF]/

/**
 * Returns lower-case names; numbers become texts.
 *
 * @throws TypeError that names the place of an invalid header (RFC 9110 section 5)
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
