/**
 * Awaitable values, and coroutines that wait for them in straight code. A value that is there already is worked on at once: a turn of the
 * queue of promises costs as much as reading a record does.
 */

import { keepSurroundings } from './surroundings.ts'

/** A value that may be there already. */
export type Awaitable<T> = T | Promise<T>

/** Calls a function with a value: at once when the value is there. */
export function chain<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value)
}

/** Work that may have to wait: yields promises, and is sent their values. A promise that is rejected throws where it was yielded. */
export type Coroutine<T> = Generator<Promise<unknown>, T>

/**
 * Waits inside a coroutine: `const value = yield* wait(awaitable)`.
 *
 * Gives iterators of its own, each of which is its own result: a generator for each value would cost more than the work between two of
 * them.
 */
export function wait<T>(value: Awaitable<T>): Iterable<Promise<unknown>, T> {
  return value instanceof Promise ? new Pending(value) : new Ready(value)
}

/** Gives a value that is there. */
class Ready<T> implements IterableIterator<never, T>, IteratorReturnResult<T> {
  readonly done = true
  readonly value: T

  constructor(value: T) {
    this.value = value
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): this {
    return this
  }
}

/** Gives a promise, and then the value that the coroutine is sent for it. A rejection is thrown where the coroutine waits. */
class Pending<T> implements IterableIterator<Promise<T>, T, T> {
  readonly #promise: Promise<T>
  #isAsked = false

  constructor(promise: Promise<T>) {
    this.#promise = promise
  }

  [Symbol.iterator](): this {
    return this
  }

  next(value: T): IteratorResult<Promise<T>, T> {
    if (this.#isAsked) return { done: true, value }
    this.#isAsked = true
    return { done: false, value: this.#promise }
  }

  throw(error: unknown): never {
    throw error
  }
}

/** Runs a coroutine: at once up to its end, or up to the first promise. */
export function runCoroutine<T>(coroutine: Coroutine<T>): Awaitable<T> {
  const step = coroutine.next()
  return step.done === true ? step.value : keepSurroundings(() => resume(coroutine, step))
}

async function resume<T>(coroutine: Coroutine<T>, first: IteratorResult<Promise<unknown>, T>): Promise<T> {
  let step = first
  while (step.done !== true) {
    step = await step.value.then(
      value => coroutine.next(value),
      (error: unknown) => coroutine.throw(error),
    )
  }
  return step.value
}
