/** Drops the entities' tables and views, with all rows, in the open transaction. */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { countRows } from '../../evolve/plan.ts'
import { lockSchema } from '../schema/add-schema.ts'
import { ask, command } from '../server/sessions.ts'

/** @throws Error in one line where objects of others depend on a table */
export async function dropOwnTables(orm: MikroORM, session: PoolClient, notes: Notes): Promise<void> {
  // Before any lock on tables: another engine may read the tables, and a deadlock would follow.
  await lockSchema(session)
  const target = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  const tables: string[] = []
  for (const table of target.getTables()) {
    const quoted = table.getQuotedName()
    const [[isThere] = [false]] = await ask(session, 'select to_regclass($1) is not null', [quoted])
    if (isThere !== true && isThere !== 't') continue
    const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
    tables.push(quoted)
    notes.add(`${table.name}: the table is made anew; ${countRows(Number(count))} went with the old one.`)
  }
  try {
    for (const { name, schema, materialized } of target.getViews()) {
      const quoted = [schema, name]
        .filter(part => part !== undefined)
        .map(part => `"${part.replaceAll('"', '""')}"`)
        .join('.')
      await command(session, `drop ${materialized === true ? 'materialized ' : ''}view if exists ${quoted}`)
    }
    if (tables.length > 0) await command(session, `drop table ${tables.join(', ')}`)
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string }
    if (code !== '2BP01') throw error
    throw new Error(`The database is left as it is, since other objects depend on tables of the entities: ${message}.`, { cause: error })
  }
}
