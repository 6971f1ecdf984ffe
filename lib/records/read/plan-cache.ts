/**
 * Plan cache: keeps compiled plans of one model, by the shape of the request and the answers to access rules. It is bounded by bytes and by
 * number.
 */
import type { Awaitable } from '../../foundation/base/awaitable.ts'
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
  /** About how many bytes it holds. */
  readonly bytes: number
}

/** A plan, and what it was last found by: the parameters, and the answers of the rules that it depends on. */
interface LastPlan<T> {
  readonly parameters: Parameters | undefined
  readonly shape: string
  readonly rules: readonly PendingRule[]
  readonly answers: readonly unknown[]
  readonly planned: T
}

/**
 * The last plans of resources. The same parameters, as of a query that comes again, under the same answers of rules have the same plan as
 * the last time, which is faster to find than by a text of all that.
 */
export class LastPlans<T> {
  readonly #plans = new Map<Resource, LastPlan<T>>()

  find(resource: Resource, visibility: Visibility, parameters?: Parameters): T | undefined {
    const last = this.#plans.get(resource)
    if (last === undefined || last.parameters !== parameters || last.shape !== visibility.shape) return undefined
    const { rules, answers } = last
    for (let at = 0; at < rules.length; at++) {
      const answer = visibility.ask(rules[at]!)
      if (answer === answers[at]) continue
      // Who looks for the plan by its text waits for the same answer.
      if (answer instanceof Promise) answer.catch(() => {})
      return undefined
    }
    return last.planned
  }

  /** @param rules those that finding the plan has asked */
  keep(planned: T, rules: readonly PendingRule[], resource: Resource, visibility: Visibility, parameters?: Parameters): void {
    const answers = rules.map(rule => visibility.ask(rule))
    this.#plans.set(resource, { parameters, shape: visibility.shape, rules, answers, planned })
  }
}

/** A cached step: the finished work, or the access rule whose answer the work depends on next. */
export type CacheStep<T> = { readonly done: T } | { readonly asks: PendingRule }

/** How many plans are kept. */
const PLANS = 2000

/** About how many bytes parts of a plan take, beside their texts. */
const STEP_BYTES = 500
const NODE_BYTES = 4000
const BINDING_BYTES = 200

/**
 * All that has been planned and compiled for one model. It does not depend on the data, so the readers of several databases may share it.
 */
export class Plans {
  readonly reads = new LruCache<CacheStep<CachedRead>>(PLANS, {
    bytes: thresholds.planBytes,
    weigh: (step, key) => 2 * key.length + ('done' in step ? step.done.bytes : STEP_BYTES),
  })
  readonly exists = new LruCache<CacheStep<Statement>>(PLANS, {
    bytes: thresholds.planBytes >> 2,
    weigh: (step, key) => 2 * key.length + ('done' in step ? estimateStatement(step.done) : STEP_BYTES),
  })
  /** Statements that give those of some keys whose records exist; undefined where there is none. */
  readonly existing = new LruCache<CacheStep<Statement | undefined>>(PLANS, {
    bytes: thresholds.planBytes >> 2,
    weigh: (step, key) => 2 * key.length + ('done' in step && step.done !== undefined ? estimateStatement(step.done) : STEP_BYTES),
  })
  /** By what they read. */
  readonly last: Readonly<Record<OwnReading, LastPlans<CachedRead>>> = {
    list: new LastPlans(),
    record: new LastPlans(),
    shown: new LastPlans(),
  }
  /** Those of `exists`, by the key by which a record is looked for and the kind of the visibility. */
  readonly lastExists: Readonly<Record<Visibility['kind'], LastPlans<Statement>>> = {
    everything: new LastPlans(),
    caller: new LastPlans(),
    writer: new LastPlans(),
  }
  readonly stored = new Map<Resource, CompiledRead>()
  /** The same with the values of columns beside, which are the same ones each time. */
  readonly storedBeside = new Map<Resource, CompiledRead>()
  /** Statements that check whether a record meets the condition of a list. */
  readonly meets = new Map<ToManyAttribute, Statement>()
  /** Statements that read some columns of a record. */
  readonly columns = new Map<Resource, Statement>()
}

/** Estimates the bytes of a plan: the texts of its statements, their bindings and conditions, the functions of its nodes. */
export function estimateRead({ rows, count, node }: CompiledRead): number {
  // The other statement for the same rows, which pages far into a list use, and the count are compiled when they are first needed.
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
 * Returns the cached work of a key, or makes it. Work that depends on an access rule stops there. The cache then holds the rule under the
 * key, and the next step under the key with the rule's answer behind it. So a request asks only the rules that its work depends on.
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
    // NUL is a safe separator: neither a request nor a rule contains one.
    const at = `${key}\0\0`
    if (answer instanceof Promise) return answer.then(given => findOrMake(cache, at + given, visibility, make, asked))
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
