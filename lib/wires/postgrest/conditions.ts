/** Turns PostgREST's filters into conditions of the engine, so that `age=gt.5` becomes `{ age: { $gt: 5 } }`. */
import type { WireApi, WireAttribute, WireResource } from '../../foundation/base/wire.ts'
import { Failure, noOperator, notServed, unreadable } from './failure.ts'
import { columnOf, needColumn, typeOf } from './tables.ts'
import { TextReader, type Step } from './text-reader.ts'
import { nameType, readText } from './values.ts'

export type WireCondition = Readonly<Record<string, unknown>>

/** `not.eq(any).value` */
interface Expression {
  readonly isNot: boolean
  readonly operator: string
  /** In brackets: `eq(any)`, `fts(english)`. */
  readonly quantifier: string | undefined
  readonly text: string
}

interface FilterSubject {
  readonly api: WireApi
  readonly attribute: WireAttribute
  readonly steps: readonly Step[]
  readonly type: string | undefined
}

const OPERATOR = /^(not\.)?([a-z]+)(?:\((\w+)\))?\.([^]*)$/
const QUANTIFIED = new Set(['eq', 'like', 'ilike', 'gt', 'gte', 'lt', 'lte', 'match', 'imatch'])

/** For errors in PostgreSQL's words. */
const SIGNS: Readonly<Record<string, string>> = {
  like: '~~',
  ilike: '~~*',
  match: '~',
  imatch: '~*',
  cs: '@>',
  cd: '<@',
  ov: '&&',
  sl: '<<',
  sr: '>>',
  nxr: '&<',
  nxl: '&>',
  adj: '-|-',
}
const OF_RANGES = new Set(['sl', 'sr', 'nxr', 'nxl', 'adj'])
const SEARCH = new Set(['fts', 'plfts', 'phfts', 'wfts'])

/** @throws Failure for an unreadable text, and for brackets behind an operator that takes none */
export function parseExpression(sent: string): Expression {
  const [, not, operator, quantifier, text] = OPERATOR.exec(sent) ?? []
  if (operator === undefined || text === undefined)
    throw unreadable('filter', sent, `unexpected "${sent[0] ?? 'end of input'}" expecting "not" or operator (eq, gt, ...)`)
  if (quantifier !== undefined && !SEARCH.has(operator) && !(QUANTIFIED.has(operator) && /^(?:any|all)$/.test(quantifier)))
    throw unreadable('filter', sent, `unexpected "(" expecting "."`)
  return { isNot: not !== undefined, operator, quantifier, text }
}

/** `meta->>color`, `"a name"` */
export function readPath(text: string, what: 'filter' | 'order' = 'filter'): { readonly name: string; readonly steps: readonly Step[] } {
  if (/^\w+$/.test(text)) return { name: text, steps: [] }
  const reader = new TextReader(text, found => unreadable(what, text, found))
  const name = reader.name()
  const steps = reader.steps()
  reader.end()
  return { name, steps }
}

/** Reads `age=gt.5`. */
export function makeCondition(api: WireApi, resource: WireResource, path: string, sent: string): WireCondition {
  const { name, steps } = readPath(path)
  const expression = parseExpression(sent)
  const attribute = needColumn(resource, name)
  const type = typeOf(api, attribute)
  if (steps.length > 0 && !isDocument(attribute)) throw noOperator(`${nameType(type ?? 'record')} ->> unknown`)
  const made = compare({ api, attribute, steps, type }, expression)
  return expression.isNot ? { $not: made } : made
}

function isDocument({ kind, type }: WireAttribute): boolean {
  return kind === 'embedded' || type === 'json'
}

function compare(subject: FilterSubject, { operator, quantifier, text }: Expression): WireCondition {
  if (OF_RANGES.has(operator)) throw refuseOperator(subject, operator)
  if (SEARCH.has(operator)) return search(subject, operator, text)
  if (quantifier === undefined) return compareOne(subject, operator, text)
  const inner = /^\{([^]*)\}$/.exec(text)?.[1]
  if (inner === undefined) throw unreadable('filter', text, 'expecting "{"')
  return { [quantifier === 'any' ? '$or' : '$and']: splitList(inner, text).map(each => compareOne(subject, operator, each)) }
}

