/**
 * Inserts a seed in one transaction, validated like bodies of POST. Records come in any order, and link later, nested or each other's
 * records by ID, as in `{ posts: [{ user: 1 }], users: [{ id: 1 }] }`.
 */
import { idNames } from '../../model/key.ts'
import { FlushMode, type Collection, type EntityManager, type EntityName } from '@mikro-orm/core'
import { create } from '../unit-of-work/apply.ts'
import { checkChanges, nameReference } from '../validate/check-database.ts'
import type { Connection } from '../database/connection.ts'
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import { linkedValue, needsKey, requireTargetKey, setLink } from '../unit-of-work/entity-links.ts'
import { orderInserts } from '../unit-of-work/insert-order.ts'
import { insertOwnLink } from '../unit-of-work/link-itself.ts'
import { findHierarchyRoot, type Model, type RelationAttribute, type ToOneAttribute } from '../../model/model.ts'
import { type Entity, hasKey } from '../../model/entity-key.ts'
import type { SeedData } from '../../model/seeds.ts'
import { insertFlat, insertPlanned } from './planned-seed.ts'
import { listNames, listRecords, type SeedRecord } from './seed-records.ts'
import { arrange, type Need } from '../statements/arrange.ts'
import { load, reference, type Translating, type Work } from '../unit-of-work/unit-of-work.ts'
import { writeOneSide } from '../unit-of-work/ordered-lists.ts'
import { owningName } from '../validate/relation-sides.ts'
import { joinPath, nameByPlace } from '../validate/validation-context.ts'
import { validateSeed } from './validate-seed.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { translateDatabaseError } from '../unit-of-work/database-errors.ts'
import { listReferences, type Reference } from '../validate/linked-records.ts'
import type { RecordInput, RecordRef } from '../validate/record-input.ts'

const WITHOUT_RULES = {
  writing: undefined,
  isVisible: () => true,
  mayLeave: () => false,
  meets: () => true,
  authorize: () => undefined,
  mayMention: () => true,
} as const

/** @throws RestError with all errors of all records, each with a path (`users.0.email`). */
export async function seed(data: SeedData, model: Model, connection: Connection): Promise<void> {
  const translating: Translating = { dialect: connection.dialect, model }
  try {
    if (await insertFlat(data, connection, translating)) return
    const { changes, errors } = await validateSeed(data, model, connection)
    if (await insertPlanned(data, { changes, errors }, connection, translating)) return
    await connection.write(async (em: EntityManager) => {
      await insert(changes, errors, em, connection, translating)
    })
  } catch (error) {
    throw nameRecords(translateDatabaseError(error, translating), data, model)
  }
}

/** Begins an error with `seed:`, with the name of each record unnamed so far. */
function nameRecords(error: unknown, data: SeedData, model: Model): unknown {
  if (!(error instanceof RestError) || error.errors === undefined) return error
  const details = error.errors.map(({ code, detail, attribute }) => {
    const named = attribute === undefined || detail.includes(`"${attribute}"`) ? detail : `"${attribute}": ${detail}`
    return code === 'reference_not_found' && attribute !== undefined ? named + suggestKey(attribute, data, model) : named
  })
  const listed = error.errors.map(({ detail }) => detail).join(' ')
  const message = error.message.startsWith(listed) ? `${details.join(' ')}${error.message.slice(listed.length)}` : error.message
  return new RestError(error.status, error.code, `seed: ${message}`, {
    errors: error.errors,
    cause: error,
  })
}

/**
 * Returns the entities in order.
 *
 * @param errors of validation
 * @param translating gets the records, for errors of the database
 */
export async function insert(
  changes: readonly RecordInput[],
  errors: FieldErrors,
  em: EntityManager,
  connection: Connection,
  translating: Translating,
): Promise<Entity[]> {
  const records = changes.flatMap(change => listRecords(change))
  await checkChanges(changes, { known: new Set(records.flatMap(listNames)) }, connection, EVERYTHING, errors)
  const refusal = errors.refusal()
  if (refusal !== undefined) throw refusal
  // A query must not flush records whose links are not set yet.
  em.setFlushMode(FlushMode.COMMIT)
  // Where classes of one table refer to each other's owners, no order of inserts exists.
  await connection.deferReferences()
  const work: Work = { em, connection, ...WITHOUT_RULES, touched: [], conditional: [], newMembers: [], setByBody: new Set() }
  translating.work = work
  const loader = new Loader(records, work)
  loader.refuseCircles()
  orderInserts(em, entity => loader.placeOf(entity))
  await loader.load()
  return changes.map(change => loader.findEntity(change))
}

