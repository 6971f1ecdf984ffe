/**
 * Bind: the values of a request become the parameters of a statement, in its order. The only place where the texts of filters are typed.
 * Refuses with parameter_invalid when a value cannot be of its attribute's type.
 */
import { withArticle } from '../../foundation/base/article.ts'
import type { Binding } from './binding.ts'
import type { Dialect, Statement } from './dialect.ts'
import type { ValueForm } from './value-form.ts'
import type { RequestAbort } from '../../foundation/base/abort.ts'
import { parameterError } from '../../foundation/base/errors.ts'
import { suggestValue } from '../request/habits.ts'
import { isFolded } from '../request/operators.ts'
import { idParts, describeKey, describeTypedKey, idFromText, idValues, typedKeyFromText, type KeyValues } from '../../model/key.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Renderer, Resource, ToOneOfAttribute } from '../../model/model.ts'
import type { RawFilter, RawValue } from '../request/query-string.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import { describeScalar, parseScalar, type ScalarType, type ScalarValue } from '../../foundation/values/scalar-type.ts'

/** The values of one request. */
export interface Arguments {
  readonly filters: readonly RawFilter[]
  readonly key: KeyValues
  readonly limit: number
  readonly offset: number
  /** The number up to which records are counted. */
  readonly most?: number
  /** The keys of the rows above, as `Dialect.encodeLinks` gives them. */
  readonly links?: unknown
  /** The key of the one row above. */
  readonly link?: readonly unknown[]
  /** Collects the values that are yet to be rendered by the application's functions, which may be asynchronous. */
  readonly pending?: PendingRender[]
  /** The values of a resource's scope, or of custom parameters. */
  readonly findValues?: (resource: Resource | undefined) => readonly unknown[]
  /** The request, for functions of the application that give a value to it; undefined where the engine reads for itself. */
  readonly ctx?: HookContext | undefined
  /** The values that the engine itself asks for. */
  readonly given?: readonly unknown[]
  /** The limits of the answer; undefined where the engine reads for itself. */
  readonly room?: AnswerBudget
  /** Ends the request before its answer. */
  readonly end?: RequestAbort | undefined
  /** Takes a value that is not of its attribute's type, which is compared as a text nevertheless. */
  readonly misfits?: Misfits | undefined
}

/**
 * What a value is refused with, should no record hold it: a file may hold a text in a column of numbers, which is shown, and found by that.
 */
interface Misfits {
  refusal?: Error
}

/** A value to be rendered once all rows are read. */
export interface PendingRender {
  readonly record: Record<string, unknown>
  readonly name: string
  readonly render: Renderer
  readonly stored: Readonly<Record<string, unknown>>
}

/** Longer patterns are more than the database's own matching takes. */
const MAX_PATTERN = 10_000

const NO_PARAMETERS: readonly unknown[] = Object.freeze([])

/** @param from the first binding: whose parameters stand in front comes with these */
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
    case 'key':
      return encode(given.key[binding.part], binding, dialect)
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

/**
 * A function gives a value of its own to each request, such as the ID of its user. Where there is no request, there is none that depends on
 * it.
 */
type ValueOfRequest = (ctx: HookContext | undefined) => unknown

function askForValue(value: ValueOfRequest, ctx: HookContext | undefined): unknown {
  if (ctx === undefined && value.length > 0) return null
  const given = value(ctx)
  // A driver takes no undefined, and PostgreSQL's says nothing of a promise.
  if (given instanceof Promise)
    throw new TypeError('A function in "params" of a computed attribute must give its value at once, got a promise.')
  return given ?? null
}

/** The parameter of a value in the form of a binding. */
function encode(
  value: unknown,
  { type, form, inDocument = false }: { readonly type: ScalarType; readonly form: ValueForm; readonly inDocument?: boolean },
  dialect: Dialect,
): unknown {
  if (form === 'value') return dialect.encode(value, type, inDocument)
  if (form.of === 'pattern') throw new Error('Only the value of a filter has a pattern.')
  return form.encode(value, type)
}

