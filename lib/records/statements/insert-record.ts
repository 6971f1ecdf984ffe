/**
 * Inserts records by statements of the engine: `POST /v1/users`. Flat: a row of plain values and links, by a kept shape, without
 * validation; body: the rest, validated first.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { formatKey, keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import { linkColumns, type StoredTable } from '../../model/stored-table.ts'
import type { BehindWrite, Connection } from '../database/connection.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { refuseNew, requireLists, statementDropped } from '../validate/dropped-writes.ts'
import type { VersionReader } from '../validate/read-version.ts'
import { findAskedClass } from '../validate/record-class.ts'
import { withLink, type RecordInput } from '../validate/record-input.ts'
import { implyOwner, owningAttribute } from '../validate/relation-sides.ts'
import type { ChangeValidator, GivenBody } from '../validate/validate-change.ts'
import type { Validation } from '../validate/validate-record.ts'
import { isHeldByOtherRows, WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { bindInsert, type BoundInsert } from './bind-write.ts'
import { bindRows, insertRows } from './insert-rows.ts'
import { isLinkedByShown, replaceLink, resolveLink, withRowKeys } from './link-rows.ts'
import { planMember, planNew, writesPivots, type BodyPlan } from './plan-body.ts'
import { planRows } from './plan-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import { PlannedRelations } from './planned-relations.ts'
import { RowRules } from './row-rules.ts'
import type { RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, forgetMade, hasNames, type RowShapes } from './row-shapes.ts'

const CREATE: Validation = { mode: 'create' }

/** The list in the path: `POST /v1/users/1/posts`. */
interface OwnList {
  readonly owner: RecordAddress
  readonly list: ToManyAttribute
  /** Undefined for a pivot table. */
  readonly link: ToOneAttribute | undefined
}

interface NewRecord {
  readonly stored: StoredTable
  readonly isWide: boolean
  readonly given: GivenBody
  readonly own: OwnList | undefined
  readonly rules: RowRules | undefined
}

export class RecordInserter {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator
  readonly #versions: VersionReader
  readonly #shapes: RowShapes

  constructor(connection: Connection, reader: Reader, validator: ChangeValidator, versions: VersionReader, shapes: RowShapes) {
    this.#connection = connection
    this.#reader = reader
    this.#validator = validator
    this.#versions = versions
    this.#shapes = shapes
  }

