/**
 * Relation sides: which attribute of the related records holds the foreign key, and which side of a one-to-one the other one fills.
 */
import type { KeyValues } from '../../model/key.ts'
import type { RelationAttribute, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { ImpliedLink } from './fixed-attributes.ts'

/** Returns the other side of a one-to-one that its owning side fills. */
export function filledSide(relation: RelationAttribute): string | undefined {
  return relation.kind === 'toOne' && relation.owner && relation.unique ? relation.otherSide : undefined
}

/**
 * Returns the attribute of the target that holds the foreign key of an inverse relation; where that links one of several entities, the
 * branch for this one.
 */
export function owningAttribute(relation: RelationAttribute): ToOneAttribute | undefined {
  const name = owningName(relation)
  const attribute = name === undefined ? undefined : relation.target.byName.get(name)
  if (attribute?.kind !== 'toOneOf') return attribute as ToOneAttribute | undefined
  const { discriminator } = relation.kind === 'toOne' ? relation : (relation.via as typeof relation.via & { kind: 'foreign' })
  return attribute.branches.find(branch => branch.discriminator.value === discriminator!.value)
}

/**
 * Returns the name of the attribute of a nested record that its owner sets: the other side of the relation, where that holds the foreign
 * key.
 */
export function owningName(relation: RelationAttribute): string | undefined {
  if (relation.kind === 'toMany') return relation.via.kind === 'foreign' ? relation.via.attribute : undefined
  return relation.owner ? undefined : relation.otherSide
}

/** Returns the link that a new member of a list gets from the record that has the list, where it holds the foreign key. */
export function implyOwner(list: ToManyAttribute, key: KeyValues): { implied?: ImpliedLink } {
  return list.via.kind === 'foreign' ? { implied: { name: list.via.attribute, key, link: owningAttribute(list) } } : {}
}
