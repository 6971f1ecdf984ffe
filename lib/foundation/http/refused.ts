/**
 * Undoes the transaction of an answer of 400 or above, and gives the caller the answer: `requireAccepted` inside the transaction throws,
 * `answerRefused` around the transaction catches.
 */
import type { RestResponse } from '../base/response.ts'

type Transact<Manager> = <T>(work: (em: Manager) => Promise<T>) => Promise<T>

class Refused extends Error {
  readonly response: RestResponse

  constructor(response: RestResponse) {
    super(`The answer is ${response.status}.`)
    this.response = response
  }
}

export function requireAccepted(response: RestResponse): RestResponse {
  if (response.status >= 400) throw new Refused(response)
  return response
}

export async function answerRefused<T>(transaction: () => Promise<T>): Promise<T | RestResponse> {
  try {
    return await transaction()
  } catch (error) {
    if (error instanceof Refused) return error.response
    throw error
  }
}

export function commitUnlessRefused<Manager>(
  transaction: Transact<Manager>,
  answer: (em: Manager) => Promise<RestResponse>,
): Promise<RestResponse> {
  return answerRefused(() => transaction(async em => requireAccepted(await answer(em))))
}