/** Suggests to give a record of the seed an ID, for links by ID. */
function suggestKey(path: string, data: SeedData, model: Model): string {
  const [name = '', , attributeName = ''] = path.split('.')
  const attribute = model.byName.get(name)?.byName.get(attributeName)
  if (attribute?.kind !== 'toOne' && attribute?.kind !== 'toMany') return ''
  const { singular } = attribute.target
  const names = idNames(attribute.target)
  const records = Object.entries(data).flatMap(([other, list]) => (model.byName.get(other) === attribute.target ? list : []))
  const lacks = records.some(record => names.some(key => (record as Readonly<Record<string, unknown>>)[key] === undefined))
  return lacks ? ` Give the ${singular} in the seed its "${names.join('", "')}", so that others can refer to it.` : ''
}

/** `record` cannot be inserted before `needed`. */
interface RecordNeed extends Need<SeedRecord> {
  readonly record: SeedRecord
  readonly at: string
  readonly link: ToOneAttribute | undefined
}

interface OpenLink extends Reference {
  readonly record: SeedRecord
}

/** The holder of the foreign key comes second, unless null is allowed. */
function findNeed(record: SeedRecord, { relation, within = [] }: Reference, other: SeedRecord): RecordNeed | undefined {
  const name = owningName(relation)
  const foreignKey = name === undefined ? (relation.kind === 'toOne' ? relation : undefined) : relation.target.byName.get(name)
  if (foreignKey === undefined || foreignKey.nullable) return undefined
  const [holder, needed] = name === undefined ? [record, other] : [other, record]
  // The link needs a generated key (`needsKey`), or is required within a table, whose records are inserted without mutual links.
  const isBeside = findHierarchyRoot(holder.change.resource) === findHierarchyRoot(needed.change.resource)
  const awaitsKey = foreignKey.kind === 'toOne' && (isBeside || (needsKey(foreignKey) && needed.name === undefined))
  const link = foreignKey.kind === 'toOne' && within.length === 0 ? foreignKey : undefined
  return {
    record: holder,
    needed,
    link,
    at: joinPath(holder.change.path, [...within.map(embedded => embedded.name), foreignKey.name].join('.')),
    isRequired: true,
    awaitsKey,
  }
}

/**
 * Loads in two rounds: records with plain values and constructors' links, then other links. A record with need of a generated key follows
 * the other's insert.
 */
class Loader {
  readonly #records: readonly SeedRecord[]
  readonly #work: Work
  readonly #byChange: ReadonlyMap<RecordInput, SeedRecord>
  readonly #byName: ReadonlyMap<string, SeedRecord>
  readonly #entities = new Map<SeedRecord, Entity>()
  readonly #order: ReadonlyMap<SeedRecord, number>
  readonly #places = new Map<Entity, number>()
  #needs: ReadonlyMap<SeedRecord, readonly RecordNeed[]> = new Map()

  constructor(records: readonly SeedRecord[], work: Work) {
    this.#records = records
    this.#work = work
    this.#byChange = new Map(records.map(record => [record.change, record]))
    this.#order = new Map(records.map((record, index) => [record, index]))
    this.#byName = new Map(records.flatMap(record => listNames(record).map(name => [name, record] as const)))
  }

  findEntity(change: RecordInput): Entity {
    return this.#entities.get(this.#byChange.get(change)!)!
  }

  /** Unlisted entities come last. */
  placeOf(entity: Entity): number {
    return this.#places.get(entity) ?? this.#records.length
  }

