/** Finds whether any resource of a model renders values, has classes, or removes orphans; once for an engine and all forks. */
import type { Attribute, Model } from '../../model/model.ts'

export interface ModelTraits {
  /** `render` makes shown values: answers are not as stored. */
  readonly renders: boolean
  readonly hasHierarchies: boolean
  /** Changing a link may remove the linked record, even the path's. */
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
    // Also of entities without a resource.
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
