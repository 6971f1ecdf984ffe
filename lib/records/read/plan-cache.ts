/**
 * Plan cache: keeps compiled plans of one model, by the shape of the request and the answers to access rules. It is bounded by bytes and by
 * number.
 */
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { CompiledNode, CompiledRead, Statement } from '../database/dialect.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import { RuleNotEvaluated, restrictedTo } from '../plan/visibility.ts'
import type { PendingRule, Visibility } from '../plan/visibility.ts'
import type { OwnReading } from './anchors.ts'
import type { Parameters } from '../request/query-string.ts'

export interface CachedRead {
  readonly read: CompiledRead
  readonly sort: string
  /** About how many bytes it holds. */
  readonly bytes: number
}

/** A plan, found by the parameters that it was last asked for with. */
interface LastRead {
  readonly parameters: Parameters
  readonly planned: CachedRead
}

/** A cached step: the finished work, or the access rule whose answer the work depends on next. */
type CacheStep<T> = { readonly done: T } | { readonly asks: PendingRule }

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
  /** The last plans of each resource, by what they read. */
  readonly last: Readonly<Record<OwnReading, Map<Resource, LastRead>>> = { list: new Map(), record: new Map(), shown: new Map() }
  readonly stored = new Map<Resource, CompiledRead>()
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
