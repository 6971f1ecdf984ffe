/**
 * Add schema: creates the tables and columns that a database lacks, as MikroORM's schema generator writes them. Nothing is dropped or
 * altered, and either all is created or nothing. Throws Error in one line for a database that cannot take what is missing.
 */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import { DatabaseSchema, type AbstractSqlPlatform, type SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { escapeRegExp } from '../../../foundation/base/escape-reg-exp.ts'
import type { Notes } from '../../../foundation/base/notes.ts'
import { qualifyTable, showTable } from '../../../model/table-name.ts'
import { name, tableName } from '../../sql/sql.ts'
import { exampleFill, WAYS } from '../../orm/name-property.ts'
import { withDeferredReferences } from '../orm/deferred-references.ts'
import { givenSchema, standardSchema } from '../orm/places.ts'
import { isLost } from '../server/errors.ts'
import { ask, command } from '../server/sessions.ts'
import { additionsOf, compare, isNothing, listStatements, splitStatements, type ComparedDatabase } from './compare.ts'

/** Statements that only add. */
const ADDS =
  /^(?:create (?:table|index|unique index|type|schema|view|materialized view|sequence|extension|function|or replace function|trigger)\b|comment on\b|alter type \S+ add value\b)/i

/** What an `alter table` may do: add columns and constraints. */
const ALTERS = /^alter table (?:if exists )?(?:"(?:[^"]|"")+"\.?)+ (.+)$/is

/** The statement that MikroORM writes for a schema, whether it is there or not. */
export const CREATES_SCHEMA = /^create schema if not exists "((?:[^"]|"")+)"$/i

/** One key for all engines, so that two that start at once do not create the same table. */
const LOCK = 7_310_241_905

/**
 * Adds what the entities need, in the open transaction of the session.
 *
 * @param schemas those of the entities
 */
export async function addSchema(orm: MikroORM, session: PoolClient, schemas: readonly string[], notes: Notes): Promise<void> {
  try {
    await lockSchema(session)
    await createSchema(session, schemas[0]!)
    const isEmpty = await findEmpty(orm, session, schemas)
    const database = { orm, session, schemas, drop: false }
    const { added, left } = isEmpty ? { added: await createAll(orm), left: [] } : await listAdditions(database)
    const views = isEmpty ? NO_VIEWS : await findViews(orm, session)
    if (views.lacking.length > 0)
      throw new Error(
        views.lacking.map(([view, column]) => `the column ${view}.${column} cannot be added, since ${view} is a view`).join('; '),
      )
    for (const statement of added) {
      if (isOfView(statement, views.tables)) continue
      const [, wanted] = CREATES_SCHEMA.exec(statement) ?? []
      if (wanted !== undefined) await createSchema(session, wanted.replaceAll('""', '"'))
      else await command(session, statement)
    }
    for (const statement of left)
      if (!isOfView(statement, views.tables))
        notes.add(`The database differs from the entities, and is left as it is: "${statement}" was not run.`)
  } catch (error) {
    if (isLost(error)) throw error
    const [message] = (error as Error).message.split('\n')
    throw new SchemaError(`The database does not fit the entities, and nothing in it was changed: ${message}${findWay(error, orm)}.`, {
      cause: error,
    })
  }
}

/**
 * Whether there is nothing that could be what the entities need, so that MikroORM need not read the catalogues: seven statements, the
 * slowest of all that an engine asks for at its start, which read the tables of the whole database.
 */
async function findEmpty(orm: MikroORM, session: PoolClient, schemas: readonly string[]): Promise<boolean> {
  // Their types and routines may be there without any table.
  const needsMore = orm.config.getRoutines().length > 0 || [...orm.getMetadata()].some(hasNativeEnum)
  if (needsMore) return false
  // MikroORM looks in its own default, whatever the server's is.
  const looked = [...schemas, ownSchema(orm)]
  const found = await ask(
    session,
    'select from pg_class where relnamespace = any(select to_regnamespace(quote_ident(s)) ' +
      'from unnest($1::text[] || current_schemas(false)::text[]) as s) limit 1',
    [looked],
  )
  return found.length === 0
}

const hasNativeEnum = ({ props }: EntityMetadata): boolean => props.some(({ nativeEnumName }) => nativeEnumName !== undefined)

const ownSchema = (orm: MikroORM): string => givenSchema(orm) ?? standardSchema(orm)

const emptySchema = (orm: MikroORM): DatabaseSchema => new DatabaseSchema(orm.em.getPlatform() as AbstractSqlPlatform, ownSchema(orm))

/** A column that must not be empty cannot be added to a table with rows (23502). */
function findWay(error: unknown, orm: MikroORM): string {
  const { code, table, column } = error as { readonly code?: string; readonly table?: string; readonly column?: string }
  if (code !== '23502' || table === undefined || column === undefined) return ''
  return `: say what rows get, schema: 'evolve' (--evolve) with fill: ${exampleFill(orm, table, column)}`
}

/**
 * Views of the database that entities have for their tables, with and without their schema, as MikroORM writes them, and the columns that
 * these lack.
 */
export interface Views {
  readonly tables: readonly string[]
  readonly lacking: readonly (readonly [view: string, column: string])[]
}

const NO_VIEWS: Views = { tables: [], lacking: [] }

