/**
 * Makes the entities of `fromJson`, so that `{ users: [{ name: 'Ann' }] }` gives an entity `User` and a seed. Property names suit
 * JavaScript and MikroORM; API names stay.
 */
import { defineEntity, p, type EntitySchema } from '@mikro-orm/core'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { infer } from './infer.ts'
import type { InferredAttribute, InferredCollection } from './infer-model.ts'
import { readAttribute, type InferredType } from './infer-values.ts'
import { markInferred } from '../inferred-entities.ts'
import { PlaceType } from '../metadata/described-type.ts'
import { camelCase, defaultNames, toSingular } from '../resource-names.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { resource, type OpenOption, type ResourceConfig, type ResourceDefinition } from '../resource-config.ts'
import { markInferredSeed, type SeedData } from '../seeds.ts'
import { checkNames } from '../../foundation/base/suggest.ts'

/** Options for `RestEngine.create`. */
export interface JsonModel {
  /** One for each collection, in order. */
  readonly entities: EntitySchema[]
  /** For names unlike the entities' defaults. */
  readonly resources: ResourceDefinition[]
  /** For `engine.seed`. */
  readonly seed: SeedData
  /** Guesses and omissions, for `engine.notes`. */
  readonly notes: readonly string[]
}

/**
 * Makes a model of plain data, like `node bin/serve.js data.json`: an array of objects is a collection, an object a single record: `GET
 * /v1/profile`.
 *
 * - `id` is the key, with integers or texts; otherwise `_id`, `Id`, `ID` or `uuid`, or the key in `options.id`. Without a key, records are
 *   numbered from 1. New records get the next integer, or a random UUID.
 * - An attribute is an integer, a number, a text, a boolean, or else JSON, and may be null; with `options.required` only if missing or null
 *   in a record.
 * - `userId`, `user_id` or `idUser` is the ID of a relation `user` if its values are IDs in a collection `users` (or `user`), whose records
 *   get the other side: `posts`. `tagIds` and `tag_ids`, arrays of IDs, make a list `tags`. So do `adminUserId`, `user: 1` and `tags: [1]`,
 *   and `parentId` in its own collection. A few links to missing records are null.
 *   Keys stay: `userId` is shown, taken, filtered and sorted by; `user` is for paths, `expand`, depth 2 and nested bodies.
 * - An empty list gets attributes from the first new record; with `options.open`, from every record.
 * - Odd data, such as two records with one ID, is served with a note, or refused by `options.strict`.
 *
 * @throws TypeError for data that cannot be served, naming collection and record
 * @example
 * const data = { users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'Hello', userId: 1 }] }
 * const engine = await RestEngine.create(fromJson(data))
 * await engine.handle('GET', '/v1/posts?user.name=Ann')
 */
export function fromJson(data: JsonData, options: FromJsonOptions = {}): JsonModel {
  checkNames(options, ['strict', 'id', 'open', 'required', 'exact'], 'fromJson')
  const { strict = false, open = false, required = false, exact = false, id } = options
  return buildModel(infer(data, 'fromJson', { strict, open, required, exact, ...(id === undefined ? {} : { id }) }))
}

/** An object of collections, or one list. */
export type JsonData = Readonly<Record<string, unknown>> | readonly unknown[]

/** Options of `fromJson`. */
export interface FromJsonOptions {
  /** Whether to refuse data served with a note. Default: `false`. */
  readonly strict?: boolean
  /** The ID key of collections with this key. Default: `id`, or else `_id`, `Id`, `ID` or `uuid`. */
  readonly id?: string
  /**
   * Whether requests may add attributes, with any JSON value, null in other records. Default: `false`: unknown attributes are refused,
   * except in the first record of an empty list.
   */
  readonly open?: boolean
  /**
   * Whether to keep order, lacking attributes and values of other types, for wires: the engine's own answers show null, and filters find no
   * values of other types. Implies `open`. Default: `false`.
   */
  readonly exact?: boolean
  /** Whether a new record needs all attributes common to the records. Default: `false`; a note lists them. */
  readonly required?: boolean
}

export function buildModel(collections: readonly InferredCollection[]): JsonModel {
  const schemas = new Map<string, EntitySchema>()
  for (const collection of collections)
    schemas.set(
      collection.name,
      buildSchema(collection, collections, name => schemas.get(name)!),
    )
  for (const { name, exact } of collections) markInferred(schemas.get(name)!.meta.class, exact)
  return {
    entities: [...schemas.values()],
    resources: collections.flatMap(collection => renameKeys(collection, collections, schemas.get(collection.name)!) ?? []),
    notes: collections.flatMap(({ notes }) => notes.map(note => `${note}.`)),
    seed: markInferredSeed(
      Object.fromEntries(
        collections.map(collection => [collection.resource, collection.records.map((_, index) => buildSeed(collection, index))]),
      ),
    ),
  }
}

