/**
 * Query columns: what a virtual entity's expression and a view give, beside what the entity declares. A query builder of MikroORM's names a relation after its
 * column (`author_id`), where the entity may say `author`: MikroORM leaves such a property out, in the API it is null, with a note.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import type Database from 'better-sqlite3'
import type { Notes } from '../../base/notes.ts'
import { findNearest, formatHint } from '../../base/suggest.ts'
import { isGetter } from '../../model/metadata/property-type.ts'
import { buildQuery } from '../../model/metadata/read-hierarchy.ts'
import { name } from '../../sql/sql.ts'

/** Makes a formula of each property whose column a query does not give. Its schema is there. */
export function leaveMissingColumns(orm: MikroORM, db: Database.Database, notes: Notes): void {
  for (const meta of orm.getMetadata()) {
    if (meta.virtual !== true && meta.view !== true) continue
    const columns = listColumns(meta, orm, db, notes)
    if (columns === undefined) continue
    for (const prop of meta.props) {
      const [column] = prop.fieldNames ?? []
      if (!isStored(prop) || column === undefined || columns.includes(column)) continue
      const others = columns.filter(each => !meta.props.some(other => other.fieldNames?.includes(each)))
      const meant = others.find(each => each.startsWith(`${column}_`)) ?? findNearest(column, others)
      notes.add(
        `${meta.className}.${prop.name}: ${meta.virtual === true ? 'the expression' : 'the view'} has no column "${column}", so it is null.${formatHint(meant)}`,
      )
      prop.formula = () => 'null'
      prop.nullable = true
    }
  }
}

function isStored(prop: EntityProperty): boolean {
  return prop.kind === 'scalar' && prop.formula === undefined && prop.persist !== false && !isGetter(prop) && prop.primary !== true
}

/** Returns the columns of the query; undefined, with a note, where SQLite cannot run it. */
function listColumns(meta: EntityMetadata, orm: MikroORM, db: Database.Database, notes: Notes): string[] | undefined {
  const source = meta.virtual === true ? buildQuery(meta, orm) : undefined
  if (source !== undefined && source.kind !== 'query') return undefined
  const from = source === undefined ? name(meta.tableName) : `(${source.sql})`
  try {
    return db
      .prepare(`select * from ${from} limit 0`)
      .columns()
      .map(column => column.name)
  } catch (error) {
    notes.add(`${meta.className}: SQLite cannot run ${source === undefined ? 'the view' : 'its expression'} (${(error as Error).message}).`)
    return undefined
  }
}
