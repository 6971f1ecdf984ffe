/**
 * Seed: records by resource name, in any order, in one transaction, validated like bodies of POST. A record may refer to any other of the seed by its
 * ID, also to one that comes later, that is nested in another, or that refers back.
 */
import { FlushMode } from '@mikro-orm/core'
import type { Collection, EntityManager } from '@mikro-orm/core'
import { create, load, reference, requireTargetKey } from './apply.ts'
import type { Work } from './apply.ts'
import { checkChanges, givenKey, recordName, refuseFaults } from './check.ts'
import type { Implied } from './check.ts'
import type { Connection } from './dialect.ts'
import { refuse } from './errors.ts'
import type { Fault } from './errors.ts'
import type { Model, RelationAttribute } from './model.ts'
import type { Entity } from './orm-values.ts'
import type { SeedData } from './options.ts'
import { hint, nearest } from './suggest.ts'
import { isObject, owningAttribute, owningName, validateRecord } from './validate.ts'
import { EVERYTHING } from './visibility.ts'
import { explain } from './write.ts'
import type { RecordChange, RecordRef } from './write-plan.ts'

/** @throws RestError with all faults of all records, each with its path (`users.0.email`). */
export async function seed(data: SeedData, model: Model, connection: Connection): Promise<void> {
  const faults: Fault[] = []
  const changes = validated(data, model, faults)
  try {
    await connection.write(async (em: EntityManager) => insert(changes, faults, em, connection))
  } catch (error) {
    throw explain(error, connection.dialect, model)
  }
}

/**
 * Checks and inserts records inside a transaction; gives their entities, in order.
 *
 * @param faults those that are known already
 */
export async function insert(
  changes: readonly RecordChange[],
  faults: Fault[],
  em: EntityManager,
  connection: Connection,
): Promise<Entity[]> {
  const records = changes.flatMap(change => withNested(change))
  await checkChanges(changes, { known: new Set(records.flatMap(record => record.name ?? [])) }, connection, EVERYTHING, faults)
  refuseFaults(faults)
  // Looking for one record must not write others that are not linked yet.
  em.setFlushMode(FlushMode.COMMIT)
  // MikroORM does not find the order of the inserts where classes of one table refer to each other's owners.
  connection.deferReferences()
  const loader = new Loader(records, { em, connection, exists: () => true, tells: () => true, touched: [] })
  loader.refuseCircles()
  await loader.load()
  return changes.map(change => loader.entityOf(change))
}

function validated(data: SeedData, model: Model, faults: Fault[]): RecordChange[] {
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
    if (resource.readOnly) throw refuse('method_not_allowed', `seed: the ${resource.plural} are read-only.`)
    if (!Array.isArray(records)) throw refuse('body_invalid', `seed: "${name}" must be an array of records.`)
    for (const [index, record] of (records as unknown[]).entries()) {
      const path = `${name}.${index}`
      if (!isObject(record)) throw refuse('body_invalid', `seed: "${path}" must be an object.`)
      changes.push(validateRecord(record, resource, { mode: 'create', seeding: true }, faults, path))
    }
  }
  return changes
}

/** A record of the seed, at the top or nested in another one, which then sets one of its links. */
interface SeedRecord {
  readonly change: RecordChange
  readonly implied: (Implied & { readonly owner: RecordChange }) | undefined
  /** What others call it, where it gives itself a key. */
  readonly name: string | undefined
}

function withNested(change: RecordChange, implied?: SeedRecord['implied']): SeedRecord[] {
  const key = givenKey(change, implied)
  const record: SeedRecord = { change, implied, name: key === undefined ? undefined : recordName(change.resource, key) }
  return [
    record,
    ...references(change).flatMap(({ relation, refs }) => {
      const name = owningName(relation)
      const inner = name === undefined ? undefined : { name, owner: change }
      return refs.flatMap(ref => (ref.kind === 'new' ? withNested(ref.record, inner) : []))
    }),
  ]
}

function references(change: RecordChange): { relation: RelationAttribute; refs: readonly RecordRef[] }[] {
  return [
    ...change.links.map(({ attribute, link }) => ({ relation: attribute, refs: link === null ? [] : [link] })),
    ...change.lists.map(({ attribute, items }) => ({ relation: attribute, refs: items })),
  ]
}

/** That a record cannot be inserted before another one. */
interface Need {
  readonly record: SeedRecord
  readonly needed: SeedRecord
  /** The path of the link. */
  readonly at: string
}

/** What a link between two records of the seed means for their order: the one that holds the foreign key comes second, unless it may be null. */
function needOf(record: SeedRecord, relation: RelationAttribute, other: SeedRecord): Need | undefined {
  const name = owningName(relation)
  const held = name === undefined ? (relation.kind === 'toOne' ? relation : undefined) : relation.target.byName.get(name)
  if (held === undefined || held.nullable) return undefined
  const [holder, needed] = name === undefined ? [record, other] : [other, record]
  return { record: holder, needed, at: `${holder.change.path}.${held.name}` }
}

