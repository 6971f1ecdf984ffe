/**
 * Reads the tables, views, columns, keys and foreign keys of a SQLite file as plain data. It uses pragmas
 * (https://www.sqlite.org/pragma.html) and the text of the schema. MikroORM's own introspection loses composite foreign keys, unique
 * indexes and views. entities.ts decides about the mapping.
 */
import type Database from 'better-sqlite3'
import { readDdl } from '../database/ddl.ts'
import { name as quoted } from '../../sql/sql.ts'

/** A column of a table or view. */
export interface Column {
  readonly name: string
  /** The declared type; empty without one, as in most columns of views. */
  readonly type: string
  readonly notNull: boolean
  /** The SQL expression of the default. */
  readonly defaultSql: string | undefined
  readonly generated: boolean
  /** Whether the column compares by a collation other than BINARY. */
  readonly collated: boolean
  /** The allowed values of a check. */
  readonly items: readonly (string | number)[] | undefined
}

/** The declared action on a row when its target is deleted. */
export type DeleteAction = 'no action' | 'restrict' | 'set null' | 'set default' | 'cascade'

export interface ForeignKey {
  readonly columns: readonly string[]
  /** The name of the target table, in its own spelling. */
  readonly table: string
  /** The target columns, in the order of `columns`. */
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
  /** Whether the key is the rowid, which SQLite assigns by itself. */
  readonly rowidKey: boolean
  /** A name of the rowid that no column has taken, if there is one. */
  readonly rowid: string | undefined
  readonly foreignKeys: readonly ForeignKey[]
  /** Sets of columns that are unique in the whole table, without the primary key. */
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

/** The content of a database, in the order of creation. */
export interface Introspection {
  readonly tables: readonly Table[]
  /** Tables and views that SQLite itself cannot read, with the reason. */
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
      return [addKey(readTable(db, row, row.type === 'table' ? (sql ?? '') : ''))]
    } catch (error) {
      // A view of a dropped table, a virtual table of an unloaded module or an index with an unknown collation does not affect the rest
      // of the file.
      if (!((error as { code?: string }).code ?? '').startsWith('SQLITE_ERROR')) throw error
      broken.set(name, (error as Error).message)
      return []
    }
  })
  return { tables: resolveTargets(tables), broken }
}

/** Takes the columns of a table for its key where it declares none, but all of them together are unique and none is NULL. */
function addKey(table: Table): Table {
  const names = table.columns.map(({ name }) => name)
  if (table.key.length > 0 || table.kind !== 'table' || !table.columns.every(({ notNull, generated }) => notNull && !generated))
    return table
  const isUnique = table.uniques.some(set => set.length === names.length)
  return isUnique ? { ...table, key: names, uniques: table.uniques.filter(set => set.length < names.length) } : table
}

/**
 * Reads a table or view, with its foreign keys as they are declared.
 *
 * @param sql the text of its CREATE statement
 */
export function readTable(db: Database.Database, { name, type, wr }: TableRow, sql: string): Table {
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
    name,
    kind: type === 'table' || type === 'virtual' ? type : 'view',
    columns: rows.map(column => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull === 1,
      // A default of NULL is the same as none.
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

/** Finds a name of the rowid that no column has taken. */
function findRowidName(columns: readonly ColumnRow[]): string | undefined {
  const taken = new Set(columns.map(column => column.name.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find(name => !taken.has(name))
}

function readForeignKeys(db: Database.Database, table: string): ForeignKey[] {
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
        // Without columns a foreign key refers to the primary key.
        targets: ordered.flatMap(({ to }) => to ?? []),
        onDelete: ordered[0]!.on_delete.toLowerCase() as DeleteAction,
      }
    })
}

/** Replaces the names in foreign keys by the exact names of tables and columns, and drops foreign keys without a target. */
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
