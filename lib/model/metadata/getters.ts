/** Getters: values that the code of an entity gives to readers, not the database: getters and serializers. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { nullNonFinite, toJson } from '../../foundation/base/json.ts'
import type { Renderer } from '../model.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { readScalar, toProperty, type ScalarType } from '../../foundation/values/scalar-type.ts'

/** Returns the result of MikroORM's `serializer` for the value of the property. */
export function serializerRender(meta: EntityMetadata, prop: EntityProperty, type: ScalarType): Renderer {
  const serializer = prop.serializer!
  const place = `the serializer of ${meta.className}.${prop.name}`
  return json => shown(serializer(propertyOfJson(json, type)), place)
}

/**
 * Returns the result of MikroORM's `serializer` for a relation or an embedded object, made from the IDs or records that the record shows.
 */
export function relationRender(meta: EntityMetadata, prop: EntityProperty): Renderer {
  const serializer = prop.serializer!
  const place = `the serializer of ${meta.className}.${prop.name}`
  return json => {
    const value = relatedLike(prop, json)
    return shown(serializer(value), place)
  }
}

/** Returns the value of an entity's property from the JSON of a relation or an embedded object. */
function relatedLike(prop: EntityProperty, json: unknown): unknown {
  const target = prop.targetMeta
  if (target === undefined || json === null || json === undefined || prop.polymorphic === true || target.polymorphs !== undefined)
    return json
  if (prop.kind === 'embedded') return Array.isArray(json) ? json.map(item => entityLike(target, item as object)) : entityLike(target, json)
  if (prop.mapToPk === true) return json
  return Array.isArray(json) ? new ListLike(target, json) : linkedLike(target, json)
}

/** A linked entity: with the values of the record that is shown, else with its key alone. It stands for a reference to it too. */
function linkedLike(target: EntityMetadata, json: unknown): Record<string, unknown> {
  const isRecord = typeof json === 'object' && json !== null
  const entity = entityLike(target, isRecord ? json : keyLike(target, json))
  const methods = {
    unwrap: () => entity,
    getEntity: () => entity,
    isInitialized: () => isRecord,
    get: (name: string) => entity[name],
    $: entity,
  }
  for (const [name, value] of Object.entries(methods)) {
    if (!(name in target.properties)) Object.defineProperty(entity, name, { value, configurable: true })
  }
  return entity
}

/** Returns the key values that an ID stands for. */
function keyLike(target: EntityMetadata, id: unknown): Record<string, unknown> {
  const props = target.getPrimaryProps()
  if (props.length === 1) return { [publicName(props[0]!)]: id }
  const parts = String(id).split('~').map(decodeURIComponent)
  return Object.fromEntries(
    props.map((prop, index) => [publicName(prop), prop.runtimeType === 'number' ? Number(parts[index]) : parts[index]]),
  )
}

/** A collection, as far as code that only reads can tell. */
class ListLike extends Array<unknown> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
  readonly #isWhole: boolean

  constructor(target: EntityMetadata, items: readonly unknown[]) {
    super()
    this.#isWhole = items.every(item => typeof item === 'object')
    for (const item of items) this.push(linkedLike(target, item))
  }
  isInitialized(): boolean {
    return this.#isWhole
  }
  getItems(): unknown[] {
    return [...this]
  }
  toArray(): unknown[] {
    return [...this]
  }
  count(): number {
    return this.length
  }
  isEmpty(): boolean {
    return this.length === 0
  }
}

/**
 * The first thing that a getter reads and that it is not given: a list, an inverse side, or more than the key of a linked entity. Tried on
 * an object of samples.
 */
export function unreadableIn(meta: EntityMetadata, prop: EntityProperty): string | undefined {
  let found: string | undefined
  const linked = (path: string, target: EntityMetadata | undefined): object => {
    const known = new Set<string | symbol>([...(target?.primaryKeys ?? []), 'isInitialized', 'then'])
    const entity: object = new Proxy(Object.create(null) as object, {
      get: (_, name) => {
        if (name === 'unwrap' || name === 'getEntity') return () => entity
        if (name === '$') return entity
        if (typeof name === 'string' && !known.has(name)) found ??= `${path}.${name}`
        return undefined
      },
    })
    return entity
  }
  const entity = Object.create(meta.prototype as object) as Record<string, unknown>
  for (const each of meta.props) {
    if (each.embedded !== undefined || isGetter(each)) continue
    const isHeld = each.polymorphic !== true && (each.kind === 'm:1' || (each.kind === '1:1' && each.owner))
    const get = (): unknown => {
      if (each.kind === 'scalar' || each.kind === 'embedded') return makeSample(each)
      if (!isHeld) found ??= each.name
      return linked(each.name, each.targetMeta)
    }
    Object.defineProperty(entity, each.name, { get, set() {}, configurable: true })
  }
  try {
    const value: unknown = entity[(prop.getterName ?? prop.name) as string]
    if (typeof value === 'function') (value as () => unknown).call(entity)
  } catch {
    // The result for samples is ignored; only the properties that were read count.
  }
  return found
}

function makeSample({ kind, runtimeType, array }: EntityProperty): unknown {
  if (array === true) return []
  if (kind === 'embedded') return {}
  const samples: Record<string, unknown> = { number: 0, boolean: false, Date: new Date(0), string: '' }
  return samples[runtimeType]
}

/** Returns the value of a getter on an object of the entity's class that has the plain values of the record. */
export function getterRender(meta: EntityMetadata, prop: EntityProperty): Renderer {
  const place = `the getter ${meta.className}.${prop.name}`
  const getter = (prop.getterName ?? prop.name) as string
  return (_value, record) => {
    const entity = entityLike(meta, record)
    return shown(typeof entity[getter] === 'function' ? (entity[getter] as () => unknown)() : entity[getter], place)
  }
}

function shown(value: unknown, place: string): unknown {
  return value === undefined ? null : typeof value === 'bigint' ? value.toString() : toJson(value, place, nullNonFinite)
}

/** The value that a property holds, of its JSON form. */
function propertyOfJson(json: unknown, type: ScalarType): unknown {
  if (json === null || json === undefined) return json
  const { kind, asNumber = false, asText = false } = type
  const value = readScalar(json, { kind, asNumber, asText, ...(type.codec === undefined ? {} : { codec: type.codec }) })
  // A value that does not fit its type, which a file may hold.
  return value === undefined ? json : toProperty(value, type)
}

/** An object of the entity's class with the plain values of a record as its properties. */
function entityLike(meta: EntityMetadata, record: object): Record<string, unknown> {
  const entity = Object.create(meta.prototype as object) as Record<string, unknown>
  for (const prop of meta.props) {
    if (prop.embedded !== undefined || isGetter(prop)) continue
    const json = (record as Record<string, unknown>)[publicName(prop)]
    if (json === undefined) continue
    if (prop.kind !== 'scalar') {
      // Most getters read no relation: it is made when it is read.
      Object.defineProperty(entity, prop.name, { get: () => relatedLike(prop, json), enumerable: true, configurable: true })
      continue
    }
    const type = scalarType(prop)
    const value = type === undefined ? json : propertyOfJson(json, type)
    Object.defineProperty(entity, prop.name, { value, writable: true, enumerable: true, configurable: true })
  }
  return entity
}
