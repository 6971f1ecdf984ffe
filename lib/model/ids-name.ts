/**
 * Reads the attribute option `ids`, a relation's second name: by `user: { ids: 'userId' }`, records show `"userId": 7`. Refuses relations
 * without plain IDs.
 */
import { isRelation, type Attribute, type RelationAttribute, type ScalarAttribute } from './model.ts'

export function readIdsName(attribute: Attribute, ids: string | undefined, where: string): Attribute {
  if (ids === undefined) return attribute
  const at = `${where}: attributes.${attribute.property}: "ids"`
  if (ids === '') throw new TypeError(`${at} must be a name.`)
  if (attribute.kind === 'toMany') return Object.freeze({ ...attribute, ids })
  if (attribute.kind !== 'toOne') throw new TypeError(`${at} is for relations to records of one resource.`)
  const isPlain = attribute.owner && attribute.targetKey === undefined && attribute.columns.length === 1 && attribute.formula === undefined
  if (!isPlain || attribute.primary)
    throw new TypeError(`${at} is for links by one column of the record itself that is not part of its key.`)
  return Object.freeze({ ...attribute, ids })
}

export function checkIdsNames(attributes: readonly Attribute[], where: string): void {
  const names = new Set(attributes.map(({ name }) => name))
  for (const attribute of attributes) {
    if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') continue
    const { ids } = attribute
    if (ids === undefined) continue
    if (names.has(ids))
      throw new TypeError(`${where}: attributes.${attribute.property}: "ids": the name "${ids}" is taken by another attribute.`)
    names.add(ids)
  }
}

/** Makes a plain attribute of a relation's IDs, for the path `/posts/1/userId`. */
export function plainIds(relation: RelationAttribute): ScalarAttribute {
  const { name, property, nullable, hidden, readOnly, required, needed, flag, filterable, sortable } = relation
  const rules = { name, property, nullable, hidden, readOnly, required, needed, flag, filterable, sortable, render: undefined }
  const plain = { kind: 'scalar', ...rules, primary: false, version: false } as const
  if (relation.kind === 'toMany') return { ...plain, type: { kind: 'json' }, source: { kind: 'getter' } }
  const source = { kind: 'column', column: relation.columns[0]!, rawDefault: false, generated: false } as const
  return { ...plain, type: relation.target.key[0]!.type, source }
}

/** `userId` leads to a copy of the relation with `idsOf`. Classes of a hierarchy may share a name: the first counts. */
export function indexAttributes(attributes: readonly Attribute[]): ReadonlyMap<string, Attribute> {
  const byName = new Map<string, Attribute>()
  for (const attribute of attributes) {
    if (!byName.has(attribute.name)) byName.set(attribute.name, attribute)
    if (!isRelation(attribute) || attribute.ids === undefined || byName.has(attribute.ids)) continue
    byName.set(attribute.ids, Object.freeze({ ...attribute, name: attribute.ids, ids: undefined, idsOf: attribute.name }))
  }
  return byName
}

/** The name beside IDs: `userId`. */
export function shownName(attribute: Attribute): string {
  return isRelation(attribute) ? (attribute.ids ?? attribute.name) : attribute.name
}

export function isIds(attribute: Attribute): attribute is RelationAttribute & { readonly idsOf: string } {
  return isRelation(attribute) && attribute.idsOf !== undefined
}

/** Turns the copy for `userId` back into `user`. */
export function withoutIds<A extends Attribute>(attribute: A, byName: ReadonlyMap<string, Attribute>): A {
  return isIds(attribute) ? (byName.get(attribute.idsOf) as A) : attribute
}
