/**
 * Works with perhaps-promises. `chain` and coroutines use plain values at once: a turn of the promise queue costs as much as reading a
 * record.
 */

import { bindSurroundings, keepSurroundings } from './surroundings.ts'

export type Awaitable<T> = T | Promise<T>

export function isThenable(value: unknown): value is PromiseLike<never> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

export function chain<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(bindSurroundings(then)) : then(value)
}

/** Receives the values of promises. A rejection is thrown at the `yield`. */
export type Coroutine<T> = Generator<Promise<unknown>, T>

/**
 * `const value = yield* wait(awaitable)` waits inside a coroutine. An iterator is its own result: a generator for each value would cost
 * more than the work between.
 */
export function wait<T>(value: Awaitable<T>): Iterable<Promise<unknown>, T> {
  return value instanceof Promise ? new Pending(value) : new Ready(value)
}

class Ready<T> implements IterableIterator<never, T>, IteratorReturnResult<T> {
  // Fields without `declare` would cost an initialiser for each value.
  declare readonly done: true
  declare readonly value: T

  constructor(value: T) {
    this.done = true
    this.value = value
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): this {
    return this
  }
}

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

/** Runs synchronously up to the first promise. */
export function runCoroutine<T>(coroutine: Coroutine<T>): Awaitable<T> {
  const step = coroutine.next()
  return step.done === true ? step.value : keepSurroundings(() => resume(coroutine, step))
}

async function resume<T>(coroutine: Coroutine<T>, first: IteratorResult<Promise<unknown>, T>): Promise<T> {
  let step = first
  while (step.done !== true) {
    step = await step.value.then(
      bindSurroundings((value: unknown) => coroutine.next(value)),
      bindSurroundings((error: unknown) => coroutine.throw(error)),
    )
  }
  return step.value
}
