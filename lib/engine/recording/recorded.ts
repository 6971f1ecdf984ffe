/** Recorded: what is asked of a recording, and what is said of one. */

/** Options of `engine.record`. */
export interface RecordOptions {
  /** The name of the test. */
  readonly test?: string
  /** What went wrong: the message of the runner. */
  readonly failure?: string
}

/** What has been recorded. */
export interface Recorded {
  /** The whole path of the file. */
  readonly path: string
  readonly bytes: number
  /** What is not in it, a sentence each. */
  readonly notes: readonly string[]
}
