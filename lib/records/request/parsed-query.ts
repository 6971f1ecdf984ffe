/** Keeps parsed queries, since clients repeat queries, with the parameters last read from each. */
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { pairsOfObject, pairsOfText, type Parameters, type Vocabulary } from './query-string.ts'
import type { Pair } from './raw-filter.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'

interface ReadQuery {
  readonly parameters: Parameters
  readonly vocabulary: Vocabulary
  /** Parameters allowed for the path. */
  readonly allowed: object
}

export class ParsedQuery {
  readonly pairs: readonly Pair[]
  /** Characters of names and values. */
  readonly length: number = 0
  /** The last reading, without checks by resource: resources share a query. */
  lastRead: ReadQuery | undefined = undefined

  constructor(pairs: readonly Pair[]) {
    this.pairs = pairs
    for (const { name, value } of pairs) this.length += name.length + value.length
  }
}

export const NO_QUERY = new ParsedQuery(Object.freeze([]))

const QUERIES = 100

export class QueryCache {
  readonly #texts = new LruCache<ParsedQuery>(QUERIES)
  /** Query objects. */
  readonly #objects = new LruCache<ParsedQuery>(QUERIES)

  read(target: string, query: QueryInput | undefined): ParsedQuery {
    const mark = target.indexOf('?')
    if (query === undefined) return mark < 0 ? NO_QUERY : this.#find(this.#texts, target.slice(mark + 1), target, query)
    const text = mark < 0 ? formatObject(query) : undefined
    return text === undefined ? new ParsedQuery(readPairs(target, query)) : this.#find(this.#objects, text, target, query)
  }

  #find(known: LruCache<ParsedQuery>, text: string, target: string, query: QueryInput | undefined): ParsedQuery {
    let parsed = known.get(text)
    if (parsed === undefined) {
      parsed = new ParsedQuery(readPairs(target, query))
      if (text.length <= thresholds.keptQuery) known.set(text, parsed)
    }
    return parsed
  }
}

/** A cache key for a short object of plain values. */
function formatObject(query: QueryInput): string | undefined {
  if (typeof query !== 'object' || query === null || query instanceof URLSearchParams) return undefined
  let text = ''
  for (const name of Object.keys(query)) {
    const value = query[name]
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
    // NUL separates: valid queries contain none.
    if (name.includes('\0') || (typeof value === 'string' && value.includes('\0'))) return undefined
    text += `${name}\0${value}\0`
    if (text.length > thresholds.keptQuery) return undefined
  }
  return text
}

export function readPairs(target: string, query: QueryInput | undefined): readonly Pair[] {
  const mark = target.indexOf('?')
  return mark < 0 ? pairsGiven(query) : [...pairsOfText(target.slice(mark + 1)), ...pairsGiven(query)]
}

function pairsGiven(query: QueryInput | undefined): readonly Pair[] {
  if (query === undefined || query === null) return NO_QUERY.pairs
  if (typeof query === 'string') return pairsOfText(query.startsWith('?') ? query.slice(1) : query)
  if (query instanceof URLSearchParams) return pairsOfText(query.toString())
  if (typeof query === 'object') return pairsOfObject(query)
  throw new TypeError(`handle: query must be a string, URLSearchParams or an object, got ${typeof query}; the body is the fourth argument.`)
}
