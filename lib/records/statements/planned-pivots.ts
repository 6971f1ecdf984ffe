/** Writes the pivot rows of a many-to-many list by a fixed number of statements. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import type { PivotTable } from '../../model/stored-table.ts'
import type { Statement } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { Visibility } from '../plan/visibility.ts'
import { bindScope } from './bind-write.ts'
import { toKeys, type LinkStatements } from './link-statements.ts'
import type { RowRules } from './row-rules.ts'
import { ScopedStatements } from '../validate/scoped-statements.ts'
import { isHeldByOtherRows } from '../validate/write-rules.ts'

interface PivotPlace {
  readonly list: ToManyAttribute
  readonly resource: Resource
  readonly key: KeyValues
}

interface BoundMembers {
  readonly owner: unknown
  readonly members: ReadonlySet<unknown>
  readonly list: unknown
}

export class PlannedPivots {
  readonly #connection: ReadingConnection
  readonly #statements: LinkStatements
  readonly #rules: RowRules | undefined

  constructor(connection: ReadingConnection, statements: LinkStatements, rules: RowRules | undefined) {
    this.#connection = connection
    this.#statements = statements
    this.#rules = rules
  }

  *replace(place: PivotPlace, keys: readonly KeyValues[], isNew: boolean): Coroutine<void> {
    const { target } = place.list
    const hides = !isNew && this.#rules?.hides(target) === true
    // The statement itself leaves hidden members, if nothing else depends on the members.
    const leavesHidden = hides && !this.#haveRules(place) && findOrder(place.list) === undefined && !this.#connection.mayHoldMisfits
    const unseen = hides && !leavesHidden ? yield* this.#findUnseen(place, keys, this.#rules) : []
    if (this.#haveRules(place)) {
      const before = isNew ? [] : toKeys(yield* this.#readMembers(place), target)
      yield* this.#rules!.writing!.requireWritable(target, findMoved(before, [...keys, ...unseen]))
    }
    const given = this.#bind(place, keys)
    const stays = unseen.length === 0 ? given : this.#bind(place, [...keys, ...unseen])
    if (leavesHidden) yield* this.#leaveSeen(place, given, this.#rules)
    else if (!isNew && !(yield* this.#leave(place, stays))) return
    if (keys.length > 0) yield* this.#enter(place, given)
  }

  *change(place: PivotPlace, keys: readonly KeyValues[], removed: readonly KeyValues[]): Coroutine<void> {
    const { list, resource, key } = place
    const { target } = list
    const unseen = this.#rules === undefined ? [] : yield* this.#rules.findUnseen(target, removed)
    const leaving = removed.filter(each => !unseen.includes(each))
    const isOrdered = findOrder(list) !== undefined
    if (isOrdered || this.#haveRules(place)) {
      const members = toKeys(yield* this.#readMembers(place), target)
      const gone = new Set(leaving.map(formatKey))
      const there = new Set(members.map(formatKey))
      const after = [...members.filter(each => !gone.has(formatKey(each))), ...keys.filter(each => !there.has(formatKey(each)))]
      // As the unit of work does.
      if (isOrdered) return yield* this.replace(place, after, false)
      yield* this.#rules!.writing!.requireWritable(target, findMoved(members, after))
    }
    if (leaving.length > 0) {
      const take = this.#find(place, 'take', pivot => this.#connection.dialect.writing.take(pivot))
      const owner = this.#statements.toParameter(key, resource)
      yield* wait(this.#statements.run(take, [owner, this.#statements.encodeKeys(leaving, target)]))
    }
    yield* this.enter(place, keys)
  }

  *enter(place: PivotPlace, keys: readonly KeyValues[]): Coroutine<void> {
    if (keys.length > 0) yield* this.#enter(place, this.#bind(place, keys))
  }

  *#enter(place: PivotPlace, { owner, list }: BoundMembers): Coroutine<void> {
    const enter = this.#find(place, 'enter', pivot => this.#connection.dialect.writing.enter(pivot))
    yield* wait(this.#statements.run(enter, [owner, list, owner]))
  }

  #bind({ list: { target }, resource, key }: PivotPlace, keys: readonly KeyValues[]): BoundMembers {
    const members = new Set(keys.map(each => this.#statements.toParameter(each, target)))
    const list = this.#connection.dialect.encodeList([...members], target.key[0]!.type)
    return { owner: this.#statements.toParameter(key, resource), members, list }
  }

  #haveRules({ list }: PivotPlace): boolean {
    return isHeldByOtherRows(list) && this.#rules?.writing?.hasRules(list.target) === true
  }

  /** The caller cannot take out hidden members. */
  *#findUnseen(place: PivotPlace, keys: readonly KeyValues[], rules: RowRules): Coroutine<readonly KeyValues[]> {
    const { target } = place.list
    const members = yield* this.#readMembers(place)
    const given = new Set(keys.map(each => String(this.#statements.toParameter(each, target))))
    const others = members.filter(member => !given.has(String(member)))
    return yield* rules.findUnseen(target, toKeys(others, target))
  }

  *#readMembers(place: PivotPlace): Coroutine<readonly unknown[]> {
    const members = this.#find(place, 'members', pivot => this.#connection.dialect.writing.members(pivot))
    return yield* this.#statements.read(members, [this.#statements.toParameter(place.key, place.resource)])
  }

  /** Empties an ordered list, if a member comes in or moves; else deletes rows of leaving members. False: nothing to insert. */
  *#leave(place: PivotPlace, { owner, members, list }: BoundMembers): Coroutine<boolean> {
    const leave = this.#find(place, 'leave', pivot => this.#connection.dialect.writing.leave(pivot))
    if (findOrder(place.list) !== undefined) {
      const before = (yield* this.#readMembers(place)).map(String)
      const after = new Set([...members].map(String))
      const kept = before.filter(member => after.has(member))
      if ([...after].some((member, index) => member !== kept[index])) {
        yield* wait(this.#statements.run(leave, [owner, this.#bind(place, []).list]))
        return true
      }
    }
    yield* wait(this.#statements.run(leave, [owner, list]))
    return members.size > 0
  }

  *#leaveSeen({ list, resource, key }: PivotPlace, { owner, list: listed }: BoundMembers, { visibility }: RowRules): Coroutine<void> {
    const { dialect } = this.#connection
    const { target } = list
    let known = scopedLeaves.get(list)
    if (known === undefined) scopedLeaves.set(list, (known = new ScopedStatements()))
    const compile = ({ scopeOf }: Visibility): Statement =>
      dialect.writing.leave(this.#findPivot({ list, resource, key }), { resource: target, scopeOf })
    const leave = yield* wait(known.find(target, visibility, compile))
    yield* wait(this.#statements.run(leave, [owner, listed, ...bindScope(leave, 2, visibility, dialect)]))
  }

  #findPivot({ list, resource }: PivotPlace): PivotTable {
    const { via, target } = list
    const { table, ownerColumns, targetColumns } = via as ToManyAttribute['via'] & { kind: 'pivot' }
    const { mayHoldMisfits } = this.#connection
    const stored = mayHoldMisfits ? target.readStored() : undefined
    return {
      table,
      owner: ownerColumns[0]!,
      ownerType: resource.key[0]!.type,
      member: targetColumns[0]!,
      memberType: target.key[0]!.type,
      order: findOrder(list),
      members: stored === undefined ? undefined : { table: stored.table, key: stored.key[0]!.column },
    }
  }

  #find(place: PivotPlace, kind: string, compile: (pivot: PivotTable) => Statement): Statement {
    const { list } = place
    let known = statements.get(list)
    if (known === undefined) statements.set(list, (known = new Map()))
    let statement = known.get(kind)
    if (statement === undefined) known.set(kind, (statement = compile(this.#findPivot(place))))
    return statement
  }
}

export function hidesMembers({ target }: ToManyAttribute): boolean {
  return target.rules.scopes.length > 0
}

/** The other side has no order: rows put in again would move in owners' lists. */
export function findOrder({ via }: ToManyAttribute): string | undefined {
  return via.kind === 'pivot' && via.owner ? via.orderColumn : undefined
}

const statements = new WeakMap<ToManyAttribute, Map<string, Statement>>()

const scopedLeaves = new WeakMap<ToManyAttribute, ScopedStatements<Statement>>()

function findMoved(before: readonly KeyValues[], after: readonly KeyValues[]): readonly KeyValues[] {
  const [old, now] = [before, after].map(keys => new Set(keys.map(formatKey)))
  return [...before.filter(key => !now!.has(formatKey(key))), ...after.filter(key => !old!.has(formatKey(key)))]
}
