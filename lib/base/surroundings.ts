/**
 * Surroundings: what the work that runs belongs to, such as a request or a transaction, whatever it calls and waits for. All of a process are in one
 * AsyncLocalStorage: Node copies the entries of all storages that an asynchronous context has ever seen each time that one is entered, so with one for each engine
 * a process with hundreds of forks would spend its time on that.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** One surrounding, and those around it. No owner has two in a chain. */
interface Frame {
  readonly owner: object
  readonly value: unknown
  readonly outer: Frame | undefined
}

const frames = new AsyncLocalStorage<Frame>()

/** As an AsyncLocalStorage of its own. */
export class Surroundings<T extends object | true> {
  /** The value of the work that runs; undefined outside of any. */
  get current(): T | undefined {
    return find(frames.getStore(), this)?.value as T | undefined
  }

  /** Runs work such that all that it calls and waits for finds the value. */
  run<Result, Arguments extends unknown[]>(value: T, work: (...args: Arguments) => Result, ...args: Arguments): Result {
    const outer = frames.getStore()
    const own = find(outer, this)
    if (own?.value === value) return work(...args)
    return frames.run({ owner: this, value, outer: own === undefined ? outer : without(own, outer!) }, work, ...args)
  }
}

function find(frame: Frame | undefined, owner: object): Frame | undefined {
  let each = frame
  while (each !== undefined && each.owner !== owner) each = each.outer
  return each
}

/** The chain without one of its frames: work that begins other work for ever has no chain that grows. */
function without(left: Frame, frame: Frame): Frame | undefined {
  return frame === left ? frame.outer : { ...frame, outer: without(left, frame.outer!) }
}
