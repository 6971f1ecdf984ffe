/** A schema of its own on the PostgreSQL server of the specs (PGHOST and friends; default: postgres@127.0.0.1), which is dropped at the end. */
import { Client } from 'pg'
import type { ServerDatabase } from '../../lib/database/world-store.ts'

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
    skip = false
  } catch (error) {
    skip = `no PostgreSQL at ${PGHOST}:${PGPORT} (${(error as Error).message}): start one, or set PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE`
  } finally {
    await client.end().catch(() => {})
  }
  return skip
}

let count = 0

/** A schema, as the option `database` takes it. */
export interface OwnSchema extends AsyncDisposable {
  readonly database: ServerDatabase & { readonly schema: string }
  /** Runs a statement in the schema. */
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Removes all rows, and lets keys begin again. */
  empty(): Promise<void>
}

/**
 * Makes a name for a schema, and drops the schema at the end; an engine creates it.
 *
 * @param url the database that it is in
 */
export function ownSchema(url = SERVER_URL): OwnSchema {
  const schema = `mikro_rest_${process.pid}_${count++}`
  const named = new URL(url)
  named.searchParams.set('application_name', APPLICATION)
  const run: OwnSchema['run'] = async (sql, values = []) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(`set search_path = ${schema}`)
      return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }
  return {
    async empty() {
      const tables = await run(
        'select quote_ident(relname) as name from pg_class where relnamespace = to_regnamespace($1) and relkind = $2',
        [schema, 'r'],
      )
      const names = tables.map(({ name }) => name as string)
      if (names.length > 0) await run(`truncate ${names.join(', ')} restart identity cascade`)
    },
    database: { url: named.href, schema, poolSize: 4 },
    run,
    async [Symbol.asyncDispose]() {
      await run(`set client_min_messages = warning; drop schema if exists ${schema} cascade`)
    },
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
  const database = `mikro_rest_${process.pid}_${count++}`
  const run = async (on: string, sql: string): Promise<Record<string, unknown>[]> => {
    const url = new URL(SERVER_URL)
    url.pathname = `/${on}`
    const client = new Client({ connectionString: url.href })
    await client.connect()
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }
  const url = new URL(SERVER_URL)
  await run(PGDATABASE, `create database ${database}`)
  url.pathname = `/${database}`
  return {
    database: { url: url.href, poolSize: 4 },
    run: sql => run(database, sql),
    async [Symbol.asyncDispose]() {
      await run(PGDATABASE, `drop database ${database} with (force)`)
    },
  }
}
