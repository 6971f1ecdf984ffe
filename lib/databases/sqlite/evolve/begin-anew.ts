/** Begin anew: drops the tables of the entities with their rows, and makes them again, in one transaction. */
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { countRows } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { addSchema } from '../schema/add-schema.ts'
import { foldCase, readCatalog, readExistingTable } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'

interface Emptied {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly path: string
  readonly notes: Notes
}

/** @throws Error in one line where a table of no entity refers to a table of the entities. */
export function beginAnew({ orm, db, path, notes }: Emptied): void {
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  const names = [...schema.getTables(), ...schema.getViews()].map(({ name }) => name)
  db.pragma('foreign_keys = off')
  try {
    db.transaction(() => {
      const catalog = readCatalog(db)
      const user = findUser(names, db)
      if (user !== undefined)
        throw new Error(`${path} is left as it is, since rows of its table "${user}", which no entity has, refer to those of the entities.`)
      for (const name of new Set(names.map(foldCase))) {
        const found = readExistingTable(db, catalog, name)
        if (found === undefined) continue
        const isView = found.kind === 'view'
        if (!isView)
          notes.add(
            `${found.name}: the table is made anew; ${countRows(countOf(db, `from main.${quoted(found.name)}`))} went with the old one.`,
          )
        db.exec(`drop ${isView ? 'view' : 'table'} ${quoted(found.name)}`)
      }
      addSchema({ orm, db, path, notes }, () => undefined)
    }).immediate()
  } finally {
    db.pragma('foreign_keys = on')
  }
}

/** Finds a table of no entity with a row that refers to the tables. */
function findUser(names: readonly string[], db: RawDatabase): string | undefined {
  const entityTables = new Set(names.map(foldCase))
  const tables = db.prepare("select name from main.sqlite_schema where type = 'table'").pluck().all() as string[]
  return tables.find(table => {
    if (entityTables.has(foldCase(table))) return false
    const links = db.pragma(`main.foreign_key_list(${quoted(table)})`) as { table: string; from: string }[]
    return links.some(
      link =>
        entityTables.has(foldCase(link.table)) &&
        db.prepare(`select 1 from main.${quoted(table)} where ${quoted(link.from)} is not null limit 1`).get() !== undefined,
    )
  })
}
