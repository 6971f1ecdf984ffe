/** MikroORM's PostgreSQL connection, with values as parameters (`bindQuery`). */
import type { AnyEntity, EntityData, LoggingOptions, QueryResult, RawQueryFragment, Transaction } from '@mikro-orm/core'
import { PostgreSqlConnection, type NativeQueryBuilder } from '@mikro-orm/postgresql'
import { CompiledQuery, type AbortableQueryOptions, type Kysely } from 'kysely'
import { isSilent } from '../../orm/orm-connection.ts'
import { unwrapQuery } from '../../orm/unwrap-query.ts'
import { breaksConstraint } from '../server/errors.ts'
import { bindQuery } from './bind-query.ts'
import type { LentDialect } from './lent-dialect.ts'

type OrmQuery = string | NativeQueryBuilder | RawQueryFragment

type Params = readonly unknown[] | Record<string, unknown>

interface PreparedQueryText {
  readonly query: string
  readonly params: readonly unknown[]
  /** For the log; empty without. */
  readonly formatted: string
  readonly compiled: CompiledQuery
}

/** MikroORM passes options that abort a statement inside the options of the log. */
function splitContext(context: LoggingOptions | undefined): {
  abort: AbortableQueryOptions | undefined
  logged: LoggingOptions | undefined
} {
  const { signal, inflightQueryAbortStrategy, ...logged } = (context ?? {}) as LoggingOptions & AbortableQueryOptions
  if (signal === undefined && inflightQueryAbortStrategy === undefined) return { abort: undefined, logged: context }
  return { abort: { signal, inflightQueryAbortStrategy }, logged }
}

export class BoundPostgresConnection extends PostgreSqlConnection {
  /** Lets calls of the engine join a transaction of the application. */
  override transactional<T>(...[work, options]: Parameters<PostgreSqlConnection['transactional']>): Promise<T> {
    const { transactions } = (this.config.get('driverOptions') as LentDialect).host
    const transaction = transactions.create()
    return transactions.run(transaction, async () => {
      try {
        return (await super.transactional(trx => {
          transaction.trx = trx
          transaction.open = transaction.session !== undefined
          return work(trx)
        }, options)) as T
      } finally {
        transaction.open = false
      }
    })
  }

  /** Deferred constraints refuse here. */
  override async commit(...[ctx, events, context]: Parameters<PostgreSqlConnection['commit']>): Promise<void> {
    try {
      await super.commit(ctx, events, context)
    } catch (error) {
      throw breaksConstraint(error) ? this.platform.getExceptionConverter().convertException(error as Error) : error
    }
  }

  #prepare(given: OrmQuery, params: Params, isReported: boolean): PreparedQueryText {
    const { text, values } = unwrapQuery(given, params)
    const query = this.config.get('onQuery')(text, values)
    const bound = bindQuery(this.platform, query, values)
    const formatted = isReported || bound === undefined ? this.platform.formatQuery(query, values) : ''
    return { query, params: values, formatted, compiled: CompiledQuery.raw(bound?.sql ?? formatted, bound?.values) }
  }

  override async execute<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[] = EntityData<AnyEntity>[]>(
    query: OrmQuery,
    params: Params = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Promise<T> {
    if (!this.connected) await this.ensureConnection()
    const isReported = !isSilent(this.config, loggerContext)
    const { compiled, ...prepared } = this.#prepare(query, params, isReported)
    const { abort, logged } = splitContext(loggerContext)
    const run = async (): Promise<T> => {
      const executor = (ctx ?? this.getClient()) as Kysely<unknown>
      return this.transformRawResult<T>(await executor.executeQuery(compiled, abort), method)
    }
    return isReported
      ? this.executeQuery<T>(this.getSql(prepared.query, prepared.formatted, logged), run, { ...prepared, ...logged })
      : run()
  }

  override async *stream<T extends EntityData<AnyEntity>>(
    query: OrmQuery,
    params: Params = [],
    ctx?: Transaction<Kysely<unknown>>,
    loggerContext?: LoggingOptions,
    chunkSize = 100,
  ): AsyncIterableIterator<T> {
    if (!this.connected) await this.ensureConnection()
    const isReported = !isSilent(this.config, loggerContext)
    const { compiled, ...prepared } = this.#prepare(query, params, isReported)
    const { abort, logged } = splitContext(loggerContext)
    const report = (level: 'info' | 'error'): void => {
      if (isReported) this.logQuery(this.getSql(prepared.query, prepared.formatted, logged), { params: prepared.params, ...logged, level })
    }
    try {
      const pieces = (ctx ?? this.getClient()).getExecutor().stream<T>(compiled, chunkSize, abort)
      report('info')
      for await (const piece of pieces) yield* this.transformRawResult<T[]>(piece, 'all')
    } catch (error) {
      report('error')
      throw error
    }
  }
}
