/** Checks that a file has the tables and columns of the entities, where none may be added. */
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { Notes } from '../../../foundation/errors/notes.ts'
import type { SqliteDatabase } from '../database/sqlite-database.ts'
import { WAYS } from '../../orm/name-property.ts'

const SHOWN = 5

/** @throws Error in one line, with the missing names. */
export function checkTables(orm: MikroORM, handle: SqliteDatabase, path: string): void {
  const missing = listMissing(orm, handle)
  if (missing.length === 0) return
  throw new Error(
    `${path} lacks what the entities need, and is opened for reading only, so that it cannot be made: ${formatNames(missing)}.`,
  )
}

/** Called for a file to be kept, or left to migrations. Requests for missing parts fail. */
export function noteMissing(orm: MikroORM, handle: SqliteDatabase, schema: string, notes: Notes): void {
  const missing = listMissing(orm, handle)
  if (missing.length > 0)
    notes.add(
      `The ${schema === 'keep' ? 'file' : 'database'} lacks what the entities need, and "schema" is "${schema}", ` +
        `so that it is not made: ${formatNames(missing)}. Requests for it fail until it is there.${schema === 'keep' ? WAYS : ''}`,
    )
}

function listMissing(orm: MikroORM, handle: SqliteDatabase): string[] {
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  return [...schema.getTables(), ...schema.getViews()].flatMap(wanted => {
    const found = handle.all('select name from pragma_table_xinfo(?)', [wanted.name]).map(([name]) => String(name).toLowerCase())
    if (found.length === 0) return [`"${wanted.name}"`]
    const columns = 'getColumns' in wanted ? wanted.getColumns() : []
    return columns.filter(({ name }) => !found.includes(name.toLowerCase())).map(({ name }) => `"${wanted.name}"."${name}"`)
  })
}

function formatNames(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return names.slice(0, SHOWN).join(', ') + more
}
