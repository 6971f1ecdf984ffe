/**
 * Suggests this API's spelling for habits of other APIs (json-server, Django, Rails, JSON:API, OData, PostgREST, MikroORM), such as `age>=`
 * for `age_gte`. Only for refused input: attributes may have such names.
 */
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { Sign } from './operators.ts'
import type { Reserved } from './reserved-parameters.ts'

export interface SuggestedSpelling {
  readonly suggestion: string
  readonly detail: string
}

type Called = (reserved: Reserved) => string

const byName = (names: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(names).flatMap(([meant, list]) =>
      (list === '' ? [] : list.split(' ')).map(name => [name.toLowerCase(), meant] as const),
    ),
  )

/** Other names for reserved parameters. `page` and `order` need a sentence more. */
const PARAMETERS = byName({
  limit: '_limit per_page _per_page perPage page_size pageSize page[size] size take top $top first _end',
  offset: '_start _offset skip $skip start from',
  page: '_page page pageNumber page_number page[number]',
  sort: '_sort order orderBy order_by sortBy sort_by ordering $orderby',
  order: '_order direction sortOrder sort_order',
  attributes: 'fields _fields select $select columns only',
  depth: '',
  expand: '_embed _expand embed include includes populate relations with $expand',
} satisfies Record<Reserved | 'order', string>)

const RESERVED_MEANT: Readonly<Record<string, Reserved>> = { page: 'offset', order: 'sort' }

const SEARCHES = new Set(['q', '_q', 'search', '$search', 'query', 'keyword', 'keywords', 'term'])

const FILTERS = new Set(['filter', 'filters', '$filter', 'where', '_where', 's'])

/** Other names for operators, behind a name (`age_gte`, `age[gte]`, `age__gte`, `age:gte`) or before a value (`gte.18`). */
const OPERATORS = byName({
  '>=': 'gte ge min since from',
  '<=': 'lte le max until to',
  '>': 'gt after',
  '<': 'lt before',
  '!=': 'ne neq not nin',
  '=': 'eq equals exact in is',
  '~=*': 'like ilike contains icontains',
  '=*': 'startswith istartswith',
  '*=': 'endswith iendswith',
  '~=': '',
  '~~=': 'unaccent',
} satisfies Record<Sign | '~=*' | '=*' | '*=', string>)

const SIGNS: Readonly<Record<string, string>> = { '=>': '>=', '=<': '<=', '==': '=', '!': '!=', '<>': '!=' }

function formatSpelling(name: string, operator: string, value: string): SuggestedSpelling {
  const sign = operator.replace('*', '')
  const text = value.slice(0, 100)
  const before = operator === '~=*' || operator === '*=' ? '*' : ''
  const after = operator === '~=*' || operator === '=*' ? '*' : ''
  return { suggestion: name + sign, detail: formatHint(`${name}${sign}${before}${text}${after}`).trim() }
}

export function suggestParameter(name: string, called: Called, taken: readonly Reserved[]): SuggestedSpelling | undefined {
  const meant = PARAMETERS.get(name.toLowerCase())
  if (meant === undefined) return undefined
  const reserved = RESERVED_MEANT[meant] ?? (meant as Reserved)
  if (meant === 'page' && taken.includes('page')) return { suggestion: called('page'), detail: `Did you mean "${called('page')}"?` }
  if (!taken.includes(reserved)) return undefined
  const suggestion = called(reserved)
  const more =
    meant === 'page'
      ? ` Page 3 of 10 records each is "${called('limit')}=10&${called('offset')}=20".`
      : reserved === 'sort'
        ? ` The direction follows the name: "${suggestion}=name.desc".`
        : ''
  return { suggestion, detail: `Did you mean "${suggestion}"?${more}` }
}

interface KnownNames {
  /** `author.` for `author.nmae`. */
  readonly prefix: string
  readonly names: readonly string[]
  readonly texts: readonly string[]
  readonly called: Called
  readonly reserved: readonly Reserved[]
}

export function suggestFilter(path: string, text: string, known: KnownNames): SuggestedSpelling | undefined {
  const { prefix, names, texts } = known
  const whole = prefix === '' ? suggestForWhole(path, text, known) : undefined
  if (whole !== undefined) return whole
  // `filter[age][gte]` means `age[gte]`.
  const inner = /^[$_a-z]+\[(?<first>[^\]]+)\](?<rest>.*)$/i.exec(path)?.groups
  const isWrapped = inner !== undefined && FILTERS.has(path.slice(0, path.indexOf('[')).toLowerCase())
  const plain = isWrapped ? inner['first']! + inner['rest']! : path
  const match = /^(?<name>.*[^_])(?:__?|:|\.|\[\$?)(?<word>[a-z]+)\]?$/i.exec(plain)?.groups
  const operator = match === undefined ? undefined : OPERATORS.get(match['word']!.toLowerCase())
  const name = findKnownPath(operator === undefined ? plain : match!['name']!, names)
  if (name === undefined || (operator === undefined && !isWrapped)) return undefined
  // Only texts take patterns.
  const isPlain = operator === undefined || (operator.includes('*') && names.includes(name) && !texts.includes(name))
  return formatSpelling(prefix + name, isPlain ? '=' : operator, text)
}

