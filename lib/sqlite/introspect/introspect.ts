/**
 * Introspect: what a SQLite file holds, as plain data: tables, views, columns, keys, foreign keys. Read with pragmas
 * (https://www.sqlite.org/pragma.html) and, for what they do not tell, from the text of the schema; MikroORM's own introspection loses composite
 * foreign keys, unique indexes and views. Nothing is decided here of what becomes of it: that is entities.ts.
 */
import type Database from 'better-sqlite3'
import { readDdl } from '../database/ddl.ts'
import { name as quoted } from '../sql/sql.ts'

/** A column of a table or view. */
export interface Column {
  readonly name: string
  /** As declared; empty when nothing is, as in most columns of views. */
  readonly type: string
  readonly notNull: boolean
  /** The text of the default's SQL expression. */
  readonly defaultSql: string | undefined
  readonly generated: boolean
  /** Compares by another collation than BINARY. */
  readonly collated: boolean
  /** The allowed values that a check names. */
  readonly items: readonly (string | number)[] | undefined
}

/** What the database does with a row when the row it refers to is deleted, as the schema says it. */
export type DeleteAction = 'no action' | 'restrict' | 'set null' | 'set default' | 'cascade'

export interface ForeignKey {
  readonly columns: readonly string[]
  /** The name of the table that is referred to, as that table is called. */
  readonly table: string
  /** The columns there, in the order of `columns`. */
  readonly targets: readonly string[]
  readonly onDelete: DeleteAction
}

/** A table or view. */
export interface Table {
  readonly name: string
  readonly kind: 'table' | 'virtual' | 'view'
  readonly columns: readonly Column[]
  /** The columns of the primary key, in its order; empty without one. */
  readonly key: readonly string[]
  /** The key is the rowid: SQLite counts it up when it is not given. */
  readonly rowidKey: boolean
  /** A name by which the rowid can be asked for, where there is one. */
  readonly rowid: string | undefined
  readonly foreignKeys: readonly ForeignKey[]
  /** Sets of columns whose values together are unique in the whole table. The key is not among them. */
  readonly uniques: readonly (readonly string[])[]
}

/** A row of `pragma table_list`. */
export interface TableRow {
  readonly name: string
  readonly type: 'table' | 'view' | 'shadow' | 'virtual'
  readonly wr: 0 | 1
}

interface ColumnRow {
  readonly name: string
  readonly type: string
  readonly notnull: 0 | 1
  readonly dflt_value: string | null
  readonly pk: number
  /** 1: hidden column of a virtual table; 2 and 3: generated. */
  readonly hidden: 0 | 1 | 2 | 3
}

interface IndexRow {
  readonly name: string
  readonly unique: 0 | 1
  readonly origin: 'c' | 'u' | 'pk'
  readonly partial: 0 | 1
}

interface ForeignKeyRow {
  readonly id: number
  readonly seq: number
  readonly table: string
  readonly from: string
  readonly to: string | null
  readonly on_delete: string
}

/** What a database holds, in the order in which it was made. */
export interface Introspection {
  readonly tables: readonly Table[]
  /** What SQLite itself cannot read, with its reason. */
  readonly broken: ReadonlyMap<string, string>
}

export function introspect(db: Database.Database): Introspection {
  const rows = db.pragma('main.table_list') as TableRow[]
  const order = db.prepare("select name, sql from main.sqlite_schema where type in ('table', 'view') order by rowid").all() as {
    name: string
    sql: string | null
  }[]
  const broken = new Map<string, string>()
  const tables = order.flatMap(({ name, sql }): Table[] => {
    const row = rows.find(found => found.name === name)
    if (row === undefined || row.type === 'shadow' || /^sqlite_/i.test(name)) return []
    try {
      return [readTable(db, row, row.type === 'table' ? (sql ?? '') : '')]
    } catch (error) {
      // A view of a table that is gone, a virtual table whose module is not loaded, or an index by a collation that only another program knows leaves
      // the rest of the file as it is.
      if (!((error as { code?: string }).code ?? '').startsWith('SQLITE_ERROR')) throw error
      broken.set(name, (error as Error).message)
      return []
    }
  })
  return { tables: resolveTargets(tables), broken }
}

