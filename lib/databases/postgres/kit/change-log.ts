/**
 * A table of changed rows, filled by triggers, also for changes by other programs. A snapshot is a position: `reset` undoes later changes.
 * Only a schema that an engine found empty gets the table and triggers.
 */
import type { MikroORM } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import { splitTable } from '../../../model/table-name.ts'
import { literal, name } from '../../sql/sql.ts'
import { givenSchema, standardSchema } from '../orm/places.ts'
import { ask, command } from '../server/sessions.ts'

/** Changed rows. */
const LOG_TABLE = 'mikro_changes'

/** Marks of tokens by `engine.token`. */
export const TOKENS_TABLE = 'mikro_tokens'

/** Logged-out tokens, removed users. */
export const ENDED_TABLE = 'mikro_ended'

/** Log-ins that have failed or are being checked. */
export const LOGINS_TABLE = 'mikro_logins'

/** Undone with the rest of the data. */
const UNDONE_TABLES = [ENDED_TABLE, LOGINS_TABLE]

export const OWN_TABLES = [LOG_TABLE, TOKENS_TABLE, ENDED_TABLE, LOGINS_TABLE]

const TRIGGER = 'mikro_changed'

export const SILENT = "select set_config('mikro_rest.log', 'off', true)"

export const LOGGED = "select set_config('mikro_rest.log', 'on', true)"

/** About so many entries are kept, as far as `reset` can go back. */
const MOST_ENTRIES = 500_000

