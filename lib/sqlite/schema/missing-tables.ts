/** Checks that a file which must not be changed has the tables and columns of the entities. */
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { SqliteDatabase } from '../database/sqlite-database.ts'

/** Limit of the names that an error lists. */
const SHOWN = 5

/** @throws Error in one line that names the missing ones. */
export function checkTables(orm: MikroORM, handle: SqliteDatabase, path: string): void {
  const schema = (orm.schema as unknown as SqlSchemaGenerator).getTargetSchema()
  const missing = [...schema.getTables(), ...schema.getViews()].flatMap(wanted => {
    const found = handle.all('select name from pragma_table_xinfo(?)', [wanted.name]).map(([name]) => String(name).toLowerCase())
    if (found.length === 0) return [`"${wanted.name}"`]
    const columns = 'getColumns' in wanted ? wanted.getColumns() : []
    return columns.filter(({ name }) => !found.includes(name.toLowerCase())).map(({ name }) => `"${wanted.name}"."${name}"`)
  })
  if (missing.length === 0) return
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : ''
  throw new Error(
    `${path} lacks what the entities need, and is opened for reading only, so that it cannot be made: ${missing.slice(0, SHOWN).join(', ')}${more}.`,
  )
}
