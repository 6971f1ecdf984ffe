/** Recorded: the options and the result of `engine.record`. */

export interface RecordOptions {
  readonly test?: string
  /** The error message of the runner. */
  readonly failure?: string
}

/** The result of `engine.record`: the file, its size in bytes, and notes on what the file leaves out. */
export interface Recorded {
  /** Absolute path. */
  readonly path: string
  readonly bytes: number
  /** Omissions, a sentence each. */
  readonly notes: readonly string[]
}
