/** Finds query plans of a request's statements, missing indexes, and foreign keys without an index. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { StatementsExplained, UnindexedLink } from '../../../records/database/explained-statements.ts'
import type { RunStatement } from '../../../foundation/async/trace.ts'
import { advise } from './index-advice.ts'
import { buildPlanTree, readPlan } from './query-plan.ts'
import { name } from '../../sql/sql.ts'
import { findTables, listParameters } from '../../sql/sql-text.ts'
import { owningLinks } from '../../../model/owning-links.ts'
import type { Resource } from '../../../model/model.ts'

const MANY_ROWS = 1000

const MOST_COUNTED = 1_000_000

export function explainStatements(db: RawDatabase, statements: readonly RunStatement[]): StatementsExplained {
  const counts = new Map<string, number | undefined>()
  const countRows = (table: string): number | undefined => {
    if (!counts.has(table)) counts.set(table, countUpTo(db, table, MOST_COUNTED))
    return counts.get(table)
  }
  return {
    statements: statements.map(({ sql, parameters }) => ({
      ...listParameters(sql, 'sqlite'),
      plan: buildPlanTree(readPlan(db, sql, parameters), findTables(sql, 'sqlite'), countRows, MANY_ROWS),
    })),
    advice: advise(db, statements, countRows, MANY_ROWS),
  }
}

/** Undefined for a name without a table. */
function countUpTo(db: RawDatabase, table: string, limit: number): number | undefined {
  const isTable = db.prepare("select 1 from main.sqlite_schema where type = 'table' and name = ?").get(table) !== undefined
  if (!isTable) return undefined
  return db
    .prepare(`select count(*) from (select 1 from main.${name(table)} limit ?)`)
    .pluck()
    .get(limit) as number
}

/**
 * SQLite makes no index for a foreign key: related records and deletions scan the table.
 *
 * @param resources their relations may not be declared in the schema
 * @param rows smaller tables are left out
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
