/** Compiles INSERT, UPDATE and DELETE of one table. Parameters: the values in the order of the columns, then the key. */
import type { SeenRows, Statement } from '../../records/database/dialect.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import { compileSeen } from './compile-checks.ts'
import type { Flavour } from './flavour.ts'
import { bind, join, name, sql, text, tableName, type Sql } from './sql.ts'

/** A parameter in its column's own type. */
export const VALUE: Sql = bind({ from: 'written', type: undefined })

export function compileInsert(flavour: Flavour, stored: StoredTable, columns: readonly StoredColumn[]): Statement {
  if (columns.length === 0) return finish(flavour, text(`insert into ${tableName(stored.table)} default values`))
  return compileInsertRows(flavour, stored, columns, 1)
}

export function compileInsertRows(flavour: Flavour, { table }: StoredTable, columns: readonly StoredColumn[], rows: number): Statement {
  const names = columns.map(({ column }) => name(column)).join(', ')
  const row = join(
    columns.map(() => VALUE),
    ', ',
  )
  const values = join(
    Array.from({ length: rows }, () => sql`(${row})`),
    ', ',
  )
  return finish(flavour, sql`insert into ${tableName(table)} (${names}) values ${values}`)
}

export function compileDiffers(flavour: Flavour, stored: StoredTable, columns: readonly StoredColumn[]): Statement {
  const differs = compileDifference(flavour, columns)
  return finish(flavour, sql`select 1 from ${tableName(stored.table)} where (${differs}) and ${isKey(flavour, stored)}`)
}

interface UpdatedRows {
  readonly seen?: SeenRows | undefined
  /** A condition on the old values, without parameters. */
  readonly holds?: Sql
}

export function compileUpdate(
  flavour: Flavour,
  stored: StoredTable,
  columns: readonly StoredColumn[],
  guarded: boolean,
  { seen, holds }: UpdatedRows = {},
): Statement {
  const { table, version } = stored
  const set = columns.map(({ column }) => sql`${name(column)} = ${VALUE}`)
  for (const { column } of version?.columns ?? []) set.push(sql`${name(column)} = ${name(column)} + 1`)
  const key = isKey(flavour, stored)
  const where = guarded ? sql`${key} and (${compileDifference(flavour, columns)})` : key
  const keyColumns = stored.key.map(({ column }) => column)
  const isSeen = seen === undefined ? '' : sql` and ${compileSeen(flavour, seen, table, keyColumns)}`
  const isHeld = holds === undefined ? '' : sql` and ${holds}`
  return finish(flavour, sql`update ${tableName(table)} set ${join(set, ', ')} where ${where}${isSeen}${isHeld}`)
}

export function compileDelete(flavour: Flavour, stored: StoredTable): Statement {
  return finish(flavour, sql`delete from ${tableName(stored.table)} where ${isKey(flavour, stored)}`)
}

/** @param isOther the list of keys, the second parameter, lacks the member */
export function compileLeave(flavour: Flavour, { table, owner, member }: PivotTable, isOther: Sql, seen: SeenRows | undefined): Statement {
  const isSeen = seen === undefined ? '' : sql` and ${compileSeen(flavour, seen, table, [member])}`
  return finish(flavour, sql`delete from ${tableName(table)} where ${name(owner)} = ${VALUE} and ${isOther}${isSeen}`)
}

function compileDifference(flavour: Flavour, columns: readonly StoredColumn[]): Sql {
  return join(
    columns.map(({ column, type }) => flavour.differs(name(column), VALUE, type)),
    ' or ',
  )
}

/** Parameters: the parts of the key, then the class in a table of several classes. */
function isKey(flavour: Flavour, { key, discriminator }: StoredTable): Sql {
  const parts = key.map(
    ({ column, type }) =>
      sql`${type === undefined ? name(column) : flavour.compared(name(column), type)} = ${bind({ from: 'written', type })}`,
  )
  if (discriminator !== undefined) parts.push(sql`${name(discriminator.column.column)} = ${VALUE}`)
  return join(parts, ' and ')
}

function finish(flavour: Flavour, whole: Sql): Statement {
  return flavour.finish(whole, [], '')
}

/** For a SET list: `, version = version + 1`. */
export function countChange(version: StoredTable['version']): string {
  return (version?.columns ?? []).map(({ column }) => `, ${name(column)} = ${name(column)} + 1`).join('')
}

export function inOrder(order: string | undefined): string {
  return order === undefined ? '' : ` order by ${name(order)}`
}

export function plainStatement(sql: string): Statement {
  return { sql, bindings: [] }
}
