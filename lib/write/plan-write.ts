/**
 * Plan writing: finds out whether statements can write what a body asks for without MikroORM's unit of work, and which columns they write. The decision is by
 * the model and by the names in a body, before anything runs; a plan has no values.
 */
import type { JsonObject } from '../base/json.ts'
import type { Attribute, Resource } from '../model/model.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'

/** The attributes of a resource that statements can write, each with its column. */
export interface WritableAttributes {
  readonly insert: ReadonlyMap<string, StoredColumn>
}

const known = new WeakMap<StoredTable, WritableAttributes>()

/** Returns the attributes that statements can write. */
export function findWritable({ attributes }: Resource, stored: StoredTable): WritableAttributes {
  let writable = known.get(stored)
  if (writable === undefined) {
    const insert = new Map<string, StoredColumn>()
    for (const attribute of attributes) {
      const column = stored.columns.get(attribute.property)
      if (column !== undefined && isColumn(attribute, column)) insert.set(attribute.name, column)
    }
    known.set(stored, (writable = { insert }))
  }
  return writable
}

/** Whether the value of an attribute is that of one column. */
function isColumn(attribute: Attribute, { column }: StoredColumn): boolean {
  if (attribute.kind === 'scalar')
    return attribute.source.kind === 'column' && attribute.source.column === column && attribute.links === undefined
  return (
    attribute.kind === 'toOne' &&
    attribute.owner &&
    attribute.formula === undefined &&
    attribute.targetKey === undefined &&
    attribute.discriminator === undefined &&
    attribute.document === undefined &&
    attribute.columns.length === 1
  )
}

/** Returns the table into which a statement can insert the record that a body describes; undefined where the unit of work is needed. */
export function planInsert(resource: Resource, body: JsonObject): StoredTable | undefined {
  const { stored, byName, hierarchy, open } = resource
  if (stored === undefined || !stored.inserts || hierarchy !== undefined || open !== undefined) return undefined
  return takesBody(body, byName, findWritable(resource, stored).insert) ? stored : undefined
}

function takesBody(body: JsonObject, byName: ReadonlyMap<string, Attribute>, columns: ReadonlyMap<string, StoredColumn>): boolean {
  for (const name in body) {
    const value = body[name]
    if (value === undefined) continue
    const column = columns.get(name)
    if (column === undefined) {
      // Validation refuses an unknown name.
      if (byName.has(name)) return false
    } else if (value === null ? column.convertsNull : typeof value === 'object' && byName.get(name)!.kind === 'toOne') return false
  }
  return true
}
