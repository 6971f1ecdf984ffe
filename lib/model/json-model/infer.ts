/**
 * Infers a model from JSON data, for from-json.ts and the command's table. Odd data gets a note; with `strict`, an error names collection
 * and record.
 */
import { inferIds, type InferredIds, type ReportOddity } from './infer-ids.ts'
import type { CollectionDraft, InferredAttribute, InferredCollection } from './infer-model.ts'
import { findCyclicRelations, inferRelations, listLinks, toIdType, type Relation } from './infer-relations.ts'
import { describe, findForm, inferValueType, readValue, type IdForm, type InferredType } from './infer-values.ts'
import { isLongInteger } from '../../foundation/json/json-numbers.ts'
import { assertJson, isObject, type JsonObject } from '../../foundation/json/json.ts'
import { camelCase, entityName, isResourceName } from '../resource-names.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { RESERVED_CLASSES } from '../reserved-classes.ts'

export interface InferOddity {
  readonly problem: string
  readonly remedy: string
}

export interface InferOptions {
  readonly strict?: boolean
  readonly id?: string
  readonly required?: boolean
  /** Whether requests may add attributes. Default: to empty collections, once. */
  readonly open?: boolean
  readonly exact?: boolean
  /** Without the data's text, an integer beyond 2^53 may have changed. */
  readonly oddities?: readonly InferOddity[]
  /** Counts of integers beyond 2^53, held as digits: by `orders.total`; of a list at the top, by `.total`. */
  readonly long?: ReadonlyMap<string, number>
  readonly name?: string
}

// Keys for editors.
const ABOUT_FILE = new Set(['$schema'])
/** SQLite's limit of columns, less a made ID and the names from requests; `exact` needs one more, for the place. */
const MAX_ATTRIBUTES = 1998

/** JavaScript's globals, and a table name MikroORM cannot make. */
const TAKEN_CLASSES = new Set([
  ...'Array BigInt Boolean Date Error Function JSON Map Math Number Object Promise Reflect RegExp Set String Symbol'.split(' '),
  'Constructor',
  ...RESERVED_CLASSES,
])

/**
 * @param where begins error texts: a file or function
 * @throws TypeError for the first problem that cannot be served; with `strict`, for the first that needs a note
 */
export function infer(data: unknown, where: string, options: InferOptions = {}): readonly InferredCollection[] {
  assertJson(data, where)
  const drafts: CollectionDraft[] = []
  const generalNotes: string[] = []
  const refuse = (text: string): never => {
    throw new TypeError(`${where}: ${text}.`)
  }
  for (const { problem, remedy } of options.oddities ?? listLongIntegers(data)) {
    if (options.strict) refuse(problem)
    generalNotes.push(`${problem}, ${remedy}`)
  }
  const isList = Array.isArray(data)
  if (isList && options.strict) refuse('the top level must be an object of collections, got an array')
  if (!isList && !isObject(data)) refuse(`the top level must be an object of collections, got ${describe(data)}`)
  const members = isList ? [[options.name ?? 'records', data] as const] : Object.entries(data as JsonObject)
  for (const [name, value] of members) {
    if (value === undefined || ABOUT_FILE.has(name)) continue
    const notes: string[] = []
    const report: ReportOddity = (problem, remedy) => (options.strict ? refuse(problem) : notes.push(`${problem}, ${remedy}`))
    if (isList) notes.push(`the list at the top level is served as ${name}`)
    const draft = buildDraft({ name, value, isTop: isList }, drafts, report, notes, options)
    if (draft === undefined) generalNotes.push(...notes)
    else drafts.push(draft)
  }
  if (drafts.length === 0) refuse('there is no collection in it, as in { "users": [{ "id": 1, "name": "Ann" }] }')
  drafts[0]!.notes.unshift(...generalNotes)
  if (options.id !== undefined && !drafts.some(({ idKey }) => idKey === options.id)) {
    const problem = `no record has a key "${options.id}", which was named as the ID`
    if (options.strict) refuse(problem)
    drafts[0]!.notes.unshift(problem)
  }
  const relations = drafts.flatMap(draft => inferRelations(draft, drafts))
  const cyclic = findCyclicRelations(relations)
  for (const draft of drafts) addPlainAndRelations(draft, relations, cyclic, options)
  for (const relation of relations) addInverse(relation)
  if (options.required !== true) noteRequirable(drafts)
  return drafts
}

