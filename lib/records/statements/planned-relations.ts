/** Writes nested records, and the links of lists. Rows share statements, unless a function of the model (`onUpdate`) gives each a value. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Statement } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { compareKeys, type KeyValues } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToManyAttribute } from '../../model/model.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import { addTouched, bindDeleteAll, bindUpdate, findStatement } from './bind-write.ts'
import { LinkStatements, toKeys } from './link-statements.ts'
import { NewRecords } from './new-rows.ts'
import { planRows } from './plan-rows.ts'
import { PlannedPivots } from './planned-pivots.ts'
import { owningAttribute } from '../validate/relation-sides.ts'
import { withLink, type ExistingRef, type LinkInput, type ListInput, type RecordInput, type RecordRef } from '../validate/record-input.ts'
import type { RowRules } from './row-rules.ts'
import type { Reader } from '../read/reader.ts'
import { leftWithout } from '../validate/referrers.ts'

interface PlannedLinking {
  readonly stored: StoredTable
  readonly target: Resource
  readonly column: StoredColumn
  readonly owner: unknown
}

export class PlannedRelations {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #rules: RowRules | undefined
  readonly #statements: LinkStatements
  readonly #pivots: PlannedPivots

  /** @param rules undefined: the caller may do everything */
  constructor(connection: Connection, reader: Reader, rules?: RowRules) {
    this.#connection = connection
    this.#reader = reader
    this.#rules = rules
    this.#statements = new LinkStatements(connection)
    this.#pivots = new PlannedPivots(connection, this.#statements, rules)
  }

  *create(change: RecordInput): Coroutine<KeyValues> {
    const [key] = yield* this.#insert([change], false)
    return key!
  }

  /** Inserts new records linked by the row. Returns the change with their keys, without links in other rows. */
  *createLinked(change: RecordInput): Coroutine<RecordInput> {
    const owned = change.links.filter(({ attribute }) => attribute.owner)
    const created = owned.flatMap(({ link }) => (link?.kind === 'new' ? [link.record] : []))
    const keys = yield* this.#insert(created)
    const links = owned.map((input): LinkInput => {
      if (input.link?.kind !== 'new') return input
      const { record } = input.link
      return { ...input, link: { kind: 'existing', key: keys[created.indexOf(record)]!, path: record.path, given: undefined } }
    })
    return { ...change, links, lists: [] }
  }

  /** @param isMember false for the record of the answer: the rules then follow only the records nested inside */
  *#insert(changes: readonly RecordInput[], isMember = true): Coroutine<readonly KeyValues[]> {
    if (changes.length === 0) return []
    const created = new NewRecords(this.#connection)
    const rows = changes.map(change => created.add(change))
    created.arrange()
    yield* created.insert()
    if (this.#rules !== undefined) {
      for (const row of created.rows) if (isMember || !rows.includes(row)) this.#rules.touch(row.resource, created.keyOf(row), 'made')
    }
    for (const { relation, owner, members } of created.lists) {
      const { resource } = owner
      const key = created.keyOf(owner)
      if (members.includes(owner)) this.#rules?.writing?.addNew(resource, key)
      if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
        const keys = members.map(member => created.keyOf(member))
        yield* this.#pivots.replace({ list: relation, resource, key }, keys, true)
      } else {
        const others = members.filter(member => member !== owner)
        yield* this.#join(
          relation,
          others.map(member => created.keyOf(member)),
          resource,
          key,
        )
      }
    }
    return rows.map(row => created.keyOf(row))
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

  *#findKeys(items: readonly RecordRef[]): Coroutine<readonly KeyValues[]> {
    const keys = [...(yield* this.#insert(items.flatMap(item => (item.kind === 'new' ? [item.record] : []))))]
    return items.map(item => (item.kind === 'new' ? keys.shift()! : item.key))
  }

  /** Refuses, before any write, lists without members in need of the link. */
  *requireNeeded(lists: readonly ListInput[], resource: Resource, key: KeyValues): Coroutine<void> {
    for (const { attribute, items, removed, path } of lists) {
      const { target, via, orphanRemoval } = attribute
      const other = owningAttribute(attribute)
      if (via.kind !== 'foreign' || orphanRemoval || other!.nullable) continue
      const linking = this.#findLinking(attribute, resource, key)
      const left =
        removed === undefined ? toKeys(yield* this.#findOthers(linking, items), target) : yield* this.#findLinked(linking, removed)
      // Databases order otherwise.
      const keys = left.toSorted(compareKeys)
      const unseen = this.#rules === undefined ? [] : yield* this.#rules.findUnseen(target, keys)
      const needing = keys.find(each => !unseen.includes(each))
      if (needing === undefined) continue
      if (this.#rules !== undefined) yield* this.#rules.permit(target, 'update')
      throw leftWithout(other!, target, (yield* wait(this.#reader.asStored.id(target, needing))) ?? needing, path)
    }
  }

  /** Former members leave first: new ones may take over a unique value. */
  *#replaceForeign(list: ToManyAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const linking = this.#findLinking(list, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const stays = this.#rules === undefined ? items : yield* this.#keepUnseen(linking, items, list, this.#rules)
    const kept = this.#statements.encodeKeys(listKeys(stays), target)
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

  /** Hidden members stay. Refuses to take out others without permission. */
  *#keepUnseen(
    linking: PlannedLinking,
    items: readonly RecordRef[],
    list: ToManyAttribute,
    rules: RowRules,
  ): Coroutine<readonly RecordRef[]> {
    const { target } = linking
    const others = toKeys(yield* this.#findOthers(linking, items), target)
    if (others.length === 0) return items
    const unseen = yield* rules.findUnseen(target, others)
    const leaving = others.filter(key => !unseen.includes(key))
    if (leaving.length > 0) yield* rules.permit(target, list.orphanRemoval ? 'delete' : 'update')
    if (list.orphanRemoval) yield* this.#requireRemovable(target, leaving, rules)
    else if (rules.writing !== undefined) yield* rules.writing.requireWritable(target, leaving)
    if (!list.orphanRemoval) for (const key of leaving) rules.touch(target, key, 'linked')
    return [...items, ...unseen.map((key): RecordRef => ({ kind: 'existing', key, path: '', given: undefined }))]
  }

  *#unlink(list: ToManyAttribute, removed: readonly ExistingRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const linking = this.#findLinking(list, resource, key)
    const { stored, column, target } = linking
    const linked = yield* this.#findLinked(linking, removed)
    const unseen = this.#rules === undefined ? [] : yield* this.#rules.findUnseen(target, linked)
    const leaving = linked.filter(each => !unseen.includes(each))
    if (leaving.length === 0) return
    if (this.#rules !== undefined) {
      yield* this.#rules.permit(target, list.orphanRemoval ? 'delete' : 'update')
      if (list.orphanRemoval) yield* this.#requireRemovable(target, leaving, this.#rules)
      else if (this.#rules.writing !== undefined) yield* this.#rules.writing.requireWritable(target, leaving)
    }
    if (list.orphanRemoval) {
      for (const { statement, parameters } of bindDeleteAll(stored, leaving, target, this.#connection))
        yield* wait(this.#statements.run(statement, parameters))
      return
    }
    const parameters = leaving.map(each => this.#statements.toParameter(each, target))
    if (planRows(target)!.touched.length > 0) yield* this.#setEach(parameters, linking, null)
    else {
      const link = this.#find('link', linking, () => this.#connection.dialect.writing.link(stored, column))
      yield* wait(this.#statements.run(link, [null, this.#statements.encodeKeys(leaving, target), null]))
    }
    for (const each of leaving) this.#rules?.touch(target, each, 'linked')
  }

  *#findLinked(linking: PlannedLinking, refs: readonly ExistingRef[]): Coroutine<readonly KeyValues[]> {
    if (refs.length === 0) return []
    const { stored, column, owner, target } = linking
    const unlinked = this.#find('unlinked', linking, () => this.#connection.dialect.writing.unlinked(stored, column))
    const list = this.#statements.encodeKeys(
      refs.map(({ key }) => key),
      target,
    )
    const others = new Set((yield* this.#statements.read(unlinked, [list, owner])).map(String))
    const linked = yield* this.#statements.read(unlinked, [list, null])
    return toKeys(
      linked.filter(key => !others.has(String(key))),
      target,
    )
  }

  *#requireRemovable(resource: Resource, keys: readonly KeyValues[], { writing }: RowRules): Coroutine<void> {
    if (writing === undefined) return
    const removed = keys.map(key => ({ resource, key }))
    yield* writing.requireRemovable(removed, this.#connection)
  }

  *#findOthers(linking: PlannedLinking, items: readonly RecordRef[]): Coroutine<readonly unknown[]> {
    const { stored, column, owner, target } = linking
    const others = this.#find('others', linking, () => this.#connection.dialect.writing.others(stored, column))
    return yield* this.#statements.read(others, [owner, this.#statements.encodeKeys(listKeys(items), target)])
  }

  *#enterForeign(list: ToManyAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const link = owningAttribute(list)!
    yield* this.#insert(items.flatMap(item => (item.kind === 'new' ? [withLink(item.record, link, key)] : [])))
    yield* this.#join(list, listKeys(items), resource, key)
  }

  /** Links stored records by their foreign key. */
  *#join(relation: RelationAttribute, keys: readonly KeyValues[], resource: Resource, key: KeyValues): Coroutine<void> {
    if (keys.length === 0) return
    const linking = this.#findLinking(relation, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const members = this.#statements.encodeKeys(keys, target)
    const unlinked = this.#find('unlinked', linking, () => writing.unlinked(stored, column))
    if (this.#rules !== undefined) {
      // Members already linked need no permission.
      const isPermitted = yield* wait(this.#rules.permits(target, 'update'))
      if (!isPermitted && (yield* this.#statements.read(unlinked, [members, owner])).length > 0) yield* this.#rules.permit(target, 'update')
      for (const each of keys) this.#rules.touch(target, each, 'linked')
    }
    const rules = this.#rules?.writing
    if (rules?.hasRules(target) === true)
      yield* rules.requireWritable(target, toKeys(yield* this.#statements.read(unlinked, [members, owner]), target))
    if (planRows(target)!.touched.length > 0) {
      yield* this.#setEach(yield* this.#statements.read(unlinked, [members, owner]), linking, owner)
      return
    }
    const link = this.#find('link', linking, () => writing.link(stored, column))
    yield* wait(this.#statements.run(link, [owner, members, owner]))
  }

  *#setEach(keys: readonly unknown[], { stored, column, target }: PlannedLinking, value: unknown): Coroutine<void> {
    const { touched } = planRows(target)!
    for (const key of keys) {
      const columns = addTouched({ columns: [column], parameters: [value] }, touched, this.#connection)
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
}

function listKeys(items: readonly RecordRef[]): readonly KeyValues[] {
  return items.flatMap(item => (item.kind === 'existing' ? [item.key] : []))
}
