/**
 * Turns the values of a request into parameters of a statement: by its Binding, `?age=5` becomes 5. Refuses wrong values with
 * parameter_invalid.
 */
import { withArticle } from '../../foundation/base/article.ts'
import type { Binding, ValueForm } from './binding.ts'
import type { Dialect, Statement } from './dialect.ts'
import { RefusedValue } from './refused-value.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { parameterError } from '../../foundation/errors/errors.ts'
import { suggestValue } from '../request/habits.ts'
import { blameList } from '../request/expanded-lists.ts'
import { refuseStart, type KeyStart } from '../request/key-start.ts'
import { foldOf } from '../request/operators.ts'
import { idParts, describeKey, describeTypedKey, idFromText, idValues, typedKeyFromText, type KeyValues } from '../../model/key.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Renderer, Resource, ToOneOfAttribute } from '../../model/model.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { RawFilter, RawValue } from '../request/raw-filter.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import { describeScalar, parseScalar, type ScalarType, type ScalarValue } from '../../foundation/values/scalar-type.ts'

export interface Arguments {
  readonly filters: readonly RawFilter[]
  readonly key: KeyValues
  readonly limit: number
  readonly offset: number
  readonly most?: number
  readonly start?: KeyStart | undefined
  readonly lists?: readonly ExpandedList[]
  /** Keys of owners, from `Dialect.encodeLinks`. */
  readonly links?: unknown
  readonly link?: readonly unknown[]
  /** Collects values for renderers. */
  readonly pending?: PendingRender[]
  readonly findValues?: (resource: Resource | undefined) => readonly unknown[]
  /** Undefined for readings of the engine, without a caller. */
  readonly ctx?: HookContext | undefined
  readonly given?: readonly unknown[]
  readonly room?: AnswerBudget
  readonly end?: RequestAbort | undefined
  /** Receives the refusal of a wrong type; compared as text meanwhile. */
  readonly misfits?: Misfits | undefined
}

/** Thrown if no record is found: in a SQLite file, a column of numbers may hold the text `many`, for `?count=many` to find. */
interface Misfits {
  refusal?: Error
}

export interface PendingRender {
  readonly record: Record<string, unknown>
  readonly name: string
  readonly render: Renderer
  readonly stored: Readonly<Record<string, unknown>>
}

/** In characters. LIKE of SQLite takes 50,000 bytes. */
const MAX_PATTERN = 10_000

const NO_PARAMETERS: readonly unknown[] = Object.freeze([])

/** @param from the first binding to bind: the caller has bound those before */
export function bindParameters({ bindings }: Statement, given: Arguments, dialect: Dialect, from = 0): readonly unknown[] {
  if (bindings.length === from) return NO_PARAMETERS
  const parameters: unknown[] = []
  for (let at = from; at < bindings.length; at++) parameters.push(bindParameter(bindings[at]!, given, dialect))
  return parameters
}

function bindParameter(binding: Binding, given: Arguments, dialect: Dialect): unknown {
  switch (binding.from) {
    case 'limit':
      return given.limit
    case 'offset':
      return given.offset
    case 'most':
      return given.most
    case 'cursor':
      return bindCursor(given.start!, binding.index, dialect)
    case 'key':
      return binding.isPlain === true ? given.key[binding.part] : encode(given.key[binding.part], binding, dialect)
    case 'links':
      return given.links
    case 'link':
      return given.link![binding.part]
    case 'literal':
      return typeof binding.value === 'function' ? askForValue(binding.value as ValueOfRequest, given.ctx) : binding.value
    case 'scope':
      return encode(given.findValues!(binding.of)[binding.index], binding, dialect)
    case 'scopeKey':
      return encode((given.findValues!(binding.of)[binding.index] as KeyValues)[binding.part], binding, dialect)
    case 'model':
      return encode(binding.value, binding, dialect)
    case 'written':
      throw new Error('A value that is written comes with the statement.')
    case 'given':
      return dialect.encode(given.given![binding.index], binding.type, false)
    case 'filterList':
      return listParameter(binding, given.filters[binding.filter]!, dialect)
    case 'filterPatterns':
      return patternsParameter(given.filters[binding.filter]!, dialect)
    case 'filterKeys':
      return keysParameter(binding, given.filters[binding.filter]!, dialect)
    case 'filter':
      return filterParameter(binding, given, dialect)
    case 'filterKey': {
      const filter = given.filters[binding.filter]!
      const key = parseKey(binding, filter, filter.values[binding.value]!)
      const { part, resource, form } = binding
      return key === undefined ? null : encode(key[part], { type: idParts(resource)[part]!.type, form }, dialect)
    }
  }
}

