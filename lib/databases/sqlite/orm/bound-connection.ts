/** MikroORM's SQLite connection on the engine's database, with bound parameters. */
import type { AnyEntity, EntityData, LoggingOptions, QueryResult, RawQueryFragment, Transaction } from '@mikro-orm/core'
import { SqliteConnection, type NativeQueryBuilder } from '@mikro-orm/sqlite'
import { CompiledQuery, type Kysely } from 'kysely'
import { isSilent } from '../../orm/listeners.ts'
import { unwrapQuery } from '../../orm/unwrap-query.ts'
import { bindStatement } from './bind-statement.ts'
import type { SharedSqliteDialect } from './shared-dialect.ts'

interface PreparedStatement {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

export class BoundSqliteConnection extends SqliteConnection {
  get #dialect(): SharedSqliteDialect {
    return this.config.get('driverOptions') as SharedSqliteDialect
  }

  /** Lets the engine join a transaction that the application has around a call of the engine. */
  override transactional<T>(...[work, options]: Parameters<SqliteConnection['transactional']>): Promise<T> {
    return this.#dialect.host.transactional(entered =>
      super.transactional(trx => {
        entered(trx)
        return work(trx)
      }, options),
    ) as Promise<T>
  }

  /** Adds the text that MikroORM logs, with values inside. */
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
        : // MikroORM would write the values into the text as well, for a log that nobody keeps.
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
