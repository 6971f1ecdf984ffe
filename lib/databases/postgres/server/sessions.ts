/**
 * Sessions: the connections to a server, lent one at a time by a pool. Each session has the settings that the flavour of `databases/sql/`
 * counts on. A session that is lost never ends the process. Throws RestError (database_busy) when none can be had.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Pool, types, type CustomTypesConfig, type PoolClient, type QueryArrayResult, type QueryResult } from 'pg'
import type { RequestAbort } from '../../../foundation/base/abort.ts'
import { restError } from '../../../foundation/base/errors.ts'
import type { Row } from '../../../records/database/dialect.ts'
import type { ServerDatabase } from '../../../records/database/world-store.ts'
import { literal, name } from '../../sql/sql.ts'
import { isLost, isOutdated, unreachable } from './errors.ts'
import { cancel, isLent, lendSettings, sendWithSettings, withSettings } from './lent-settings.ts'
import type { PgliteDatabase } from './pglite.ts'
import { gatherWrites, sendBatch, type Answered, type AskedStatement } from './statement-batch.ts'

/** Milliseconds that a request waits for a session. */
const WAIT_MS = 5_000

/** Milliseconds that a statement may take where the option `statementTimeout` does not say otherwise. */
const STATEMENT_MS = 30_000

/** Statements that a session keeps prepared at most; further ones are parsed each time. */
const NAMED = 500

/** Every value as the text that the server sends. */
const TEXTS = { getTypeParser: () => (text: string) => text } as CustomTypesConfig

/** Settings of each session; of one behind a pooler, of each transaction. */
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
    // What the server says stays so: it may be one that takes no writes.
    ...(readOnly ? [[prepare ? 'default_transaction_read_only' : 'transaction_read_only', 'on'] as const] : []),
    ...(schema === undefined ? [] : [['search_path', [schema].flat().map(name).join(', ')] as const]),
  ]
}

export class Sessions {
  #pool: Pool
  readonly #createPool: () => Pool
  /** Resolves when the sessions may be used again. */
  #paused: Promise<void> | undefined
  readonly #url: string
  /** Whether sessions keep statements prepared. */
  readonly #prepares: boolean
  /** What takes the place of a server. */
  readonly pglite: PgliteDatabase | undefined
  /** The sessions that must not be used again. One that was asked to end a statement is among them: the request may come late. */
  readonly #spent = new WeakSet<PoolClient>()
  /** When a session began, by performance.now(). */
  readonly #begun = new WeakMap<object, number>()
  /** When a session was found lost, or to have prepared what does not fit the tables any more: those that are older are mostly so, too. */
  #lostAt = -1
  /** The statements that sessions keep prepared. */
  readonly #kept = new Set<string>()
  /** The statements that have run once: only one that comes again is worth being kept. */
  readonly #seen = new Set<string>()

  constructor(database: ServerDatabase, readOnly: boolean, pglite?: PgliteDatabase) {
    this.#url = database.url
    this.pglite = pglite
    const settings = listSettings(database, readOnly)
    const lends = database.prepare === false
    const text = `select ${settings.map(each => `set_config(${each.map(literal).join(', ')}, ${String(lends)})`).join(', ')}`
    this.#prepares = !lends
    this.#createPool = () =>
      this.#listen(
        new Pool({
          ...(pglite === undefined ? { connectionString: database.url, max: database.poolSize ?? 10 } : pglite.config),
          connectionTimeoutMillis: WAIT_MS,
          allowExitOnIdle: true,
          keepAlive: true,
          pipeline: true,
          fallback_application_name: 'mikro-rest',
          onConnect: client => {
            // Without a listener the error of a connection would end the process. The statement that runs on it fails by itself.
            client.on('error', () => {})
            this.#begun.set(client, performance.now())
            if (!lends) return client.query(text) as unknown as void
            lendSettings(client, text)
          },
        }),
      )
    this.#pool = this.#createPool()
  }

  #listen(pool: Pool): Pool {
    // The pool takes an idle session that is lost out by itself.
    return pool.on('error', () => {})
  }

  /** Returns a session, to be given back by `release`. */
  async acquire(): Promise<PoolClient> {
    while (this.#paused !== undefined) await this.#paused
    try {
      for (;;) {
        const session = await this.#pool.connect()
        if (this.#begun.get(session)! > this.#lostAt) return session
        session.release(true)
      }
    } catch (error) {
      throw unreachable(error)
    }
  }

  /** Runs work on a session of its own, which is given back behind it. */
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
   * Gives a session back. One that is lost, or was discarded, is not used again.
   *
   * @param failed the error that the work on it ended with
   */
  release(session: PoolClient, failed?: unknown): void {
    const isGone = failed !== undefined && (isLost(failed) || isOutdated(failed))
    if (isGone) this.#lostAt = performance.now()
    session.release(isGone || this.#spent.has(session))
  }

  /** Ends a session as soon as it is given back. */
  discard(session: PoolClient): void {
    this.#spent.add(session)
  }

  /** Runs a statement of a reading. Rows are arrays of texts. */
  async read(session: PoolClient, sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.readAll(session, [{ sql, parameters }])
    return rows[0]!
  }

  /** Runs statements, sent together. None runs behind one that fails. */
  readAll(session: PoolClient, statements: readonly AskedStatement[]): Promise<Answered> {
    return sendWithSettings(session, statements, each => sendBatch(session, each, this.#isKept))
  }

  readonly #isKept = (sql: string): boolean => {
    if (this.#kept.has(sql)) return true
    if (!this.#prepares || this.#kept.size >= NAMED) return false
    if (this.#seen.delete(sql)) {
      this.#kept.add(sql)
      return true
    }
    if (this.#seen.size >= NAMED) this.#seen.clear()
    this.#seen.add(sql)
    return false
  }

  /**
   * Runs work on a session, and ends the statement that runs on it as soon as the request is to end.
   *
   * @throws the reason of that end in the place of the error of the statement
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

  /** Ends the statement that runs on a session, from a connection of its own: the pool may have none left. */
  async #cancel(session: PoolClient): Promise<void> {
    // It has one connection, and goes on to the end of what it has begun.
    if (this.pglite !== undefined) return
    this.discard(session)
    if (isLent(session)) return cancel(session)
    // The types of pg leave out the number of the process.
    const { processID } = session as unknown as { readonly processID: number }
    const client = new Client({ connectionString: this.#url, connectionTimeoutMillis: WAIT_MS })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select pg_cancel_backend($1)', [processID])
    } catch {
      // `statement_timeout` ends the statement then.
    } finally {
      await client.end().catch(() => {})
    }
  }

  /**
   * Runs work while no session is connected. Sessions that are asked for meanwhile come when it is over.
   *
   * @throws RestError (database_busy) when one is not given back.
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

/** Runs a statement of the engine's own. Rows are arrays of texts. */
export async function ask(session: PoolClient, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const result: QueryArrayResult = await session.query({ text, values: values as unknown[], rowMode: 'array', types: TEXTS })
  return result.rows as Row[]
}

/** Runs a statement without parameters. */
export function command(session: PoolClient, text: string): Promise<QueryResult> {
  gatherWrites(session.connection)
  return session.query(withSettings(session, text))
}

/** Parses the elements of an array. */
export function parseArray(text: string): string[] {
  const parse = types.getTypeParser(1009 as never, 'text') as (text: string) => string[]
  return parse(text)
}
