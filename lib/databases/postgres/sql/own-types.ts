/**
 * Types shown as texts, but with an order of their own (`inet`, `money`, enums): an interval of 9 days is less than 10 days, though the
 * text is greater. Filters and sort keys compare by the type.
 */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

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
