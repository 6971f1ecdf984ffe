/**
 * Opens the tables of tokens, ended tokens and failed log-ins, shared by all processes; makes missing tables unless read-only. PGlite, of
 * one process, has none. Where the engine keeps a change log, a trigger notes removed users.
 */
import type { EntityName, MikroORM } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import { literal, name } from '../sql/sql.ts'
import { findLogged, type ChangeLog, checkOwner, ENDED_TABLE, LOGINS_TABLE, TOKENS_TABLE } from './kit/change-log.ts'
import { lockSchema } from './schema/add-schema.ts'
import { ask, command } from './server/sessions.ts'

const TRIGGER = 'mikro_removed'

/** Names with schema, quoted. */
export interface LogInTables {
  readonly tokens: string
  readonly ended: string
  readonly logins: string
}

function tablesOf(schema: string): LogInTables {
  const within = (table: string): string => `${name(schema)}.${name(table)}`
  return { tokens: within(TOKENS_TABLE), ended: within(ENDED_TABLE), logins: within(LOGINS_TABLE) }
}

/** `mark`: see token-marks.ts; `pending`: attempts without an outcome. */
function listDefinitions({ tokens, ended, logins }: LogInTables): readonly string[] {
  return [
    `create table ${tokens} (id text primary key, mark text not null, expires bigint not null)`,
    `create table ${ended} (id text primary key, at bigint not null)`,
    `create table ${logins} (name text primary key, failed bigint[] not null, pending bigint[] not null)`,
  ]
}

/**
 * Makes missing tables in the open transaction.
 *
 * @returns `undefined` where tables are missing in a read-only database
 * @throws Error in one line where the role may not make or use the tables
 */
export async function openLogInTables(session: PoolClient, schema: string, readOnly: boolean): Promise<LogInTables | undefined> {
  const tables = tablesOf(schema)
  const names = Object.values(tables) as string[]
  const findMissing = () =>
    ask(session, 'select i from unnest($1::text[]) with ordinality as u(t, i) where to_regclass(t) is null', [names])
  let missing = await findMissing()
  if (missing.length > 0) {
    if (readOnly) return undefined
    await lockSchema(session)
    missing = await findMissing()
    const definitions = missing.map(([place]) => listDefinitions(tables)[Number(place) - 1]!)
    for (const definition of definitions) await make(session, definition, definitions)
  }
  const rights = readOnly ? ['select'] : ['select', 'insert', 'update', 'delete']
  const [[lacking] = []] = await ask(
    session,
    'select t from unnest($1::text[]) as t, unnest($2::text[]) as r where not has_table_privilege(t, r) limit 1',
    [names, rights],
  )
  if (lacking === undefined) return tables
  throw new Error(
    `RestEngine.create: "auth" needs the rights to ${rights.join(', ')} on the table ${lacking as string}, which the user lacks.`,
  )
}

async function make(session: PoolClient, definition: string, all: readonly string[]): Promise<void> {
  try {
    await command(session, definition)
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    if (code !== '42501' && code !== '25006') throw error
    throw new Error(
      'RestEngine.create: "auth" keeps ended tokens and failed log-ins in tables of its own, which the user may not ' +
        `create (${message}): let another one run "${all.join('; ')}", and grant select, insert, update and delete on them.`,
      { cause: error },
    )
  }
}

export async function watchUsers(
  session: PoolClient,
  { ended }: LogInTables,
  { log, orm, users, schema }: { readonly log: ChangeLog; readonly orm: MikroORM; readonly users: EntityName; readonly schema: string },
): Promise<void> {
  const meta = orm.getMetadata().get(users)
  const table = findLogged(log, meta.schema === undefined ? meta.tableName : `${meta.schema}.${meta.tableName}`)
  if (table === undefined) return
  const [[isThere] = []] = await ask(session, 'select exists (select from pg_trigger where tgrelid = $1 and tgname = $2)', [
    table.oid,
    TRIGGER,
  ])
  if (isThere === 't') return
  await checkOwner(session, [table.quoted])
  const columns = meta.getPrimaryProps().flatMap(({ fieldNames }) => fieldNames)
  const called = `${name(schema)}.${name(TRIGGER)}`
  await command(
    session,
    `create or replace function ${called}() returns trigger language plpgsql
       security definer set search_path = pg_catalog, pg_temp as $body$
     begin
       insert into ${ended} (id, at)
         select 'user ' || string_agg(to_jsonb(old) ->> c, chr(31) order by n), (extract(epoch from clock_timestamp()) * 1000000)::bigint
         from unnest(TG_ARGV) with ordinality as a(c, n)
         on conflict (id) do update set at = excluded.at;
       return null;
     end $body$;
     create trigger ${TRIGGER} after delete on ${table.quoted} for each row execute function ${called}(${columns.map(literal).join(', ')})`,
  )
}

/** The ID by which the trigger notes a removed user, among ended tokens. */
export function removalOf(key: readonly string[]): string {
  return `user ${key.join('\u001F')}`
}
