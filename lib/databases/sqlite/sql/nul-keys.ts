/** Finds keys with a NUL, which no index finds, in a table's first rows. */
import type { Statement } from '../../../records/database/dialect.ts'
import { name, tableName } from '../../sql/sql.ts'

/** A long table must not delay the start. */
const LOOKED_AT = 10_000

/** See `Dialect.nulKey`. */
export function compileNulKey(table: string, column: string): Statement {
  const keys = `select ${name(column)} as "key" from ${tableName(table)} limit ${LOOKED_AT}`
  return { sql: `select "key" from (${keys}) where typeof("key") = 'text' and instr("key", char(0)) > 0 limit 1`, bindings: [] }
}
