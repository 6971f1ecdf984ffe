/**
 * MikroORM's SQLite connection, with values as parameters. MikroORM writes values into the text: NUL characters fail, and prepared
 * statements are not used again.
 */
import {
  type AnyEntity,
  type EntityData,
  isRaw,
  type LoggingOptions,
  type QueryResult,
  type RawQueryFragment,
  type Transaction,
} from '@mikro-orm/core'
import { type NativeQueryBuilder, SqliteConnection } from '@mikro-orm/sqlite'
import { CompiledQuery, type Kysely } from 'kysely'
import { isSilent } from '../../orm/orm-connection.ts'
import { unwrapQuery } from '../../orm/unwrap-query.ts'
import type { SharedSqliteDialect } from './shared-dialect.ts'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { toParameter } from '../sql/encode.ts'

interface PreparedStatement {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

export class BoundSqliteConnection extends SqliteConnection {
  get #dialect(): SharedSqliteDialect {
    return this.config.get('driverOptions') as SharedSqliteDialect
  }

  /** Lets calls of the engine join a transaction of the application. */
  override transactional<T>(...[work, options]: Parameters<SqliteConnection['transactional']>): Promise<T> {
    return this.#dialect.host.transactional(entered =>
      super.transactional(trx => {
        entered(trx)
        return work(trx)
      }, options),
    ) as Promise<T>
  }

  #prepare(query: string | NativeQueryBuilder | RawQueryFragment, params: readonly unknown[] | Record<string, unknown>): PreparedStatement {
    const { text, values } = unwrapQuery(query, params)
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
    if (!this.connected) await this.ensureConnection()
    const isReported = !isSilent(this.config, loggerContext)
    const prepared =
      isReported || typeof query !== 'string' || !Array.isArray(params)
        ? this.#prepare(query, params)
        : // MikroORM would write the values into the text, for a log that nobody keeps.
          { query: this.config.get('onQuery')(query, params), params, formatted: '' }
    const bound = bindStatement(prepared.query, prepared.params)
    if (bound === undefined) return super.execute<T>(query, params, method, ctx, loggerContext)
    const run = async (): Promise<T> => {
      const executor = (ctx ?? this.getClient()) as Kysely<unknown>
      return this.transformRawResult<T>(await executor.executeQuery(CompiledQuery.raw(bound.sql, bound.values)), method)
    }
    return isReported
      ? this.executeQuery<T>(this.getSql(prepared.query, prepared.formatted, loggerContext), run, { ...prepared, ...loggerContext })
      : run()
  }
}

/** SQLite's default limit (SQLITE_MAX_VARIABLE_NUMBER). A larger insert keeps MikroORM's text. */
const MAX_PARAMETERS = 32_766

/** The number of values; -1 where a `?` stands for no value. */
const bindable = new LruCache<number>(1000, { bytes: 4 << 20, weigh: (_, sql) => 100 + 2 * sql.length })

/** @returns undefined where a `?` is quoted or stands for an identifier */
function countPlaceholders(sql: string): number | undefined {
  const known = bindable.get(sql)
  if (known !== undefined) return known < 0 ? undefined : known
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count ?? -1)
  return count
}

/** Writes SQL among the values into the text: an optimistic lock sets `version + 1`. */
function withFragments(query: string, params: readonly unknown[]): { text: string; params: readonly unknown[] } {
  if (!params.some(isRaw) || countPlaceholders(query) !== params.length) return { text: query, params }
  const values: unknown[] = []
  let next = 0
  const text = query.replaceAll('?', mark => {
    const value = params[next++]
    values.push(...(isRaw(value) ? value.params : [value]))
    return isRaw(value) ? value.sql : mark
  })
  return { text, params: values }
}

/** @returns undefined where a value cannot be bound */
function bindStatement(sql: string, given: readonly unknown[]): { sql: string; values: unknown[] } | undefined {
  const { text, params } = withFragments(sql, given)
  if (params.length > MAX_PARAMETERS || countPlaceholders(text) !== params.length) return undefined
  const values = params.map(toParameter)
  return values.includes(undefined) ? undefined : { sql: text, values }
}
