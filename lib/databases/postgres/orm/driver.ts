/** Driver: MikroORM's PostgreSQL driver on the sessions of the engine, which corrects what MikroORM would write wrongly. */
import { Utils } from '@mikro-orm/core'
import type {
  Configuration,
  Dictionary,
  DeleteOptions,
  DriverException,
  EntityData,
  EntityDictionary,
  EntityManager as CoreManager,
  EntityManagerType,
  EntityMetadata,
  EntityName,
  EntityProperty,
  FilterQuery,
  FindOptions,
  MetadataStorage,
  NativeInsertUpdateManyOptions,
  NativeInsertUpdateOptions,
  ObjectQuery,
  OrderDefinition,
  Primary,
  QueryResult,
  Transaction,
  UpsertManyOptions,
  UpsertOptions,
} from '@mikro-orm/core'
import { AbstractSqlDriver, EntityManager, PostgreSqlDriver, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { Clock } from '../../../foundation/base/clock.ts'
import { RestError } from '../../../foundation/base/errors.ts'
import { insertInGroups, updateInGroups } from '../../orm/grouped-rows.ts'
import { flattenKeys, isLink, resolveKeys } from '../../orm/nested-keys.ts'
import { correctComparator } from '../../orm/corrected-comparator.ts'
import { correctedManager } from '../../orm/corrected-manager.ts'
import { rememberPrototypes } from '../../orm/shared-classes.ts'
import { loadTargetKeys } from '../../orm/target-keys.ts'
import { qualifyTable } from '../../../model/table-name.ts'
import { tableName } from '../../sql/sql.ts'
import { raiseSequence } from '../sql/write-rows.ts'
import { parseArray } from '../server/sessions.ts'
import { BoundPostgresConnection } from './bound-connection.ts'
import type { LentDialect } from './lent-dialect.ts'
import { followClock, withTime } from './server-time.ts'

/** Formats a list as PostgreSQL reads one: `{1,NULL,"a b",{2}}`. */
function formatArray(values: readonly unknown[]): string {
  const items = values.map(value => {
    if (value === null || value === undefined) return 'NULL'
    if (Array.isArray(value)) return formatArray(value)
    const text = value instanceof Date ? value.toISOString() : `${value as string | number | bigint | boolean}`
    return /^[\w.+-]+$/.test(text) && !/^null$/i.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  })
  return `{${items.join(',')}}`
}

class LentPlatform extends PostgreSqlPlatform {
  /** A number of JavaScript has 64 bits: a column of 32 would give another number back. */
  override getFloatDeclarationSQL(): string {
    return this.getDoubleDeclarationSQL()
  }

  /** Writes lists in lists, NULL, and texts with line breaks or the word null, too. */
  override marshallArray(values: readonly unknown[]): string {
    return formatArray(values)
  }

  override unmarshallArray(text: string): string[] {
    return parseArray(text)
  }

  /** A version that is a time is set to it with each change. */
  override getCurrentTimestampSQL(length: number): string {
    const usual = super.getCurrentTimestampSQL(length)
    const clock = findClock(this.config)
    return clock === undefined || clock.isSystem ? usual : (withTime(usual, clock.time()) ?? usual)
  }
}

function findClock(config: Configuration): Clock | undefined {
  return (config.get('driverOptions') as LentDialect).host.clock()
}

export class OrmDriver extends AbstractSqlDriver<BoundPostgresConnection> {
  constructor(config: Configuration) {
    super(config, new LentPlatform(), BoundPostgresConnection, ['kysely', 'pg'])
  }

  override setMetadata(metadata: MetadataStorage): void {
    super.setMetadata(metadata)
    correctComparator(this.comparator)
    rememberPrototypes(metadata)
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    // The types of MikroORM allow no driver but their own.
    const Manager = correctedManager(this.config.get('entityManager', EntityManager as never) as typeof EntityManager)
    return new Manager(this.config, this as never, this.metadata, useContext)
  }

  get #clock(): Clock | undefined {
    return findClock(this.config)
  }

  /** A refusal of the engine's own is none of the database's. */
  override convertException(exception: Error): DriverException {
    return exception instanceof RestError ? exception : super.convertException(exception)
  }

  override async find<T extends object, P extends string = never, F extends string = never, E extends string = never>(
    entityName: EntityName<T>,
    where: ObjectQuery<T>,
    options: FindOptions<T, P, F, E> = {},
  ): Promise<EntityData<T>[]> {
    const rows = await super.find(entityName, where, options)
    const { em, ctx } = options as { em?: CoreManager; ctx?: Transaction }
    await loadTargetKeys(this.metadata.get(entityName), rows, this, em, ctx)
    return rows
  }

  // oxlint-disable-next-line max-params -- the signature is MikroORM's
  override async loadFromPivotTable<T extends object>(
    prop: EntityProperty,
    owners: Primary<object>[][],
    where?: object,
    orderBy?: OrderDefinition<T>,
    ctx?: Transaction,
    options?: FindOptions<T, string, string, string>,
    pivotJoin?: boolean,
  ): Promise<Dictionary<T[]>> {
    const lists = await super.loadFromPivotTable(prop, owners, where, orderBy, ctx, options, pivotJoin)
    await loadTargetKeys(prop.targetMeta!, Object.values(lists).flat() as Dictionary[], this, undefined, ctx)
    return lists
  }

  override async nativeUpdate<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>,
    data: EntityDictionary<T>,
    options: NativeInsertUpdateOptions<T> & UpsertOptions<T> = {},
  ): Promise<QueryResult<T>> {
    resolveKeys(data)
    followClock(this.metadata.get(entityName), [data], this.#clock, false)
    const { properties } = this.metadata.get(entityName)
    // The names of the properties of T are not known.
    flattenKeys(data, name => isLink(properties[name as never]))
    if (Utils.isPlainObject(where)) flattenKeys(where)
    return super.nativeUpdate(entityName, where, data, options)
  }

  override async nativeDelete<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>,
    options: DeleteOptions<T> = {},
  ): Promise<QueryResult<T>> {
    const [[, condition] = []] = Object.entries(where as Dictionary)
    const keys = (condition as { $in?: unknown } | null | undefined)?.$in
    if (Array.isArray(keys)) flattenKeys(keys)
    return super.nativeDelete(entityName, where, options)
  }

  override async nativeUpdateMany<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>[],
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T> & UpsertManyOptions<T>,
    transform?: (sql: string, params: unknown[]) => string,
  ): Promise<QueryResult<T>> {
    const update = (own: FilterQuery<T>[], rows: EntityDictionary<T>[]): Promise<QueryResult<T>> =>
      super.nativeUpdateMany(entityName, own, rows, options, transform)
    return options?.upsert === true ? update(where, data) : updateInGroups(this.metadata.get(entityName), where, data, update)
  }

  override async nativeInsertMany<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T>,
    transform?: (sql: string) => string,
  ): Promise<QueryResult<T>> {
    data.forEach(resolveKeys)
    const meta = this.metadata.get(entityName)
    followClock(meta, data, this.#clock, true)
    return insertInGroups(meta, data, async rows => {
      const result = await super.nativeInsertMany(entityName, rows, options, transform)
      // Before the next group, which may be one whose keys the sequence gives.
      await this.#raiseSequence(meta, rows, options?.ctx)
      return result
    })
  }

  override async nativeInsert<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>,
    options?: NativeInsertUpdateOptions<T>,
  ): Promise<QueryResult<T>> {
    followClock(this.metadata.get(entityName), [data], this.#clock, true)
    const result = await super.nativeInsert(entityName, data, options)
    await this.#raiseSequence(this.metadata.get(entityName), [data], options?.ctx)
    return result
  }

  /** Lets the sequence of a key go on behind the keys that were given: it would give them again. */
  async #raiseSequence<T extends object>(meta: EntityMetadata<T>, rows: readonly EntityDictionary<T>[], ctx?: Transaction): Promise<void> {
    const counter = meta.props.find(prop => prop.autoincrement === true)
    if (counter === undefined) return
    let highest: bigint | undefined
    for (const row of rows) {
      const given: unknown = row[counter.name]
      if (
        (typeof given === 'number' && Number.isSafeInteger(given)) ||
        typeof given === 'bigint' ||
        (typeof given === 'string' && /^\d+$/.test(given))
      )
        highest = highest === undefined || BigInt(given) > highest ? BigInt(given) : highest
    }
    if (highest === undefined || highest < 1n) return
    const place = [tableName(qualifyTable(meta.tableName, meta.schema)), counter.fieldNames[0]!]
    await this.execute(raiseSequence('select ?::bigint as k', ['?', '?']), [highest, ...place], 'run', ctx)
  }

  override getORMClass(): ReturnType<PostgreSqlDriver['getORMClass']> {
    return PostgreSqlDriver.prototype.getORMClass.call(this)
  }
}
