/**
 * Visibility: what exists for the caller of one request: which resources can be reached, which rows they have, which flags are set. Plans
 * depend on the answers to the rules that they come upon; the values of those are bound like those of filters.
 *
 * Rules are the application's functions, which may take their time or fail, so only those are asked that a plan comes upon. Planning itself
 * cannot wait: it stops at a rule that has not been evaluated yet (`RuleNotEvaluated`), and begins anew once it is. The answers are kept,
 * so that each is asked once a request.
 */
import { withArticle } from '../../foundation/base/article.ts'
import { shownName } from '../../model/ids-name.ts'
import { chain, type Awaitable } from '../../foundation/base/awaitable.ts'
import type { Action, HookContext } from '../../model/hook-context.ts'
import type { Attribute, PolymorphicTarget, Resource, ToOneOfAttribute } from '../../model/model.ts'
import { isRelation, isValue, listTargets } from '../../model/model.ts'
import type { Condition, ScopeLookup } from './read-plan.ts'

/** A question that a plan depends on: whether records or lists of a resource may be seen, or which of its rows exist. */
export interface PendingRule {
  readonly resource: Resource
  readonly about: 'get' | 'list' | 'scope'
}

/** Stops what cannot go on before a rule is asked. */
export class RuleNotEvaluated extends Error {
  readonly rule: PendingRule

  constructor(rule: PendingRule) {
    super(`The rule of ${rule.resource.className} about "${rule.about}" is not asked yet.`)
    this.rule = rule
  }
}

/** One for each question: it is thrown in many requests, and to note the stack of an error takes longer than to read a record. */
const stops = new WeakMap<Resource, Map<PendingRule['about'], RuleNotEvaluated>>()

/** Returns what stops a plan at a rule that has not been asked. */
export function notEvaluated(resource: Resource, about: PendingRule['about']): RuleNotEvaluated {
  let known = stops.get(resource)
  if (known === undefined) stops.set(resource, (known = new Map()))
  let stop = known.get(about)
  if (stop === undefined) {
    stop = new RuleNotEvaluated({ resource, about })
    // It would hold the objects of the first request.
    delete stop.stack
    known.set(about, stop)
  }
  return stop
}

export interface Visibility {
  /** What it is about: all there is, what exists for a caller, or what the caller may write. */
  readonly kind: 'everything' | 'caller' | 'writer'
  /** The request; undefined where the engine asks for itself. */
  readonly ctx: HookContext | undefined
  /** All that a plan depends on beside the rules, as a text: whether there are rules at all, flags, custom parameters. */
  readonly shape: string
  /** Conditions of custom parameters, on the resource that the request reads. */
  readonly where: readonly Condition[]
  /** Flags that the request gives. */
  readonly flags: ReadonlySet<string>
  /** Whether the caller may see single records, or lists. Throws RuleNotEvaluated. */
  readonly allows: (resource: Resource, action: 'get' | 'list') => boolean
  /** Whether `scopeOf` may give a condition for some callers. */
  readonly restricts: (resource: Resource) => boolean
  /** The condition that the rows of a resource meet which exist for the caller. Throws RuleNotEvaluated. */
  readonly scopeOf: ScopeLookup
  /** The values of the scope of a resource, or of custom parameters. */
  readonly findValues: (resource: Resource | undefined) => readonly unknown[]
  /** Whether the caller may do it. */
  readonly permits: (resource: Resource, action: Action) => Awaitable<boolean>
  /** Asks a rule. Gives all of its answer that a plan depends on, as a text. */
  readonly ask: (rule: PendingRule) => Awaitable<string>
  /** The same for the rows that the caller may write, where that is not all that exist; its scopes are the rules for writing. */
  readonly writing: Visibility | undefined
}

const NO_VALUES: readonly unknown[] = Object.freeze([])

/** Everything exists, for the engine's own use and for models without rules. */
export const EVERYTHING: Visibility = Object.freeze({
  kind: 'everything',
  ctx: undefined,
  // Unlike that of any caller: a plan that was made without rules must not be found by those who have some.
  shape: 'everything',
  where: [],
  flags: new Set<string>(),
  allows: () => true,
  restricts: () => false,
  scopeOf: () => undefined,
  findValues: () => NO_VALUES,
  permits: () => true,
  ask: () => '',
  writing: undefined,
})

/** Does work that may come upon rules: asks them, and begins anew after each. The work must leave nothing behind when it stops. */
export function retryWithRules<T>(visibility: Visibility, work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RuleNotEvaluated)) throw error
    return chain(visibility.ask(error.rule), () => retryWithRules(visibility, work))
  }
}

