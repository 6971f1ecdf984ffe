/**
 * Plan body: finds out whether statements can write all records that a body is about: those nested in it, and those whose links its lists
 * set. The decision is by the model, by how the tables of an existing file are declared, and by the names in the body, before anything
 * runs.
 */
import { withoutIds } from '../../model/ids-name.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import type { Attribute, EmbeddedAttribute, RelationAttribute, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import { linkColumns, type LinkColumn, type StoredProperty } from '../../model/stored-table.ts'
import { bodyOfNew, listGiven } from '../validate/list-change.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import { owningAttribute } from '../validate/relation-sides.ts'

/** What a body is about beside the record itself. */
export interface BodyPlan {
  /** Whether rows of others are written, or read, too. */
  readonly isWide: boolean
  /** See `StoredTable`: of all records that the body creates. */
  readonly keepsUnique: boolean
  /** Whether records that are there get another link. */
  readonly linksOthers: boolean
  /** The resources of the new records that it nests, each with the relation that they are nested in. */
  readonly created: ReadonlyMap<Resource, RelationAttribute>
  /** Whether it gives parts of an object that is stored as JSON: where there is none yet, it may lack some. */
  readonly mayLack: boolean
  /** The pivot tables, each with the list by which the body writes it. */
  readonly pivots: ReadonlyMap<string, ToManyAttribute>
}

const NO_PIVOTS: ReadonlyMap<string, ToManyAttribute> = new Map()
const NONE_CREATED: ReadonlyMap<Resource, RelationAttribute> = new Map()

/** What the decision depends on beside the model. */
export type PlannedOn = Pick<Connection, 'mayHoldMisfits' | 'havePlainLinks'>

/** Returns what the body of a new record is about; undefined where statements cannot write that. */
export function planNew(plan: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  return plan.insert === undefined ? undefined : new BodyWalk(false, on).plan(plan, resource, body, plan.insert)
}

/** Returns what the body of a new member of a list of a record that is there is about; undefined where statements cannot write that. */
export function planMember(owner: Resource, list: ToManyAttribute, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  const plan = planRows(list.target)
  return plan?.insert === undefined ? undefined : new BodyWalk(false, on).planMember(plan, list, body, owner)
}

/** Returns what the changes of a body are about; undefined where statements cannot make them. */
export function planChanges(plan: RowPlan, resource: Resource, body: JsonObject, on: PlannedOn): BodyPlan | undefined {
  const properties = on.mayHoldMisfits ? plan.updateOfOthers : plan.update
  const planned = properties === undefined ? undefined : new BodyWalk(true, on).plan(plan, resource, body, properties)
  // In an existing table a trigger may read other tables.
  return planned?.isWide === true && !on.havePlainLinks(linkColumns(plan.stored)) ? undefined : planned
}

