/**
 * ORM driver: MikroORM's SQLite driver, which runs the statements of the unit of work at once, by templates that are known for their shape, and corrects what
 * MikroORM would write wrongly.
 */
import { Utils } from '@mikro-orm/core'
import type {
  AnyEntity,
  Configuration,
  DeleteOptions,
  Dictionary,
  DriverException,
  EntityData,
  EntityDictionary,
  EntityManager,
  EntityMetadata,
  EntityName,
  EntityProperty,
  FilterQuery,
  FindOptions,
  LoggingOptions,
  NativeInsertUpdateManyOptions,
  NativeInsertUpdateOptions,
  ObjectQuery,
  OrderDefinition,
  PopulateOptions,
  Primary,
  QueryResult,
  Transaction,
  UpsertOptions,
} from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqliteDriver, SqlitePlatform } from '@mikro-orm/sqlite'
import type { AnyQueryBuilder } from '@mikro-orm/sqlite'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import { RestError } from '../../base/errors.ts'
import { BoundSqliteConnection } from './bound-connection.ts'
import { findMeaning } from './foreign-column-types.ts'
import { dropMisfits } from './misfits.ts'
import { flattenKeys, isLink, resolveKeys } from '../../orm/nested-keys.ts'
import { StatementTemplates } from './statement-templates.ts'
import type { Bound } from './statement-templates.ts'
import { insertInGroups } from '../../orm/grouped-inserts.ts'
import type { Needed } from '../../orm/orm-members.ts'
import { loadTargetKeys } from '../../orm/target-keys.ts'

/** The options that the unit of work gives, which change nothing of the text. */
const PLAIN_OPTIONS = new Set(['ctx', 'schema', 'loggerContext', 'convertCustomTypes', 'processCollections'])

function arePlain(options: object): boolean {
  for (const name in options) {
    if (!PLAIN_OPTIONS.has(name) && (options as Dictionary)[name] !== undefined) return false
  }
  const { schema, convertCustomTypes } = options as { schema?: unknown; convertCustomTypes?: unknown }
  return (schema ?? undefined) === undefined && convertCustomTypes !== true
}

/** The members of MikroORM's driver and connection that are used here. */
export const DRIVER_MEMBERS: readonly Needed[] = [
  { holder: 'SqliteConnection', object: SqliteConnection.prototype, members: ['executeQuery', 'getSql', 'transformRawResult', 'logQuery'] },
  { holder: 'SqliteDriver', object: SqliteDriver.prototype, members: ['getPrimaryKeyFields', 'rethrow'] },
]

class BoundSqlitePlatform extends SqlitePlatform {
  /** The column types of other databases mean what they mean there. */
  override getDefaultMappedType(type: string): ReturnType<SqlitePlatform['getDefaultMappedType']> {
    return super.getDefaultMappedType(findMeaning(type) ?? type)
  }

  /** Writes an empty text in a list as two quotes, which reads back: MikroORM would write nothing, and a list of one empty text would be an empty list. */
  override marshallArray(values: string[]): string {
    return values.map(value => (value === '' ? '""' : super.marshallArray([value]))).join(',')
  }
}

export class BoundSqliteDriver extends AbstractSqlDriver<BoundSqliteConnection> {
  constructor(config: Configuration) {
    super(config, new BoundSqlitePlatform(), BoundSqliteConnection, ['kysely', 'better-sqlite3'])
  }

  /** A refusal of the engine's own is none of the database's. */
  override convertException(exception: Error): DriverException {
    return exception instanceof RestError ? exception : super.convertException(exception)
  }

  /** The same as `execute`, at once where nothing is to be waited for. */
  executeAtOnce<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[]>(
    { sql, parameters }: Bound,
    method: 'all' | 'run',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Awaitable<T> {
    try {
      const result = this.connection.executeAtOnce<T>(sql, parameters, method, ctx, loggerContext)
      return result instanceof Promise ? this.rethrow(result) : result
    } catch (error) {
      throw this.convertException(error as Error)
    }
  }

  #run<T extends object>(bound: Bound, { ctx, loggerContext }: NativeInsertUpdateOptions<T>): Awaitable<QueryResult<T>> {
    return this.executeAtOnce<QueryResult<T>>(bound, 'run', ctx, loggerContext)
  }

