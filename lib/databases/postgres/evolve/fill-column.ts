/** Fill column: gives rows of a server values of a column, without setting off a trigger of the table. */
import type { PoolClient } from 'pg'
import type { Column, DatabaseTable } from '@mikro-orm/postgresql'
import { makeValue } from '../../evolve/made-values.ts'
import { show, sayFilled, sayMade, type Plan } from '../../evolve/plan.ts'
import type { EvolvedColumn } from '../../evolve/request.ts'
import type { Evolving } from '../../../records/database/evolving.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'

interface Filling {
  readonly session: PoolClient
  readonly plan: Plan
  readonly make: Evolving['make']
}

interface Filled {
  readonly table: DatabaseTable
  readonly column: Column
  readonly evolved: EvolvedColumn | undefined
  readonly value: { readonly json: unknown; readonly stored: unknown } | undefined
  readonly isUnique: boolean
}

/** Returns a value as the text that a column reads. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Adds a column, which may be empty so far, with values for the rows that are there. */
export async function addFilled(filled: Filled, filling: Filling): Promise<void> {
  const { table, column, value } = filled
  const { session, plan } = filling
  const [quoted, place] = [table.getQuotedName(), `${table.name}.${column.name}`]
  const add = `alter table ${quoted} add column ${name(column.name)} ${column.type}`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
  if (value !== undefined) {
    // A default fills the rows without an update.
    const drop = `alter table ${quoted} alter column ${name(column.name)} drop default`
    await command(session, `${add} default ${session.escapeLiteral(textOf(value.stored))}`)
    await command(session, drop)
    plan.add(`${place}: the column is added; ${sayFilled(Number(count), value.json)}`, [`${add} default ?`, drop])
    return
  }
  await command(session, add)
  const first = await fillMade(filled, filling)
  if (first === undefined) return
  plan.add(`${place}: the column is added; ${sayMade(Number(count), first)}`, [add])
}

/** @returns the first value; undefined where no more could be made up, which is a fault */
async function fillMade({ table, column, evolved, isUnique }: Filled, { session, plan, make }: Filling): Promise<unknown> {
  const quoted = table.getQuotedName()
  const key = table.getPrimaryKey()?.columnNames.map(name).join(', ') ?? 'ctid'
  const places = (await ask(session, `select ctid::text from ${quoted} order by ${key}`)).map(([place]) => place as string)
  const taken = new Set<unknown>()
  const values: string[] = []
  let first: unknown
  for (const row of places.keys()) {
    const made = makeValue(evolved, make, row, isUnique ? taken : undefined)
    if (made === undefined) {
      plan.faults.push(`no more values can be made up for "${column.name}": fill says what rows get`)
      return undefined
    }
    first ??= made.json
    taken.add(made.stored)
    values.push(textOf(made.stored))
  }
  await withoutTriggers(table, session, async () => {
    await ask(
      session,
      `update ${quoted} as t set ${name(column.name)} = v.value::${column.type} from (select unnest($1::text[]) ` +
        'as place, unnest($2::text[]) as value) as v where t.ctid = v.place::tid',
      [places, values],
    )
  })
  return first
}

/** Gives the rows without a value one. */
export async function fillEmpty({ table, column, value }: Filled, { session, plan }: Filling): Promise<void> {
  const from = `${table.getQuotedName()} where ${name(column.name)} is null`
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${from}`)
  if (Number(count) === 0) return
  const sql =
    `update ${table.getQuotedName()} set ${name(column.name)} = ` +
    `${session.escapeLiteral(textOf(value!.stored))} where ${name(column.name)} is null`
  await command(session, 'savepoint mikro_fill')
  try {
    await withoutTriggers(table, session, () => command(session, sql))
  } catch (error) {
    if ((error as { readonly code?: string }).code !== '23505') throw error
    await command(session, 'rollback to savepoint mikro_fill')
    plan.faults.push(`rows of "${table.name}" would have the same ${column.name}, which must be unique: ${show(value!.json)}`)
    return
  }
  await command(session, 'release savepoint mikro_fill')
  plan.add(`${table.name}.${column.name}: ${sayFilled(Number(count), value!.json)}`, [
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
