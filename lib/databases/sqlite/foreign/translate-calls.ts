/** Replaces functions of PostgreSQL and MySQL in SQL tokens: `char_length(a)` becomes `length(a)`. */
import { formatTokens, tokenize, word, type SqlToken } from '../../sql/sql-tokens.ts'
import { asText, findClosing, isUtc, type Rewrite } from './operands.ts'

export const NOW = "cast(round(unixepoch('subsec') * 1000) as integer)"
const NOW_CALLS =
  'now clock_timestamp statement_timestamp transaction_timestamp sysdate getdate getutcdate ' +
  'sysdatetime sysutcdatetime utc_timestamp localtimestamp localtime current_timestamp'
const UUID =
  "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' || " +
  "substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
const UUID_CALLS =
  'gen_random_uuid uuid_generate_v4 uuid_generate_v1 uuid_generate_v1mc uuidv4 uuid newid newsequentialid sys_guid gen_random_ulid'
/** 48 bits of time first: later UUIDs are greater. */
const UUID_V7 =
  `(substr(printf('%012x', ${NOW}), 1, 8) || '-' || substr(printf('%012x', ${NOW}), 9) || '-7' || ` +
  "lower(substr(hex(randomblob(2)), 2) || '-' || " +
  "substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
const UUID_V7_CALLS = 'uuidv7 uuid_generate_v7 gen_uuid_v7'

const CONSTANT_CALLS: Readonly<Record<string, string>> = {
  ...translateAll(NOW_CALLS, NOW),
  current_date: 'current_date',
  curdate: 'current_date',
  current_time: 'current_time',
  curtime: 'current_time',
}

const UUIDS: Readonly<Record<string, string>> = {
  ...translateAll(UUID_CALLS, UUID),
  ...translateAll(UUID_V7_CALLS, UUID_V7),
}

function translateAll(calls: string, sql: string): Record<string, string> {
  return Object.fromEntries(calls.split(' ').map(name => [name, sql]))
}

const RENAMED: Readonly<Record<string, string>> = {
  char_length: 'length',
  character_length: 'length',
  len: 'length',
  datalength: 'octet_length',
  strpos: 'instr',
  btrim: 'trim',
  lcase: 'lower',
  ucase: 'upper',
  greatest: 'max',
  least: 'min',
  bool_or: 'max',
  bool_and: 'min',
  every: 'min',
  json_build_object: 'json_object',
  jsonb_build_object: 'json_object',
  json_build_array: 'json_array',
  jsonb_build_array: 'json_array',
  jsonb_array_length: 'json_array_length',
  json_arrayagg: 'json_group_array',
  json_agg: 'json_group_array',
  jsonb_agg: 'json_group_array',
  array_agg: 'json_group_array',
  json_object_agg: 'json_group_object',
  jsonb_object_agg: 'json_group_object',
  json_typeof: 'json_type',
  jsonb_typeof: 'json_type',
  rand: 'random',
  isnull: 'ifnull',
}

/** Also `localtimestamp`, without brackets. */
export const rewriteCall: Rewrite = (tokens, at) => {
  const token = tokens[at]!
  const name = word(token)
  if (name === '' || word(tokens[at - 1]) === '.') return false
  if (word(tokens[at + 1]) !== '(') {
    if (name !== 'localtimestamp') return false
    tokens[at] = asText(NOW, token.gap)
    return true
  }
  const end = findClosing(tokens, at + 1)
  const inner = tokens.slice(at + 2, end)
  const isBare = inner.length === 0 || (inner.length === 1 && inner[0]!.kind === 'number')
  const constant = (isBare ? lookUp(CONSTANT_CALLS, name) : undefined) ?? (inner.length === 0 ? lookUp(UUIDS, name) : undefined)
  if (constant !== undefined) {
    tokens.splice(at, end - at + 1, asText(constant, token.gap))
    return true
  }
  if (name === 'timezone') return rewriteTimezone(tokens, at, end)
  if (name === 'extract') return rewriteExtract(tokens, at, end)
  const renamed = lookUp(RENAMED, name)
  if (renamed !== undefined) tokens[at] = { ...token, text: renamed }
  return renamed !== undefined
}

function lookUp(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** `timezone('utc', x)`: `x`. */
function rewriteTimezone(tokens: SqlToken[], at: number, end: number): boolean {
  const inner = tokens.slice(at + 2, end)
  const comma = inner.findIndex(part => word(part) === ',')
  const [first, ...rest] = inner.slice(comma + 1)
  if (comma < 0 || first === undefined || !isUtc(inner[0])) return false
  tokens.splice(at, end - at + 1, { ...first, gap: tokens[at]!.gap }, ...rest)
  return true
}

const PARTS: Readonly<Record<string, string>> = {
  year: '%Y',
  month: '%m',
  day: '%d',
  hour: '%H',
  minute: '%M',
  second: '%S',
  dow: '%w',
  isodow: '%u',
  doy: '%j',
  week: '%V',
}

/** `extract(year from x)`, of milliseconds. */
function rewriteExtract(tokens: SqlToken[], at: number, end: number): boolean {
  const part = word(tokens[at + 2])
  if (word(tokens[at + 3]) !== 'from') return false
  const of = formatTokens(tokens.slice(at + 4, end)).trim()
  const format = PARTS[part]
  if (part !== 'epoch' && format === undefined) return false
  const text = part === 'epoch' ? `((${of}) / 1000.0)` : `cast(strftime('${format}', (${of}) / 1000.0, 'unixepoch') as integer)`
  tokens.splice(
    at,
    end - at + 1,
    ...tokenize(text, 'postgres').map((token, index) => (index === 0 ? { ...token, gap: tokens[at]!.gap } : token)),
  )
  return true
}
