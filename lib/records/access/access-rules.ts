/**
 * Decides, by the application's access rules and scopes, which resources and rows exist for the caller, and which actions are allowed.
 * Calls each rule at most once a request. Refuses with forbidden, filter_unsupported, parameter_invalid, or token_missing where a log-in
 * would help.
 */
import type { ResourceAction } from './actions.ts'
import { chain, isThenable, type Awaitable } from '../../foundation/async/awaitable.ts'
import { whenReadable } from '../../foundation/expressions/load-expressions.ts'
import type { Action, HookContext } from '../../model/hook-context.ts'
import { parameterError, restError } from '../../foundation/errors/errors.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { FilterQueryReader } from './orm-filter.ts'
import { readScope, type ReadScope } from './plain-scope.ts'
import { isRelation, isValue, type Attribute, type Model, type Resource } from '../../model/model.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import type { WireConditions } from '../request/inner-request.ts'
import type { Parameters } from '../request/query-string.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { Condition } from '../plan/read-plan.ts'
import { unknownAttribute, type Target } from './resolve-path.ts'
import { EVERYTHING, hasVisibleTarget, isNamable, isVisible, notEvaluated, namesReadableByAll, retryWithRules } from '../plan/visibility.ts'
import type { PendingRule, Visibility } from '../plan/visibility.ts'

/** A query parameter of the application gives a condition on records: `{ q: value => ({ name: { $like: value } }) }`. */
export type CustomParameter = (value: string, ctx: HookContext) => unknown

export interface ModelRules {
  readonly any: boolean
  readonly writing: boolean
}

export function findRules({ resources }: Model): ModelRules {
  const writing = resources.some(({ rules }) => rules.write !== undefined)
  const isRuled = ({ rules }: Resource): boolean => rules.scopes.length > 0 || Object.values(rules.access).some(rule => rule !== true)
  return { any: writing || resources.some(isRuled), writing }
}

/**
 * Leaves out custom parameters: see `narrowVisibility`.
 *
 * @param isEngine the engine itself asks: no rules hold
 * @param isNarrowed conditions follow by `narrowVisibility`, so EVERYTHING will not do
 */
export function findVisibility(
  { any, writing }: ModelRules,
  parameters: Parameters,
  ctx: HookContext,
  isEngine = false,
  isNarrowed = false,
): Visibility {
  const isPlain = parameters.flags.length === 0 && parameters.own.length === 0 && !isNarrowed
  if (isPlain && (!any || isEngine)) return EVERYTHING
  return new CallerVisibility(parameters.flags, ctx, isEngine, writing && !isEngine)
}

interface Narrowing {
  readonly model: Model
  readonly customParameters: ReadonlyMap<string, CustomParameter>
  readonly limits: Limits
  readonly conditions: WireConditions | undefined
}

/** Adds conditions of custom parameters and of a wire. */
export function narrowVisibility(
  visibility: Visibility,
  root: Resource | undefined,
  parameters: Parameters,
  narrowing: Narrowing,
): Awaitable<Visibility> {
  const isNarrowed = parameters.own.length > 0 || narrowing.conditions !== undefined
  return isNarrowed && visibility instanceof CallerVisibility ? visibility.narrow(root, parameters, narrowing) : visibility
}

const NO_FLAGS: ReadonlySet<string> = new Set()

const WHOLE: ReadScope = Object.freeze({ condition: undefined, values: [], shape: '' })
const NONE: ReadScope = { condition: { kind: 'any', of: [] }, values: [], shape: 'none' }

type GivenScope = Awaitable<object | null | undefined>

/** With `caller` (see `leaving`), asks no rule anew. */
class CallerVisibility implements Visibility {
  readonly kind: 'caller' | 'leaver'
  readonly flags: ReadonlySet<string>
  readonly writing: WriterVisibility | undefined
  shape: string
  where: readonly Condition[] = []
  whereOfLists: ReadonlyMap<string, Condition> | undefined
  readonly ctx: HookContext
  readonly #isEngine: boolean
  readonly #caller: CallerVisibility | undefined
  readonly #answers: Map<Resource, Partial<Record<Action, Awaitable<boolean>>>>
  /** Results of scopes, where `leaving` needs the results again. */
  readonly #given: Map<Resource, GivenScope[]>
  readonly #scopes = new Map<Resource, Awaitable<ReadScope>>()
  #whereValues: readonly unknown[] = []
  #leaving: CallerVisibility | undefined

