/** Query columns: leaves out columns that a view or a virtual entity's query lacks. */
import type { EntityProperty, MikroORM } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import type { Notes } from '../../foundation/errors/notes.ts'
import { leaveMissingColumns, listQueries, noteBroken, type ColumnQuery } from '../orm/query-columns.ts'
import { isLost } from './server/errors.ts'
import { ask, command } from './server/sessions.ts'

export async function leaveMissing(orm: MikroORM, session: PoolClient, notes: Notes): Promise<void> {
  for (const query of listQueries(orm)) {
    const columns = await (query.meta.virtual === true ? describeQuery(query, session, notes) : listColumns(query, session))
    if (columns === undefined) continue
    const types = await findTypes(session, query.meta.props)
    // NULL alone would be a text, comparable with no number.
    leaveMissingColumns(query, columns, notes, prop => `null::${types.get(prop.columnTypes?.[0] ?? '') ?? 'text'}`)
  }
}

/** @returns `undefined` for a missing view */
async function listColumns({ from }: ColumnQuery, session: PoolClient): Promise<string[] | undefined> {
  const rows = await ask(session, 'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0', [from])
  return rows.length === 0 ? undefined : rows.map(([column]) => column as string)
}

/** @returns `undefined`, with a note, for an expression that fails */
async function describeQuery(query: ColumnQuery, session: PoolClient, notes: Notes): Promise<string[] | undefined> {
  await command(session, 'savepoint mikro_columns')
  try {
    const { fields } = await session.query(`select * from ${query.from} as q limit 0`)
    await command(session, 'release savepoint mikro_columns')
    return fields.map(field => field.name)
  } catch (error) {
    if (isLost(error)) throw error
    await command(session, 'rollback to savepoint mikro_columns')
    noteBroken(query, 'PostgreSQL', error, notes)
    return undefined
  }
}

/** Types by declared type, without types that the server lacks, such as enums of a view. */
async function findTypes(session: PoolClient, props: readonly EntityProperty[]): Promise<ReadonlyMap<string, string>> {
  const declared = [...new Set(props.flatMap(prop => prop.columnTypes ?? []))]
  const found = await ask(session, 'select t, to_regtype(t)::text from unnest($1::text[]) as u(t) where to_regtype(t) is not null', [
    declared,
  ])
  return new Map(found as readonly (readonly [string, string])[])
}