/** The ID that a value of a filter is; undefined where it is one of another resource. */
function parseKey(
  { resource, oneOf }: { readonly resource: Resource; readonly oneOf?: ToOneOfAttribute },
  filter: RawFilter,
  value: RawValue,
): readonly ScalarValue[] | undefined {
  const text = unescape(value)
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

/** The pieces of every pattern, and of every plain value where it is compared as one. */
function patternsParameter(filter: RawFilter, dialect: Dialect): unknown {
  const all = isFolded(filter)
  return dialect.encodePatterns(
    filter.values.flatMap(value => {
      if (value.kind === 'null' || (value.kind === 'text' && !all)) return []
      const pieces = value.kind === 'pattern' ? value.pieces : [value.text]
      if (pieces.reduce((length, piece) => length + piece.length + 1, 0) > MAX_PATTERN) throw longPattern(filter)
      return [pieces]
    }),
  )
}

function filterParameter(binding: Binding & { from: 'filter' }, { filters, misfits }: Arguments, dialect: Dialect): unknown {
  const { type, form } = binding
  const filter = filters[binding.filter]!
  const value = filter.values[binding.value]!
  if (form !== 'value' && form.of === 'pattern') {
    const pieces = value.kind === 'pattern' ? value.pieces : [unescape(value)]
    if (filter.text.length > MAX_PATTERN) throw longPattern(filter)
    return form.encode(pieces)
  }
  if (
    misfits !== undefined &&
    mayBeMisfit(filter, type) &&
    isSpelledAsShown(unescape(value)) &&
    parseScalar(unescape(value), type) === undefined
  ) {
    misfits.refusal = wrongValueError(value, type, filter)
    return form === 'value' || form.takesMisfits === true ? unescape(value) : null
  }
  const bound = parseBound(value, type, filter, dialect)
  return bound === null ? null : encode(bound, binding, dialect)
}

/**
 * Whether a value that is not of the type may still be what a column of the record holds. Of several values a wrong one is rather a
 * mistake, and a path may end in attributes of several types.
 */
function mayBeMisfit({ operator, negated, paths, values }: RawFilter, { codec }: ScalarType): boolean {
  return operator === '=' && !negated && paths.length === 1 && !paths[0]!.includes('.') && values.length === 1 && codec === undefined
}

/** The typed value; null where nothing can equal it. */
function parseBound(value: RawValue, type: ScalarType, filter: RawFilter, dialect: Dialect): unknown {
  const text = unescape(value)
  const typed = parseScalar(text, type)
  if (typed === undefined) throw wrongValueError(value, type, filter)
  return dialect.findBound(typed, type, filter.operator)
}

/** Whether a text is not a number, or the number as it is shown: a database takes `01`, `1.0` and `1e3` for integers, too. */
function isSpelledAsShown(text: string): boolean {
  const number = Number(text)
  if (!/^\s*[+-]?(?:\d|\.\d)/.test(text) || Number.isNaN(number) || String(number) === text) return true
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]\d+)?$/i.test(text) && !Number.isSafeInteger(number)
}

function wrongValueError(value: RawValue, type: ScalarType, filter: RawFilter) {
  return wrongValue(filter, unescape(value), describeScalar(type), type.items)
}

function longPattern(filter: RawFilter) {
  return parameterError({
    code: 'limit_exceeded',
    detail: `The pattern of "${filter.label}" is longer than ${MAX_PATTERN} characters.`,
    parameter: filter.label,
  })
}

function unescape(value: RawValue): string {
  return value.kind === 'text' ? value.text : ''
}

function wrongValue(filter: RawFilter, value: string, due: string, allowed?: readonly unknown[]) {
  const spelling = filter.operator === '=' && !filter.negated ? suggestValue(filter.paths, value) : undefined
  return parameterError({
    code: 'value_invalid',
    detail: `"${filter.label}" must be ${due}, got "${value.slice(0, 100)}".${spelling === undefined ? '' : ` ${spelling.detail}`}`,
    parameter: filter.label,
    value,
    ...(spelling === undefined ? {} : { suggestion: spelling.suggestion }),
    ...(allowed === undefined ? {} : { allowed }),
  })
}