function compareOne(subject: FilterSubject, operator: string, text: string): WireCondition {
  switch (operator) {
    case 'eq':
      return equals(subject, text)
    case 'neq':
      return { $not: equals(subject, text) }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return onColumn(subject, { [`$${operator}`]: readOne(subject, text) })
    case 'like':
    case 'ilike':
      needText(subject, `${SIGNS[operator]!} unknown`)
      return onColumn(subject, { [`$${operator}`]: pattern(text) })
    case 'match':
    case 'imatch':
      needText(subject, `${SIGNS[operator]!} unknown`)
      return onColumn(subject, { [operator === 'match' ? '$re' : '$ire']: readText(text, 'text') })
    case 'in':
      return isAnyOf(subject, text)
    case 'is':
      return is(subject, text)
    case 'isdistinct':
      // `$not` does not find NULL.
      return { $or: [{ $not: equals(subject, text) }, onColumn(subject, { $eq: null })] }
    case 'cs':
      return contains(subject, text)
    case 'cd':
      return subject.type === 'array' ? onColumn(subject, { $contained: readArray(text) }) : isContained(subject, text)
    case 'ov':
      if (subject.type === 'array') return onColumn(subject, { $overlap: readArray(text) })
      throw refuseOperator(subject, operator)
    default:
      throw unreadable('filter', `${operator}.${text}`, `unexpected "${operator[0]!}" expecting "not" or operator (eq, gt, ...)`)
  }
}

/** Nests a comparison: `{ meta: { color: { $eq: 'red' } } }`. */
function onColumn({ api, attribute, steps }: FilterSubject, comparison: WireCondition): WireCondition {
  const inner = steps.reduceRight<WireCondition>((value, { name }) => ({ [name]: value }), comparison)
  const plain = Object.keys(comparison).every(name => ['$eq', '$ne', '$in'].includes(name))
  if (attribute.kind !== 'toOne' || plain) return { [attribute.name]: inner }
  // A foreign key compares as the target's key.
  const target = api.resources.find(({ name }) => name === attribute.target)
  return target === undefined ? { [attribute.name]: inner } : { [attribute.name]: { [target.key[0]!]: inner } }
}

function equals(subject: FilterSubject, text: string): WireCondition {
  const { attribute, steps, type } = subject
  if (steps.at(-1)?.isText === true) return onColumn(subject, { $in: listForms(text) })
  if (type === 'json' && steps.length === 0) throw noOperator('json = unknown')
  if (attribute.kind === 'toOneOf') throw notServed(`A filter on "${columnOf(attribute)}"`)
  return onColumn(subject, { $eq: readOne(subject, text) })
}

/** The JSON values shown by `->>` as the text: "5" and 5. */
function listForms(text: string): unknown[] {
  if (text.includes('\0')) readText(text, 'text')
  if (text === 'true' || text === 'false') return [text, text === 'true']
  const value = Number(text)
  return text !== '' && String(value) === text ? [text, value] : [text]
}

function readOne({ steps, type }: FilterSubject, text: string): unknown {
  if (steps.length === 0) return readText(text, type)
  return readText(text, steps.at(-1)!.isText ? 'text' : 'json')
}

/** @param operator with the type after it: `~ unknown` */
function needText({ type, steps }: FilterSubject, operator: string): void {
  if (steps.at(-1)?.isText === false) throw noOperator(`jsonb ${operator}`)
  if (steps.length === 0 && type !== 'text' && type !== 'any' && type !== undefined) throw noOperator(`${nameType(type)} ${operator}`)
}

/** In PostgreSQL's words. No column has a range. */
function refuseOperator({ type, steps }: FilterSubject, operator: string): Failure {
  const name = nameType(steps.at(-1)?.isText === true ? 'text' : (type ?? 'record'))
  const what = `${name} ${SIGNS[operator]!} unknown`
  // Of whole numbers, `<<` and `>>` shift bits.
  if ((operator === 'sl' || operator === 'sr') && (type === 'integer' || type === 'bigint'))
    return new Failure(400, '42804', `argument of WHERE must be type boolean, not type ${type}`)
  if (operator !== 'cd') return noOperator(what)
  const hint = 'Could not choose a best candidate operator. You might need to add explicit type casts.'
  return new Failure(400, '42725', `operator is not unique: ${what}`, { hint })
}

