/**
 * Engine refusal: what a member of the engine cannot do with this database is no failure of the server: who has asked over HTTP is told
 * why.
 */
import { RestError, restError } from '../../../foundation/errors/errors.ts'

/**
 * How the members of an engine say that something is not possible: `engine.fork: the database can be copied only while nobody else is
 * connected to it`.
 */
const REFUSAL = /^engine\.\w+: /

/** @throws RestError method_not_allowed for such an error; any other as it is. */
export function refuseAsked(error: unknown): never {
  const isPlain = error instanceof Error && !(error instanceof RestError) && !(error instanceof TypeError) && !(error instanceof RangeError)
  if (!isPlain || !REFUSAL.test(error.message)) throw error
  throw restError('method_not_allowed', error.message, { cause: error })
}
