/**
 * Writes a posted array, all or none, by few statements. Where rules, scopes or wrappers must see each record, each member passes the
 * stages, in one transaction. Refuses with body_invalid, or with the field errors of all members.
 */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import { answerRefused, requireAccepted } from '../../foundation/http/refused.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { Turns } from '../../foundation/async/turns.ts'

interface BulkParts {
  readonly limits: Limits
  readonly end: RequestAbort
  readonly transaction: <T>(work: () => Promise<T>, end?: RequestAbort) => Promise<T>
  /** `undefined`: each member must be a request. */
  readonly together: () => Awaitable<readonly unknown[] | undefined>
  readonly answer: (body: unknown) => Awaitable<RestResponse>
}

/** The answer has all field errors, or is the first other refusal, also by a wrapper. */
export async function createEach(bodies: readonly unknown[], parts: BulkParts): Promise<readonly unknown[] | RestResponse> {
  const { limits, end, transaction } = parts
  if (bodies.length === 0) throw restError('body_invalid', 'The array must have at least one record.')
  if (bodies.length > limits.maxBulk) {
    const detail = `The array of the body has ${bodies.length} records; at most ${limits.maxBulk} are allowed (limits.maxBulk).`
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }
  const created = await parts.together()
  if (created !== undefined) return created
  return answerRefused(async () => (await transaction(() => createAll(bodies, parts), end)).map(({ body }) => readRecord(body)))
}

async function createAll(bodies: readonly unknown[], { limits, end, answer }: BulkParts): Promise<readonly RestResponse[]> {
  const errors = new FieldErrors(limits)
  const responses: RestResponse[] = []
  const turns = new Turns()
  for (const [index, body] of bodies.entries()) {
    const turn = turns.next()
    if (turn !== undefined) await turn
    end.throwIfReached()
    try {
      responses.push(requireAccepted(await answer(body)))
    } catch (error) {
      errors.push(...collectErrors(error, index))
    }
  }
  const refusal = errors.refusal()
  if (refusal !== undefined) throw refusal
  return responses
}

/** The record of a member's answer. */
export function readRecord(body: unknown): unknown {
  const { resource } = (body ?? {}) as { readonly resource?: unknown }
  return typeof resource === 'string' ? ((body as Readonly<Record<string, unknown>>)[resource] ?? null) : (body ?? null)
}

/** Gives field errors, and throws others, with the index of the member. */
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
