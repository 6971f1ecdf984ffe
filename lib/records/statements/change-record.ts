/**
 * Changes a record by statements of the engine, with nested records and links: `PATCH /v1/users/1`. A body for one row is written by a
 * shape (row-shape.ts); only values unfit for the shape are validated.
 */
import { authorize } from '../access/access-rules.ts'
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { keyToSegment, type KeyValues } from '../../model/key.ts'
import type { Resource, ToOneAttribute } from '../../model/model.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Connection } from '../database/connection.ts'
import type { Reading, ReadingStep, Row, Statement } from '../database/dialect.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { requireLists, statementDropped } from '../validate/dropped-writes.ts'
import { checkVersion } from '../validate/precondition.ts'
import { ScopedStatements } from '../validate/scoped-statements.ts'
import type { VersionReader } from '../validate/read-version.ts'
import type { RecordInput } from '../validate/record-input.ts'
import { omitUnchanged } from '../validate/unchanged.ts'
import type { ChangeValidator, GivenBody } from '../validate/validate-change.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { addTouched, bindColumns, bindDiffers, bindScope, bindUpdate, type BoundColumns, type BoundStatement } from './bind-write.ts'
import { resolveLink } from './link-rows.ts'
import { planChanges, writesPivots, type BodyPlan } from './plan-body.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import { readDocuments } from './planned-documents.ts'
import { findOrder, hidesMembers } from './planned-pivots.ts'
import { PlannedRelations } from './planned-relations.ts'
import type { PlannedWrite } from './planned-write.ts'
import { RowRules } from './row-rules.ts'
import { bindKey, type RowShape } from './row-shape.ts'
import { bindFields, type RowShapes } from './row-shapes.ts'

interface RecordBefore {
  readonly address: RecordAddress
  readonly rules: RowRules | undefined
  /** Undefined: no condition on the version. */
  readonly current: Record<string, unknown> | undefined
  readonly shown: RecordAddress
  readonly before: JsonRecord | undefined
}

interface PlannedRowChange {
  readonly row: RowPlan
  readonly columns: BoundColumns
  /** `undefined`: not compiled yet. */
  readonly statement?: Statement
  readonly address: RecordAddress
  readonly shown: RecordAddress
  /** The record before, if a fixed filter may hide the record afterwards. */
  readonly before?: JsonRecord | undefined
  /** Nothing has looked for the record: the statement must see to visibility. */
  readonly isUnseen?: boolean
  readonly isTried?: boolean
  /** Other rows are written, too. */
  readonly isWide?: boolean
}

interface LinkedBody {
  readonly plan: BodyPlan
  readonly row: RowPlan
  readonly owner: RecordAddress
  readonly link: ToOneAttribute
  readonly give: (key: KeyValues) => GivenBody
}

const NO_VERSION = { current: undefined }

export class RecordChanger {
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

