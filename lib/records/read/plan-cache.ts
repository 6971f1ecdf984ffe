/** Keeps compiled plans by the request's shape and the answers of access rules. Bounded by bytes and number. */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { CompiledNode, CompiledRead, Statement } from '../database/dialect.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import { RuleNotEvaluated, restrictedTo, type PendingRule, type Visibility } from '../plan/visibility.ts'
import type { OwnReading } from './anchors.ts'
import type { Parameters } from '../request/query-string.ts'

export interface CachedRead {
  readonly read: CompiledRead
  readonly sort: string
  /** An estimate. */
  readonly bytes: number
}

interface LastPlan<T> {
  readonly parameters: Parameters | undefined
  readonly shape: string
  readonly rules: readonly PendingRule[]
  readonly answers: readonly unknown[]
  readonly planned: T
}

/** Comparing a repeated query with the last is faster than building a cache key. */
export class LastPlans<T> {
  readonly #plans = new Map<Resource, LastPlan<T>>()

  find(resource: Resource, visibility: Visibility, parameters?: Parameters): T | undefined {
    const last = this.#plans.get(resource)
    if (last === undefined || last.parameters !== parameters || last.shape !== visibility.shape) return undefined
    const { rules, answers } = last
    for (let at = 0; at < rules.length; at++) {
      const answer = visibility.ask(rules[at]!)
      if (answer === answers[at]) continue
      // The next look-up handles the error.
      if (answer instanceof Promise) answer.catch(() => {})
      return undefined
    }
    return last.planned
  }

  /** @param rules the rules asked while the plan was looked up */
  keep(planned: T, rules: readonly PendingRule[], resource: Resource, visibility: Visibility, parameters?: Parameters): void {
    const answers = rules.map(rule => visibility.ask(rule))
    this.#plans.set(resource, { parameters, shape: visibility.shape, rules, answers, planned })
  }
}

/** A result, or an access rule to ask before. */
export type CacheStep<T> = { readonly done: T } | { readonly asks: PendingRule }

const PLANS = 2000

/** Estimates, in bytes, without texts. */
const STEP_BYTES = 500
const NODE_BYTES = 4000
const BINDING_BYTES = 200

/** Of one model. Databases may share plans, independent of data. */
export class Plans {
  readonly reads = new LruCache<CacheStep<CachedRead>>(PLANS, {
    bytes: thresholds.planBytes,
    weigh: (step, key) => 2 * key.length + ('done' in step ? step.done.bytes : STEP_BYTES),
  })
  readonly exists = new LruCache<CacheStep<Statement>>(PLANS, {
    bytes: thresholds.planBytes >> 2,
    weigh: (step, key) => 2 * key.length + ('done' in step ? estimateStatement(step.done) : STEP_BYTES),
  })
  /** Undefined where the dialect has none. */
  readonly existing = new LruCache<CacheStep<Statement | undefined>>(PLANS, {
    bytes: thresholds.planBytes >> 2,
    weigh: (step, key) => 2 * key.length + ('done' in step && step.done !== undefined ? estimateStatement(step.done) : STEP_BYTES),
  })
  readonly last: Readonly<Record<OwnReading, LastPlans<CachedRead>>> = {
    list: new LastPlans(),
    record: new LastPlans(),
    shown: new LastPlans(),
  }
  readonly lastExists: Readonly<Record<Visibility['kind'], LastPlans<Statement>>> = {
    everything: new LastPlans(),
    caller: new LastPlans(),
    writer: new LastPlans(),
    leaver: new LastPlans(),
  }
  readonly stored = new Map<Resource, CompiledRead>()
  /** `stored` with columns, always the same for a resource. */
  readonly storedBeside = new Map<Resource, CompiledRead>()
  readonly meets = new Map<ToManyAttribute, Statement>()
  readonly columns = new Map<Resource, Statement>()
}

export function estimateRead({ rows, count, node }: CompiledRead): number {
  // With statements for deep pages and the count.
  return (count === undefined ? 2 : 3) * estimateStatement(rows) + estimateNode(node)
}

function estimateNode({ children, long }: CompiledNode): number {
  return children.reduce(
    (bytes, { statement, single, node }) => bytes + estimateStatement(statement) + estimateStatement(single) + estimateNode(node),
    NODE_BYTES + 50 * long.length,
  )
}

function estimateStatement({ sql, bindings }: Statement): number {
  return STEP_BYTES + 2 * sql.length + BINDING_BYTES * bindings.length
}

/**
 * Makes a plan, or finds it under `key`. At an access rule, the cache holds the rule under `key`, and goes on under `key` + answer: so a
 * request asks only needed rules.
 */
export function findOrMake<T>(
  cache: LruCache<CacheStep<T>>,
  start: string,
  visibility: Visibility,
  make: (visibility: Visibility) => T,
  asked: PendingRule[] = [],
): Awaitable<T> {
  let key = start
  for (;;) {
    let step = cache.get(key)
    if (step === undefined) cache.set(key, (step = makeStep(() => make(restrictedTo(asked, visibility)))))
    if ('done' in step) return step.done
    asked.push(step.asks)
    const answer = visibility.ask(step.asks)
    // Neither requests nor answers contain NUL.
    const at = `${key}\0\0`
    if (answer instanceof Promise) return chain(answer, given => findOrMake(cache, at + given, visibility, make, asked))
    key = at + answer
  }
}

function makeStep<T>(make: () => T): CacheStep<T> {
  try {
    return { done: make() }
  } catch (error) {
    if (error instanceof RuleNotEvaluated) return { asks: error.rule }
    throw error
  }
}
