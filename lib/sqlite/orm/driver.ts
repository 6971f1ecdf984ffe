/**
 * ORM driver: MikroORM's SQLite driver with bound parameters. MikroORM splices values into the SQL text, which breaks on a NUL and defeats prepared
 * statements; here they are bound wherever the text allows it.
 */
import { DefaultLogger, EntityIdentifier, EventType, isRaw, JsonProperty, raw, SimpleLogger, Utils } from '@mikro-orm/core'
import { AbstractSqlDriver, NativeQueryBuilder, SqliteConnection, SqliteDriver, SqlitePlatform } from '@mikro-orm/sqlite'
import type { DriverException } from '@mikro-orm/core'
import type { AnyQueryBuilder } from '@mikro-orm/sqlite'
import type {
  AnyEntity,
  Configuration,
  DeleteOptions,
  Dictionary,
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
  RawQueryFragment,
  Transaction,
  UpsertOptions,
} from '@mikro-orm/core'
import { CompiledQuery } from 'kysely'
import type { Kysely } from 'kysely'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import { RestError } from '../../base/errors.ts'
import { findMeaning } from './foreign-column-types.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { connectionOf, sameConnection } from './shared-dialect.ts'
import type { SharedSqliteDialect, ReusableTransaction } from './shared-dialect.ts'
import { StatementTemplates, RecordingTransaction } from './statement-templates.ts'
import type { Bound } from './statement-templates.ts'
import { dropMisfits } from './misfits.ts'
import { loadTargetKeys } from './target-keys.ts'

/** SQLite's default limit of parameters in one statement (SQLITE_MAX_VARIABLE_NUMBER); a larger insert has its values spliced in as MikroORM does. */
const MAX_PARAMETERS = 32_766

/** How many values texts bind, by text; -1 where some `?` does not stand for one. */
const bindable = new LruCache<number>(1000, { bytes: 4 << 20, weigh: (_, sql) => 100 + 2 * sql.length })

/** The number of values a text binds, or undefined when some `?` stands in quotes or means an identifier. */
function placeholders(sql: string): number | undefined {
  const known = bindable.get(sql)
  if (known !== undefined) return known < 0 ? undefined : known
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count ?? -1)
  return count
}