export interface LoggedTable {
  readonly oid: number
  readonly schema: string
  readonly table: string
  readonly quoted: string
  /** Writable columns. */
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

export interface ChangeLog {
  /** With its schema, quoted. */
  readonly quoted: string
  readonly tables: readonly LoggedTable[]
  readonly schemas: readonly string[]
  /** Why undoing is impossible. */
  readonly hindrance: string | undefined
}

export function findLogged({ tables, schemas }: ChangeLog, table: string): LoggedTable | undefined {
  const [first, second] = splitTable(table)
  const [schema, own] = second === undefined ? [schemas[0], first] : [first, second]
  return tables.find(each => each.table === own && each.schema === schema)
}

/** Ignores objects of extensions. */
export async function isVacant(session: PoolClient, schemas: readonly string[]): Promise<boolean> {
  const found = await ask(
    session,
    `select from pg_class c where relnamespace = any(select to_regnamespace(quote_ident(s)) from unnest($1::text[]) as s)
      and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e') limit 1`,
    [schemas],
  )
  return found.length === 0
}

/** The first schema holds the log. */
export async function listSchemas(session: PoolClient, orm: MikroORM): Promise<string[]> {
  const [[current] = []] = await ask(session, 'select current_schema()')
  // Null if all schemas of the search path are missing.
  const first = givenSchema(orm) ?? (current as string | null) ?? standardSchema(orm)
  const others = [...orm.getMetadata()].flatMap(({ schema }) => (schema === undefined || schema === '*' ? [] : [schema]))
  return [...new Set([first, ...others])]
}

/** @param survives a failure of the server; a copy of PGlite begins as after a failure */
export async function createLog(session: PoolClient, schema: string, survives: boolean): Promise<void> {
  const log = `${name(schema)}.${name(LOG_TABLE)}`
  await command(
    session,
    `create ${survives ? '' : 'unlogged '}table ${log} (
       n bigint generated always as identity primary key, tx xid8 not null, tbl oid not null, op "char" not null, old text, new text);
     comment on table ${log} is 'Changed rows, for the test kit of mikro-rest. The engine has made this schema.';
     create function ${name(schema)}.${name(TRIGGER)}() returns trigger language plpgsql
       security definer set search_path = pg_catalog, pg_temp as $body$
     begin
       if TG_LEVEL = 'STATEMENT' then
         execute format('insert into %s (tx, tbl, op, old) select pg_current_xact_id(), %s, ''D'', x::text from %s x',
           ${literal(log)}, TG_RELID, TG_RELID::regclass);
       else
         insert into ${log} (tx, tbl, op, old, new) values (pg_current_xact_id(), TG_RELID, left(TG_OP, 1)::"char",
           case when TG_OP <> 'INSERT' then old::text end, case when TG_OP <> 'DELETE' then new::text end);
       end if;
       return null;
     end $body$`,
  )
}

async function addTriggers(session: PoolClient, orm: MikroORM, [first]: readonly string[]): Promise<void> {
  const tables = new Set<string>()
  for (const own of UNDONE_TABLES) tables.add(JSON.stringify([first, own]))
  for (const meta of orm.getMetadata())
    if (!meta.abstract && !meta.embeddable && !meta.virtual) tables.add(JSON.stringify([meta.schema ?? first, meta.tableName]))
  const lacking = await ask(
    session,
    `select n.nspname, c.relname from unnest($1::text[]) as t join pg_namespace n on n.nspname = t::json ->> 0
       join pg_class c on c.relnamespace = n.oid and c.relname = t::json ->> 1 and c.relkind in ('r', 'p')
     where not exists (select from pg_trigger g where g.tgrelid = c.oid and g.tgname = $2)`,
    [[...tables], TRIGGER],
  )
  await checkOwner(
    session,
    lacking.map(([schema, table]) => `${name(schema as string)}.${name(table as string)}`),
  )
  const called = `execute function ${name(first!)}.${name(TRIGGER)}()`
  const statements = lacking.map(([schema, table]) => {
    const on = `${name(schema as string)}.${name(table as string)}`
    return `create trigger ${TRIGGER} after insert or update or delete on ${on} for each row
        when (current_setting('mikro_rest.log', true) is distinct from 'off') ${called};
      create trigger ${TRIGGER}_all before truncate on ${on} for each statement ${called};
      alter table ${on} enable always trigger ${TRIGGER}`
  })
  if (statements.length > 0) await command(session, statements.join(';\n'))
}

export async function hasLog(session: PoolClient, schema: string): Promise<boolean> {
  const [[found] = []] = await ask(session, `select to_regclass($1) is not null`, [`${name(schema)}.${name(LOG_TABLE)}`])
  return found === 't'
}

/** @param readOnly nothing may be created, as on a read-only server */
export async function openLog(session: PoolClient, orm: MikroORM, schemas: readonly string[], readOnly: boolean): Promise<ChangeLog> {
  const quoted = `${name(schemas[0]!)}.${name(LOG_TABLE)}`
  const [[refusesWrites] = []] = await ask(session, 'show transaction_read_only')
  const isKept = !readOnly && refusesWrites === 'off'
  if (isKept) {
    await checkLogRights(session, quoted)
    await addTriggers(session, orm, schemas)
    // Marks the beginning. After a failure of the server, the unlogged table is empty.
    await command(
      session,
      `insert into ${quoted} (n, tx, tbl, op, old) overriding system value values (0, pg_current_xact_id(), 0, 'W', '0') ` +
        'on conflict do nothing',
    )
  }
  const rows = await ask(
    session,
    `select c.oid, n.nspname, c.relname,
       (select json_agg(a.attname order by a.attnum) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''),
       (select json_agg(a.attname order by a.attnum) from pg_index x join pg_attribute a on a.attrelid = c.oid and a.attnum = any(x.indkey)
         where x.indrelid = c.oid and x.indisprimary)
     from pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where g.tgname = $1 and g.tgfoid = to_regproc($2) order by c.oid`,
    [TRIGGER, `${name(schemas[0]!)}.${name(TRIGGER)}`],
  )
  const tables = rows.map(([oid, schema, table, columns, key]): LoggedTable => ({
    oid: Number(oid),
    schema: schema as string,
    table: table as string,
    quoted: `${name(schema as string)}.${name(table as string)}`,
    columns: JSON.parse(columns as string) as string[],
    key: JSON.parse((key as string | null) ?? '[]') as string[],
  }))
  return {
    quoted,
    tables,
    schemas,
    hindrance:
      !readOnly && !isKept
        ? 'the server takes no writes'
        : ((await describeLacking(session, quoted, ['select'])) ?? (await findHindrance(session, tables))),
  }
}

/** Undoing in any order needs a session without checks of references: a right of some users. */
async function findHindrance(session: PoolClient, tables: readonly LoggedTable[]): Promise<string | undefined> {
  const keyless = tables.find(({ key }) => key.length === 0)
  if (keyless !== undefined) return `the table ${keyless.quoted} has no primary key`
  const [[may] = []] = await ask(session, "select has_parameter_privilege('session_replication_role', 'set')")
  return may === 't'
    ? undefined
    : 'the user may not undo changes: that takes a superuser, or "grant set on parameter session_replication_role to" the user'
}

export async function readEnd(session: PoolClient, { quoted }: ChangeLog): Promise<number> {
  const [[end] = []] = await ask(session, `select max(n) from ${quoted}`)
  return Number(end ?? 0)
}

export async function trimLog(session: PoolClient, { quoted }: ChangeLog): Promise<void> {
  await ask(
    session,
    `with gone as (delete from ${quoted} where n > 0 and n < (select max(n) from ${quoted}) - ${MOST_ENTRIES} returning n)
     update ${quoted} set old = (select max(n) from gone)::text where n = 0 and exists (select from gone)`,
  )
}

/** ANALYZE: the server plans anew. Without effect if the role does not own the log. */
export async function measureLog(session: PoolClient, { quoted }: ChangeLog): Promise<void> {
  await command(session, `analyze ${quoted}`)
}

/** @throws Error in one line if some entries after the position have been forgotten */
export async function findBehind(session: PoolClient, { quoted }: ChangeLog, position: number, what: string): Promise<boolean> {
  const [[forgotten, isBehind] = []] = await ask(
    session,
    `select (select old from ${quoted} where n = 0), exists (select from ${quoted} where n > $1)`,
    [position],
  )
  if (forgotten !== null && Number(forgotten) <= position) return isBehind === 't'
  throw new Error(
    `engine.${what}: the changes since then are not kept any more: ` +
      (forgotten === null ? 'the server has failed meanwhile.' : `more than ${MOST_ENTRIES.toLocaleString('en')} rows have changed.`),
  )
}

/** To write. */
const RIGHTS = ['select', 'insert', 'update', 'delete']

/** @param table with its schema, quoted */
async function describeLacking(session: PoolClient, table: string, rights: readonly string[] = RIGHTS): Promise<string | undefined> {
  const rows = await ask(session, 'select r, current_user from unnest($2::text[]) as r where not has_table_privilege($1, r)', [
    table,
    rights,
  ])
  const [first] = rows
  if (first === undefined) return undefined
  const role = first[1] as string
  const lacking = rows.map(([right]) => right as string).join(', ')
  return `the role "${role}" lacks the rights to ${lacking} on the table ${table}: "grant ${lacking} on ${table} to ${name(role)}"`
}

/** @throws Error in one line if the role may not use the log */
async function checkLogRights(session: PoolClient, log: string): Promise<void> {
  const lacking = await describeLacking(session, log)
  if (lacking !== undefined) throw new Error(`RestEngine.create: an engine that writes uses the log of changed rows, and ${lacking}.`)
}

/**
 * @param tables without a trigger, with schemas, quoted
 * @throws Error in one line if the role does not own a table
 */
export async function checkOwner(session: PoolClient, tables: readonly string[]): Promise<void> {
  const [found] = await ask(
    session,
    `select t, pg_get_userbyid(c.relowner), current_user from unnest($1::text[]) as t join pg_class c on c.oid = t::regclass
     where not pg_has_role(c.relowner, 'usage') limit 1`,
    [tables],
  )
  if (found === undefined) return
  const [table, owner, role] = found as readonly string[]
  throw new Error(
    `RestEngine.create: the table ${table!} needs a trigger that writes down what changes. ` +
      `Its owner alone may give it one, "${owner!}", ` +
      `and the role is "${role!}": let an engine open the database as "${owner!}" once, or "grant ${name(owner!)} to ${name(role!)}".`,
  )
}
