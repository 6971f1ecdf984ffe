/** Finds the foreign key of a relation, and the other side of a 1:1. */
import type { KeyValues } from '../../model/key.ts'
import type { RelationAttribute, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { ImpliedLink } from './fixed-attributes.ts'

/** The inverse side of a 1:1 that its owning side fills. */
export function filledSide(relation: RelationAttribute): string | undefined {
  return relation.kind === 'toOne' && relation.owner && relation.unique ? relation.otherSide : undefined
}

/** The attribute with the foreign key: `book.author` for the list `author.books`; of a link to several entities, the branch. */
export function owningAttribute(relation: RelationAttribute): ToOneAttribute | undefined {
  const name = owningName(relation)
  const attribute = name === undefined ? undefined : relation.target.byName.get(name)
  if (attribute?.kind !== 'toOneOf') return attribute as ToOneAttribute | undefined
  const { discriminator } = relation.kind === 'toOne' ? relation : (relation.via as typeof relation.via & { kind: 'foreign' })
  return attribute.branches.find(branch => branch.discriminator.value === discriminator!.value)
}

/** The name of `owningAttribute`; undefined where the foreign key stands in this record or in a pivot table. */
export function owningName(relation: RelationAttribute): string | undefined {
  if (relation.kind === 'toMany') return relation.via.kind === 'foreign' ? relation.via.attribute : undefined
  return relation.owner ? undefined : relation.otherSide
}

/** The path of a new member implies its foreign key. */
export function implyOwner(list: ToManyAttribute, key: KeyValues): { implied?: ImpliedLink } {
  return list.via.kind === 'foreign' ? { implied: { name: list.via.attribute, key, link: owningAttribute(list) } } : {}
}
