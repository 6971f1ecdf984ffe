/** Inserts new records, with nested records, in the order of arrange.ts. Rows linked by a row are inserted before. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { KeyValues } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToOneAttribute } from '../../model/model.ts'
import type { Connection } from '../database/connection.ts'
import { findGivenKey, nameReference, recordName } from '../validate/check-database.ts'
import { linksItself } from '../validate/linked-records.ts'
import type { RecordInput, RecordRef } from '../validate/record-input.ts'
import { nameNew } from '../validate/references.ts'
import { owningAttribute } from '../validate/relation-sides.ts'
import { arrange, type Need } from './arrange.ts'
import { bindInsert, type BoundInsert } from './bind-write.ts'
import { insertRows } from './insert-rows.ts'
import { planRows } from './plan-rows.ts'
import { readPlainKey, type RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, type NewFlatRow } from './row-shapes.ts'

interface LinkNeed extends Need<NewRow> {
  readonly attribute: ToOneAttribute
}

interface NewRow {
  readonly resource: Resource
  readonly isCounted: boolean
  /** A valid record; undefined: a body of a shape. */
  readonly change: RecordInput | undefined
  readonly flat: NewFlatRow | undefined
  readonly needs: readonly LinkNeed[]
  /** Undefined until inserted. */
  key: KeyValues | undefined
  group: number | undefined
}

/** A list of a new record, by pivot rows, or by links of the members. */
interface NewList {
  readonly relation: RelationAttribute
  readonly owner: NewRow
  readonly members: readonly NewMember[]
}

/** A new record, the name of one (`nameReference`), or the key of a stored record. */
type NewMember = NewRow | string | KeyValues

const NO_NEEDS: readonly LinkNeed[] = Object.freeze([])

export class NewRecords {
  readonly rows: NewRow[] = []
  readonly lists: NewList[] = []
  readonly #connection: Connection
  #byName: ReadonlyMap<string, NewRow> = new Map()
  #groups: readonly (readonly NewRow[])[] | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** @param owner the row around this record, and the attribute by which this record links that row */
  add(change: RecordInput, owner?: { readonly row: NewRow; readonly attribute: ToOneAttribute }): NewRow {
    const { resource, links, lists } = change
    const isCounted = resource.generatedKey && change.values.every(({ attribute }) => attribute.name !== resource.keyNames[0])
    const needs = owner === undefined ? [] : [toNeed(owner.attribute, owner.row)]
    const row: NewRow = { resource, isCounted, change, flat: undefined, needs, key: undefined, group: undefined }
    this.rows.push(row)
    for (const { attribute, link } of links) {
      if (attribute.owner && link?.kind === 'new') needs.push(toNeed(attribute, this.add(link.record)))
      else if (!attribute.owner && link !== null && !linksItself(link)) this.#addList(attribute, [link], row)
    }
    for (const { attribute, items } of lists) this.#addList(attribute, items, row)
    return row
  }

  /** False for a value unfit for the shape. */
  addFlat(resource: Resource, body: JsonObject, shape: RowShape): boolean {
    const fields = bindFields(shape, body)
    if (fields === undefined) return false
    const isCounted = resource.generatedKey && shape.keyOf === undefined
    const flat = { shape, resource, body, fields }
    const row: NewRow = { resource, isCounted, change: undefined, flat, needs: NO_NEEDS, key: undefined, group: undefined }
    this.rows.push(row)
    for (const { name, list } of shape.lists) {
      const ids = body[name]
      const members = Array.isArray(ids) ? ids.map(id => readPlainKey(id, list.target)) : [undefined]
      if (!members.every(key => key !== undefined)) return false
      if (members.length > 0) this.lists.push({ relation: list, owner: row, members })
    }
    return true
  }

  #addList(relation: RelationAttribute, items: readonly RecordRef[], owner: NewRow): void {
    // Members by pivot table have no link.
    const attribute = owningAttribute(relation)
    let members: NewMember[] | undefined
    for (const item of items) {
      if (item.kind === 'existing') (members ??= []).push(linksItself(item) ? owner : (item.name ?? item.key))
      else if (attribute === undefined) (members ??= []).push(this.add(item.record))
      else this.add(item.record, { row: owner, attribute })
    }
    if (members !== undefined) this.lists.push({ relation, owner, members })
  }

  /** False for a circle of needs, or a row in need of the own key. */
  arrange(): boolean {
    this.#groups = this.#linkNames() ? arrange(this.rows, ({ needs }) => needs) : undefined
    return this.#groups !== undefined
  }

  *insert(): Coroutine<void> {
    for (const group of this.#groups!) {
      const keys = yield* insertRows(this.#bindAll(group), this.#connection)
      for (const [index, row] of group.entries()) row.key = keys[index]
    }
  }

  keyOf(member: NewMember): KeyValues {
    if (typeof member === 'string') return this.#byName.get(member)!.key!
    return 'needs' in member ? member.key! : member
  }

  /**
   * Finds links between new records by the clients' key; by any key, if the database wants linked rows first. False for a row with a link
   * to itself: the key is counted too late.
   */
  #linkNames(): boolean {
    const { failsWhole } = this.#connection.dialect
    const links = this.rows.flatMap(row =>
      (row.change?.links ?? []).flatMap(({ attribute, link }) =>
        attribute.owner && link?.kind === 'existing' && (failsWhole || link.name !== undefined) ? [{ row, attribute, link }] : [],
      ),
    )
    const isNamed = links.length > 0 || this.lists.some(({ members }) => members.some(member => typeof member === 'string'))
    if (!isNamed) return true
    this.#byName = new Map(this.rows.flatMap(row => listNames(row, failsWhole).map(name => [name, row] as const)))
    for (const { row, attribute, link } of links) {
      const needed = this.#byName.get(nameReference(link, attribute.target))
      if (needed === undefined || (needed === row && link.name === undefined)) continue
      if (needed === row) return false
      ;(row.needs as LinkNeed[]).push(toNeed(attribute, needed))
    }
    return true
  }

  *#bindAll(rows: readonly NewRow[]): Generator<BoundInsert, void, undefined> {
    for (const { flat, change, resource, needs } of rows) {
      const linked = needs.map(({ attribute, needed }) => ({ attribute, key: needed.key! }))
      yield flat === undefined
        ? bindInsert(change!, planRows(resource)!.stored, this.#connection, linked)
        : bindNewRow(flat, this.#connection)
    }
  }
}

function toNeed(attribute: ToOneAttribute, needed: NewRow): LinkNeed {
  return { attribute, needed, isRequired: !attribute.nullable, awaitsKey: true }
}

function listNames({ change }: NewRow, byKey: boolean): string[] {
  if (change === undefined) return []
  const key = byKey ? findGivenKey(change) : undefined
  return [nameNew(change), key && recordName(change.resource, key)].filter(name => name !== undefined)
}
