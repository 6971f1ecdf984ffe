/**
 * An answer of the engine.
 *
 * @template Body the caller's type of the body; nothing checks it. Default: anything. The typed client derives it from the entities.
 * @example const { body }: RestResponse<{ users: { id: number }[] }> = await engine.handle('GET', '/v1/users')
 */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely: what they hold follows from the model
export interface RestResponse<Body = any> {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Record<string, string>
  /** Plain JSON; undefined without a body (HEAD, OPTIONS). */
  readonly body: Body
}

/** RFC 8259 needs no charset; existing clients do. */
export const JSON_TYPE = 'application/json; charset=UTF-8'

/** For errors, where the client asks for this type (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json'
