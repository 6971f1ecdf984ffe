/**
 * Corrects links by a key other than the primary one, which MikroORM 7.2 handles wrongly in several ways.
 *
 * MikroORM makes an entity of such a link that has only this key, and takes it for a new record at the next flush, since it has no
 * primary key. So the primary keys are loaded before it makes entities of rows. Then its identity map contains references with both keys.
 * The rest is in `correctTargetKeys`.
 */
import { Utils, helper } from '@mikro-orm/core'
import type { EntityManager, EntityMetadata, EntityName, EntityProperty, MetadataStorage, Platform, Transaction } from '@mikro-orm/core'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { qualifyTable } from '../../model/table-name.ts'
import { name, tableName } from '../sql/sql.ts'

/** The members of the driver that are used here. */
export interface TargetKeyDriver {
  getMetadata(): MetadataStorage
  execute(sql: string, params: unknown[], method: 'all', transaction?: Transaction): Promise<unknown>
}

/** The data that MikroORM keeps with an entity. */
interface Wrapped {
  readonly __originalEntityData: Record<string, unknown> | undefined
  readonly __platform: Platform
}

type Compare = (last: Record<string, unknown>, current: Record<string, unknown>, options?: object) => Record<string, unknown>

/** The members of a comparator that are corrected. */
interface Comparator {
  prepareEntity(entity: object): Record<string, unknown>
  getEntityComparator(name: EntityName): Compare
}

/** The corrected links, by entity. */
type KeyLinks = ReadonlyMap<unknown, readonly EntityProperty[]>

/** Corrects the comparator of an instance, which takes part in computing changes. */
function correctComparisons(comparator: Comparator, links: KeyLinks): void {
  const prepareEntity = comparator.prepareEntity.bind(comparator)
  const getEntityComparator = comparator.getEntityComparator.bind(comparator)
  const comparisons = new Map<EntityName, Compare>()
  Object.assign(comparator, {
    prepareEntity: entity => {
      correctStored(entity, links.get(entity.constructor) ?? [])
      return prepareEntity(entity)
    },
    getEntityComparator: name => {
      const own = links.get(name)
      if (own === undefined) return getEntityComparator(name)
      const compare = comparisons.get(name) ?? withoutUnchanged(getEntityComparator(name), own)
      comparisons.set(name, compare)
      return compare
    },
  } satisfies Comparator)
}

/**
 * Compares without links that are as they were. The key of such a link is compared among the values of a record already. MikroORM adds it
 * to the changes even without a change, and would so update every loaded record with such a link.
 */
function withoutUnchanged(compare: Compare, own: readonly EntityProperty[]): Compare {
  const names = new Set<PropertyKey>(own.map(({ name: each }) => each))
  return (last, current, options) =>
    new Proxy(compare(last, current, options), {
      set: (changes, key, value: unknown) =>
        names.has(key) && !Object.hasOwn(changes, key) && Utils.equals(value, last[key as string])
          ? true
          : Reflect.set(changes, key, value),
    })
}

/** MikroORM's copy of the stored values may differ from the database. Then an unchanged link would be written, and its record updated. */
function correctStored(entity: object, own: readonly EntityProperty[]): void {
  if (own.length === 0) return
  const { __originalEntityData: stored, __platform: platform } = helper(entity) as Wrapped
  for (const prop of stored === undefined ? [] : own) {
    const noted = stored![prop.name] ?? null
    const target = (entity as Record<string, unknown>)[prop.name]
    if (noted === null) continue
    const { name: key, customType, runtimeType } = prop.targetMeta!.properties[prop.targetKey!] as EntityProperty
    const value = Utils.isEntity<Record<string, unknown>>(target, true) ? target[key] : undefined
    if (value !== undefined && isSame(prop, noted, target as object)) {
      stored![prop.name] = customType?.convertToDatabaseValue(value, platform, { mode: 'serialization' }) ?? value
    } else if (runtimeType === 'Date' && (typeof noted === 'number' || typeof noted === 'string')) {
      // It is compared with a Date.
      stored![prop.name] = platform.parseDate(noted)
    }
  }
}

/** Whether the noted value refers to the linked record. */
function isSame({ targetKey, updateRule, createForeignKeyConstraint }: EntityProperty, noted: unknown, target: object): boolean {
  // When the inverse side of a one-to-one has made the reference, the value is the primary key, as in a plain foreign key.
  if (String(noted) === String(helper(target).getPrimaryKey(true))) return true
  const { __originalEntityData: stored } = helper(target) as Wrapped
  // The record gets another key, and the database updates its links.
  return updateRule === 'cascade' && createForeignKeyConstraint && String(stored?.[targetKey!]) === String(noted)
}

/**
 * Corrects MikroORM's metadata of such links, after it has discovered the entities. MikroORM gives their column two names: it creates and
 * reads the one after the primary key (`author_id`), and joins and updates by the other one (`author_email`), which does not exist. And
 * where the key has a custom type, it notes as stored what that type makes of the primary key.
 */
export function correctTargetKeys(metadata: Iterable<EntityMetadata>, comparator: object): void {
  const corrected = new Map<unknown, readonly EntityProperty[]>()
  for (const meta of metadata) {
    const own = meta.relations.filter(isByTargetKey)
    if (own.length === 0) continue
    corrected.set(meta.class, own)
    for (const prop of own) {
      prop.joinColumns = prop.ownColumns = [...prop.fieldNames]
      if (prop.customType !== undefined) prop.customType = Object.create(prop.customType, { ensureComparable: { value: () => false } })
    }
  }
  if (corrected.size > 0) correctComparisons(comparator as Comparator, corrected)
}

