/** Finds query plans of a request's statements, missing indexes, and foreign keys without an index. */
import type { RunStatement } from '../../foundation/async/trace.ts'
import type { Resource } from '../../model/model.ts'
import { owningLinks } from '../../model/owning-links.ts'
import type { StatementsExplained, UnindexedLink, IndexAdvice, IndexColumn, PlanStep } from '../../records/database/explained-statements.ts'
import { findTables, listParameters, type IndexPart, type UsedTable } from '../sql/sql-text.ts'
import { name } from '../sql/sql.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import type { RawDatabase } from './driver/raw-database.ts'

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

const MOST_COLUMNS = 4

const MOST_PAIRS = 300

interface Problem {
  readonly alias: string
  readonly reason: 'scan' | 'sort'
}

interface Candidate {
  readonly table: string
  readonly columns: readonly IndexColumn[]
}

/**
 * @param many rows from which a table is large
 * @returns each index once, in the order of the statements
 */
function advise(
  db: RawDatabase,
  statements: readonly RunStatement[],
  rowsOf: (table: string) => number | undefined,
  many: number,
): IndexAdvice[] {
  const advice: IndexAdvice[] = []
  let shadow: SqliteDatabase | undefined
  try {
    for (const { sql, parameters } of statements) {
      const tables = findTables(sql, 'sqlite')
      const isBig = (alias: string): boolean => (rowsOf(tables.get(alias)?.table ?? '') ?? 0) >= many
      const problemsIn = (lines: readonly PlanLine[]): Problem[] => findProblems(lines, tables).filter(({ alias }) => isBig(alias))
      if (problemsIn(readPlan(db, sql, parameters)).length === 0) continue
      shadow ??= copySchema(db)
      const { db: copy } = shadow
      // The copy has the indexes advised so far.
      let problems = problemsIn(readPlan(copy, sql, parameters))
      while (problems.length > 0) {
        const best = findBest(listCandidates(tables), copy, problems, () => problemsIn(readPlan(copy, sql, parameters)))
        if (best === undefined) break
        const { indexes, left } = best
        const solved = problems.filter(({ alias, reason }) => !left.some(other => other.alias === alias && other.reason === reason))
        // A scan first: the sort is of the scan's rows.
        const [{ alias, reason }] = solved.toSorted((one, two) => (one.reason < two.reason ? -1 : 1)) as [Problem]
        const scanned = tables.get(alias)!.table
        for (const index of indexes) {
          advice.push({ ...index, reason, scanned, rows: rowsOf(scanned) ?? 0, sql: formatCandidate(index) })
          copy.exec(formatCandidate(index))
        }
        problems = left
      }
    }
  } finally {
    shadow?.close()
  }
  return advice
}

function findProblems(lines: readonly PlanLine[], tables: ReadonlyMap<string, UsedTable>): Problem[] {
  return lines.flatMap(({ scans, sorts, parent }): Problem[] => {
    if (scans !== undefined) return tables.get(scans)?.isFiltered === true ? [{ alias: scans, reason: 'scan' }] : []
    if (!sorts) return []
    // The scan on the same level gives the rows of a sort.
    return lines
      .filter(line => line.parent === parent && line.scans !== undefined && (tables.get(line.scans)?.order.length ?? 0) > 0)
      .map(line => ({ alias: line.scans!, reason: 'sort' }))
  })
}

function findBest(
  candidates: readonly Candidate[],
  db: RawDatabase,
  problems: readonly Problem[],
  readProblems: () => Problem[],
): { indexes: readonly Candidate[]; left: Problem[] } | undefined {
  const pairs = candidates.flatMap((one, at) =>
    candidates.flatMap((two, index) => (index > at && two.table !== one.table ? [[one, two]] : [])),
  )
  // Sometimes only two indexes help together.
  for (const sets of [candidates.map(candidate => [candidate]), pairs.slice(0, MOST_PAIRS)]) {
    const tried = sets.flatMap(indexes => {
      const left = withIndexes(db, indexes, readProblems)
      return left === undefined || left.length >= problems.length ? [] : [{ indexes, left }]
    })
    const width = (indexes: readonly Candidate[]): number => indexes.reduce((all, { columns }) => all + columns.length, 0)
    const [best] = tried.toSorted((one, two) => one.left.length - two.left.length || width(one.indexes) - width(two.indexes))
    if (best !== undefined) return best
  }
  return undefined
}

/** A look-up in one table may spare the scan of another. */
function listCandidates(tables: ReadonlyMap<string, UsedTable>): Candidate[] {
  const texts = new Set<string>()
  return [...tables.values()].flatMap(({ table, equal, range, order }) => {
    const up = (part: IndexPart): IndexColumn => ({ ...part, descending: false })
    const equals = equal.map(up)
    const prefixes = order.map((_, index) => order.slice(0, index + 1))
    // SQLite reads an index in both directions.
    const orders = prefixes.flatMap(terms => [
      terms.map(({ part }) => up(part)),
      terms.map(({ part, descending }) => ({ ...part, descending })),
    ])
    const lists = [
      ...equals.map(column => [column]),
      ...range.map(part => [up(part)]),
      ...(equals.length > 1 ? [equals] : []),
      ...range.map(part => [...equals, up(part)]),
      ...orders,
      ...orders.map(columns => [...equals, ...columns]),
    ]
    return lists.flatMap((columns): Candidate[] => {
      const distinct = columns.filter((column, index) => columns.findIndex(other => other.text === column.text) === index)
      const candidate = { table, columns: distinct }
      const text = formatCandidate(candidate)
      if (distinct.length > MOST_COLUMNS || texts.has(text)) return []
      texts.add(text)
      return [candidate]
    })
  })
}

