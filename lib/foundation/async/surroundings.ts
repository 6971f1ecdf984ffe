/**
 * Surroundings: the request or transaction of running work, across calls and waits. One context for the process: Node copies all contexts
 * with each entry, which would take all the time of a process with hundreds of forks.
 */
import { runtime, type Runtime, type WorkContext } from '../runtime/runtime.ts'

/** An owner occurs once in a chain. */
interface SurroundingFrame {
  readonly owner: object
  readonly value: unknown
  readonly outer: SurroundingFrame | undefined
}

let frames: WorkContext<SurroundingFrame> | undefined

/** Of synchronous work. Undefined: the context has the frame. */
let now: SurroundingFrame | undefined

/** Acts like an AsyncLocalStorage of its own. */
export class Surroundings<T extends object | true> {
  get current(): T | undefined {
    return find(now ?? frames?.getStore(), this)?.value as T | undefined
  }

  /** All calls and waits find the value. */
  run<Result, Arguments extends unknown[]>(value: T, work: (...args: Arguments) => Result, ...args: Arguments): Result {
    const inner = this.#enter(value)
    return inner === frames?.getStore() ? work(...args) : runWithin(inner, work, ...args)
  }

  /** For synchronous calls, without the cost of an asynchronous context. Later work finds the value only within `keepSurroundings`. */
  runAtOnce<Result>(value: T, work: () => Result): Result {
    const before = now
    now = this.#enter(value)
    try {
      return work()
    } finally {
      now = before
    }
  }

  #enter(value: T): SurroundingFrame {
    const outer = now ?? frames?.getStore()
    const known = find(outer, this)
    if (known?.value === value) return outer!
    return { owner: this, value, outer: known === undefined ? outer : without(known, outer!) }
  }
}

/** Keeps values of `runAtOnce`, for work that may wait or is the application's. */
export function keepSurroundings<Result>(work: () => Result): Result {
  return now === undefined ? work() : runWithin(now, work)
}

/** For callbacks of promises: a page keeps no surroundings across waits. */
export const bindSurroundings: NonNullable<Runtime['bindWork']> = work => runtime.bindWork?.(work) ?? work

function runWithin<Result, Arguments extends unknown[]>(
  frame: SurroundingFrame,
  work: (...args: Arguments) => Result,
  ...args: Arguments
): Result {
  const before = now
  now = undefined
  try {
    return (frames ??= runtime.createContext()).run(frame, work, ...args)
  } finally {
    now = before
  }
}

function find(frame: SurroundingFrame | undefined, owner: object): SurroundingFrame | undefined {
  let each = frame
  while (each !== undefined && each.owner !== owner) each = each.outer
  return each
}

/** Endless work must not grow the chain. */
function without(left: SurroundingFrame, frame: SurroundingFrame): SurroundingFrame | undefined {
  return frame === left ? frame.outer : { ...frame, outer: without(left, frame.outer!) }
}