/**
 * A table or view; its foreign keys as they are declared.
 *
 * @param sql the text of its CREATE statement
 */
export function readTable(db: Database.Database, { name, type, wr }: TableRow, sql: string): Table {
  const all = db.pragma(`main.table_xinfo(${quoted(name)})`) as ColumnRow[]
  const rows = all.filter(({ hidden }) => hidden !== 1)
  // A table is counted by its smallest index, and read by itself.
  for (const what of ['*', 'count(*)']) db.prepare(`select ${what} from main.${quoted(name)}`)
  const ddl = readDdl(sql)
  const indexes = db.pragma(`main.index_list(${quoted(name)})`) as IndexRow[]
  const key = rows
    .filter(({ pk }) => pk > 0)
    .toSorted((a, b) => a.pk - b.pk)
    .map(column => column.name)
  return {
    name,
    kind: type === 'table' || type === 'virtual' ? type : 'view',
    columns: rows.map(column => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull === 1,
      // A default of NULL is what a column has without one.
      defaultSql: column.dflt_value === null || /^null$/i.test(column.dflt_value) ? undefined : column.dflt_value,
      generated: column.hidden >= 2,
      collated: type === 'view' || ddl.collated.has(column.name.toLowerCase()),
      items: ddl.items.get(column.name.toLowerCase()),
    })),
    key,
    // Of the rowid no index is needed. INTEGER PRIMARY KEY DESC is a key like any other.
    rowidKey: type === 'table' && wr === 0 && key.length === 1 && !indexes.some(({ origin }) => origin === 'pk'),
    rowid: type === 'table' && wr === 0 ? findRowidName(all) : undefined,
    foreignKeys: type === 'table' ? readForeignKeys(db, name) : [],
    uniques: indexes
      .filter(index => index.unique === 1 && index.partial === 0 && index.origin !== 'pk')
      .map(index => (db.pragma(`main.index_info(${quoted(index.name)})`) as { name: string | null }[]).map(column => column.name))
      // An index on an expression has no column there.
      .filter((columns): columns is string[] => columns.every(column => column !== null)),
  }
}

/** A column may take the name of the rowid. */
function findRowidName(columns: readonly ColumnRow[]): string | undefined {
  const taken = new Set(columns.map(column => column.name.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find(name => !taken.has(name))
}

function readForeignKeys(db: Database.Database, table: string): ForeignKey[] {
  const rows = db.pragma(`main.foreign_key_list(${quoted(table)})`) as ForeignKeyRow[]
  const groups = Map.groupBy(rows, ({ id }) => id)
  // SQLite numbers them backwards.
  return [...groups.entries()]
    .toSorted(([a], [b]) => b - a)
    .map(([, parts]) => {
      const ordered = parts.toSorted((a, b) => a.seq - b.seq)
      return {
        columns: ordered.map(({ from }) => from),
        table: ordered[0]!.table,
        // Without columns it refers to the primary key.
        targets: ordered.flatMap(({ to }) => to ?? []),
        onDelete: ordered[0]!.on_delete.toLowerCase() as DeleteAction,
      }
    })
}

/** Foreign keys with the names of tables and columns as those are called themselves, and without those that lead nowhere. */
function resolveTargets(tables: readonly Table[]): Table[] {
  const byName = new Map(tables.filter(({ kind }) => kind === 'table').map(table => [table.name.toLowerCase(), table]))
  const called = (table: Table, column: string): string | undefined =>
    table.columns.find(({ name }) => name.toLowerCase() === column.toLowerCase())?.name
  return tables.map(table => ({
    ...table,
    foreignKeys: table.foreignKeys.flatMap((foreignKey): ForeignKey[] => {
      const target = byName.get(foreignKey.table.toLowerCase())
      if (target === undefined) return []
      const wanted = foreignKey.targets.length === 0 ? target.key : foreignKey.targets
      const targets = wanted.flatMap(column => called(target, column) ?? [])
      const columns = foreignKey.columns.flatMap(column => called(table, column) ?? [])
      if (targets.length !== columns.length || columns.length !== foreignKey.columns.length) return []
      return [{ ...foreignKey, table: target.name, columns, targets }]
    }),
  }))
}
