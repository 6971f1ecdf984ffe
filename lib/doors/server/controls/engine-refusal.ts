/** Engine refusal: tells an HTTP client what the engine cannot do with this database, which is no failure of the server. */
import { RestError, restError } from '../../../foundation/errors/errors.ts'

/** How members of an engine refuse: `engine.fork: the database can be copied only while nobody else is connected to it`. */
const REFUSAL = /^engine\.\w+: /

/** @throws RestError method_not_allowed for such an error; any other as it is. */
export function refuseImpossible(error: unknown): never {
  const isPlain = error instanceof Error && !(error instanceof RestError) && !(error instanceof TypeError) && !(error instanceof RangeError)
  if (!isPlain || !REFUSAL.test(error.message)) throw error
  throw restError('method_not_allowed', error.message, { cause: error })
}
