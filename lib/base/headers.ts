/**
 * Checks that headers can be sent. Headers of the application are checked where they are given, because a server that writes them could
 * only break off.
 */
import { builtin } from './builtins.ts'

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
    try {
      if (typeof text !== 'string') throw new TypeError(`it is ${text === null ? 'null' : typeof text}, not a text`)
      builtin.http.validateHeaderName(name)
      builtin.http.validateHeaderValue(name, text)
      checked[name.toLowerCase()] = text
    } catch (error) {
      throw new TypeError(`${place}: the header ${JSON.stringify(name)} cannot be sent: ${(error as Error).message}.`, { cause: error })
    }
  }
  return checked
}
