/**
 * Foreign SQL: an expression or statement of PostgreSQL or MySQL, as SQLite says it. It is read token by token: what is not known here stays as it is, and
 * SQLite says whether it can run it. Date-times are milliseconds, as MikroORM stores them.
 */
import { DAY_MS } from '../../base/clock.ts'

export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'mark'
  readonly text: string
  /** What stands before it: blanks and comments. */
  readonly gap: string
}

const TOKEN =
  /(?<gap>(?:\s+|--[^\n]*|\/\*[^]*?(?:\*\/|$))*)(?:(?<text>(?:[eEnN])?'(?:[^']|'')*')|(?<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`)|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_$][\p{L}\p{N}_$]*)|(?<mark>::|->>|->|#>>|#>|\|\||~\*|!~\*|!~|<=|>=|<>|!=|@>|<@|\?\?|[^]))/guy

/** The tokens of a text, each with what stands before it. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = []
  for (const { groups = {} } of sql.matchAll(TOKEN)) {
    const { gap = '' } = groups
    for (const kind of ['text', 'name', 'number', 'word', 'mark'] as const) {
      const text = groups[kind]
      if (text !== undefined) tokens.push({ kind, text, gap })
    }
  }
  return tokens
}

function formatTokens(tokens: readonly Token[]): string {
  return tokens.map(({ gap, text }) => gap + text).join('')
}

function word(token: Token | undefined): string {
  return token?.kind === 'word' ? token.text.toLowerCase() : ''
}

export function isMark(token: Token | undefined, mark: string): boolean {
  return token?.kind === 'mark' && token.text === mark
}

const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']' }

/** Where the bracket that opens at a place is closed. */
function closing(tokens: readonly Token[], at: number): number {
  const open = tokens[at]!.text
  let depth = 0
  for (let index = at; index < tokens.length; index++) {
    if (isMark(tokens[index], open)) depth++
    else if (isMark(tokens[index], PAIRS[open]!) && --depth === 0) return index
  }
  return tokens.length - 1
}

/** Where the operand that ends at a place begins: a literal, a name, a call, a group. */
function operandStart(tokens: readonly Token[], end: number): number {
  let at = end
  if (isMark(tokens[at], ')') || isMark(tokens[at], ']')) {
    const close = tokens[at]!.text
    const open = close === ')' ? '(' : '['
    let depth = 0
    for (; at >= 0; at--) {
      if (isMark(tokens[at], close)) depth++
      else if (isMark(tokens[at], open) && --depth === 0) break
    }
    const before = tokens[at - 1]
    // A function or an array, and no keyword before a group.
    if ((before?.kind === 'word' && !KEYWORDS.has(word(before))) || before?.kind === 'name') at--
    else return Math.max(at, 0)
  }
  while (at >= 2 && isMark(tokens[at - 1], '.') && tokens[at]!.gap === '') at -= 2
  return Math.max(at, 0)
}

const KEYWORDS = new Set(
  'and or not in is when then else case select from where on as between like ilike having by limit offset union all distinct'.split(' '),
)

export const NOW = "cast(round(unixepoch('subsec') * 1000) as integer)"
const NOW_CALLS = new Set(
  'now clock_timestamp statement_timestamp transaction_timestamp sysdate getdate getutcdate sysdatetime sysutcdatetime utc_timestamp localtimestamp localtime current_timestamp'.split(
    ' ',
  ),
)
const UUID =
  "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' || " +
  "substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
const UUID_CALLS = new Set(
  'gen_random_uuid uuid_generate_v4 uuid_generate_v1 uuid_generate_v1mc uuidv4 uuid newid newsequentialid sys_guid gen_random_ulid'.split(
    ' ',
  ),
)
/** The first 48 bits are the time, so that later ones are greater. */
const UUID_V7 =
  `(substr(printf('%012x', ${NOW}), 1, 8) || '-' || substr(printf('%012x', ${NOW}), 9) || '-7' || lower(substr(hex(randomblob(2)), 2) || '-' || ` +
  "substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
const UUID_V7_CALLS = new Set('uuidv7 uuid_generate_v7 gen_uuid_v7'.split(' '))

/** Functions that SQLite has by another name. */
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

const UNITS: Readonly<Record<string, number>> = {
  microsecond: 0.001,
  millisecond: 1,
  second: 1000,
  sec: 1000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 604_800_000,
  month: 2_592_000_000,
  mon: 2_592_000_000,
  year: 31_536_000_000,
}

