/**
 * Planned relations: writes nested records and links of lists. Members share statements, but for new records and rows with values from
 * functions of the model. After a refusal by the database, `Unplanned` takes back all rows, and the unit of work finds the reason.
 */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { Statement } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToManyAttribute } from '../../model/model.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import { addTouched, bindDeleteAll, bindInsert, bindRows, bindUpdate, countTogether, findStatement } from './bind-write.ts'
import type { BoundInsert } from './bind-write.ts'
import { LinkStatements, toKeys } from './link-statements.ts'
import type { MadeValues } from './made-values.ts'
import { planRows } from './plan-rows.ts'
import { PlannedPivots } from './planned-pivots.ts'
import { owningAttribute } from '../validate/relation-sides.ts'
import { isItself } from '../validate/linked-records.ts'
import {
  isOneRow,
  withLink,
  type ExistingRef,
  type LinkInput,
  type ListInput,
  type RecordInput,
  type RecordRef,
} from '../validate/record-input.ts'
import type { RowRules } from './row-rules.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'

/** The foreign key column, and the parameter for the linked record. */
interface PlannedLinking {
  readonly stored: StoredTable
  readonly target: Resource
  readonly column: StoredColumn
  readonly owner: unknown
}

export class PlannedRelations {
  readonly #connection: Connection
  readonly #values: MadeValues
  readonly #rules: RowRules | undefined
  readonly #statements: LinkStatements
  readonly #pivots: PlannedPivots

  /** @param rules undefined: the caller may do everything */
  constructor(connection: Connection, values: MadeValues, rules?: RowRules) {
    this.#connection = connection
    this.#values = values
    this.#rules = rules
    this.#statements = new LinkStatements(connection)
    this.#pivots = new PlannedPivots(connection, this.#statements, rules)
  }

  /** Includes all nested records and links. */
  *create(change: RecordInput): Coroutine<KeyValues> {
    const own = yield* this.createLinked(change)
    const key = yield* this.insert(own)
    for (const { attribute, link } of change.links) {
      if (!attribute.owner && link !== null && !isItself(link)) yield* this.#enterForeign(attribute, [link], change.resource, key)
    }
    for (const { attribute, items } of change.lists) {
      const others = items.filter(item => !isItself(item))
      if (others.length < items.length) this.#rules?.writing?.made(change.resource, key)
      if (attribute.via.kind === 'foreign') yield* this.#enterForeign(attribute, others, change.resource, key)
      else yield* this.#pivots.replace({ list: attribute, resource: change.resource, key }, yield* this.#findKeys(items, key), true)
    }
    return key
  }

