/**
 * Undoes entries of the change log, and copies changes to another database, without checks of references and triggers of the application:
 * the resulting state existed before.
 */
import type { PoolClient } from 'pg'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { LOGGED, SILENT, type ChangeLog, type LoggedTable } from './change-log.ts'

/** Rows as PostgreSQL's texts. */
export interface TableChanges {
  readonly oid: number
  /** Rows with the keys of all changes. */
  readonly touched: readonly string[]
  /** Of these keys, at the end. */
  readonly rows: readonly string[]
}

/** `isGiven`: the value was used; else the value comes next. */
export type SequenceValues = readonly (readonly [oid: string, value: string, isGiven: boolean])[]

/** The log does not note the restored rows. */
export async function beginReplay(session: PoolClient): Promise<void> {
  await command(session, 'begin')
  await command(session, `set local session_replication_role = replica; set local statement_timeout = 0; ${SILENT}`)
}

function findTable({ tables }: ChangeLog, oid: number): LoggedTable {
  const found = tables.find(table => table.oid === oid)
  if (found === undefined) throw new Error(`The change log names a table (${oid}) that is not there any more.`)
  return found
}

/** Call after `beginReplay`. */
export async function rewind(session: PoolClient, log: ChangeLog, position: number): Promise<void> {
  const touched = await ask(session, `select distinct tbl from ${log.quoted} where n > $1`, [position])
  for (const [oid] of touched) {
    const table = findTable(log, Number(oid))
    const { quoted, columns } = table
    const rows = `select n, side, r from (
        select n, 0 as side, old::${quoted} as r from ${log.quoted} where n > $1 and tbl = ${table.oid} and old is not null
        union all select n, 1, new::${quoted} from ${log.quoted} where n > $1 and tbl = ${table.oid} and new is not null) as each offset 0`
    await ask(
      session,
      `delete from ${quoted} as x using (select distinct ${listKey(table, '(r)')} from (${rows}) as l) as k where ${isOfKey(table)}`,
      [position],
    )
    // A key's first entry has the row before: none for an insert.
    await ask(
      session,
      `insert into ${quoted} (${columns.map(name).join(', ')}) overriding system value
       select ${columns.map(column => `(r).${name(column)}`).join(', ')} from
         (select distinct on (${listKey(table, '(r)')}) side, r from (${rows}) as l order by ${listKey(table, '(r)')}, n, side) as f
       where side = 0`,
      [position],
    )
  }
  await ask(session, `delete from ${log.quoted} where n > $1`, [position])
}

export async function readChanges(session: PoolClient, log: ChangeLog, from: number, to: number): Promise<TableChanges[]> {
  const touched = await ask(session, `select distinct tbl from ${log.quoted} where n > $1 and n <= $2`, [from, to])
  const changes: TableChanges[] = []
  for (const [oid] of touched) {
    const table = findTable(log, Number(oid))
    const { quoted } = table
    const where = `n > $1 and n <= $2 and tbl = ${table.oid}`
    // A key's last entry has the row after: none for a delete.
    const last = await ask(
      session,
      `select distinct on (${listKey(table, '(r)')}) side, t from (
         select n, 0 as side, old as t, old::${quoted} as r from ${log.quoted} where ${where} and old is not null
         union all select n, 1, new, new::${quoted} from ${log.quoted} where ${where} and new is not null offset 0) as l
       order by ${listKey(table, '(r)')}, n desc, side desc`,
      [from, to],
    )
    changes.push({
      oid: table.oid,
      touched: last.map(([, row]) => row as string),
      rows: last.flatMap(([side, row]) => (side === '1' ? [row as string] : [])),
    })
  }
  return changes
}

/** The log records the changes. */
export async function writeChanges(session: PoolClient, log: ChangeLog, changes: readonly TableChanges[]): Promise<void> {
  await command(session, LOGGED)
  for (const { oid, touched, rows } of changes) {
    const table = findTable(log, oid)
    const { quoted, columns } = table
    const unpack = `select t::${quoted} as r from unnest($1::text[]) as t offset 0`
    await ask(
      session,
      `delete from ${quoted} as x using (select ${listKey(table, '(r)')} from (${unpack}) as l) as k where ${isOfKey(table)}`,
      [touched],
    )
    await ask(
      session,
      `insert into ${quoted} (${columns.map(name).join(', ')}) overriding system value
       select ${columns.map(column => `(r).${name(column)}`).join(', ')} from (${unpack}) as l`,
      [rows],
    )
  }
}

function listKey({ key }: LoggedTable, row: string): string {
  return key.map(column => `${row}.${name(column)}`).join(', ')
}

function isOfKey({ key }: LoggedTable): string {
  return key.map(column => `x.${name(column)} = k.${name(column)}`).join(' and ')
}

export async function readSequences(session: PoolClient, { schemas }: ChangeLog): Promise<SequenceValues> {
  const found = await ask(
    session,
    `select c.oid, format('%I.%I', n.nspname, c.relname) from pg_sequence s
       join pg_class c on c.oid = s.seqrelid join pg_namespace n on n.oid = c.relnamespace
     where c.relnamespace = any(select to_regnamespace(quote_ident(s)) from unnest($1::text[]) as s)
       and c.relname not like 'mikro\\_changes\\_%' and has_sequence_privilege(s.seqrelid, 'select')`,
    [schemas],
  )
  if (found.length === 0) return []
  // No function gives the next value of an unused sequence.
  const rows = await ask(
    session,
    found.map(([oid, quoted]) => `select ${String(oid)}, last_value, is_called from ${String(quoted)}`).join(' union all '),
  )
  return rows.map(([oid, value, isGiven]) => [oid as string, value as string, isGiven === 't'] as const)
}

export async function writeSequences(session: PoolClient, values: SequenceValues): Promise<void> {
  if (values.length === 0) return
  await ask(
    session,
    `select setval(s.seqrelid::regclass, v.value, v.given)
     from unnest($1::oid[], $2::bigint[], $3::boolean[]) as v(oid, value, given) join pg_sequence s on s.seqrelid = v.oid`,
    [values.map(([oid]) => oid), values.map(([, value]) => value), values.map(([, , isGiven]) => isGiven)],
  )
}