function suggestForWhole(path: string, text: string, { names, texts, called, reserved: taken }: KnownNames): SuggestedSpelling | undefined {
  const reserved = suggestParameter(path, called, taken)
  if (reserved !== undefined) return reserved
  if (SEARCHES.has(path.toLowerCase())) return texts.length === 0 ? undefined : formatSpelling('*', '~=*', text)
  if (FILTERS.has(path.toLowerCase()) && names.length > 0)
    return { suggestion: `${names[0]!}=`, detail: `Each filter is a parameter: "${names[0]!}=..." or "${names[0]!}!=...".` }
  return undefined
}

function findKnownPath(path: string, names: readonly string[]): string | undefined {
  const [first = '', ...rest] = path.split('.')
  const meant = names.includes(first) ? first : findNearest(first, names)
  return meant === undefined ? undefined : [meant, ...rest].join('.')
}

/** For a value with an operator: `age=>3`, `age=gte.3`. */
export function suggestValue(paths: readonly string[], value: string): SuggestedSpelling | undefined {
  const sign = /^(?<sign>>=|<=|=>|=<|==|!=|<>|[><!])(?<rest>.+)$/s.exec(value)?.groups
  if (sign !== undefined) return formatSpelling(paths.join('|'), SIGNS[sign['sign']!] ?? sign['sign']!, sign['rest']!.trim())
  const word = /^\$?(?<word>[a-z]+)[.:](?<rest>.+)$/is.exec(value)?.groups
  const meant = word === undefined ? undefined : OPERATORS.get(word['word']!.toLowerCase())
  return meant === undefined ? undefined : formatSpelling(paths.join('|'), meant, word!['rest']!)
}

/** For `-name`, `name:desc`, `name desc` or `name,desc`. */
export function suggestSort(prefix: string, path: string, names: readonly string[]): SuggestedSpelling | undefined {
  const match = /^(?<sign>[-+ ]?)(?<name>.+?)(?:[: |_](?<direction>asc|desc|ascending|descending))?$/i.exec(path)?.groups
  const sign = match?.['sign'] ?? ''
  const direction = match?.['direction']?.toLowerCase()
  if (prefix === '' && /^(?:asc|desc)$/i.test(path))
    return {
      suggestion: `${names[0] ?? 'id'}.${path.toLowerCase()}`,
      detail: `The direction follows its name: "${names[0] ?? 'id'}.${path.toLowerCase()}".`,
    }
  if (sign === '' && direction === undefined) return undefined
  const name = findKnownPath(match!['name']!, names)
  if (name === undefined) return undefined
  const suggestion = `${prefix}${name}.${sign === '-' || direction?.startsWith('desc') === true ? 'desc' : 'asc'}`
  return { suggestion, detail: `Did you mean "${suggestion}"?` }
}

/** For an object in a query object: `{ age: { $gte: 3 } }`. */
export function suggestObject(name: string, value: object): SuggestedSpelling | undefined {
  if (value instanceof Date) return { suggestion: name, detail: 'Give its toISOString().' }
  const [key, inner] = Object.entries(value)[0] ?? []
  if (key === undefined) return undefined
  const shown =
    typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean' ? JSON.stringify(inner).slice(0, 100) : '...'
  const meant = OPERATORS.get(key.replace('$', '').toLowerCase())
  if (meant !== undefined) {
    const { suggestion } = formatSpelling(name, meant, '')
    return { suggestion, detail: `An operator follows the name: { ${JSON.stringify(suggestion)}: ${shown} }.` }
  }
  if (FILTERS.has(name.toLowerCase()))
    return { suggestion: key, detail: `Filters stand in the query itself: { ${JSON.stringify(key)}: ${shown} }.` }
  if (name.toLowerCase() === 'sort' || PARAMETERS.get(name.toLowerCase()) === 'sort')
    return {
      suggestion: 'sort',
      detail: `A sort is a string: { sort: ${JSON.stringify(`${key}.${inner === 'desc' || inner === -1 ? 'desc' : 'asc'}`)} }.`,
    }
  return undefined
}