  /** Creates the records that own foreign keys link. Returns the change with the new keys, without links held by other rows. */
  *createLinked(change: RecordInput): Coroutine<RecordInput> {
    const links: LinkInput[] = []
    for (const input of change.links) {
      if (!input.attribute.owner) continue
      links.push(input.link?.kind === 'new' ? { ...input, link: yield* this.#resolve(input.link) } : input)
    }
    return { ...change, links, lists: [] }
  }

  *replace(lists: readonly ListInput[], resource: Resource, key: KeyValues): Coroutine<void> {
    for (const { attribute, items, removed } of lists) {
      const place = { list: attribute, resource, key }
      if (attribute.via.kind === 'pivot') {
        const keys = yield* this.#findKeys(items)
        yield* removed === undefined
          ? this.#pivots.replace(place, keys, false)
          : this.#pivots.change(
              place,
              keys,
              removed.map(({ key: each }) => each),
            )
      } else if (removed === undefined) yield* this.#replaceForeign(attribute, items, resource, key)
      else {
        yield* this.#unlink(attribute, removed, resource, key)
        yield* this.#enterForeign(attribute, items, resource, key)
      }
    }
  }

  enterPivot(list: ToManyAttribute, key: KeyValues, owner: { readonly resource: Resource; readonly key: KeyValues }): Coroutine<void> {
    return this.#pivots.enter({ list, resource: owner.resource, key: owner.key }, [key])
  }

  /** @param own the key of a new record, possibly among the items */
  *#findKeys(items: readonly RecordRef[], own?: KeyValues): Coroutine<readonly KeyValues[]> {
    const keys: KeyValues[] = []
    for (const item of items) keys.push(item.kind === 'new' ? yield* this.#createNested(item.record) : isItself(item) ? own! : item.key)
    return keys
  }

  /** Whether lists leave out members that need the link. Callers ask before writing. */
  *areRefused(lists: readonly ListInput[], resource: Resource, key: KeyValues): Coroutine<boolean> {
    for (const { attribute, items, removed } of lists) {
      if (attribute.via.kind !== 'foreign' || attribute.orphanRemoval || owningAttribute(attribute)!.nullable) continue
      const linking = this.#findLinking(attribute, resource, key)
      const left = yield* removed === undefined ? this.#findOthers(linking, items) : this.#findLinked(linking, removed)
      if (left.length > 0) return true
    }
    return false
  }

  /** The row links only stored records. */
  *insert(change: RecordInput): Coroutine<KeyValues> {
    const { resource } = change
    const { stored } = planRows(resource)!
    const bound = bindInsert(change, stored, this.#connection, this.#values)
    if (bound === undefined) throw new Unplanned()
    const { rows, counted } = yield* wait(this.#statements.run(bound.statement, bound.parameters))
    // A trigger ignored the row.
    if (rows === 0) throw new Unplanned()
    return bound.key ?? keyFromCount(counted, resource)
  }

  /** The rows link only stored records. Neighbours with the same columns share a statement. */
  *insertAll(changes: readonly RecordInput[]): Coroutine<void> {
    let group: BoundInsert[] = []
    for (const change of changes) {
      const bound = bindInsert(change, planRows(change.resource)!.stored, this.#connection, this.#values)
      if (bound === undefined) throw new Unplanned()
      if (group.length === thresholds.insertedRows || (group.length > 0 && group[0]!.statement !== bound.statement)) {
        yield* this.#insertGroup(group)
        group = []
      }
      group.push(bound)
    }
    yield* this.#insertGroup(group)
  }

  *#insertGroup(group: readonly BoundInsert[]): Coroutine<void> {
    for (let from = 0; from < group.length;) {
      const first = group[from]!
      const count = countTogether(group.length - from, first)
      const bound = count === 1 ? first : bindRows(group.slice(from, from + count), this.#connection)
      const { rows, counted } = yield* wait(this.#statements.run(bound.statement, bound.parameters))
      // A trigger ignored a row.
      if (rows < count) throw new Unplanned()
      // The last key is the highest: refuses keys out of range.
      if (first.key === undefined) keyFromCount(counted, first.resource)
      from += count
    }
  }

  *#resolve(ref: RecordRef & { readonly kind: 'new' }): Coroutine<RecordRef> {
    const key = yield* this.#createNested(ref.record)
    return { kind: 'existing', key, path: ref.record.path, given: undefined }
  }

  *#createNested(record: RecordInput): Coroutine<KeyValues> {
    const key = yield* this.create(record)
    this.#rules?.touch(record.resource, key, 'made')
    return key
  }

  /** Writes former members first: new members may take over a unique value. */
  *#replaceForeign(list: ToManyAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const linking = this.#findLinking(list, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const stays = this.#rules === undefined ? items : yield* this.#keepUnseen(linking, items, list, this.#rules)
    const kept = this.#listKeys(stays, target)
    if (list.orphanRemoval) {
      yield* wait(
        this.#statements.run(
          this.#find('deleteOthers', linking, () => writing.deleteOthers(stored, column)),
          [owner, kept],
        ),
      )
    } else if (planRows(target)!.touched.length > 0) {
      yield* this.#setEach(yield* this.#findOthers(linking, stays), linking, null)
    } else if (owningAttribute(list)!.nullable) {
      yield* wait(
        this.#statements.run(
          this.#find('unlink', linking, () => writing.unlink(stored, column)),
          [owner, kept],
        ),
      )
    }
    yield* this.#enterForeign(list, items, resource, key)
  }

