/**
 * Decides whether statements can write a body with all its records, such as `{ "name": "a", "books": [{ "title": "b" }, 3] }`: by the
 * model, the tables of an existing file, and the names in the body.
 */
import { withoutIds } from '../../model/ids-name.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import {
  isRelation,
  type Attribute,
  type RelationAttribute,
  type Resource,
  type ToManyAttribute,
  type ToOneAttribute,
} from '../../model/model.ts'
import { linkColumns, type LinkColumn, type StoredProperty, type StoredTable } from '../../model/stored-table.ts'
import { bodyOfNew, listGiven } from '../validate/list-change.ts'
import { planColumns, planRows, type RowPlan } from './plan-rows.ts'
import { mayLeadBack } from '../validate/own-links.ts'
import { nameGiven } from '../validate/references.ts'
import { owningAttribute } from '../validate/relation-sides.ts'

export interface BodyPlan {
  /** Rows of other records are written or read. */
  readonly isWide: boolean
  /** Taken values are refused before any function of the model runs. */
  readonly keepsUnique: boolean
  /** Stored records are linked or unlinked. */
  readonly linksOthers: boolean
  /** By resource, the relation with nested new records. */
  readonly created: ReadonlyMap<Resource, RelationAttribute>
  /** By pivot table, the list. */
  readonly pivots: ReadonlyMap<string, ToManyAttribute>
}

const NO_PIVOTS: ReadonlyMap<string, ToManyAttribute> = new Map()
const NONE_CREATED: ReadonlyMap<Resource, RelationAttribute> = new Map()

type PlannedOn = Pick<Connection, 'mayHoldMisfits' | 'havePlainLinks' | 'keepsTime'>

/** Undefined: statements cannot write the body. */
export function planNew(plan: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  return plan.insert === undefined || !takesNew(plan, resource, body, on) ? undefined : planNames(plan, resource, body, on)
}

export function planNames(plan: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  return plan.insert && new BodyWalk(false, on).plan(plan, resource, body, plan.insert)
}

function takesNew({ stored }: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn, implied?: ToOneAttribute): boolean {
  return on.keepsTime(stored) && isComplete(body, stored, resource, implied) && !mayLinkItself(body, resource)
}

export function planMember(owner: Resource, list: ToManyAttribute, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  const plan = planRows(list.target)
  return plan?.insert === undefined ? undefined : new BodyWalk(false, on).planMember(plan, list, body, owner)
}

export function planChanges(plan: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  const properties = on.mayHoldMisfits ? plan.updateOfOthers : plan.update
  const planned = properties === undefined ? undefined : new BodyWalk(true, on).plan(plan, resource, body, properties)
  // Triggers may read other tables.
  return planned?.isWide === true && !on.havePlainLinks(linkColumns(plan.stored)) ? undefined : planned
}

/** Whether statements may write, and pivot rows have no counted keys. */
export function writesPivots({ pivots }: BodyPlan, connection: Connection): boolean {
  for (const table of pivots.keys()) if (connection.countsKeys(table)) return false
  return connection.writesAlone()
}

class BodyWalk implements BodyPlan {
  isWide = false
  keepsUnique = true
  linksOthers = false
  pivots = NO_PIVOTS
  readonly #changes: boolean
  readonly #on: PlannedOn
  #linked: Resource[] | undefined
  #created: Map<Resource, RelationAttribute> | undefined
  readonly #enclosing: RelationAttribute[] = []
  #root: Resource | undefined

  constructor(changes: boolean, on: PlannedOn) {
    this.#changes = changes
    this.#on = on
  }

  get created(): ReadonlyMap<Resource, RelationAttribute> {
    return this.#created ?? NONE_CREATED
  }

