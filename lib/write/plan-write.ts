/**
 * Plan writing: finds out whether statements can write what a request asks for without MikroORM's unit of work, and which columns they write. The decision is by
 * the model and by the names in a body, before anything runs; a plan has no values.
 */
import type { JsonObject } from '../base/json.ts'
import type { Attribute, Resource, ScalarAttribute } from '../model/model.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'
import { cascadesOrUnlinks } from './remove.ts'

/** How statements write the records of a resource. */
export interface RowPlan {
  readonly stored: StoredTable
  /** The attributes that a statement can give a new record; undefined: none can make one. */
  readonly insert: ReadonlyMap<string, StoredColumn> | undefined
  /** The attributes that a statement can change; undefined: none can change any. */
  readonly update: ReadonlyMap<string, StoredColumn> | undefined
  /** The columns that every change sets. */
  readonly touched: readonly StoredColumn[]
  /** Whether a statement can remove a record. */
  readonly deletes: boolean
}

const plans = new WeakMap<Resource, RowPlan | null>()

/** Returns how statements write the records of a resource; null where the unit of work writes all of them. */
export function planRows(resource: Resource): RowPlan | null {
  let plan = plans.get(resource)
  if (plan === undefined) plans.set(resource, (plan = makePlan(resource)))
  return plan
}

function makePlan(resource: Resource): RowPlan | null {
  const { stored, attributes, hierarchy, open } = resource
  if (stored === undefined || hierarchy !== undefined || open !== undefined) return null
  const writable = attributes.flatMap(attribute => {
    const column = stored.columns.get(attribute.property)
    return column !== undefined && isColumn(attribute, column) ? [[attribute, column] as const] : []
  })
  const changeable = writable.filter(([attribute, column]) => isChangeable(attribute, column, resource))
  const nameAll = (all: typeof writable) => new Map(all.map(([{ name }, column]) => [name, column]))
  return {
    stored,
    insert: stored.inserts ? nameAll(writable) : undefined,
    update: stored.updates ? nameAll(changeable) : undefined,
    touched: [...stored.columns.values()].filter(({ onUpdate }) => onUpdate !== undefined),
    deletes: stored.deletes && !cascadesOrUnlinks(resource),
  }
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

/** Whether a statement can change an attribute: nothing else follows from that, and the database sees what the unit of work takes for a change. */
function isChangeable(attribute: Attribute, { comparable, onUpdate }: StoredColumn, { referrers }: Resource): boolean {
  if (!comparable || onUpdate !== undefined) return false
  if (attribute.kind === 'toOne') return !attribute.orphanRemoval
  return (
    attribute.kind === 'scalar' &&
    !referrers.some(({ attribute: link }) => link.targetKey?.property === attribute.property) &&
    (hasOneForm(attribute) || (attribute.source.kind === 'column' && !attribute.source.rawDefault && !attribute.hidden))
  )
}

/** Whether equal values have one stored form, so that validation need not compare them with what is shown. */
function hasOneForm({ type }: ScalarAttribute): boolean {
  return type.kind === 'integer' || type.kind === 'float' || type.kind === 'boolean' || type.kind === 'text'
}

/** Whether a statement can insert the record that a body describes. */
export function canInsert({ insert }: RowPlan, { byName }: Resource, body: JsonObject): boolean {
  return insert !== undefined && takesBody(body, byName, insert)
}

/** Whether a statement can make the changes of a body. */
export function canUpdate({ update }: RowPlan, { byName }: Resource, body: JsonObject): boolean {
  return update !== undefined && takesBody(body, byName, update)
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