/** @returns undefined where SQLite refuses an index */
function withIndexes<T>(db: RawDatabase, indexes: readonly Candidate[], readProblems: () => T): T | undefined {
  db.exec('savepoint candidate')
  try {
    for (const index of indexes) db.exec(formatCandidate(index))
    return readProblems()
  } catch (error) {
    // No index holds a non-deterministic function.
    if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    return undefined
  } finally {
    db.exec('rollback to candidate; release candidate')
  }
}

function formatCandidate(candidate: Candidate): string {
  const columns = candidate.columns.map(({ text, descending }) => (descending ? `${text} desc` : text)).join(', ')
  return `create index ${name(formatIndexName(candidate))} on ${name(candidate.table)} (${columns})`
}

function formatIndexName({ table, columns }: Candidate): string {
  const names = columns.map(
    ({ column, text, descending }) => (column ?? text.replaceAll(/\W+/g, '_').replaceAll(/^_|_$/g, '')) + (descending ? '_desc' : ''),
  )
  return `${table}_${names.join('_')}_index`
}

/** With statistics, but no rows. A part that cannot be created, such as a table of an unloaded module, gets no advice. */
function copySchema(db: RawDatabase): SqliteDatabase {
  const shadow = new SqliteDatabase(':memory:')
  const { db: copy } = shadow
  copy.pragma('foreign_keys = off')
  const entries = db.prepare(
    "select sql from main.sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by rowid",
  )
  for (const sql of entries.pluck().all() as string[]) {
    try {
      copy.exec(sql)
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    }
  }
  const hasStatistics = db.prepare("select 1 from main.sqlite_schema where name = 'sqlite_stat1'").get() !== undefined
  if (hasStatistics) {
    copy.exec('analyze')
    const insert = copy.prepare('insert into sqlite_stat1 values (?, ?, ?)')
    for (const row of db.prepare('select tbl, idx, stat from main.sqlite_stat1').raw().all() as unknown[][]) insert.run(...row)
    copy.exec('analyze sqlite_schema')
  }
  return shadow
}

const PLANNED = /^\s*(?:select|insert|update|delete|replace|with|values)\b/i

interface PlanRow {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

interface PlanLine extends PlanRow {
  /** The table read whole, or indexed for the statement alone. */
  readonly scans: string | undefined
  readonly sorts: boolean
}

/** @returns nothing for a statement without a plan, or no longer accepted */
function readPlan(db: RawDatabase, sql: string, parameters: readonly unknown[]): PlanLine[] {
  if (!PLANNED.test(sql)) return []
  let rows: PlanRow[]
  try {
    rows = db.prepare(`explain query plan ${sql}`).all(...parameters) as PlanRow[]
  } catch (error) {
    // The request may have dropped the table, or the statement was refused.
    if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    return []
  }
  return rows.map(({ id, parent, detail }) => ({
    id,
    parent,
    detail,
    scans: /^SCAN (\S+)/.exec(detail)?.[1] ?? /^SEARCH (\S+) USING AUTOMATIC /.exec(detail)?.[1],
    sorts: detail.startsWith('USE TEMP B-TREE FOR ORDER BY'),
  }))
}

function buildPlanTree(
  lines: readonly PlanLine[],
  tables: ReadonlyMap<string, UsedTable>,
  rowsOf: (table: string) => number | undefined,
  many: number,
  parent = 0,
): PlanStep[] {
  const level = lines.filter(line => line.parent === parent)
  const rowsScanned = (line: PlanLine): number | undefined => {
    const table = line.scans === undefined ? undefined : (tables.get(line.scans)?.table ?? line.scans)
    return table === undefined ? undefined : rowsOf(table)
  }
  const most = Math.max(0, ...level.map(line => rowsScanned(line) ?? 0))
  const isSorted = level.some(line => line.sorts)
  return level.map(line => {
    const rows = line.sorts ? most : rowsScanned(line)
    const used = line.scans === undefined ? undefined : tables.get(line.scans)
    // A scan without condition or sort stops at the limit, and counting is cheap.
    const isInVain = line.sorts || isSorted || used?.isFiltered === true
    return {
      detail: line.detail,
      ...(used === undefined ? {} : { table: used.table }),
      ...(rows === undefined || rows === 0 ? {} : { rows }),
      isCostly: isInVain && (rows ?? 0) >= many,
      children: buildPlanTree(lines, tables, rowsOf, many, line.id),
    }
  })
}
