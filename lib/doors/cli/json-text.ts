/** Parses a JSON text. Errors name the file and the place. */
import { describePosition, findJsonError } from '../../foundation/json/json-position.ts'
import { CommandError } from './command-error.ts'

/** @param parse decides about numbers with many digits */
export function parseJson(text: string, name: string, parse: (text: string) => unknown = JSON.parse): unknown {
  const bare = dropByteOrderMark(text)
  try {
    return parse(bare)
  } catch (error) {
    const fault = findJsonError(bare)
    if (fault === undefined) throw error
    const found = fault.found === undefined ? 'the text ends too early' : `unexpected ${JSON.stringify(fault.found)}`
    throw new CommandError(`${name} is not JSON: ${found} at ${describePosition(fault)}.`)
  }
}

/** Some editors write a byte order mark. */
export function dropByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
