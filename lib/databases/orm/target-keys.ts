/**
 * Corrects links by another key than the primary key, such as `author_email`. MikroORM before 7.2.2 makes an entity of this key alone, and
 * inserts the entity. So `loadTargetKeys` loads primary keys first.
 */
import { Utils, helper } from '@mikro-orm/core'
import type { EntityManager, EntityMetadata, EntityName, EntityProperty, MetadataStorage, Platform, Transaction } from '@mikro-orm/core'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { qualifyTable } from '../../model/table-name.ts'
import { name, tableName } from '../sql/sql.ts'

export interface TargetKeyDriver {
  getMetadata(): MetadataStorage
  execute(sql: string, params: unknown[], method: 'all', transaction?: Transaction): Promise<unknown>
}

interface Wrapped {
  readonly __originalEntityData: Record<string, unknown> | undefined
  readonly __platform: Platform
}

type Compare = (last: Record<string, unknown>, current: Record<string, unknown>, options?: object) => Record<string, unknown>

interface Comparator {
  prepareEntity(entity: object): Record<string, unknown>
  getEntityComparator(name: EntityName): Compare
}

type KeyLinks = ReadonlyMap<unknown, readonly EntityProperty[]>

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
      const relations = links.get(name)
      if (relations === undefined) return getEntityComparator(name)
      const compare = comparisons.get(name) ?? withoutUnchanged(getEntityComparator(name), relations)
      comparisons.set(name, compare)
      return compare
    },
  } satisfies Comparator)
}

/** MikroORM takes all such links for changed, and would update every loaded record. */
function withoutUnchanged(compare: Compare, relations: readonly EntityProperty[]): Compare {
  const names = new Set<PropertyKey>(relations.map(({ name: each }) => each))
  return (last, current, options) =>
    new Proxy(compare(last, current, options), {
      set: (changes, key, value: unknown) =>
        names.has(key) && !Object.hasOwn(changes, key) && Utils.equals(value, last[key as string])
          ? true
          : Reflect.set(changes, key, value),
    })
}

/** Where MikroORM's stored values differ from the database, an unchanged link would be written. */
function correctStored(entity: object, relations: readonly EntityProperty[]): void {
  if (relations.length === 0) return
  const { __originalEntityData: stored, __platform: platform } = helper(entity) as Wrapped
  for (const prop of stored === undefined ? [] : relations) {
    const noted = stored![prop.name] ?? null
    const target = (entity as Record<string, unknown>)[prop.name]
    if (noted === null) continue
    const { name: key, customType, runtimeType } = prop.targetMeta!.properties[prop.targetKey!] as EntityProperty
    const value = Utils.isEntity<Record<string, unknown>>(target, true) ? target[key] : undefined
    if (value !== undefined && isSame(prop, noted, target as object)) {
      stored![prop.name] = customType?.convertToDatabaseValue(value, platform, { mode: 'serialization' }) ?? value
    } else if (runtimeType === 'Date' && (typeof noted === 'number' || typeof noted === 'string')) {
      // The value is compared with a Date.
      stored![prop.name] = platform.parseDate(noted)
    }
  }
}

function isSame({ targetKey, updateRule, createForeignKeyConstraint }: EntityProperty, noted: unknown, target: object): boolean {
  // A reference by an inverse side holds the primary key.
  if (String(noted) === String(helper(target).getPrimaryKey(true))) return true
  const { __originalEntityData: stored } = helper(target) as Wrapped
  // The target gets another key, and the database updates the links.
  return updateRule === 'cascade' && createForeignKeyConstraint && String(stored?.[targetKey!]) === String(noted)
}

/**
 * MikroORM creates and reads the column of a link as `author_id`, but joins and updates a column `author_email`. With a custom type,
 * MikroORM converts the primary key.
 */
export function correctTargetKeys(metadata: Iterable<EntityMetadata>, comparator: object): void {
  const corrected = new Map<unknown, readonly EntityProperty[]>()
  for (const meta of metadata) {
    const relations = meta.relations.filter(isByTargetKey)
    if (relations.length === 0) continue
    corrected.set(meta.class, relations)
    for (const prop of relations) {
      prop.joinColumns = prop.ownColumns = [...prop.fieldNames]
      if (prop.customType !== undefined) prop.customType = Object.create(prop.customType, { ensureComparable: { value: () => false } })
    }
  }
  if (corrected.size > 0) correctComparisons(comparator as Comparator, corrected)
}

function isByTargetKey(prop: EntityProperty): boolean {
  return prop.targetKey !== undefined && (prop.kind === 'm:1' || prop.owner) && prop.mapToPk !== true
}

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

/** For calls of the driver without an entity manager. */
const managers = new WeakMap<Transaction, EntityManager>()

export function rememberManager(em: EntityManager, transaction?: Transaction): void {
  if (transaction !== undefined) managers.set(transaction, em)
}

/**
 * Loads the records linked by another key than the primary key.
 *
 * @param rows of the driver; a value without a record becomes null
 * @param em the rows' entity manager, if known
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
    if (entity[targetKey] === undefined) {
      em.config.getHydrator(metadata).hydrate(entity, target, { [targetKey]: value }, em.getEntityFactory(), 'full', false, true)
      ;(work.getOriginalEntityData(entity) as Record<string, unknown>)[targetKey] = (
        em.config.getComparator(metadata).prepareEntity(entity) as Record<string, unknown>
      )[targetKey]
    }
    // The unit of work would set the property and undo changes. MikroORM looks records up by this text.
    const text = String(referred.customType?.convertToJSValue(String(value), platform, { mode: 'hydration' }) ?? value)
    work.getIdentityMap().storeByKey(entity, targetKey, text, schema)
    missing.delete(String(value))
  }
  for (const row of rows) if (missing.has(String(row[prop.name]))) row[prop.name] = null
}

async function readKeys(
  target: EntityMetadata,
  referred: EntityProperty,
  values: readonly unknown[],
  driver: TargetKeyDriver,
  transaction?: Transaction,
): Promise<Record<string, unknown>[]> {
  // With a table for each class, a single class has the column.
  let holder = target
  while (holder.tptParent !== undefined && !holder.ownProps!.some(prop => prop.name === referred.name)) holder = holder.tptParent
  const { root } = target
  const kind = root.inheritanceType === 'sti' ? [root.properties[root.discriminatorColumn!] as EntityProperty] : []
  const props = [...holder.getPrimaryProps(), referred, ...kind]
  const columns = props.flatMap(({ fieldNames }) => fieldNames.map(name))
  const column = name(referred.fieldNames[0]!)
  // The number of parameters is limited.
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
