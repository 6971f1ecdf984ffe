/** An answer for a check of conformity. */

/** Header names are in lower case. */
export interface HeldAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Implemented by `Conformity`. */
export interface AnswerCheck {
  knows(path: string): boolean
  check(method: string, path: string, answer: HeldAnswer): string[]
}
