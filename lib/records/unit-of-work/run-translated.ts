/** Run translated: runs a request's transaction, and translates refusals of the database. */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { Translating } from './unit-of-work.ts'
import { Unplanned } from './unplanned.ts'

/**
 * @param otherwise takes over where the statements of a plan are not enough, and nothing is written; undefined: no plan
 * @param repeatsRefused whether `otherwise` takes over, too, where the database refuses a row
 */
export function runTranslated<T>(
  run: () => Awaitable<T | undefined>,
  translating: Translating,
  trace: Trace | undefined,
  otherwise?: () => Awaitable<T>,
  repeatsRefused = false,
): Awaitable<T> {
  const before = trace?.enter('write')
  const succeed = (result: T | undefined): Awaitable<T> => {
    if (before !== undefined) trace?.enter(before)
    return result === undefined && otherwise !== undefined ? otherwise() : (result as T)
  }
  const fail = (error: unknown): Awaitable<T> => {
    const isRefused = repeatsRefused && translating.dialect.breaksConstraint(error)
    if (otherwise !== undefined && (error instanceof Unplanned || isRefused)) return otherwise()
    if (error instanceof RestError) throw error
    return throwTranslated(error, translating)
  }
  let running: Awaitable<T | undefined>
  try {
    running = run()
  } catch (error) {
    return fail(error)
  }
  return running instanceof Promise ? running.then(succeed, fail) : succeed(running)
}

async function throwTranslated(error: unknown, translating: Translating): Promise<never> {
  const { translateDatabaseError } = await import('./database-errors.ts')
  throw translateDatabaseError(error, translating)
}
