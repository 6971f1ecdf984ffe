/** Fill column: gives rows a column's value, without triggers. */
import type { PoolClient } from 'pg'
import type { Column, DatabaseTable } from '@mikro-orm/postgresql'
import { show, sayFilled, type Plan } from '../../evolve/plan.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'

interface Filled {
  readonly table: DatabaseTable
  readonly column: Column
  readonly value: { readonly json: unknown; readonly stored: unknown }
}

/** As the column reads a text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Existing rows get the value. */
export async function addFilled({ table, column, value }: Filled, session: PoolClient, plan: Plan): Promise<void> {
  const quoted = table.getQuotedName()
  const add = `alter table ${quoted} add column ${name(column.name)} ${column.type}`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
  // A default fills the rows without an update.
  const drop = `alter table ${quoted} alter column ${name(column.name)} drop default`
  await command(session, `${add} default ${session.escapeLiteral(textOf(value.stored))}`)
  await command(session, drop)
  plan.add(`${table.name}.${column.name}: the column is added; ${sayFilled(Number(count), value.json)}`, [`${add} default ?`, drop])
}

export async function fillEmpty({ table, column, value }: Filled, session: PoolClient, plan: Plan): Promise<void> {
  const from = `${table.getQuotedName()} where ${name(column.name)} is null`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${from}`)
  if (Number(count) === 0) return
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
  plan.add(`${table.name}.${column.name}: ${sayFilled(Number(count), value.json)}`, [
    `update ${table.getQuotedName()} set ${name(column.name)} = ? where ${name(column.name)} is null`,
  ])
}

const MODES: Readonly<Record<string, string>> = { O: 'enable', R: 'enable replica', A: 'enable always' }

/** A trigger would see a change of the application. */
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
