/**
 * Reads where the values of a MikroORM statement stand: a `?` outside of texts, quoted names and comments. `??` stands for a name, `\?` for
 * the character.
 */
import { formatTokens, tokenize, word, type SqlToken } from '../../sql/sql-tokens.ts'

/** The place of a value or a name. */
export interface ParameterPlace {
  /** The text from the place before. */
  readonly before: string
  readonly isName: boolean
  /**
   * What it takes there: `literal` where the grammar takes nothing else (`interval ?`), `keyword` where it takes words (`is ?`), `type`
   * where a text without one is refused (`? is null`).
   */
  readonly asks: 'literal' | 'keyword' | 'type' | undefined
}

export interface Template {
  readonly places: readonly ParameterPlace[]
  /** What stands behind the last place. */
  readonly rest: string
  /** Whether the values may be bound. */
  readonly isBindable: boolean
  /** Whether it is a statement that takes parameters: those of the schema take none. */
  readonly isStatement: boolean
}

const STATEMENTS = new Set(['select', 'insert', 'update', 'delete', 'merge', 'with', 'values', 'call', 'explain'])

/** Words before a quoted text that is of a type, and before a number. */
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

/** Functions of arguments of any type, which do not say what type a parameter is. */
const OF_ANYTHING = new Set(
  (
    'concat concat_ws format count num_nulls num_nonnulls pg_typeof pg_column_size json_build_array json_build_object jsonb_build_array ' +
    'jsonb_build_object json_object_agg jsonb_object_agg'
  ).split(' '),
)

/** Words that begin or end a clause whose expressions must be those of another clause, or may be numbers of columns. */
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

/** What begins a text, name or comment without an end, or a comment in a comment. */
const OPENINGS = new Set(["'", '"', '/*', '$'])

export function readTemplate(sql: string): Template {
  const tokens = tokenize(sql, 'postgres')
  return new TemplateReader(tokens).read(sql.slice(formatTokens(tokens).length))
}

/** What stands in parentheses: the function that they belong to, and whether a clause of an order is open. */
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
    // A parameter that is numbered already cannot stand among others.
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
