/** Fill column: gives rows of a server values of a column, without setting off a trigger of the table. */
import type { PoolClient } from 'pg'
import type { Column, DatabaseTable } from '@mikro-orm/postgresql'
import { show, sayFilled, type Plan } from '../../evolve/plan.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'

/** A column with the value that rows get. */
interface Filled {
  readonly table: DatabaseTable
  readonly column: Column
  readonly value: { readonly json: unknown; readonly stored: unknown }
}

/** Returns a value as the text that a column reads. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Adds a column, which may be empty so far, with the value for the rows that are there. */
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

/** Gives the rows without a value one. */
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

/** A trigger would take the values for a change of the application's. */
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
