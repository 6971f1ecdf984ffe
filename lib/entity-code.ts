/** Entity code: values that the code of an entity gives to readers, not the database: getters and serializers. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { jsonOf } from './json.ts'
import type { Renderer } from './model.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { scalarFromJson, toProperty } from './scalars.ts'
import type { ScalarType } from './scalars.ts'

type Meta = EntityMetadata
type Property = EntityProperty

/** What MikroORM's `serializer` gives for the value of the property. */
export function serializerRender(meta: Meta, prop: Property, type: ScalarType): Renderer {
  const serializer = prop.serializer!
  const place = `the serializer of ${meta.className}.${prop.name}`
  return json => shown(serializer(propertyOfJson(json, type)), place)
}

/** What a getter gives on an object of the entity's class that has the plain values of the record. */
export function getterRender(meta: Meta, prop: Property): Renderer {
  const place = `the getter ${meta.className}.${prop.name}`
  const getter = (prop.getterName ?? prop.name) as string
  return (_value, record) => {
    const entity = entityLike(meta, record)
    return shown(typeof entity[getter] === 'function' ? (entity[getter] as () => unknown)() : entity[getter], place)
  }
}

function shown(value: unknown, place: string): unknown {
  return value === undefined ? null : typeof value === 'bigint' ? value.toString() : jsonOf(value, place)
}

/** The value that a property holds, of its JSON form. */
function propertyOfJson(json: unknown, type: ScalarType): unknown {
  if (json === null || json === undefined) return json
  const { kind, asNumber = false, asText = false } = type
  const value = scalarFromJson(json, { kind, asNumber, asText, ...(type.codec === undefined ? {} : { codec: type.codec }) })
  // A value that does not fit its type, which SQLite allows.
  return value === undefined ? json : toProperty(value, type)
}

/** An object of the entity's class with the plain values of a record as its properties. */
function entityLike(meta: Meta, record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entity = Object.create(meta.prototype as object) as Record<string, unknown>
  for (const prop of meta.props) {
    if (prop.embedded !== undefined || isGetter(prop)) continue
    const json = record[publicName(prop)]
    if (json === undefined) continue
    const type = prop.kind === 'scalar' ? scalarType(prop) : undefined
    const value = type === undefined ? json : propertyOfJson(json, type)
    Object.defineProperty(entity, prop.name, { value, writable: true, enumerable: true, configurable: true })
  }
  return entity
}