function buildSeed(collection: InferredCollection, index: number): object {
  const { attributes, records, ids, exact } = collection
  const record = records[index]!
  const seeded: Record<string, unknown> = {}
  const held: [string, unknown][] = []
  for (const attribute of attributes) {
    const { kind, name, key } = attribute
    const value = kind === 'id' ? ids[index] : readAttribute(record, attribute)
    if (value !== null) seeded[name] = value
    else if (exact && Object.hasOwn(record, key)) held.push([key, record[key]])
  }
  return held.length === 0 ? seeded : { ...seeded, [findHolderName(collection)]: Object.fromEntries(held) }
}

/** Holds attributes added by requests. */
const HOLDER = 'openAttributes'
/** Holds a record's place in the data. */
const PLACE = 'placeInData'

type Rules = ResourceConfig<Record<string, unknown>>

const READ_ONLY = { create: false, update: false, delete: false } as const

/** Undefined: default names and rules fit. */
function renameKeys(
  collection: InferredCollection,
  collections: readonly InferredCollection[],
  schema: EntitySchema,
): ResourceDefinition | undefined {
  const { resource: name, className, single, isOfValues, ids } = collection
  const others = new Set(collections.map(other => other.resource).filter(other => other !== name))
  const standard = defaultNames(className)
  if (single) {
    // A list of another resource must neither create nor delete the record.
    const changesOnly = { access: { create: false, delete: false } } as const
    return resource(schema, {
      name,
      singular: name,
      single: ids[0]!,
      ...changesOnly,
      ...describeOpen(collection),
      attributes: { ...describeIds(collection).attributes, ...hideMadeId(collection) },
    })
  }
  const rules: Rules = { ...(isOfValues ? { access: READ_ONLY } : {}), ...describeOpen(collection), ...describeIds(collection) }
  const isStandard = standard.plural === name && !ENVELOPE_KEYS.has(standard.singular) && !standard.accepted.some(each => others.has(each))
  if (isStandard) return Object.keys(rules).length > 0 ? resource(schema, rules) : undefined
  const singular = toSingular(name)
  return resource(schema, { name, ...(others.has(singular) || ENVELOPE_KEYS.has(singular) ? {} : { singular }), ...rules })
}

function describeOpen(collection: InferredCollection): { readonly open?: OpenOption } {
  const { open } = collection
  if (open === undefined) return {}
  const property = findHolderName(collection)
  return { open: { property, ...(open === 'once' ? { once: true } : {}) } }
}

/** Records keep the data's names of IDs. */
function describeIds(collection: InferredCollection): Pick<Rules, 'attributes'> {
  const renamed = collection.attributes.filter(({ kind, key, name }) => (kind === 'toOne' || kind === 'toMany') && key !== name)
  if (renamed.length === 0) return {}
  return { attributes: Object.fromEntries(renamed.map(({ key, name }) => [findPropertyName(collection, name), { ids: key }])) }
}

function hideMadeId(collection: InferredCollection): Rules['attributes'] {
  return collection.hasIds ? {} : { [findPropertyName(collection, collection.idKey)]: { private: true } }
}

function findHolderName({ attributes }: InferredCollection): string {
  return findFreeName(HOLDER, new Set(attributes.map(({ name }) => name)))
}

function buildSchema(
  collection: InferredCollection,
  collections: readonly InferredCollection[],
  find: (name: string) => EntitySchema,
): EntitySchema {
  const columns = new Set<string>()
  const properties = Object.fromEntries(
    listProperties(collection, collections).map(({ property, name, stored, build }): [string, unknown] => {
      const standard = findColumnName(property, stored)
      const column = findFreeName(standard, columns)
      if (stored !== undefined) columns.add(column)
      const naming = { ...(property === name ? {} : { serializedName: name }), ...(column === standard ? {} : { column }) }
      return [property, () => build(find, naming)]
    }),
  )
  return defineEntity({ name: collection.className, properties })
}

interface Naming {
  /** Differs from the property's. */
  readonly serializedName?: string
  /** Differs from the default. */
  readonly column?: string
}

interface InferredProperty {
  readonly property: string
  readonly name: string
  /** Undefined: no column. */
  readonly stored: 'value' | 'key' | undefined
  readonly build: (find: (name: string) => EntitySchema, naming: Naming) => unknown
}

