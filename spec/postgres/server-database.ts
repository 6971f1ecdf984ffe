/**
 * Databases and schemas on the PostgreSQL server of the specs (PGHOST and friends; default: postgres@127.0.0.1), which are dropped at the
 * end. Those of a process that was killed are dropped by the next one.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { Client, Pool } from 'pg'
import type { ServerDatabase } from '../../lib/records/database/world-store.ts'

const { PGHOST = '127.0.0.1', PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD, PGDATABASE = 'postgres' } = process.env

const password = PGPASSWORD === undefined ? '' : `:${encodeURIComponent(PGPASSWORD)}`

/** The URL of the server. */
export const SERVER_URL = `postgres://${PGUSER}${password}@${PGHOST}:${PGPORT}/${PGDATABASE}`

/** What the connections of engines of this process are called on the server, in schemas of their own. */
export const APPLICATION = `mikro-rest ${process.pid}`

let skip: string | false | undefined

/** Why the specs cannot run; false when they can. */
export async function findNoServer(): Promise<string | false> {
  if (skip !== undefined) return skip
  const client = new Client({ connectionString: SERVER_URL, connectionTimeoutMillis: 2000 })
  try {
    await client.connect()
    // They create databases, and undo changes.
    const { rows } = await client.query<{ super: boolean }>('select rolsuper as super from pg_roles where rolname = current_user')
    skip = rows[0]?.super === true ? false : `${PGUSER} is no superuser at ${PGHOST}:${PGPORT}`
  } catch (error) {
    skip =
      `no PostgreSQL at ${PGHOST}:${PGPORT} (${(error as Error).message}): ` +
      'start one, or set PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE'
  } finally {
    await client.end().catch(() => {})
  }
  return skip
}

/** Processes of other machines may use the same server. */
const MACHINE = `mikro_rest_${createHash('sha256').update(hostname()).digest('hex').slice(0, 6)}`

let count = 0

/** Returns a name that nothing else has on the server. */
export const newName = (): string => `${MACHINE}_${process.pid}_${count++}`

/** Tells whether no process of this machine has such a number. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Tells whether a name is one of a process of this machine that has ended. */
function isLeft(name: string): boolean {
  const [machine, pid] = [name.slice(0, MACHINE.length), Number(name.slice(MACHINE.length + 1).split('_')[0])]
  return machine === MACHINE && Number.isInteger(pid) && hasEnded(pid)
}

/** Drops what killed processes have left. */
export async function dropLeft(): Promise<void> {
  const client = new Client({ connectionString: SERVER_URL })
  await client.connect()
  try {
    const named = async (sql: string): Promise<string[]> => (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name)
    // Two processes may find the same ones.
    for (const name of await named('select datname as name from pg_database'))
      if (isLeft(name)) await client.query(`drop database if exists ${name} with (force)`)
    for (const name of await named('select nspname as name from pg_namespace'))
      if (isLeft(name)) await client.query(`set client_min_messages = warning; drop schema if exists ${name} cascade`)
  } finally {
    await client.end()
  }
}

type Result = Promise<Record<string, unknown>[]>

let kept: Pool | undefined

/**
 * Runs a statement in the database of SERVER_URL, on a connection that is kept: to open one takes longer than most statements. The process
 * may end while it is open.
 *
 * @param path the schemas in which it finds tables; undefined: those of the server
 */
async function runKept(path: string | undefined, sql: string, values: readonly unknown[] = []): Result {
  // A connection that a spec has ended is replaced.
  kept ??= new Pool({ connectionString: SERVER_URL, idleTimeoutMillis: 0, allowExitOnIdle: true }).on('error', () => {})
  const client = await kept.connect()
  try {
    // What the last statement has set is forgotten.
    await client.query(path === undefined ? 'reset all' : `reset all; set search_path = ${path}`)
    return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
  } finally {
    client.release()
  }
}

/** Runs a statement in a database that must not keep connections: one of which copies are made. */
async function runOnce(url: string, path: string | undefined, sql: string, values: readonly unknown[] = []): Result {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    if (path !== undefined) await client.query(`set search_path = ${path}`)
    return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

const DEADLOCK = '40P01'
const ATTEMPTS = 5

/** A schema, as the option `database` takes it. */
export interface OwnSchema extends AsyncDisposable {
  readonly database: ServerDatabase & { readonly schema: string }
  /** Runs a statement in the schema. */
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

/**
 * Makes a name for a schema, and drops the schema at the end; an engine creates it.
 *
 * @param url the database that it is in
 */
export function ownSchema(url = SERVER_URL): OwnSchema {
  const schema = newName()
  const named = new URL(url)
  named.searchParams.set('application_name', APPLICATION)
  const run: OwnSchema['run'] = (sql, values) => (url === SERVER_URL ? runKept(schema, sql, values) : runOnce(url, schema, sql, values))
  return {
    database: { url: named.href, schema, poolSize: 4 },
    run,
    async [Symbol.asyncDispose]() {
      await dropSchema(run, schema)
    },
  }
}

/** Other processes may be reading all of the database, table after table, and the server ends one of the two that wait for each other. */
async function dropSchema(run: OwnSchema['run'], schema: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run(`set client_min_messages = warning; drop schema if exists ${schema} cascade`)
      return
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== DEADLOCK || attempt === ATTEMPTS) throw error
    }
  }
}

/** A database, as the option `database` takes it. */
export interface OwnDatabase extends AsyncDisposable {
  readonly database: ServerDatabase
  /** Runs a statement in the database. */
  run(sql: string): Promise<Record<string, unknown>[]>
}

/** Makes a database on the server, and drops it at the end. Everything that copies databases needs one. */
export async function ownDatabase(): Promise<OwnDatabase> {
  const database = newName()
  const url = new URL(SERVER_URL)
  await runKept(undefined, `create database ${database}`)
  url.pathname = `/${database}`
  return {
    database: { url: url.href, poolSize: 4 },
    run: sql => runOnce(url.href, undefined, sql),
    async [Symbol.asyncDispose]() {
      await runKept(undefined, waitUntilLeft(database))
      await runKept(undefined, `drop database ${database} with (force)`)
    },
  }
}

/** Waits a second at most for sessions that are being closed: to be ended by force is an error of theirs, which nobody awaits any more. */
function waitUntilLeft(database: string): string {
  return `do $$ begin
    for i in 1..20 loop
      exit when not exists (select from pg_stat_activity where datname = '${database}');
      perform pg_stat_clear_snapshot(), pg_sleep(0.05);
    end loop;
  end $$`
}