  /** Returns the items with hidden members, which stay. Refuses to take out others where the caller may not. */
  *#keepUnseen(
    linking: PlannedLinking,
    items: readonly RecordRef[],
    list: ToManyAttribute,
    rules: RowRules,
  ): Coroutine<readonly RecordRef[]> {
    const { target } = linking
    const others = toKeys(yield* this.#findOthers(linking, items), target)
    if (others.length === 0) return items
    yield* rules.permit(target, list.orphanRemoval ? 'delete' : 'update')
    const unseen = yield* rules.findUnseen(target, others)
    const leaving = others.filter(key => !unseen.includes(key))
    if (list.orphanRemoval) yield* this.#mayRemove(target, leaving, rules)
    else if (rules.writing !== undefined) yield* rules.writing.change(target, leaving)
    if (!list.orphanRemoval) for (const key of leaving) rules.touch(target, key, 'linked')
    return [...items, ...unseen.map(toItem)]
  }

  /** Unlinks the members that are linked and visible. */
  *#unlink(list: ToManyAttribute, removed: readonly ExistingRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const linking = this.#findLinking(list, resource, key)
    const { stored, column, target } = linking
    const linked = toKeys(yield* this.#findLinked(linking, removed), target)
    const unseen = this.#rules === undefined ? [] : yield* this.#rules.findUnseen(target, linked)
    const leaving = linked.filter(each => !unseen.includes(each))
    if (leaving.length === 0) return
    if (this.#rules !== undefined) {
      yield* this.#rules.permit(target, list.orphanRemoval ? 'delete' : 'update')
      if (list.orphanRemoval) yield* this.#mayRemove(target, leaving, this.#rules)
      else if (this.#rules.writing !== undefined) yield* this.#rules.writing.change(target, leaving)
    }
    if (list.orphanRemoval) {
      for (const { statement, parameters } of bindDeleteAll(stored, leaving, target, this.#connection))
        yield* wait(this.#statements.run(statement, parameters))
      return
    }
    const own = leaving.map(each => this.#statements.toParameter(each, target))
    if (planRows(target)!.touched.length > 0) yield* this.#setEach(own, linking, null)
    else {
      const link = this.#find('link', linking, () => this.#connection.dialect.writing.link(stored, column))
      yield* wait(this.#statements.run(link, [null, this.#statements.encodeKeys(leaving, target), null]))
    }
    for (const each of leaving) this.#rules?.touch(target, each, 'linked')
  }

  *#findLinked(linking: PlannedLinking, refs: readonly ExistingRef[]): Coroutine<readonly unknown[]> {
    if (refs.length === 0) return []
    const { stored, column, owner, target } = linking
    const unlinked = this.#find('unlinked', linking, () => this.#connection.dialect.writing.unlinked(stored, column))
    const list = this.#statements.encodeKeys(
      refs.map(({ key }) => key),
      target,
    )
    const others = new Set((yield* this.#statements.read(unlinked, [list, owner])).map(String))
    const linked = yield* this.#statements.read(unlinked, [list, null])
    return linked.filter(key => !others.has(String(key)))
  }

  *#mayRemove(resource: Resource, keys: readonly KeyValues[], { writing }: RowRules): Coroutine<void> {
    if (writing === undefined) return
    const removed = keys.map(key => ({ resource, key }))
    yield* writing.remove(removed, this.#connection)
  }

  *#findOthers(linking: PlannedLinking, items: readonly RecordRef[]): Coroutine<readonly unknown[]> {
    const { stored, column, owner, target } = linking
    const others = this.#find('others', linking, () => this.#connection.dialect.writing.others(stored, column))
    return yield* this.#statements.read(others, [owner, this.#listKeys(items, target)])
  }

  *#enterForeign(relation: RelationAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    if (items.length === 0) return
    const linking = this.#findLinking(relation, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const link = owningAttribute(relation)!
    const created = items.flatMap(item => (item.kind === 'new' ? [withLink(item.record, link, key)] : []))
    // Rules need keys, which rows inserted together do not return.
    if (created.every(isOneRow) && this.#rules?.follows(target) !== true) yield* this.insertAll(created)
    else for (const record of created) yield* this.#createNested(record)
    if (!items.some(({ kind }) => kind === 'existing')) return
    if (this.#rules !== undefined) {
      yield* this.#rules.permit(target, 'update')
      for (const item of items) if (item.kind === 'existing') this.#rules.touch(target, item.key, 'linked')
    }
    const members = this.#listKeys(items, target)
    const unlinked = this.#find('unlinked', linking, () => writing.unlinked(stored, column))
    const rules = this.#rules?.writing
    if (rules?.govern(target) === true)
      yield* rules.change(target, toKeys(yield* this.#statements.read(unlinked, [members, owner]), target))
    if (planRows(target)!.touched.length === 0) {
      yield* wait(
        this.#statements.run(
          this.#find('link', linking, () => writing.link(stored, column)),
          [owner, members, owner],
        ),
      )
      return
    }
    yield* this.#setEach(yield* this.#statements.read(unlinked, [members, owner]), linking, owner)
  }

  /** Functions of the model are called for each row. */
  *#setEach(keys: readonly unknown[], { stored, column, target }: PlannedLinking, value: unknown): Coroutine<void> {
    const { touched } = planRows(target)!
    for (const key of keys) {
      const columns = addTouched({ columns: [column], parameters: [value] }, touched, this.#connection, this.#values)
      if (columns === undefined) throw new Unplanned()
      const { statement, parameters } = bindUpdate(columns, stored, [key], this.#connection, false)
      yield* wait(this.#statements.run(statement, parameters))
    }
  }

  #findLinking(relation: RelationAttribute, resource: Resource, key: KeyValues): PlannedLinking {
    const { target } = relation
    const { stored } = planRows(target)!
    const column = stored.properties.get(owningAttribute(relation)!.property)!.columns[0]!
    return { stored, target, column, owner: this.#statements.toParameter(key, resource) }
  }

  #find(kind: string, { stored, column }: PlannedLinking, compile: () => Statement): Statement {
    return findStatement(kind, stored, [column], compile)
  }

  #listKeys(items: readonly RecordRef[], target: Resource): unknown {
    return this.#statements.encodeKeys(
      items.flatMap(item => (item.kind === 'existing' ? [item.key] : [])),
      target,
    )
  }
}

function toItem(key: KeyValues): RecordRef {
  return { kind: 'existing', key, path: '', given: undefined }
}