const MAX_NAMED = 12

function noteRequirable(drafts: readonly CollectionDraft[]): void {
  const names = drafts
    .filter(({ single, isOfValues }) => !single && !isOfValues)
    .flatMap(({ name, attributes }) =>
      attributes.flatMap(each => (each.kind !== 'id' && each.kind !== 'toMany' && each.isEverywhere ? [`${name}.${each.key}`] : [])),
    )
  if (names.length === 0) return
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  drafts
    .at(-1)!
    .notes.push(
      'new records may lack what every record has; --required, or fromJson(data, { required: true }), would require ' +
        names.slice(0, MAX_NAMED).join(', ') +
        more,
    )
}

function listLongIntegers(data: unknown): InferOddity[] {
  const found = findLongInteger(data, [])
  if (found === undefined) return []
  return [
    {
      problem: `${found} is beyond 2^53, where JavaScript rounds integers`,
      remedy: 'so it may be another than its text had: give it as a string',
    },
  ]
}

function findLongInteger(value: unknown, path: readonly (string | number)[]): string | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return `${path.join('.')} (${value})`
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const found = typeof inner === 'number' || typeof inner === 'object' ? findLongInteger(inner, [...path, key]) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether records stand by key, as from key-value stores: keys look like IDs, or all records have the same members. */
function isKeyed(holder: JsonObject): boolean {
  const entries = Object.entries(holder)
  if (!entries.every(([, record]) => isObject(record))) return false
  if (entries.length < 2) return entries.some(([key]) => /^\d+$/.test(key))
  const shapes = new Set(
    entries.map(([, record]) =>
      Object.keys(record as JsonObject)
        .toSorted()
        .join(),
    ),
  )
  return (
    shapes.size === 1 || entries.every(([key, record]) => /^\d+$|^[\w-]{16,}$/.test(key) || String((record as JsonObject)['id']) === key)
  )
}

function explainKeyed(name: string, holder: JsonObject): string {
  const [key = ''] = Object.keys(holder)
  return (
    `"${name}" is an object, so it is one record, and each member an attribute, as /${name}/${encodeURIComponent(key)}; ` +
    `for a collection write a list: "${name}": [{ "id": ${/^\d+$/.test(key) ? key : JSON.stringify(key)}, ... }]`
  )
}

function reportWidth(name: string, value: unknown, count: number, report: ReportOddity): void {
  if (isObject(value) && isKeyed(value)) report(explainKeyed(name, value), 'and one with so many cannot be served: it is left out')
  else report(`${name} has ${count} attributes; a table has 2000 columns at most, with those for IDs and new names`, 'so it is left out')
}

function explainEmpty(name: string, single: boolean): string {
  const known = single ? 'the first change' : 'only its "id" is known; the first new record'
  return `${name} is empty: ${known} adds its attributes`
}

interface Member {
  readonly name: string
  readonly value: unknown
  readonly isTop: boolean
}

