/**
 * Schema: creates the tables and columns that a database lacks, as MikroORM's schema generator writes them. Nothing is dropped or altered, and either all is
 * created or nothing. Throws Error in one line for a database that cannot take what is missing.
 */
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import type { Notes } from '../base/notes.ts'
import { qualifyTable, showTable } from '../model/table-name.ts'
import { name, tableName } from '../sql/sql.ts'
import { isLost } from './server/errors.ts'
import { ask, command } from './server/sessions.ts'

/** Statements that only add. */
const ADDS =
  /^(?:create (?:table|index|unique index|type|schema|view|materialized view|sequence|extension|function|or replace function|trigger)\b|comment on\b|alter type \S+ add value\b)/i

/** What an `alter table` may do: add columns and constraints. */
const ALTERS = /^alter table (?:if exists )?(?:"(?:[^"]|"")+"\.?)+ (.+)$/is

/** The statement that MikroORM writes for a schema, whether it is there or not. */
const CREATES_SCHEMA = /^create schema if not exists "((?:[^"]|"")+)"$/i

/** One key for all engines, so that two that start at once do not create the same table. */
const LOCK = 7_310_241_905

/** Adds what the entities need, in the open transaction of the session. */
export async function addSchema(orm: MikroORM, session: PoolClient, schema: string | undefined, notes: Notes): Promise<void> {
  try {
    await lockSchema(session)
    if (schema !== undefined) await createSchema(session, schema)
    const generator = orm.schema as unknown as SqlSchemaGenerator
    const text = await generator.getUpdateSchemaSQL({ wrap: false, safe: true, dropTables: false })
    for (const statement of splitStatements(text)) {
      const [, wanted] = CREATES_SCHEMA.exec(statement) ?? []
      if (wanted !== undefined) await createSchema(session, wanted.replaceAll('""', '"'))
      else if (onlyAdds(statement)) await command(session, statement)
      else notes.add(`The database differs from the entities, and is left as it is: "${statement}" was not run.`)
    }
  } catch (error) {
    if (isLost(error)) throw error
    const [message] = (error as Error).message.split('\n')
    throw new SchemaError(`The database does not fit the entities, and nothing in it was changed: ${message}.`, { cause: error })
  }
}

/** Waits until no other engine adds to the database, and keeps others from it for the rest of the transaction. */
export async function lockSchema(session: PoolClient): Promise<void> {
  await ask(session, 'select pg_advisory_xact_lock($1)', [LOCK])
}

/** Creates a schema that is missing. `if not exists` alone takes the right to create one. */
async function createSchema(session: PoolClient, schema: string): Promise<void> {
  const found = await ask(session, 'select from pg_namespace where nspname = $1', [schema])
  if (found.length === 0) await command(session, `create schema ${name(schema)}`)
}

/**
 * Whether the schema could not be read since others have dropped tables or schemas meanwhile: MikroORM reads all of the database, and asks for each by its name.
 */
export function isMoving(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return error instanceof SchemaError && ['3F000', '42P01', 'XX000'].includes(String(cause?.code))
}

class SchemaError extends Error {}

/** Splits the text of the generator into its statements, each of which ends its line. */
function splitStatements(text: string): string[] {
  return text
    .split(/;\s*(?:\n|$)/)
    .map(statement => statement.trim())
    .filter(statement => statement !== '' && !/^set (?:names|session_replication_role)/i.test(statement))
}

function onlyAdds(statement: string): boolean {
  if (ADDS.test(statement)) return true
  const changes = ALTERS.exec(statement)?.[1]
  return changes !== undefined && /^add\b/i.test(changes) && !/,\s*(?:drop|alter|rename)\b/i.test(changes)
}

/** @throws Error in one line for tables that are missing. */
export async function checkTables(orm: MikroORM, session: PoolClient): Promise<void> {
  const tables = [
    ...new Set(
      [...orm.getMetadata()].flatMap(meta =>
        meta.abstract || meta.embeddable || meta.virtual ? [] : [qualifyTable(meta.tableName, meta.schema)],
      ),
    ),
  ]
  const missing = await ask(session, 'select i from unnest($1::text[]) with ordinality as u(t, i) where to_regclass(t) is null', [
    tables.map(tableName),
  ])
  if (missing.length === 0) return
  const names = missing
    .map(([place]) => `"${showTable(tables[Number(place) - 1]!)}"`)
    .toSorted()
    .join(', ')
  throw new Error(`The database lacks the tables ${names}, which cannot be created in one that is opened for reading only.`)
}
