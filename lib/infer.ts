/**
 * Infer: collections of plain JSON records to a description of a model: names, keys, types, nullability, relations. Plain data, no database: from-json.ts
 * makes entities of it, and the command line tells it. Refuses, by collection and record, what cannot be served.
 */
import { assertJson } from './json.ts'
import { defaultNames, entityName, pluralOf } from './names.ts'
import { isObject } from './validate.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** The type of a plain attribute. `json` holds anything, as it was given: objects, arrays, values of several types. */
export type InferredType = 'integer' | 'number' | 'text' | 'boolean' | 'json'

/** What an attribute of the records has become. */
export type InferredAttribute =
  | { readonly kind: 'id'; readonly key: string; readonly name: string }
  | { readonly kind: 'plain'; readonly key: string; readonly name: string; readonly type: InferredType; readonly nullable: boolean }
  | {
      /** `toOne`: the ID of a record of another collection; `toMany`: an array of them. */
      readonly kind: 'toOne' | 'toMany'
      /** As the data has it: `userId`. */
      readonly key: string
      /** As the API has it: `user`. */
      readonly name: string
      readonly target: string
      readonly nullable: boolean
      /** What the other side is called in records of the target, where there is one. */
      readonly inverse: string | undefined
    }

/** A collection of records, or a single object, and what its records are like. */
export interface InferredCollection {
  readonly name: string
  /** Name of the entity. */
  readonly className: string
  /** An object at the top instead of an array: the only record there is. */
  readonly single: boolean
  readonly idType: 'integer' | 'text' | 'uuid'
  /** Whether records carry their ID; otherwise they are numbered from 1 in their order. */
  readonly hasIds: boolean
  /** In the order in which the records show them. */
  readonly attributes: readonly InferredAttribute[]
  readonly records: readonly JsonObject[]
  /** What the reader should know of it: what looks like a relation and is none, and why. */
  readonly notes: readonly string[]
}

/** The name of the attribute that identifies a record. */
export const ID = 'id'

// Keys of a file that say what the file is, as editors read them.
const ABOUT_FILE = new Set(['$schema'])
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Names of JavaScript that the code of a model may use itself. */
const TAKEN_CLASSES = new Set(
  'Array BigInt Boolean Date Error Function JSON Map Math Number Object Promise Reflect RegExp Set String Symbol'.split(' '),
)

/**
 * What is to be served of some data.
 *
 * @param where what error texts begin with: the name of the file or function
 * @throws TypeError for the first thing that cannot be served.
 */
export function infer(data: unknown, where: string): readonly InferredCollection[] {
  assertJson(data, where)
  if (!isObject(data)) throw new TypeError(`${where}: the top level must be an object of collections, got ${describe(data)}.`)
  const drafts: Draft[] = []
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined || ABOUT_FILE.has(name)) continue
    drafts.push(draftOf(name, value, where, new Set(drafts.map(({ className }) => className))))
  }
  if (drafts.length === 0) throw new TypeError(`${where}: there is no collection in it, as in { "users": [{ "id": 1, "name": "Ann" }] }.`)
  const relations = drafts.flatMap(draft => candidatesOf(draft, drafts))
  const cyclic = relationsInCycles(relations)
  for (const draft of drafts) addPlainAndRelations(draft, relations, cyclic)
  for (const relation of relations) addInverse(relation)
  return drafts
}

/** A collection under way. */
interface Draft extends InferredCollection {
  readonly attributes: InferredAttribute[]
  readonly notes: string[]
  /** The keys of its records, in their order. */
  readonly keys: readonly string[]
  readonly ids: ReadonlySet<unknown>
  /** What the other sides of relations to it are called in its records. */
  readonly inverses: string[]
}

