/**
 * Rewrites SQL of PostgreSQL or MySQL for SQLite, token by token: `a::int` becomes `cast(a as integer)`. Unknown parts stay. Date-times are
 * milliseconds. Functions are in translate-calls.ts.
 */
import { formatTokens, tokenize, word } from '../../sql/sql-tokens.ts'
import { asText, findOperandStart, isUtc, readType, type Rewrite } from './operands.ts'
import { rewriteCall } from './translate-calls.ts'
import { DAY_MS } from '../../../foundation/async/clock.ts'

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

/** Reads `1 day 02:00:00`; undefined for other texts. */
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

const ESCAPES: Readonly<Record<string, string>> = { "'": "''", b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** `E'it\'s'`, `N'it''s'`, `$$it's$$`. */
const rewriteText: Rewrite = (tokens, at) => {
  const token = tokens[at]!
  const [prefix] = (token.kind === 'text' && /^(?:[en](?=')|\$[^$]*\$)/i.exec(token.text)) || ['']
  // SQLite refuses characters by code.
  if (prefix === '' || (/^e/i.test(prefix) && /\\[\dxu]/i.test(token.text))) return false
  const rest = token.text.slice(prefix.length)
  const text = prefix.startsWith('$')
    ? `'${rest.slice(0, -prefix.length).replaceAll("'", "''")}'`
    : /^e/i.test(prefix)
      ? rest.replaceAll(/\\([^])/g, (_, char: string) => ESCAPES[char] ?? char)
      : rest
  tokens[at] = { ...token, text }
  return true
}

/** `B'101'`: bits. */
const rewriteBits: Rewrite = (tokens, at) => {
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  if (!/^[bB]$/.test(word(token)) || next?.kind !== 'text' || next.gap !== '') return false
  tokens.splice(at, 2, asText(String(Number.parseInt(next.text.slice(1, -1) || '0', 2)), token.gap))
  return true
}

/** SQLite's `like` ignores case. */
const rewriteIlike: Rewrite = (tokens, at) => {
  const token = tokens[at]!
  if (word(token) !== 'ilike') return false
  tokens[at] = { ...token, text: 'like' }
  return true
}

/** `interval '1 day'`, `interval 1 day`: milliseconds. */
const rewriteInterval: Rewrite = (tokens, at) => {
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  if (word(token) !== 'interval' || (next?.kind !== 'text' && next?.kind !== 'number')) return false
  const isSplit = next.kind === 'number' || /^'[+-]?\d+'$/.test(next.text)
  const amount = next.text.replaceAll("'", '')
  const milliseconds = parseMilliseconds(isSplit ? `${amount} ${word(tokens[at + 2])}` : amount)
  if (milliseconds === undefined) return false
  tokens.splice(at, isSplit ? 3 : 2, asText(String(milliseconds), token.gap))
  return true
}

/** `date '2020-01-01'`: the text alone. */
const rewriteTypedText: Rewrite = (tokens, at) => {
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  const isType = /^(?:date|time|timestamp|timestamptz)$/.test(word(token))
  if (!isType || next?.kind !== 'text' || word(tokens[at - 1]) === '.') return false
  tokens.splice(at, 1)
  tokens[at] = { ...next, gap: token.gap }
  return true
}

/** `at time zone 'utc'`: nothing, as times are in UTC; others stay. */
const rewriteTimeZone: Rewrite = (tokens, at) => {
  const isZone = word(tokens[at]) === 'at' && word(tokens[at + 1]) === 'time' && word(tokens[at + 2]) === 'zone'
  if (!isZone || !isUtc(tokens[at + 3])) return false
  // With a cast of the zone.
  tokens.splice(at, word(tokens[at + 4]) === '::' ? readType(tokens, at + 5).end - at + 1 : 4)
  return true
}

/** `on update ...`: MikroORM sets such columns. */
const rewriteOnUpdate: Rewrite = (tokens, at) => {
  if (word(tokens[at]) !== 'on' || word(tokens[at + 1]) !== 'update' || at === 0) return false
  tokens.splice(at)
  return true
}

/** `a #>> '{b,c}'`: a path inside a JSON value. */
const rewriteJsonPath: Rewrite = (tokens, at) => {
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  if (word(token) !== '#>>' && word(token) !== '#>') return false
  if (next?.kind !== 'text' || !/^'\{[\w ,]*\}'$/.test(next.text)) return false
  const path = next.text
    .slice(2, -2)
    .split(',')
    .map(key => (/^\d+$/.test(key.trim()) ? `[${key.trim()}]` : `."${key.trim()}"`))
    .join('')
  tokens.splice(at, 2, { kind: 'mark', text: word(token) === '#>>' ? '->>' : '->', gap: token.gap }, asText(`'$${path}'`, ' '))
  return true
}

const REGEXP_OPERATORS: Readonly<Record<string, string>> = { '~': 'regexp', '!~': 'not regexp', '~*': 'regexp', '!~*': 'not regexp' }

/** `a ~ '^b'`: a regular expression; a star ignores case. */
const rewriteRegexp: Rewrite = (tokens, at) => {
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  if (token.kind !== 'mark' || !Object.hasOwn(REGEXP_OPERATORS, token.text) || next?.kind !== 'text') return false
  const pattern = token.text.endsWith('*') ? `'(?i)${next.text.slice(1)}` : next.text
  tokens.splice(at, 2, { kind: 'word', text: REGEXP_OPERATORS[token.text]!, gap: token.gap || ' ' }, asText(pattern, ' '))
  return true
}

const REWRITES_OF_PHRASES: readonly Rewrite[] = [
  rewriteText,
  rewriteBits,
  rewriteIlike,
  rewriteInterval,
  rewriteTypedText,
  rewriteTimeZone,
  rewriteOnUpdate,
  rewriteJsonPath,
  rewriteRegexp,
]

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

/** `a::int`, at the place of `::`. */
const rewriteCast: Rewrite = (tokens, at) => {
  if (word(tokens[at]) !== '::' || at === 0 || tokens[at + 1] === undefined) return false
  const start = findOperandStart(tokens, at - 1)
  const operand = tokens.slice(start, at)
  const { type, end } = readType(tokens, at + 1)
  const { gap } = operand[0]!
  const made = tokenize(castTo(type, formatTokens([{ ...operand[0]!, gap: '' }, ...operand.slice(1)])), 'postgres')
  tokens.splice(start, end - start + 1, ...made.map((token, index) => (index === 0 ? { ...token, gap } : token)))
  return true
}

/** `public.users`: SQLite has no schemas. */
function rewriteSchemas(schemas: ReadonlySet<string>): Rewrite {
  return (tokens, at) => {
    const token = tokens[at]!
    if (token.kind !== 'word' && token.kind !== 'name') return false
    if (word(tokens[at + 1]) !== '.' || word(tokens[at - 1]) === '.' || !schemas.has(token.text.replaceAll(/["`]/g, ''))) return false
    tokens.splice(at, 2)
    tokens[at] = { ...tokens[at]!, gap: token.gap }
    return true
  }
}

/** Schemas that every model may name. */
const SCHEMAS = ['public', 'pg_catalog', 'extensions', 'dbo']

export function toSqlite(sql: string, schemas: Iterable<string> = []): string {
  const tokens = tokenize(sql, 'postgres')
  const rewrites = [rewriteSchemas(new Set([...SCHEMAS, ...schemas])), ...REWRITES_OF_PHRASES, rewriteCall, rewriteCast]
  let changed = false
  for (let at = 0; at < tokens.length; at++) {
    for (const rewrite of rewrites) {
      if (at >= tokens.length || !rewrite(tokens, at)) continue
      changed = true
      // New tokens may need a rewrite, and places have changed.
      at = -1
      break
    }
    if (tokens.length > 5000) break
  }
  return changed ? formatTokens(tokens).trim() : sql
}

/** Not about a missing table or column. */
const DIALECT = /syntax error|no such function|unrecognized token|wrong number of arguments|no such collation|unable to use function/i

export function isOfAnother(problem: string | undefined): boolean {
  return problem !== undefined && DIALECT.test(problem)
}