function isByTargetKey(prop: EntityProperty): boolean {
  return prop.targetKey !== undefined && (prop.kind === 'm:1' || prop.owner) && prop.mapToPk !== true
}

/** The links of an entity, and those of its subclasses. */
const links = new WeakMap<EntityMetadata, readonly EntityProperty[]>()

function listTargetLinks(meta: EntityMetadata, metadata: MetadataStorage): readonly EntityProperty[] {
  let found = links.get(meta)
  if (found === undefined) {
    const family = meta.root.inheritanceType === undefined ? [meta] : [...metadata].filter(({ root }) => root === meta.root)
    const byName = new Map(family.flatMap(({ relations }) => relations.filter(isByTargetKey)).map(prop => [prop.name, prop]))
    links.set(meta, (found = [...byName.values()]))
  }
  return found
}

/** The entity managers of open transactions. Some calls of a driver do not name theirs. */
const managers = new WeakMap<Transaction, EntityManager>()

export function rememberManager(em: EntityManager, transaction?: Transaction): void {
  if (transaction !== undefined) managers.set(transaction, em)
}

/**
 * Loads the records that rows link by a key other than the primary one into the entity manager.
 *
 * @param rows rows of the driver, before entities are made of them. A value without a record becomes null, since it links nothing.
 * @param em the entity manager of the rows, where that is known
 */
export async function loadTargetKeys(
  meta: EntityMetadata,
  rows: readonly Record<string, unknown>[],
  driver: TargetKeyDriver,
  em: EntityManager | undefined,
  transaction?: Transaction,
): Promise<void> {
  for (const prop of rows.length === 0 ? [] : listTargetLinks(meta, driver.getMetadata())) {
    const linking = rows.filter(({ [prop.name]: value }) => value !== undefined && value !== null && typeof value !== 'object')
    const manager = em ?? (transaction === undefined ? undefined : managers.get(transaction))
    if (linking.length > 0 && manager !== undefined) await loadTargetKey(prop, linking, driver, manager, transaction)
  }
}

async function loadTargetKey(
  prop: EntityProperty,
  rows: readonly Record<string, unknown>[],
  driver: TargetKeyDriver,
  em: EntityManager,
  transaction?: Transaction,
): Promise<void> {
  const target = prop.targetMeta!
  const { targetKey = '' } = prop
  const referred = target.properties[targetKey] as EntityProperty
  const platform = em.getPlatform()
  const work = em.getUnitOfWork()
  const metadata = em.getMetadata()
  const schema = target.root.schema ?? em.config.getSchema()
  const missing = new Map<string, unknown>()
  for (const { [prop.name]: value } of rows) {
    if (work.getByKey(target.class, targetKey, String(value), undefined, true) === undefined) missing.set(String(value), value)
  }
  for (const row of missing.size === 0 ? [] : await readKeys(target, referred, [...missing.values()], driver, transaction)) {
    const { [targetKey]: value, ...key } = row
    const entity: Record<string, unknown> = em
      .getEntityFactory()
      .create(target.class, key, { merge: true, convertCustomTypes: true, initialized: false })
    // A reference has only its primary key. Setting another one is not a change.
    if (entity[targetKey] === undefined) {
      em.config.getHydrator(metadata).hydrate(entity, target, { [targetKey]: value }, em.getEntityFactory(), 'full', false, true)
      ;(work.getOriginalEntityData(entity) as Record<string, unknown>)[targetKey] = (
        em.config.getComparator(metadata).prepareEntity(entity) as Record<string, unknown>
      )[targetKey]
    }
    // The unit of work would set the property as well, and undo changes. MikroORM looks the record up by this text.
    const text = String(referred.customType?.convertToJSValue(String(value), platform, { mode: 'hydration' }) ?? value)
    work.getIdentityMap().storeByKey(entity, targetKey, text, schema)
    missing.delete(String(value))
  }
  for (const row of rows) if (missing.has(String(row[prop.name]))) row[prop.name] = null
}

/** Reads both keys of the records with these values, as they are stored. */
async function readKeys(
  target: EntityMetadata,
  referred: EntityProperty,
  values: readonly unknown[],
  driver: TargetKeyDriver,
  transaction?: Transaction,
): Promise<Record<string, unknown>[]> {
  // In a hierarchy with a table for each class, the class that has the column.
  let holder = target
  while (holder.tptParent !== undefined && !holder.ownProps!.some(prop => prop.name === referred.name)) holder = holder.tptParent
  const { root } = target
  const kind = root.inheritanceType === 'sti' ? [root.properties[root.discriminatorColumn!] as EntityProperty] : []
  const props = [...holder.getPrimaryProps(), referred, ...kind]
  const columns = props.flatMap(({ fieldNames }) => fieldNames.map(name))
  const column = name(referred.fieldNames[0]!)
  // A chunk must not exceed the limit of parameters.
  const rows: Record<string, unknown>[] = []
  for (let start = 0; start < values.length; start += thresholds.lookedUp) {
    const chunk = values.slice(start, start + thresholds.lookedUp)
    const sql =
      `select ${columns.join(', ')} from ${tableName(qualifyTable(holder.tableName, holder.schema))} where ` +
      `${column} in (${chunk.map(() => '?').join(', ')})`
    rows.push(...((await driver.execute(sql, chunk, 'all', transaction)) as Record<string, unknown>[]))
  }
  return rows.map(row =>
    Object.fromEntries(
      props.map(prop => [prop.name, prop.fieldNames.length > 1 ? prop.fieldNames.map(each => row[each]) : row[prop.fieldNames[0]!]]),
    ),
  )
}