  /** The one row of an update, a deletion or an insert of the unit of work, by a statement that is known. */
  #known<T extends object>(
    what: string,
    entityName: EntityName<T>,
    rows: readonly object[],
    options: NativeInsertUpdateOptions<T>,
    ask: (rows: readonly Dictionary[], options: NativeInsertUpdateOptions<T>) => Promise<unknown>,
  ): Bound | undefined | Promise<Bound | undefined> {
    if (options.convertCustomTypes !== false || !arePlain(options)) return undefined
    const meta = this.metadata.get(entityName) as unknown as EntityMetadata
    return StatementTemplates.of(this.metadata).find(what, meta, rows, (probing, ctx) => ask(probing, { ...options, ctx }))
  }

  override mapResult<T extends object>(
    row: EntityData<T>,
    meta: EntityMetadata<T>,
    populate?: PopulateOptions<T>[],
    builder?: AnyQueryBuilder<T>,
    map?: Dictionary,
  ): EntityData<T> | null {
    return super.mapResult(dropMisfits(row, meta as unknown as EntityMetadata, this.platform), meta, populate, builder, map)
  }

  override async find<T extends object, P extends string = never, F extends string = never, E extends string = never>(
    entityName: EntityName<T>,
    where: ObjectQuery<T>,
    options: FindOptions<T, P, F, E> = {},
  ): Promise<EntityData<T>[]> {
    const rows = await super.find(entityName, where, options)
    const { em, ctx } = options as { em?: EntityManager; ctx?: Transaction }
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
    return this.updateAtOnce(entityName, where, data, options)
  }

  /** The same as `nativeUpdate`, at once where the statement is known. */
  updateAtOnce<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>,
    data: EntityDictionary<T>,
    options: NativeInsertUpdateOptions<T> & UpsertOptions<T>,
  ): Awaitable<QueryResult<T>> {
    resolveKeys(data)
    const { properties } = this.metadata.get(entityName)
    flattenKeys(data, name => isLink(properties[name as never]))
    if (Utils.isPlainObject(where)) flattenKeys(where)
    const known =
      Utils.isPlainObject(where) && Utils.hasObjectKeys(data)
        ? this.#known('update', entityName, [data, where], options, ([values, key], asking) =>
            super.nativeUpdate(entityName, key as FilterQuery<T>, values as EntityDictionary<T>, asking),
          )
        : undefined
    return chain(known, bound => (bound === undefined ? super.nativeUpdate(entityName, where, data, options) : this.#run(bound, options)))
  }

  override async nativeDelete<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>,
    options: DeleteOptions<T> = {},
  ): Promise<QueryResult<T>> {
    return this.deleteAtOnce(entityName, where, options)
  }

  /** The same as `nativeDelete`, at once where the statement is known. */
  deleteAtOnce<T extends object>(entityName: EntityName<T>, where: FilterQuery<T>, options: DeleteOptions<T>): Awaitable<QueryResult<T>> {
    const [[name, condition] = []] = Object.entries(where as Dictionary)
    const keys = (condition as { $in?: unknown } | null | undefined)?.$in
    if (Array.isArray(keys)) flattenKeys(keys)
    // As the unit of work asks for it, when it is one record.
    const known =
      name !== undefined && Array.isArray(keys) && keys.length === 1 && Object.keys(where).length === 1
        ? this.#known('delete', entityName, [{ [name]: keys[0] as unknown }], { ...options, convertCustomTypes: false }, ([key], asking) =>
            super.nativeDelete(entityName, { [name]: { $in: [key![name]] } }, asking as DeleteOptions<T>),
          )
        : undefined
    return chain(known, bound => (bound === undefined ? super.nativeDelete(entityName, where, options) : this.#run(bound, options)))
  }

  /**
   * Inserts rows together only where they leave the same columns to the database. MikroORM asks for what the first row leaves out and gives the others
   * NULL: a generated key would not come back, and a default of the database would not be used.
   */
  override async nativeInsertMany<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T>,
    transform?: (sql: string) => string,
  ): Promise<QueryResult<T>> {
    const [row] = data
    if (row !== undefined && data.length === 1 && transform === undefined) return this.insertAtOnce(entityName, row, options ?? {})
    data.forEach(resolveKeys)
    if (data.length === 1) return super.nativeInsertMany(entityName, data, options, transform)
    return insertInGroups(this.metadata.get(entityName), data, rows => super.nativeInsertMany(entityName, rows, options, transform))
  }

  /** The same as `nativeInsertMany` for one row, at once where the statement is known. */
  insertAtOnce<T extends object>(
    entityName: EntityName<T>,
    row: EntityDictionary<T>,
    options: NativeInsertUpdateManyOptions<T>,
  ): Awaitable<QueryResult<T>> {
    resolveKeys(row)
    const known = this.#known('insert', entityName, [row], options, ([values], asking) =>
      super.nativeInsertMany(entityName, [values as EntityDictionary<T>], asking),
    )
    return chain(known, bound => {
      if (bound === undefined) return super.nativeInsertMany(entityName, [row], options)
      return chain(this.#run(bound, options), result => {
        const [key, ...others] = this.getPrimaryKeyFields(this.metadata.get(entityName))
        if (others.length > 0) return result
        result.row ??= {} as NonNullable<typeof result.row>
        // MikroORM's own insert gives the key that the database has made in this way.
        result.insertId ||= result.row[key!] as typeof result.insertId
        return result
      })
    })
  }

  override getORMClass(): ReturnType<SqliteDriver['getORMClass']> {
    return SqliteDriver.prototype.getORMClass.call(this as never)
  }
}
