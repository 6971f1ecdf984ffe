/**
 * Visibility: decides which resources, rows and flags exist for a caller. Access rules are slow functions of the application, so a request
 * asks only the rules that its plan meets, each once: planning stops at a rule without an answer, by `RuleNotEvaluated`, and starts again
 * with the answer.
 */
import { withArticle } from '../../foundation/base/article.ts'
import { shownName } from '../../model/ids-name.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Action, HookContext } from '../../model/hook-context.ts'
import type { Attribute, PolymorphicTarget, Resource, ToOneOfAttribute } from '../../model/model.ts'
import { isRelation, isValue, listTargets } from '../../model/model.ts'
import type { Condition, ScopeLookup } from './read-plan.ts'

export interface PendingRule {
  readonly resource: Resource
  readonly about: 'get' | 'list' | 'scope'
}

export class RuleNotEvaluated extends Error {
  readonly rule: PendingRule

  constructor(rule: PendingRule) {
    super(`The rule of ${rule.resource.className} about "${rule.about}" is not asked yet.`)
    this.rule = rule
  }
}

/** One error for each question: capturing a stack for each request would take longer than reading a record. */
const stops = new WeakMap<Resource, Map<PendingRule['about'], RuleNotEvaluated>>()

export function notEvaluated(resource: Resource, about: PendingRule['about']): RuleNotEvaluated {
  let known = stops.get(resource)
  if (known === undefined) stops.set(resource, (known = new Map()))
  let stop = known.get(about)
  if (stop === undefined) {
    stop = new RuleNotEvaluated({ resource, about })
    // The stack would keep objects of the first request in memory.
    delete stop.stack
    known.set(about, stop)
  }
  return stop
}

export interface Visibility {
  readonly kind: 'everything' | 'caller' | 'writer' | 'leaver'
  /** Undefined where the engine itself reads. */
  readonly ctx: HookContext | undefined
  /** A text of all that a plan depends on beside the answers of rules: whether there are rules, flags, custom parameters. */
  readonly shape: string
  /** Conditions of custom parameters, on the resource of the request. */
  readonly where: readonly Condition[]
  /** Conditions of a wire on expanded relations, by path. */
  readonly whereOfLists?: ReadonlyMap<string, Condition> | undefined
  readonly flags: ReadonlySet<string>
  /** @throws RuleNotEvaluated */
  readonly allows: (resource: Resource, action: 'get' | 'list') => boolean
  readonly restricts: (resource: Resource) => boolean
  /** @throws RuleNotEvaluated */
  readonly scopeOf: ScopeLookup
  /** Returns the values of a scope; of custom parameters, if `resource` is undefined. */
  readonly findValues: (resource: Resource | undefined) => readonly unknown[]
  readonly permits: (resource: Resource, action: Action) => Awaitable<boolean>
  /** Returns the part of the rule's answer that plans depend on. */
  readonly ask: (rule: PendingRule) => Awaitable<string>
  /** The rows that the caller may write; undefined where the caller may write all rows. */
  readonly writing: Visibility | undefined
  /** The rows that exist for the caller, and rows hidden by their own change (`ResourceRules.writeScopes`). */
  readonly leaving: () => Visibility
}

const NO_VALUES: readonly unknown[] = Object.freeze([])

/** For the engine's own use, and for models without rules. */
export const EVERYTHING: Visibility = Object.freeze({
  kind: 'everything',
  ctx: undefined,
  // No caller has this shape: a request with rules must not find a plan without rules.
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
  leaving: () => EVERYTHING,
})

/**
 * Runs `work`. Where `work` meets an access rule without an answer, asks the rule and runs `work` again, so `work` must have no side
 * effects.
 */
export function retryWithRules<T>(visibility: Visibility, work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RuleNotEvaluated)) throw error
    return chain(visibility.ask(error.rule), () => retryWithRules(visibility, work))
  }
}

/** Throws RuleNotEvaluated for every rule but `rules`, answered or not. A cached plan may depend only on the rules in its cache key. */
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

/** Narrows a view to one record, if the record exists for the caller. */
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

/** A resource closed to everybody is mentioned nowhere. */
export function isOpen({ rules: { access } }: Resource): boolean {
  return Object.values(access).some(rule => rule !== false)
}

/** Whether an attribute exists for reading: not hidden, stored, its flag set, its target visible. */
export function isVisible(attribute: Attribute, visibility: Visibility): boolean {
  return existsFor(attribute, visibility) && (attribute.flag === undefined || visibility.flags.has(attribute.flag))
}

/** As `isVisible`, without flags. */
export function existsFor(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.hidden || (attribute.kind === 'scalar' && attribute.source.kind === 'none')) return false
  return hasVisibleTarget(attribute, visibility)
}

/** A relation to records that the caller may not see does not exist for the caller, in bodies neither. */
export function hasVisibleTarget(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.kind === 'toOneOf') return branchesFor(attribute, visibility).length > 0
  return !isRelation(attribute) || visibility.allows(attribute.target, attribute.kind === 'toOne' ? 'get' : 'list')
}

/**
 * Says why a relation does not exist, if nobody may read its target. Undefined for targets closed to all, and where a function of the
 * application decides: a caller must not learn about hidden records.
 */
export function describeClosed(attribute: Attribute | undefined): string | undefined {
  if (attribute?.closed !== true || !isRelation(attribute)) return undefined
  const { kind, name, target } = attribute
  if (!target.served || !isOpen(target)) return undefined
  return kind === 'toMany'
    ? `"${name}" is a list of ${target.plural}, and nobody may list ${target.plural}.`
    : `"${name}" links ${withArticle(target.singular)}, and nobody may read ${target.plural}.`
}

/** A link to an entity that the caller may not see shows as empty. */
export function branchesFor({ branches }: ToOneOfAttribute, visibility: Visibility): readonly PolymorphicTarget[] {
  return branches.filter(({ target }) => target.served && visibility.allows(target, 'get'))
}

export function visibleNames(attributes: readonly Attribute[], visibility: Visibility): string[] {
  const visible = attributes.filter(attribute => isVisible(attribute, visibility))
  return visible.flatMap(attribute => [...new Set([shownName(attribute), attribute.name])])
}

/** Names of attributes that exist for every caller, for hints before any rule has an answer. */
export function openNames(attributes: readonly Attribute[]): string[] {
  return visibleNames(attributes, EVERYTHING).filter(name => {
    const attribute = attributes.find(other => other.name === name || shownName(other) === name)!
    if (isValue(attribute)) return true
    return listTargets(attribute).some(({ rules: { access } }) => (attribute.kind === 'toMany' ? access.list : access.get) === true)
  })
}