  /** Undefined: the unit of work must insert the record. */
  insert(resource: Resource, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const given: GivenBody = { resource, body, validation: CREATE, view, id: undefined }
    const shape = this.#shapes.find(resource, body, 'insert')
    if (shape?.callsEarly === false) return { given, run: again => this.#insertFlat(shape, body, again ? { ...given, again } : given) }
    const recordClass = findAskedClass(resource, body)
    const row = planRows(recordClass)
    const plan = row === null ? undefined : planNew(row, recordClass, body, this.#connection)
    if (row === null || plan === undefined || !writesPivots(plan, this.#connection)) return undefined
    return { given, run: again => this.#insertBody(plan, { stored: row.stored, given: { ...given, again }, own: undefined }) }
  }

  /** Inserts many records by few statements. Undefined, before or while running: the caller creates the records singly. */
  insertAll(resource: Resource, bodies: readonly unknown[], view: View): PlannedWrite<readonly Written[] | undefined> | undefined {
    const [first] = bodies
    if (bodies.length < 2 || !resource.generatedKey || view.visibility !== EVERYTHING || !isObject(first)) return undefined
    const shape = this.#shapes.find(resource, first, 'insert')
    if (shape === undefined || !this.#connection.havePlainLinks(linkColumns(shape.row.stored))) return undefined
    if (!bodies.every(body => isObject(body) && hasNames(body, shape))) return undefined
    return { given: undefined, run: () => this.#insertAll(shape, resource, bodies as readonly JsonObject[], view) }
  }

  *#insertAll(shape: RowShape, resource: Resource, given: readonly JsonObject[], view: View): Coroutine<readonly Written[] | undefined> {
    const bodies = isLinkedByShown(shape.link) ? yield* withRowKeys(shape.link, given, this.#connection) : given
    if (bodies === undefined) return undefined
    const fields = bodies.map(body => bindFields(shape, body))
    if (fields.includes(undefined) || !(yield* this.#linksExist(shape, bodies))) return undefined
    const bound = bodies.map((body, index) =>
      bindNewRow({ shape, resource, body, fields: fields[index]!, member: given[index]! }, this.#connection),
    )
    const keys = yield* insertRows(bound, this.#connection, view.end)
    const records = yield* wait(this.#reader.records(resource, keys, view))
    // A trigger has removed a row.
    if (records.length !== keys.length) throw yield* statementDropped(resource, 'inserted', this.#connection)
    forgetMade(given)
    return records.map((record, index) => ({ resource, key: keys[index]!, record }))
  }

  *#linksExist({ link }: RowShape, bodies: readonly JsonObject[]): Coroutine<boolean> {
    // `withRowKeys` has just found records with shown keys.
    if (link === undefined || link.attribute.target.shownKey !== undefined) return true
    const keys = new Map<string, KeyValues>()
    for (const { [link.name]: value } of bodies) {
      const key = link.readKey(value)
      if (key !== undefined) keys.set(formatKey(key), key)
    }
    if (keys.size === 0) return true
    const found = yield* wait(this.#reader.existing(link.attribute.target, [...keys.values()], EVERYTHING))
    return found !== undefined && [...keys.keys()].every(key => found.has(key))
  }

  append(owner: RecordAddress, list: ToManyAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const { target } = list
    const row = planRows(owner.resource) === null ? null : planRows(target)
    if (row === null) return undefined
    const link = owningAttribute(list)
    const given: GivenBody = { resource: target, body, validation: { ...CREATE, ...implyOwner(list, owner.key) }, view, id: undefined }
    const own: OwnList = { owner, list, link }
    const isPlain = link !== undefined && list.where === undefined && !list.readOnly && list.via.kind === 'foreign'
    if (isPlain && !Object.hasOwn(body, link.name)) {
      const linked = replaceLink(body, link, owner.key)
      const shape = this.#shapes.find(target, linked, 'insert')
      if (shape?.callsEarly === false)
        return { given, run: again => this.#appendFlat(shape, linked, own, again ? { ...given, again } : given) }
    }
    const plan = planMember(owner.resource, list, body, this.#connection)
    if (plan === undefined || !writesPivots(plan, this.#connection)) return undefined
    return {
      given,
      list: link === undefined ? list : undefined,
      run: again => this.#insertBody(plan, { stored: row.stored, given: { ...given, again }, own }),
    }
  }

  *#appendFlat(shape: RowShape, linked: JsonObject, own: OwnList, given: GivenBody): Coroutine<Written> {
    yield* this.#requireOwner(own, given.view, undefined)
    return yield* this.#insertFlat(shape, linked, given, own)
  }

  /** @param body with the link given by the path */
  *#insertFlat(shape: RowShape, body: JsonObject, given: GivenBody, own?: OwnList): Coroutine<Written> {
    const { resource, view } = given
    const before = view.trace?.enter('validate')
    const isUnresolved = body === given.body && shape.link !== undefined
    const linkedBody = isUnresolved ? yield* resolveLink(shape.link, body, view, this.#connection, this.#reader) : body
    const fields = linkedBody && bindFields(shape, linkedBody)
    if (linkedBody === undefined || fields === undefined) {
      const change = yield* this.#validator.validateGiven(given)
      const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
      return yield* this.#insertChange(change, { stored: shape.row.stored, isWide: false, given, own, rules })
    }
    if (before !== undefined) view.trace?.enter(before)
    let writing: WriteRules | undefined
    if (view.visibility !== EVERYTHING) {
      yield* wait(this.#reader.prepare(resource, view))
      writing = WriteRules.of(this.#reader, view)
      if (writing !== undefined) yield* wait(writing.prepare(resource))
    }
    const bound = bindNewRow({ shape, resource, body: linkedBody, fields }, this.#connection)
    const key = yield* this.#insertRow(bound, 'reads', given)
    return yield* this.#answer(key, given, writing)
  }

  *#insertBody(plan: BodyPlan, { stored, given, own }: Pick<NewRecord, 'stored' | 'given' | 'own'>): Coroutine<Written> {
    const { view } = given
    const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
    if (own !== undefined) yield* this.#requireOwner(own, view, rules?.writing)
    // Validate first: a rolled-back insert uses up keys, and write rules must refuse members before any insert.
    const asksFirst = plan.isWide && (this.#connection.dialect.failsWhole || view.visibility.writing !== undefined)
    const uniquesLater = plan.keepsUnique && this.#connection.keepsConstraints && !asksFirst
    const change = yield* this.#validator.validateGiven(given, { uniquesLater })
    return yield* this.#insertChange(change, { stored, isWide: plan.isWide, given, own, rules })
  }

  *#insertChange(valid: RecordInput, { stored, isWide, given, own, rules }: NewRecord): Coroutine<Written> {
    const { resource, view } = given
    yield* wait(this.#reader.prepare(resource, view))
    const change = own?.link === undefined ? valid : withLink(valid, own.link, own.owner.key)
    const relations = new PlannedRelations(this.#connection, this.#reader, rules)
    const isListed = own !== undefined && own.link === undefined
    const key = isWide
      ? yield* relations.create(change)
      : yield* this.#insertRow(bindInsert(change, stored, this.#connection), isListed ? 'writes' : 'reads', given)
    if (isListed) yield* relations.enterPivot(own.list, key, own.owner)
    if (rules !== undefined) yield* rules.confirm()
    const written = yield* this.#answer(key, given, rules?.writing)
    if (change.lists.length > 0)
      yield* requireLists(change.lists, resource, key, view, { connection: this.#connection, reader: this.#reader })
    return written
  }

  *#insertRow(bound: BoundInsert, behind: BehindWrite, { again }: GivenBody): Coroutine<KeyValues> {
    const connection = this.#connection
    const { key, resource, stored, parameters } = bound
    // On PostgreSQL, a guard skips taken values; the second run has no guard, and the database says the error.
    const isGuarded = again !== true
    const { statement } = isGuarded ? bound : bindRows([bound], connection)
    const running = connection.run(statement, parameters, behind)
    const { rows, counted } = running instanceof Promise ? yield* wait(running) : running
    // A trigger may have inserted another row with the given key.
    const isLeftOut = rows === 0 && (key === undefined || (isGuarded && connection.dialect.failsWhole && stored.keepsUnique))
    if (isLeftOut) throw yield* statementDropped(resource, 'inserted', connection, stored.table)
    return key ?? keyFromCount(counted, resource)
  }

  *#requireOwner({ owner, list }: OwnList, view: View, writing: WriteRules | undefined): Coroutine<void> {
    const { resource, key, id } = owner
    if (!(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id)
    if (writing !== undefined && !isHeldByOtherRows(list)) yield* writing.requireWritable(resource, [key])
    yield* this.#versions.read(owner, view, false)
  }

  *#answer(key: KeyValues, { resource, view }: GivenBody, writing: WriteRules | undefined): Coroutine<Written> {
    const reading = this.#reader.record(resource, key, view)
    const record = reading instanceof Promise ? yield* wait(reading) : reading
    if (record === undefined) return yield* refuseNew(resource, key, { connection: this.#connection, reader: this.#reader })
    writing?.addNew(resource, key)
    if (writing !== undefined) yield* writing.confirm()
    return { resource, key, record }
  }
}
