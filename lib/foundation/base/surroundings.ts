/**
 * Surroundings: what the work that runs belongs to, such as a request or a transaction, whatever it calls and waits for. All of a process
 * are in one AsyncLocalStorage: Node copies the entries of all storages that an asynchronous context has ever seen each time that one is
 * entered, so with one for each engine a process with hundreds of forks would spend its time on that.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** One surrounding, and those around it. No owner has two in a chain. */
interface SurroundingFrame {
  readonly owner: object
  readonly value: unknown
  readonly outer: SurroundingFrame | undefined
}

const frames = new AsyncLocalStorage<SurroundingFrame>()

/** The innermost frame of work that has ended when it returns; undefined: the AsyncLocalStorage has it. */
let now: SurroundingFrame | undefined

/** As an AsyncLocalStorage of its own. */
export class Surroundings<T extends object | true> {
  /** The value of the work that runs; undefined outside of any. */
  get current(): T | undefined {
    return find(now ?? frames.getStore(), this)?.value as T | undefined
  }

  /** Runs work such that all that it calls and waits for finds the value. */
  run<Result, Arguments extends unknown[]>(value: T, work: (...args: Arguments) => Result, ...args: Arguments): Result {
    const inner = this.#enter(value)
    return inner === frames.getStore() ? work(...args) : runWithin(inner, work, ...args)
  }

  /**
   * Runs work such that all that it calls finds the value, without the cost of an asynchronous context. What the work leaves to be done
   * later does not find the value, unless it begins within `keepSurroundings`.
   */
  runAtOnce<Result>(value: T, work: () => Result): Result {
    const before = now
    now = this.#enter(value)
    try {
      return work()
    } finally {
      now = before
    }
  }

  /** Returns the frames with one of this owner. */
  #enter(value: T): SurroundingFrame {
    const outer = now ?? frames.getStore()
    const own = find(outer, this)
    if (own?.value === value) return outer!
    return { owner: this, value, outer: own === undefined ? outer : without(own, outer!) }
  }
}

/** Runs work that may go on later, or is not the engine's own, such that all that it calls and waits for finds what the caller finds. */
export function keepSurroundings<Result>(work: () => Result): Result {
  return now === undefined ? work() : runWithin(now, work)
}

function runWithin<Result, Arguments extends unknown[]>(
  frame: SurroundingFrame,
  work: (...args: Arguments) => Result,
  ...args: Arguments
): Result {
  const before = now
  now = undefined
  try {
    return frames.run(frame, work, ...args)
  } finally {
    now = before
  }
}

function find(frame: SurroundingFrame | undefined, owner: object): SurroundingFrame | undefined {
  let each = frame
  while (each !== undefined && each.owner !== owner) each = each.outer
  return each
}

/** The chain without one of its frames: work that begins other work for ever has no chain that grows. */
function without(left: SurroundingFrame, frame: SurroundingFrame): SurroundingFrame | undefined {
  return frame === left ? frame.outer : { ...frame, outer: without(left, frame.outer!) }
}
