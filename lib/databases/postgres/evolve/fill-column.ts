/** Gives old rows the values of `fill` in a column, without triggers. */
import type { PoolClient } from 'pg'
import type { Column, DatabaseTable } from '@mikro-orm/postgresql'
import { computeValues } from '../../evolve/compute-fill.ts'
import { show, sayFilled, type Plan } from '../../evolve/plan.ts'
import type { Filling } from '../../evolve/read-fill.ts'
import { keyOfTable, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { readOldRows, textOf } from './old-rows.ts'

interface FillContext {
  readonly session: PoolClient
  readonly plan: Plan
  readonly request: EvolveRequest
}

interface Filled {
  readonly table: DatabaseTable
  /** The table before any change. */
  readonly old: DatabaseTable
  readonly column: Column
  readonly value: Filling
}

export async function addFilled(filled: Filled, context: FillContext): Promise<void> {
  const { table, column, value } = filled
  const { session, plan } = context
  if (value.each !== undefined) return addComputed(filled, context)
  const quoted = table.getQuotedName()
  const add = `alter table ${quoted} add column ${name(column.name)} ${column.type}`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
  // A default fills the rows without an update.
  const drop = `alter table ${quoted} alter column ${name(column.name)} drop default`
  await command(session, `${add} default ${session.escapeLiteral(textOf(value.stored))}`)
  await command(session, drop)
  plan.add(`${table.name}.${column.name}: the column is added; ${sayFilled(Number(count), value)}`, [`${add} default ?`, drop])
}

export async function fillEmpty(filled: Filled, context: FillContext): Promise<void> {
  const { table, column, value } = filled
  const { session, plan } = context
  const from = `${table.getQuotedName()} where ${name(column.name)} is null`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${from}`)
  if (Number(count) === 0) return
  if (value.each !== undefined) {
    await updateComputed(filled, ` where ${name(column.name)} is null`, context)
    plan.add(`${table.name}.${column.name}: ${sayFilled(Number(count), value)}`, [])
    return
  }
  const sql =
    `update ${table.getQuotedName()} set ${name(column.name)} = ` +
    `${session.escapeLiteral(textOf(value.stored))} where ${name(column.name)} is null`
  await command(session, 'savepoint mikro_fill')
  try {
    await withoutTriggers(table, session, () => command(session, sql))
  } catch (error) {
    if ((error as { readonly code?: string }).code !== '23505') throw error
    await command(session, 'rollback to savepoint mikro_fill')
    plan.faults.push(`rows of "${table.name}" would have the same ${column.name}, which must be unique: ${show(value.json)}`)
    return
  }
  await command(session, 'release savepoint mikro_fill')
  plan.add(`${table.name}.${column.name}: ${sayFilled(Number(count), value)}`, [
    `update ${table.getQuotedName()} set ${name(column.name)} = ? where ${name(column.name)} is null`,
  ])
}

const MODES: Readonly<Record<string, string>> = { O: 'enable', R: 'enable replica', A: 'enable always' }

/** Triggers would take the filling for changes by the application. */
async function withoutTriggers(table: DatabaseTable, session: PoolClient, run: () => Promise<unknown>): Promise<void> {
  const quoted = table.getQuotedName()
  const triggers = await ask(
    session,
    "select tgname, tgenabled from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal and tgenabled <> 'D'",
    [quoted],
  )
  for (const [trigger] of triggers) await command(session, `alter table ${quoted} disable trigger ${name(String(trigger))}`)
  await run()
  for (const [trigger, mode] of triggers)
    await command(session, `alter table ${quoted} ${MODES[String(mode)]!} trigger ${name(String(trigger))}`)
}

async function addComputed(filled: Filled, context: FillContext): Promise<void> {
  const { table, column, value } = filled
  const { session, plan } = context
  const add = `alter table ${table.getQuotedName()} add column ${name(column.name)} ${column.type}`
  await command(session, add)
  const count = await updateComputed(filled, '', context)
  plan.add(`${table.name}.${column.name}: the column is added; ${sayFilled(count, value)}`, [add])
}

const BATCH = 1000

/** @returns the number of rows asked about */
async function updateComputed(
  { table, old: before, column, value }: Filled,
  where: string,
  { session, plan, request }: FillContext,
): Promise<number> {
  const quoted = table.getQuotedName()
  const key = keyOfTable(request, table)
  const keys = table.getPrimaryKey()?.columnNames ?? []
  const old = await readOldRows({ table: table.name, quoted, keys, where, before, modelled: request.columns.get(key) }, session)
  const values = [...computeValues(value, old, request.columns.get(key), plan)].filter(([, stored]) => stored !== null)
  if (plan.faults.length > 0) return old.rows.length
  const sql =
    `update ${quoted} as t set ${name(column.name)} = v.value::${column.type} ` +
    'from unnest($1::text[], $2::text[]) as v(place, value) where t.ctid = v.place::tid'
  await withoutTriggers(table, session, async () => {
    for (let at = 0; at < values.length; at += BATCH) {
      const batch = values.slice(at, at + BATCH)
      await session.query(sql, [batch.map(([place]) => place), batch.map(([, stored]) => textOf(stored))])
    }
  })
  return old.rows.length
}