/** Finds views that stand in the place of tables. Skips entities declared as views, which need not have all columns. */
export async function findViews(orm: MikroORM, session: PoolClient): Promise<Views> {
  const own = ownSchema(orm)
  const wanted = [...orm.getMetadata()].flatMap(meta => {
    if (meta.abstract || meta.embeddable || meta.virtual || meta.view) return []
    const place = tableName(qualifyTable(meta.tableName, meta.schema ?? givenSchema(orm)))
    const table = (meta.schema ?? own) === own ? name(meta.tableName) : place
    const stored = meta.props.filter(prop => prop.persist !== false && prop.formula === undefined && prop.kind !== 'embedded')
    return {
      place,
      table,
      columns: stored.filter(prop => prop.kind !== '1:m' && prop.kind !== 'm:n').flatMap(prop => prop.fieldNames ?? []),
    }
  })
  const found = await ask(
    session,
    'select i, (select json_agg(attname) from pg_attribute where attrelid = c.oid and attnum > 0) ' +
      "from unnest($1::text[]) with ordinality as u(t, i) join pg_class as c on c.oid = to_regclass(t) and c.relkind in ('v', 'm')",
    [wanted.map(({ place }) => place)],
  )
  const views = found.map(([place, columns]) => ({
    ...wanted[Number(place) - 1]!,
    found: new Set(JSON.parse(columns as string) as string[]),
  }))
  return {
    tables: views.flatMap(({ place, table }) => [place, table]),
    lacking: views.flatMap(view =>
      [...new Set(view.columns)].filter(column => !view.found.has(column)).map(column => [view.table, name(column)] as const),
    ),
  }
}

/** Whether a statement makes or changes a table that is a view here, or links to one, which no constraint can. */
export function isOfView(statement: string, views: readonly string[]): boolean {
  return views.some(
    view =>
      ['create table', 'alter table'].some(start => statement.startsWith(`${start} ${view} `)) ||
      new RegExp(
        `^(?:create (?:unique )?index \\S+ on|comment on (?:table|column)|alter table .* references) ${escapeRegExp(view)}[ .]`,
        'i',
      ).test(statement),
  )
}

/** Waits until no other engine adds to the database, and keeps others from it for the rest of the transaction. */
export async function lockSchema(session: PoolClient): Promise<void> {
  await ask(session, 'select pg_advisory_xact_lock($1)', [LOCK])
}

/** Creates a schema that is missing. `if not exists` alone takes the right to create one. */
export async function createSchema(session: PoolClient, schema: string): Promise<void> {
  const found = await ask(session, 'select from pg_namespace where nspname = $1', [schema])
  if (found.length === 0) await command(session, `create schema ${name(schema)}`)
}

/**
 * Whether the schema could not be read since others have dropped tables or schemas meanwhile: MikroORM reads all of the database, and asks
 * for each by its name.
 */
export function isMoving(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return error instanceof SchemaError && ['3F000', '42P01', 'XX000'].includes(String(cause?.code))
}

/** What stands against a change of the schema, with the error of the server. */
export class SchemaError extends Error {}

/** Returns the statements that make all in an empty database. */
async function createAll(orm: MikroORM): Promise<readonly string[]> {
  const text = await withDeferredReferences(orm, () =>
    (orm.schema as SqlSchemaGenerator).getUpdateSchemaSQL({ wrap: false, safe: true, dropTables: false, fromSchema: emptySchema(orm) }),
  )
  return splitStatements(text)
}

/** Returns the statements that only add, and those of the other differences, which are not run. */
async function listAdditions(database: ComparedDatabase): Promise<{ readonly added: readonly string[]; readonly left: readonly string[] }> {
  const difference = await compare(database)
  if (isNothing(difference)) return { added: [], left: [] }
  const added = (await listStatements(additionsOf(difference), database)).filter(onlyAdds)
  const all = await listStatements(difference, database)
  // Of a constraint that is another one, only the end of the old is named.
  return { added, left: all.filter(statement => !added.includes(statement) && !onlyAdds(statement)) }
}

function onlyAdds(statement: string): boolean {
  if (ADDS.test(statement)) return true
  const changes = ALTERS.exec(statement)?.[1]
  return changes !== undefined && /^add\b/i.test(changes) && !/,\s*(?:drop|alter|rename)\b/i.test(changes)
}

/** @throws Error in one line for tables that are missing. */
export async function checkTables(orm: MikroORM, session: PoolClient): Promise<void> {
  const missing = await listMissingTables(orm, session)
  if (missing.length > 0)
    throw new Error(`The database lacks the tables ${missing.join(', ')}, which cannot be created in one that is opened for reading only.`)
  const { lacking } = await findViews(orm, session)
  if (lacking.length === 0) return
  throw new Error(
    `The database lacks what the entities need: ${lacking.map(([view, column]) => `the view ${view} has no column ${column}`).join('; ')}.`,
  )
}

/**
 * Notes the tables that a database lacks which is kept as it is, or as migrations made it: requests for them fail until somebody makes
 * them.
 */
export async function noteMissing(orm: MikroORM, session: PoolClient, schema: string, notes: Notes): Promise<void> {
  const missing = await listMissingTables(orm, session)
  if (missing.length > 0)
    notes.add(
      `The database lacks what the entities need, and "schema" is "${schema}", so that it is not made: ${missing.join(', ')}. ` +
        `Requests for it fail until it is there.${schema === 'keep' ? WAYS : ''}`,
    )
}

/** Lists the tables and views of entities that are not there, in quotes. */
async function listMissingTables(orm: MikroORM, session: PoolClient): Promise<string[]> {
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
  return missing.map(([place]) => `"${showTable(tables[Number(place) - 1]!)}"`).toSorted()
}
