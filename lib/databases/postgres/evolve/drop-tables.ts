/** Drop tables: drops tables without entity, in the entities' schemas. Keeps the engine's own, and tables that others refer to. */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SchemaDifference } from '@mikro-orm/postgresql'
import type { Evolving } from '../../../records/database/evolving.ts'
import { listMentions } from '../../evolve/mentioned-tables.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name } from '../../sql/sql.ts'
import { OWN_TABLES } from '../kit/own-tables.ts'
import { ask, command } from '../server/sessions.ts'

interface DroppedFrom {
  readonly orm: MikroORM
  readonly evolving: Evolving
  /** Of the entities: MikroORM reads the whole database. */
  readonly schemas: readonly string[]
  readonly session: PoolClient
  readonly plan: Plan
}

export async function dropTables({ removedTables }: SchemaDifference, from: DroppedFrom): Promise<void> {
  const { orm, evolving, schemas, session, plan } = from
  const isMentioned = listMentions(orm, evolving)
  const migrations = orm.config.get('migrations').tableName?.split('.').at(-1)
  for (const table of Object.values(removedTables)) {
    const schema = table.schema ?? schemas[0]!
    if (OWN_TABLES.includes(table.name) || !schemas.includes(schema)) continue
    if (table.name === migrations || (await isPart(session, schema, table.name))) continue
    if (isMentioned(table.name)) {
      plan.stays.push(`${table.name}: no entity has it as its table. It stays, since the model reads it.`)
      continue
    }
    const quoted = `${name(schema)}.${name(table.name)}`
    const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
    const sql = `drop table ${quoted}`
    await command(session, 'savepoint mikro_drop')
    try {
      await command(session, sql)
      plan.add(`${table.name}: the table is dropped, with ${countRows(Number(count))}.`, [sql])
    } catch (error) {
      await command(session, 'rollback to savepoint mikro_drop')
      if ((error as { code?: string }).code !== '2BP01') throw error
      plan.stays.push(`${table.name}: no entity of the model. It stays, since other objects depend on it.`)
    }
    await command(session, 'release savepoint mikro_drop')
  }
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
