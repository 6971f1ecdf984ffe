/** Renders getters and serializers of entity classes: the attribute of `get fullName()` has the getter's value for the shown record. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { nullNonFinite, toJson } from '../../foundation/json/json.ts'
import type { Renderer } from '../model.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { readScalar, toProperty, type ScalarType } from '../../foundation/values/scalar-type.ts'

export function serializerRender(meta: EntityMetadata, prop: EntityProperty, type: ScalarType): Renderer {
  const serializer = prop.serializer!
  const place = `the serializer of ${meta.className}.${prop.name}`
  return json => shown(serializer(propertyOfJson(json, type)), place)
}

export function relationRender(meta: EntityMetadata, prop: EntityProperty): Renderer {
  const serializer = prop.serializer!
  const place = `the serializer of ${meta.className}.${prop.name}`
  return json => {
    const value = relatedLike(prop, json)
    return shown(serializer(value), place)
  }
}

function relatedLike(prop: EntityProperty, json: unknown): unknown {
  const target = prop.targetMeta
  if (target === undefined || json === null || json === undefined || prop.polymorphic === true || target.polymorphs !== undefined)
    return json
  if (prop.kind === 'embedded') return Array.isArray(json) ? json.map(item => entityLike(target, item as object)) : entityLike(target, json)
  if (prop.mapToPk === true) return json
  return Array.isArray(json) ? new ListLike(target, json) : linkedLike(target, json)
}

/** Makes an entity of a shown record or ID, with the methods of MikroORM's `Reference`. */
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

function keyLike(target: EntityMetadata, id: unknown): Record<string, unknown> {
  const props = target.getPrimaryProps()
  if (props.length === 1) return { [publicName(props[0]!)]: id }
  const parts = String(id).split('~').map(decodeURIComponent)
  return Object.fromEntries(
    props.map((prop, index) => [publicName(prop), prop.runtimeType === 'number' ? Number(parts[index]) : parts[index]]),
  )
}

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

/** Runs a getter on samples. Returns the first value missing in records: a list, more than a linked entity's key. */
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
  } catch {}
  return found
}

function makeSample({ kind, runtimeType, array }: EntityProperty): unknown {
  if (array === true) return []
  if (kind === 'embedded') return {}
  const samples: Record<string, unknown> = { number: 0, boolean: false, Date: new Date(0), string: '' }
  return samples[runtimeType]
}

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

function propertyOfJson(json: unknown, type: ScalarType): unknown {
  if (json === null || json === undefined) return json
  const { kind, asNumber = false, asText = false } = type
  const value = readScalar(json, { kind, asNumber, asText, ...(type.codec === undefined ? {} : { codec: type.codec }) })
  // A file may hold misfits.
  return value === undefined ? json : toProperty(value, type)
}

function entityLike(meta: EntityMetadata, record: object): Record<string, unknown> {
  const entity = Object.create(meta.prototype as object) as Record<string, unknown>
  for (const prop of meta.props) {
    if (prop.embedded !== undefined || isGetter(prop)) continue
    const json = (record as Record<string, unknown>)[publicName(prop)]
    if (json === undefined) continue
    if (prop.kind !== 'scalar') {
      Object.defineProperty(entity, prop.name, { get: () => relatedLike(prop, json), enumerable: true, configurable: true })
      continue
    }
    const type = scalarType(prop)
    const value = type === undefined ? json : propertyOfJson(json, type)
    Object.defineProperty(entity, prop.name, { value, writable: true, enumerable: true, configurable: true })
  }
  return entity
}
