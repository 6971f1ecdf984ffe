/** An answer of the engine. */
export interface RestResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Record<string, string>
  /** A plain JSON value; undefined when the answer has no body (HEAD, OPTIONS). */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely: what they hold follows from the model
  readonly body: any
}

/** The media type of every body (RFC 8259, with a charset as existing clients expect it). */
export const JSON_TYPE = 'application/json; charset=UTF-8'

/** The media type of an error body for those that ask for it (RFC 9457), which has no parameters. */
export const PROBLEM_TYPE = 'application/problem+json'
