/**
 * Match text: matches wildcard patterns. Without case, `lower` unites most characters of a class of Unicode's simple case folding, and
 * `translate` the others.
 */
import type { OwnPatternForm } from '../../../records/database/value-form.ts'
import type { Condition, Operand } from '../../../records/plan/read-plan.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, literal, sql, type Sql } from '../../sql/sql.ts'
import type { CaseFolding } from './case-folding.ts'
import { compileTextWithin } from './compare-json.ts'
import { compileBareOperand } from './stored-value.ts'
import { CONTAINED, GIVEN_LIKE, LIKE, PREFIX_HIGH, PREFIX_LOW } from './value-forms.ts'

/** UUIDs, dates and enums are matched as shown. */
function compileText(operand: Operand, columns: ColumnScope): Sql {
  if (operand.attribute.source.kind === 'within') return compileTextWithin(operand, columns)
  return sql`(${compileBareOperand(operand, columns)})::text collate "C"`
}

export function compileMatches({ collation, from, to }: CaseFolding): {
  readonly matches: (node: Condition & { kind: 'match' }, columns: ColumnScope) => Sql
  readonly matchesAny: (node: Condition & { kind: 'matchAny' }, columns: ColumnScope) => Sql
  readonly like: (node: Condition & { kind: 'like' }, columns: ColumnScope) => Sql
} {
  const lower = (value: Sql): Sql => sql`lower(translate(${value}, ${literal(DOTTED)}, ${literal(INSTEAD)}) collate ${collation})`
  const fold = (value: Sql): Sql => sql`translate(${lower(value)}, ${literal(from)}, ${literal(to)}) collate "C"`
  return {
    matches(node, columns) {
      const value = compileText(node.operand, columns)
      const parameter = (form: OwnPatternForm): Sql => filterValue(node.value, node.operand.attribute, form)
      if (node.form === 'any') return sql`${value} is not null`
      if (node.fold) return sql`${fold(value)} like ${fold(parameter(LIKE))}`
      switch (node.form) {
        case 'prefix':
          return sql`(${value} >= ${parameter(PREFIX_LOW)} and ${value} < ${parameter(PREFIX_HIGH)})`
        case 'contains':
          return sql`strpos(${value}, ${parameter(CONTAINED)}) > 0`
        case 'general':
          return sql`${value} like ${parameter(LIKE)}`
      }
    },
    matchesAny({ operand, filter, fold: isFolded }, columns) {
      const value = compileText(operand, columns)
      const patterns = bind({ from: 'filterPatterns', filter })
      if (!isFolded) return sql`${value} like any(${patterns})`
      return sql`${fold(value)} like any(select ${fold(sql`p`)} from unnest(${patterns}) as p)`
    },
    like: ({ operand, value }, columns) => sql`${compileText(operand, columns)} like ${filterValue(value, operand.attribute, GIVEN_LIKE)}`,
  }
}

/** The only letter whose lower case has two characters, replaced by a character of no text. */
const DOTTED = 'İ'
const INSTEAD = '\u{10fffe}'