function buildDraft(
  member: Member,
  others: readonly CollectionDraft[],
  report: ReportOddity,
  notes: string[],
  { id: wanted, exact = false, open = false, long }: InferOptions,
): CollectionDraft | undefined {
  const { name, value, isTop } = member
  const single = isObject(value)
  if (!single && !Array.isArray(value)) {
    report(`"${name}" is ${describe(value)}; a collection is an array of objects`, 'so it is left out')
    return undefined
  }
  const found = readRecords(name, single ? [value] : (value as unknown[]), report)
  const { records, places } = found
  const at = (index: number): string => (single ? `"${name}"` : `${name}[${places?.[index] ?? index}]`)
  const names = findNames(name, others, report)
  const keys = listKeys(records)
  if (keys.delete('__proto__')) report(`the records of ${name} have an attribute "__proto__", which cannot be served`, 'so it is left out')
  if (keys.size > MAX_ATTRIBUTES - (exact ? 1 : 0)) {
    reportWidth(name, value, keys.size, report)
    return undefined
  }
  const ids = inferIds(records, at, report, wanted)
  if (single && isKeyed(value)) notes.push(explainKeyed(name, value))
  const isEmpty = records.length === 0 || (single && keys.size === 0)
  if (isEmpty) notes.push(explainEmpty(name, single))
  return {
    name,
    ...names,
    single,
    isTop,
    ...ids,
    attributes: [],
    records,
    places,
    isOfValues: found.isOfValues,
    open: found.isOfValues ? undefined : open || exact ? 'always' : isEmpty ? 'once' : undefined,
    exact: exact && !found.isOfValues,
    notes,
    keys: keys.has(ids.idKey) ? [...keys] : [ids.idKey, ...keys],
    idSet: new Set(ids.hasIds ? ids.ids : []),
    at,
    report,
    idForm: findIdForm(member, ids, records, long),
    inverses: [],
  }
}

function findIdForm(member: Member, { idKey, idType }: InferredIds, records: readonly JsonObject[], long: InferOptions['long']): IdForm {
  const given = records.map(record => readValue(record, idKey)).filter(id => id !== null)
  return findForm(given, countLong(member, idKey, long)) ?? (idType === 'integer' ? 'number' : 'text')
}

function countLong({ name, isTop }: Pick<Member, 'name' | 'isTop'>, key: string, long: InferOptions['long']): number {
  return long?.get(`${isTop ? '' : name}.${key}`) ?? 0
}

function readRecords(
  name: string,
  items: readonly unknown[],
  report: ReportOddity,
): Pick<InferredCollection, 'records' | 'places' | 'isOfValues'> {
  const odd = items.findIndex(item => !isObject(item))
  if (odd < 0) return { records: items as readonly JsonObject[], places: undefined, isOfValues: false }
  const reason = `${name}[${odd}] is ${describe(items[odd])}; a collection is an array of objects`
  const places = [...items.keys()].filter(index => isObject(items[index]))
  if (places.length === 0) {
    report(reason, `so each item of ${name} is the "value" of a record, which cannot be written`)
    return { records: items.map(value => ({ value })), places: undefined, isOfValues: true }
  }
  const count = items.length - places.length
  report(reason, `so ${count === 1 ? 'it is' : `${count} items of ${name} are`} left out`)
  return { records: places.map(index => items[index] as JsonObject), places, isOfValues: false }
}

/** Orders by occurrence. */
function listKeys(records: readonly JsonObject[]): Set<string> {
  const keys = new Set<string>()
  for (const record of records) for (const key of Object.keys(record)) if (record[key] !== undefined) keys.add(key)
  return keys
}

/** Finds names fit for paths, and no keys of answers. */
function findNames(name: string, others: readonly CollectionDraft[], report: ReportOddity): { resource: string; className: string } {
  const isSpelt = isResourceName(name) && camelCase(name) !== ''
  const spelt = isSpelt ? name : name.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_').replaceAll(/^_|_$/g, '') || 'records'
  const taken = new Set(others.map(other => other.resource))
  const resource = findFreeName(ENVELOPE_KEYS.has(spelt) ? `${spelt}_records` : spelt, taken, '_')
  if (resource !== name) {
    const reason = !isSpelt
      ? 'it is made of letters, digits and . _ ~ -, as in "blog-posts"'
      : ENVELOPE_KEYS.has(name)
        ? 'it is a key of every answer'
        : 'another one is called so'
    report(`"${name}" cannot be the name of a collection: ${reason}`, `so it is ${resource} here`)
  }
  const className = (entityName(resource) ?? 'Record').replaceAll(/[^\p{L}\p{N}_]/gu, '')
  const classes = new Set(others.map(other => other.className))
  return { resource, className: findFreeName(TAKEN_CLASSES.has(className) ? `${className}Entity` : className, classes, '') }
}

