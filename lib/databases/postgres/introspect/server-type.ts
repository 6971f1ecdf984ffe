/** Finds MikroORM's type for a column of a server. Unknown types are served as the server's text. */
import { ArrayType, BigIntType, DecimalType, types } from '@mikro-orm/core'
import type { ColumnRow, TypeRow } from './catalogue.ts'

/** With domains resolved. */
export interface ServerType {
  readonly members: object
  /** For a key column; `undefined` where no ID can be made. */
  readonly keyMembers: object | undefined
  readonly isInteger: boolean
  readonly notNull: boolean
  readonly defaultSql: string | null
  /** Checks of domains, over VALUE. */
  readonly checks: readonly string[]
}

/** Digits of an exact JSON number. */
const EXACT_DIGITS = 15

/** An element may be NULL or a list. */
function toNumber(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(toNumber)
  const number = Number(item)
  // JSON has no infinity.
  return item === null || !Number.isFinite(number) ? null : number
}

function toBoolean(item: unknown): unknown {
  return Array.isArray(item) ? item.map(toBoolean) : item === null ? null : item === true || item === 't'
}

/** Built-in types without details. */
const KNOWN: Readonly<Record<string, object>> = {
  int2: { type: types.smallint },
  int4: { type: types.integer },
  float8: { type: types.double },
  bool: { type: types.boolean },
  text: { type: types.text },
  uuid: { type: types.uuid },
  date: { type: types.date },
  timestamptz: { type: types.datetime },
  timestamp: { type: types.datetime, columnType: 'timestamp' },
  time: { type: types.time },
  json: { type: types.json, columnType: 'json' },
  jsonb: { type: types.json },
  bytea: { type: types.blob },
  float4: { type: types.float, columnType: 'real' },
  oid: { type: new BigIntType('number'), columnType: 'oid' },
}

/** Parts of an ID without conversion. */
const KEYS = new Set(['int2', 'int4', 'oid', 'text', 'uuid', 'date'])

/** Too large for an ID, or shown otherwise than as a text. */
const NO_KEYS = new Set(['float8', 'float4', 'bool', 'json', 'jsonb', 'bytea'])

export class ServerTypes {
  readonly #byId: ReadonlyMap<string, TypeRow>

  constructor(rows: readonly TypeRow[]) {
    this.#byId = new Map(rows.map(row => [row.id, row]))
  }

  of(column: Pick<ColumnRow, 'type' | 'typeId' | 'modifier'>): ServerType {
    const row = this.#byId.get(column.typeId)!
    if (row.kind === 'd') return this.#ofDomain(row)
    if (row.category === 'A' && row.element !== '0') return plain({ type: this.#arrayOf(row.element), columnType: column.type })
    if (row.labels !== null) {
      const members = { enum: true, items: [...row.labels], columnType: column.type, runtimeType: 'string' }
      return plain(members, members)
    }
    return row.schema === 'pg_catalog' ? describeBuiltIn(row.name, column) : describeText(column.type)
  }

  #ofDomain(domain: TypeRow): ServerType {
    const base = this.#byId.get(domain.base)!
    const inner = this.of({ type: base.written, typeId: domain.base, modifier: domain.modifier })
    return {
      ...inner,
      notNull: domain.notNull || inner.notNull,
      defaultSql: domain.defaultSql ?? inner.defaultSql,
      checks: [...(domain.checks ?? []), ...inner.checks],
    }
  }

  #arrayOf(element: string): ArrayType<unknown> {
    let row = this.#byId.get(element)!
    while (row.kind === 'd') row = this.#byId.get(row.base)!
    if (row.schema !== 'pg_catalog') return new ArrayType<unknown>()
    if (['int2', 'int4', 'float4', 'float8'].includes(row.name)) return new ArrayType<unknown>(toNumber)
    return row.name === 'bool' ? new ArrayType<unknown>(toBoolean) : new ArrayType<unknown>()
  }
}

function describeBuiltIn(name: string, { modifier }: Pick<ColumnRow, 'modifier'>): ServerType {
  if (name === 'int8') return { ...plain({ type: new BigIntType() }, { type: new BigIntType() }), isInteger: true }
  if (name === 'numeric') return describeNumeric(modifier)
  if (name === 'varchar' || name === 'bpchar') {
    const length = modifier < 4 ? {} : { length: modifier - 4 }
    const members =
      name === 'bpchar' ? { type: types.string, ...length, columnType: 'bpchar', runtimeType: 'string' } : { type: types.string, ...length }
    // Else MikroORM would assume a length.
    const free = name === 'varchar' && modifier < 4 ? { type: types.text } : members
    return plain(free, free)
  }
  const members = KNOWN[name]
  if (members === undefined) return describeText(`pg_catalog.${name}`)
  const isInteger = name === 'int2' || name === 'int4'
  if (KEYS.has(name)) return { ...plain(members, members), isInteger }
  return plain(members, NO_KEYS.has(name) ? undefined : asText(`pg_catalog.${name}`))
}

/** The scale may be negative. */
function describeNumeric(modifier: number): ServerType {
  const key = asText('pg_catalog.numeric')
  if (modifier < 4) return plain({ type: new DecimalType(), precision: undefined, scale: undefined, columnType: 'numeric' }, key)
  const precision = (modifier - 4) >> 16
  const scale = (((modifier - 4) & 0x7ff) ^ 0x400) - 0x400
  const type = precision <= EXACT_DIGITS ? new DecimalType('number') : new DecimalType()
  return plain({ type, precision, scale: Math.max(scale, 0) }, key)
}

/** MikroORM does not know a full name such as `pg_catalog.inet`. */
function describeText(type: string): ServerType {
  return plain(asText(type), asText(type))
}

function asText(columnType: string): object {
  return { type: types.string, columnType, runtimeType: 'string' }
}

function plain(members: object, keyMembers?: object): ServerType {
  return { members, keyMembers, isInteger: false, notNull: false, defaultSql: null, checks: [] }
}