/**
 * Two rounds: first every record with its plain values and the links that are part of its key, then the other links, when all records are there to be
 * linked. MikroORM then finds the order of the inserts.
 */
class Loader {
  readonly #records: readonly SeedRecord[]
  readonly #work: Work
  readonly #byChange: ReadonlyMap<RecordChange, SeedRecord>
  readonly #byName: ReadonlyMap<string, SeedRecord>
  readonly #made = new Map<SeedRecord, Entity>()

  constructor(records: readonly SeedRecord[], work: Work) {
    this.#records = records
    this.#work = work
    this.#byChange = new Map(records.map(record => [record.change, record]))
    this.#byName = new Map(records.flatMap(record => (record.name === undefined ? [] : [[record.name, record]])))
  }

  entityOf(change: RecordChange): Entity {
    return this.#made.get(this.#byChange.get(change)!)!
  }

  /** Refuses records that need each other in a circle: whichever came first would lack the next. */
  refuseCircles(): void {
    const needs = new Map<SeedRecord, Need[]>(this.#records.map(record => [record, []]))
    const waiting = new Map<SeedRecord, SeedRecord[]>(this.#records.map(record => [record, []]))
    for (const record of this.#records) {
      for (const { relation, refs } of references(record.change)) {
        for (const ref of refs) {
          const other = this.#recordOf(ref, relation)
          const need = other === undefined ? undefined : needOf(record, relation, other)
          if (need === undefined) continue
          needs.get(need.record)!.push(need)
          waiting.get(need.needed)!.push(need.record)
        }
      }
    }
    // What needs nothing can be made, and then what needs only that; what is left over stands in circles, or needs one that does.
    const open = new Map([...needs].map(([record, all]) => [record, all.length]))
    const free = [...open].filter(([, count]) => count === 0).map(([record]) => record)
    for (let record = free.pop(); record !== undefined; record = free.pop()) {
      open.delete(record)
      for (const other of waiting.get(record)!) {
        const count = open.get(other)! - 1
        open.set(other, count)
        if (count === 0) free.push(other)
      }
    }
    const [start] = open.keys()
    if (start === undefined) return
    const walked: Need[] = []
    for (let record = start; !walked.some(need => need.record === record); record = walked.at(-1)!.needed) {
      walked.push(needs.get(record)!.find(({ needed }) => open.has(needed))!)
    }
    const circle = walked.slice(walked.findIndex(need => need.record === walked.at(-1)!.needed))
    const path = [...circle.map(({ at }) => `"${at}"`), `"${circle[0]!.record.change.path}"`].join(' → ')
    const detail = `Records need each other in a circle, so that none of them can come first: ${path}. One of these relations must be able to be null.`
    const errors = circle.map(({ at, needed }): Fault => ({
      code: 'conflict',
      detail: `"${at}" cannot be linked: "${needed.change.path}" needs this record first.`,
      attribute: at,
    }))
    throw refuse('validation_failed', detail, { errors })
  }

  async load(): Promise<void> {
    for (const record of this.#records) this.#made.set(record, await create({ ...record.change, links: [], lists: [] }, this.#work))
    for (const [record, entity] of this.#made) {
      for (const { relation, refs } of references(record.change)) await this.#link(entity, relation, refs)
    }
    await this.#work.em.flush()
  }

  async #link(entity: Entity, relation: RelationAttribute, refs: readonly RecordRef[]): Promise<void> {
    const name = owningName(relation)
    const other = name === undefined ? undefined : owningAttribute(relation)!
    for (const ref of refs) {
      const target = await this.#target(ref, relation)
      if (other !== undefined) requireTargetKey(other, entity)
      else if (relation.kind === 'toOne') requireTargetKey(relation, target)
      if (other !== undefined) target[other.property] = entity
      else if (relation.kind === 'toMany') (entity[relation.property] as Collection<object>).add(target)
      else entity[relation.property] = target
    }
  }

  #recordOf(ref: RecordRef, relation: RelationAttribute): SeedRecord | undefined {
    return ref.kind === 'new' ? this.#byChange.get(ref.record) : this.#byName.get(recordName(relation.target, ref.key))
  }

  /** What a reference means: a record of the seed, or one that is there already. */
  async #target(ref: RecordRef, relation: RelationAttribute): Promise<Entity> {
    const record = this.#recordOf(ref, relation)
    if (record !== undefined) return this.#made.get(record)!
    const { key } = ref as RecordRef & { kind: 'existing' }
    const isReferred = owningName(relation) === undefined && (relation.kind === 'toMany' || relation.targetKey === undefined)
    return isReferred ? reference(relation.target, key, this.#work.em) : (await load(relation.target, key, this.#work))!
  }
}
