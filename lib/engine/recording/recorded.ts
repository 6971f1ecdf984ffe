/** The types of `engine.record`, options and result. */

export interface RecordOptions {
  readonly test?: string
  /** The error message of the runner. */
  readonly failure?: string
}

/** What `engine.record` has written. */
export interface Recorded {
  /** Absolute path. */
  readonly path: string
  readonly bytes: number
  /** Omissions, a sentence each. */
  readonly notes: readonly string[]
}
