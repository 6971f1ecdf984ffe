/** A pool of connections to a server, with settings for `databases/sql/`. Throws RestError (database_busy) where no session is free. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Pool, types, type CustomTypesConfig, type PoolClient, type QueryArrayResult, type QueryResult } from 'pg'
import type { RequestAbort } from '../../../foundation/async/abort.ts'
import { restError } from '../../../foundation/errors/errors.ts'
import type { Row } from '../../../records/database/dialect.ts'
import type { ServerDatabase } from '../../../records/database/world-store.ts'
import { literal, name } from '../../sql/sql.ts'
import { isLost, isOutdated, unreachable } from './errors.ts'
import { cancel, isLent, lendSettings, sendWithSettings, withSettings } from './lent-settings.ts'
import type { PgliteDatabase } from './pglite.ts'
import { gatherWrites, sendBatch, type Answered, type AskedStatement } from './statement-batch.ts'

/** For a session, in milliseconds. */
const WAIT_MS = 5_000

/** Default of the option `statementTimeout`. */
const STATEMENT_MS = 30_000

/** Further statements are parsed each time. */
const MOST_PREPARED = 500

/** Values stay the server's texts. */
const TEXTS = { getTypeParser: () => (text: string) => text } as CustomTypesConfig

/** Behind a pooler, set anew for each transaction. */
function listSettings(
  { schema, statementTimeout = STATEMENT_MS, prepare = true }: ServerDatabase,
  readOnly: boolean,
): readonly (readonly [string, string])[] {
  return [
    ['TimeZone', 'UTC'],
    ['DateStyle', 'ISO, YMD'],
    ['bytea_output', 'hex'],
    ['extra_float_digits', '1'],
    ['statement_timeout', String(statementTimeout)],
    // Never `off`: a standby keeps its own setting.
    ...(readOnly ? [[prepare ? 'default_transaction_read_only' : 'transaction_read_only', 'on'] as const] : []),
    ...(schema === undefined ? [] : [['search_path', [schema].flat().map(name).join(', ')] as const]),
  ]
}

export class Sessions {
  #pool: Pool
  readonly #createPool: () => Pool
  #paused: Promise<void> | undefined
  readonly #url: string
  readonly #prepares: boolean
  /** Instead of a server. */
  readonly pglite: PgliteDatabase | undefined
  /** Never used again: a late cancel may end the next statement. */
  readonly #unusable = new WeakSet<PoolClient>()
  /** By performance.now(). */
  readonly #begunAt = new WeakMap<object, number>()
  /** When a session was last lost or outdated. Older sessions mostly are, too. */
  #lostAt = -1
  readonly #preparedTexts = new Set<string>()
  /** Only repeated statements are worth keeping. */
  readonly #runOnce = new Set<string>()

  constructor(database: ServerDatabase, readOnly: boolean, pglite?: PgliteDatabase) {
    this.#url = database.url
    this.pglite = pglite
    const settings = listSettings(database, readOnly)
    const lends = database.prepare === false
    const text = `select ${settings.map(each => `set_config(${each.map(literal).join(', ')}, ${String(lends)})`).join(', ')}`
    this.#prepares = !lends
    this.#createPool = () =>
      new Pool({
        ...(pglite === undefined ? { connectionString: database.url, max: database.poolSize ?? 10 } : pglite.config),
        connectionTimeoutMillis: WAIT_MS,
        allowExitOnIdle: true,
        keepAlive: true,
        pipeline: true,
        fallback_application_name: 'mikro-rest',
        onConnect: client => {
          // Unheard, an error would end the process.
          client.on('error', () => {})
          this.#begunAt.set(client, performance.now())
          if (!lends) return client.query(text) as unknown as void
          lendSettings(client, text)
        },
      })
        // The pool drops lost sessions itself.
        .on('error', () => {})
    this.#pool = this.#createPool()
  }

