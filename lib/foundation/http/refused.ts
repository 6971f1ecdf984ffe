/** Refused: undoes the transaction of an answer of 400 or above, without an error for the caller. */
import type { RestResponse } from '../base/response.ts'

type Transact<Manager> = <T>(work: (em: Manager) => Promise<T>) => Promise<T>

/** Carries the answer out of its transaction. */
export class Refused extends Error {
  readonly response: RestResponse

  constructor(response: RestResponse) {
    super(`The answer is ${response.status}.`)
    this.response = response
  }
}

export async function commitUnlessRefused<Manager>(
  transaction: Transact<Manager>,
  answer: (em: Manager) => Promise<RestResponse>,
): Promise<RestResponse> {
  try {
    return await transaction(async em => {
      const response = await answer(em)
      if (response.status >= 400) throw new Refused(response)
      return response
    })
  } catch (error) {
    if (error instanceof Refused) return error.response
    throw error
  }
}
