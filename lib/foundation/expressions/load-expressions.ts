/**
 * Loads the parser and the matcher of regular expressions at the first condition with `$re` or `$ire`: few engines have such a condition,
 * and no page should load the code beforehand.
 */
import { isThenable, type Awaitable } from '../async/awaitable.ts'

interface Expressions {
  readonly parse: (text: string, refuse: (what: string) => Error) => unknown
  readonly match: (text: string, expression: string, fold: boolean, count: (steps: number) => void) => boolean
}

let loaded: Expressions | undefined

/** Waits for the code where the condition has an expression: the readers of conditions cannot wait. */
export function whenReadable<T>(condition: Awaitable<T>): Awaitable<T> {
  if (loaded !== undefined) return condition
  if (isThenable(condition)) return Promise.resolve<Awaited<T>>(condition).then(given => whenReadable(given) as Awaitable<Awaited<T>>)
  return hasExpression(condition, 0) ? load().then(() => condition) : condition
}

async function load(): Promise<void> {
  const [{ parseExpression: parse }, { matchExpression: match }] = await Promise.all([
    import('./parse-expression.ts'),
    import('./match-expression.ts'),
  ])
  loaded = { parse, match }
}

/** Ends the search in endlessly nested conditions. */
const MAX_DEPTH = 1000

function hasExpression(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return value.some(each => hasExpression(each, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return value instanceof RegExp
  return Object.entries(value).some(([name, given]) => name === '$re' || name === '$ire' || hasExpression(given, depth + 1))
}

/** For conditions returned by `whenReadable`. */
export function expressions(): Expressions {
  if (loaded === undefined) throw new Error('The code of regular expressions is not loaded.')
  return loaded
}
