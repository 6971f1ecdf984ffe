/** The type of a request in the journal, whole or in short. */
import type { Change } from './changes.ts'

/** A request in the journal. `[secret]` replaces tokens and passwords. */
export interface JournalEntry {
  /** Counted from 1, also after `clear` and `reset`. */
  readonly id: number
  /** Time of arrival by `engine.clock`: ISO 8601, UTC. */
  readonly at: string
  /** Upper case. */
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Decoded pairs of name with operator and value. Empty when unreadable. A long query is dropped with bodies. */
  readonly query: readonly (readonly [string, string])[]
  /** The body of a POST, PUT or PATCH, as sent. Undefined when unreadable, or no longer kept: see `response`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly body: any
  /** Undefined when `handle` rejected. */
  readonly status: number | undefined
  /**
   * The body of the answer. Undefined without a body, or when no longer kept: the newest requests keep up to 3,000 records, nested ones
   * included, and up to 32 MiB with changed rows.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly response: any
  /** Milliseconds from the call of `handle` to its answer. */
  readonly duration: number
  /** Rows changed by committed transactions. Undefined when no longer kept, or not reported by the database. */
  readonly changes: readonly Change[] | undefined
  /** Milliseconds at each stage, with the option `serverTiming`. */
  readonly timing?: Readonly<Record<string, number>>
  /** The ID (`handle.id`) of the fault that ended the request, else of the first fault. */
  readonly fault?: string
  /** The test that sent the request: header `X-Test`, at most 200 characters. */
  readonly test?: string
  /** As `engine.token` takes the ID. */
  readonly user?: string
  /** Whether a hook or handler sent the request while answering another. */
  readonly nested: boolean
  /** Why `handle` rejected, or the error behind a status of 500 or above: a code (`ECONNRESET`), else name and message. */
  readonly error?: string
}

/** For lists and event streams, without bodies. */
export interface RequestSummary extends Omit<JournalEntry, 'body' | 'response' | 'changes' | 'timing'> {
  /** Undefined as `changes` of the entry. */
  readonly changed: number | undefined
  /** The first 50 changes. */
  readonly changes: readonly Pick<Change, 'type' | 'resource' | 'id'>[] | undefined
}
