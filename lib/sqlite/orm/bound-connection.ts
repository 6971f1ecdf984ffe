/** Bound connection: MikroORM's SQLite connection on the open database of the engine, with bound parameters, at once where nothing is to be waited for. */
import { DefaultLogger, EventType, SimpleLogger, isRaw, raw } from '@mikro-orm/core'
import type { AnyEntity, EntityData, LoggingOptions, QueryResult, RawQueryFragment, Transaction } from '@mikro-orm/core'
import { NativeQueryBuilder, SqliteConnection } from '@mikro-orm/sqlite'
import { CompiledQuery } from 'kysely'
import type { Kysely } from 'kysely'
import type { Awaitable } from '../../base/awaitable.ts'
import { bindStatement } from './bind-statement.ts'
import { connectionOf, sameConnection } from './shared-dialect.ts'
import type { ReusableTransaction, SharedSqliteDialect } from './shared-dialect.ts'
import { RecordingTransaction } from './statement-templates.ts'

type BeginOptions = NonNullable<Parameters<SqliteConnection['begin']>[0]>

interface PreparedStatement {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

/** The result of a statement that a recording transaction has noted: nothing has been found, nothing has been done. */
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

  /** The same as `execute`, at once where nothing is to be waited for: in a transaction that is open, when nobody hears of statements. */
  executeAtOnce<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[]>(
    query: string,
    params: readonly unknown[],
    method: 'all' | 'run',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Awaitable<T> {
    const connection = ctx === undefined || ctx instanceof RecordingTransaction || !this.connected ? undefined : connectionOf(ctx)
    if (connection === undefined || !this.#isSilent(loggerContext)) return this.execute<T>(query, params, method, ctx, loggerContext)
    const sql = this.config.get('onQuery')(query, params)
    const bound = bindStatement(sql, params)
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
    const isReported = !this.#isSilent(loggerContext)
    const prepared =
      isReported || typeof query !== 'string' || !Array.isArray(params)
        ? this.#prepare(query, params)
        : // MikroORM would write the values into the text as well, for a log that nobody keeps.
          { query: this.config.get('onQuery')(query, params), params, formatted: '' }
    const bound = bindStatement(prepared.query, prepared.params)
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
    return isReported
      ? this.executeQuery<T>(this.getSql(prepared.query, prepared.formatted, loggerContext), run, { ...prepared, ...loggerContext })
      : run()
  }

  /** Whether nobody hears of statements. A logger of the application's own may do with them what it likes. */
  #isSilent(loggerContext: LoggingOptions | undefined): boolean {
    const logger = this.config.getLogger()
    return (
      (logger.logQuery === DefaultLogger.prototype.logQuery || logger.logQuery === SimpleLogger.prototype.logQuery) &&
      !logger.isEnabled('query', loggerContext) &&
      this.config.get('slowQueryThreshold') === undefined
    )
  }
}
