/** Match expression: the SQL function `mikro_expression(text, expression, fold)`. */
import { expressions } from '../../../foundation/expressions/load-expressions.ts'

/** Steps between two checks of the clock. */
const CHECK_EVERY = 100_000

/**
 * Deterministic.
 *
 * @param checkClock may throw
 */
export function expressionFunction(checkClock: () => void): (value: unknown, expression: unknown, fold: unknown) => number | null {
  let work = 0
  const count = (steps: number): void => {
    work += steps
    if (work < CHECK_EVERY) return
    work = 0
    checkClock()
  }
  return (value, expression, fold) => {
    if (value === null || typeof expression !== 'string') return null
    return typeof value === 'string' && expressions().match(value, expression, fold === 1, count) ? 1 : 0
  }
}
