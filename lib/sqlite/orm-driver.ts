/**
 * ORM driver: MikroORM's SQLite driver with bound parameters. MikroORM splices values into the SQL text, which breaks on a NUL and defeats prepared
 * statements; here they are bound wherever the text allows it.
 */
import { JsonProperty, Utils } from '@mikro-orm/core'
import { AbstractSqlDriver, SqliteConnection, SqliteDriver, SqlitePlatform } from '@mikro-orm/sqlite'
import type { NativeQueryBuilder } from '@mikro-orm/sqlite'
import type {
  AnyEntity,
  Configuration,
  Dictionary,
  EntityData,
  EntityDictionary,
  EntityName,
  LoggingOptions,
  NativeInsertUpdateManyOptions,
  QueryResult,
  RawQueryFragment,
  Transaction,
} from '@mikro-orm/core'
import { CompiledQuery } from 'kysely'
import type { Kysely } from 'kysely'
import type { LentSqliteDialect } from './kysely-dialect.ts'

/** SQLite's default limit of parameters in one statement (SQLITE_MAX_VARIABLE_NUMBER); a larger insert has its values spliced in as MikroORM does. */
const MAX_PARAMETERS = 32_766

/** Texts whose `?` all stand for one bound value each, by text. */
const bindable = new Map<string, number | undefined>()

/** The number of values a text binds, or undefined when some `?` stands in quotes or means an identifier. */
function placeholders(sql: string): number | undefined {
  if (bindable.has(sql)) return bindable.get(sql)
  if (bindable.size >= 1000) bindable.clear()
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count)
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

interface Prepared {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

/** Members of MikroORM's connection that its types keep private. */
interface Internals {
  prepareQuery(query: unknown, params: unknown): Prepared
}

export class BoundSqliteConnection extends SqliteConnection {
  /** Every transaction of MikroORM's comes by here: the engine, called inside one that the deployer's code has opened, takes part in it. */
  override transactional<T>(...[work, options]: Parameters<SqliteConnection['transactional']>): Promise<T> {
    const { lender } = this.config.get('driverOptions') as unknown as LentSqliteDialect
    return lender.transactional(entered =>
      super.transactional(trx => {
        entered(trx)
        return work(trx)
      }, options),
    ) as Promise<T>
  }

  override async execute<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[] = EntityData<AnyEntity>[]>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    params: readonly unknown[] | Record<string, unknown> = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Promise<T> {
    await this.ensureConnection()
    const prepared = (this as unknown as Internals).prepareQuery(query, params)
    const values = placeholders(prepared.query) === prepared.params.length ? prepared.params.map(parameterOf) : undefined
    if (values === undefined || values.length > MAX_PARAMETERS || values.includes(undefined))
      return super.execute<T>(query, params, method, ctx, loggerContext)
    const text = this.getSql(prepared.query, prepared.formatted, loggerContext)
    const run = async (): Promise<T> => {
      const client = (ctx ?? this.getClient()) as Kysely<unknown>
      const result = await client.executeQuery(CompiledQuery.raw(prepared.query, values))
      return this.transformRawResult<T>(result, method)
    }
    return this.executeQuery<T>(text, run, { ...prepared, ...loggerContext })
  }
}

/** Writes an empty text in a list as two quotes, which reads back: MikroORM would write nothing, and a list of one empty text would be an empty list. */
class BoundSqlitePlatform extends SqlitePlatform {
  override marshallArray(values: string[]): string {
    return values.map(value => (value === '' ? '""' : super.marshallArray([value]))).join(',')
  }
}

export class BoundSqliteDriver extends AbstractSqlDriver<BoundSqliteConnection> {
  constructor(config: Configuration) {
    super(config, new BoundSqlitePlatform(), BoundSqliteConnection, ['kysely', 'better-sqlite3'])
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

  override getORMClass(): ReturnType<SqliteDriver['getORMClass']> {
    return SqliteDriver.prototype.getORMClass.call(this as never)
  }
}
