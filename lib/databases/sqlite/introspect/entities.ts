/** Makes MikroORM entities of an introspected file, with notes on omissions. */
import type { RawDatabase } from '../driver/raw-database.ts'
import { buildEntities, type DescribedModel } from '../../introspect/entities.ts'
import { isWritable, noteUnwritable, type ForeignKey, type TableMapping } from '../../introspect/tables.ts'
import { name as quoted } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { ColumnTypes, isComparable, isNumeric } from './column-type.ts'
import { FileType } from './file-type.ts'
import type { FileColumn, FileTable, Introspection } from './introspect.ts'

export function buildFileEntities({ tables, broken }: Introspection, db: RawDatabase): DescribedModel {
  const model = buildEntities(tables, table => new FileMapping(table, db))
  return {
    ...model,
    notes: [
      ...[...broken].map(([name, reason]) => `${name}: it is left out, since SQLite cannot read it: ${reason}.`),
      ...noteNumeric(tables),
      ...noteUnwritable(tables),
      ...model.notes,
    ],
  }
}

/** SQLite stores numbers where the author may have meant texts. */
function noteNumeric(tables: readonly FileTable[]): string[] {
  const columns = tables.flatMap(({ name, kind, columns: all }) =>
    kind === 'table' ? all.filter(isNumeric).map(column => `${name}.${column.name} (${column.type})`) : [],
  )
  if (columns.length === 0) return []
  const more = columns.length - 3
  return [
    `${columns.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}: SQLite does not know the type, ` +
      'and stores strings of digits as numbers there; one that would become another value, such as "007", is refused.',
  ]
}

const LINKING_ROWS = 1_000

class FileMapping implements TableMapping {
  readonly #db: RawDatabase
  readonly #table: FileTable
  readonly #types: ColumnTypes
  readonly #keyTypes: ReadonlyMap<string, ScalarType> | undefined

  constructor(table: FileTable, db: RawDatabase) {
    this.#db = db
    this.#table = table
    this.#types = new ColumnTypes(db, table)
    this.#keyTypes = findKeyTypes(table, this.#types)
  }

  get key(): readonly string[] | undefined {
    return this.#keyTypes === undefined ? undefined : [...this.#keyTypes.keys()]
  }

  get query(): string {
    const { name, rowid } = this.#table
    return `select ${rowid === undefined ? '' : `${rowid} as ${quoted(rowid)}, `}* from ${quoted(name)}`
  }

  get order(): TableMapping['order'] {
    const { rowid } = this.#table
    if (rowid === undefined) return undefined
    const type = new FileType({ kind: 'integer', loose: true }, true)
    return { names: ['rowid', 'rowid_'], property: { type, fieldName: rowid, hidden: true, persist: false } }
  }

  /** A link by a unique key could not show the value of a lost record. */
  takesUnique({ columns: [name], targets: [referred] }: ForeignKey, target: FileTable): boolean {
    const [from, to] = [this.#table.columns.find(column => column.name === name), target.columns.find(column => column.name === referred)]
    if (from === undefined || to === undefined || !isComparable(from, to)) return false
    const values = `select ${quoted(from.name)} as value from main.${quoted(this.#table.name)} limit ${LINKING_ROWS}`
    const isLost = `value is not null and not exists (select 1 from main.${quoted(target.name)} as t where t.${quoted(to.name)} = value)`
    return this.#db.prepare(`select 1 from (${values}) where ${isLost}`).get() === undefined
  }

  describe(column: FileColumn): object {
    const table = this.#table
    const primary = this.#keyTypes?.get(column.name)
    const isRowid = primary !== undefined && table.rowidKey
    return {
      type: new FileType(primary ?? this.#types.of(column)),
      // MikroORM must not check the values of the file.
      runtimeType: 'unknown',
      fieldName: column.name,
      ...(primary === undefined ? {} : { primary: true }),
      ...(isRowid && isWritable(table) ? { autoincrement: true } : {}),
      ...(column.notNull || primary !== undefined ? {} : { nullable: true }),
      ...(column.defaultSql === undefined || primary !== undefined ? {} : { defaultRaw: parseDefault(column.defaultSql) }),
      ...(column.generated ? { generated: column.name } : {}),
      ...(table.uniques.some(set => set.length === 1 && set[0] === column.name) ? { unique: true } : {}),
    }
  }
}

/** @returns undefined where the records have no IDs */
function findKeyTypes(table: FileTable, types: ColumnTypes): ReadonlyMap<string, ScalarType> | undefined {
  if (table.kind !== 'table' || table.key.length === 0) return undefined
  const found = new Map<string, ScalarType>()
  for (const column of table.columns) {
    if (!table.key.includes(column.name)) continue
    const type = types.ofKey(column)
    if (type === undefined) return undefined
    found.set(column.name, type)
  }
  return found
}

/** SQLite takes double quotes around a default for a text: a default cannot be a name. */
function parseDefault(sql: string): string {
  const [, text] = /^"((?:[^"]|"")*)"$/.exec(sql) ?? []
  return text === undefined ? sql : `'${text.replaceAll('""', '"').replaceAll("'", "''")}'`
}