/** `*` means `%`; a backslash escapes. */
function pattern(text: string): string {
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(text)) throw new Failure(400, '22025', 'LIKE pattern must not end with escape character')
  return String(readText(text, 'text')).replaceAll('*', '%')
}

function isAnyOf(subject: FilterSubject, text: string): WireCondition {
  const inner = /^\(([^]*)\)$/.exec(text.trim())?.[1]
  if (inner === undefined) throw unreadable('filter', `in.${text}`, 'expecting "("')
  const values = splitList(inner, text)
  const { steps } = subject
  return onColumn(subject, {
    $in: steps.at(-1)?.isText === true ? values.flatMap(listForms) : values.map(value => readOne(subject, value)),
  })
}

function is(subject: FilterSubject, text: string): WireCondition {
  const value = text.toLowerCase()
  if (value === 'null') return onColumn(subject, { $eq: null })
  if (value === 'not_null') return { $not: onColumn(subject, { $eq: null }) }
  if (!['true', 'false', 'unknown'].includes(value))
    throw unreadable('filter', `is.${text}`, 'expecting isVal: (null, not_null, true, false, unknown)')
  if (subject.type !== 'boolean')
    throw new Failure(400, '42804', `argument of IS ${value.toUpperCase()} must be type boolean, not type ${subject.type ?? 'record'}`)
  return onColumn(subject, { $eq: value === 'unknown' ? null : value === 'true' })
}

function contains(subject: FilterSubject, text: string): WireCondition {
  const { attribute, steps, type } = subject
  if (type === 'array') return onColumn(subject, { $contains: readArray(text) })
  if (!isDocument(attribute)) throw refuseOperator(subject, 'cs')
  const value = readText(text, 'json')
  if (attribute.kind === 'embedded') return containsParts(subject, value)
  if (steps.some(({ name }) => /^-?\d+$/.test(name))) throw notServed('The operator "cs" of a place in a list')
  const below = (inner: unknown): WireCondition => ({
    [attribute.name]: { $contains: steps.reduceRight((found, { name }) => ({ [name]: found }), inner) },
  })
  // `@>` finds a bare value in a list only at the top; below a path, ask for both forms.
  return steps.length > 0 && (typeof value !== 'object' || value === null) ? { $or: [below(value), below([value])] } : below(value)
}

function containsParts(subject: FilterSubject, whole: unknown): WireCondition {
  const parts: WireCondition[] = []
  const walk = (value: unknown, names: readonly Step[]): void => {
    if (Array.isArray(value)) throw notServed('The operator "cs" of a list inside an embedded object')
    if (typeof value !== 'object' || value === null) return void parts.push(onColumn({ ...subject, steps: names }, { $eq: value }))
    for (const [name, inner] of Object.entries(value)) walk(inner, [...names, { name, isText: false }])
  }
  walk(whole, subject.steps)
  return parts.length === 0 ? { $not: onColumn(subject, { $eq: null }) } : { $and: parts }
}

function isContained(subject: FilterSubject, text: string): WireCondition {
  const { attribute, steps, type } = subject
  if (steps.length > 0) throw notServed('The operator "cd" of a part of JSON')
  if (type !== 'json') throw refuseOperator(subject, 'cd')
  return { [attribute.name]: { $contained: readText(text, 'json') } }
}