  constructor(flags: readonly string[], ctx: HookContext, isEngine: boolean, hasWriting: boolean, caller?: CallerVisibility) {
    this.kind = caller === undefined ? 'caller' : 'leaver'
    this.#caller = caller
    this.#answers = caller === undefined ? new Map() : caller.#answers
    this.#given = caller === undefined ? new Map() : caller.#given
    this.writing = hasWriting ? new WriterVisibility(ctx) : undefined
    this.flags = flags.length === 0 ? NO_FLAGS : new Set(flags)
    const who = isEngine ? 'engine' : 'caller'
    this.shape = flags.length === 0 ? who : `${who}\0${flags.toSorted().join()}\0`
    this.#isEngine = isEngine
    this.ctx = ctx
  }

  async narrow(
    root: Resource | undefined,
    parameters: Parameters,
    { model, customParameters: own, limits, conditions }: Narrowing,
  ): Promise<this> {
    const reader = new FilterQueryReader(undefined)
    const where: Condition[] = []
    for (const { name, value } of parameters.own) {
      const query: unknown = await whenReadable((root?.rules.parameters.get(name) ?? own.get(name)!)(value, this.ctx))
      if (query !== undefined && query !== null && root !== undefined) where.push(readParameter(query, name, root, reader, model))
    }
    this.where = where
    this.#whereValues = reader.values
    this.shape += reader.shape
    if (conditions === undefined || root === undefined) return this
    await whenReadable([conditions.root, ...conditions.lists.values()])
    const read = await retryWithRules(this, () => this.#readConditions(conditions, root, { limits, values: reader.values }))
    if (read.condition !== undefined) this.where = [...where, read.condition]
    this.whereOfLists = read.lists
    this.#whereValues = read.values
    this.shape += read.shape
    return this
  }

  #readConditions({ root: given, lists }: WireConditions, root: Resource, parts: Pick<Narrowing, 'limits'> & Pick<ReadScope, 'values'>) {
    const reader = new FilterQueryReader(undefined, { visibility: this, ...parts })
    const condition = given === undefined ? undefined : reader.read(given, root, 'where')
    const read = new Map<string, Condition>()
    for (const [path, where] of lists) {
      const target = this.#findTarget(root, path)
      reader.shape += `\0${path} `
      // The selection refuses such a path.
      if (target !== undefined) read.set(path, reader.read(where, target, 'where'))
    }
    return { condition, lists: read, values: reader.values, shape: reader.shape }
  }

