/**
 * Visibility: what exists for the caller of one request: which resources can be reached, which rows they have, which flags are set. Plans depend on
 * its shape; its values are bound like those of filters.
 */
import type { Attribute, Resource } from './model.ts'
import { isRelation } from './model.ts'
import type { Condition } from './read-plan.ts'

export interface Visibility {
  /** All that a plan depends on, as a text. */
  readonly shape: string
  /** The condition that the rows of a resource meet which exist for the caller. */
  readonly scopes: ReadonlyMap<Resource, Condition>
  /** Conditions of own parameters, on the resource that the request reads. */
  readonly where: readonly Condition[]
  /** The values of the conditions. */
  readonly values: readonly unknown[]
  /** Resources of which the caller may not see single records, and lists. */
  readonly withoutGet: ReadonlySet<Resource>
  readonly withoutList: ReadonlySet<Resource>
  /** Flags that the request gives. */
  readonly flags: ReadonlySet<string>
}

/** Everything exists, for the engine's own use and for models without rules. */
export const EVERYTHING: Visibility = Object.freeze({
  shape: '',
  scopes: new Map(),
  where: [],
  values: [],
  withoutGet: new Set<Resource>(),
  withoutList: new Set<Resource>(),
  flags: new Set<string>(),
})

/** Whether the attribute exists for reading. One that is hidden, or not stored, or leads to what may not be seen, does not; neither does one behind a flag. */
export function isVisible(attribute: Attribute, visibility: Visibility): boolean {
  return existsFor(attribute, visibility) && (attribute.flag === undefined || visibility.flags.has(attribute.flag))
}

/** As `isVisible`, flags aside. */
export function existsFor(attribute: Attribute, visibility: Visibility): boolean {
  if (attribute.hidden || (attribute.kind === 'scalar' && attribute.source.kind === 'none')) return false
  if (!isRelation(attribute)) return true
  return !(attribute.kind === 'toOne' ? visibility.withoutGet : visibility.withoutList).has(attribute.target)
}

/** Names of all attributes that exist for the caller, for hints. */
export function visibleNames(attributes: readonly Attribute[], visibility: Visibility): string[] {
  return attributes.filter(attribute => isVisible(attribute, visibility)).map(attribute => attribute.name)
}

/** Names of the attributes that exist for every caller, for hints where it is not known yet what may be told. */
export function openNames(attributes: readonly Attribute[]): string[] {
  return visibleNames(attributes, EVERYTHING).filter(name => {
    const attribute = attributes.find(other => other.name === name)!
    if (!isRelation(attribute)) return true
    const { access } = attribute.target.rules
    return (attribute.kind === 'toOne' ? access.get : access.list) === true
  })
}
