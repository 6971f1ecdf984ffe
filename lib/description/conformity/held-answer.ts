/** Held answer: what is held against a document, and what holds it. */

/** An answer, with lower-case names of headers. */
export interface HeldAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What holds answers against a document. See Conformity. */
export interface AnswerCheck {
  /** Whether a path is described, with any method. */
  knows(path: string): boolean
  /** Returns what of an answer is not as the document says: empty when all of it is. */
  check(method: string, path: string, answer: HeldAnswer): string[]
}
