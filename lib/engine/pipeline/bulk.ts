/**
 * Bulk: makes a record of each member of an array that is posted, all of them or none, in one transaction. Each member goes through the stages of a
 * request of its own, so that rules, scopes and wrappers see one record. Refuses with body_invalid, and with the errors of all members by their index.
 */
import { setImmediate } from 'node:timers/promises'
import type { Resource } from '../../model/model.ts'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { RequestAbort } from '../../foundation/base/abort.ts'
import { FieldErrors } from '../../foundation/base/body-errors.ts'
import { RestError, restError } from '../../foundation/base/errors.ts'
import type { FieldError } from '../../foundation/base/errors.ts'
import { Refused } from '../../foundation/base/refused.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import type { Request } from '../../records/request/parse-request.ts'
import { findListedResource } from './conditional.ts'

/** What makes the records. */
export interface BulkParts {
  readonly limits: Limits
  readonly end: RequestAbort
  /** Runs work in a transaction, in which those of the members are nested. */
  readonly transaction: <T>(work: () => Promise<T>, end?: RequestAbort) => Promise<T>
  /** Answers the request of one member. */
  readonly answer: (body: unknown) => Awaitable<RestResponse>
}

/** Returns the resource of which a request makes several records; undefined when it is another request. */
export function findBulkResource({ method, body }: Pick<Request, 'method' | 'body'>, target: Target): Resource | undefined {
  if (method !== 'POST' || !Array.isArray(body)) return undefined
  return findListedResource(target)
}

/** Makes the records, and returns the answers to each. A wrapper that refuses one without throwing refuses all of them with its answer. */
export async function createEach(bodies: readonly unknown[], parts: BulkParts): Promise<readonly RestResponse[] | RestResponse> {
  const { limits, end, transaction } = parts
  if (bodies.length === 0) throw restError('body_invalid', 'The array must have at least one record.')
  if (bodies.length > limits.maxBulk) {
    const detail = `The array of the body has ${bodies.length} records; at most ${limits.maxBulk} are allowed (limits.maxBulk).`
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }
  try {
    return await transaction(() => createAll(bodies, parts), end)
  } catch (error) {
    if (error instanceof Refused) return error.response
    throw error
  }
}

/** Milliseconds for which the members are worked on without a turn of the event loop. */
const TURN_MS = 20

async function createAll(bodies: readonly unknown[], { limits, end, answer }: BulkParts): Promise<readonly RestResponse[]> {
  const errors = new FieldErrors(limits)
  const responses: RestResponse[] = []
  let turned = performance.now()
  for (const [index, body] of bodies.entries()) {
    if (performance.now() - turned > TURN_MS) {
      // Others may hang up, time out or ask to wait meanwhile.
      await setImmediate()
      turned = performance.now()
    }
    end.throwIfReached()
    try {
      const response = await answer(body)
      if (response.status >= 400) throw new Refused(response)
      responses.push(response)
    } catch (error) {
      errors.push(...collectErrors(error, index))
    }
  }
  const refusal = errors.refusal()
  if (refusal !== undefined) throw refusal
  return responses
}

/** Returns the errors of the body of a member. Throws what is not an error of the body, with the index. */
function collectErrors(error: unknown, index: number): readonly FieldError[] {
  if (!(error instanceof RestError)) throw error
  const { status, code, message, errors, headers, cause } = error
  const isOfBody = code === 'validation_failed' || code === 'unique_conflict'
  if (isOfBody && errors !== undefined) return errors.map(each => atIndex(each, index))
  const placed = errors === undefined ? {} : { errors: errors.map(each => atIndex(each, index)) }
  throw new RestError(status, code, `[${index}]: ${message}`, { ...placed, headers, cause })
}

function atIndex(error: FieldError, index: number): FieldError {
  const attribute = error.attribute === undefined ? String(index) : `${index}.${error.attribute}`
  return { ...error, attribute, detail: `[${index}]: ${error.detail}` }
}
