/**
 * Awaitable values, and coroutines that wait for them in straight code. A value that is there already is worked on at once: a turn of the queue of promises
 * costs as much as reading a record does.
 */

/** A value that may be there already. */
export type Awaitable<T> = T | Promise<T>

/** Calls a function with a value: at once when the value is there. */
export function chain<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value)
}

/** Work that may have to wait: yields promises, and is sent their values. A promise that is rejected throws where it was yielded. */
export type Coroutine<T> = Generator<Promise<unknown>, T>

/** Waits inside a coroutine: `const value = yield* wait(awaitable)`. */
export function* wait<T>(value: Awaitable<T>): Coroutine<T> {
  return value instanceof Promise ? ((yield value) as T) : value
}

/** Runs a coroutine: at once up to its end, or up to the first promise. */
export function runCoroutine<T>(coroutine: Coroutine<T>): Awaitable<T> {
  const step = coroutine.next()
  return step.done === true ? step.value : resume(coroutine, step)
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
