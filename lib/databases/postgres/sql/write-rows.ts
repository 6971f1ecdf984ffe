/** INSERT statements with generated keys, comparisons of columns with new values, parameters. */
import { JsonProperty, Utils } from '@mikro-orm/core'
import type { Statement } from '../../../records/database/dialect.ts'
import type { StoredColumn, StoredTable } from '../../../model/stored-table.ts'
import { literal, name, sql, tableName, type Sql } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { formatTime } from './encode.ts'

/** Kinds that columns compare like MikroORM. */
const COMPARABLE: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'date', 'time', 'uuid', 'blob'])

/** See `Flavour.differs`. A parameter in a CASE takes the column's type. */
export function differs(column: string, parameter: Sql, type: ScalarType | undefined): Sql {
  const kind = type?.kind ?? 'text'
  if (COMPARABLE.has(kind)) return sql`${column} is distinct from ${parameter}`
  // A column may hold finer times than MikroORM.
  if (kind === 'datetime') return sql`date_trunc('milliseconds', ${column}) is distinct from ${parameter}`
  const typed = sql`(case when true then ${parameter} else ${column} end)`
  // The type `json` has no comparison.
  if (kind === 'json') return sql`${column}::jsonb is distinct from ${typed}::jsonb`
  // Types and collations may take different texts for equal.
  return sql`${column}::text collate "C" is distinct from ${typed}::text collate "C"`
}

/** See `WritingDialect.insert`. */
export function compileInsert(stored: StoredTable, columns: readonly StoredColumn[]): Statement {
  const { table, key, uniques, keepsUnique } = stored
  if (columns.length === 0) return returnKeys(`insert into ${tableName(table)} default values`, stored, columns)
  const places = new Map(columns.map(({ column }, index) => [column, `$${index + 1}`]))
  const isTaken = (set: readonly StoredColumn[]): string =>
    set.map(each => `${castToOwn(each)} = ${takeType(places.get(each.column)!, name(each.column))}`).join(' and ')
  // Without guards where functions of the model give values: after a skipped insert, the functions would run again.
  const sets = (keepsUnique ? [key, ...uniques] : []).filter(set => set.every(({ column }) => places.has(column)))
  const guards = sets.map(set => `not exists (select from ${tableName(table)} where ${isTaken(set)})`)
  const where = guards.length === 0 ? '' : ` where ${guards.join(' and ')}`
  // A parameter has a single type everywhere: for a domain, the base. A table may have the name of a type (line, point, name).
  const compared = new Set(sets.flat().map(({ column }) => column))
  const values = [...places].map(([column, place]) =>
    compared.has(column) ? takeType(place, `(select ${name(column)} from ${tableName(table)} limit 0)`) : place,
  )
  return returnKeys(`${formatInto(stored, columns)} select ${values.join(', ')}${where}`, stored, columns)
}

/** See `WritingDialect.insertRows`. */
export function compileInsertRows(stored: StoredTable, columns: readonly StoredColumn[], rows: number): Statement {
  const values = Array.from(
    { length: rows },
    (_, row) => `(${columns.map((__, index) => `$${row * columns.length + index + 1}`).join(', ')})`,
  )
  return returnKeys(`${formatInto(stored, columns)} values ${values.join(', ')}`, stored, columns)
}

function formatInto({ table }: StoredTable, columns: readonly StoredColumn[]): string {
  return `insert into ${tableName(table)} (${columns.map(({ column }) => name(column)).join(', ')})`
}

/** Raises the sequence above inserted keys. */
function returnKeys(insert: string, { table, counter }: StoredTable, columns: readonly StoredColumn[]): Statement {
  if (counter === undefined) return { sql: insert, bindings: [] }
  const keyName = name(counter.column)
  if (!columns.some(({ column }) => column === counter.column)) return { sql: `${insert} returning ${keyName}`, bindings: [] }
  const raise = raiseSequence(`select max(${keyName}) as k from w`, [literal(tableName(table)), literal(counter.column)])
  return { sql: `with w as (${insert} returning ${keyName}) select w.${keyName}, (${raise}) from w`, bindings: [] }
}

/**
 * Moves a sequence behind a key, not to generate the key again. Takes the next value of an unused sequence, maybe restarted.
 *
 * @param highest a query for the key, `k`
 * @param place the quoted table and the column, as SQL texts
 */
export function raiseSequence(highest: string, [table, column]: readonly [string, string]): string {
  const sequence = `select pg_get_serial_sequence(${table}, ${column})::regclass as s`
  const next = 'case when m.k > 0 and pg_sequence_last_value(q.s) is null then nextval(q.s) end'
  return (
    `select setval(n.s, greatest(m.k, n.v), coalesce(n.v <= m.k, true)) from (${highest}) as m, lateral (select q.s, ${next} as v ` +
    `from (${sequence}) as q) as n where n.s is not null and m.k > 0 and (n.v is not null or pg_sequence_last_value(n.s) < m.k)`
  )
}

/** A parameter of a column's type. */
function takeType(parameter: string, column: string): string {
  return `case when true then ${parameter} else ${column} end`
}

/** A domain over an enum has no operators, unlike its base type. */
function castToOwn({ column, type }: StoredColumn): string {
  return type?.kind === 'text' && type.column !== undefined ? `${name(column)}::${type.column}` : name(column)
}

/** See `WritingDialect.toParameter`. The column converts the text. */
export function toParameter(value: unknown): unknown {
  if (value === undefined || value === null) return null
  switch (typeof value) {
    case 'string':
      return value.includes('\0') ? undefined : value
    case 'bigint':
    case 'number':
    case 'boolean':
      return String(value)
    default:
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : formatTime(value.getTime())
      if (value instanceof Uint8Array) return value
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}
