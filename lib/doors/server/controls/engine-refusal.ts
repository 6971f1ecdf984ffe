/** Answers 405 where the engine cannot do the work of a test control: a 500 would blame the server. */
import { RestError, restError } from '../../../foundation/errors/errors.ts'

/** `engine.fork: the database can be copied only while nobody else is connected to it`. */
const REFUSAL = /^engine\.\w+: /

/** @throws RestError method_not_allowed for such a refusal; other errors as they are */
export function refuseImpossible(error: unknown): never {
  const isPlain = error instanceof Error && !(error instanceof RestError) && !(error instanceof TypeError) && !(error instanceof RangeError)
  if (!isPlain || !REFUSAL.test(error.message)) throw error
  throw restError('method_not_allowed', error.message, { cause: error })
}
