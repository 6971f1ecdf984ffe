/** Reads the system catalogues on some schemas, by five statements sent together: tables, columns, types, constraints, unique indexes. */
import type { PoolClient } from 'pg'
import { literal } from '../../sql/sql.ts'
import { OWN_TABLES } from '../kit/change-log.ts'
import { ask } from '../server/sessions.ts'

/** A table or view; no partition. */
export interface RelationRow {
  readonly oid: string
  readonly schema: string
  readonly name: string
  /** r: table, p: partitioned table, v: view, m: materialised view, f: foreign table. */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f'
  /** The role may read at least some columns. */
  readonly readable: boolean
  /** The role may write some, or delete. */
  readonly writable: boolean
  /** `false` for a materialised view without data. */
  readonly filled: boolean
  /** Owning extension. */
  readonly extension: string | null
}

export interface ColumnRow {
  readonly relation: string
  readonly name: string
  /** With digits or length: `numeric(10,2)`. */
  readonly type: string
  readonly typeId: string
  /** Digits or length, as PostgreSQL holds both; -1: none. */
  readonly modifier: number
  readonly notNull: boolean
  /** a: always, d: by default. */
  readonly identity: 'a' | 'd' | ''
  readonly generated: 's' | 'v' | ''
  /** Of a default, a generated column, or an identity's sequence. */
  readonly expression: string | null
  readonly readable: boolean
}

export interface TypeRow {
  readonly id: string
  readonly name: string
  readonly written: string
  readonly schema: string
  /** b: base, c: composite, d: domain, e: enum, r: range, m: multirange. */
  readonly kind: string
  readonly category: string
  /** Type of elements; 0 where no array with commas: `box[]`, `int2vector`. */
  readonly element: string
  /** The base of a domain. */
  readonly base: string
  readonly modifier: number
  readonly notNull: boolean
  readonly defaultSql: string | null
  /** Labels of an enum. */
  readonly labels: readonly string[] | null
  /** Of domains, without NOT NULL. */
  readonly checks: readonly string[] | null
}

interface ConstraintRow {
  readonly relation: string
  /** p: primary key, f: foreign key, c: check. */
  readonly kind: 'p' | 'f' | 'c'
  readonly columns: readonly string[]
  readonly target: string
  readonly targets: readonly string[] | null
  /** a: no action, r: restrict, c: cascade, n: set null, d: set default. */
  readonly onDelete: string
  readonly definition: string | null
}

/** A valid unique index of columns, over all rows, not primary. */
interface UniqueRow {
  readonly relation: string
  readonly columns: readonly string[]
}

export interface Catalogue {
  readonly relations: readonly RelationRow[]
  readonly columns: readonly ColumnRow[]
  readonly types: readonly TypeRow[]
  readonly constraints: readonly ConstraintRow[]
  readonly uniques: readonly UniqueRow[]
}

/** Relations but partitions and the engine's tables. */
const SERVED = `from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and c.relname not in (${OWN_TABLES.map(literal).join(', ')})`

const nameColumns = (relation: string, numbers: string): string =>
  `(select json_agg(a.attname order by u.i) from unnest(${numbers}) with ordinality as u(n, i) ` +
  `join pg_attribute a on a.attrelid = ${relation} and a.attnum = u.n)`

const RELATIONS = `select c.oid::text as oid, n.nspname as schema, c.relname as name, c.relkind as kind, c.relispopulated as filled,
  has_schema_privilege(n.oid, 'usage') and (has_table_privilege(c.oid, 'select') or has_any_column_privilege(c.oid, 'select')) as readable,
  has_any_column_privilege(c.oid, 'insert, update') or has_table_privilege(c.oid, 'insert, update, delete') as writable,
  (select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
    where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      and d.refclassid = 'pg_extension'::regclass limit 1) as extension
  ${SERVED} order by array_position($1::text[], n.nspname::text), c.oid`

const COLUMNS = `select a.attrelid::text as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  a.atttypid::text as "typeId",
  a.atttypmod as modifier, a.attnotnull as "notNull", a.attidentity as identity, a.attgenerated as generated,
  coalesce(pg_get_expr(d.adbin, d.adrelid), case when a.attidentity <> ''
    then format('nextval(%L::regclass)', pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)) end) as expression,
  has_column_privilege(a.attrelid, a.attnum, 'select') as readable
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and a.attrelid in (select c.oid ${SERVED}) order by a.attrelid, a.attnum`

const TYPES = `with recursive used(id) as (
    select a.atttypid from pg_attribute a where a.attnum > 0 and not a.attisdropped and a.attrelid in (select c.oid ${SERVED})
    union select case when t.typtype = 'd' then t.typbasetype else t.typelem end from used join pg_type t on t.oid = used.id
    where t.typtype = 'd' or (t.typcategory = 'A' and t.typelem <> 0))
  select t.oid::text as id, t.typname as name, format_type(t.oid, null) as written,
  n.nspname as schema, t.typtype as kind, t.typcategory as category,
  case when t.typcategory = 'A' and exists (select from pg_type e where e.oid = t.typelem and e.typarray = t.oid and e.typdelim = ',')
    then t.typelem else 0 end::text as element, t.typbasetype::text as base, t.typtypmod as modifier,
  t.typnotnull as "notNull", t.typdefault as "defaultSql",
  (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as labels,
  (select json_agg(pg_get_constraintdef(k.oid)) from pg_constraint k where k.contypid = t.oid and k.contype = 'c') as checks
  from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.oid in (select id from used)`

/** Without a foreign key's further entries for partitions. */
const CONSTRAINTS = `select k.conrelid::text as relation, k.contype as kind, ${nameColumns('k.conrelid', 'k.conkey')} as columns,
  k.confrelid::text as target, ${nameColumns('k.confrelid', 'k.confkey')} as targets, k.confdeltype as "onDelete",
  case when k.contype = 'c' then pg_get_constraintdef(k.oid) end as definition
  from pg_constraint k where k.contype in ('p', 'f', 'c') and k.conparentid = 0 and k.conkey is not null
  and k.conrelid in (select c.oid ${SERVED}) order by k.oid`

const UNIQUES = `select i.indrelid::text as relation, ${nameColumns('i.indrelid', '(i.indkey::int2[])[0:i.indnkeyatts - 1]')} as columns
  from pg_index i where i.indisunique and not i.indisprimary and i.indisvalid and i.indpred is null
  and not 0 = any((i.indkey::int2[])[0:i.indnkeyatts - 1]) and i.indrelid in (select c.oid ${SERVED}) order by i.indexrelid`

/** @param schemas in their order */
export async function readCatalogue(session: PoolClient, schemas: readonly string[]): Promise<Catalogue> {
  // `ask` gives texts alone, JSON numbers, too.
  const read = async <T>(text: string): Promise<readonly T[]> => {
    const [row] = await ask(session, `select coalesce(json_agg(row_to_json(found)), '[]') from (${text}) as found`, [schemas])
    return JSON.parse(row![0] as string) as T[]
  }
  const [relations, columns, types, constraints, uniques] = await Promise.all([
    read<RelationRow>(RELATIONS),
    read<ColumnRow>(COLUMNS),
    read<TypeRow>(TYPES),
    read<ConstraintRow>(CONSTRAINTS),
    read<UniqueRow>(UNIQUES),
  ])
  return { relations, columns, types, constraints, uniques }
}

/** Omits the server's own schemas. */
export async function listSchemas(session: PoolClient): Promise<string[]> {
  const rows = await ask(
    session,
    `select n.nspname from pg_namespace n where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
     and exists (select from pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')) order by 1`,
  )
  return rows.map(([schema]) => schema as string)
}
