/** Child statements: how the rows of one relation are found for many records above, and for one. */
import type { Flavour } from './flavour.ts'
import type { Statement } from '../../records/database/dialect.ts'
import type { KeyPart } from '../../model/model.ts'
import type { Select } from './select.ts'
import { bind, join, sql, type Sql } from './sql.ts'

/** The columns by which the rows of a relation are found, with the parts of the key that they hold. */
interface ChildLinks {
  readonly columns: readonly string[]
  readonly parts: readonly KeyPart[]
}

/** The columns are the key of the one row above. */
function isLink({ columns, parts }: ChildLinks, { compared }: Flavour): Sql {
  return join(
    columns.map((column, part) => {
      const { type } = parts[part]!
      return sql`${compared(column, type)} = ${bind({ from: 'link', part, type })}`
    }),
    ' and ',
  )
}

/**
 * The statement that reads a relation of many records, and the one that reads it of one.
 *
 * @param id the column that alone is read of one, as bare values; undefined: all columns are
 */
export function compileStatements(
  select: Select,
  about: string,
  links: ChildLinks,
  where: readonly Sql[],
  id?: Sql,
): { statement: Statement; single: Statement } {
  const { flavour } = select.tables
  select.where = [flavour.isInLinks(links.columns, links.parts), ...where]
  const statement = select.finish(about)
  select.where = [isLink(links, flavour), ...where]
  return { statement, single: id === undefined ? select.finish(about) : select.finishBare(id, about) }
}
