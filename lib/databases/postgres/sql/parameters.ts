/**
 * Parameters: the places of parameters in a statement, numbered and cast. An untyped parameter takes the type of the column that it is
 * compared with, and a value that does not fit that fails instead of finding nothing; so each is cast to the type of its own value.
 */
import { idParts } from '../../../model/key.ts'
import type { Binding } from '../../../records/database/binding.ts'
import type { Statement } from '../../../records/database/dialect.ts'
import type { Sql } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/** Quoted names and texts, in which a question mark is not a parameter. */
const TOKENS = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\?/g

/** Makes a statement of a text with `?` for each parameter. */
export function numberParameters({ text, bindings }: Sql): Statement {
  if (bindings.length === 0) return { sql: text, bindings }
  let count = 0
  const sql = text.replaceAll(TOKENS, token => (token === '?' ? `$${count + 1}${formatCast(bindings[count++]!)}` : token))
  return { sql, bindings }
}

/** Returns the type in which values of a type are compared; undefined for a type of the application, whose column decides. */
export function findSqlType({ kind, codec, column }: ScalarType): string | undefined {
  if (codec !== undefined) return undefined
  switch (kind) {
    case 'integer':
    case 'bigint':
      return 'bigint'
    case 'decimal':
      return 'numeric'
    case 'float':
      return 'float8'
    case 'boolean':
    case 'date':
    case 'time':
    case 'uuid':
      return kind
    case 'datetime':
      return 'timestamptz'
    case 'blob':
      return 'bytea'
    case 'json':
      return 'jsonb'
    default:
      return column === BLANK_PADDED ? column : 'text'
  }
}

/** What PostgreSQL calls `char(5)`. Blanks at the end of its values do not count. */
export const BLANK_PADDED = 'bpchar'

/**
 * Returns a column in the form in which it is compared with parameters. A column of a type that the engine shows as a text (`inet`, an
 * enum) is compared as that text: not every text is a value of it. Numbers of 32 bits are compared as they are shown: 0.1 is another number
 * in 64 bits.
 */
export function castColumn(expression: string, { kind, column }: ScalarType): string {
  if (column === undefined || column === BLANK_PADDED) return expression
  // Cast, an address has a mask that it is not shown with.
  if (column === 'pg_catalog.inet') return `(case when ${expression} is not null then concat(${expression}) end)`
  if (kind === 'text') return `(${expression})::text`
  // Beside an oid a number becomes one, which not every number is.
  if (kind === 'bigint') return `(${expression})::bigint`
  return kind === 'float' ? `(${expression})::text::float8` : expression
}

function castTo(type: ScalarType, suffix = ''): string {
  const name = findSqlType(type)
  return name === undefined ? '' : `::${name}${suffix}`
}

function formatCast(binding: Binding): string {
  switch (binding.from) {
    case 'limit':
    case 'offset':
    case 'most':
      return '::bigint'
    case 'links':
      return binding.parts.length === 1 ? castTo(binding.parts[0]!.type, '[]') : '::json'
    case 'filterList':
      return castTo(binding.type, '[]')
    case 'filterKeys':
      return castTo(idParts(binding.resource)[0]!.type, '[]')
    case 'filterPatterns':
      return '::text[]'
    case 'filterKey':
      return castTo(idParts(binding.resource)[binding.part]!.type)
    case 'written':
      return binding.type === undefined ? '' : castTo(binding.type)
    case 'link':
    case 'given':
    case 'key':
    case 'scopeKey':
      return castTo(binding.type)
    case 'literal':
      // The expression is the application's own: a text in it is a date beside a date, as the server takes it.
      return typeof binding.value === 'number' ? '::numeric' : ''
    case 'filter':
    case 'scope':
    case 'model':
      // Parts of patterns are texts, whatever they are compared with.
      return binding.form !== 'value' && binding.form.of === 'pattern' ? '::text' : castTo(binding.type)
  }
}