/** Milliseconds of a text such as `1 day 02:00:00`; undefined for another. */
function parseMilliseconds(text: string): number | undefined {
  let total = 0
  const rest = text.replaceAll(/([+-]?\d+(?:\.\d+)?)\s*([a-z]+)/gi, (whole, amount: string, unit: string) => {
    const size = UNITS[unit.toLowerCase().replace(/s$/, '')]
    if (size === undefined) return whole
    total += Number(amount) * size
    return ''
  })
  const [time, hours = '0', minutes = '0', seconds = '0'] = /^\s*(\d+):(\d+)(?::(\d+(?:\.\d+)?))?\s*$/.exec(rest) ?? []
  if (time === undefined) return rest.trim() === '' ? Math.round(total) : undefined
  return Math.round(total + (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000)
}

function castTo(type: string, operand: string): string {
  if (type.startsWith('bool')) return /^'(?:t|true|1)'$/i.test(operand) ? '1' : /^'(?:f|false|0)'$/i.test(operand) ? '0' : operand
  if (/^(?:int|integer|bigint|smallint|int2|int4|int8|serial|bigserial|oid|signed|unsigned)\b/.test(type))
    return `cast(${operand} as integer)`
  if (/^(?:real|float|double|float4|float8|numeric|decimal|money)/.test(type)) {
    return /^'[^']*'$|^[\d.]+$/.test(operand) ? operand.replaceAll("'", '') : `cast(${operand} as real)`
  }
  if (/^(?:text|varchar|char|character|bpchar|citext|name)/.test(type))
    return operand.startsWith("'") ? operand : `cast(${operand} as text)`
  return operand
}