  /** Undefined: the unit of work must change the record. */
  update(address: RecordAddress, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const { resource, key, id } = address
    const given: GivenBody = { resource, body, validation: { mode: 'update', key }, view, id }
    const shape = this.#shapes.find(resource, body, 'update')
    if (shape?.callsEarly === false) return { given, run: () => this.#updateFlat(shape, address, given) }
    const row = planRows(resource)
    const plan = row === null ? undefined : this.#plan(row, resource, body, view)
    return row === null || plan === undefined ? undefined : { given, run: () => this.#updateBody(plan, row, address, given) }
  }

  /** `PATCH /v1/books/1/author` changes the author, and answers with the book; undefined for an empty link. */
  updateLinked(owner: RecordAddress, link: ToOneAttribute, body: JsonObject, view: View): PlannedWrite<Written | undefined> | undefined {
    const { target } = link
    const row = planRows(target)
    const plan = row === null ? undefined : this.#plan(row, target, body, view)
    // The body may hold the linking record, too.
    if (row === null || plan === undefined || plan.isWide) return undefined
    const give = (key: KeyValues): GivenBody =>
      (planned.given = { resource: target, body, validation: { mode: 'update', key }, view, id: keyToSegment(key, target.key) })
    const planned: { given: GivenBody | undefined; run: () => Coroutine<Written | undefined> } = {
      given: undefined,
      run: () => this.#updateLinkedBody({ plan, row, owner, link, give }, view),
    }
    return planned
  }

  #plan(row: RowPlan, resource: Resource, body: JsonObject, { visibility }: View): BodyPlan | undefined {
    const plan = planChanges(row, resource, body, this.#connection)
    if (plan === undefined || !writesPivots(plan, this.#connection)) return undefined
    // Only the unit of work can place hidden members of an ordered list.
    const isOrdered =
      visibility !== EVERYTHING && [...plan.pivots.values()].some(list => findOrder(list) !== undefined && hidesMembers(list))
    return isOrdered ? undefined : plan
  }

  *#updateFlat(shape: RowShape, address: RecordAddress, given: GivenBody): Coroutine<Written> {
    const { resource, key, id } = address
    const { body, view } = given
    const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
    // Conditions of the request, and functions of the model, need the row before.
    const { headers } = view.ctx
    const isLookedAt = shape.row.touched.length > 0 || headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
    if (shape.plain !== undefined && rules === undefined && !isLookedAt) {
      const parameters = bindFields(shape, body)
      if (parameters !== undefined) {
        const { row, columns, plain: statement } = shape
        const change = { row, columns: { columns, parameters }, statement, address, shown: address, isTried: true }
        const written = yield* this.#changeRow(change, view, rules)
        if (written !== undefined) return written
      }
    }
    // record_not_found comes before any other refusal. If nothing else is asked of the record, the changing statement looks for the record.
    const looksBy =
      rules !== undefined && rules.writing === undefined && !isLookedAt && !this.#connection.mayHoldMisfits ? rules : undefined
    const isUnseen = looksBy?.hides(resource) === true && !hasFixed(resource)
    let record: JsonRecord | undefined
    if (rules?.asksOf(resource) === true) {
      if (!isUnseen) record = yield* this.#admit(address, body, view, rules)
    } else if (this.#connection.mayHoldMisfits && !(yield* wait(this.#reader.exists(resource, key, view.visibility))))
      throw notFound(resource, id)
    if (isLookedAt) yield* this.#versions.read(address, view, false)
    const before = view.trace?.enter('validate')
    const changed = shape.mayBeShown ? yield* this.#omitShown(shape, address, body) : { shape, body }
    const { shape: changedShape } = changed
    const link = changedShape?.link
    const linkedBody = link === undefined ? changed.body : yield* resolveLink(link, changed.body, view, this.#connection, this.#reader)
    const parameters = changedShape && linkedBody && bindFields(changedShape, linkedBody)
    if (changedShape === undefined || parameters === undefined) {
      const change = yield* this.#validator.validateGiven(given)
      return yield* this.#writeRow(change, shape.row, given, { ...NO_VERSION, address, rules, shown: address, before: record })
    }
    if (before !== undefined) view.trace?.enter(before)
    if (view.visibility !== EVERYTHING) yield* wait(this.#reader.prepare(resource, view))
    const { row, columns, statement } = changedShape
    const change = { row, columns: { columns, parameters }, statement, address, shown: address, isUnseen, before: record }
    return (yield* this.#changeRow(change, view, rules))!
  }

  /**
   * Refuses a record hidden from the caller, or not to be changed. Returns a record for the answer, if a fixed filter may hide the record
   * afterwards.
   */
  *#admit(address: RecordAddress, body: JsonObject, view: View, rules: RowRules): Coroutine<JsonRecord | undefined> {
    const { resource, key, id } = address
    if (!hasFixed(resource)) {
      yield* rules.admit(address, body)
      return undefined
    }
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) throw notFound(resource, id)
    if (rules.writing !== undefined) yield* rules.writing.admit(address, body)
    return record
  }

  *#omitShown(
    shape: RowShape,
    { resource, key }: RecordAddress,
    body: JsonObject,
  ): Coroutine<{ shape: RowShape | undefined; body: JsonObject }> {
    const shown = yield* wait(this.#reader.asStored.record(resource, key))
    const rest = shown === undefined ? body : omitUnchanged(body, resource, [shown], this.#connection.mayHoldMisfits)
    return { shape: rest === body ? shape : this.#shapes.find(resource, rest, 'update'), body: rest }
  }

  *#updateLinkedBody({ plan, row, owner, link, give }: LinkedBody, view: View): Coroutine<Written | undefined> {
    const { visibility, ctx } = view
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    const [key] = yield* wait(this.#reader.relatedKeys(owner.resource, owner.key, link, { ...view, parameters: NO_PARAMETERS }))
    if (key === undefined) return undefined
    const given = give(key)
    const { resource, body } = given
    const address = { resource, key, id: given.id! }
    yield* wait(authorize(resource, 'update', visibility, ctx))
    const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
    if (rules?.writing !== undefined) yield* rules.writing.admit(address, body)
    const { version } = resource
    const isGiven = version !== undefined && body[version.name] !== undefined
    const current = isGiven ? yield* this.#versions.read(address, { ...view, ctx: { ...ctx, headers: {} } }, true) : undefined
    const before = hasFixed(owner.resource) ? yield* wait(this.#reader.record(owner.resource, owner.key, view)) : undefined
    return yield* this.#change(plan, row, given, { address, rules, current, shown: owner, before })
  }

  *#updateBody(plan: BodyPlan, row: RowPlan, address: RecordAddress, given: GivenBody): Coroutine<Written> {
    const { resource, key, id } = address
    const { body, view } = given
    const { version } = resource
    const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
    // A nested new record could get the key of the missing record, and record_not_found comes before a trigger's refusal.
    const asksFirst = plan.created.size > 0 || this.#connection.mayHoldMisfits
    let before: JsonRecord | undefined
    if (rules?.asksOf(resource) === true) before = yield* this.#admit(address, body, view, rules)
    else if (asksFirst && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id)
    const current = yield* this.#versions.read(address, view, version !== undefined && body[version.name] !== undefined)
    return yield* this.#change(plan, row, given, { address, rules, current, shown: address, before })
  }

  *#change(plan: BodyPlan, row: RowPlan, given: GivenBody, found: RecordBefore): Coroutine<Written> {
    const { address, rules, current, shown } = found
    const { resource, key } = address
    const { body, view } = given
    const { isWide } = plan
    const objects = yield* readDocuments(resource, body, key, this.#connection)
    // As in insert-record.ts, validate first.
    const asksFirst = isWide && (this.#connection.dialect.failsWhole || view.visibility.writing !== undefined)
    // An existing database may lack the model's constraints.
    const uniquesLater = plan.keepsUnique && this.#connection.keepsConstraints && !asksFirst
    // Errors of the body come before version_conflict.
    const linksLater = current === undefined && this.#refusesLinks(plan) && seesMembers(plan, view)
    const change = yield* this.#validator.validateGiven(given, { uniquesLater, linksLater }, objects?.entity)
    yield* wait(this.#reader.prepare(shown.resource, view))
    if (current !== undefined) yield* this.#checkVersion(current, change, uniquesLater, given)
    const relations = isWide ? new PlannedRelations(this.#connection, this.#reader, rules) : undefined
    if (relations !== undefined) yield* relations.requireNeeded(change.lists, resource, key)
    const rowChange = relations === undefined ? change : yield* relations.createLinked(change)
    const columns = bindColumns(rowChange, row.stored, this.#connection, objects?.documents)
    // Members may be visible only by the record before the change.
    if (relations !== undefined) yield* relations.replace(change.lists, resource, key)
    const written = (yield* this.#changeRow({ row, columns, ...found, isWide }, view, rules))!
    if (change.lists.length > 0)
      yield* requireLists(change.lists, resource, key, view, { connection: this.#connection, reader: this.#reader })
    return written
  }

  *#writeRow(change: RecordInput, row: RowPlan, { view }: GivenBody, found: RecordBefore): Coroutine<Written> {
    yield* wait(this.#reader.prepare(found.shown.resource, view))
    const columns = bindColumns(change, row.stored, this.#connection)
    return (yield* this.#changeRow({ row, columns, ...found }, view, found.rules))!
  }

  /** Runs the statement of a changed row, and reads the answer. Undefined: no row changed, with `isTried`. */
  *#changeRow(change: PlannedRowChange, view: View, rules: RowRules | undefined): Coroutine<Written | undefined> {
    const { row, columns, statement, address, shown, isWide } = change
    const { resource, key, id } = shown
    let bound: BoundStatement | undefined
    if (statement === undefined || change.isUnseen === true || row.touched.length > 0) bound = yield* this.#bindRow(change, view)
    else if (columns.columns.length > 0) {
      const { parameters } = columns
      const self = bindKey(address.key, address.resource, row.stored, this.#connection)
      bound = { statement, parameters: [...parameters, ...self, ...parameters] }
    }
    let rows = 0
    let answer: Promise<JsonRecord | undefined> | undefined
    if (bound !== undefined) {
      const running = this.#connection.run(bound.statement, bound.parameters, isWide === true ? 'writes' : 'reads')
      // A server takes the reading before the answer to the change. Stages of a trace follow each other.
      if (running instanceof Promise && isWide !== true && view.trace === undefined) answer = this.#startReading(shown, view)
      rows = (running instanceof Promise ? yield* wait(running) : running).rows
    }
    if (rows === 0 && change.isTried === true) return undefined
    if (rules !== undefined) {
      yield* rules.confirm()
      if (shown !== address) yield* rules.requireStays(address.resource, address.key)
    }
    const reading = answer ?? this.#reader.record(resource, key, view)
    const record = reading instanceof Promise ? yield* wait(reading) : reading
    if (record !== undefined) {
      if (rows === 0) yield* this.#requireSet(change)
      if (rules?.writing !== undefined) yield* rules.writing.confirm()
      return { resource, key, record }
    }
    if (rules?.asksOf(resource) !== true || (change.isUnseen === true && rows === 0)) throw notFound(resource, id)
    yield* rules.refuseLeft(resource, key)
    if (change.before === undefined)
      throw restError('record_not_found', `The ${resource.singular} has been removed by its own change, which was undone.`)
    if (rules.writing !== undefined) yield* rules.writing.confirm()
    return { resource, key, record: change.before, removed: true }
  }

  #startReading({ resource, key }: RecordAddress, view: View): Promise<JsonRecord | undefined> | undefined {
    const reading = this.#reader.record(resource, key, view)
    if (!(reading instanceof Promise)) return undefined
    // A failed change fails the reading, too.
    reading.catch(() => {})
    return reading
  }

  /** A column still differs: the change had no effect. */
  *#requireSet({ row: { stored }, columns, address: { resource, key } }: PlannedRowChange): Coroutine<void> {
    if (columns.columns.length === 0) return
    const connection = this.#connection
    const differs = bindDiffers(columns, stored, bindKey(key, resource, stored, connection), connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length > 0) throw yield* statementDropped(resource, 'changed', connection)
  }

  /** Undefined: no column differs. */
  *#bindRow(change: PlannedRowChange, view: View): Coroutine<BoundStatement | undefined> {
    const { row, columns, address, isUnseen } = change
    const { stored, touched } = row
    if (columns.columns.length === 0) return undefined
    const connection = this.#connection
    const self = bindKey(address.key, address.resource, stored, connection)
    if (touched.length > 0) {
      // Functions of the model run only for real changes.
      const differs = bindDiffers(columns, stored, self, connection)
      if ((yield* wait(connection.read(() => readOne(differs)))).length === 0) return undefined
      return bindUpdate(addTouched(columns, touched, connection), stored, self, connection, false)
    }
    if (isUnseen !== true) return bindUpdate(columns, stored, self, connection, true)
    const statement = yield* this.#findSeen(change, view)
    const parameters = [...columns.parameters, ...self, ...columns.parameters]
    parameters.push(...bindScope(statement, parameters.length, view.visibility, connection.dialect))
    return { statement, parameters }
  }

  #findSeen(
    { row, columns: { columns }, statement, address: { resource } }: PlannedRowChange,
    view: View,
  ): Iterable<Promise<unknown>, Statement> {
    const { writing } = this.#connection.dialect
    let known = visibleStatements.get(statement!)
    if (known === undefined) visibleStatements.set(statement!, (known = new ScopedStatements()))
    return wait(known.find(resource, view.visibility, ({ scopeOf }) => writing.update(row.stored, columns, true, { resource, scopeOf })))
  }

  /** Errors of the body come first, also taken values. */
  *#checkVersion(current: Record<string, unknown>, change: RecordInput, uniquesLater: boolean, given: GivenBody): Coroutine<void> {
    try {
      checkVersion(current, change)
    } catch (error) {
      if (uniquesLater) yield* this.#validator.validateGiven(given)
      throw error
    }
  }

  /** Whether only many-to-many lists have links, and the database refuses missing members. */
  #refusesLinks({ pivots, created, linksOthers }: BodyPlan): boolean {
    if (pivots.size === 0 || created.size > 0 || linksOthers) return false
    for (const [table, { via }] of pivots)
      if (via.kind !== 'pivot' || !this.#connection.refusesLinks(table, via.targetColumns[0]!)) return false
    return true
  }
}

/** Whether the caller surely sees all possible members. Rules with a promise count as no. */
function seesMembers({ pivots }: BodyPlan, { visibility }: View): boolean {
  if (visibility === EVERYTHING) return true
  if (visibility.writing !== undefined) return false
  for (const { target } of pivots.values()) if (visibility.restricts(target) || visibility.permits(target, 'get') !== true) return false
  return true
}

const visibleStatements = new WeakMap<Statement, ScopedStatements<Statement>>()

function* readOne(step: ReadingStep): Reading<readonly Row[]> {
  const [rows] = yield [step]
  return rows!
}
