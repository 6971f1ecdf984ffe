/**
 * Numbers the `?` of a statement, and adds casts: `id = $1::bigint`. Without a cast, a parameter has the column's type, and a misfit fails
 * instead of finding nothing.
 */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { idParts } from '../../../model/key.ts'
import type { Binding } from '../../../records/database/binding.ts'
import type { Statement } from '../../../records/database/dialect.ts'
import type { Sql } from '../../sql/sql.ts'
import { OWN_TYPE } from './value-forms.ts'

/** By each name of a type: the type to cast to; for a domain, the base. */
export type OwnTypes = ReadonlyMap<string, string>

export const NO_OWN_TYPES: OwnTypes = new Map()

/**
 * Enums, ranges, and types with an order by default. Not texts (`citext`), compared by code point, nor orders by other operators than `<`
 * (`hstore`). The quoted name of a type has no length; a bare `bit` has.
 */
export const OWN_TYPES_SQL = `with recursive own(id, base) as (
    select t.oid, t.oid from pg_type t where t.typtype in ('e', 'r', 'm') or (t.typcategory not in ('S', 'Z') and exists (
      select from pg_opclass c join pg_am a on a.oid = c.opcmethod and a.amname = 'btree'
      join pg_amop s on s.amopfamily = c.opcfamily and s.amopstrategy = 1 and s.amoplefttype = t.oid and s.amoprighttype = t.oid
      join pg_operator o on o.oid = s.amopopr and o.oprname = '<' and pg_operator_is_visible(o.oid)
      where c.opcdefault and c.opcintype = t.oid))
    union all select d.oid, own.base from own join pg_type d on d.typtype = 'd' and d.typbasetype = own.id)
  select t.typname, n.nspname || '.' || t.typname, quote_ident(n.nspname) || '.' || quote_ident(t.typname), format_type(t.oid, null),
    quote_ident(m.nspname) || '.' || quote_ident(b.typname)
  from own join pg_type t on t.oid = own.id join pg_namespace n on n.oid = t.typnamespace
  join pg_type b on b.oid = own.base join pg_namespace m on m.oid = b.typnamespace order by pg_type_is_visible(t.oid)`

/** @param rows of `OWN_TYPES_SQL` */
export function listOwnTypes(rows: readonly (readonly unknown[])[]): OwnTypes {
  return new Map(
    rows.flatMap(([...names]) => {
      const base = names.pop() as string
      return names.map(name => [name as string, base] as const)
    }),
  )
}

/** `bit(4)`, `interval year to month` */
const DETAILS = /\(\d+(?:, ?-?\d+)?\)|(?<=^(?:pg_catalog\.)?interval\b).*/i

/** @returns undefined where the shown texts are compared */
export function findOwnType({ kind, column }: ScalarType, own: OwnTypes): string | undefined {
  if (kind !== 'text' || column === undefined) return undefined
  const bare = column.replace(DETAILS, '').trim()
  return own.get(column) ?? own.get(bare) ?? own.get(bare.replace('pg_catalog.', '')) ?? own.get(bare.toLowerCase())
}

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
