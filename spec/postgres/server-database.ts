/** A schema of its own on the PostgreSQL server of the specs (PGHOST and friends; default: postgres@127.0.0.1), which is dropped at the end. */
import { Client } from 'pg'
import type { ServerDatabase } from '../../lib/database/world-store.ts'

const { PGHOST = '127.0.0.1', PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD, PGDATABASE = 'postgres' } = process.env

const password = PGPASSWORD === undefined ? '' : `:${encodeURIComponent(PGPASSWORD)}`

/** The URL of the server. */
export const SERVER_URL = `postgres://${PGUSER}${password}@${PGHOST}:${PGPORT}/${PGDATABASE}`

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

/** Makes a name for a schema, and drops the schema at the end; an engine creates it. */
export function ownSchema(): OwnSchema {
  const schema = `mikro_rest_${process.pid}_${count++}`
  const run: OwnSchema['run'] = async (sql, values = []) => {
    const client = new Client({ connectionString: SERVER_URL })
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
    database: { url: SERVER_URL, schema, poolSize: 4 },
    run,
    async [Symbol.asyncDispose]() {
      await run(`set client_min_messages = warning; drop schema if exists ${schema} cascade`)
    },
  }
}
