/**
 * Reads a SQLite file's tables, views, columns, keys and foreign keys, by pragmas (https://www.sqlite.org/pragma.html) and the text of the
 * schema. MikroORM's introspection loses composite foreign keys, unique indexes and views.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import { readDdl } from '../database/ddl.ts'
import { completeKey, type Column, type DeleteAction, type ForeignKey, type Table } from '../../introspect/tables.ts'
import { name as quoted } from '../../sql/sql.ts'

export interface FileColumn extends Column {
  /** Empty without a declaration, as in most columns of views. */
  readonly type: string
  /** A collation other than BINARY, or a view. */
  readonly collated: boolean
  readonly items: readonly (string | number)[] | undefined
}

export interface FileTable extends Table {
  readonly kind: 'table' | 'virtual' | 'view'
  readonly columns: readonly FileColumn[]
  /** SQLite assigns the key, the rowid. */
  readonly rowidKey: boolean
  /** A name of the rowid, not of a column. */
  readonly rowid: string | undefined
}

/** Of `pragma table_list`. */
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
  readonly on_update: string
}

/** In the order of creation. */
export interface Introspection {
  readonly tables: readonly FileTable[]
  /** Unreadable tables and views, with the reason. */
  readonly broken: ReadonlyMap<string, string>
}

export function introspect(db: RawDatabase): Introspection {
  const rows = db.pragma('main.table_list') as TableRow[]
  const order = db.prepare("select name, sql from main.sqlite_schema where type in ('table', 'view') order by rowid").all() as {
    name: string
    sql: string | null
  }[]
  const broken = new Map<string, string>()
  const tables = order.flatMap(({ name, sql }): FileTable[] => {
    const row = rows.find(found => found.name === name)
    if (row === undefined || row.type === 'shadow' || /^sqlite_/i.test(name)) return []
    try {
      const table = readTable(db, row, row.type === 'table' ? (sql ?? '') : '')
      return [table.kind === 'table' ? completeKey(table) : table]
    } catch (error) {
      // A view of a dropped table, a virtual table of an unloaded module.
      if (!((error as { code?: string }).code ?? '').startsWith('SQLITE_ERROR')) throw error
      broken.set(name, (error as Error).message)
      return []
    }
  })
  return { tables: resolveTargets(tables), broken }
}

/**
 * @param sql of the CREATE statement
 * @returns foreign keys as declared
 */
export function readTable(db: RawDatabase, { name, type, wr }: TableRow, sql: string): FileTable {
  const all = db.pragma(`main.table_xinfo(${quoted(name)})`) as ColumnRow[]
  const rows = all.filter(({ hidden }) => hidden !== 1)
  // `count(*)` may read the smallest index, and `*` the table itself.
  for (const what of ['*', 'count(*)']) db.prepare(`select ${what} from main.${quoted(name)}`)
  const ddl = readDdl(sql)
  const indexes = db.pragma(`main.index_list(${quoted(name)})`) as IndexRow[]
  const key = rows
    .filter(({ pk }) => pk > 0)
    .toSorted((a, b) => a.pk - b.pk)
    .map(column => column.name)
  return {
    id: name,
    name,
    kind: type === 'table' || type === 'virtual' ? type : 'view',
    columns: rows.map(column => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull === 1,
      // A default of NULL is no default.
      defaultSql: column.dflt_value === null || /^null$/i.test(column.dflt_value) ? undefined : column.dflt_value,
      generated: column.hidden >= 2,
      collated: type === 'view' || ddl.collated.has(column.name.toLowerCase()),
      items: ddl.items.get(column.name.toLowerCase()),
    })),
    key,
    // The rowid needs no index. INTEGER PRIMARY KEY DESC is an ordinary key.
    rowidKey: type === 'table' && wr === 0 && key.length === 1 && !indexes.some(({ origin }) => origin === 'pk'),
    rowid: type === 'table' && wr === 0 ? findRowidName(all) : undefined,
    foreignKeys: type === 'table' ? readForeignKeys(db, name) : [],
    uniques: indexes
      .filter(index => index.unique === 1 && index.partial === 0 && index.origin !== 'pk')
      .map(index => (db.pragma(`main.index_info(${quoted(index.name)})`) as { name: string | null }[]).map(column => column.name))
      // An expression in an index has no column.
      .filter((columns): columns is string[] => columns.every(column => column !== null)),
  }
}

function findRowidName(columns: readonly ColumnRow[]): string | undefined {
  const taken = new Set(columns.map(column => column.name.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find(name => !taken.has(name))
}

function readForeignKeys(db: RawDatabase, table: string): ForeignKey[] {
  const rows = db.pragma(`main.foreign_key_list(${quoted(table)})`) as ForeignKeyRow[]
  const groups = Map.groupBy(rows, ({ id }) => id)
  // SQLite numbers foreign keys backwards.
  return [...groups.entries()]
    .toSorted(([a], [b]) => b - a)
    .map(([, parts]) => {
      const ordered = parts.toSorted((a, b) => a.seq - b.seq)
      return {
        columns: ordered.map(({ from }) => from),
        table: ordered[0]!.table,
        target: ordered[0]!.table,
        // Without columns a foreign key refers to the primary key.
        targets: ordered.flatMap(({ to }) => to ?? []),
        onDelete: ordered[0]!.on_delete.toLowerCase() as DeleteAction,
        onUpdate: ordered[0]!.on_update.toLowerCase() as DeleteAction,
      }
    })
}

/** Gives the exact names of tables and columns, and drops foreign keys without a target. */
function resolveTargets(tables: readonly FileTable[]): FileTable[] {
  const byName = new Map(tables.filter(({ kind }) => kind === 'table').map(table => [table.name.toLowerCase(), table]))
  const called = (table: FileTable, column: string): string | undefined =>
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
      return [{ ...foreignKey, table: target.name, target: target.id, columns, targets }]
    }),
  }))
}
