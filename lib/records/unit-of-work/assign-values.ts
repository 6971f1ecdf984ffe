/** Sets the values of a body on an entity, and on embedded objects within. */
import { ScalarReference, ValidationError, type EntityManager } from '@mikro-orm/core'
import { RestError, restError } from '../../foundation/errors/errors.ts'
import type { Entity } from '../../model/entity-key.ts'
import type { Attribute, EmbeddedAttribute, ScalarAttribute } from '../../model/model.ts'
import { toProperty } from '../../foundation/values/scalar-type.ts'
import { isEntity } from './entity-links.ts'
import type { EntityName } from './unit-of-work.ts'
import type { EmbeddedValue, ValueInput } from '../validate/record-input.ts'
import { addTo, toProperties } from '../validate/property-values.ts'

/** Adds empty objects: a body may leave out a needed object without required attributes. */
export function addNeededEmbedded(data: Entity, attributes: readonly Attribute[]): Entity {
  for (const attribute of attributes) {
    if (attribute.kind !== 'embedded' || !(attribute.needed || isEntity(data[attribute.property]))) continue
    data[attribute.property] = addNeededEmbedded((data[attribute.property] ?? {}) as Entity, attribute.attributes)
  }
  return data
}

/**
 * `em.assign` rejects objects of custom types. An embedded object keeps values not given; a list of objects is replaced, and an object that
 * may change class.
 */
export function assignValues(holder: Entity, changes: readonly ValueInput[], em: EntityManager): void {
  for (const { attribute, path, value } of changes) {
    const { property } = attribute
    if (attribute.kind === 'scalar') {
      const given = attribute.links === undefined ? toProperty(value, attribute.type) : referenceLinked(value, attribute, em)
      setScalar(holder, property, addTo(holder[property], attribute, given))
      continue
    }
    const given = value as EmbeddedValue
    if (given === null) {
      holder[property] = null
    } else if ('members' in given) {
      holder[property] = given.members.map(member => createEmbedded(attribute, member, path, em))
    } else if (attribute.variants !== undefined || (holder[property] ?? null) === null) {
      holder[property] = createEmbedded(attribute, given, path, em)
    } else {
      assignValues(holder[property] as Entity, given, em)
    }
  }
}

/**
 * @param path of the value or record, in the body
 * @throws RestError validation_failed with the code's message, where the code throws.
 */
export function callClass<T>(className: string, path: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    if (error instanceof RestError || error instanceof ValidationError) throw error
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    const what = path === '' ? 'the values' : `"${path}"`
    const detail = `${className} refuses ${what}${reason === '' ? '' : `: ${reason.slice(0, 300).replace(/\.$/, '')}`}.`
    const place = path === '' ? {} : { attribute: path }
    throw restError('validation_failed', detail, { errors: [{ code: 'value_invalid', detail, ...place }], cause: error })
  }
}

function referenceLinked(value: unknown, { links, type }: ScalarAttribute, em: EntityManager): unknown {
  if (value === null) return null
  return em.getReference(links!.entity as EntityName, toProperty(value, type), { wrapped: links!.wrapped })
}

/** A property with `ref: true` holds a reference to the value. */
function setScalar(holder: Entity, property: string, value: unknown): void {
  const current = holder[property]
  if (current instanceof ScalarReference) current.set(value)
  else holder[property] = value
}

function createEmbedded({ entity }: EmbeddedAttribute, changes: readonly ValueInput[], path: string, em: EntityManager): Entity {
  const factory = em.getEntityFactory()
  const { className } = em.getMetadata().get(entity as EntityName)
  const make = (): unknown => factory.createEmbeddable(entity as EntityName, toProperties(changes), { newEntity: true })
  const object = callClass(className, path, make) as Entity
  assignValues(object, changes, em)
  // MikroORM sets defaults for new records only.
  factory.assignDefaultValues(object, em.getMetadata(object.constructor))
  return object
}
