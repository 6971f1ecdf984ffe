/**
 * Seed: records by resource name, in any order, in one transaction, validated like bodies of POST. A record may refer to any other of the seed by its
 * ID, also to one that comes later, or that refers back.
 */
import type { EntityManager } from '@mikro-orm/core'
import { create } from './apply.ts'
import { checkChange, refuseFaults } from './check.ts'
import type { Connection } from './dialect.ts'
import { refuse } from './errors.ts'
import type { Fault } from './errors.ts'
import { keyToSegment } from './key.ts'
import type { KeyValues } from './key.ts'
import type { Model, Resource } from './model.ts'
import { toPrimaryKey } from './orm-values.ts'
import type { Entity } from './orm-values.ts'
import type { SeedData } from './options.ts'
import { hint, nearest } from './suggest.ts'
import { isObject, validateRecord } from './validate.ts'
import type { LinkChange, ListChange, RecordChange, RecordRef } from './write-plan.ts'

/** @throws RestError with all faults of all records, each with its path (`users.0.email`). */
export async function seed(data: SeedData, model: Model, connection: Connection): Promise<void> {
  const changes = validated(data, model)
  await connection.write(async em => {
    await load(changes, em, connection)
  })
}

function validated(data: SeedData, model: Model): RecordChange[] {
  const faults: Fault[] = []
  const changes: RecordChange[] = []
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    if (resource === undefined) {
      const suggestion = nearest(
        name,
        model.resources.map(({ plural }) => plural),
      )
      throw refuse('resource_unknown', `seed: there is no resource "${name}".${hint(suggestion)}`)
    }
    if (!Array.isArray(records)) throw refuse('body_invalid', `seed: "${name}" must be an array of records.`)
    for (const [index, record] of (records as unknown[]).entries()) {
      const path = `${name}.${index}`
      if (!isObject(record)) throw refuse('body_invalid', `seed: "${path}" must be an object.`)
      changes.push(validateRecord(record, resource, { mode: 'create' }, faults, path))
    }
  }
  refuseFaults(faults)
  return changes
}

/** The key that a record gives itself, if it does. */
function ownKey(change: RecordChange): KeyValues | undefined {
  const parts: KeyValues[number][] = []
  for (const name of change.resource.keyNames) {
    const value = change.values.find(({ attribute }) => attribute.name === name)
    const link = change.links.find(({ attribute }) => attribute.name === name)
    if (value !== undefined) parts.push(value.value as KeyValues[number])
    else if (link?.link?.kind === 'existing') parts.push(...link.link.key)
    else return undefined
  }
  return parts
}

function registryKey(resource: Resource, key: KeyValues): string {
  return `${resource.className} ${keyToSegment(key)}`
}

/**
 * Two rounds: first every record with its plain values and the links that are part of its key, then the other links, when all records are there to be
 * linked. MikroORM then finds the order of the inserts.
 */
async function load(changes: readonly RecordChange[], em: EntityManager, connection: Connection): Promise<void> {
  const own = new Set(changes.flatMap(change => keyNameOf(change)))
  const faults: Fault[] = []
  for (const change of changes) await checkChange(withoutSeeded(change, own), undefined, connection, faults)
  refuseFaults(faults)
  const made = new Map<string, Entity>()
  const entities: { readonly change: RecordChange; readonly entity: Entity }[] = []
  const work = { em, connection }
  // Records whose key holds a link come after those that they link.
  for (const change of changes.toSorted((a, b) => keyLinks(a).length - keyLinks(b).length)) {
    const implied = Object.fromEntries(
      keyLinks(change).map(({ attribute, link }) => [
        attribute.property,
        found(link as RecordRef & { kind: 'existing' }, attribute.target, made, em),
      ]),
    )
    const entity = await create({ ...change, links: [], lists: [] }, work, implied)
    const key = ownKey(change)
    if (key !== undefined) made.set(registryKey(change.resource, key), entity)
    entities.push({ change, entity })
  }
  for (const { change, entity } of entities) {
    const isKeyLink = new Set(keyLinks(change))
    for (const link of change.links) if (!isKeyLink.has(link)) await setLink(entity, link, made, work)
    for (const list of change.lists) await addMembers(entity, list, made, work)
  }
  await em.flush()
}

function keyNameOf(change: RecordChange): string[] {
  const key = ownKey(change)
  return key === undefined ? [] : [registryKey(change.resource, key)]
}

function keyLinks(change: RecordChange): LinkChange[] {
  return change.links.filter(({ attribute, link }) => attribute.primary && attribute.owner && link?.kind === 'existing')
}

/** The change as the database can check it: without references to records of the seed itself. */
function withoutSeeded(change: RecordChange, own: ReadonlySet<string>): RecordChange {
  const isOutside = (ref: RecordRef | null, target: Resource): boolean => ref?.kind === 'existing' && !own.has(registryKey(target, ref.key))
  return {
    ...change,
    links: change.links.filter(({ attribute, link }) => isOutside(link, attribute.target)),
    lists: change.lists.map(list => ({ ...list, items: list.items.filter(item => isOutside(item, list.attribute.target)) })),
  }
}

function found(ref: RecordRef & { kind: 'existing' }, target: Resource, made: ReadonlyMap<string, Entity>, em: EntityManager): Entity {
  const entity = made.get(registryKey(target, ref.key))
  return entity ?? (em.getReference(target.entity as never, toPrimaryKey(target, ref.key)) as unknown as Entity)
}

interface SeedWork {
  readonly em: EntityManager
  readonly connection: Connection
}

async function resolved(
  ref: RecordRef,
  target: Resource,
  made: ReadonlyMap<string, Entity>,
  work: SeedWork,
  implied?: Entity,
): Promise<Entity> {
  return ref.kind === 'new' ? create(ref.record, work, implied) : found(ref, target, made, work.em)
}

async function setLink(entity: Entity, { attribute, link }: LinkChange, made: ReadonlyMap<string, Entity>, work: SeedWork): Promise<void> {
  if (link === null) return
  const other = attribute.owner || attribute.otherSide === undefined ? undefined : attribute.target.byName.get(attribute.otherSide)
  if (other !== undefined) {
    const member = await resolved(link, attribute.target, made, work, { [other.property]: entity })
    if (link.kind === 'existing') work.em.assign(member as never, { [other.property]: entity } as never)
    return
  }
  const target = await resolved(link, attribute.target, made, work)
  work.em.assign(entity as never, { [attribute.property]: target } as never)
}

async function addMembers(
  entity: Entity,
  { attribute, items }: ListChange,
  made: ReadonlyMap<string, Entity>,
  work: SeedWork,
): Promise<void> {
  for (const item of items) {
    if (attribute.via.kind === 'pivot') {
      const member = await resolved(item, attribute.target, made, work)
      ;(entity[attribute.property] as { add(member: Entity): void }).add(member)
    } else {
      const other = attribute.target.byName.get(attribute.via.attribute)!
      const member = await resolved(item, attribute.target, made, work, { [other.property]: entity })
      if (item.kind === 'existing') work.em.assign(member as never, { [other.property]: entity } as never)
    }
  }
}
