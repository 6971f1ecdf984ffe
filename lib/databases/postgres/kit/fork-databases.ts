/** Copies databases for an engine and its forks, and drops the copies, also copies of killed processes. */
import { Client } from 'pg'
import { builtin } from '../../../foundation/base/builtins.ts'
import { literal, name } from '../../sql/sql.ts'
import { isLost, unreachable } from '../server/errors.ts'

/** Token and number follow. */
const PREFIX = 'mikro_fork_'

/** Of advisory locks on tokens: a running process holds a lock on its token. */
const LOCK_CLASS = 731_024_190

/** For others, in milliseconds. */
const ENDING_MS = 2_000

const MAINTENANCE = 'postgres'

export class ForkDatabases {
  readonly #url: URL
  #keeper: Promise<Client> | undefined
  #token = 0
  #count = 0
  #users = 0
  readonly #failures: unknown[] = []
  /** Statements run one after another. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.#url = new URL(url)
  }

  join(): this {
    this.#users++
    return this
  }

  /** @throws the first error of `drop` */
  async leave(): Promise<void> {
    if (--this.#users > 0) return
    await this.#last
    const keeper = this.#keeper
    this.#keeper = undefined
    const client = await keeper
    if (client !== undefined) {
      // Keeps a script alive until the connection has ended.
      keepProcess(client, true)
      await client.end()
    }
    const [failure] = this.#failures.splice(0)
    if (failure !== undefined) throw failure
  }

  urlOf(database: string): string {
    const url = new URL(this.#url)
    url.pathname = `/${encodeURIComponent(database)}`
    return url.href
  }

  /**
   * Copies a database without connections.
   *
   * @returns the name of the copy
   * @throws Error in one line if there are connections, or if the user may not create databases
   */
  copy(database: string): Promise<string> {
    return this.#run(async keeper => {
      const copied = `${PREFIX}${this.#token}_${++this.#count}`
      await waitUntilAlone(keeper, database)
      try {
        await keeper.query(`create database ${name(copied)} template ${name(database)}`)
      } catch (error) {
        const { code, message } = error as { readonly code?: unknown; readonly message: string }
        if (code === '42501') throw new Error(`engine.fork: a fork is a database of its own: ${message}.`, { cause: error })
        throw error
      }
      const origin = decodeURIComponent(this.#url.pathname.slice(1))
      await keeper.query(
        `comment on database ${name(copied)} is ${literal(`A copy of "${origin}", for a fork of mikro-rest. It is dropped with that.`)}`,
      )
      return copied
    })
  }

  /** `leave` waits for the drop. */
  drop(database: string): void {
    this.#run(async keeper => {
      await keeper.query(`drop database if exists ${name(database)} with (force)`)
    }).catch((error: unknown) => this.#failures.push(error))
  }

  #run<T>(work: (keeper: Client) => Promise<T>): Promise<T> {
    const running = this.#last.then(async () => {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (!isLost(error)) throw error
        // The server has undone unfinished work.
        this.#keeper = undefined
        return this.#attempt(work)
      }
    })
    this.#last = running.catch(() => {})
    return running
  }

  async #attempt<T>(work: (keeper: Client) => Promise<T>): Promise<T> {
    const keeper = await (this.#keeper ??= this.#connect().catch((error: unknown) => {
      this.#keeper = undefined
      throw error
    }))
    keepProcess(keeper, true)
    try {
      return await work(keeper)
    } finally {
      keepProcess(keeper, false)
    }
  }

  async #connect(): Promise<Client> {
    if (decodeURIComponent(this.#url.pathname.slice(1)) === MAINTENANCE)
      throw new Error(
        `engine.fork: not possible for the database "${MAINTENANCE}", from which databases are created: give the engine one of its own.`,
      )
    const keeper = new Client({ connectionString: this.urlOf(MAINTENANCE), fallback_application_name: 'mikro-rest' })
    keeper.on('error', () => {
      this.#keeper = undefined
    })
    try {
      await keeper.connect()
      await keeper.query('set statement_timeout = 0')
      // Not a token of other copies.
      while (this.#token === 0 || !(await lock(keeper, this.#token))) this.#token = builtin.crypto.randomInt(1, 2 ** 31 - 1)
      await dropLeftOvers(keeper, this.#token)
    } catch (error) {
      await keeper.end().catch(() => {})
      if (isLost(error)) throw unreachable(error)
      throw new Error(`engine.fork: databases are created from the database "${MAINTENANCE}" of the server: ${(error as Error).message}.`, {
        cause: error,
      })
    }
    return keeper
  }
}

/** Lets the process end while the connection is idle. */
function keepProcess(keeper: Client, isBusy: boolean): void {
  // The types of pg lack both methods.
  const client = keeper as unknown as { ref(): void; unref(): void }
  if (isBusy) client.ref()
  else client.unref()
}

async function lock(keeper: Client, token: number): Promise<boolean> {
  const { rows } = await keeper.query('select pg_try_advisory_lock($1, $2) as locked', [LOCK_CLASS, token])
  return (rows as [{ locked: boolean }])[0].locked
}

/** Drops copies of ended processes. */
async function dropLeftOvers(keeper: Client, own: number): Promise<void> {
  const { rows } = await keeper.query("select datname from pg_database where datname like $1 || '%'", [
    PREFIX.replaceAll('_', String.raw`\_`),
  ])
  for (const { datname } of rows as { datname: string }[]) {
    const token = Number(/^mikro_fork_(\d+)_\d+$/.exec(datname)?.[1] ?? own)
    if (token === own || !(await lock(keeper, token))) continue
    await keeper.query(`drop database if exists ${name(datname)}`).catch(() => {})
    await keeper.query('select pg_advisory_unlock($1, $2)', [LOCK_CLASS, token])
  }
}

/** The server ends a closed connection a moment later. */
async function waitUntilAlone(keeper: Client, database: string): Promise<void> {
  const until = performance.now() + ENDING_MS
  for (;;) {
    const { rows } = await keeper.query(
      "select coalesce(nullif(application_name, ''), usename) as who " +
        "from pg_stat_activity where datname = $1 and backend_type = 'client backend' limit 1",
      [database],
    )
    const [other] = rows as { who: string }[]
    if (other === undefined) return
    if (performance.now() > until)
      throw new Error(
        `engine.fork: the database "${database}" can be copied only while nobody else is connected to it, and "${other.who}" is.`,
      )
    await new Promise(resolve => setTimeout(resolve, 3))
  }
}
