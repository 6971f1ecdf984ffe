/** Fault handle: what a test holds of a fault that it has asked for, and what can be said of one. */
import type { FailureDetails } from './fault-options.ts'
import type { FaultRequest } from './fault-request.ts'

/** A fault in effect. It ends when it is disposed, by `using` too, and when the engine is reset or closed. */
export interface FaultHandle extends Disposable {
  /** Its name in the journal (`entry.fault`), in `engine.faults` and over HTTP: `f1` for the first of the engine. */
  readonly id: string
  /** How many requests it has met. */
  readonly met: number
  /** How many requests it still meets: `Infinity` without `times`; 0 once it has ended. */
  readonly left: number
  /** Ends it; requests that wait for it go on. Idempotent. */
  dispose(): void
}

/** A fault that no request has met yet. */
export interface PendingFault {
  /** What was called: `fail`, `hold` and the others. */
  readonly kind: string
  /** The pattern; of a function its name, or its text. */
  readonly match: string
}

/** What becomes of faults that no request has met when the engine is reset or closed. */
export type UnmetFaults = 'ignore' | 'throw'

/** A gate, which holds the requests that meet it. Disposing it opens it. */
export interface Gate extends FaultHandle {
  /** The first request that is held, as soon as it is; rejects when the gate ends before. */
  readonly arrived: Promise<FaultRequest>
  /** The requests that are held now, in the order in which they came. */
  readonly requests: readonly FaultRequest[]
  /** Lets those that are held go on, and all others from now on. */
  release(): void
  /**
   * Answers those that are held with an error, and ends the gate: others pass.
   *
   * @param status an integer from 400 to 599
   * @throws RangeError, TypeError
   */
  fail(status: number, details?: FailureDetails): void
  /** Loses the connections of those that are held, and ends the gate: others pass. */
  drop(): void
}

/** A fault as plain data. */
export interface FaultState extends PendingFault {
  readonly id: string
  /** How many requests it has met. */
  readonly met: number
  /** How many requests it still meets; `null`: all. */
  readonly left: number | null
  /** What it was asked for with, as far as that is plain data: `{ status: 503, times: 2 }`. */
  readonly options: Readonly<Record<string, unknown>>
  /** Of a gate: the requests that it holds now. */
  readonly held?: readonly Pick<FaultRequest, 'method' | 'path' | 'query'>[]
}
