/**
 * Finds the type of a file's column by declaration, and by some rows where several forms are possible. SQLite enforces almost no type
 * (https://www.sqlite.org/datatype3.html).
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { ScalarKind } from '../../../foundation/values/scalar-type.ts'
import { findAffinity } from '../database/affinity.ts'
import { NUMERIC } from '../sql/exact-decimals.ts'
import { areDates, findStoredTime, type FileScalar } from '../sql/stored-time.ts'
import type { FileColumn, FileTable } from './introspect.ts'
import { name as quoted } from '../../sql/sql.ts'

/** MySQL declares booleans so, and other programs follow. */
const TINY = /^\s*TINYINT\s*\(\s*1\s*\)\s*$/i

/** Rows from each end. */
const SAMPLES = 50

/** More exact than an affinity. */
const NAMED: readonly (readonly [RegExp, ScalarKind])[] = [
  [/^BOOL(?:EAN)?$/, 'boolean'],
  [/^(?:DATETIME|TIMESTAMP)/, 'datetime'],
  [/^DATE$/, 'date'],
  [/^TIME/, 'time'],
  [/^JSONB?$/, 'json'],
  [/^(?:UUID|GUID|UNIQUEIDENTIFIER)$/, 'uuid'],
  [/^(?:BIGINT|BIG INT|INT8|UNSIGNED BIG INT)(?: UNSIGNED)?$/, 'bigint'],
  [/^(?:DEC|DECIMAL|NUMERIC|NUMBER|MONEY|SMALLMONEY|CURRENCY)$/, 'decimal'],
  [/^YEAR$/, 'integer'],
  [/^(?:VAR)?BINARY$|^BYTEA$/, 'blob'],
  [/^(?:MULTI)?POINT$/, 'any'],
  // SQLite's rules of affinity, in their order.
  [/INT/, 'integer'],
  [/CHAR|CLOB|TEXT/, 'text'],
  [/BLOB/, 'blob'],
  [/REAL|FLOA|DOUB/, 'float'],
]

interface Declared {
  readonly kind: ScalarKind
  readonly first: number | undefined
  readonly second: number | undefined
}

function parseDeclared(type: string): Declared {
  const [, name = '', first, second] =
    /^\s*([^(]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\).*)?$/.exec(type.toUpperCase().replaceAll(/\s+/g, ' ')) ?? []
  return {
    kind: NAMED.find(([pattern]) => pattern.test(name))?.[1] ?? 'any',
    first: first === undefined ? undefined : Number(first),
    second: second === undefined ? undefined : Number(second),
  }
}

export function readDeclared(type: string): ScalarKind {
  return parseDeclared(type).kind
}

/** Both hold texts, or numbers, compared as stored. */
export function isComparable(column: FileColumn, other: FileColumn): boolean {
  const [kind, referred] = [column, other].map(({ type, collated }) => (collated || TINY.test(type) ? undefined : parseDeclared(type).kind))
  return kind === referred && (kind === 'text' || kind === 'uuid' || kind === 'integer' || kind === 'bigint')
}

/** A column of unknown type, such as `STRING`: SQLite makes numbers of strings of digits. */
export function isNumeric({ type }: FileColumn): boolean {
  return parseDeclared(type).kind === 'any' && findAffinity(type) === 'number'
}

export class ColumnTypes {
  readonly #table: FileTable
  readonly #samples: ReadonlyMap<string, readonly unknown[]>

  constructor(db: RawDatabase, table: FileTable) {
    this.#table = table
    const wanted = table.columns.filter(({ name, type }) => {
      const { kind } = parseDeclared(type)
      return kind === 'datetime' || kind === 'date' || TINY.test(type) || table.key.includes(name)
    })
    // Reading a view may cost any amount.
    this.#samples =
      table.kind === 'table' && wanted.length > 0
        ? readSamples(
            db,
            table,
            wanted.map(({ name }) => name),
          )
        : new Map()
  }