/** The value as better-sqlite3 binds it, or undefined when it cannot be bound as one value. Integers as BigInt: a number would be stored as REAL. */
function parameterOf(value: unknown): unknown {
  if (value === undefined || value === null) return null
  switch (typeof value) {
    case 'string':
    case 'bigint':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : Number.isFinite(value) ? value : undefined
    case 'boolean':
      return value ? 1n : 0n
    default:
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : BigInt(value.getTime())
      if (value instanceof Uint8Array) return value
      // Documents, as MikroORM's own quoting writes them: plain objects, and what it has marked as JSON.
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}

/** Puts fragments of SQL among the values into the text, so that the values beside them can be bound: `version = ?` of an optimistic lock. */
function withFragments(query: string, params: readonly unknown[]): { text: string; params: readonly unknown[] } {
  if (!params.some(isRaw) || placeholders(query) !== params.length) return { text: query, params }
  const values: unknown[] = []
  let next = 0
  const text = query.replaceAll('?', mark => {
    const value = params[next++]
    values.push(...(isRaw(value) ? value.params : [value]))
    return isRaw(value) ? value.sql : mark
  })
  return { text, params: values }
}

/** The text with the values that are bound to it, or undefined when it cannot be run with bound ones. */
function boundTo(sql: string, given: readonly unknown[]): { sql: string; values: unknown[] } | undefined {
  const { text, params } = withFragments(sql, given)
  if (params.length > MAX_PARAMETERS || placeholders(text) !== params.length) return undefined
  const values = params.map(parameterOf)
  return values.includes(undefined) ? undefined : { sql: text, values }
}

type BeginOptions = NonNullable<Parameters<SqliteConnection['begin']>[0]>

interface PreparedStatement {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

/** What is said of a statement that a probe has noted: nothing has been found, nothing has been done. */
function nothing(method: 'all' | 'get' | 'run'): unknown {
  return method === 'all' ? [] : method === 'get' ? undefined : { affectedRows: 0, insertId: 0, row: {}, rows: [] }
}

export class BoundSqliteConnection extends SqliteConnection {
  get #dialect(): SharedSqliteDialect {
    return this.config.get('driverOptions') as unknown as SharedSqliteDialect
  }

  /** Every transaction of MikroORM's comes by here: the engine, called inside one that the application's code has opened, takes part in it. */
  override transactional<T>(...[work, options]: Parameters<SqliteConnection['transactional']>): Promise<T> {
    return this.#dialect.lender.transactional(entered =>
      super.transactional(trx => {
        entered(trx)
        return work(trx)
      }, options),
    ) as Promise<T>
  }

  override async begin(options: BeginOptions = {}): Promise<Transaction> {
    const { ctx, isolationLevel, readOnly, sessionContext, eventBroadcaster, loggerContext } = options
    if (ctx !== undefined || isolationLevel !== undefined || readOnly !== undefined || sessionContext !== undefined) {
      const savepoint = await super.begin(options)
      if (ctx !== undefined) sameConnection(savepoint, ctx)
      return savepoint
    }
    if (!this.connected) await this.ensureConnection()
    await eventBroadcaster?.dispatchEvent(EventType.beforeTransactionStart)
    const transaction = await this.#dialect.begin(this.getClient())
    for (const query of this.platform.getBeginTransactionSQL(options)) this.logQuery(query, loggerContext)
    await eventBroadcaster?.dispatchEvent(EventType.afterTransactionStart, transaction)
    return transaction
  }

  /** A transaction to be begun again and again; undefined before MikroORM has connected itself. */
  standing(): ReusableTransaction | undefined {
    return this.connected ? this.#dialect.standing(this.getClient()) : undefined
  }

  /** The same as `execute`, at once where nothing is to be waited for: in a transaction that is open, when nobody is told of statements. */
  executeAtOnce<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[]>(
    query: string,
    params: readonly unknown[],
    method: 'all' | 'run',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Awaitable<T> {
    const connection = ctx === undefined || ctx instanceof RecordingTransaction || !this.connected ? undefined : connectionOf(ctx)
    if (connection === undefined || !this.#isQuiet(loggerContext)) return this.execute<T>(query, params, method, ctx, loggerContext)
    const sql = this.config.get('onQuery')(query, params)
    const bound = boundTo(sql, params)
    if (bound === undefined) return this.execute<T>(query, params, method, ctx, loggerContext)
    return this.transformRawResult<T>(connection.execute(bound.sql, bound.values), method)
  }

  /** The text of a statement and its values, and the text with the values in it, as MikroORM logs it. */
  #prepare(query: string | NativeQueryBuilder | RawQueryFragment, params: readonly unknown[] | Record<string, unknown>): PreparedStatement {
    let given: string | RawQueryFragment = query instanceof NativeQueryBuilder ? query.toRaw() : query
    // An object holds parameters by their names.
    if (typeof given === 'string' && !Array.isArray(params)) given = raw(given, params as Record<string, unknown>)
    const [text, values] = isRaw(given) ? [given.sql, given.params] : [given, params as readonly unknown[]]
    const sql = this.config.get('onQuery')(text, values)
    return { query: sql, params: values, formatted: this.platform.formatQuery(sql, values) }
  }

  override async execute<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[] = EntityData<AnyEntity>[]>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    params: readonly unknown[] | Record<string, unknown> = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Promise<T> {
    if (ctx instanceof RecordingTransaction) {
      ctx.note(query, params)
      return nothing(method) as T
    }
    if (!this.connected) await this.ensureConnection()
    const told = !this.#isQuiet(loggerContext)
    const prepared =
      told || typeof query !== 'string' || !Array.isArray(params)
        ? this.#prepare(query, params)
        : // MikroORM would write the values into the text as well, for a log that nobody keeps.
          { query: this.config.get('onQuery')(query, params), params, formatted: '' }
    const bound = boundTo(prepared.query, prepared.params)
    if (bound === undefined) return super.execute<T>(query, params, method, ctx, loggerContext)
    const run = async (): Promise<T> => {
      // Where a transaction is open there is nothing to wait for, which Kysely does all the same.
      const connection = ctx === undefined ? undefined : connectionOf(ctx)
      const result =
        connection === undefined
          ? await ((ctx ?? this.getClient()) as Kysely<unknown>).executeQuery(CompiledQuery.raw(bound.sql, bound.values))
          : connection.execute(bound.sql, bound.values)
      return this.transformRawResult<T>(result, method)
    }
    return told
      ? this.executeQuery<T>(this.getSql(prepared.query, prepared.formatted, loggerContext), run, { ...prepared, ...loggerContext })
      : run()
  }

  /** Whether nobody is told of statements. A logger of the application's own may do with them what it likes. */
  #isQuiet(loggerContext: LoggingOptions | undefined): boolean {
    const logger = this.config.getLogger()
    return (
      (logger.logQuery === DefaultLogger.prototype.logQuery || logger.logQuery === SimpleLogger.prototype.logQuery) &&
      !logger.isEnabled('query', loggerContext) &&
      this.config.get('slowQueryThreshold') === undefined
    )
  }
}

