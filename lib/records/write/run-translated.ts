/** Run translated: runs a request's transaction, and translates refusals of the database. */
import { bindSurroundings } from '../../foundation/async/surroundings.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { Dialect } from '../database/dialect.ts'
import { Unplanned } from '../statements/unplanned.ts'

export interface Refusing {
  readonly dialect: Dialect
  /** Gives an error in terms of the model. */
  translate(error: unknown): Promise<unknown>
}

/**
 * @param otherwise takes over where the statements of a plan are not enough, and nothing is written; undefined: no plan
 * @param repeatsRefused whether `otherwise` takes over, too, where the database refuses a row
 */
export function runTranslated<T>(
  run: () => Awaitable<T | undefined>,
  refusing: Refusing,
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
    const isRefused = repeatsRefused && refusing.dialect.breaksConstraint(error)
    if (otherwise !== undefined && (error instanceof Unplanned || isRefused)) return otherwise()
    if (error instanceof RestError) throw error
    return throwTranslated(error, refusing)
  }
  let running: Awaitable<T | undefined>
  try {
    running = run()
  } catch (error) {
    return fail(error)
  }
  return running instanceof Promise ? running.then(bindSurroundings(succeed), bindSurroundings(fail)) : succeed(running)
}

async function throwTranslated(error: unknown, refusing: Refusing): Promise<never> {
  throw await refusing.translate(error)
}
