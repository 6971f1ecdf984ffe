/**
 * Makes example records and bodies that every caller may see: nothing hidden, restricted by rules or scopes, or computed by application
 * functions.
 */
import { shownName } from '../../model/ids-name.ts'
import { isRelation, isValue, listTargets, type Attribute, type Resource, type ScalarAttribute } from '../../model/model.ts'
import { EVERYTHING, isVisible } from '../../records/plan/visibility.ts'
import { NO_PARAMETERS, type Parameters } from '../../records/request/query-string.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import { isCreatable } from '../../records/access/resolve-path.ts'
import type { ApiSource } from './source.ts'

/** @returns undefined if not every caller may read the resource */
export function exampleParameters(resource: Resource): Parameters | undefined {
  if (!isOpenToAll(resource) || resource.hierarchy !== undefined) return undefined
  const names = resource.attributes.filter(isOpen).map(shownName)
  return names.length === 0 ? undefined : { ...NO_PARAMETERS, depth: 1, attributes: names, expand: [] }
}

/** Shows relations to targets with scopes as empty: null or `[]`. */
export function completeExample(record: JsonRecord, { attributes }: Resource): JsonRecord {
  const complete: JsonRecord = {}
  for (const attribute of attributes) {
    const name = shownName(attribute)
    if (name in record) complete[name] = record[name]
    else if (isLeftOpen(attribute)) complete[name] = attribute.kind === 'toMany' ? [] : null
  }
  return complete
}

function isLeftOpen(attribute: Attribute): boolean {
  if (isValue(attribute) || !isVisible(attribute, EVERYTHING) || attribute.render !== undefined) return false
  return listTargets(attribute).every(({ rules }) => isReadableByAll(rules))
}

function isOpenToAll({ rules }: Resource): boolean {
  return isReadableByAll(rules) && rules.scopes.length === 0 && Object.keys(rules.wrappers).length === 0
}

function isReadableByAll({ access }: Resource['rules']): boolean {
  return access.list === true && access.get === true
}

/** The same value for every caller, without application functions. */
function isOpen(attribute: Attribute): boolean {
  if (!isVisible(attribute, EVERYTHING) || attribute.render !== undefined || /^!|[.,]/.test(attribute.name)) return false
  if (attribute.kind === 'scalar') return attribute.source.kind !== 'getter'
  if (attribute.kind === 'embedded') return attribute.attributes.every(child => child.hidden || isOpen(child))
  return listTargets(attribute).every(({ rules }) => rules.scopes.length === 0 && isReadableByAll(rules))
}

/** @returns undefined if a required value cannot be guessed */
export function exampleBody(resource: Resource, { examples }: ApiSource): JsonRecord | undefined {
  if (!isCreatable(resource) || resource.hierarchy !== undefined) return undefined
  const record = examples.get(resource)
  const fresh = freshNames(resource)
  const body: JsonRecord = {}
  for (const attribute of resource.attributes) {
    if (attribute.readOnly || (!attribute.required && !fresh.has(attribute.name) && !isShownInBody(attribute, resource))) continue
    const name = shownName(attribute)
    const shown = record?.[name]
    if (fresh.has(attribute.name) && attribute.kind === 'scalar') body[attribute.name] = freshValue(attribute, shown)
    else if (shown !== undefined && shown !== null && attribute.kind !== 'toMany') body[name] = shown
    else if (attribute.required) {
      if (attribute.kind !== 'scalar') return undefined
      body[attribute.name] = madeUp(attribute)
    }
    if (attribute.required && body[name] === undefined) return undefined
  }
  // The example occupies the target of a unique to-one.
  const isTaken = resource.attributes.some(
    attribute => attribute.kind === 'toOne' && attribute.unique && body[shownName(attribute)] !== undefined,
  )
  return isTaken ? undefined : body
}

function isShownInBody(attribute: Attribute, { keyNames, version }: Resource): boolean {
  if (!isValue(attribute) || attribute.hidden || keyNames.includes(attribute.name))
    return isRelation(attribute) && attribute.kind === 'toOne' && attribute.required
  return attribute !== version && attribute.kind === 'scalar' && attribute.source.kind === 'column' && attribute.type.codec === undefined
}

/** Names with a value other than the example's: the last plain attribute of each unique set, and of a key that clients set. */
function freshNames(resource: Resource): ReadonlySet<string> {
  const sets = [...resource.uniques, ...(isKeyGiven(resource) ? [resource.keyNames] : [])]
  return new Set(
    sets.flatMap(names => {
      const free = names.flatMap(name => {
        const attribute = resource.byName.get(name)
        return attribute?.kind === 'scalar' && attribute.type.items === undefined && attribute.type.kind !== 'boolean' ? [name] : []
      })
      return free.slice(-1)
    }),
  )
}

function isKeyGiven({ keyNames, byName }: Resource): boolean {
  return keyNames.some(name => byName.get(name)?.required === true)
}

function freshValue(attribute: ScalarAttribute, shown: unknown): unknown {
  const { type } = attribute
  if (type.kind === 'text' && typeof shown === 'string') {
    const end = '-new'
    return [...shown].slice(0, Math.max(0, (type.length ?? Infinity) - end.length)).join('') + end
  }
  return madeUp(attribute)
}

function madeUp({ name, type }: ScalarAttribute): unknown {
  if (type.items !== undefined && type.kind !== 'array') return type.items[0]
  switch (type.kind) {
    case 'integer':
      return 900_001
    case 'bigint':
      return '900001'
    case 'float':
      return 1.5
    case 'decimal':
      return '1'
    case 'boolean':
      return true
    case 'datetime':
      return '2030-01-31T12:00:00.000Z'
    case 'date':
      return '2030-01-31'
    case 'time':
      return '12:00:00'
    case 'uuid':
      return 'b1946ac9-2492-4d23-8c8f-0d6c1f1b7a10'
    case 'blob':
      return 'AAEC'
    case 'array':
      return []
    case 'json':
    case 'jsonValue':
      return {}
    case 'text':
    case 'any':
      return [...name].slice(0, type.length ?? Infinity).join('')
    case 'custom':
      return undefined
  }
}
