/**
 * Compares attributes with a shared column, such as a foreign key `(tenant_id, order_id)` and the attribute `tenant`. Both must agree.
 * Refuses with validation_failed.
 */
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { keyOfEntity, keyOfProperty, type Entity, hasKey, unwrap } from '../../model/entity-key.ts'
import { tableColumns, type Attribute, type RelationAttribute } from '../../model/model.ts'
import { fromProperty } from '../../foundation/values/scalar-type.ts'
import { owningAttribute } from './relation-sides.ts'
import type { RecordInput, RecordRef } from './record-input.ts'

export function checkShared(change: RecordInput, entity: Entity | undefined, errors: FieldErrors): void {
  const { attributes } = change.resource
  for (const { attribute, within, link, path } of change.links) {
    if (link?.kind !== 'existing' || !attribute.owner) continue
    for (const other of attributes) {
      const columns = other === attribute || other === within?.[0] ? [] : tableColumns(other)
      // Of two keys with a shared column, the error names the longer key.
      if (columns.length > attribute.columns.length || !columns.some(column => attribute.columns.includes(column))) continue
      const values = findColumnValues(other, change, entity)
      const differs = attribute.columns.some((column, part) => values.has(column) && values.get(column) !== link.key[part])
      if (!differs) continue
      const detail = `"${path}" contradicts "${other.name}", with which it shares a part of its key.`
      errors.push({ code: 'conflict', detail, attribute: path, value: link.given })
    }
  }
}

/** For a link set by the owner: a part of the linked record's own key may share the column, too. */
export function refuseShared(relation: RelationAttribute, ref: RecordRef, entity: Entity | undefined, parent: Entity): void {
  const other = owningAttribute(relation)!
  if (other.targetKey !== undefined || other.columns.length < 2 || !hasKey(parent)) return
  const { links, values, resource } = ref.kind === 'new' ? ref.record : { links: [], values: [], resource: relation.target }
  const key = keyOfEntity(other.target, parent)
  for (const attribute of resource.attributes) {
    if (attribute === other || !tableColumns(attribute).some(column => other.columns.includes(column))) continue
    const known = findColumnValues(attribute, { links, values }, entity)
    if (!other.columns.some((column, part) => known.has(column) && known.get(column) !== key[part])) continue
    const path = ref.kind === 'new' ? ref.record.path : ref.path
    const detail = `"${path}" cannot be linked: its "${attribute.name}" shares a part of the key with "${other.name}", and is another one.`
    throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: path }] })
  }
}

function findColumnValues(
  attribute: Attribute,
  change: Pick<RecordInput, 'links' | 'values'>,
  entity: Entity | undefined,
): ReadonlyMap<string, unknown> {
  const columns = tableColumns(attribute)
  const linked = change.links.find(link => link.attribute === attribute)?.link
  if (linked !== undefined) return new Map(linked?.kind === 'existing' ? columns.map((column, part) => [column, linked.key[part]]) : [])
  const given = change.values.find(value => value.attribute === attribute)
  if (given !== undefined) return new Map(columns.map(column => [column, given.value]))
  const current = entity?.[attribute.property] ?? null
  if (current === null || attribute.kind === 'toMany' || attribute.kind === 'toOneOf' || attribute.kind === 'embedded') return new Map()
  if (attribute.kind === 'scalar') return new Map([[columns[0]!, fromProperty(current, attribute.type)]])
  // A nullable link does not conflict, by its other columns.
  if (attribute.nullable) return new Map()
  const key = attribute.holdsKey ? keyOfProperty(attribute.target, current) : keyOfEntity(attribute.target, unwrap(current))
  return new Map(columns.map((column, part) => [column, key[part]]))
}