/** Includes inverse sides. */
function listProperties(collection: InferredCollection, collections: readonly InferredCollection[]): InferredProperty[] {
  const taken = new Set<string>()
  const takeProperty = (name: string): string => {
    const property = findFreeName(isSafe(name) ? name : makeSafe(name), taken)
    taken.add(property)
    return property
  }
  const attributeProperties = collection.attributes.map(attribute => {
    const stored = attribute.kind === 'toMany' ? undefined : attribute.kind === 'toOne' ? ('key' as const) : ('value' as const)
    return { property: takeProperty(attribute.name), name: attribute.name, stored, build: buildAttribute(attribute, collection) }
  })
  const inverses = collections.flatMap(source =>
    source.attributes.flatMap(attribute => {
      if ((attribute.kind !== 'toOne' && attribute.kind !== 'toMany') || attribute.target !== collection.name) return []
      const name = attribute.inverse
      if (name === undefined) return []
      return [{ property: takeProperty(name), name, stored: undefined, build: buildInverse(source, attribute) }]
    }),
  )
  if (collection.open === undefined) return [...attributeProperties, ...inverses]
  const name = findHolderName(collection)
  const order: InferredProperty = {
    property: takeProperty(PLACE),
    name: PLACE,
    stored: 'value',
    build: (_, naming) => {
      let last = 0
      // Another process may have stored records.
      const next = (): number => (last = Math.max(last + 1, Date.now()))
      return applyNaming(p.type(PlaceType).onCreate(next), naming)
    },
  }
  const holder: InferredProperty = {
    property: takeProperty(name),
    name,
    stored: 'value',
    build: (_, naming) => applyNaming(buildPlain('json').nullable(), naming),
  }
  return [...attributeProperties, ...inverses, holder, ...(collection.exact ? [order] : [])]
}

/** As taken by `listProperties`. */
function findPropertyName(collection: InferredCollection, name: string): string {
  const taken = new Set<string>()
  for (const attribute of collection.attributes) {
    const property = findFreeName(isSafe(attribute.name) ? attribute.name : makeSafe(attribute.name), taken)
    if (attribute.name === name) return property
    taken.add(property)
  }
  throw new Error(`${collection.name} does not have an attribute "${name}".`)
}

interface PropertyBuilder {
  nullable(): PropertyBuilder
  fieldName(name: string): PropertyBuilder
  serializedName(name: string): PropertyBuilder
}

function applyNaming(builder: PropertyBuilder, { serializedName, column }: Naming): PropertyBuilder {
  const stored = column === undefined ? builder : builder.fieldName(column)
  return serializedName === undefined ? stored : stored.serializedName(serializedName)
}

function buildAttribute(attribute: InferredAttribute, { idType }: InferredCollection): InferredProperty['build'] {
  return (find, naming) => {
    switch (attribute.kind) {
      case 'id':
        if (idType === 'integer') return applyNaming(p.integer().primary(), naming)
        return applyNaming(
          (idType === 'uuid' ? p.uuid() : p.text()).primary().onCreate(() => runtime.randomUUID()),
          naming,
        )
      case 'plain': {
        const builder = buildPlain(attribute.type)
        return applyNaming(attribute.nullable ? builder.nullable() : builder, naming)
      }
      case 'toOne': {
        const builder = p.manyToOne(find(attribute.target))
        return applyNaming(attribute.nullable ? builder.nullable() : builder, naming)
      }
      case 'toMany':
        // The order of IDs is data.
        return applyNaming(p.manyToMany(find(attribute.target)).fixedOrder(), naming)
    }
  }
}

function buildPlain(type: InferredType): PropertyBuilder {
  switch (type) {
    case 'integer':
      return p.integer()
    case 'number':
      return p.double()
    case 'text':
      return p.text()
    case 'boolean':
      return p.boolean()
    case 'json':
      return p.json()
  }
}

function buildInverse(source: InferredCollection, { kind, name }: InferredAttribute): InferredProperty['build'] {
  return (find, naming) => {
    const target = find(source.name)
    const other = findPropertyName(source, name)
    const builder = kind === 'toOne' ? p.oneToMany(target).mappedBy(other) : p.manyToMany(target).mappedBy(other)
    return applyNaming(builder, naming)
  }
}

/** MikroORM mixes up non-ASCII names of equal length, and takes `_id` for a MongoDB key. */
function isSafe(name: string): boolean {
  return /^(?!__|_id$)[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !(name in Object.prototype) && name !== 'then' && name !== 'toJSON'
}

function makeSafe(name: string): string {
  const camel = camelCase(name.normalize('NFKD')).replaceAll(/\W/g, '')
  if (camel === '') return 'attribute'
  return isSafe(camel) ? camel : `_${camel}`
}

function findFreeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  return free
}

/** MikroORM's default naming, in lower case: column names ignore case. */
function findColumnName(property: string, stored: InferredProperty['stored']): string {
  const words = property.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
  return stored === 'key' ? `${words}_id` : words
}
