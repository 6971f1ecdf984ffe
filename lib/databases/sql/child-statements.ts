/** Child statements: read one relation of many records, or of one. */
import type { Statement } from '../../records/database/dialect.ts'
import type { KeyPart } from '../../model/model.ts'
import type { Flavour } from './flavour.ts'
import type { Select } from './select.ts'
import { bind, join, sql, type Sql } from './sql.ts'

interface ChildLinks {
  readonly columns: readonly string[]
  readonly parts: readonly KeyPart[]
  /** See `ShownPart`. */
  readonly isCut?: boolean
}

function isLink({ columns, parts }: ChildLinks, { compared }: Flavour): Sql {
  return join(
    columns.map((column, part) => {
      const { type } = parts[part]!
      return sql`${compared(column, type)} = ${bind({ from: 'link', part, type })}`
    }),
    ' and ',
  )
}

/** @param id the only column that the statement for one record reads, bare; undefined: all */
export function compileStatements(
  select: Select,
  about: string,
  links: ChildLinks,
  where: readonly Sql[],
  id?: Sql,
): { statement: Statement; single: Statement } {
  const { flavour } = select.tables
  select.where = [flavour.isInLinks(links.columns, links.parts), ...where]
  if (links.isCut === true) select.owners = links.columns
  const statement = select.finish(about)
  select.owners = undefined
  select.page = links.isCut === true
  select.where = [isLink(links, flavour), ...where]
  return { statement, single: id === undefined ? select.finish(about) : select.finishBare(id, about) }
}
