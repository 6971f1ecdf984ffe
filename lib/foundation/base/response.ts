/**
 * An answer of the engine.
 *
 * @template Body what the caller takes the body for; nothing checks it. Default: anything. The typed client derives it from the entities.
 * @example const { body }: RestResponse<{ users: { id: number }[] }> = await engine.handle('GET', '/v1/users')
 */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely: what they hold follows from the model
export interface RestResponse<Body = any> {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Record<string, string>
  /** A plain JSON value; undefined when the answer has no body (HEAD, OPTIONS). */
  readonly body: Body
}

/** The media type of every body (RFC 8259, with a charset as existing clients expect it). */
export const JSON_TYPE = 'application/json; charset=UTF-8'

/** The media type of an error body for those that ask for it (RFC 9457), which has no parameters. */
export const PROBLEM_TYPE = 'application/problem+json'
