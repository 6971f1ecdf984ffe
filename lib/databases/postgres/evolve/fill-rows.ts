/** Adds the rows of new tables that functions of `fill` make of other rows. */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SchemaDifference } from '@mikro-orm/postgresql'
import { qualifyTable } from '../../../model/table-name.ts'
import { computeRows, leaveEmpty, type FilledRows } from '../../evolve/compute-fill.ts'
import { listTableNames } from '../../evolve/drop-request.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import type { RowsFrom } from '../../evolve/read-fill.ts'
import type { EvolveRequest } from '../../evolve/request.ts'
import { literal, name, tableName } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { raiseSequence } from '../sql/write-rows.ts'
import { listLoneTables } from './drop-tables.ts'
import { readOldRows, textOf } from './old-rows.ts'

interface AddedTo {
  readonly orm: MikroORM
  readonly session: PoolClient
  readonly request: EvolveRequest
  readonly plan: Plan
  readonly schemas: readonly string[]
}

/** Reads and computes before any table changes. Only new tables get rows. */
export async function prepareRows(difference: SchemaDifference, filling: AddedTo): Promise<FilledRows[]> {
  const { session, request, plan } = filling
  const prepared: FilledRows[] = []
  for (const from of request.from) {
    const target = quote(from.table)
    if (await isThere(target, session)) {
      if ((await ask(session, `select 1 from ${target} limit 1`)).length === 0) leaveEmpty(from, plan)
      continue
    }
    const source = await findSource(from, difference, filling)
    if (source === undefined) {
      plan.faults.push(`"${from.asked}" takes rows of "${from.from}", and the database has no such table`)
      continue
    }
    const modelled = source.key === undefined ? undefined : request.columns.get(source.key)
    const old = await readOldRows({ ...source, keys: await listKey(source.quoted, session), modelled }, session)
    prepared.push(computeRows(from, old, modelled, request.columns.get(from.table)!, plan))
  }
  return prepared
}

function quote(key: string): string {
  return tableName(qualifyTable(key.split('.').at(-1)!, key.includes('.') ? key.split('.')[0] : undefined))
}

async function isThere(quoted: string, session: PoolClient): Promise<boolean> {
  return (await ask(session, 'select 1 where to_regclass($1) is not null', [quoted])).length > 0
}

async function listKey(quoted: string, session: PoolClient): Promise<string[]> {
  const found = await ask(
    session,
    `select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
       where i.indrelid = to_regclass($1) and i.indisprimary order by array_position(i.indkey, a.attnum)`,
    [quoted],
  )
  return found.map(([column]) => String(column))
}

interface FoundSource {
  readonly table: string
  readonly quoted: string
  /** The table in the request; `undefined` without an entity. */
  readonly key: string | undefined
}

async function findSource({ from }: RowsFrom, difference: SchemaDifference, filling: AddedTo): Promise<FoundSource | undefined> {
  const { session, request } = filling
  const key = [...request.columns.keys()].find(each => request.namesOf(each).includes(from))
  if (key !== undefined) return (await isThere(quote(key), session)) ? { table: key, quoted: quote(key), key } : undefined
  const lone = (await listLoneTables(difference, filling)).find(({ table }) => listTableNames(table).includes(from))
  return lone === undefined ? undefined : { table: lone.table, quoted: lone.quoted, key }
}

export async function addRows({ asked, table, source, rows }: FilledRows, { session, plan, request }: AddedTo): Promise<void> {
  if (rows.length === 0) return
  const quoted = quote(table)
  for (const { shown, values } of rows) {
    const columns = [...values.keys()].map(name)
    const sql =
      columns.length === 0
        ? `insert into ${quoted} default values`
        : `insert into ${quoted} (${columns.join(', ')}) values (${columns.map((_, at) => `$${at + 1}`).join(', ')})`
    try {
      await session.query(
        sql,
        [...values.values()].map(value => (value === null ? null : textOf(value))),
      )
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string }
      if (!code?.startsWith('23') && !code?.startsWith('22')) throw error
      plan.faults.push(`what "${asked}" makes of ${shown} of "${source}" does not fit: ${message}`)
      return
    }
  }
  for (const { column, prop } of request.columns.get(table)?.values() ?? [])
    if (prop.primary === true && prop.autoincrement === true)
      await command(session, raiseSequence(`select max(${name(column)}) as k from ${quoted}`, [literal(quoted), literal(column)]))
  plan.add(`${table}: ${countRows(rows.length)} ${rows.length === 1 ? 'is' : 'are'} made of the rows of "${source}".`, [])
}
