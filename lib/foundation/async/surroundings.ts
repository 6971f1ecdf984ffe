/**
 * Gives running work a value across calls and waits: the present request, the present transaction. All share one AsyncLocalStorage: Node
 * copies every storage at each entry, too slow with hundreds of forks.
 */
import { runtime, type Runtime, type WorkContext } from '../runtime/runtime.ts'

interface SurroundingFrame {
  readonly owner: object
  readonly value: unknown
  readonly outer: SurroundingFrame | undefined
}

let frames: WorkContext<SurroundingFrame> | undefined

/** Undefined: the frame is in `frames`. */
let now: SurroundingFrame | undefined

export class Surroundings<T extends object | true> {
  get current(): T | undefined {
    return find(now ?? frames?.getStore(), this)?.value as T | undefined
  }

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

/** Keeps values of `runAtOnce`, for waiting work and code of the application. */
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

/** The chain without a frame: else the chain of endless work would grow. */
function without(left: SurroundingFrame, frame: SurroundingFrame): SurroundingFrame | undefined {
  return frame === left ? frame.outer : { ...frame, outer: without(left, frame.outer!) }
}
