/** Refused: an answer that refuses without being thrown, and takes back the transaction in which it was made. */
import type { RestResponse } from './response.ts'

/** Runs work in a transaction, which an error takes back. */
type Transact<Manager> = <T>(work: (em: Manager) => Promise<T>) => Promise<T>

/** Carries such an answer out of its transaction. */
export class Refused extends Error {
  readonly response: RestResponse

  constructor(response: RestResponse) {
    super(`The answer is ${response.status}.`)
    this.response = response
  }
}

/** Answers in a transaction, which is taken back where the answer is of 400 or above. */
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
