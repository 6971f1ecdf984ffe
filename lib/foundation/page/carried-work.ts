/**
 * Keeps a value for the calls of work in a page without AsyncLocalStorage. Asynchronous functions of the library carry the value across
 * waits: `scripts/bundle-page.ts` makes each function a generator for `carryWork`. A hook of the application has the value until the first
 * wait.
 */
import type { WorkContext } from '../runtime/runtime.ts'

/** The store of each context, for the running work. */
let stores: ReadonlyMap<object, unknown> | undefined

function within<Result>(given: ReadonlyMap<object, unknown> | undefined, work: () => Result): Result {
  const before = stores
  stores = given
  try {
    return work()
  } finally {
    stores = before
  }
}

export function createWorkContext<T>(): WorkContext<T> {
  const context: WorkContext<T> = {
    getStore: () => stores?.get(context) as T | undefined,
    run: (store, work, ...args) => within(new Map(stores).set(context, store), () => work(...args)),
  }
  return context
}

/** Gives later calls the present stores: for callbacks of promises, and for the application. */
export function bindWork<Arguments extends unknown[], Result>(work: (...args: Arguments) => Result): (...args: Arguments) => Result {
  const kept = stores
  return kept === undefined ? work : (...args) => within(kept, () => work(...args))
}

export function carryWork<T>(self: unknown, args: unknown, made: (...args: never[]) => Generator<unknown, T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const kept = stores
    const generator = made.apply(self, (args ?? []) as never[])
    const step = (go: () => IteratorResult<unknown, T>): void => {
      try {
        const { done, value } = within(kept, go)
        if (done === true) resolve(value)
        else
          Promise.resolve(value).then(
            given => step(() => generator.next(given)),
            (error: unknown) => step(() => generator.throw(error)),
          )
      } catch (error) {
        reject(error)
      }
    }
    step(() => generator.next())
  })
}
