/** Loads the records of a relation for the unit of work, all or only visible records. */
import type { Collection, EntityManager } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { compareKeys } from '../../model/key.ts'
import { keyOfEntity, keyOfProperty, toPrimaryKey, type Entity, unwrap } from '../../model/entity-key.ts'
import { findAll, findFirst, loadList } from '../../model/metadata/eager-cycles.ts'
import type {
  Discriminator,
  PolymorphicTarget,
  RelationAttribute,
  Resource,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
} from '../../model/model.ts'
import { load, entityName, type EntityName, type Work } from './unit-of-work.ts'
import { owningAttribute } from '../validate/relation-sides.ts'

export async function loadCollection(entity: Entity, { property }: ToManyAttribute, em: EntityManager): Promise<Collection<object>> {
  const collection = entity[property] as Collection<object>
  if (!collection.isInitialized()) await loadList(collection, em)
  return collection
}

export async function loadShownMembers(entity: Entity, attribute: ToManyAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  const all = await loadMembers(entity, attribute, resource, work)
  return keepOnly(all, member => isListed(member, attribute, work))
}

async function loadMembers(entity: Entity, attribute: ToManyAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  const where = buildLinkCondition(entity, attribute, resource, work.em)
  if (where === undefined) return []
  const found = (await findAll(entityName(attribute.target), where, work.em)) as Entity[]
  return sortByKey(found, attribute.target)
}

/** Whatever the database's order, the same record is refused or changed first. */
function sortByKey(entities: readonly Entity[], resource: Resource): Entity[] {
  return entities
    .map(entity => ({ entity, key: keyOfEntity(resource, entity) }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ entity }) => entity)
}

export async function isListed(member: Entity, list: ToManyAttribute, work: Work): Promise<boolean> {
  const key = keyOfEntity(list.target, member)
  return (list.where === undefined || (await work.meets(list, key))) && (await work.isVisible(list.target, key))
}

export async function keepOnly<T>(items: readonly T[], test: (item: T) => Awaitable<boolean>): Promise<T[]> {
  const kept: T[] = []
  for (const item of items) if (await test(item)) kept.push(item)
  return kept
}

export async function loadInverse(entity: Entity, attribute: ToOneAttribute, resource: Resource, work: Work): Promise<Entity | undefined> {
  const where = buildLinkCondition(entity, attribute, resource, work.em)
  if (where === undefined) return undefined
  return (await findFirst(entityName(attribute.target), where, work.em)) as Entity | undefined
}

/** Undefined: no record can link the parent. */
function buildLinkCondition(parent: Entity, relation: RelationAttribute, resource: Resource, em: EntityManager): object | undefined {
  const { property, targetKey, discriminator, beside } = owningAttribute(relation)!
  // The parent determines the branch.
  if (discriminator !== undefined) return linkOneOf(property, discriminator, parent, resource)
  if (targetKey === undefined) {
    const key = toPrimaryKey(resource, keyOfEntity(resource, parent))
    // MikroORM would compare all columns with the single value.
    if (beside !== undefined) return { [property]: { [resource.byName.get(resource.keyNames[0]!)!.property]: key } }
    // MikroORM compares a key of several parts without conversions of custom types; single parts are converted.
    if (Array.isArray(key) && hasConvertedKey(resource, em))
      return {
        $and: resource.keyNames.map((name, part) => ({ [property]: { [resource.byName.get(name)!.property]: key[part] as unknown } })),
      }
    // Of a nested key, MikroORM counts the outer parts only.
    return { [property]: Array.isArray(key) ? key.flat(Infinity) : key }
  }
  const value = parent[targetKey.property] ?? null
  return value === null ? undefined : { [property]: value }
}

function hasConvertedKey({ entity, keyNames }: Resource, em: EntityManager): boolean {
  const parts = em
    .getMetadata()
    .get(entity as EntityName)
    .getPrimaryProps()
  return (
    parts.length === keyNames.length &&
    parts.every(({ kind }) => kind === 'scalar') &&
    parts.some(({ customType }) => customType !== undefined)
  )
}

/** Of a key of several parts, MikroORM takes the first entity's names, which others lack. */
export function linkOneOf(property: string, { value }: Discriminator, parent: Entity, resource: Resource): object {
  const key = toPrimaryKey(resource, keyOfEntity(resource, parent))
  return { [property]: Array.isArray(key) ? [value, ...(key.flat(Infinity) as unknown[])] : parent }
}

export async function loadRelated(entity: Entity, attribute: RelationAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  if (attribute.kind === 'toMany') {
    if (attribute.via.kind === 'foreign') return loadMembers(entity, attribute, resource, work)
    const collection = await loadCollection(entity, attribute, work.em)
    return collection.getItems() as Entity[]
  }
  if (!attribute.owner) {
    const related = await loadInverse(entity, attribute, resource, work)
    return related === undefined ? [] : [related]
  }
  const link = entity[attribute.property] ?? null
  if (link === null) return []
  const key = attribute.holdsKey ? keyOfProperty(attribute.target, link) : keyOfEntity(attribute.target, unwrap(link))
  const related = await load(attribute.target, key, work)
  return related === undefined ? [] : [related]
}

export function findLinkedBranch({ branches, property }: ToOneOfAttribute, entity: Entity): PolymorphicTarget | undefined {
  const link = entity[property] ?? null
  if (link === null) return undefined
  const linked = unwrap(link)
  return branches.find(({ target }) => linked instanceof (target.entity as new () => object))
}
