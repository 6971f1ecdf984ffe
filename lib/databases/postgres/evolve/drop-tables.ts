/**
 * Drop tables: drops the tables of a server that no entity has, in the schemas of the entities, apart from the engine's own and those that
 * others refer to.
 */
import type { PoolClient } from 'pg'
import type { SchemaDifference } from '@mikro-orm/postgresql'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name } from '../../sql/sql.ts'
import { OWN_TABLES } from '../kit/own-tables.ts'
import { ask, command } from '../server/sessions.ts'

/** @param schemas those of the entities: MikroORM reads all that the database has */
export async function dropTables(
  { removedTables }: SchemaDifference,
  schemas: readonly string[],
  session: PoolClient,
  plan: Plan,
): Promise<void> {
  for (const table of Object.values(removedTables)) {
    const schema = table.schema ?? schemas[0]!
    if (OWN_TABLES.includes(table.name) || !schemas.includes(schema)) continue
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