class BodyWalk implements BodyPlan {
  isWide = false
  keepsUnique = true
  linksOthers = false
  mayLack = false
  pivots = NO_PIVOTS
  /** Whether the record of the body itself is there. */
  readonly #changes: boolean
  readonly #on: PlannedOn
  /** The resources whose records get another link. */
  #linked: Resource[] | undefined
  #created: Map<Resource, RelationAttribute> | undefined
  /** The relations that the walk is in. */
  readonly #around: RelationAttribute[] = []
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
    return isTaken ? this.plan(plan, target, body, properties, implied) : undefined
  }

  /** @param implied the link that the place of the record gives it */
  plan(
    plan: RowPlan,
    resource: Resource,
    body: JsonObject,
    properties: ReadonlyMap<string, StoredProperty>,
    implied?: ToOneAttribute,
  ): this | undefined {
    this.#root = resource
    if (!this.#takes(body, plan, resource, properties, implied)) return undefined
    // Two places of a body may be about one record, which the unit of work changes once.
    for (const target of this.#linked ?? []) {
      const own = target === resource && this.#changes && Object.keys(body).length > 1 ? 1 : 0
      if (own + countPlaces(body, resource, target) > 1) return undefined
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
      // Validation refuses an unknown name.
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
    // Where there is no object yet, validation asks the unit of work what it lacks.
    if (attribute.kind === 'embedded') {
      const isPart = this.#changes && isObject(value)
      if (isPart && attribute.document !== undefined) this.mayLack = true
      return !isPart || attribute.document !== undefined || isWhole(attribute, value)
    }
    return typeof value !== 'object' || attribute.kind !== 'toOne' || this.#takesNested(resource, attribute, value)
  }

  /** Whether statements can create a record that the body of a record of the resource nests. */
  #takesNested(resource: Resource, relation: RelationAttribute, value: unknown): boolean {
    const { target } = relation
    const plan = planRows(target)
    if (plan?.insert === undefined || target.hierarchy !== undefined || target.readOnly || !isObject(value)) return false
    // MikroORM inserts records that bring their keys before those whose keys are counted.
    if (target.generatedKey && (value[target.keyNames[0]!] ?? null) !== null) return false
    this.isWide = true
    if (!this.#isOnePlace(relation)) return false
    const implied = owningAttribute(relation)
    if (implied !== undefined && !(plan.insert.has(implied.name) && isInsertedOnce(target, resource))) return false
    if (relation.kind === 'toOne' && relation.owner && !isInsertedOnce(resource, target)) return false
    this.#around.push(relation)
    const takes = this.#takes(value, plan, target, plan.insert, implied)
    this.#around.pop()
    return takes
  }

  /** Whether all new records of a table come from one relation: MikroORM has an order of its own for others, and so other keys. */
  #isOnePlace(relation: RelationAttribute): boolean {
    const { target } = relation
    if ((target === this.#root && !this.#changes) || this.#around.includes(relation)) return false
    const known = this.#created?.get(target)
    if (known === undefined) (this.#created ??= new Map()).set(target, relation)
    return known === undefined || known === relation
  }

  #takesRelation(resource: Resource, attribute: Attribute, value: unknown): boolean {
    if (attribute.kind === 'toMany') return this.#takesList(resource, attribute, value)
    if (attribute.kind !== 'toOne' || attribute.owner || attribute.targetKey !== undefined || attribute.discriminator !== undefined)
      return false
    // What the other side held before is unlinked.
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
    // Validation refuses what is not a list.
    return (
      members === undefined ||
      (this.#keepsOrder(list, members) &&
        members.every(
          member => this.#takesMember(resource, list, member) && this.#takesNew(resource, list, bodyOfNew(value, member, list)),
        ))
    )
  }

  /** Whether statements can create the record that a change of a list makes where it is not there. */
  #takesNew(resource: Resource, list: ToManyAttribute, body: JsonObject | undefined): boolean {
    return body === undefined || this.#takesNested(resource, list, body)
  }

  /**
   * Whether new rows come in the order of a list: seen from the other side of an ordered one, MikroORM writes those of new records first.
   */
  #keepsOrder({ via }: ToManyAttribute, value: readonly unknown[]): boolean {
    return via.kind !== 'pivot' || via.owner || via.orderColumn === undefined || !value.some(member => typeof member === 'object')
  }

  /** Whether statements can link a member of a list, or the other side of a one-to-one. */
  #takesMember(resource: Resource, relation: RelationAttribute, member: unknown): boolean {
    if (typeof member === 'object') return this.#takesNested(resource, relation, member)
    const other = owningAttribute(relation)
    if (other === undefined) return true
    this.isWide = this.linksOthers = true
    if (!this.#canLink(relation.target, other)) return false
    if (this.#linked?.includes(relation.target) !== true) (this.#linked ??= []).push(relation.target)
    return true
  }

  /** Whether statements can set a link of records that are there. */
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
    // How the rows of others are in order, MikroORM finds out.
    if (orderColumn !== undefined && this.#on.mayHoldMisfits) return false
    const known = this.pivots.get(table)
    if (known === undefined) this.pivots = new Map([...this.pivots, [table, list]])
    return known === undefined || known === list
  }

  /** Whether statements can replace the members that link their owner by their own foreign key. */
  #takesForeign(list: ToManyAttribute): boolean {
    const { target, via } = list
    const plan = planRows(target)
    const other = owningAttribute(list)
    if (plan === null || other === undefined || via.kind !== 'foreign' || via.targetKey !== undefined || via.discriminator !== undefined)
      return false
    // Members that a change leaves out lose their link.
    if (this.#changes) {
      this.linksOthers = true
      if (!this.#canLink(target, other) || (list.orphanRemoval && !plan.deletes)) return false
      if (this.#linked?.includes(target) !== true) (this.#linked ??= []).push(target)
    }
    return true
  }
}

/** Returns the columns by which the rows of a pivot table link, with the keys of the records that they link. */
function listPivotColumns({ via, target }: ToManyAttribute, resource: Resource): LinkColumn[] {
  const { table, ownerColumns, targetColumns } = via as ToManyAttribute['via'] & { kind: 'pivot' }
  const [own, other] = [resource, target].map(each => each.readStored())
  if (own === undefined || other === undefined) return []
  return [
    { table, column: ownerColumns[0]!, type: own.key[0]!.type },
    { table, column: targetColumns[0]!, type: other.key[0]!.type },
    ...linkColumns(own),
    ...linkColumns(other),
  ]
}

/** Whether statements can write the rows of the pivot table of a list. */
function canWritePivot({ via, target }: ToManyAttribute): boolean {
  return (
    via.kind === 'pivot' &&
    via.discriminator === undefined &&
    // Which place a row has that links nothing, the unit of work finds out.
    !(via.mayBeEmpty && via.orderColumn !== undefined) &&
    via.ownerColumns.length === 1 &&
    via.targetColumns.length === 1 &&
    target.readStored() !== undefined &&
    target.hierarchy === undefined
  )
}

/**
 * Whether MikroORM inserts a new record with its link to another new one at once. Where tables refer to each other in a circle it may set
 * the link later, which counts as a change of the record.
 */
export function isInsertedOnce(holder: Resource, linked: Resource): boolean {
  const plan = planRows(holder)!
  return (plan.stored.version === undefined && plan.touched.length === 0) || !leadsTo(linked, holder)
}

/** Whether records of a resource refer to another one, directly or by others. */
export function leadsTo(from: Resource, to: Resource, seen: Set<Resource> = new Set()): boolean {
  // Others may refer to another class of the table.
  if (from === to || to.hierarchy !== undefined) return true
  if (seen.has(to)) return false
  seen.add(to)
  return to.referrers.some(({ resource }) => leadsTo(from, resource, seen))
}

/** Whether a body gives all that an embedded object needs. */
function isWhole({ attributes }: EmbeddedAttribute, body: JsonObject): boolean {
  return attributes.every(({ name, required }) => !required || body[name] !== undefined)
}

/** Counts the places of a body that name records of a resource. */
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