function draftOf(name: string, value: unknown, where: string, classes: ReadonlySet<string>): Draft {
  const single = isObject(value)
  if (!single && !Array.isArray(value)) {
    throw new TypeError(`${where}: "${name}" is ${describe(value)}; a collection is an array of objects.`)
  }
  const records = (single ? [value] : value) as readonly JsonObject[]
  for (const [index, record] of records.entries()) {
    if (!isObject(record)) throw new TypeError(`${where}: ${name}[${index}] is ${describe(record)}; a collection is an array of objects.`)
    if (Object.hasOwn(record, '__proto__'))
      throw new TypeError(`${where}: ${name}[${index}] has an attribute "__proto__", which cannot be served.`)
  }
  const className = entityName(name)
  if (className === undefined || !/^(?!__proto__$)[\w.~-]+$/.test(name)) {
    throw new TypeError(
      `${where}: "${name}" cannot be the name of a collection: it is made of letters from A to Z, digits and . _ ~ -, as in "blog-posts".`,
    )
  }
  const { hasIds, idType } = readIds(name, records, single, where)
  const keys = [...new Set(records.flatMap(record => Object.keys(record).filter(key => record[key] !== undefined)))]
  const notes = records.length === 0 ? [`${name} is empty: nothing but its "id" is known; give it one record as an example`] : []
  return {
    name,
    className: freeName(TAKEN_CLASSES.has(className) ? `${className}Entity` : className, classes),
    single,
    idType,
    hasIds,
    attributes: [],
    records,
    notes,
    keys: keys.includes(ID) ? keys : [ID, ...keys],
    ids: new Set(hasIds ? records.map(record => record[ID]) : []),
    inverses: [],
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}${number}`
  return free
}

/** IDs are all integers or all texts, each once; or there are none at all. */
function readIds(name: string, records: readonly JsonObject[], single: boolean, where: string): Pick<Draft, 'hasIds' | 'idType'> {
  const at = (index: number): string => (single ? `"${name}"` : `${name}[${index}]`)
  const first = records.findIndex(record => record[ID] !== undefined)
  if (first < 0) return { hasIds: records.length === 0, idType: 'integer' }
  const type = typeof records[first]![ID]
  const seen = new Map<unknown, number>()
  for (const [index, record] of records.entries()) {
    const id = record[ID]
    if (id === undefined) throw new TypeError(`${where}: ${at(index)} has no "id", and ${at(first)} has one.`)
    const fits = typeof id === 'string' ? id !== '' && id.isWellFormed() : Number.isSafeInteger(id)
    if (!fits) throw new TypeError(`${where}: the "id" of ${at(index)} is ${JSON.stringify(id)}; an ID is an integer or a text.`)
    if (typeof id !== type) {
      const [a, b] = [records[first]![ID], id].map(each => JSON.stringify(each))
      throw new TypeError(`${where}: the "id" of ${at(index)} is ${b} and that of ${at(first)} is ${a}: they must be of one type.`)
    }
    const other = seen.get(id)
    if (other !== undefined) throw new TypeError(`${where}: ${at(other)} and ${at(index)} have the same "id", ${JSON.stringify(id)}.`)
    seen.set(id, index)
  }
  const isUuid = type === 'string' && [...seen.keys()].every(id => UUID.test(id as string))
  return { hasIds: true, idType: type === 'number' ? 'integer' : isUuid ? 'uuid' : 'text' }
}

/** The value of a key; null where the record has none. What every object inherits, such as `toString`, is not of the record. */
export function valueOf(record: JsonObject, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null
}

/** A key that holds IDs of another collection. */
interface Relation {
  readonly kind: 'toOne' | 'toMany'
  readonly key: string
  readonly name: string
  readonly source: Draft
  readonly target: Draft
}

/** The keys of a collection that name another one, and whose values are its IDs. */
function candidatesOf(source: Draft, drafts: readonly Draft[]): Relation[] {
  const relations: Relation[] = []
  for (const key of source.keys) {
    const [, stem, suffix = ''] = /^(.+?)(_ids?|Ids?)$/.exec(key) ?? []
    if (stem === undefined) continue
    const plural = defaultNames(stem).plural
    const target = drafts.find(({ name, single }) => !single && plural !== '' && defaultNames(name).plural === plural)
    if (target === undefined) continue
    const kind = suffix.endsWith('s') ? 'toMany' : 'toOne'
    const name = kind === 'toOne' ? stem : pluralOf(stem)
    const reason = reasonAgainst({ kind, key, name, source, target }, relations)
    if (reason === undefined) relations.push({ kind, key, name, source, target })
    else source.notes.push(`${source.name}.${key} is a plain attribute: ${reason}`)
  }
  return relations
}

function reasonAgainst({ kind, key, name, source, target }: Relation, others: readonly Relation[]): string | undefined {
  if (source.keys.includes(name) || others.some(other => other.name === name)) return `the records have a "${name}" as well`
  if (!target.hasIds) return `the records of ${target.name} have no IDs`
  for (const [index, record] of source.records.entries()) {
    const value = valueOf(record, key)
    if (value === null) continue
    const at = source.single ? '' : ` of ${source.name}[${index}]`
    if (kind === 'toMany' && !Array.isArray(value)) return `the value${at} is no array`
    const ids = kind === 'toMany' ? (value as readonly unknown[]) : [value]
    const stranger = ids.find(id => !target.ids.has(id))
    if (stranger !== undefined) return `${shortened(stranger)}${at} is not the ID of any record of ${target.name}`
    if (new Set(ids).size < ids.length) return `the value${at} names a record twice`
  }
  return undefined
}

/** Records that all need one another could not be created one after the other: a relation that leads back to its own collection may be empty. */
function relationsInCycles(relations: readonly Relation[]): ReadonlySet<Relation> {
  const toOnes = relations.filter(({ kind }) => kind === 'toOne')
  const leadsBack = (relation: Relation): boolean => {
    const reached = new Set<Draft>()
    const open = [relation.target]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === relation.source) return true
      if (reached.has(next)) continue
      reached.add(next)
      for (const { source, target } of toOnes) if (source === next) open.push(target)
    }
    return false
  }
  return new Set(toOnes.filter(leadsBack))
}

function addPlainAndRelations(draft: Draft, relations: readonly Relation[], cyclic: ReadonlySet<Relation>): void {
  for (const key of draft.keys) {
    const values = draft.records.map(record => valueOf(record, key))
    const nullable = values.includes(null)
    const relation = relations.find(each => each.source === draft && each.key === key)
    if (key === ID) draft.attributes.push({ kind: 'id', key, name: ID })
    else if (relation === undefined) draft.attributes.push({ kind: 'plain', key, name: key, type: typeOf(values), nullable })
    else {
      const { kind, name, target } = relation
      const mayBeEmpty = kind === 'toOne' && (nullable || cyclic.has(relation))
      draft.attributes.push({ kind, key, name, target: target.name, nullable: mayBeEmpty, inverse: undefined })
    }
  }
}

/** The other side goes by the name of the collection that it lists. */
function addInverse({ key, source, target }: Relation): void {
  const taken = [...target.keys, ...target.attributes.map(({ name }) => name), ...target.inverses]
  if (taken.includes(source.name)) {
    source.notes.push(`${source.name}.${key} is a relation one way: records of ${target.name} have a "${source.name}" already`)
    return
  }
  target.inverses.push(source.name)
  const index = source.attributes.findIndex(attribute => attribute.key === key)
  source.attributes[index] = { ...(source.attributes[index] as InferredAttribute & { kind: 'toOne' }), inverse: source.name }
}

function typeOf(values: readonly unknown[]): InferredType {
  const types = new Set(values.filter(value => value !== null).map(typeOfOne))
  if (types.size === 1) return [...types][0]!
  return types.size === 2 && types.has('integer') && types.has('number') ? 'number' : 'json'
}

function typeOfOne(value: unknown): InferredType {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    case 'string':
      // Half a character cannot be stored as text; JSON can write it.
      return value.isWellFormed() ? 'text' : 'json'
    default:
      return 'json'
  }
}

function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
