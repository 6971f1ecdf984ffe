/**
 * Finds the resources, rows and flags visible for a caller. Rules may be slow, so only needed rules are asked, once: planning stops at a
 * rule without an answer, by `RuleNotEvaluated`, and starts again with the answer.
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

/** One error for each question, since capturing a stack takes longer than reading a record. */
const stops = new WeakMap<Resource, Map<PendingRule['about'], RuleNotEvaluated>>()

export function notEvaluated(resource: Resource, about: PendingRule['about']): RuleNotEvaluated {
  let known = stops.get(resource)
  if (known === undefined) stops.set(resource, (known = new Map()))
  let stop = known.get(about)
  if (stop === undefined) {
    stop = new RuleNotEvaluated({ resource, about })
    // Stacks keep objects of the first request in memory.
    delete stop.stack
    known.set(about, stop)
  }
  return stop
}

export interface Visibility {
  readonly kind: 'everything' | 'caller' | 'writer' | 'leaver'
  /** Undefined in `EVERYTHING`. */
  readonly ctx: HookContext | undefined
  /** For cache keys of plans, beside answers of rules: who asks, flags, the form of `where`. */
  readonly shape: string
  /** Conditions on the requested resource: by custom parameters, a wire, `onlyRecord`. */
  readonly where: readonly Condition[]
  /** Conditions of a wire on expanded relations, by path. */
  readonly whereOfLists?: ReadonlyMap<string, Condition> | undefined
  readonly flags: ReadonlySet<string>
  /** @throws RuleNotEvaluated */
  readonly allows: (resource: Resource, action: 'get' | 'list') => boolean
  readonly restricts: (resource: Resource) => boolean
  /** @throws RuleNotEvaluated */
  readonly scopeOf: ScopeLookup
  /** Values of a scope; without a resource, of `where` and `whereOfLists`. */
  readonly findValues: (resource: Resource | undefined) => readonly unknown[]
  readonly permits: (resource: Resource, action: Action) => Awaitable<boolean>
  /** Asks the rule. Gives the answer as part of cache keys. */
  readonly ask: (rule: PendingRule) => Awaitable<string>
  /** The rules for writing. Undefined: the caller may write all rows. */
  readonly writing: Visibility | undefined
  /** A second visibility, without fixed filters (`writeScopes`): finds a record taken out of sight by a write, as a soft deletion. */
  readonly leaving: () => Visibility
}

const NO_VALUES: readonly unknown[] = Object.freeze([])

export const EVERYTHING: Visibility = Object.freeze({
  kind: 'everything',
  ctx: undefined,
  // A request with rules must not find a plan without.
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

/** Runs `work`; at a rule without an answer, asks the rule and runs `work` again. So `work` must have no side effects. */
export function retryWithRules<T>(visibility: Visibility, work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RuleNotEvaluated)) throw error
    return chain(visibility.ask(error.rule), () => retryWithRules(visibility, work))
  }
}

/** Throws RuleNotEvaluated for other rules, answered or not: a cached plan may depend only on rules in its cache key. */
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

/** Sees only the record, if visible for the caller. */
export function onlyRecord(resource: Resource, key: readonly unknown[], visibility: Visibility): Visibility {
  const custom = visibility.findValues(undefined)
  const condition: Condition = { kind: 'key', keys: [{ from: 'scope', of: undefined, index: custom.length, resource }] }
  const values = [...custom, key]
  return {
    ...visibility,
    shape: `${visibility.shape}\0only`,
    where: [...visibility.where, condition],
    findValues: of => (of === undefined ? values : visibility.findValues(of)),
  }
}

/** Whether texts may name the resource: not if closed to everyone. */
export function isNamable({ rules: { access } }: Resource): boolean {
  return Object.values(access).some(rule => rule !== false)
}

/** Whether the attribute can be read: not hidden, stored, its flag set, its target visible. */
export function isVisible(attribute: Attribute, visibility: Visibility): boolean {
  return existsFor(attribute, visibility) && (attribute.flag === undefined || visibility.flags.has(attribute.flag))
}

/** As `isVisible`, without flags. */
export function existsFor(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.hidden || (attribute.kind === 'scalar' && attribute.source.kind === 'none')) return false
  return hasVisibleTarget(attribute, visibility)
}

/** Relations to hidden records do not exist, not even in bodies. */
export function hasVisibleTarget(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.kind === 'toOneOf') return branchesFor(attribute, visibility).length > 0
  return !isRelation(attribute) || visibility.allows(attribute.target, attribute.kind === 'toOne' ? 'get' : 'list')
}

/**
 * Why nobody can see the relation. Undefined for targets closed to all, and where the application's functions decide: callers must not
 * learn about hidden records.
 */
export function describeUnreadable(attribute: Attribute | undefined): string | undefined {
  if (attribute?.closed !== true || !isRelation(attribute)) return undefined
  const { kind, name, target } = attribute
  if (!target.served || !isNamable(target)) return undefined
  return kind === 'toMany'
    ? `"${name}" is a list of ${target.plural}, and nobody may list ${target.plural}.`
    : `"${name}" links ${withArticle(target.singular)}, and nobody may read ${target.plural}.`
}

/** Links to hidden entities show as empty. */
export function branchesFor({ branches }: ToOneOfAttribute, visibility: Visibility): readonly PolymorphicTarget[] {
  return branches.filter(({ target }) => target.served && visibility.allows(target, 'get'))
}

export function visibleNames(attributes: readonly Attribute[], visibility: Visibility): string[] {
  const visible = attributes.filter(attribute => isVisible(attribute, visibility))
  return visible.flatMap(attribute => [...new Set([shownName(attribute), attribute.name])])
}

/** For hints before any rule has an answer. */
export function namesReadableByAll(attributes: readonly Attribute[]): string[] {
  return visibleNames(attributes, EVERYTHING).filter(name => {
    const attribute = attributes.find(other => other.name === name || shownName(other) === name)!
    if (isValue(attribute)) return true
    return listTargets(attribute).some(({ rules: { access } }) => (attribute.kind === 'toMany' ? access.list : access.get) === true)
  })
}
