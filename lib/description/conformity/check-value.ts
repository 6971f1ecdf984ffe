/** Checks a value by the JSON Schema of the engine's documents. An unknown keyword throws, so that no rule is skipped silently. */
import type { Schema } from '../openapi/schema.ts'
import { isObject } from '../../foundation/json/json.ts'

/** Keywords that do not restrict values. */
const ANNOTATIONS = new Set([
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
])

interface ValuePlace {
  readonly root: Schema
  /** A JSON pointer. */
  readonly path: string
}

type KeywordCheck = (expected: unknown, value: unknown, schema: Schema, place: ValuePlace) => readonly string[]

const NOTHING: readonly string[] = []

/** Cached: every attribute of every record may follow a reference. */
const RESOLVED = new WeakMap<Schema, Map<string, Schema>>()

const PATTERNS = new Map<string, RegExp>()

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const MOMENT = /^([^T]+)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

const isDay = (text: string): boolean =>
  DAY.test(text) &&
  Number(text.slice(8)) <= new Date(Date.UTC(2000 + (Number(text.slice(0, 4)) % 400), Number(text.slice(5, 7)), 0)).getUTCDate()

/** Any other `format` accepts every text. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDay,
  'date-time': text => isDay(MOMENT.exec(text)?.[1] ?? ''),
  uuid: text => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  uri: text => URL.canParse(text),
}

const CHECKS: Readonly<Record<string, KeywordCheck>> = {
  $ref: (expected, value, _schema, { root, path }) => findMismatches(resolve(root, expected as string), value, { root, path }),
  // An application's schema may use unknown keywords, and concerns only requests.
  allOf: (expected, value, _schema, place) =>
    (expected as Schema[]).flatMap(each => (each['x-schema'] === undefined ? findMismatches(each, value, place) : [])),
  anyOf: (expected, value, _schema, place) => findNearestFaults(expected as Schema[], value, place),
  not: (expected, value, _schema, place) =>
    findMismatches(expected as Schema, value, place).length > 0 ? NOTHING : [say(place, `is ${show(value)}, which is ruled out`)],
  type: (expected, value, _schema, place) =>
    isOfTypes(value, expected)
      ? NOTHING
      : [say(place, `is ${nameType(value)} (${show(value)}), not ${([expected].flat() as string[]).join(' or ')}`)],
  const: (expected, value, _schema, place) =>
    isSame(expected, value) ? NOTHING : [say(place, `is ${show(value)}, not ${show(expected)}`)],
  enum: (expected, value, _schema, place) =>
    (expected as unknown[]).some(each => isSame(each, value))
      ? NOTHING
      : [say(place, `is ${show(value)}, not one of ${(expected as unknown[]).map(show).join(', ')}`)],
  pattern: (expected, value, _schema, place) =>
    typeof value !== 'string' || compile(expected as string).test(value)
      ? NOTHING
      : [say(place, `is ${show(value)}, not of the form ${String(expected)}`)],
  format: (expected, value, _schema, place) =>
    typeof value !== 'string' || FORMATS[expected as string]?.(value) !== false
      ? NOTHING
      : [say(place, `is ${show(value)}, not of the form ${String(expected)}`)],
  maxLength: (expected, value, _schema, place) =>
    typeof value !== 'string' || value.length <= (expected as number) || [...value].length <= (expected as number)
      ? NOTHING
      : [say(place, `is longer than ${String(expected)} characters`)],
  minLength: (expected, value, _schema, place) =>
    typeof value !== 'string' || [...value].length >= (expected as number)
      ? NOTHING
      : [say(place, `is shorter than ${String(expected)} characters`)],
  minimum: (expected, value, _schema, place) =>
    typeof value !== 'number' || value >= (expected as number) ? NOTHING : [say(place, `is ${value}, less than ${String(expected)}`)],
  maximum: (expected, value, _schema, place) =>
    typeof value !== 'number' || value <= (expected as number) ? NOTHING : [say(place, `is ${value}, more than ${String(expected)}`)],
  minItems: (expected, value, _schema, place) =>
    !Array.isArray(value) || value.length >= (expected as number) ? NOTHING : [say(place, `has fewer than ${String(expected)} items`)],
  maxItems: (expected, value, _schema, place) =>
    !Array.isArray(value) || value.length <= (expected as number) ? NOTHING : [say(place, `has more than ${String(expected)} items`)],
  items: (expected, value, _schema, place) => {
    if (!Array.isArray(value)) return NOTHING
    let faults = NOTHING
    for (let index = 0; index < value.length; index++)
      faults = join(faults, findMismatches(expected as Schema, value[index], below(place, String(index))))
    return faults
  },
  required: (expected, value, _schema, place) => {
    if (!isObject(value)) return NOTHING
    let faults = NOTHING
    for (const name of expected as string[]) if (!Object.hasOwn(value, name)) faults = join(faults, [say(place, `lacks "${name}"`)])
    return faults
  },
  properties: (expected, value, _schema, place) => {
    if (!isObject(value)) return NOTHING
    let faults = NOTHING
    for (const name in expected as Schema)
      if (Object.hasOwn(value, name))
        faults = join(faults, findMismatches((expected as Record<string, Schema>)[name]!, value[name], below(place, name)))
    return faults
  },
  additionalProperties: (expected, value, schema, place) => {
    if (!isObject(value)) return []
    const more = Object.keys(value).filter(name => !Object.hasOwn(schema['properties'] ?? {}, name))
    if (typeof expected === 'object') return more.flatMap(name => findMismatches(expected as Schema, value[name], below(place, name)))
    return expected === false ? more.map(name => say(place, `has "${name}", which is not described`)) : []
  },
  unevaluatedProperties: (expected, value, schema, place) => {
    if (!isObject(value) || expected !== false) return []
    const known = new Set(listDescribed(schema, value, place))
    return Object.keys(value).flatMap(name => (known.has(name) ? NOTHING : [say(place, `has "${name}", which is not described`)]))
  },
}

/** Described members, also by `$ref`, `allOf` and matching `anyOf`. */
function listDescribed(schema: Schema, value: unknown, place: ValuePlace): string[] {
  const { $ref, properties = {}, allOf = [], anyOf = [] } = schema
  const met = (anyOf as Schema[]).filter(each => findMismatches(each, value, place).length === 0)
  const inside = [...(typeof $ref === 'string' ? [resolve(place.root, $ref)] : []), ...(allOf as Schema[]), ...met]
  return [...Object.keys(properties as Schema), ...inside.flatMap(each => listDescribed(each, value, place))]
}

