/** Driver: MikroORM's SQLite driver on the connection of the engine, which corrects what MikroORM would read and write wrongly. */
import { Utils } from '@mikro-orm/core'
import type {
  Configuration,
  DeleteOptions,
  Dictionary,
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
  PopulateOptions,
  Primary,
  QueryResult,
  Transaction,
  UpsertManyOptions,
  UpsertOptions,
} from '@mikro-orm/core'
import { AbstractSqlDriver, EntityManager, SqliteConnection, SqliteDriver, SqlitePlatform } from '@mikro-orm/sqlite'
import type { AnyQueryBuilder } from '@mikro-orm/sqlite'
import type { SharedSqliteDialect } from './shared-dialect.ts'
import { RestError } from '../../../foundation/base/errors.ts'
import { keysUsedUp } from '../../../model/key.ts'
import { LARGEST_KEY } from './autoincrement.ts'
import { BoundSqliteConnection } from './bound-connection.ts'
import { findMeaning } from './foreign-column-types.ts'
import { dropMisfits } from './misfits.ts'
import { flattenKeys, isLink, resolveKeys } from '../../orm/nested-keys.ts'
import { insertInGroups, updateInGroups } from '../../orm/grouped-rows.ts'
import type { Needed } from '../../orm/orm-members.ts'
import { correctComparator } from '../../orm/corrected-comparator.ts'
import { correctedManager } from '../../orm/corrected-manager.ts'
import { rememberPrototypes } from '../../orm/shared-classes.ts'
import { loadTargetKeys } from '../../orm/target-keys.ts'

/** The protected members of MikroORM's connection that ours calls. */
export const DRIVER_MEMBERS: readonly Needed[] = [
  { holder: 'SqliteConnection', object: SqliteConnection.prototype, members: ['executeQuery', 'getSql', 'transformRawResult'] },
]

class BoundSqlitePlatform extends SqlitePlatform {
  /** The column types of other databases mean what they mean there. */
  override getDefaultMappedType(type: string): ReturnType<SqlitePlatform['getDefaultMappedType']> {
    return super.getDefaultMappedType(findMeaning(type) ?? type)
  }

  /**
   * Writes an empty text in a list as two quotes, which reads back: MikroORM would write nothing, and a list of one empty text would be an
   * empty list.
   */
  override marshallArray(values: string[]): string {
    return values.map(value => (value === '' ? '""' : super.marshallArray([value]))).join(',')
  }
}

export class BoundSqliteDriver extends AbstractSqlDriver<BoundSqliteConnection> {
  constructor(config: Configuration) {
    super(config, new BoundSqlitePlatform(), BoundSqliteConnection, ['kysely', 'better-sqlite3'])
  }

  override setMetadata(metadata: MetadataStorage): void {
    super.setMetadata(metadata)
    correctComparator(this.comparator)
    rememberPrototypes(metadata)
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    const Manager = correctedManager(this.config.get('entityManager', EntityManager))
    return new Manager(this.config, this, this.metadata, useContext)
  }

  /** A refusal of the engine's own is none of the database's. */
  override convertException(exception: Error): DriverException {
    if (exception instanceof RestError) return exception
    const usedUp = (exception as { code?: string }).code === 'SQLITE_FULL' ? this.#findUsedUp() : undefined
    if (usedUp === undefined) return super.convertException(exception)
    return keysUsedUp(usedUp, LARGEST_KEY, exception)
  }

  #findUsedUp(): string | undefined {
    return (this.config.get('driverOptions') as SharedSqliteDialect).host.findUsedUp()
  }

  override mapResult<T extends object>(
    row: EntityData<T>,
    meta: EntityMetadata<T>,
    populate?: PopulateOptions<T>[],
    builder?: AnyQueryBuilder<T>,
    map?: Dictionary,
  ): EntityData<T> | null {
    return super.mapResult(dropMisfits(row, meta as EntityMetadata, this.platform), meta, populate, builder, map)
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

  /**
   * Inserts rows together only where they leave the same columns to the database. MikroORM asks for what the first row leaves out and gives
   * the others NULL: a generated key would not come back, and a default of the database would not be used.
   */
  override async nativeInsertMany<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T>,
    transform?: (sql: string) => string,
  ): Promise<QueryResult<T>> {
    data.forEach(resolveKeys)
    return insertInGroups(this.metadata.get(entityName), data, rows => super.nativeInsertMany(entityName, rows, options, transform))
  }

  override getORMClass(): ReturnType<SqliteDriver['getORMClass']> {
    return SqliteDriver.prototype.getORMClass.call(this)
  }
}
