/** Compile writing: the statements that write one row of a table. All names are of the model; values are parameters in the order of the columns. */
import type { Statement } from '../database/dialect.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'
import type { Flavour } from './flavour.ts'
import { name, sql, text } from './sql.ts'
import type { Sql } from './sql.ts'

const PARAMETER: Sql = text('?')

/** See `WritingDialect`. */
export function compileInsert(flavour: Flavour, { table }: StoredTable, columns: readonly StoredColumn[]): Statement {
  if (columns.length === 0) return finish(flavour, sql`insert into ${name(table)} default values`)
  const names = columns.map(({ column }) => name(column)).join(', ')
  return finish(flavour, sql`insert into ${name(table)} (${names}) values (${columns.map(() => PARAMETER.text).join(', ')})`)
}

function finish(flavour: Flavour, whole: Sql): Statement {
  return flavour.finish(whole, [], '')
}