/** The name of a type that begins at a place, with where it ends. */
function typeAt(tokens: readonly Token[], start: number): { type: string; end: number } {
  let end = start
  while (isMark(tokens[end + 1], '.') && tokens[end + 2] !== undefined) end += 2
  let type = tokens[end]!.text.toLowerCase().replaceAll(/["`]/g, '')
  if (type === 'double' && word(tokens[end + 1]) === 'precision') end++
  if (type === 'character' && word(tokens[end + 1]) === 'varying') end++
  if (isMark(tokens[end + 1], '(')) end = closing(tokens, end + 1)
  if (/^time(?:stamp)?$/.test(type) && /^with(?:out)?$/.test(word(tokens[end + 1])) && word(tokens[end + 2]) === 'time') end += 3
  while (isMark(tokens[end + 1], '[')) {
    end = closing(tokens, end + 1)
    type += '[]'
  }
  return { type, end }
}

const asText = (text: string, gap: string): Token => ({ kind: 'text', text, gap })

type Rewrite = (tokens: Token[], at: number) => boolean

/** `a::int`, at the place of `::`. */
const cast: Rewrite = (tokens, at) => {
  if (!isMark(tokens[at], '::') || at === 0 || tokens[at + 1] === undefined) return false
  const start = operandStart(tokens, at - 1)
  const operand = tokens.slice(start, at)
  const { type, end } = typeAt(tokens, at + 1)
  const { gap } = operand[0]!
  const made = tokenize(castTo(type, formatTokens([{ ...operand[0]!, gap: '' }, ...operand.slice(1)])))
  tokens.splice(start, end - start + 1, ...made.map((token, index) => (index === 0 ? { ...token, gap } : token)))
  return true
}

/** Calls that become something else, and those whose function has another name. */
const call: Rewrite = (tokens, at) => {
  const token = tokens[at]!
  const name = word(token)
  if (name === '' || isMark(tokens[at - 1], '.')) return false
  const isCall = isMark(tokens[at + 1], '(')
  const end = isCall ? closing(tokens, at + 1) : at
  const inner = tokens.slice(at + 2, end)
  const isBare = inner.length === 0 || (inner.length === 1 && inner[0]!.kind === 'number')
  const replace = (text: string): true => {
    tokens.splice(at, end - at + 1, asText(text, token.gap))
    return true
  }
  if ((isCall && NOW_CALLS.has(name) && isBare) || (name === 'localtimestamp' && !isCall)) return replace(NOW)
  if (isCall && (name === 'current_date' || name === 'curdate') && isBare) return replace('current_date')
  if (isCall && (name === 'current_time' || name === 'curtime') && isBare) return replace('current_time')
  if (isCall && UUID_CALLS.has(name) && inner.length === 0) return replace(UUID)
  if (isCall && UUID_V7_CALLS.has(name) && inner.length === 0) return replace(UUID_V7)
  if (isCall && name === 'timezone' && inner.some(part => isMark(part, ','))) {
    const comma = inner.findIndex(part => isMark(part, ','))
    const [first, ...rest] = inner.slice(comma + 1)
    if (first === undefined) return false
    tokens.splice(at, end - at + 1, { ...first, gap: token.gap }, ...rest)
    return true
  }
  if (isCall && name === 'extract') return extract(tokens, at, end)
  if (isCall && Object.hasOwn(RENAMED, name)) {
    tokens[at] = { ...token, text: RENAMED[name]! }
    return true
  }
  return false
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
function extract(tokens: Token[], at: number, end: number): boolean {
  const part = word(tokens[at + 2])
  if (word(tokens[at + 3]) !== 'from') return false
  const of = formatTokens(tokens.slice(at + 4, end)).trim()
  const format = PARTS[part]
  if (part !== 'epoch' && format === undefined) return false
  const text = part === 'epoch' ? `((${of}) / 1000.0)` : `cast(strftime('${format}', (${of}) / 1000.0, 'unixepoch') as integer)`
  tokens.splice(at, end - at + 1, ...tokenize(text).map((token, index) => (index === 0 ? { ...token, gap: tokens[at]!.gap } : token)))
  return true
}

/** Words and operators: `ilike`, `interval '1 day'`, `date '2020-01-01'`, `E'...'`, `at time zone 'utc'`, `a #>> '{b,c}'`, `on update ...`. */
const phrase: Rewrite = (tokens, at) => {
  const token = tokens[at]!
  const next = tokens[at + 1]
  const name = word(token)
  if (token.kind === 'text' && /^[eEnN]'/.test(token.text)) {
    tokens[at] = { ...token, text: token.text.slice(1) }
    return true
  }
  if (/^[bB]$/.test(name) && next?.kind === 'text' && next.gap === '') {
    tokens.splice(at, 2, asText(String(Number.parseInt(next.text.slice(1, -1) || '0', 2)), token.gap))
    return true
  }
  if (name === 'ilike') {
    tokens[at] = { ...token, text: 'like' }
    return true
  }
  if (name === 'interval' && (next?.kind === 'text' || next?.kind === 'number')) {
    const isSplit = next.kind === 'number' || /^'[+-]?\d+'$/.test(next.text)
    const amount = next.text.replaceAll("'", '')
    const milliseconds = parseMilliseconds(isSplit ? `${amount} ${word(tokens[at + 2])}` : amount)
    if (milliseconds === undefined) return false
    tokens.splice(at, isSplit ? 3 : 2, asText(String(milliseconds), token.gap))
    return true
  }
  if (/^(?:date|time|timestamp|timestamptz)$/.test(name) && next?.kind === 'text' && !isMark(tokens[at - 1], '.')) {
    tokens.splice(at, 1)
    tokens[at] = { ...next, gap: token.gap }
    return true
  }
  if (name === 'at' && word(next) === 'time' && word(tokens[at + 2]) === 'zone' && tokens[at + 3] !== undefined) {
    tokens.splice(at, 4)
    return true
  }
  if (name === 'on' && word(next) === 'update' && at > 0) {
    tokens.splice(at)
    return true
  }
  if ((isMark(token, '#>>') || isMark(token, '#>')) && next?.kind === 'text' && /^'\{[\w ,]*\}'$/.test(next.text)) {
    const path = next.text
      .slice(2, -2)
      .split(',')
      .map(key => (/^\d+$/.test(key.trim()) ? `[${key.trim()}]` : `."${key.trim()}"`))
      .join('')
    tokens.splice(at, 2, { kind: 'mark', text: isMark(token, '#>>') ? '->>' : '->', gap: token.gap }, asText(`'$${path}'`, ' '))
    return true
  }
  const isLike: Readonly<Record<string, string>> = { '~': 'regexp', '!~': 'not regexp', '~*': 'regexp', '!~*': 'not regexp' }
  if (token.kind === 'mark' && Object.hasOwn(isLike, token.text) && next?.kind === 'text') {
    const isFree = token.text.endsWith('*')
    tokens.splice(
      at,
      2,
      { kind: 'word', text: isLike[token.text]!, gap: token.gap || ' ' },
      asText(isFree ? `'(?i)${next.text.slice(1)}` : next.text, ' '),
    )
    return true
  }
  return false
}

/** `public.users`: SQLite has no schemas. */
function schemaIn(schemas: ReadonlySet<string>): Rewrite {
  return (tokens, at) => {
    const token = tokens[at]!
    if (token.kind !== 'word' && token.kind !== 'name') return false
    if (!isMark(tokens[at + 1], '.') || isMark(tokens[at - 1], '.') || !schemas.has(token.text.replaceAll(/["`]/g, ''))) return false
    tokens.splice(at, 2)
    tokens[at] = { ...tokens[at]!, gap: token.gap }
    return true
  }
}

/** Schemas that every model may name. */
const SCHEMAS = ['public', 'pg_catalog', 'extensions', 'dbo']

/** The text as SQLite says it, as far as it is known here. */
export function toSqlite(sql: string, schemas: Iterable<string> = []): string {
  const tokens = tokenize(sql)
  const rewrites = [schemaIn(new Set([...SCHEMAS, ...schemas])), phrase, call, cast]
  let changed = false
  for (let at = 0; at < tokens.length; at++) {
    for (const rewrite of rewrites) {
      if (at >= tokens.length || !rewrite(tokens, at)) continue
      changed = true
      // What stands here now may be more of the kind, and a cast has moved what follows.
      at = -1
      break
    }
    if (tokens.length > 5000) break
  }
  return changed ? formatTokens(tokens).trim() : sql
}

/** Errors that say that a statement is of another dialect, and not that something is missing. */
const DIALECT = /syntax error|no such function|unrecognized token|wrong number of arguments|no such collation|unable to use function/i

/** Whether what SQLite says of a statement is that it is of another dialect. */
export function isOfAnother(problem: string | undefined): boolean {
  return problem !== undefined && DIALECT.test(problem)
}
