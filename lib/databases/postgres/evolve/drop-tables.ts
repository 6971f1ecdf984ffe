/**
 * Drops tables without an entity and columns without a property, in the entities' schemas. Keeps the engine's tables, and all that other
 * objects depend on.
 */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { DatabaseTable, SchemaDifference } from '@mikro-orm/postgresql'
import type { Evolving } from '../../../records/database/evolving.ts'
import { type DropRequest, listMentions } from '../../evolve/drop-request.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name } from '../../sql/sql.ts'
import { OWN_TABLES } from '../kit/change-log.ts'
import { ask, command } from '../server/sessions.ts'

interface DroppedFrom {
  readonly orm: MikroORM
  readonly evolving: Evolving
  readonly schemas: readonly string[]
  readonly session: PoolClient
  readonly plan: Plan
  readonly drops: DropRequest
}

interface CountedTable {
  readonly table: string
  readonly quoted: string
  readonly columns: readonly string[]
  readonly count: number
}

export async function listLoneTables(
  { removedTables }: SchemaDifference,
  { orm, schemas, session }: Pick<DroppedFrom, 'orm' | 'schemas' | 'session'>,
): Promise<CountedTable[]> {
  const migrations = orm.config.get('migrations').tableName?.split('.').at(-1)
  const found: CountedTable[] = []
  for (const table of Object.values(removedTables)) {
    const schema = table.schema ?? schemas[0]!
    if (OWN_TABLES.includes(table.name) || !schemas.includes(schema)) continue
    if (table.name === migrations || (await isPart(session, schema, table.name))) continue
    const quoted = `${name(schema)}.${name(table.name)}`
    const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
    found.push({ table: table.name, quoted, columns: table.getColumns().map(column => column.name), count: Number(count) })
  }
  return found
}

export async function dropTables(difference: SchemaDifference, from: DroppedFrom): Promise<void> {
  const { orm, evolving, session, plan, drops } = from
  const isMentioned = listMentions(orm, evolving)
  const taken: CountedTable[] = []
  for (const each of await listLoneTables(difference, from)) {
    const { table, count } = each
    if (isMentioned(table)) {
      drops.meet(table)
      plan.stays.push(`${table}: no entity has it as its table. It stays, since the model reads it.`)
    } else if (drops.takesTable(table, count)) taken.push(each)
    else plan.stays.push(`${table}: no entity of the model, ${countRows(count)}. The table stays as it is.`)
  }
  await dropInOrder(taken, session, plan)
}

/** Referring tables are dropped before referred tables. */
async function dropInOrder(taken: readonly CountedTable[], session: PoolClient, plan: Plan): Promise<void> {
  const left = new Set(taken)
  for (let before = Infinity; left.size > 0 && left.size < before;) {
    before = left.size
    for (const each of left) {
      const sql = `drop table ${each.quoted}`
      if (!(await isDone(sql, session))) continue
      left.delete(each)
      plan.add(`${each.table}: the table is dropped, with ${countRows(each.count)}.`, [sql])
    }
  }
  for (const { table } of left) plan.stays.push(`${table}: no entity of the model. It stays, since other objects depend on it.`)
}

export async function dropColumn(table: DatabaseTable, column: string, session: PoolClient, plan: Plan): Promise<void> {
  const sql = `alter table ${table.getQuotedName()} drop column ${name(column)}`
  if (await isDone(sql, session)) plan.add(`${table.name}.${column}: the column is dropped, with its values.`, [sql])
  else plan.faults.push(`${table.name}.${column} cannot be dropped, since other objects depend on it`)
}

/** @returns false where other objects depend on the dropped object */
export async function isDone(sql: string, session: PoolClient): Promise<boolean> {
  await command(session, 'savepoint mikro_drop')
  try {
    await command(session, sql)
  } catch (error) {
    await command(session, 'rollback to savepoint mikro_drop')
    if ((error as { code?: string }).code !== '2BP01') throw error
    return false
  }
  await command(session, 'release savepoint mikro_drop')
  return true
}

/** A partition, an heir, or part of an extension. */
async function isPart(session: PoolClient, schema: string, table: string): Promise<boolean> {
  const found = await ask(
    session,
    `select from pg_class c where c.oid = to_regclass($1) and (exists (select from pg_inherits where inhrelid = c.oid)
       or exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'))`,
    [`${name(schema)}.${name(table)}`],
  )
  return found.length > 0
}