  #findTarget(root: Resource, path: string): Resource | undefined {
    let found: Resource | undefined = root
    for (const name of path.split('.')) {
      const attribute: Attribute | undefined = found?.byName.get(name)
      found = attribute !== undefined && isRelation(attribute) && isVisible(attribute, this) ? attribute.target : undefined
    }
    return found
  }

  readonly permits = (resource: Resource, action: Action): Awaitable<boolean> => {
    const rule = resource.rules.access[action]
    if (this.#isEngine) return true
    if (typeof rule === 'boolean') return rule
    let answers = this.#answers.get(resource)
    if (answers === undefined) this.#answers.set(resource, (answers = {}))
    return (answers[action] ??= settled<boolean, boolean>(rule(this.ctx, action), Boolean, answer => void (answers[action] = answer)))
  }

  readonly leaving = (): Visibility => (this.#leaving ??= new CallerVisibility([...this.flags], this.ctx, this.#isEngine, false, this))

  readonly allows = (resource: Resource, action: 'get' | 'list'): boolean => {
    // Asks at once: planning again costs more than a synchronous rule.
    const answer = this.permits(resource, action)
    if (typeof answer === 'boolean') return answer
    throw notEvaluated(resource, action)
  }

  readonly restricts = ({ rules }: Resource): boolean => rules.scopes.length > 0

  readonly scopeOf = (resource: Resource): Condition | undefined => this.#known(resource).condition

  readonly findValues = (resource: Resource | undefined): readonly unknown[] => {
    if (resource === undefined) return this.#whereValues
    return this.#known(resource).values
  }

  #known(resource: Resource): ReadScope {
    const scope = this.#scope(resource)
    if (scope instanceof Promise) throw notEvaluated(resource, 'scope')
    return scope
  }

  readonly ask = ({ resource, about }: PendingRule): Awaitable<string> => {
    if (about === 'scope') return chain(this.#scope(resource), ({ shape }) => shape)
    return chain(this.permits(resource, about), answer => (answer ? '+' : '-'))
  }

  #scope(resource: Resource): Awaitable<ReadScope> {
    const known = this.#scopes.get(resource)
    if (known !== undefined) return known
    if (this.#isEngine || resource.rules.scopes.length === 0) return WHOLE
    if (this.#caller !== undefined && !hasFixed(resource)) return this.#caller.#scope(resource)
    const { ownScopes, scopes } = resource.rules
    const read =
      scopes.length === 1 && ownScopes === 1
        ? readOnlyScope(scopes[0]!(this.ctx), resource)
        : this.#readScopes(resource, new FilterQueryReader(resource), [], 0)
    const scope = read instanceof Promise ? this.#keep(resource, read) : read
    this.#scopes.set(resource, scope)
    return scope
  }

  #give(resource: Resource, index: number): GivenScope {
    const scope = resource.rules.scopes[index]!
    if (!hasFixed(resource)) return scope(this.ctx)
    let given = this.#given.get(resource)
    if (given === undefined) this.#given.set(resource, (given = []))
    return index in given ? given[index] : (given[index] = scope(this.ctx))
  }

  async #keep(resource: Resource, reading: Promise<ReadScope>): Promise<ReadScope> {
    const scope = await reading
    this.#scopes.set(resource, scope)
    return scope
  }

  #readScopes(resource: Resource, reader: FilterQueryReader, conditions: Condition[], first: number): Awaitable<ReadScope> {
    const { ownScopes, scopes, writeScopes } = resource.rules
    const count = this.#caller === undefined ? scopes.length : writeScopes
    const add = (query: object | null | undefined, index: number): void => {
      if (query === undefined || query === null) return
      reader.shape += `${index} `
      const isOwn = index < ownScopes
      conditions.push(isOwn ? reader.read(query, resource, `scope of ${resource.className}`) : readFilter(query, resource, reader))
    }
    for (let index = first; index < count; index++) {
      const query = whenReadable(this.#give(resource, index))
      if (isThenable(query)) {
        return chain(Promise.resolve(query), given => {
          add(given, index)
          return this.#readScopes(resource, reader, conditions, index + 1)
        })
      }
      add(query, index)
    }
    const condition: Condition | undefined = conditions.length > 1 ? { kind: 'all', of: conditions } : conditions[0]
    return { condition, values: reader.values, shape: reader.shape }
  }
}

/** Has the rules for writing in the place of scopes. */
class WriterVisibility implements Visibility {
  readonly kind = 'writer'
  readonly shape = 'writer'
  readonly where = EVERYTHING.where
  readonly flags = EVERYTHING.flags
  readonly allows = EVERYTHING.allows
  readonly permits = EVERYTHING.permits
  readonly writing = undefined
  readonly leaving = EVERYTHING.leaving
  readonly ctx: HookContext
  readonly #rules = new Map<Resource, Awaitable<ReadScope>>()

  constructor(ctx: HookContext) {
    this.ctx = ctx
  }

  readonly restricts = ({ rules }: Resource): boolean => rules.write !== undefined

  readonly scopeOf = (resource: Resource): Condition | undefined => this.#known(resource).condition

  readonly findValues = (resource: Resource | undefined): readonly unknown[] => (resource === undefined ? [] : this.#known(resource).values)

  readonly ask = ({ resource }: PendingRule): Awaitable<string> => chain(this.#rule(resource), ({ shape }) => shape)

  #known(resource: Resource): ReadScope {
    if (resource.rules.write === undefined) return WHOLE
    const rule = this.#rules.get(resource)
    if (rule === undefined || rule instanceof Promise) throw notEvaluated(resource, 'scope')
    return rule
  }

  #rule(resource: Resource): Awaitable<ReadScope> {
    const known = this.#rules.get(resource)
    if (known !== undefined) return known
    const { write } = resource.rules
    if (write === undefined) return WHOLE
    const rule = settled(
      write(this.ctx),
      given => readWriteRule(given, resource),
      given => void this.#rules.set(resource, given),
    )
    this.#rules.set(resource, rule)
    return rule
  }
}

function readWriteRule(given: object | boolean | undefined | null, resource: Resource): Awaitable<ReadScope> {
  if (given === true) return WHOLE
  if (given === false || given === undefined || given === null) return NONE
  return readScope(given, resource, 'write')
}

