/**
 * Awaitable: a value that may be there already. What can be had at once is worked on at once: a turn of the queue of promises costs as much as reading a
 * record does.
 */

export type Awaitable<T> = T | Promise<T>

/** What follows from a value: at once when it is there. */
export function chain<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value)
}
