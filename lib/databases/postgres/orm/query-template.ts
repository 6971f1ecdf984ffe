/**
 * Reads where the values of a MikroORM statement stand: a `?` outside of texts, quoted names and comments. `??` stands for a name, `\?` for
 * the character.
 */

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

const TOKENS = new RegExp(
  [
    String.raw`(?<escaped>[eE]'(?:[^'\\]|\\[\s\S]|'')*')`,
    String.raw`(?<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*(?:(?!/\*)[\s\S])*?\*/|\$(?<tag>(?:[a-z_]\w*)?)\$[\s\S]*?\$\k<tag>\$)`,
    String.raw`(?<word>[a-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<mark>\\\?|\?\??)`,
    // A comment or a quotation without an end, and parameters that are numbered already.
    String.raw`(?<odd>['"]|/\*|\$)`,
    String.raw`\S`,
  ].join('|'),
  'gi',
)

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

const TESTED = /^\s*(?:is\s+(?:not\s+)?null|isnull|notnull)\b/i

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

export function readTemplate(sql: string): Template {
  const reader = new TemplateReader(sql)
  for (const match of sql.matchAll(TOKENS)) reader.take(match)
  return reader.end()
}

/** What stands in parentheses: the function that they belong to, and whether a clause of an order is open. */
interface QuotingLevel {
  readonly called: string
  isOrder: boolean
}

class TemplateReader {
  readonly #sql: string
  readonly #places: ParameterPlace[] = []
  #before = ''
  #at = 0
  /** The token before, in small letters; not a comment. */
  #last = ''
  #first: string | undefined
  #levels: QuotingLevel[] = [{ called: '', isOrder: false }]
  #isEnded = false
  #isBindable = true

  constructor(sql: string) {
    this.#sql = sql
  }

  take(match: RegExpMatchArray): void {
    const [token] = match
    const { escaped, quoted, word, mark, odd } = match.groups!
    const index = match.index!
    this.#before += this.#sql.slice(this.#at, index)
    this.#at = index + token.length
    if (quoted !== undefined && /^(?:--|\/\*)/.test(quoted)) {
      this.#before += quoted.replaceAll(String.raw`\?`, '?')
      return
    }
    if (this.#isEnded || odd !== undefined) this.#isBindable = false
    if (mark === '?' || mark === '??') this.#addPlace(mark)
    else this.#before += escaped ?? token.replaceAll(String.raw`\?`, '?')
    if (word !== undefined) this.#takeWord(word.toLowerCase())
    else this.#takeSign(token)
    this.#last = token.toLowerCase()
  }

  #takeWord(word: string): void {
    this.#first ??= word
    const level = this.#levels.at(-1)!
    if (word === 'by' && BEGINS_ORDER.has(this.#last)) level.isOrder = true
    else if (ENDS_ORDER.has(word)) level.isOrder = false
  }

  #takeSign(sign: string): void {
    if (sign === '(') this.#levels.push({ called: this.#last, isOrder: this.#levels.at(-1)!.isOrder })
    else if (sign === ')' && this.#levels.length > 1) this.#levels.pop()
    else if (sign === ';') this.#isEnded = true
  }

  #addPlace(mark: '?' | '??'): void {
    const { called, isOrder } = this.#levels.at(-1)!
    const isName = mark === '??'
    if (isOrder && !isName) this.#isBindable = false
    const after = this.#sql.slice(this.#at, this.#at + 40)
    const isUntyped = TESTED.test(after) || (OF_ANYTHING.has(called) && !/^\s*::/.test(after))
    const asks = BEFORE_LITERALS.has(this.#last)
      ? 'literal'
      : this.#last === 'is' || this.#last === 'not'
        ? 'keyword'
        : isUntyped
          ? 'type'
          : undefined
    this.#places.push({ before: this.#before, isName, asks })
    this.#before = ''
  }

  end(): Template {
    const isStatement = STATEMENTS.has(this.#first ?? '')
    return { places: this.#places, rest: this.#before + this.#sql.slice(this.#at), isBindable: this.#isBindable, isStatement }
  }
}
