/**
 * Translates SQL of PostgreSQL or MySQL, token by token. Unknown parts stay, for SQLite to accept or reject. Date-times are milliseconds,
 * as in MikroORM.
 */
import { formatTokens, tokenize, word } from '../../sql/sql-tokens.ts'
import { findOperandStart, readType, type Rewrite } from './operands.ts'
import { rewriteCall } from './translate-calls.ts'
import { REWRITES_OF_PHRASES } from './translate-phrases.ts'

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
      // New tokens may need a rewrite, and a cast has moved the tokens behind.
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