/** A value by request, such as the user's ID. Without a request, functions with a parameter give NULL. */
type ValueOfRequest = (ctx: HookContext | undefined) => unknown

function askForValue(value: ValueOfRequest, ctx: HookContext | undefined): unknown {
  if (ctx === undefined && value.length > 0) return null
  const given = value(ctx)
  // Drivers refuse undefined; PostgreSQL's takes a promise silently.
  if (given instanceof Promise)
    throw new TypeError('A function in "params" of a computed attribute must give its value at once, got a promise.')
  return given ?? null
}

function bindCursor(start: KeyStart, index: number, dialect: Dialect): unknown {
  const value = dialect.readCursor(start.after!.values[index]!)
  if (value === undefined) throw refuseStart(start, 'is a cursor of another list or order')
  return value
}

function encode(
  value: unknown,
  { type, form, inDocument = false }: { readonly type: ScalarType; readonly form: ValueForm; readonly inDocument?: boolean },
  dialect: Dialect,
): unknown {
  if (form === 'value') return dialect.encode(value, type, inDocument)
  if (form.of === 'pattern') throw new Error('Only the value of a filter has a pattern.')
  return form.encode(value, type)
}

/** Undefined for another resource's ID, as `post:7` among users. */
function parseKey(
  { resource, oneOf }: { readonly resource: Resource; readonly oneOf?: ToOneOfAttribute },
  filter: RawFilter,
  value: RawValue,
): readonly ScalarValue[] | undefined {
  const text = textOf(value)
  if (oneOf !== undefined) {
    const typed = typedKeyFromText(text, oneOf)
    if (typed === undefined) throw wrongValue(filter, text, describeTypedKey(oneOf))
    return typed.branch.target === resource ? typed.key : undefined
  }
  const key = idFromText(text, resource)
  if (key === undefined) throw wrongValue(filter, text, `an ID of ${withArticle(resource.singular)} (${describeKey(resource)})`)
  return idValues(key)
}

function keysParameter(binding: Binding & { from: 'filterKeys' }, filter: RawFilter, dialect: Dialect): unknown {
  const { type } = idParts(binding.resource)[0]!
  const keys = filter.values.flatMap(value => (value.kind === 'text' ? (parseKey(binding, filter, value) ?? []) : []))
  const values = keys.flatMap(key => binding.forms.map(form => encode(key, { type, form }, dialect)))
  return dialect.encodeList(values, type)
}

function listParameter({ type, forms, inDocument }: Binding & { from: 'filterList' }, filter: RawFilter, dialect: Dialect): unknown {
  const values: unknown[] = []
  for (const value of filter.values) {
    if (value.kind !== 'text') continue
    const bound = parseBound(value, type, filter, dialect)
    if (bound !== null) for (const form of forms) values.push(encode(bound, { type, form, inDocument }, dialect))
  }
  return dialect.encodeList(values, type)
}

/** Plain values are patterns of `~=` and `~~=`, too. */
function patternsParameter(filter: RawFilter, dialect: Dialect): unknown {
  const all = foldOf(filter) > 0
  return dialect.encodePatterns(
    filter.values.flatMap(value => {
      if (value.kind === 'null' || (value.kind === 'text' && !all)) return []
      const pieces = value.kind === 'pattern' ? value.pieces : [value.text]
      checkLength(pieces, filter)
      return [pieces]
    }),
  )
}

function filterParameter(binding: Binding & { from: 'filter' }, { filters, misfits }: Arguments, dialect: Dialect): unknown {
  const { type, form } = binding
  const filter = filters[binding.filter]!
  const value = filter.values[binding.value]!
  const text = value.kind === 'text' ? value.text : ''
  if (form !== 'value' && form.of === 'pattern') {
    const pieces = value.kind === 'pattern' ? value.pieces : [text]
    checkLength(pieces, filter)
    return form.encode(pieces)
  }
  const typed = parseScalar(text, type)
  if (typed === undefined) {
    const refusal = wrongValueError(value, type, filter)
    if (misfits === undefined || !mayBeMisfit(filter, type) || !isSpelledAsShown(text)) throw refusal
    misfits.refusal = refusal
    return form === 'value' || form.takesMisfits === true ? text : null
  }
  if (binding.isPlain === true) return typed
  const bound = dialect.findBound(typed, type, filter.operator)
  return bound === null ? null : encode(bound, binding, dialect)
}

