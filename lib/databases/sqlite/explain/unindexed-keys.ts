/** Finds foreign keys without an index. SQLite makes none, so related records and deletions scan the table. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { UnindexedLink } from '../../../records/database/explained-statements.ts'
import { owningLinks } from '../../../model/owning-links.ts'
import type { Resource } from '../../../model/model.ts'
import { countUpTo } from './explain.ts'
import { name } from '../../sql/sql.ts'

/**
 * @param resources have relations that the schema may not declare
 * @param rows tables with no more rows are left out
 */
export function findUnindexedLinks(db: RawDatabase, resources: readonly Resource[], rows: number): UnindexedLink[] {
  const tables = db.prepare(
    "select name from main.sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
  )
  const modelled = resources.flatMap(listLinks)
  return (tables.pluck().all() as string[]).flatMap(table => {
    const links = [...listDeclaredIndexes(db, table), ...modelled.filter(link => link.table === table).map(({ columns }) => columns)]
    const distinct = [...new Map(links.map(columns => [columns.toSorted().join('\0'), columns])).values()]
    if (distinct.length === 0) return []
    const indexes = listIndexes(db, table)
    const missing = distinct.filter(
      columns => !indexes.some(index => columns.every(column => index.indexOf(column) >= 0 && index.indexOf(column) < columns.length)),
    )
    if (missing.length === 0) return []
    const count = countUpTo(db, table, rows + 1) ?? 0
    if (count <= rows) return []
    return missing.map(columns => ({ table, columns, rows: count, sql: formatCreateIndex(table, columns) }))
  })
}

function listLinks({ table, attributes }: Resource): { table: string; columns: readonly string[] }[] {
  // A link in a JSON document has no column. A polymorphic link is looked up with its discriminator.
  const owned = owningLinks(attributes).filter(({ attribute }) => attribute.document === undefined && attribute.discriminator === undefined)
  const lists = attributes.flatMap(attribute => {
    if (attribute.kind !== 'toMany' || attribute.via.kind !== 'pivot') return []
    const { via } = attribute
    return [via.ownerColumns, via.targetColumns].map(columns => ({ table: via.table, columns }))
  })
  return [...owned.map(({ attribute }) => ({ table, columns: attribute.columns })), ...lists]
}

function listDeclaredIndexes(db: RawDatabase, table: string): string[][] {
  const rows = db.pragma(`main.foreign_key_list(${name(table)})`) as { id: number; seq: number; from: string }[]
  return [...Map.groupBy(rows, ({ id }) => id).values()].map(parts => parts.toSorted((a, b) => a.seq - b.seq).map(({ from }) => from))
}

/** Includes the primary key; omits indexes over some rows. */
function listIndexes(db: RawDatabase, table: string): string[][] {
  const columns = db.pragma(`main.table_xinfo(${name(table)})`) as { name: string; pk: number }[]
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  const indexes = (db.pragma(`main.index_list(${name(table)})`) as { name: string; partial: 0 | 1 }[]).filter(
    ({ partial }) => partial === 0,
  )
  const listed = indexes.map(index =>
    (db.pragma(`main.index_info(${name(index.name)})`) as { name: string | null }[]).map(part => part.name ?? ''),
  )
  return [key.map(part => part.name), ...listed]
}

function formatCreateIndex(table: string, columns: readonly string[]): string {
  return `create index ${name(`${table}_${columns.join('_')}_index`)} on ${name(table)} (${columns.map(name).join(', ')})`
}
