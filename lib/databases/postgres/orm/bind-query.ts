/**
 * Makes parameters of the values that MikroORM would write into a statement as literals. Texts take the type of their surroundings, numbers
 * and booleans the literal's type. Gives `undefined` where MikroORM must write the values: DDL, several statements, orders or groupings
 * with values, too many values.
 */
import { JsonProperty, Utils, isRaw, type Platform } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { isBuilder, unwrapQuery } from '../../orm/unwrap-query.ts'
import { formatTokens, tokenize, word, type SqlToken } from '../../sql/sql-tokens.ts'

/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535

const templates = new LruCache<Template>(1000, { bytes: 4 << 20, weigh: ({ places }, sql) => 100 + 4 * sql.length + 100 * places.length })

function findTemplate(sql: string): Template {
  let template = templates.get(sql)
  if (template === undefined) templates.set(sql, (template = readTemplate(sql)))
  return template
}

interface BoundQuery {
  readonly sql: string
  readonly values: unknown[]
}

/** Leaves the statement to MikroORM. */
class Unbindable extends Error {}

export function bindQuery(platform: Platform, sql: string, params: readonly unknown[]): BoundQuery | undefined {
  if (params.length === 0) return { sql, values: [] }
  if (!findTemplate(sql).isStatement) return undefined
  const binder = new Binder(platform)
  try {
    const text = binder.write(sql, params)
    return binder.values.length > MAX_PARAMETERS ? undefined : { sql: text, values: binder.values }
  } catch (error) {
    if (error instanceof Unbindable) return undefined
    throw error
  }
}

class Binder {
  readonly values: unknown[] = []
  readonly #platform: Platform

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Numbers parameters, also of fragments. */
  write(sql: string, params: readonly unknown[]): string {
    if (params.length === 0) return sql
    const { places, rest, isBindable } = findTemplate(sql)
    if (!isBindable || places.length !== params.length) throw new Unbindable()
    let text = ''
    for (const [index, place] of places.entries()) text += place.before + this.#writeAt(place, params[index])
    return text + rest
  }

  #writeAt(place: ParameterPlace, value: unknown): string {
    if (place.isName) return this.#platform.quoteIdentifier(value as string)
    // Not an expression: `is true`, `interval '1 day'`.
    const isWord = value === null || typeof value === 'boolean'
    if ((place.asks === 'literal' && !isRaw(value)) || (place.asks === 'keyword' && isWord)) return this.#platform.quoteValue(value)
    return this.#writeValue(value, place)
  }

  #isJson(value: object): boolean {
    return Utils.isPlainObject(value) || JsonProperty in value
  }

  #writeValue(value: unknown, place: ParameterPlace): string {
    switch (typeof value) {
      case 'string':
        return this.#bind(value, place)
      case 'bigint':
        return this.#bind(value.toString(), place)
      case 'number':
        return `${this.#bind(value)}::${findNumberType(value)}`
      case 'boolean':
        return `${this.#bind(value)}::bool`
      case 'undefined':
        return this.#bind(null, place)
      case 'object':
        return value === null ? this.#bind(null, place) : this.#writeObject(value, place)
      default:
        throw new Unbindable()
    }
  }

  #writeObject(value: object, place: ParameterPlace): string {
    if (isRaw(value)) return this.write(value.sql, value.params)
    if (isBuilder(value)) {
      const { text, values } = unwrapQuery(value, [])
      return this.write(text, values)
    }
    if (this.#isJson(value)) return this.#bind(JSON.stringify(value), place)
    // MikroORM puts commas between the elements of a list: `in (?)`.
    if (Array.isArray(value)) return value.map(each => this.#writeValue(each, place)).join(', ')
    return this.#bind(this.#format(value), place)
  }

  #format(value: object): string {
    // A date in MikroORM's time zone needs no escapes.
    if (value instanceof Date) return this.#platform.quoteValue(value).slice(1, -1)
    if (ArrayBuffer.isView(value)) return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
    // eslint-disable-next-line typescript/unbound-method -- compared, not called
    if (value.toString === Object.prototype.toString) throw new Unbindable()
    // eslint-disable-next-line typescript/no-base-to-string -- a form of its own, such as a number of many digits
    return String(value)
  }

  #bind(value: unknown, place?: ParameterPlace): string {
    this.values.push(value)
    return `$${this.values.length}${place?.asks === 'type' ? '::text' : ''}`
  }
}

function findNumberType(value: number): string {
  if (!Number.isFinite(value)) return 'float8'
  if (!Number.isSafeInteger(value)) return 'numeric'
  return Math.abs(value) < 2 ** 31 ? 'int4' : 'int8'
}

interface ParameterPlace {
  readonly before: string
  readonly isName: boolean
  /** The grammar asks for a `literal` alone (`interval ?`), a `keyword` (`is ?`), or a text with a `type` (`? is null`). */
  readonly asks: 'literal' | 'keyword' | 'type' | undefined
}

