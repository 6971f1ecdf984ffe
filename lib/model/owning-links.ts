/** Owning links: the to-one attributes of a resource that hold their foreign key, wherever they stand in it. */
import type { Attribute, EmbeddedAttribute, ToOneAttribute } from './model.ts'

/**
 * The to-one attributes that hold their foreign key, those to one of several resources and those inside embedded objects too, with the
 * objects that they are in.
 */
export function owningLinks(attributes: readonly Attribute[], within: readonly EmbeddedAttribute[] = []): OwningLink[] {
  return attributes.flatMap(attribute => {
    if (attribute.kind === 'embedded') return owningLinks(attribute.attributes, [...within, attribute])
    if (attribute.kind === 'toOneOf') return attribute.branches.map(branch => ({ attribute: branch, within }))
    return attribute.kind === 'toOne' && attribute.owner && attribute.formula === undefined ? [{ attribute, within }] : []
  })
}

/** A to-one attribute and its place. */
interface OwningLink {
  readonly attribute: ToOneAttribute
  /** The embedded objects that it is in, from the outside. */
  readonly within: readonly EmbeddedAttribute[]
}

/** Returns the dotted path of a link. */
export function formatPath({ attribute, within }: OwningLink): string {
  return [...within, attribute].map(({ name }) => name).join('.')
}