  planMember(plan: RowPlan, list: ToManyAttribute, body: JsonObject, owner: Resource): this | undefined {
    const properties = plan.insert!
    const { target, where, readOnly } = list
    if (where !== undefined || readOnly || target.hierarchy !== undefined) return undefined
    const implied = owningAttribute(list)
    const isTaken = implied === undefined ? this.#takesPivot(list, owner) : this.#takesForeign(list) && properties.has(implied.name)
    return isTaken && takesNew(plan, target, body, this.#on, implied) ? this.plan(plan, target, body, properties, implied) : undefined
  }

  /** @param implied the link given by the place of the record */
  plan(
    plan: RowPlan,
    resource: Resource,
    body: JsonObject,
    properties: ReadonlyMap<string, StoredProperty>,
    implied?: ToOneAttribute,
  ): this | undefined {
    this.#root = resource
    if (!this.#takes(body, plan, resource, properties, implied)) return undefined
    // If named twice, the unit of work changes a record once.
    for (const target of this.#linked ?? []) {
      const rootPlaces = target === resource && this.#changes && Object.keys(body).length > 1 ? 1 : 0
      if (rootPlaces + countPlaces(body, resource, target) > 1) return undefined
    }
    return this
  }

  #takes(
    body: JsonObject,
    { stored }: RowPlan,
    resource: Resource,
    properties: ReadonlyMap<string, StoredProperty>,
    implied?: ToOneAttribute,
  ): boolean {
    if (!stored.keepsUnique) this.keepsUnique = false
    for (const name in body) {
      const value = body[name]
      if (value === undefined) continue
      const named = resource.byName.get(name)
      // Validation refuses unknown names.
      if (named === undefined) continue
      const attribute = withoutIds(named, resource.byName)
      if (attribute === implied) continue
      const property = properties.get(attribute.name)
      if (
        !(property === undefined ? this.#takesRelation(resource, attribute, value) : this.#takesValue(resource, attribute, property, value))
      )
        return false
    }
    return true
  }

  #takesValue(resource: Resource, attribute: Attribute, { convertsNull }: StoredProperty, value: unknown): boolean {
    if (value === null) return !convertsNull
    // Without a stored object, only the unit of work finds missing parts.
    if (attribute.kind === 'embedded') {
      const isPart = this.#changes && isObject(value)
      if (!isPart || attribute.document !== undefined) return true
      return attribute.attributes.every(({ name, required }) => !required || value[name] !== undefined)
    }
    return typeof value !== 'object' || attribute.kind !== 'toOne' || this.#takesNested(resource, attribute, value)
  }

  #takesNested(resource: Resource, relation: RelationAttribute, value: unknown): boolean {
    const { target } = relation
    const plan = planRows(target)
    if (plan?.insert === undefined || target.hierarchy !== undefined || target.readOnly || !isObject(value)) return false
    // MikroORM inserts given keys before counted keys.
    if (target.generatedKey && (value[target.keyNames[0]!] ?? null) !== null) return false
    this.isWide = true
    if (!this.#isOnePlace(relation)) return false
    const implied = owningAttribute(relation)
    if (implied !== undefined && !(plan.insert.has(implied.name) && isInsertedOnce(target, resource))) return false
    if (relation.kind === 'toOne' && relation.owner && !isInsertedOnce(resource, target)) return false
    if (!takesNew(plan, target, value, this.#on, implied)) return false
    this.#enclosing.push(relation)
    const takes = this.#takes(value, plan, target, plan.insert, implied)
    this.#enclosing.pop()
    return takes
  }

  /** Whether a single relation has all new records of a table. MikroORM inserts others in another order, with other counted keys. */
  #isOnePlace(relation: RelationAttribute): boolean {
    const { target } = relation
    if ((target === this.#root && !this.#changes) || this.#enclosing.includes(relation)) return false
    const known = this.#created?.get(target)
    if (known === undefined) (this.#created ??= new Map()).set(target, relation)
    return known === undefined || known === relation
  }

  #takesRelation(resource: Resource, attribute: Attribute, value: unknown): boolean {
    if (attribute.kind === 'toMany') return this.#takesList(resource, attribute, value)
    if (attribute.kind !== 'toOne' || attribute.owner || attribute.targetKey !== undefined || attribute.discriminator !== undefined)
      return false
    // A change would also have to unlink the former record.
    return !this.#changes && (value === null || this.#takesMember(resource, attribute, value))
  }

  #takesList(resource: Resource, list: ToManyAttribute, value: unknown): boolean {
    this.isWide = true
    if (
      list.where !== undefined ||
      list.readOnly ||
      !(list.via.kind === 'pivot' ? this.#takesPivot(list, resource) : this.#takesForeign(list))
    )
      return false
    const members = listGiven(value)
    return (
      members === undefined ||
      (this.#keepsOrder(list, members) &&
        members.every(member => {
          const body = bodyOfNew(value, member, list)
          return this.#takesMember(resource, list, member) && (body === undefined || this.#takesNested(resource, list, body))
        }))
    )
  }

  /** New rows keep the list's order. From the other side, MikroORM first writes rows of new records. */
  #keepsOrder({ via }: ToManyAttribute, value: readonly unknown[]): boolean {
    return via.kind !== 'pivot' || via.owner || via.orderColumn === undefined || !value.some(member => typeof member === 'object')
  }

  #takesMember(resource: Resource, relation: RelationAttribute, member: unknown): boolean {
    if (typeof member === 'object') return this.#takesNested(resource, relation, member)
    const other = owningAttribute(relation)
    if (other === undefined) return true
    this.isWide = this.linksOthers = true
    if (!this.#canLink(relation.target, other)) return false
    if (this.#linked?.includes(relation.target) !== true) (this.#linked ??= []).push(relation.target)
    return true
  }

  #canLink(target: Resource, { name }: ToOneAttribute): boolean {
    const plan = planRows(target)
    const columns = plan?.update?.get(name)?.columns
    if (plan === null || columns === undefined) return false
    const { stored } = plan
    return (
      target.hierarchy === undefined &&
      stored.key.length === 1 &&
      columns.length === 1 &&
      (!this.#on.mayHoldMisfits || this.#on.havePlainLinks(linkColumns(stored, columns)))
    )
  }

  #takesPivot(list: ToManyAttribute, resource: Resource): boolean {
    if (!canWritePivot(list) || (this.#on.mayHoldMisfits && !this.#on.havePlainLinks(listPivotColumns(list, resource)))) return false
    const { table, orderColumn } = list.via as ToManyAttribute['via'] & { kind: 'pivot' }
    // In rows of other programs, MikroORM finds the order.
    if (orderColumn !== undefined && this.#on.mayHoldMisfits) return false
    const known = this.pivots.get(table)
    if (known === undefined) this.pivots = new Map([...this.pivots, [table, list]])
    return known === undefined || known === list
  }

  #takesForeign(list: ToManyAttribute): boolean {
    const { target, via } = list
    const plan = planRows(target)
    const other = owningAttribute(list)
    if (plan === null || other === undefined || via.kind !== 'foreign' || via.targetKey !== undefined || via.discriminator !== undefined)
      return false
    // In a change, members left out lose the link.
    if (this.#changes) {
      this.linksOthers = true
      if (!this.#canLink(target, other) || (list.orphanRemoval && !plan.deletes)) return false
      if (this.#linked?.includes(target) !== true) (this.#linked ??= []).push(target)
    }
    return true
  }
}

function listPivotColumns({ via, target }: ToManyAttribute, resource: Resource): LinkColumn[] {
  const { table, ownerColumns, targetColumns } = via as ToManyAttribute['via'] & { kind: 'pivot' }
  const [owner, other] = [resource, target].map(each => each.readStored())
  if (owner === undefined || other === undefined) return []
  return [
    { table, column: ownerColumns[0]!, type: owner.key[0]!.type },
    { table, column: targetColumns[0]!, type: other.key[0]!.type },
    ...linkColumns(owner),
    ...linkColumns(other),
  ]
}

export function canWritePivot({ via, target }: ToManyAttribute): boolean {
  return (
    via.kind === 'pivot' &&
    via.discriminator === undefined &&
    // The unit of work finds the place of rows without a link.
    !(via.mayBeEmpty && via.orderColumn !== undefined) &&
    via.ownerColumns.length === 1 &&
    via.targetColumns.length === 1 &&
    target.readStored() !== undefined &&
    target.hierarchy === undefined
  )
}

/** Whether MikroORM inserts a new record together with the link. In a circle of tables, an update may set the link, counted as a change. */
export function isInsertedOnce(holder: Resource, linked: Resource): boolean {
  const plan = planColumns(holder)!
  return (plan.stored.version === undefined && plan.touched.length === 0) || !leadsTo(linked, holder)
}

/** Whether `from` links `to`, directly or through others. */
export function leadsTo(from: Resource, to: Resource, seen: Set<Resource> = new Set()): boolean {
  // Records may refer to other classes of the table.
  if (from === to || to.hierarchy !== undefined) return true
  if (seen.has(to)) return false
  seen.add(to)
  return to.referrers.some(({ resource }) => leadsTo(from, resource, seen))
}

export function isComplete(body: JsonObject, stored: StoredTable, resource: Resource, implied: ToOneAttribute | undefined): boolean {
  for (const { property, names } of listNeeded(stored, resource))
    if (property !== implied?.property && !names.some(name => body[name] !== undefined)) return false
  return true
}

interface NeededProperty {
  readonly property: string
  readonly names: readonly string[]
}

const needed = new WeakMap<Resource, readonly NeededProperty[]>()

function listNeeded({ required, keyProperties, constructed, properties }: StoredTable, resource: Resource): readonly NeededProperty[] {
  let known = needed.get(resource)
  if (known === undefined) {
    const keys = resource.generatedKey ? [] : keyProperties.map(({ property }) => property)
    const open = [...new Set([...required, ...keys])].filter(property => {
      const { onCreate, default: fixed } = properties.get(property) ?? {}
      return !constructed.has(property) && onCreate === undefined && fixed === undefined
    })
    const givers = [...resource.byName].map(([name, named]) => {
      const attribute = withoutIds(named, resource.byName)
      // A list with the record itself sets the record's link.
      const other = isRelation(attribute) && mayLeadBack(attribute, resource) ? owningAttribute(attribute) : undefined
      return { name, property: (other ?? attribute).property }
    })
    known = open.map(property => ({ property, names: givers.filter(giver => giver.property === property).map(({ name }) => name) }))
    needed.set(resource, known)
  }
  return known
}

/** Whether a new record may link itself: before the key is counted (`{ "slug": "a", "parent": "a" }`), or as another class of the table. */
export function mayLinkItself(body: JsonObject, resource: Resource): boolean {
  const { shownKey, hierarchy, keyNames } = resource
  const ownName = shownKey === undefined ? undefined : nameGiven(body, resource)
  if (ownName === undefined && (hierarchy === undefined || !keyNames.every(name => (body[name] ?? null) !== null))) return false
  for (const name in body) {
    const attribute = resource.byName.get(name)
    const value = body[name] ?? null
    if (attribute?.kind !== 'toOne' || !attribute.owner || value === null || !mayLeadBack(attribute, resource)) continue
    if (ownName === undefined ? attribute.target !== resource : nameGiven({ [shownKey!.name]: value }, resource) === ownName) return true
  }
  return false
}

/** Counts attributes with records of `target`, also in nested bodies. */
function countPlaces(body: JsonObject, { byName }: Resource, target: Resource): number {
  let count = 0
  for (const name in body) {
    const attribute = byName.get(name)
    const value = body[name]
    if (value === undefined || (attribute?.kind !== 'toOne' && attribute?.kind !== 'toMany')) continue
    if (attribute.target === target) count++
    for (const member of listGiven(value) ?? [value]) if (isObject(member)) count += countPlaces(member, attribute.target, target)
  }
  return count
}