/** In a list, or behind a longer path, a wrong value is rather a mistake. */
function mayBeMisfit({ operator, negated, paths, values, isGrouped }: RawFilter, { codec }: ScalarType): boolean {
  if (isGrouped) return false
  return operator === '=' && !negated && paths.length === 1 && !paths[0]!.includes('.') && values.length === 1 && codec === undefined
}

/** Null: equal to no stored value. */
function parseBound(value: RawValue, type: ScalarType, filter: RawFilter, dialect: Dialect): unknown {
  const text = textOf(value)
  const typed = parseScalar(text, type)
  if (typed === undefined) throw wrongValueError(value, type, filter)
  return dialect.findBound(typed, type, filter.operator)
}

/** False for `01`, `1.0` and `1e3`: integers for a database. */
function isSpelledAsShown(text: string): boolean {
  const number = Number(text)
  if (!/^\s*[+-]?(?:\d|\.\d)/.test(text) || Number.isNaN(number) || String(number) === text) return true
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]\d+)?$/i.test(text) && !Number.isSafeInteger(number)
}

function wrongValueError(value: RawValue, type: ScalarType, filter: RawFilter) {
  const text = textOf(value)
  return wrongValue(filter, text, describeScalar(type), { allowed: type.items, spelling: suggestPlus(text, type) })
}

/** In a URL, `+` is a blank: suggests `%2B`. */
function suggestPlus(text: string, type: ScalarType): ValueSpelling | undefined {
  const meant = text.replace(/ (?=[\d:]+$)/, '+')
  if (meant === text || parseScalar(meant, type) === undefined) return undefined
  const suggestion = meant.replace('+', '%2B')
  return { detail: `A "+" in a URL is a blank: write %2B for it, as in "${suggestion}".`, suggestion }
}

function checkLength(pieces: readonly string[], { label }: RawFilter): void {
  const stars = pieces.length - 1
  if (pieces.reduce((length, piece) => length + piece.length, stars) <= MAX_PATTERN) return
  throw parameterError({
    code: 'limit_exceeded',
    detail: `The pattern of "${label}" is longer than ${MAX_PATTERN} characters.`,
    parameter: label,
  })
}

function textOf(value: RawValue): string {
  return value.kind === 'text' ? value.text : ''
}

/** Names the filter, when the database refuses a value: `?ip=abc` of an `inet` column. */
export function explainRefused<T>(reading: Promise<T>, filters: readonly RawFilter[]): Promise<T> {
  return reading.catch((error: unknown) => {
    const binding = error instanceof RefusedValue ? error.binding : undefined
    if (binding?.from !== 'filter' && binding?.from !== 'filterList') throw error
    const { list } = error as RefusedValue
    const { label, text } = (list?.parameters.filters ?? filters)[binding.filter]!
    const type = (binding.type.column ?? binding.type.kind).replace('pg_catalog.', '')
    const detail = `"${label}" is of the type ${type}: ${(error as RefusedValue).reason}.`
    const refusal = parameterError({ code: 'value_invalid', detail, parameter: label, value: text })
    throw list === undefined ? refusal : blameList(refusal, list)
  })
}

interface ValueSpelling {
  readonly detail: string
  readonly suggestion: string
}

function wrongValue(
  filter: RawFilter,
  value: string,
  due: string,
  { allowed, spelling: known }: { readonly allowed?: readonly unknown[] | undefined; readonly spelling?: ValueSpelling | undefined } = {},
) {
  const spelling = known ?? (filter.operator === '=' && !filter.negated ? suggestValue(filter.paths, value) : undefined)
  return parameterError({
    code: 'value_invalid',
    detail: `"${filter.label}" must be ${due}, got "${value.slice(0, 100)}".${spelling === undefined ? '' : ` ${spelling.detail}`}`,
    parameter: filter.label,
    value,
    ...(spelling === undefined ? {} : { suggestion: spelling.suggestion }),
    ...(allowed === undefined ? {} : { allowed }),
  })
}