  /** `release` must follow. */
  async acquire(): Promise<PoolClient> {
    while (this.#paused !== undefined) await this.#paused
    try {
      for (;;) {
        const session = await this.#pool.connect()
        if (this.#begunAt.get(session)! > this.#lostAt) return session
        session.release(true)
      }
    } catch (error) {
      throw unreachable(error)
    }
  }

  async use<T>(work: (session: PoolClient) => Promise<T>): Promise<T> {
    const session = await this.acquire()
    let failed: unknown
    try {
      return await work(session)
    } catch (error) {
      failed = error
      throw error
    } finally {
      this.release(session, failed)
    }
  }

  /**
   * Gives a session back; closes lost, outdated and discarded sessions.
   *
   * @param failed the work's error
   */
  release(session: PoolClient, failed?: unknown): void {
    const isGone = failed !== undefined && (isLost(failed) || isOutdated(failed))
    if (isGone) this.#lostAt = performance.now()
    session.release(isGone || this.#unusable.has(session))
  }

  /** Closes the session on release. */
  discard(session: PoolClient): void {
    this.#unusable.add(session)
  }

  async read(session: PoolClient, sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.readAll(session, [{ sql, parameters }])
    return rows[0]!
  }

  /** Sends one message. Nothing runs behind a failed statement. */
  readAll(session: PoolClient, statements: readonly AskedStatement[]): Promise<Answered> {
    return sendWithSettings(session, statements, each => sendBatch(session, each, this.#shouldPrepare))
  }

  readonly #shouldPrepare = (sql: string): boolean => {
    if (this.#preparedTexts.has(sql)) return true
    if (!this.#prepares || this.#preparedTexts.size >= MOST_PREPARED) return false
    if (this.#runOnce.delete(sql)) {
      this.#preparedTexts.add(sql)
      return true
    }
    if (this.#runOnce.size >= MOST_PREPARED) this.#runOnce.clear()
    this.#runOnce.add(sql)
    return false
  }

  /**
   * Ends the running statement as soon as the request is to end.
   *
   * @throws the reason of the end instead of the statement's error
   */
  async guard<T>(session: PoolClient, end: RequestAbort | undefined, work: () => Promise<T>): Promise<T> {
    if (end === undefined) return work()
    end.throwIfReached()
    const { signal, deadline } = end
    let stopped: Promise<void> | undefined
    const stop = (): void => void (stopped ??= this.#cancel(session))
    const timer = deadline === undefined ? undefined : setTimeout(stop, Math.max(1, deadline - performance.now() + 1))
    signal.addEventListener('abort', stop, { once: true })
    try {
      const result = await work()
      if (stopped !== undefined && this.pglite !== undefined) {
        end.throwIfReached()
        end.checkTime()
      }
      return result
    } catch (error) {
      if (stopped !== undefined) {
        end.throwIfReached()
        end.checkTime()
      }
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      await stopped
    }
  }

  /** Outside of the pool, which may have no connection left. */
  async #cancel(session: PoolClient): Promise<void> {
    // PGlite ends no statement early.
    if (this.pglite !== undefined) return
    this.discard(session)
    if (isLent(session)) return cancel(session)
    // The types of pg lack the number.
    const { processID } = session as unknown as { readonly processID: number }
    const client = new Client({ connectionString: this.#url, connectionTimeoutMillis: WAIT_MS })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select pg_cancel_backend($1)', [processID])
    } catch {
      // Then `statement_timeout` ends the statement.
    } finally {
      await client.end().catch(() => {})
    }
  }

  /**
   * Runs work while no session is connected. New sessions wait.
   *
   * @throws RestError (database_busy) when a session is not given back
   */
  async disconnected<T>(work: () => Promise<T>): Promise<T> {
    while (this.#paused !== undefined) await this.#paused
    let resume!: () => void
    this.#paused = new Promise(resolve => {
      resume = resolve
    })
    try {
      const pool = this.#pool
      const until = performance.now() + WAIT_MS
      while (pool.idleCount < pool.totalCount || pool.waitingCount > 0) {
        if (performance.now() > until)
          throw restError(
            'database_busy',
            'Another request is using the database for too long: its connections cannot be closed meanwhile. Try again.',
          )
        await sleep(2)
      }
      await pool.end()
      this.#pool = this.#createPool()
      return await work()
    } finally {
      this.#paused = undefined
      resume()
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
    await this.pglite?.close()
  }
}

/** Rows are arrays of texts. */
export async function ask(session: PoolClient, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const result: QueryArrayResult = await session.query({ text, values: values as unknown[], rowMode: 'array', types: TEXTS })
  return result.rows as Row[]
}

export function command(session: PoolClient, text: string): Promise<QueryResult> {
  gatherWrites(session.connection)
  return session.query(withSettings(session, text))
}

export function parseArray(text: string): string[] {
  const parse = types.getTypeParser(1009 as never, 'text') as (text: string) => string[]
  return parse(text)
}
