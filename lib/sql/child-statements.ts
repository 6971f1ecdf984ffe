/** Child statements: how the rows of one relation are found for many records above, and for one. */
import type { Statement } from '../database/dialect.ts'
import type { Select } from './select.ts'
import { bind, join, sql, tuple } from './sql.ts'
import type { Sql } from './sql.ts'

/** `(a, b) in (the keys of the rows above)`; the keys come as one JSON text, so that the statement is the same for any number of them. */
function inLinks(columns: readonly string[]): Sql {
  const links = bind({ from: 'links' })
  if (columns.length === 1) return sql`${columns[0]!} in (select value from json_each(${links}))`
  const parts = columns.map((_, index) => `json_extract(value, '$[${index}]')`)
  return sql`${tuple(columns)} in (select ${parts.join(', ')} from json_each(${links}))`
}

/** The columns are the key of the one row above. */
function isLink(columns: readonly string[]): Sql {
  return join(
    columns.map((column, part) => sql`${column} = ${bind({ from: 'link', part })}`),
    ' and ',
  )
}

/** The statement that reads a relation of many records, and the one that reads it of one. */
export function compileStatements(
  select: Select,
  about: string,
  links: readonly string[],
  where: readonly Sql[],
): { statement: Statement; single: Statement } {
  select.where = [inLinks(links), ...where]
  const statement = select.finish(about)
  select.where = [isLink(links), ...where]
  return { statement, single: select.finish(about) }
}
