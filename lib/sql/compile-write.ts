/** Compile writing: the statements that write one row of a table. All names are of the model; values are parameters in the order of the columns. */
import type { Statement } from '../database/dialect.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'
import type { Flavour } from './flavour.ts'
import { join, name, sql, text, tableName } from './sql.ts'
import type { Sql } from './sql.ts'

const PARAMETER: Sql = text('?')

/** See `WritingDialect`. */
export function compileInsert(flavour: Flavour, stored: StoredTable, columns: readonly StoredColumn[]): Statement {
  if (columns.length === 0) return finish(flavour, sql`insert into ${tableName(stored.table)} default values`)
  return compileInsertRows(flavour, stored, columns, 1)
}

/** See `WritingDialect`. */
export function compileInsertRows(flavour: Flavour, { table }: StoredTable, columns: readonly StoredColumn[], rows: number): Statement {
  const names = columns.map(({ column }) => name(column)).join(', ')
  const row = join(
    columns.map(() => PARAMETER),
    ', ',
  )
  const values = join(
    Array.from({ length: rows }, () => sql`(${row})`),
    ', ',
  )
  return finish(flavour, sql`insert into ${tableName(table)} (${names}) values ${values}`)
}

/** See `WritingDialect`. */
export function compileDiffers(flavour: Flavour, stored: StoredTable, columns: readonly StoredColumn[]): Statement {
  const differs = compileDifference(flavour, columns)
  return finish(flavour, sql`select 1 from ${tableName(stored.table)} where (${differs}) and ${isKey(stored)}`)
}

/** See `WritingDialect`. */
export function compileUpdate(flavour: Flavour, stored: StoredTable, columns: readonly StoredColumn[], guarded: boolean): Statement {
  const { table, version } = stored
  const set = columns.map(({ column }) => sql`${name(column)} = ${PARAMETER}`)
  for (const { column } of version?.columns ?? []) set.push(sql`${name(column)} = ${name(column)} + 1`)
  const where = guarded ? sql`${isKey(stored)} and (${compileDifference(flavour, columns)})` : isKey(stored)
  return finish(flavour, sql`update ${tableName(table)} set ${join(set, ', ')} where ${where}`)
}

/** See `WritingDialect`. */
export function compileDelete(flavour: Flavour, stored: StoredTable): Statement {
  return finish(flavour, sql`delete from ${tableName(stored.table)} where ${isKey(stored)}`)
}

function compileDifference(flavour: Flavour, columns: readonly StoredColumn[]): Sql {
  return join(
    columns.map(({ column }) => flavour.differs(name(column), PARAMETER)),
    ' or ',
  )
}

/** The parameters are the parts of the key and, in a table of several classes, the class. */
function isKey({ key, discriminator }: StoredTable): Sql {
  const columns = discriminator === undefined ? key : [...key, discriminator.column]
  return join(
    columns.map(({ column }) => sql`${name(column)} = ${PARAMETER}`),
    ' and ',
  )
}

function finish(flavour: Flavour, whole: Sql): Statement {
  return flavour.finish(whole, [], '')
}