/**
 * Restricts visibility to these rules: it throws for any other rule, even for one that has been evaluated. A result that is kept for other
 * requests may only depend on the rules by which it is found.
 */
export function restrictedTo(rules: readonly PendingRule[], visibility: Visibility): Visibility {
  if (visibility === EVERYTHING) return visibility
  const require = (resource: Resource, about: PendingRule['about']): void => {
    if (!rules.some(rule => rule.resource === resource && rule.about === about)) throw notEvaluated(resource, about)
  }
  return {
    ...visibility,
    allows: (resource, action) => {
      if (typeof resource.rules.access[action] !== 'boolean') require(resource, action)
      return visibility.allows(resource, action)
    },
    scopeOf: resource => {
      if (visibility.restricts(resource)) require(resource, 'scope')
      return visibility.scopeOf(resource)
    },
  }
}

/** Narrows what a request reads to one record, where it is among the rest. */
export function onlyRecord(resource: Resource, key: readonly unknown[], visibility: Visibility): Visibility {
  const own = visibility.findValues(undefined)
  const condition: Condition = { kind: 'key', keys: [{ from: 'scope', of: undefined, index: own.length, resource }] }
  const values = [...own, key]
  return {
    ...visibility,
    shape: `${visibility.shape}\0only`,
    where: [...visibility.where, condition],
    findValues: of => (of === undefined ? values : visibility.findValues(of)),
  }
}

/** Whether the rules leave anybody anything to do with the records. One that is closed to all is named nowhere. */
export function isOpen({ rules: { access } }: Resource): boolean {
  return Object.values(access).some(rule => rule !== false)
}

/**
 * Whether the attribute exists for reading. One that is hidden, or not stored, or leads to what may not be seen, does not; neither does one
 * behind a flag.
 */
export function isVisible(attribute: Attribute, visibility: Visibility): boolean {
  return existsFor(attribute, visibility) && (attribute.flag === undefined || visibility.flags.has(attribute.flag))
}

/** As `isVisible`, flags aside. */
export function existsFor(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.hidden || (attribute.kind === 'scalar' && attribute.source.kind === 'none')) return false
  return hasVisibleTarget(attribute, visibility)
}

/**
 * Whether a relation leads to records that the caller may see; else it does not exist for them, in bodies neither. A plain value leads
 * nowhere else.
 */
export function hasVisibleTarget(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.kind === 'toOneOf') return branchesFor(attribute, visibility).length > 0
  return !isRelation(attribute) || visibility.allows(attribute.target, attribute.kind === 'toOne' ? 'get' : 'list')
}

/**
 * Says why a relation does not exist, where that is only since nobody may read what it leads to so; undefined for any other attribute, for
 * what leads to a resource that is named nowhere, and where a function of the application decides: what a caller may not see does not exist
 * for them.
 */
export function describeClosed(attribute: Attribute | undefined): string | undefined {
  if (attribute?.closed !== true || !isRelation(attribute)) return undefined
  const { kind, name, target } = attribute
  if (!target.served || !isOpen(target)) return undefined
  return kind === 'toMany'
    ? `"${name}" is a list of ${target.plural}, and nobody may list ${target.plural}.`
    : `"${name}" links ${withArticle(target.singular)}, and nobody may read ${target.plural}.`
}

/** The entities that a relation may link whose records exist for the caller; a link to a record of another is none. */
export function branchesFor({ branches }: ToOneOfAttribute, visibility: Visibility): readonly PolymorphicTarget[] {
  return branches.filter(({ target }) => target.served && visibility.allows(target, 'get'))
}

/** Names of all attributes that exist for the caller, for hints. */
export function visibleNames(attributes: readonly Attribute[], visibility: Visibility): string[] {
  const visible = attributes.filter(attribute => isVisible(attribute, visibility))
  return visible.flatMap(attribute => [...new Set([shownName(attribute), attribute.name])])
}

/** Names of the attributes that exist for every caller, for hints where the rules have not been evaluated yet. */
export function openNames(attributes: readonly Attribute[]): string[] {
  return visibleNames(attributes, EVERYTHING).filter(name => {
    const attribute = attributes.find(other => other.name === name || shownName(other) === name)!
    if (isValue(attribute)) return true
    return listTargets(attribute).some(({ rules: { access } }) => (attribute.kind === 'toMany' ? access.list : access.get) === true)
  })
}