function readOnlyScope(given: Awaitable<object | undefined | null>, resource: Resource): Awaitable<ReadScope> {
  if (isThenable(given)) return Promise.resolve(given).then(settledScope => readOnlyScope(settledScope, resource))
  return given === undefined || given === null ? WHOLE : readScope(given, resource, 'scope', '0 ')
}

/** If the condition fits other resources but not `root`, the error says so: `root` has no such parameter. */
function readParameter(query: object, name: string, root: Resource, reader: FilterQueryReader, { resources }: Model): Condition {
  const where = `parameter "${name}"`
  try {
    return reader.read(query, root, where)
  } catch (error) {
    const others = root.rules.parameters.has(name)
      ? []
      : resources.filter(other => other !== root && isNamable(other) && canRead(query, other))
    if (others.length === 0) throw error
    const suggestion = findNearest(name, namesReadableByAll(root.attributes))
    const of = others.map(({ plural }) => plural).join(', ')
    const detail = `There is no parameter "${name}" of ${root.plural}; it is one of ${of}.${formatHint(suggestion)}`
    throw parameterError({ code: 'parameter_unknown', detail, parameter: name, ...(suggestion === undefined ? {} : { suggestion }) })
  }
}

function canRead(query: object, resource: Resource): boolean {
  try {
    new FilterQueryReader(undefined).read(query, resource, '')
    return true
  } catch {
    return false
  }
}

function readFilter(query: object, resource: Resource, reader: FilterQueryReader): Condition {
  try {
    return reader.read(query, resource, `filter of ${resource.className}`)
  } catch (error) {
    throw restError('filter_unsupported', `A filter of the model cannot be applied: ${(error as Error).message}`)
  }
}

/** @param keep replaces a kept promise by the value */
function settled<T, U>(answer: T | PromiseLike<T>, read: (answer: T) => Awaitable<U>, keep: (answer: U) => void): Awaitable<U> {
  const settling = isThenable(answer) ? chain(Promise.resolve(answer), read) : read(answer as T)
  if (!(settling instanceof Promise)) return settling
  return chain(settling, kept => {
    keep(kept)
    return kept
  })
}

export function authorize(resource: Resource, action: Action, visibility: Visibility, ctx: HookContext): Awaitable<void> {
  return chain(visibility.permits(resource, action), isAllowed => {
    if (isAllowed) return
    if (!isNamable(resource)) throw restError('forbidden', 'Nobody may do this.')
    requireLogIn(resource, action, ctx)
    throw restError('forbidden', `You may not ${action} ${resource.plural}.`)
  })
}

export function requireLogIn({ plural }: Resource, action: Action, { logsIn, claims }: HookContext): void {
  if (logsIn && claims === undefined)
    throw restError('token_missing', `To ${action} ${plural} a log-in is needed.`, { headers: { 'www-authenticate': 'Bearer' } })
}

/** In `/users/1/posts`, asks about users before posts. A relation to a hidden resource does not exist: 404. */
export function authorizeRequest(
  target: Target,
  actions: readonly ResourceAction[],
  visibility: Visibility,
  ctx: HookContext,
): Awaitable<void> {
  if (visibility === EVERYTHING || (target.kind !== 'attribute' && target.kind !== 'member') || isValue(target.attribute))
    return authorizeAll(actions, visibility, ctx)
  const { resource, attribute } = target
  return chain(authorizeAll(actions.slice(-1), visibility, ctx), () =>
    chain(
      // Without a token, rules are not asked: OPTIONS needs none.
      actions.length === 0 && ctx.logsIn && ctx.claims === undefined
        ? namesReadableByAll([attribute]).length > 0
        : retryWithRules(visibility, () => hasVisibleTarget(attribute, visibility)),
      leads => {
        if (!leads) throw unknownAttribute(resource, attribute.name)
        return authorizeAll(actions.slice(0, -1), visibility, ctx)
      },
    ),
  )
}

function authorizeAll(actions: readonly ResourceAction[], visibility: Visibility, ctx: HookContext): Awaitable<void> {
  for (const [index, { resource, action }] of actions.entries()) {
    if (visibility.permits(resource, action) === true) continue
    const answer = authorize(resource, action, visibility, ctx)
    if (answer instanceof Promise) return chain(answer, () => authorizeAll(actions.slice(index + 1), visibility, ctx))
  }
}
