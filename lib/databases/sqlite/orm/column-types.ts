/**
 * Maps types of PostgreSQL, MySQL and others to SQLite's: `timestamptz` to `datetime`. MikroORM takes unknown types for text. Mends types
 * that SQLite would store wrongly, such as days, and text keys with `autoincrement`.
 */
import { BigIntType, DateType, StringType, TextType, type EntityMetadata, type MikroORM } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'

interface Meaning {
  readonly type: string
  /** Holds the values unchanged. */
  readonly column: string
  readonly names: string
}

const MEANINGS: readonly Meaning[] = [
  { type: 'datetime', column: 'datetime', names: 'timestamptz timestamp datetime2 datetimeoffset smalldatetime' },
  { type: 'time', column: 'time', names: 'timetz' },
  { type: 'smallint', column: 'integer', names: 'int2 smallserial serial2' },
  { type: 'integer', column: 'integer', names: 'int4 serial serial4 year oid' },
  { type: 'bigint', column: 'bigint', names: 'int8 bigserial serial8' },
  { type: 'boolean', column: 'integer', names: 'bool bit' },
  { type: 'float', column: 'real', names: 'real float4' },
  { type: 'double', column: 'double', names: 'float8' },
  { type: 'blob', column: 'blob', names: 'bytea binary varbinary tinyblob mediumblob longblob image' },
  { type: 'json', column: 'json', names: 'jsonb' },
  { type: 'uuid', column: 'text', names: 'uniqueidentifier' },
  {
    type: 'text',
    column: 'text',
    names:
      'citext tinytext mediumtext longtext ntext nchar nvarchar varchar2 nvarchar2 clob nclob bpchar name xml hstore money varbit set ' +
      'inet cidr macaddr macaddr8 ltree lquery ltxtquery tsvector tsquery regclass regconfig jsonpath pg_lsn ' +
      'int4range int8range numrange tsrange tstzrange daterange int4multirange int8multirange nummultirange tsmultirange tstzmultirange ' +
      'datemultirange vector halfvec sparsevec ' +
      'point line lseg box path polygon circle geometry geography linestring multipoint multilinestring multipolygon geometrycollection',
  },
]

const BY_NAME = new Map(MEANINGS.flatMap(meaning => meaning.names.split(' ').map(name => [name, meaning] as const)))

const LONG_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^timestamp\b.*\bwith(?:out)?(?: local)? time zone/, 'timestamptz'],
  [/^time\b.*\bwith(?:out)? time zone/, 'timetz'],
  [/^(?:national )?(?:character|char) varying/, 'varchar'],
  [/^national char/, 'nchar'],
  [/^bit varying/, 'varbit'],
  [/^double precision/, 'double'],
]

/** Many columns, few types. */
const simplified = new LruCache<string>(200)

function simplifyName(declared: string): string {
  const known = simplified.get(declared)
  if (known !== undefined) return known
  const name = computeSimpleName(declared)
  simplified.set(declared, name)
  return name
}

function computeSimpleName(declared: string): string {
  const lower = declared.trim().toLowerCase()
  const long = LONG_NAMES.find(([pattern]) => pattern.test(lower))
  if (long !== undefined) return long[1]
  // MySQL's spelling of a boolean.
  if (/^(?:tinyint|bit)\(1\)/.test(lower)) return 'bool'
  if (lower.startsWith('bit(')) return 'varbit'
  return /^[^(]*/
    .exec(lower)![0]
    .replace(/^(?:pg_catalog|public)\./, '')
    .replaceAll('"', '')
    .replace(/\s+(?:unsigned|signed|zerofill|identity|auto_increment|character set|charset|collate)\b.*$/, '')
    .trim()
}

function isList(declared: string): boolean {
  return /\[\d*\]\s*$/.test(declared)
}

/** @returns undefined for SQLite's own types and unknown types */
export function findMeaning(declared: string): string | undefined {
  if (isList(declared)) return undefined
  const name = simplifyName(declared)
  return BY_NAME.get(name)?.type ?? (name !== declared.trim().toLowerCase() && /^[a-z ]+$/.test(name) ? name : undefined)
}

/** A column holds all items as a single text. */
export function findItemType(declared: string): 'number' | 'boolean' | undefined {
  if (!isList(declared)) return undefined
  const name = simplifyName(declared.replace(/(?:\[\d*\]\s*)+$/, ''))
  const type = BY_NAME.get(name)?.type ?? name
  if (type === 'boolean') return 'boolean'
  return /^(?:int|integer|smallint|mediumint|tinyint|float|double|numeric|decimal)$/.test(type) ? 'number' : undefined
}

export function ignoresCase(declared: string): boolean {
  return simplifyName(declared) === 'citext'
}

export function isSerial(declared: string): boolean {
  return /^(?:big|small)?serial[248]?$/.test(simplifyName(declared))
}

const TYPE_NAME = /^[a-z_]\w*(?: \w+)*(?:\s*\(\s*[+-]?\d+\s*(?:,\s*[+-]?\d+\s*)?\))?$/i

/** Keeps an unknown type, if SQLite can parse the name, else gives `blob`: values stay unchanged. */
export function translateColumn(declared: string): string {
  if (isList(declared)) return 'text'
  const lower = declared.trim().toLowerCase()
  const name = simplifyName(declared)
  const meaning = BY_NAME.get(name)
  // SQLite stores `real` and `timestamp` as meant.
  if (meaning !== undefined) return lower === 'real' || lower === 'timestamp' ? lower : meaning.column
  if (/^(?:enum|set)\b/.test(lower)) return 'text'
  // SQLite would find an INT in the name, and give the column integer affinity.
  if (name === 'interval') return 'text'
  return TYPE_NAME.test(declared.trim()) ? declared : 'blob'
}

/**
 * Reads `id: string` with `autoincrement` as a bigint in a text, `'7'`. MikroORM would read 7, refused by writes, and make foreign keys
 * texts. Runs before MikroORM makes the columns of foreign keys.
 */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}

/**
 * Stores a `Date` in a property of type `date` as the day in UTC, like PostgreSQL: milliseconds would read as no date. Other instances
 * share MikroORM's type, so the property gets a copy.
 */
export function storeDays(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (prop.customType?.constructor === DateType)
        prop.customType = Object.create(prop.customType, { convertToDatabaseValue: { value: toDay } }) as DateType
}

function toDay(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString().slice(0, 10) : value
}
