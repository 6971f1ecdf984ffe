/** Model traits: what a model has anywhere, found once for an engine and its forks. */
import type { Attribute, Model } from '../../model/model.ts'

export interface ModelTraits {
  readonly renders: boolean
  readonly hasHierarchies: boolean
  /** A change may remove an orphan, even the path's record. */
  readonly removesOrphans: boolean
}

const known = new WeakMap<Model, ModelTraits>()

export function traitsOf(model: Model): ModelTraits {
  let traits = known.get(model)
  if (traits === undefined) known.set(model, (traits = findTraits(model)))
  return traits
}

function findTraits({ resources, entities }: Model): ModelTraits {
  return {
    renders: resources.some(({ attributes }) => attributes.some(isRendered)),
    hasHierarchies: resources.some(({ hierarchy }) => hierarchy !== undefined),
    removesOrphans: entities.some(({ attributes }) => attributes.some(removesOrphans)),
  }
}

function removesOrphans(attribute: Attribute): boolean {
  if (attribute.kind === 'scalar') return false
  if (attribute.kind === 'embedded') return attribute.attributes.some(removesOrphans)
  return attribute.kind === 'toOneOf' ? attribute.branches.some(({ orphanRemoval }) => orphanRemoval) : attribute.orphanRemoval
}

export function isRendered(attribute: Attribute): boolean {
  return attribute.render !== undefined || (attribute.kind === 'embedded' && attribute.attributes.some(isRendered))
}
