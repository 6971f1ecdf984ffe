/**
 * An engine whose readings the PostgreSQL server of the specs answers: the content of the engine's SQLite database is copied into a schema
 * that MikroORM makes.
 */
import { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql'
import { Client } from 'pg'
import type { CustomTypesConfig } from 'pg'
import type { Reading, Row } from '../../lib/records/database/dialect.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { createDialect } from '../../lib/databases/postgres/dialect.ts'
import { findCaseFolding, listCaseClasses } from '../../lib/databases/postgres/sql/case-folding.ts'
import type { CaseFolding } from '../../lib/databases/postgres/sql/case-folding.ts'
import { createFlavour } from '../../lib/databases/postgres/sql/flavour.ts'
import { SqliteConnection } from '../../lib/databases/sqlite/connection.ts'
import { newName, SERVER_URL } from './server-database.ts'

/** Every value as the text that the server sends. */
const TEXTS = { getTypeParser: () => (text: string) => text } as unknown as CustomTypesConfig

/** Runs a statement on a client; rows as arrays of texts. */
export async function query(client: Client, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await client.query({ text, values: [...values], rowMode: 'array', types: TEXTS })).rows as Row[]
}

/** Asks the server what its `lower` leaves to do. */
export async function readCaseFolding(client: Client, collation: string): Promise<CaseFolding> {
  const lowered = await query(
    client,
    `select lower(c collate ${collation}) from unnest($1::text[]) with ordinality as u(c, i) order by i`,
    [[...listCaseClasses().keys()]],
  )
  return findCaseFolding(
    lowered.map(([text]) => text as string),
    collation,
  )
}

/** An engine whose readings PostgreSQL answers. */
export interface ServerEngine extends AsyncDisposable {
  readonly engine: RestEngine
  readonly client: Client
  /** The texts of the statements that have run for readings. */
  readonly statements: readonly string[]
  /** Copies what the engine holds to the server. */
  copy(): Promise<void>
}

/** Opens a schema of its own on the server, and an engine that reads from it. */
export async function openServerEngine(
  options: EngineOptions & { readonly entities: NonNullable<EngineOptions['entities']> },
): Promise<ServerEngine> {
  const { engine, connection } = await createFollowed(options)
  const client = new Client({ connectionString: SERVER_URL })
  await client.connect()
  const schema = newName()
  await client.query(
    `set timezone = 'UTC'; set datestyle = 'ISO'; create schema ${schema}; ` +
      `set search_path = ${schema}; set session_replication_role = replica`,
  )
  const orm = await MikroORM.init({
    entities: options.entities as never,
    driver: PostgreSqlDriver,
    clientUrl: SERVER_URL,
    forceUtcTimezone: true,
  })
  const ddl = await orm.schema.getCreateSchemaSQL({ wrap: false })
  await orm.close()
  await client.query(ddl.replaceAll(/^set names[^;]*;/gm, ''))
  const dialect = createDialect(createFlavour(await readCaseFolding(client, '"und-x-icu"')))
  const { read, dialect: own } = connection
  const statements: string[] = []
  return {
    engine,
    client,
    statements,
    async copy() {
      Object.assign(connection, { dialect: own, read })
      await copyRows(engine, client, schema)
      Object.assign(connection, {
        dialect: { ...own, ...dialect },
        read: (reading: () => Reading<unknown>) => run(client, reading(), statements),
      })
    },
    async [Symbol.asyncDispose]() {
      await engine.close()
      await client.query(`drop schema ${schema} cascade`)
      await client.end()
    },
  }
}

/** Creates an engine, and finds the connection that it reads by. */
async function createFollowed(options: EngineOptions): Promise<{ engine: RestEngine; connection: SqliteConnection }> {
  const { follow } = SqliteConnection.prototype
  const followed: SqliteConnection[] = []
  SqliteConnection.prototype.follow = function (clock) {
    followed.push(this)
    follow.call(this, clock)
  }
  try {
    return { engine: await RestEngine.create(options), connection: followed[0]! }
  } finally {
    SqliteConnection.prototype.follow = follow
  }
}

/** Runs the statements of a reading. */
async function run<T>(client: Client, reading: Reading<T>, statements: string[]): Promise<T> {
  let step = reading.next()
  while (step.done !== true) {
    statements.push(...step.value.map(({ statement }) => statement.sql))
    const results: Row[][] = []
    for (const { statement, parameters } of step.value) results.push(await query(client, statement.sql, parameters))
    for (const [index, { take }] of step.value.entries()) take?.(results[index]!)
    step = reading.next(results)
  }
  return step.value
}

async function copyRows(engine: RestEngine, client: Client, schema: string): Promise<void> {
  const columns = await query(client, 'select table_name, column_name, data_type from information_schema.columns where table_schema = $1', [
    schema,
  ])
  const tables = Map.groupBy(columns, ([table]) => table as string)
  await client.query(`truncate ${[...tables.keys()].map(table => `"${table}"`).join(', ')} cascade`)
  for (const [table, its] of tables) {
    const names = its.map(([, name]) => `"${name as string}"`)
    // Beyond 2^53 a number is not exact.
    const selected = its.map(([, name, type]) =>
      type === 'bigint' ? `cast("${name as string}" as text) as "${name as string}"` : `"${name as string}"`,
    )
    const rows = await engine.orm.em.getConnection().execute<Record<string, unknown>[]>(`select ${selected.join(', ')} from "${table}"`)
    for (const row of rows) {
      const values = its.map(([, name, type]) => convert(row[name as string], type as string))
      await query(
        client,
        `insert into "${table}" (${names.join(', ')}) overriding system value values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
        values,
      )
    }
  }
}

/** A value of SQLite as PostgreSQL takes it. */
function convert(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null
  if (type === 'boolean') return Boolean(value)
  if (type.startsWith('timestamp')) return new Date(value as number).toISOString()
  return value
}
