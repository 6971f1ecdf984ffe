/**
 * Corrects links by a key other than the primary one, which MikroORM 7.2 handles wrongly in several ways.
 *
 * MikroORM makes an entity of such a link that has only this key, and takes it for a new record at the next flush, since it has no
 * primary key. So the primary keys are loaded before it makes entities of rows. Then its identity map contains references with both keys.
 * The rest is in `correctTargetKeys`.
 */
import { ChangeSetComputer, Utils, helper } from '@mikro-orm/core'
import type { EntityManager, EntityMetadata, EntityProperty, MetadataStorage, Platform, Transaction } from '@mikro-orm/core'
import { thresholds } from '../base/thresholds.ts'
import { canCorrectLinks } from './orm-members.ts'
import { qualifyTable } from '../model/table-name.ts'
import { name, tableName } from '../sql/sql.ts'

type NamedRow = Record<string, unknown>

/** The members of the driver that are used here. */
interface Driver {
  getMetadata(): MetadataStorage
  execute(sql: string, params: unknown[], method: 'all', transaction?: Transaction): Promise<unknown>
}

/** The data that MikroORM keeps with an entity. */
interface Wrapped {
  readonly __meta: EntityMetadata
  readonly __originalEntityData: NamedRow | undefined
  readonly __platform: Platform
}

interface ComputesChanges {
  computeChangeSet(entity: object): unknown
  processToOne(prop: EntityProperty, changeSet: unknown): void
}

/** The corrected links, by entity. */
const corrected = new WeakMap<EntityMetadata, ReadonlySet<EntityProperty>>()

const computer = ChangeSetComputer.prototype as unknown as ComputesChanges
const { computeChangeSet, processToOne } = computer

// The key of such a link is compared among the values of a record already. MikroORM would add it to the changes even without a change,
// and so update every loaded record with such a link.
function processLink(this: ComputesChanges, prop: EntityProperty, changeSet: unknown): void {
  const { meta } = changeSet as { meta: EntityMetadata }
  if (corrected.get(meta)?.has(prop) !== true) processToOne.call(this, prop, changeSet)
}

// MikroORM's copy of the stored values may differ from the database. Then an unchanged link would be written, and its record updated.
function computeChange(this: ComputesChanges, entity: object): unknown {
  const { __meta: meta, __originalEntityData: stored, __platform: platform } = helper(entity) as unknown as Wrapped
  for (const prop of stored === undefined ? [] : (corrected.get(meta) ?? [])) {
    const noted = stored![prop.name] ?? null
    const target = (entity as NamedRow)[prop.name]
    if (noted === null) continue
    const { name: key, customType, runtimeType } = prop.targetMeta!.properties[prop.targetKey as never] as EntityProperty
    const value = Utils.isEntity<NamedRow>(target, true) ? target[key] : undefined
    if (value !== undefined && isSame(prop, noted, target as object)) {
      stored![prop.name] = customType?.convertToDatabaseValue(value, platform, { mode: 'serialization' }) ?? value
    } else if (runtimeType === 'Date' && (typeof noted === 'number' || typeof noted === 'string')) {
      // It is compared with a Date.
      stored![prop.name] = platform.parseDate(noted)
    }
  }
  return computeChangeSet.call(this, entity)
}

if (canCorrectLinks) Object.assign(computer, { computeChangeSet: computeChange, processToOne: processLink })

/** Whether the noted value refers to the linked record. */
function isSame({ targetKey, updateRule, createForeignKeyConstraint }: EntityProperty, noted: unknown, target: object): boolean {
  // When the inverse side of a one-to-one has made the reference, the value is the primary key, as in a plain foreign key.
  if (String(noted) === String(helper(target).getPrimaryKey(true))) return true
  const { __originalEntityData: stored } = helper(target) as unknown as Wrapped
  // The record gets another key, and the database updates its links.
  return updateRule === 'cascade' && createForeignKeyConstraint && String(stored?.[targetKey!]) === String(noted)
}

/**
 * Corrects MikroORM's metadata of such links, after it has discovered the entities. MikroORM gives their column two names: it creates and
 * reads the one after the primary key (`author_id`), and joins and updates by the other one (`author_email`), which does not exist. And
 * where the key has a custom type, it notes as stored what that type makes of the primary key.
 */
export function correctTargetKeys(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    const links = meta.relations.filter(isByTargetKey)
    if (links.length === 0) continue
    corrected.set(meta, new Set(links))
    for (const prop of links) {
      prop.joinColumns = prop.ownColumns = [...prop.fieldNames]
      if (prop.customType !== undefined)
        prop.customType = Object.create(prop.customType, { ensureComparable: { value: () => false } }) as never
    }
  }
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
  rows: readonly NamedRow[],
  driver: Driver,
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
  rows: readonly NamedRow[],
  driver: Driver,
  em: EntityManager,
  transaction?: Transaction,
): Promise<void> {
  const target = prop.targetMeta!
  const { targetKey = '' } = prop
  const referred = target.properties[targetKey as never] as EntityProperty
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
    const entity: NamedRow = em
      .getEntityFactory()
      .create(target.class, key as never, { merge: true, convertCustomTypes: true, initialized: false })
    // A reference has only its primary key. Setting another one is not a change.
    if (entity[targetKey] === undefined) {
      em.config.getHydrator(metadata).hydrate(entity, target, { [targetKey]: value }, em.getEntityFactory(), 'full', false, true)
      ;(work.getOriginalEntityData(entity) as NamedRow)[targetKey] = (em.config.getComparator(metadata).prepareEntity(entity) as NamedRow)[
        targetKey
      ]
    }
    // The unit of work would set the property as well, and undo changes. MikroORM looks the record up by this text.
    const text = String(referred.customType?.convertToJSValue(String(value), platform, { mode: 'hydration' }) ?? value)
    work.getIdentityMap().storeByKey(entity as never, targetKey, text, schema)
    missing.delete(String(value))
  }
  for (const row of rows) if (missing.has(String(row[prop.name]))) row[prop.name] = null
}

/** Reads both keys of the records with these values, as they are stored. */
async function readKeys(
  target: EntityMetadata,
  referred: EntityProperty,
  values: readonly unknown[],
  driver: Driver,
  transaction?: Transaction,
): Promise<NamedRow[]> {
  // In a hierarchy with a table for each class, the class that has the column.
  let holder = target
  while (holder.tptParent !== undefined && !holder.ownProps!.some(prop => prop.name === referred.name)) holder = holder.tptParent
  const { root } = target
  const kind = root.inheritanceType === 'sti' ? [root.properties[root.discriminatorColumn as never] as EntityProperty] : []
  const props = [...holder.getPrimaryProps(), referred, ...kind]
  const columns = props.flatMap(({ fieldNames }) => fieldNames.map(name))
  const column = name(referred.fieldNames[0]!)
  // A chunk must not exceed the limit of parameters.
  const rows: NamedRow[] = []
  for (let start = 0; start < values.length; start += thresholds.lookedUp) {
    const chunk = values.slice(start, start + thresholds.lookedUp)
    const sql = `select ${columns.join(', ')} from ${tableName(qualifyTable(holder.tableName, holder.schema))} where ${column} in (${chunk.map(() => '?').join(', ')})`
    rows.push(...((await driver.execute(sql, chunk, 'all', transaction)) as NamedRow[]))
  }
  return rows.map(row =>
    Object.fromEntries(
      props.map(prop => [prop.name, prop.fieldNames.length > 1 ? prop.fieldNames.map(each => row[each]) : row[prop.fieldNames[0]!]]),
    ),
  )
}