/**
 * @param root the document of the references
 * @throws Error for an unknown keyword or a broken reference
 */
export function checkValue(schema: Schema, value: unknown, root: Schema): string[] {
  return [...findMismatches(schema, value, { root, path: '' })]
}

/** The cache assumes an unchanging document. */
export function resolve(root: Schema, reference: string): Schema {
  let known = RESOLVED.get(root)
  if (known === undefined) RESOLVED.set(root, (known = new Map<string, Schema>()))
  let found = known.get(reference)
  if (found === undefined) known.set(reference, (found = follow(root, reference)))
  return found
}

function follow(root: Schema, reference: string): Schema {
  let node: unknown = root
  for (const name of reference.replace(/^#/, '').split('/').slice(1))
    node = isObject(node) ? node[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  if (!isObject(node)) throw new Error(`The reference ${reference} leads nowhere.`)
  return node
}

/** JSON inherits nothing, so `for ... in` is safe. */
function findMismatches(schema: Schema, value: unknown, place: ValuePlace): readonly string[] {
  let faults = NOTHING
  for (const keyword in schema) {
    const check = CHECKS[keyword]
    if (check !== undefined) faults = join(faults, check(schema[keyword], value, schema, place))
    else if (!ANNOTATIONS.has(keyword) && !keyword.startsWith('x-')) throw new Error(`The keyword "${keyword}" of a schema is not known.`)
  }
  return faults
}

/** Makes no copies, since most values have no faults. */
function join(faults: readonly string[], more: readonly string[]): readonly string[] {
  if (more.length === 0) return faults
  return faults.length === 0 ? more : [...faults, ...more]
}

function compile(pattern: string): RegExp {
  let compiled = PATTERNS.get(pattern)
  if (compiled === undefined) PATTERNS.set(pattern, (compiled = new RegExp(pattern, 'u')))
  return compiled
}

function isTyped(schema: Schema, value: unknown, place: ValuePlace): boolean {
  if (typeof schema['$ref'] === 'string') return isTyped(resolve(place.root, schema['$ref']), value, place)
  return schema['type'] === undefined || isOfTypes(value, schema['type'])
}

function findNearestFaults(alternatives: readonly Schema[], value: unknown, place: ValuePlace): readonly string[] {
  let nearest: { readonly faults: readonly string[]; readonly score: number } | undefined
  for (const alternative of alternatives) {
    const faults = findMismatches(alternative, value, place)
    if (faults.length === 0) return NOTHING
    // A deep fault says more than a wrong type of the whole.
    const depth = Math.max(...faults.map(fault => fault.split(' ', 1)[0]!.split('/').length))
    const score = depth + (isTyped(alternative, value, place) ? 0.5 : 0)
    if (nearest === undefined || score > nearest.score) nearest = { faults, score }
  }
  return nearest?.faults ?? NOTHING
}

function below({ root, path }: ValuePlace, name: string): ValuePlace {
  return { root, path: `${path}/${name}` }
}

function say({ path }: ValuePlace, what: string): string {
  return `${path === '' ? 'the body' : path} ${what}`
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

function nameType(value: unknown): string {
  return value === null ? 'null' : value === undefined ? 'nothing' : Array.isArray(value) ? 'array' : typeof value
}

function isOfTypes(value: unknown, expected: unknown): boolean {
  return typeof expected === 'string' ? isOfType(value, expected) : (expected as readonly string[]).some(type => isOfType(value, type))
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value)
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value)
  return nameType(value) === type
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
}
