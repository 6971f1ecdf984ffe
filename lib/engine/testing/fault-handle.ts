/** The handles of faults for tests, such as `const gate = engine.hold(...)`. */
import type { FailureDetails } from './fault-options.ts'
import type { FaultRequest } from './fault-request.ts'

/** A fault in effect, until disposed, by `using` too, or until the engine is reset or closed. */
export interface FaultHandle extends Disposable {
  /** The name in the journal (`entry.fault`), in `engine.faults` and over HTTP: `f1` for the engine's first. */
  readonly id: string
  /** Number of requests met. */
  readonly met: number
  /** Number of requests to come: `Infinity` without `times`; 0 after the end. */
  readonly left: number
  /** Ends the fault; waiting requests go on. Idempotent. */
  dispose(): void
}

/** A fault that no request has met yet. */
export interface PendingFault {
  /** `fail`, `hold` and so on. */
  readonly kind: string
  /** The pattern; a function's name or text. */
  readonly match: string
}

/** The treatment of unmet faults when the engine is reset or closed. */
export type UnmetFaults = 'ignore' | 'throw'

/** Holds requests. Disposing opens the gate. */
export interface Gate extends FaultHandle {
  /** The first held request; rejects when the gate ends before. */
  readonly arrived: Promise<FaultRequest>
  /** In order of arrival. */
  readonly requests: readonly FaultRequest[]
  release(): void
  /**
   * Answers held requests with an error, and ends the gate.
   *
   * @param status an integer from 400 to 599
   * @throws RangeError, TypeError
   */
  fail(status: number, details?: FailureDetails): void
  /** Cuts the connections of held requests, and ends the gate. */
  drop(): void
}

/** A fault as plain data. */
export interface FaultState extends PendingFault {
  readonly id: string
  readonly met: number
  /** `null`: all. */
  readonly left: number | null
  /** The plain data among the options: `{ status: 503, times: 2 }`. */
  readonly options: Readonly<Record<string, unknown>>
  readonly held?: readonly Pick<FaultRequest, 'method' | 'path' | 'query'>[]
}
