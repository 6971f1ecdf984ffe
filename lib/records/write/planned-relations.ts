/**
 * Planned relations: writes by statements what a body says of other records than its own: records nested in it, and the links of its lists. Members of a list
 * are written together: the number of statements does not grow with their number, apart from new records and from those for which functions of the model give
 * values. Whatever the database refuses is left to the unit of work, which finds out why: `Unplanned` takes back all that has been written.
 */
import { wait } from '../../foundation/base/awaitable.ts'
import type { Awaitable, Coroutine } from '../../foundation/base/awaitable.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { Connection, RowsWritten, Statement } from '../database/dialect.ts'
import { keyFromCount, keyFromText } from '../../model/key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToManyAttribute } from '../../model/model.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import { addTouched, bindInsert, bindKey, bindRows, bindUpdate, countTogether, findStatement } from './bind-write.ts'
import type { BoundInsert } from './bind-write.ts'
import type { MadeValues } from './made-values.ts'
import { planRows } from './plan-rows.ts'
import { owningAttribute } from './relation-sides.ts'
import { isOneRow, withLink } from './record-input.ts'
import type { LinkInput, ListInput, RecordInput, RecordRef } from './record-input.ts'
import type { RowRules } from './row-rules.ts'
import { Unplanned } from './unplanned.ts'
import { formatKey, isHeldByOthers } from './write-rules.ts'

/** A column of a table by which its rows link the record, and the parameter for that. */
interface Linking {
  readonly stored: StoredTable
  readonly target: Resource
  readonly column: StoredColumn
  readonly owner: unknown
}

export class PlannedRelations {
  readonly #connection: Connection
  readonly #values: MadeValues
  readonly #rules: RowRules | undefined

  /** @param rules what the caller may do, where that is not everything */
  constructor(connection: Connection, values: MadeValues, rules?: RowRules) {
    this.#connection = connection
    this.#values = values
    this.#rules = rules
  }

  /** Creates a record, with all that is nested in it and all links of it; returns its key. */
  *create(change: RecordInput): Coroutine<KeyValues> {
    const own = yield* this.createLinked(change)
    const key = yield* this.insert(own)
    for (const { attribute, link } of change.links) {
      if (!attribute.owner && link !== null) yield* this.#enterForeign(attribute, [link], change.resource, key)
    }
    for (const { attribute, items } of change.lists) {
      if (attribute.via.kind === 'foreign') yield* this.#enterForeign(attribute, items, change.resource, key)
      else yield* this.#replacePivot(attribute, items, change.resource, key, true)
    }
    return key
  }