/** The options that the unit of work gives, which change nothing of the text. */
const PLAIN_OPTIONS = new Set(['ctx', 'schema', 'loggerContext', 'convertCustomTypes', 'processCollections'])

function arePlain(options: object): boolean {
  for (const name in options) {
    if (!PLAIN_OPTIONS.has(name) && (options as Dictionary)[name] !== undefined) return false
  }
  const { schema, convertCustomTypes } = options as { schema?: unknown; convertCustomTypes?: unknown }
  return (schema ?? undefined) === undefined && convertCustomTypes !== true
}

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

/**
 * Puts the keys in place that the database has made for records which were inserted before. MikroORM does so in a key, and in a key of which another one
 * is a part, but no deeper.
 */
function resolveKeys(row: Dictionary): void {
  for (const name in row) {
    const value: unknown = row[name]
    if (Array.isArray(value) && hasOpenKey(value)) row[name] = resolvedKey(value)
  }
}

/** A key that lies in a key that lies in another one is compared column by column: MikroORM would compare it with a row of rows. */
function flattenKeys(holder: Dictionary, isKey: (name: string) => boolean = () => true): void {
  for (const name in holder) {
    const value: unknown = holder[name]
    if (Array.isArray(value) && isKey(name) && value.some(isKeyOfSeveral)) holder[name] = value.flatMap(partsOf)
  }
}

/** Whether the property holds the key of another record; that of one of several entities has what tells which before it, as MikroORM splits it. */
function isLink(prop: EntityProperty | undefined): boolean {
  return prop?.joinColumns !== undefined && prop.polymorphic !== true
}

/** MikroORM has the key of an entity as an array, or as an object of the properties. */
function isKeyOfSeveral(part: unknown): part is object {
  return Array.isArray(part) || Utils.isPlainObject(part)
}

function partsOf(part: unknown): unknown[] {
  return isKeyOfSeveral(part) ? Object.values(part).flatMap(partsOf) : [part]
}

function hasOpenKey(value: unknown): boolean {
  return value instanceof EntityIdentifier || (Array.isArray(value) && value.some(hasOpenKey))
}

function resolvedKey(value: unknown): unknown {
  if (value instanceof EntityIdentifier) return resolvedKey(value.getValue())
  return Array.isArray(value) ? value.map(resolvedKey) : value
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
    return super.mapResult(dropMisfits(row, meta as unknown as EntityMetadata), meta, populate, builder, map)
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
    const { props } = this.metadata.get(entityName)
    const counter = props.find(prop => prop.autoincrement === true)?.name
    const left = props.filter(prop => prop.autoincrement === true || prop.defaultRaw !== undefined || prop.generated !== undefined)
    const groups = Map.groupBy(data.keys(), index =>
      left
        .map(({ name }) => name)
        .filter(name => data[index]![name] === undefined)
        .join(),
    )
    if (groups.size < 2) return super.nativeInsertMany(entityName, data, options, transform)
    // Those that bring their key come first, so that no generated one takes it.
    const counted = ([first]: number[]): number => (counter !== undefined && data[first!]![counter] === undefined ? 1 : 0)
    const rows: Dictionary[] = []
    let insertId: QueryResult<T>['insertId']
    for (const group of [...groups.values()].toSorted((a, b) => counted(a) - counted(b))) {
      const inserted = group.map(index => data[index]!)
      const result = await super.nativeInsertMany(entityName, inserted, options, transform)
      insertId = result.insertId
      for (const [position, index] of group.entries()) rows[index] = result.rows?.[position] ?? {}
    }
    return { affectedRows: data.length, insertId: insertId!, row: rows[0]!, rows }
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