function findFreeName(name: string, taken: ReadonlySet<string>, gap: string): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}${gap}${number}`
  return free
}

function addPlainAndRelations(
  draft: CollectionDraft,
  relations: readonly Relation[],
  cyclic: ReadonlySet<Relation>,
  { long, required = false, exact = false }: InferOptions,
): void {
  for (const key of draft.keys) {
    if (key === draft.idKey) {
      draft.attributes.push({ kind: 'id', key, name: key, form: draft.idForm })
      continue
    }
    const { types, isEverywhere } = findTypes(draft.records, key)
    const nullable = !isEverywhere || !required
    const relation = relations.find(each => each.source === draft && each.key === key)
    // Numbers and texts of digits may be mixed.
    const count = countLong(draft, key, long)
    if (relation === undefined) {
      const merged = count > 0 ? 'json' : mergeTypes(types)
      // A price of 10 may become 10.5.
      const type = exact && merged === 'integer' ? 'number' : merged
      const isBare = count > 0 && countLongTexts(draft.records.map(record => readValue(record, key))) === count
      draft.attributes.push({ kind: 'plain', key, name: key, type, isBare, nullable, isEverywhere })
    } else {
      const { kind, name, target, gone } = relation
      const isEach = isEverywhere && gone.size === 0
      const mayBeEmpty = kind === 'toOne' && (!isEach || !required || cyclic.has(relation))
      const form = findForm(listLinks(key, draft), count) ?? target.idForm
      const link = { target: target.name, idType: toIdType(target), form, gone, inverse: undefined }
      draft.attributes.push({ kind, key, name, ...link, nullable: mayBeEmpty, isEverywhere: isEach })
    }
  }
}

/** Counts texts with the digits of numbers beyond 2^53. */
function countLongTexts(value: unknown): number {
  if (typeof value === 'string') return isLongInteger(value) ? 1 : 0
  return typeof value === 'object' && value !== null ? Object.values(value).reduce((sum: number, item) => sum + countLongTexts(item), 0) : 0
}

/** Named after the collection; a second inverse also after the relation. */
function addInverse({ key, name, source, target }: Relation): void {
  if (source.single && !source.hasIds) return
  const taken = [...target.keys, ...target.attributes.map(attribute => attribute.name)]
  if (taken.includes(source.resource)) {
    source.notes.push(`${source.name}.${key} is a one-way relation: records of ${target.name} have a "${source.resource}" already`)
    return
  }
  const camel = camelCase(name)
  const long = `${source.resource}As${camel.charAt(0).toUpperCase()}${camel.slice(1)}`
  const inverse = target.inverses.includes(source.resource) ? long : source.resource
  if (target.inverses.includes(inverse) || taken.includes(inverse)) {
    source.notes.push(`${source.name}.${key} is a one-way relation: records of ${target.name} have a "${inverse}" already`)
    return
  }
  target.inverses.push(inverse)
  const index = source.attributes.findIndex(attribute => attribute.key === key)
  source.attributes[index] = { ...(source.attributes[index] as InferredAttribute & { kind: 'toOne' }), inverse }
}

function findTypes(records: readonly JsonObject[], key: string): { types: ReadonlySet<InferredType>; isEverywhere: boolean } {
  const types = new Set<InferredType>()
  let isEverywhere = true
  for (const record of records) {
    const value = readValue(record, key)
    if (value === null) isEverywhere = false
    else types.add(inferValueType(value))
  }
  return { types, isEverywhere }
}

function mergeTypes(types: ReadonlySet<InferredType>): InferredType {
  if (types.size === 1) return [...types][0]!
  return types.size === 2 && types.has('integer') && types.has('number') ? 'number' : 'json'
}
