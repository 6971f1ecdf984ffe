/**
 * Foreign types: the column types of PostgreSQL, MySQL and others, by what they mean. MikroORM's SQLite platform knows those of SQLite alone, and takes any
 * other for text.
 */

interface Meaning {
  /** MikroORM's name of the type. */
  readonly type: string
  /** The declaration of a column of SQLite that holds such values unchanged. */
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

/** Names of several words, by the one that says the same. */
const LONG_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^timestamp\b.*\bwith(?:out)?(?: local)? time zone/, 'timestamptz'],
  [/^time\b.*\bwith(?:out)? time zone/, 'timetz'],
  [/^(?:national )?(?:character|char) varying/, 'varchar'],
  [/^national char/, 'nchar'],
  [/^bit varying/, 'varbit'],
  [/^double precision/, 'double'],
]

/** The name without arguments, schema and what MySQL adds to numbers. */
function simplifyName(declared: string): string {
  const lower = declared.trim().toLowerCase()
  const long = LONG_NAMES.find(([pattern]) => pattern.test(lower))
  if (long !== undefined) return long[1]
  // MySQL's way to write a boolean.
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

/** MikroORM's name of the type that a foreign one means; undefined for what is not foreign, or unknown. */
export function findMeaning(declared: string): string | undefined {
  if (isList(declared)) return undefined
  const name = simplifyName(declared)
  return BY_NAME.get(name)?.type ?? (name !== declared.trim().toLowerCase() && /^[a-z ]+$/.test(name) ? name : undefined)
}

/** Whether the items of a list are numbers or booleans, which a list in one column of SQLite holds as texts. */
export function findItemType(declared: string): 'number' | 'boolean' | undefined {
  if (!isList(declared)) return undefined
  const name = simplifyName(declared.replace(/(?:\[\d*\]\s*)+$/, ''))
  const type = BY_NAME.get(name)?.type ?? name
  if (type === 'boolean') return 'boolean'
  return /^(?:int|integer|smallint|mediumint|tinyint|float|double|numeric|decimal)$/.test(type) ? 'number' : undefined
}

/** Whether text in such a column is compared without regard to case. */
export function ignoresCase(declared: string): boolean {
  return simplifyName(declared) === 'citext'
}

/** Whether rows get a number from a sequence. */
export function isSerial(declared: string): boolean {
  return /^(?:big|small)?serial[248]?$/.test(simplifyName(declared))
}

/** What SQLite takes for the name of a type. */
const TYPE_NAME = /^[a-z_]\w*(?: \w+)*(?:\s*\(\s*[+-]?\d+\s*(?:,\s*[+-]?\d+\s*)?\))?$/i

/**
 * The declaration of the column in SQLite. What is unknown is left as it is, unless SQLite could not read it: then it has no type, which leaves every
 * value as it is.
 */
export function translateColumn(declared: string): string {
  if (isList(declared)) return 'text'
  const lower = declared.trim().toLowerCase()
  const name = simplifyName(declared)
  const meaning = BY_NAME.get(name)
  // SQLite has names of its own that say the same to everybody.
  if (meaning !== undefined) return lower === 'real' || lower === 'timestamp' ? lower : meaning.column
  if (/^(?:enum|set)\b/.test(lower)) return 'text'
  // It reads as one with integers to SQLite.
  if (name === 'interval') return 'text'
  return TYPE_NAME.test(declared.trim()) ? declared : 'blob'
}
