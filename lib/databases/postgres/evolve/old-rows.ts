/** Reads the rows of a table, with JSON values, for functions of `fill`. */
import type { PoolClient } from 'pg'
import type { DatabaseTable } from '@mikro-orm/postgresql'
import type { OldRows } from '../../evolve/compute-fill.ts'
import type { EvolvedColumn } from '../../evolve/evolved-columns.ts'
import { name } from '../../sql/sql.ts'
import { findDecoder } from '../sql/decode.ts'
import { ask } from '../server/sessions.ts'

interface ReadTable {
  readonly table: string
  readonly quoted: string
  readonly keys: readonly string[]
  readonly where?: string
  /** The table with the columns to read; undefined: all columns. */
  readonly before?: DatabaseTable
  readonly modelled: ReadonlyMap<string, EvolvedColumn> | undefined
}

export async function readOldRows({ table, quoted, keys, where = '', before, modelled }: ReadTable, session: PoolClient): Promise<OldRows> {
  const found = await ask(
    session,
    `select attname, format_type(atttypid, null) from pg_attribute
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
    [quoted],
  )
  const old = found.filter(([column]) => before?.hasColumn(String(column)) !== false)
  const columns = old.map(([column, type]) => ({ name: String(column), decode: decoderOf(String(type), modelled?.get(String(column))) }))
  const shown = keys.length === 0 ? ['ctid'] : keys.map(name)
  const list = ['ctid', ...shown, ...columns.map(column => name(column.name))].map(each => `${each}::text`)
  const rows = await ask(session, `select ${list.join(', ')} from ${quoted}${where} order by ctid`)
  return {
    table,
    columns,
    rows: rows.map(([place, ...values]) => ({
      place: String(place),
      shown: `${keys.length === 0 ? 'row' : keys.join('~')} ${values.slice(0, shown.length).map(String).join('~')}`,
      values: values.slice(shown.length),
    })),
  }
}

/** Decodes by the column's type, and by the model's where both agree. */
function decoderOf(type: string, evolved: EvolvedColumn | undefined): (value: unknown) => unknown {
  const modelled = evolved?.type
  const kind = KINDS.find(([pattern]) => pattern.test(type))?.[1]
  if (kind === 'boolean') return text => text === 'true' || text === 't'
  if (modelled !== undefined && modelled.kind !== 'integer' && modelled.kind !== 'float' && (kind === undefined || kind === modelled.kind))
    return (findDecoder(modelled) as ((value: unknown) => unknown) | undefined) ?? (text => text)
  const decode = kind === undefined ? undefined : findDecoder({ kind })
  return (decode as ((value: unknown) => unknown) | undefined) ?? (text => text)
}

const KINDS = [
  [/^boolean$/, 'boolean'],
  [/^(?:smallint|integer)$/, 'integer'],
  [/^(?:real|double precision)$/, 'float'],
  [/^timestamp/, 'datetime'],
  [/^jsonb?$/, 'json'],
  [/^bytea$/, 'blob'],
] as const

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}
