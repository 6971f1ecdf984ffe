/**
 * Adds missing tables and columns by MikroORM's schema generator, all or nothing. Drops and alters nothing. Throws Error in one line for an
 * impossible addition.
 */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import { DatabaseSchema, type AbstractSqlPlatform, type SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { escapeRegExp } from '../../../foundation/base/escape-reg-exp.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { qualifyTable, showTable } from '../../../model/table-name.ts'
import { name, tableName } from '../../sql/sql.ts'
import { suggestFill, SCHEMA_WAYS } from '../../orm/suggest-fill.ts'
import {
  withDeferredReferences,
  additionsOf,
  compare,
  isNothing,
  listStatements,
  splitStatements,
  type ComparedDatabase,
} from './compare.ts'
import { givenSchema, standardSchema } from '../orm/places.ts'
import { isLost } from '../server/errors.ts'
import { ask, command } from '../server/sessions.ts'

const ONLY_ADDS =
  /^(?:create (?:table|index|unique index|type|schema|view|materialized view|sequence|extension|function|or replace function|trigger)\b|comment on\b|alter type \S+ add value\b)/i

const ALTERS = /^alter table (?:if exists )?(?:"(?:[^"]|"")+"\.?)+ (.+)$/is

/** MikroORM writes the statement even for an existing schema. */
export const CREATES_SCHEMA = /^create schema if not exists "((?:[^"]|"")+)"$/i

/** For one engine at a time. */
const LOCK = 7_310_241_905

/**
 * Runs in the session's open transaction.
 *
 * @param schemas of the entities
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

/** Whether the schemas have no table: then the slow reading of the catalogues is left out. */
async function findEmpty(orm: MikroORM, session: PoolClient, schemas: readonly string[]): Promise<boolean> {
  // Types and routines may exist without any table.
  const needsMore = orm.config.getRoutines().length > 0 || [...orm.getMetadata()].some(hasNativeEnum)
  if (needsMore) return false
  // MikroORM looks in a default schema, whatever the server's.
  const searchedSchemas = [...schemas, ownSchema(orm)]
  const found = await ask(
    session,
    'select from pg_class where relnamespace = any(select to_regnamespace(quote_ident(s)) ' +
      'from unnest($1::text[] || current_schemas(false)::text[]) as s) limit 1',
    [searchedSchemas],
  )
  return found.length === 0
}

const hasNativeEnum = ({ props }: EntityMetadata): boolean => props.some(({ nativeEnumName }) => nativeEnumName !== undefined)

const ownSchema = (orm: MikroORM): string => givenSchema(orm) ?? standardSchema(orm)

const emptySchema = (orm: MikroORM): DatabaseSchema => new DatabaseSchema(orm.em.getPlatform() as AbstractSqlPlatform, ownSchema(orm))

/** A mandatory column cannot be added to a table with rows (23502). */
function findWay(error: unknown, orm: MikroORM): string {
  const { code, table, column } = error as { readonly code?: string; readonly table?: string; readonly column?: string }
  if (code !== '23502' || table === undefined || column === undefined) return ''
  return `: say what rows get, schema: 'evolve' (--evolve) with fill: ${suggestFill(orm, table, column)}`
}

/** Views in the place of tables, named with and without schema, and missing columns. */
export interface Views {
  readonly tables: readonly string[]
  readonly lacking: readonly (readonly [view: string, column: string])[]
}

const NO_VIEWS: Views = { tables: [], lacking: [] }

/** Skips entities declared as views. */
export async function findViews(orm: MikroORM, session: PoolClient): Promise<Views> {
  const schema = ownSchema(orm)
  const wanted = [...orm.getMetadata()].flatMap(meta => {
    if (meta.abstract || meta.embeddable || meta.virtual || meta.view) return []
    const place = tableName(qualifyTable(meta.tableName, meta.schema ?? givenSchema(orm)))
    const table = (meta.schema ?? schema) === schema ? name(meta.tableName) : place
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

/** Keeps other engines out until the commit. */
export async function lockSchema(session: PoolClient): Promise<void> {
  await ask(session, 'select pg_advisory_xact_lock($1)', [LOCK])
}

/** Asks first: even `create schema if not exists` fails without the right to create. */
export async function createSchema(session: PoolClient, schema: string): Promise<void> {
  const found = await ask(session, 'select from pg_namespace where nspname = $1', [schema])
  if (found.length === 0) await command(session, `create schema ${name(schema)}`)
}

/** Another try may succeed: tables were dropped while MikroORM read the database, or a deadlock was ended (40P01). */
export function mayRetry(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  if (code === '40P01') return true
  return error instanceof SchemaError && ['3F000', '40P01', '42P01', 'XX000'].includes(String(cause?.code))
}

export class SchemaError extends Error {}

/** Expects an empty database. */
async function createAll(orm: MikroORM): Promise<readonly string[]> {
  const text = await withDeferredReferences(orm, () =>
    (orm.schema as SqlSchemaGenerator).getUpdateSchemaSQL({ wrap: false, safe: true, dropTables: false, fromSchema: emptySchema(orm) }),
  )
  return splitStatements(text)
}

async function listAdditions(database: ComparedDatabase): Promise<{ readonly added: readonly string[]; readonly left: readonly string[] }> {
  const difference = await compare(database)
  if (isNothing(difference)) return { added: [], left: [] }
  const added = (await listStatements(additionsOf(difference), database)).filter(onlyAdds)
  const all = await listStatements(difference, database)
  // A replaced constraint is noted once, by the drop.
  return { added, left: all.filter(statement => !added.includes(statement) && !onlyAdds(statement)) }
}

function onlyAdds(statement: string): boolean {
  if (ONLY_ADDS.test(statement)) return true
  const changes = ALTERS.exec(statement)?.[1]
  return changes !== undefined && /^add\b/i.test(changes) && !/,\s*(?:drop|alter|rename)\b/i.test(changes)
}

/** @throws Error in one line for missing tables, and for missing columns of views */
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

export async function noteMissing(orm: MikroORM, session: PoolClient, schema: string, notes: Notes): Promise<void> {
  const missing = await listMissingTables(orm, session)
  if (missing.length > 0)
    notes.add(
      `The database lacks what the entities need, and "schema" is "${schema}", so that it is not made: ${missing.join(', ')}. ` +
        `Requests for it fail until it is there.${schema === 'keep' ? SCHEMA_WAYS : ''}`,
    )
}

/** @returns quoted names */
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