  /** Creates the records that a record links by its own foreign keys; returns its change with their keys, and without what other rows hold. */
  *createLinked(change: RecordInput): Coroutine<RecordInput> {
    const links: LinkInput[] = []
    for (const input of change.links) {
      if (!input.attribute.owner) continue
      links.push(input.link?.kind === 'new' ? { ...input, link: yield* this.#resolve(input.link) } : input)
    }
    return { ...change, links, lists: [] }
  }

  /** Replaces the members of lists of a record that is there. */
  *replace(lists: readonly ListInput[], resource: Resource, key: KeyValues): Coroutine<void> {
    for (const { attribute, items } of lists) {
      if (attribute.via.kind === 'foreign') yield* this.#replaceForeign(attribute, items, resource, key)
      else yield* this.#replacePivot(attribute, items, resource, key, false)
    }
  }

  /** Whether lists leave out members that need their link, which is refused. To be asked before anything is written. */
  *areRefused(lists: readonly ListInput[], resource: Resource, key: KeyValues): Coroutine<boolean> {
    for (const { attribute, items } of lists) {
      if (attribute.via.kind !== 'foreign' || attribute.orphanRemoval || owningAttribute(attribute)!.nullable) continue
      if ((yield* this.#findOthers(this.#findLinking(attribute, resource, key), items)).length > 0) return true
    }
    return false
  }

  /** Inserts the row of a record that links none but records that are there; returns its key. */
  *insert(change: RecordInput): Coroutine<KeyValues> {
    const { resource } = change
    const { stored } = planRows(resource)!
    const bound = bindInsert(change, stored, this.#connection, this.#values)
    if (bound === undefined) throw new Unplanned()
    const { rows, counted } = yield* wait(this.#run(bound.statement, bound.parameters))
    // A trigger of the file has ignored it.
    if (rows === 0) throw new Unplanned()
    return bound.key ?? keyFromCount(counted, resource)
  }

  /** Inserts the rows of records that link none but records that are there: neighbours with the same columns by one statement. */
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
      const { rows, counted } = yield* wait(this.#run(bound.statement, bound.parameters))
      // A trigger of the file has ignored one.
      if (rows < count) throw new Unplanned()
      // Refuses keys out of range: the last one is the highest.
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

  /** Replaces the members that link the record by their own foreign key. Those before are written first: the new ones may take over a unique value. */
  *#replaceForeign(list: ToManyAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    const linking = this.#findLinking(list, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const stays = this.#rules === undefined ? items : yield* this.#keepUnseen(linking, items, list, this.#rules)
    const kept = this.#listKeys(stays, target)
    if (list.orphanRemoval) {
      yield* wait(
        this.#run(
          this.#find('deleteOthers', linking, () => writing.deleteOthers(stored, column)),
          [owner, kept],
        ),
      )
    } else if (planRows(target)!.touched.length > 0) {
      yield* this.#setEach(yield* this.#findOthers(linking, stays), linking, null)
    } else if (owningAttribute(list)!.nullable) {
      yield* wait(
        this.#run(
          this.#find('unlink', linking, () => writing.unlink(stored, column)),
          [owner, kept],
        ),
      )
    }
    yield* this.#enterForeign(list, items, resource, key)
  }

  /** Returns the items with the members that do not exist for the caller, which stay; refuses to take out others where the caller may not. */
  *#keepUnseen(linking: Linking, items: readonly RecordRef[], list: ToManyAttribute, rules: RowRules): Coroutine<readonly RecordRef[]> {
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

  *#mayRemove(resource: Resource, keys: readonly KeyValues[], { writing }: RowRules): Coroutine<void> {
    if (writing === undefined) return
    const removed = keys.map(key => ({ resource, key }))
    yield* writing.remove(removed, this.#connection)
  }

  /** Reads the keys of the records that link the record by their own foreign key and are not among the items. */
  *#findOthers(linking: Linking, items: readonly RecordRef[]): Coroutine<readonly unknown[]> {
    const { stored, column, owner, target } = linking
    const others = this.#find('others', linking, () => this.#connection.dialect.writing.others(stored, column))
    return yield* this.#read(others, [owner, this.#listKeys(items, target)])
  }

  /** Links records by their own foreign key to the record: members of a list, or the other side of a one-to-one. */
  *#enterForeign(relation: RelationAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues): Coroutine<void> {
    if (items.length === 0) return
    const linking = this.#findLinking(relation, resource, key)
    const { stored, column, owner, target } = linking
    const { writing } = this.#connection.dialect
    const link = owningAttribute(relation)!
    const created = items.flatMap(item => (item.kind === 'new' ? [withLink(item.record, link, key)] : []))
    // Rows that are inserted together do not say their keys, by which they are held against the rules.
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
    if (rules?.govern(target) === true) yield* rules.change(target, toKeys(yield* this.#read(unlinked, [members, owner]), target))
    if (planRows(target)!.touched.length === 0) {
      yield* wait(
        this.#run(
          this.#find('link', linking, () => writing.link(stored, column)),
          [owner, members, owner],
        ),
      )
      return
    }
    yield* this.#setEach(yield* this.#read(unlinked, [members, owner]), linking, owner)
  }

  /** Sets the link of rows one by one: functions of the model are called for each of them. */
  *#setEach(keys: readonly unknown[], { stored, column, target }: Linking, value: unknown): Coroutine<void> {
    const { touched } = planRows(target)!
    for (const key of keys) {
      const columns = addTouched({ columns: [column], parameters: [value] }, touched, this.#connection, this.#values)
      if (columns === undefined) throw new Unplanned()
      const { statement, parameters } = bindUpdate(columns, stored, [key], this.#connection, false)
      yield* wait(this.#run(statement, parameters))
    }
  }

  /** Replaces the members of a many-to-many list. */
  *#replacePivot(list: ToManyAttribute, items: readonly RecordRef[], resource: Resource, key: KeyValues, isNew: boolean): Coroutine<void> {
    const keys: KeyValues[] = []
    for (const item of items) keys.push(item.kind === 'existing' ? item.key : yield* this.#createNested(item.record))
    const unseen = isNew || this.#rules?.hides(list.target) !== true ? [] : yield* this.#findUnseen(list, keys, resource, key, this.#rules)
    if (isHeldByOthers(list) && this.#rules?.writing?.govern(list.target) === true) {
      const before = isNew ? [] : toKeys(yield* this.#readMembers(list, resource, key), list.target)
      yield* this.#rules.writing.change(list.target, findMoved(before, [...keys, ...unseen]))
    }
    if (!isNew && !(yield* this.#leavePivot(list, [...keys, ...unseen], resource, key))) return
    yield* this.enterPivot(list, keys, resource, key)
  }

  /** Returns the keys of the members of a many-to-many list that do not exist for the caller, who cannot take them out. */
  *#findUnseen(
    list: ToManyAttribute,
    keys: readonly KeyValues[],
    resource: Resource,
    key: KeyValues,
    rules: RowRules,
  ): Coroutine<readonly KeyValues[]> {
    const members = yield* this.#readMembers(list, resource, key)
    const given = new Set(keys.map(each => String(this.#toParameter(each, list.target))))
    const others = members.filter(member => !given.has(String(member)))
    const unseen = yield* rules.findUnseen(list.target, toKeys(others, list.target))
    // The unit of work has an order of its own for what the caller is not shown.
    if (unseen.length > 0 && this.#findPivot(list, resource).order !== undefined) throw new Unplanned()
    return unseen
  }

  *#readMembers(list: ToManyAttribute, resource: Resource, key: KeyValues): Coroutine<readonly unknown[]> {
    const { writing } = this.#connection.dialect
    const members = findPivotStatement(list, 'members', () => writing.members(this.#findPivot(list, resource)))
    return yield* this.#read(members, [this.#toParameter(key, resource)])
  }

  /** Takes out of a many-to-many list what does not stay in it: in an ordered one all, unless nothing comes in or moves; returns whether anything may be put in. */
  *#leavePivot(list: ToManyAttribute, keys: readonly KeyValues[], resource: Resource, key: KeyValues): Coroutine<boolean> {
    const { writing } = this.#connection.dialect
    const pivot = this.#findPivot(list, resource)
    const owner = this.#toParameter(key, resource)
    const leave = findPivotStatement(list, 'leave', () => writing.leave(pivot))
    if (pivot.order !== undefined) {
      const before = (yield* this.#readMembers(list, resource, key)).map(String)
      const after = new Set(keys.map(each => String(this.#toParameter(each, list.target))))
      const kept = before.filter(member => after.has(member))
      if ([...after].some((member, index) => member !== kept[index])) {
        yield* wait(this.#run(leave, [owner, this.#connection.dialect.encodeList([], list.target.key[0]!.type)]))
        return true
      }
    }
    yield* wait(this.#run(leave, [owner, this.#encodeKeys(keys, list.target)]))
    return keys.length > 0
  }

  /** Appends records to a many-to-many list, apart from those that are in it. */
  *enterPivot(list: ToManyAttribute, keys: readonly KeyValues[], resource: Resource, key: KeyValues): Coroutine<void> {
    if (keys.length === 0) return
    const { writing } = this.#connection.dialect
    const owner = this.#toParameter(key, resource)
    const enter = findPivotStatement(list, 'enter', () => writing.enter(this.#findPivot(list, resource)))
    yield* wait(this.#run(enter, [owner, this.#encodeKeys(keys, list.target), owner]))
  }

  #findLinking(relation: RelationAttribute, resource: Resource, key: KeyValues): Linking {
    const { target } = relation
    const { stored } = planRows(target)!
    const column = stored.properties.get(owningAttribute(relation)!.property)!.columns[0]!
    return { stored, target, column, owner: this.#toParameter(key, resource) }
  }

  #findPivot({ via, target }: ToManyAttribute, resource: Resource): PivotTable {
    const { table, ownerColumns, targetColumns, orderColumn, owner } = via as ToManyAttribute['via'] & { kind: 'pivot' }
    const { mayHoldMisfits } = this.#connection
    const stored = mayHoldMisfits ? target.readStored() : undefined
    return {
      table,
      owner: ownerColumns[0]!,
      ownerType: resource.key[0]!.type,
      member: targetColumns[0]!,
      memberType: target.key[0]!.type,
      // Seen from its other side the list has no order: rows that were put in again would move in the lists of the owners.
      order: owner ? orderColumn : undefined,
      members: stored === undefined ? undefined : { table: stored.table, key: stored.key[0]!.column },
    }
  }

  #find(kind: string, { stored, column }: Linking, compile: () => Statement): Statement {
    return findStatement(kind, stored, [column], compile)
  }

  #toParameter(key: KeyValues, resource: Resource): unknown {
    const [parameter] = bindKey(key, resource, resource.readStored()!, this.#connection)
    if (parameter === undefined) throw new Unplanned()
    return parameter
  }

  #listKeys(items: readonly RecordRef[], target: Resource): unknown {
    return this.#encodeKeys(
      items.flatMap(item => (item.kind === 'existing' ? [item.key] : [])),
      target,
    )
  }

  /** Returns the parameter for a list of keys, each once. */
  #encodeKeys(keys: readonly KeyValues[], target: Resource): unknown {
    const distinct = new Set(keys.map(key => this.#toParameter(key, target)))
    return this.#connection.dialect.encodeList([...distinct], target.key[0]!.type)
  }

  *#read(statement: Statement, parameters: readonly unknown[]): Coroutine<readonly unknown[]> {
    const rows = yield* wait(
      this.#connection.read(function* () {
        const [found] = yield [{ statement, parameters }]
        return found!
      }),
    )
    return rows.map(([value]) => value)
  }

  #run(statement: Statement, parameters: readonly unknown[]): Awaitable<RowsWritten> {
    try {
      const running = this.#connection.run(statement, parameters)
      return running instanceof Promise ? running.catch((error: unknown) => this.#refuse(error)) : running
    } catch (error) {
      return this.#refuse(error)
    }
  }

  #refuse(error: unknown): never {
    throw this.#connection.dialect.breaksConstraint(error) ? new Unplanned('', { cause: error }) : error
  }
}

/** Returns keys of one part that the database has given as texts. */
function toKeys(texts: readonly unknown[], target: Resource): readonly KeyValues[] {
  return texts.map(text => {
    const key = keyFromText(String(text), target)
    // A file of others may hold a key of another type.
    if (key === undefined) throw new Unplanned()
    return key
  })
}

/** Returns the keys that are in one of two lists alone. */
function findMoved(before: readonly KeyValues[], after: readonly KeyValues[]): readonly KeyValues[] {
  const [old, now] = [before, after].map(keys => new Set(keys.map(formatKey)))
  return [...before.filter(key => !now!.has(formatKey(key))), ...after.filter(key => !old!.has(formatKey(key)))]
}

function toItem(key: KeyValues): RecordRef {
  return { kind: 'existing', key, path: '', given: undefined }
}

const pivotStatements = new WeakMap<ToManyAttribute, Map<string, Statement>>()

function findPivotStatement(list: ToManyAttribute, kind: string, compile: () => Statement): Statement {
  let known = pivotStatements.get(list)
  if (known === undefined) pivotStatements.set(list, (known = new Map()))
  let statement = known.get(kind)
  if (statement === undefined) known.set(kind, (statement = compile()))
  return statement
}