interface Template {
  readonly places: readonly ParameterPlace[]
  /** Behind the last place. */
  readonly rest: string
  readonly isBindable: boolean
  /** A `create table` takes no parameters. */
  readonly isStatement: boolean
}

const STATEMENTS = new Set(['select', 'insert', 'update', 'delete', 'merge', 'with', 'values', 'call', 'explain'])

/** Words before a typed text or a number. */
const BEFORE_LITERALS = new Set([
  'interval',
  'date',
  'time',
  'timetz',
  'timestamp',
  'timestamptz',
  'json',
  'jsonb',
  'uuid',
  'first',
  'next',
])

/** Functions of any type: the type of a parameter stays unknown. */
const OF_ANYTHING = new Set(
  (
    'concat concat_ws format count num_nulls num_nonnulls pg_typeof pg_column_size json_build_array json_build_object jsonb_build_array ' +
    'jsonb_build_object json_object_agg jsonb_object_agg'
  ).split(' '),
)

/** Behind `order by` and `group by`, a number means a column, and expressions repeat another clause: no parameters. */
const BEGINS_ORDER = new Set(['order', 'group'])
const ENDS_ORDER = new Set([
  'having',
  'window',
  'limit',
  'offset',
  'fetch',
  'for',
  'union',
  'intersect',
  'except',
  'where',
  'returning',
  'rows',
  'range',
])

/** A text, name or comment without end, or a comment in a comment. */
const OPENINGS = new Set(["'", '"', '/*', '$'])

function readTemplate(sql: string): Template {
  const tokens = tokenize(sql, 'postgres')
  return new TemplateReader(tokens).read(sql.slice(formatTokens(tokens).length))
}

/** The function of the parentheses; inside `order by` or `group by`. */
interface QuotingLevel {
  readonly called: string
  isOrder: boolean
}

class TemplateReader {
  readonly #tokens: readonly SqlToken[]
  readonly #words: readonly string[]
  readonly #places: ParameterPlace[] = []
  #before = ''
  #levels: QuotingLevel[] = [{ called: '', isOrder: false }]
  #isEnded = false
  #isBindable = true

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens
    this.#words = tokens.map(word)
  }

  /** @param end what stands behind the last token */
  read(end: string): Template {
    for (const [at, token] of this.#tokens.entries()) this.#take(token, at)
    const isStatement = STATEMENTS.has(this.#words.find((_, at) => this.#tokens[at]!.kind === 'word') ?? '')
    return { places: this.#places, rest: this.#before + unescapeMarks(end), isBindable: this.#isBindable, isStatement }
  }

  #take({ kind, text, gap }: SqlToken, at: number): void {
    this.#before += unescapeMarks(gap)
    // A numbered parameter cannot stand among others.
    const isOdd = kind === 'mark' ? OPENINGS.has(text) : kind === 'parameter' && text.startsWith('$')
    if (this.#isEnded || isOdd) this.#isBindable = false
    if (kind === 'parameter' && text.startsWith('?')) this.#addPlace(at, text === '??')
    // MikroORM leaves a text with escapes as it is.
    else this.#before += kind === 'text' && /^e/i.test(text) ? text : unescapeMarks(text)
    if (kind === 'mark') this.#takeMark(text, at)
    else if (kind === 'word') this.#takeWord(this.#words[at]!, at)
  }

  #takeWord(key: string, at: number): void {
    const level = this.#levels.at(-1)!
    if (key === 'by' && BEGINS_ORDER.has(this.#words[at - 1] ?? '')) level.isOrder = true
    else if (ENDS_ORDER.has(key)) level.isOrder = false
  }

  #takeMark(mark: string, at: number): void {
    if (mark === '(') this.#levels.push({ called: this.#words[at - 1] ?? '', isOrder: this.#levels.at(-1)!.isOrder })
    else if (mark === ')' && this.#levels.length > 1) this.#levels.pop()
    else if (mark === ';') this.#isEnded = true
  }

  #addPlace(at: number, isName: boolean): void {
    const { called, isOrder } = this.#levels.at(-1)!
    if (isOrder && !isName) this.#isBindable = false
    const [last = '', next] = [this.#words[at - 1], this.#words[at + 1]]
    const isTested =
      next === 'isnull' || next === 'notnull' || (next === 'is' && /^(?:not )?null\b/.test(this.#words.slice(at + 2, at + 4).join(' ')))
    const isUntyped = isTested || (OF_ANYTHING.has(called) && next !== '::')
    const isKeyword = last === 'is' || last === 'not'
    const asks = BEFORE_LITERALS.has(last) ? 'literal' : isKeyword ? 'keyword' : isUntyped ? 'type' : undefined
    this.#places.push({ before: this.#before, isName, asks })
    this.#before = ''
  }
}

/** Writes the character for `\?`. */
function unescapeMarks(text: string): string {
  return text.includes('\\') ? text.replaceAll(String.raw`\?`, '?') : text
}
