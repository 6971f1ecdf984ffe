/** Journal entry: a request in the journal as plain data without secrets, whole or in short. */
import type { Change } from './changes.ts'

/** A request in the journal. It holds no token and no password: `[secret]` stands in their place. */
export interface JournalEntry {
  /**
   * Its number: 1 for the first request that the engine has answered, and one more for each after it, whatever has been cleared or reset
   * since.
   */
  readonly id: number
  /** When it came, by `engine.clock`: ISO 8601, UTC. */
  readonly at: string
  /** Upper case. */
  readonly method: string
  /** Without the query. */
  readonly path: string
  /**
   * The query, decoded: pairs of a name with its operator, and a value. Empty when it could not be read. A long one is dropped together
   * with the bodies.
   */
  readonly query: readonly (readonly [string, string])[]
  /**
   * The body of a POST, PUT or PATCH, as it was sent. Undefined when it could not be read, and when it is no longer kept: see `response`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly body: any
  /** Undefined when `handle` rejected. */
  readonly status: number | undefined
  /**
   * The body of the answer. Undefined without a body, and when it is no longer kept: the newest requests keep theirs, up to 3,000
   * records, those in records included, and, with the rows that they have changed, 32 MiB together.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly response: any
  /** Milliseconds from the call of `handle` to its answer. */
  readonly duration: number
  /** The rows that it has changed in a committed transaction. Undefined when they are no longer kept, as `response`, and on PostgreSQL. */
  readonly changes: readonly Change[] | undefined
  /** Milliseconds at each stage, where the option `serverTiming` is on. */
  readonly timing?: Readonly<Record<string, number>>
  /** The ID of the fault that it has met (`handle.id`): of several the one that ended it, else the first. */
  readonly fault?: string
  /** The test that has sent it: its header `X-Test`, at most 200 characters. */
  readonly test?: string
  /** Whose token it has: the ID of the user, as `engine.token` takes it. */
  readonly user?: string
  /** Whether a hook or handler made the request while it answered another one. */
  readonly nested: boolean
  /**
   * Why `handle` rejected, or the error behind an answer of 500 or above: the code of the error (`ECONNRESET`), else its name and
   * message.
   */
  readonly error?: string
}

/** A request in short: what lists and event streams show of it. The bodies are in its entry, which is found by the ID. */
export interface RequestSummary extends Omit<JournalEntry, 'body' | 'response' | 'changes' | 'timing'> {
  /** How many rows it has changed; undefined where that is not known any more, as `changes` of its entry. */
  readonly changed: number | undefined
  /** The first 50 of them. */
  readonly changes: readonly Pick<Change, 'type' | 'resource' | 'id'>[] | undefined
}
