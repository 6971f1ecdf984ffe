/** MikroORM's SQLite connection on the engine's open database, with bound parameters. It works synchronously where it need not wait. */
import { DefaultLogger, EventType, SimpleLogger, isRaw, raw } from '@mikro-orm/core'
import type { AnyEntity, EntityData, LoggingOptions, QueryResult, RawQueryFragment, Transaction } from '@mikro-orm/core'
import { NativeQueryBuilder, SqliteConnection } from '@mikro-orm/sqlite'
import { CompiledQuery } from 'kysely'
import type { Kysely } from 'kysely'
import type { Awaitable } from '../../base/awaitable.ts'
import { bindStatement } from './bind-statement.ts'
import { findConnection, sameConnection } from './shared-connection.ts'
import type { ReusableTransaction, SharedSqliteDialect } from './shared-dialect.ts'
import { RecordingTransaction } from './statement-templates.ts'

type BeginOptions = NonNullable<Parameters<SqliteConnection['begin']>[0]>

interface PreparedStatement {
  readonly query: string
  readonly params: readonly unknown[]
  readonly formatted: string
}

/** The result of a statement that a recording transaction noted instead of running it. */
function nothing(method: 'all' | 'get' | 'run'): unknown {
  return method === 'all' ? [] : method === 'get' ? undefined : { affectedRows: 0, insertId: 0, row: {}, rows: [] }
}

export class BoundSqliteConnection extends SqliteConnection {
  get #dialect(): SharedSqliteDialect {
    return this.config.get('driverOptions') as unknown as SharedSqliteDialect
  }

  /** Registers every transaction of MikroORM, so that the engine takes part in one that the application has opened around its call. */
  override transactional<T>(...[work, options]: Parameters<SqliteConnection['transactional']>): Promise<T> {
    return this.#dialect.host.transactional(entered =>
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

  /** Returns a reusable transaction. Undefined before MikroORM has connected. */
  standing(): ReusableTransaction | undefined {
    return this.connected ? this.#dialect.standing(this.getClient()) : undefined
  }

  /** Does what `execute` does, synchronously where it need not wait: in an open transaction, when nothing observes statements. */
  executeAtOnce<T extends QueryResult | EntityData<AnyEntity> | EntityData<AnyEntity>[]>(
    query: string,
    params: readonly unknown[],
    method: 'all' | 'run',
    ctx?: Transaction,
    loggerContext?: LoggingOptions,
  ): Awaitable<T> {
    const connection = ctx === undefined || ctx instanceof RecordingTransaction || !this.connected ? undefined : findConnection(ctx)
    if (connection === undefined || !this.isSilent(loggerContext)) return this.execute<T>(query, params, method, ctx, loggerContext)
    const sql = this.config.get('onQuery')(query, params)
    const bound = bindStatement(sql, params)
    if (bound === undefined) return this.execute<T>(query, params, method, ctx, loggerContext)
    return this.transformRawResult<T>(connection.execute(bound.sql, bound.values), method)
  }

  /** Returns a statement's text and values, and the text with the values in it, as MikroORM logs it. */
  #prepare(query: string | NativeQueryBuilder | RawQueryFragment, params: readonly unknown[] | Record<string, unknown>): PreparedStatement {
    let given: string | RawQueryFragment = query instanceof NativeQueryBuilder ? query.toRaw() : query
    // An object holds parameters by name.
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
    const isReported = !this.isSilent(loggerContext)
    const prepared =
      isReported || typeof query !== 'string' || !Array.isArray(params)
        ? this.#prepare(query, params)
        : // MikroORM would write the values into the text as well, for a log that nobody keeps.
          { query: this.config.get('onQuery')(query, params), params, formatted: '' }
    const bound = bindStatement(prepared.query, prepared.params)
    if (bound === undefined) return super.execute<T>(query, params, method, ctx, loggerContext)
    const run = async (): Promise<T> => {
      // Kysely waits even where a transaction is open already.
      const connection = ctx === undefined ? undefined : findConnection(ctx)
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

  /** Whether nothing observes statements. The application's own logger may do anything with them. */
  isSilent(loggerContext?: LoggingOptions): boolean {
    const logger = this.config.getLogger()
    return (
      (logger.logQuery === DefaultLogger.prototype.logQuery || logger.logQuery === SimpleLogger.prototype.logQuery) &&
      !logger.isEnabled('query', loggerContext) &&
      this.config.get('slowQueryThreshold') === undefined
    )
  }
}