/** `{a,"b, c",NULL}` */
function readArray(text: string): unknown[] {
  const reader = new TextReader(text.trim(), () => new Failure(400, '22P02', `malformed array literal: "${text.slice(0, 200)}"`))
  reader.need('{')
  const items = reader.members('}', () => {
    if (reader.sees('"')) return reader.quoted()
    const item = reader.match(/[^,{}"]+/)?.trim() ?? ''
    if (item === '') throw reader.wrong('')
    return /^null$/i.test(item) ? null : item
  })
  reader.end()
  return items
}

/**
 * Finds words only as written, unlike PostgreSQL: `fts` and `plfts` all words, `phfts` the phrase, `wfts` words, `"phrases"`, `or` and
 * `-without`.
 */
function search(subject: FilterSubject, operator: string, text: string): WireCondition {
  needText(subject, '@@ tsquery')
  if (text.length > 1000 || /[|!<>()*:]/.test(text)) throw notServed('Full-text search with operators')
  const words = wordsOf(text)
  if (operator === 'wfts') return searchWeb(subject, text)
  // Without words, nothing: `DELETE ?title=fts.` must not remove all rows.
  if (words.length === 0) return { $or: [] }
  return { $and: (operator === 'phfts' ? [words.join(' ')] : words).map(each => containsPhrase(subject, each)) }
}

function searchWeb(subject: FilterSubject, text: string): WireCondition {
  const alternatives: WireCondition[][] = [[]]
  for (const token of text.match(/-?"[^"]*"?|\S+/g) ?? []) {
    const phrase = wordsOf(token).join(' ')
    if (token.toLowerCase() === 'or') alternatives.push([])
    else if (phrase !== '') {
      const found = containsPhrase(subject, phrase)
      alternatives.at(-1)!.push(token.startsWith('-') ? { $not: found } : found)
    }
  }
  return { $or: alternatives.filter(({ length }) => length > 0).map($and => ({ $and })) }
}

function wordsOf(text: string): string[] {
  return text
    .split(/[\s&]+/)
    .map(word => word.replaceAll(/^["'-]+|["'-]+$/g, ''))
    .filter(word => word !== '')
}

function containsPhrase(subject: FilterSubject, phrase: string): WireCondition {
  return onColumn(subject, { $ilike: pattern(`%${phrase.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`) })
}

/** Splits at commas outside of quotes. supabase-js leaves inner quotes unescaped, so a quote closes only before a comma or at the end. */
export function splitList(text: string, whole: string): string[] {
  if (text === '') return []
  const reader = new TextReader(text, found => unreadable('filter', whole, found))
  const values: string[] = []
  let mayClose = true
  do {
    reader.count()
    const isQuoted = mayClose && reader.sees('"')
    const quoted = isQuoted ? reader.match(/"(?:[^"\\]|\\[^]|"(?!,|$))*"(?=,|$)/) : undefined
    if (isQuoted && quoted === undefined) mayClose = false
    values.push(quoted?.slice(1, -1).replaceAll(/\\([^])/g, '$1') ?? reader.match(/[^,]*/) ?? '')
  } while (reader.take(','))
  reader.end()
  return values
}

/** In `or=(...)`, a value is a list, a quoted text, or all up to a comma or bracket. */
function readMemberValue(reader: TextReader): string {
  const start = reader.match(/(?:not\.)?[a-z]+(?:\(\w+\))?\./)
  if (start === undefined) throw reader.wrong('expecting "not" or operator (eq, gt, ...)')
  const list = reader.match(/\((?:"(?:[^"\\]|\\[^])*"|[^()"])*\)|\{(?:"(?:[^"\\]|\\[^])*"|[^{}"]|\{[^{}]*\})*\}/)
  if (list !== undefined) return start + list
  return start + (reader.sees('"') ? reader.quoted() : (reader.match(/[^,)]*/) ?? ''))
}

const MAX_LOGIC = 100_000

/**
 * Reads `(a.eq.1,and(b.gt.2,not.or(...)))`.
 *
 * @param condition makes the condition of one member
 */
export function parseLogic(kind: 'or' | 'and', text: string, condition: (path: string, sent: string) => WireCondition): WireCondition {
  const reader = new TextReader(text, found => unreadable('logic tree', `${kind}${text}`, found))
  if (text.length > MAX_LOGIC) throw reader.wrong(`: the tree has more than ${MAX_LOGIC} characters`)
  const group = (of: string): WireCondition => ({ [`$${of}`]: reader.members(')', member) })
  const member = (): WireCondition => {
    const nested = reader.match(/(?:not\.)?(?:and|or)\s*\(/)
    if (nested !== undefined) {
      const made = group(nested.includes('and') ? 'and' : 'or')
      return nested.startsWith('not.') ? { $not: made } : made
    }
    const path = reader.match(/(?:"(?:[^"\\]|\\[^])*"|->>?|[\p{L}\p{N}_$ -])+/u)
    if (path === undefined) throw reader.wrong('expecting logic operator (and, or) or field name')
    reader.need('.')
    return condition(path.trim(), readMemberValue(reader))
  }
  reader.space()
  reader.need('(')
  const made = group(kind)
  reader.space()
  reader.end()
  return made
}