  refuseCircles(): void {
    const needs = new Map<SeedRecord, RecordNeed[]>(this.#records.map(record => [record, []]))
    const waiting = new Map<SeedRecord, SeedRecord[]>(this.#records.map(record => [record, []]))
    for (const record of this.#records) {
      for (const referring of listReferences(record.change)) {
        const other = this.#findRecord(referring.ref, referring.relation)
        const need = other === undefined || other === record ? undefined : findNeed(record, referring, other)
        if (need === undefined) continue
        needs.get(need.record)!.push(need)
        waiting.get(need.needed)!.push(need.record)
      }
    }
    this.#needs = needs
    // Takes free records away, until the rest is in circles, or needs a circle.
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
    const walked: RecordNeed[] = []
    for (let record = start; !walked.some(need => need.record === record); record = walked.at(-1)!.needed) {
      walked.push(needs.get(record)!.find(({ needed }) => open.has(needed))!)
    }
    const circle = walked.slice(walked.findIndex(need => need.record === walked.at(-1)!.needed))
    const path = [...circle.map(({ at }) => `"${at}"`), nameByPlace(circle[0]!.record.change)].join(' → ')
    const detail =
      `Records need each other in a circle, so that none of them can come first: ${path}. ` +
      'One of these relations must be able to be null.'
    const errors = circle.map(({ at, needed }): FieldError => ({
      code: 'conflict',
      detail: `"${at}" cannot be linked: ${nameByPlace(needed.change)} needs this record first.`,
      attribute: at,
    }))
    throw restError('validation_failed', detail, { errors })
  }

  async load(): Promise<void> {
    let open: readonly OpenLink[] = this.#records.flatMap(record => listReferences(record.change).map(each => ({ ...each, record })))
    for (const records of this.#groupRecords()) {
      for (const record of records) await this.#make(record)
      // A link may wait for other links, which set parts of its key.
      for (let count = Infinity; open.length < count; open = await this.#linkAll(open)) count = open.length
      await this.#work.em.flush()
    }
    if (open.length === 0) return
    // Each flush takes one link: MikroORM confuses two changes of records in several tables.
    for (const link of open) {
      await this.#link(link, true)
      await this.#work.em.flush()
    }
  }

  /** The constructor may read its arguments, created first. */
  async #make(record: SeedRecord): Promise<void> {
    if (this.#entities.has(record)) return
    const { change } = record
    const { constructorParams = [] } = this.#work.em.getMetadata().get(change.resource.entity as EntityName)
    const taken: Entity = {}
    if (constructorParams.length > 0) {
      for (const { needed, link } of this.#needs.get(record)!) {
        if (link === undefined || !constructorParams.includes(link.property)) continue
        await this.#make(needed)
        taken[link.property] = linkedValue(link, this.#entities.get(needed)!)
      }
      for (const { attribute, within, link } of change.links) {
        const isTaken = link?.kind === 'existing' && within === undefined && constructorParams.includes(attribute.property)
        if (isTaken && attribute.owner && this.#findRecord(link, attribute) === undefined)
          taken[attribute.property] = linkedValue(attribute, (await this.#findTarget(link, attribute))!)
      }
    }
    const entity = await create({ ...change, links: [], lists: [] }, this.#work, taken)
    this.#entities.set(record, entity)
    this.#places.set(entity, this.#order.get(record)!)
  }

  #groupRecords(): readonly (readonly SeedRecord[])[] {
    // `refuseCircles` has found no circle.
    return arrange(this.#records, record => this.#needs.get(record)!)!
  }

  async #linkAll(links: readonly OpenLink[]): Promise<OpenLink[]> {
    const later: OpenLink[] = []
    for (const link of links) if (!(await this.#link(link))) later.push(link)
    return later
  }

  async #link({ record, relation, within, ref }: OpenLink, last = false): Promise<boolean> {
    const entity = this.#entities.get(record)
    const target = entity === undefined ? undefined : await this.#findTarget(ref, relation)
    if (entity === undefined || target === undefined) return false
    if (!last && this.#mustWait(record, relation, ref)) return false
    const name = owningName(relation)
    const other = name === undefined ? undefined : (relation.target.byName.get(name) as ToOneAttribute)
    if (other !== undefined) return this.#setLink(target, other, entity)
    if (relation.kind === 'toOne') {
      if (entity === target) insertOwnLink(entity, relation, record.change, this.#work.em)
      return this.#setLink(entity, relation, target, within)
    }
    ;(entity[relation.property] as Collection<object>).add(target)
    this.#work.newMembers.push({ attribute: relation, items: [ref] })
    writeOneSide(entity, relation, [target], this.#work.em)
    return true
  }

  /** Returns false while a key to link does not exist. */
  #setLink(entity: Entity, attribute: ToOneAttribute, target: Entity, within?: Reference['within']): boolean {
    requireTargetKey(attribute, target)
    if (attribute.holdsKey && !hasKey(target)) return false
    const value = linkedValue(attribute, target)
    setLink(entity, attribute, within, value, this.#work.em)
    return true
  }

  /** For a record in several tables, MikroORM writes a link to a new record into the wrong table. */
  #mustWait(record: SeedRecord, relation: RelationAttribute, ref: RecordRef): boolean {
    const other = this.#findRecord(ref, relation)
    if (other === undefined) return false
    const name = owningName(relation)
    const holder = name === undefined ? record : other
    const foreignKey = name === undefined ? relation : relation.target.byName.get(name)
    return foreignKey?.kind === 'toOne' && foreignKey.nullable && holder.change.resource.source.kind === 'joined'
  }

  #findRecord(ref: RecordRef, relation: RelationAttribute): SeedRecord | undefined {
    return ref.kind === 'new' ? this.#byChange.get(ref.record) : this.#byName.get(nameReference(ref, relation.target))
  }

  /** Takes a record of the seed, once created, or of the database. */
  async #findTarget(ref: RecordRef, relation: RelationAttribute): Promise<Entity | undefined> {
    const record = this.#findRecord(ref, relation)
    if (record !== undefined) return this.#entities.get(record)
    const { key } = ref as RecordRef & { kind: 'existing' }
    const isReferred = owningName(relation) === undefined && (relation.kind === 'toMany' || relation.targetKey === undefined)
    return isReferred ? reference(relation.target, key, this.#work.em) : (await load(relation.target, key, this.#work))!
  }
}
