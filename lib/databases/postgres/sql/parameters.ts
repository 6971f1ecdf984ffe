/**
 * Numbers the `?` of a statement, and adds casts: `id = $1::bigint`. Without a cast, a parameter has the column's type, and a misfit fails
 * instead of finding nothing.
 */
import { idParts } from '../../../model/key.ts'
import type { Binding } from '../../../records/database/binding.ts'
import type { Statement } from '../../../records/database/dialect.ts'
import type { Sql } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findOwnType, type OwnTypes } from './own-types.ts'
import { OWN_TYPE } from './value-forms.ts'

/** Skips question marks in names and texts. */
const TOKENS = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\?/g

export function numberParameters({ text, bindings }: Sql, own: OwnTypes): Statement {
  if (bindings.length === 0) return { sql: text, bindings }
  let count = 0
  const sql = text.replaceAll(TOKENS, token => (token === '?' ? `$${count + 1}${formatCast(bindings[count++]!, own)}` : token))
  return { sql, bindings }
}

/** @returns undefined for a custom type, where the column decides */
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

/** PostgreSQL's `char(5)`, which ignores trailing blanks. */
export const BLANK_PADDED = 'bpchar'

/**
 * Types shown as texts (`inet`, an enum) are compared as texts: not every text is a value. Numbers of 32 bits are compared as shown: 0.1 is
 * another number in 64 bits.
 */
export function castColumn(expression: string, { kind, column }: ScalarType): string {
  if (column === undefined || column === BLANK_PADDED) return expression
  // A cast would add a mask.
  if (column === 'pg_catalog.inet') return `(case when ${expression} is not null then concat(${expression}) end)`
  if (kind === 'text') return `(${expression})::text`
  // A number would become an oid, not always valid.
  if (kind === 'bigint') return `(${expression})::bigint`
  return kind === 'float' ? `(${expression})::text::float8` : expression
}

function castTo(type: ScalarType, suffix = ''): string {
  const name = findSqlType(type)
  return name === undefined ? '' : `::${name}${suffix}`
}

function formatCast(binding: Binding, own: OwnTypes): string {
  switch (binding.from) {
    case 'limit':
    case 'offset':
    case 'most':
      return '::bigint'
    case 'cursor':
      // The compared type decides.
      return ''
    case 'links':
      return binding.parts.length === 1 ? castTo(binding.parts[0]!.type, '[]') : '::json'
    case 'filterList':
      return binding.forms.includes(OWN_TYPE) ? `::${findOwnType(binding.type, own)}[]` : castTo(binding.type, '[]')
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
      // In the application's SQL, a text beside a date is a date.
      return typeof binding.value === 'number' ? '::numeric' : ''
    case 'filter':
    case 'scope':
    case 'model':
      if (binding.form === OWN_TYPE) return `::${findOwnType(binding.type, own)}`
      // Parts of patterns are texts.
      return binding.form !== 'value' && binding.form.of === 'pattern' ? '::text' : castTo(binding.type)
  }
}