  of(column: FileColumn): FileScalar {
    const samples = this.#samples.get(column.name) ?? []
    const { kind, first, second } = parseDeclared(column.type)
    const type: FileScalar = { kind, loose: true, ...(column.collated ? { collated: true } : {}) }
    switch (kind) {
      case 'datetime':
        // Rows of a view may have other forms.
        return { ...type, time: { ...findStoredTime(samples), ...(this.#table.kind === 'table' ? {} : { uniform: false }) } }
      case 'date':
        return areDates(samples) ? type : { ...type, kind: 'datetime', time: findStoredTime(samples) }
      case 'decimal':
        return { ...type, asNumber: true, ...(first === undefined ? {} : { precision: first, scale: second ?? 0 }) }
      case 'text':
        return {
          ...type,
          ...findItems(column, 'string'),
          // `char(0)` would allow only empty texts.
          ...(first === undefined || first === 0 || column.items !== undefined ? {} : { length: first }),
        }
      case 'integer':
        if (TINY.test(column.type) && samples.every(value => value === 0 || value === 1)) return { ...type, kind: 'boolean' }
        return { ...type, ...findItems(column, 'number') }
      case 'any':
        return isNumeric(column) ? { ...type, column: NUMERIC } : type
      default:
        return type
    }
  }

  /** @returns undefined for a column that no ID can have */
  ofKey(column: FileColumn): FileScalar | undefined {
    const type = this.#findKeyType(column)
    // SQLite refuses a rowid other than an integer.
    return type === undefined || this.#table.rowidKey ? type : { ...type, strays: true }
  }

  #findKeyType(column: FileColumn): FileScalar | undefined {
    const type = this.of(column)
    const { kind } = type
    const samples = this.#samples.get(column.name) ?? []
    // Programs store UUIDs as blobs in columns of any type.
    if (samples.length > 0 && samples.every(value => value instanceof Uint8Array)) return undefined
    if (kind === 'text' || kind === 'bigint') return type
    // IDs are compared as stored, and UUIDs are lower case in the API.
    if (kind === 'uuid')
      return samples.every(value => typeof value === 'string' && value === value.toLowerCase()) ? type : { ...type, kind: 'text' }
    // A JSON number beyond 2^53 is not exact.
    if (kind === 'integer') return samples.some(value => typeof value === 'bigint') ? { kind: 'bigint', loose: true } : type
    if (kind === 'date') return type
    if (kind === 'blob' || samples.some(value => value instanceof Uint8Array || (typeof value === 'number' && !Number.isInteger(value))))
      return undefined
    if (samples.length > 0 && samples.every(value => typeof value === 'number')) return { kind: 'integer', loose: true }
    if (samples.some(value => typeof value === 'bigint')) return { kind: 'bigint', loose: true }
    if (kind === 'boolean' || kind === 'decimal')
      return samples.some(value => typeof value === 'string') ? { kind: 'text', loose: true } : { kind: 'integer', loose: true }
    if (kind === 'any') return { ...type, kind: 'text' }
    return kind === 'float' || kind === 'json' ? undefined : { kind: 'text', loose: true, ...(column.collated ? { collated: true } : {}) }
  }
}

function findItems({ items }: FileColumn, type: 'string' | 'number'): { items?: readonly (string | number)[] } {
  return items !== undefined && items.length > 0 && items.every(item => typeof item === type) ? { items: Object.freeze([...items]) } : {}
}

/** Reads from the beginning of the table and, where cheap, from the end. Omits NULL. */
function readSamples(db: RawDatabase, table: FileTable, columns: readonly string[]): ReadonlyMap<string, readonly unknown[]> {
  const from = `select ${columns.map(quoted).join(', ')} from main.${quoted(table.name)}`
  const rows = db.prepare(`${from} limit ${SAMPLES}`).safeIntegers(true).raw().all() as unknown[][]
  if (rows.length === SAMPLES && table.rowid !== undefined) {
    rows.push(...(db.prepare(`${from} order by ${table.rowid} desc limit ${SAMPLES}`).safeIntegers(true).raw().all() as unknown[][]))
  }
  const [key, ...others] = table.key
  // Only the key's index shows keys beyond 2^53 in the middle of a long table.
  if (rows.length >= SAMPLES && key !== undefined && others.length === 0 && !table.rowidKey) {
    for (const end of ['min', 'max']) {
      const value = `select ${end}(${quoted(key)}) from main.${quoted(table.name)} where ${quoted(key)} < ''`
      const found: unknown = db.prepare(value).safeIntegers(true).pluck().get()
      rows.push(columns.map(column => (column === key ? found : null)))
    }
  }
  return new Map(columns.map((column, index) => [column, rows.map(row => toNumber(row[index])).filter(value => value !== null)]))
}

/** Changes nothing where a number would not be exact. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
