/**
 * Flat writer: inserts or changes a row by the statement of a shape (row-shape.ts), with the steps and errors of entity-writer.ts. Gives
 * undefined where a single statement is not enough.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import { EVERYTHING, hasVisibleTarget, retryWithRules } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { RefusedBody } from './find-taken.ts'
import { isLinkedByShown, withRowKey, replaceLink } from './link-rows.ts'
import { MadeValues, valuesForMember } from './made-values.ts'
import { planRows } from './plan-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import { hasPrecondition, type VersionReader } from '../validate/read-version.ts'
import { implyOwner, owningAttribute } from '../validate/relation-sides.ts'
import { RowChanges, type RowRequest } from './row-changes.ts'
import type { LinkField, RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, type RowShapes } from './row-shapes.ts'
import { RowRules } from './row-rules.ts'
import { omitUnchanged } from '../validate/unchanged.ts'
import type { Validation } from '../validate/validate-record.ts'
import { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import type { ChangeValidator } from '../validate/validate-change.ts'

export class FlatWriter {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator
  readonly #rows: RowChanges
  readonly #versions: VersionReader
  readonly #shapes: RowShapes

  constructor(connection: Connection, reader: Reader, validator: ChangeValidator, versions: VersionReader, shapes: RowShapes) {
    this.#shapes = shapes
    this.#rows = new RowChanges(connection, reader, validator)
    this.#connection = connection
    this.#reader = reader
    this.#validator = validator
    this.#versions = versions
  }

  insert(resource: Resource, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const shape = this.#shapes.findInsert(resource, body)
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.made.length === 0 ? undefined : valuesForMember(body)
    const request: RowRequest = { resource, body, validation: { mode: 'create' }, view, values, rules: undefined, isWide: false }
    return { values, isWide: false, run: () => this.#insert(shape, body, request) }
  }

  append(owner: RecordAddress, list: ToManyAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const link = list.where === undefined && !list.readOnly && list.via.kind === 'foreign' ? owningAttribute(list) : undefined
    if (link === undefined || planRows(owner.resource) === null || Object.hasOwn(body, link.name)) return undefined
    const linked = replaceLink(body, link, owner.key)
    const shape = this.#shapes.findInsert(list.target, linked)
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.made.length === 0 ? undefined : new MadeValues()
    const validation: Validation = { mode: 'create', ...implyOwner(list, owner.key) }
    const request: RowRequest = { resource: list.target, body, validation, view, values, rules: undefined, isWide: false }
    return { values, isWide: false, run: () => this.#append(shape, owner, linked, request) }
  }

  update(address: RecordAddress, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const { resource, key } = address
    const shape = this.#shapes.find(resource, body, 'update')
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.row.touched.length === 0 ? undefined : new MadeValues()
    const validation: Validation = { mode: 'update', key }
    const run = (): Coroutine<Written | undefined> => {
      const rules = RowRules.of(this.#reader, view)
      return this.#update(shape, address, { resource, body, validation, view, values, rules, isWide: false })
    }
    return { values, isWide: false, run }
  }

  *#append(shape: RowShape, owner: RecordAddress, body: JsonObject, request: RowRequest): Coroutine<Written | undefined> {
    const { view } = request
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, view.visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    return yield* this.#insert(shape, body, request)
  }

  /** @param body the client's body with the link given by the path */
  *#insert(shape: RowShape, body: JsonObject, request: RowRequest): Coroutine<Written | undefined> {
    const { resource, view, values } = request
    const before = view.trace?.enter('validate')
    const linkedBody = body === request.body && shape.link !== undefined ? yield* this.#resolveLink(shape.link, body, view) : body
    const fields = linkedBody && bindFields(shape, linkedBody)
    if (linkedBody === undefined || fields === undefined) return yield* this.#refuse(request)
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    const writing = WriteRules.of(this.#reader, view)
    if (writing !== undefined) yield* wait(writing.prepare(resource))
    const bound = bindNewRow({ shape, resource, body: linkedBody, fields, values }, this.#connection)
    const key = bound && (yield* this.#rows.insert(bound, shape.row.stored, request))
    return key && (yield* this.#rows.answerNew(key, request, writing))
  }

  *#update(shape: RowShape, address: RecordAddress, request: RowRequest): Coroutine<Written | undefined> {
    const { resource, key, id } = address
    const { body, view, rules } = request
    if (shape.plain !== undefined && rules === undefined && isFree(shape, view)) {
      const parameters = bindFields(shape, body)
      const { row, columns, plain: statement } = shape
      const change = { row, columns: { columns, parameters: parameters! }, statement, address, shown: address, isTried: true }
      const written = parameters === undefined ? undefined : yield* this.#rows.update(change, request)
      if (written !== undefined) return written
    }
    // A missing or hidden record gives record_not_found before any other refusal. With nothing else to know before, the changing statement
    // itself looks for the record.
    const isUnseen = rules?.hides(resource) === true && this.#looksFirst(shape, request)
    if (rules?.asksOf(resource) === true) {
      if (!isUnseen) yield* rules.admit(address, body)
    } else if (this.#connection.mayHoldMisfits && !(yield* wait(this.#reader.exists(resource, key, view.visibility))))
      throw notFound(resource, id)
    yield* this.#versions.read(address, view, false)
    const before = view.trace?.enter('validate')
    const changed = shape.mayBeShown ? yield* this.#omitShown(shape, address, body) : { shape, body }
    const { shape: changedShape } = changed
    const linkedBody = changedShape?.link === undefined ? changed.body : yield* this.#resolveLink(changedShape.link, changed.body, view)
    const parameters = changedShape && linkedBody && bindFields(changedShape, linkedBody)
    if (changedShape === undefined || parameters === undefined) return yield* this.#refuse(request, id)
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    const { row, columns, statement } = changedShape
    return yield* this.#rows.update({ row, columns: { columns, parameters }, statement, address, shown: address, isUnseen }, request)
  }

  #looksFirst(shape: RowShape, request: RowRequest): boolean {
    return request.rules?.writing === undefined && !this.#connection.mayHoldMisfits && isFree(shape, request.view)
  }

  /** Returns undefined where the linked record is missing or hidden. */
  *#resolveLink(link: LinkField, body: JsonObject, { visibility }: View): Coroutine<JsonObject | undefined> {
    const { attribute, name, readKey } = link
    const rowBody = isLinkedByShown(link) ? yield* withRowKey(link, body, this.#connection) : body
    const key = rowBody && readKey(rowBody[name])
    if (visibility !== EVERYTHING) {
      const isSeen = yield* wait(retryWithRules(visibility, () => hasVisibleTarget(attribute, visibility)))
      if (!isSeen || (key !== undefined && !(yield* wait(visibility.permits(attribute.target, 'get'))))) return undefined
    }
    // `withRowKey` has just found a record named by a shown key.
    if (key === undefined || (visibility === EVERYTHING && attribute.target.shownKey !== undefined)) return rowBody
    return (yield* wait(this.#reader.exists(attribute.target, key, visibility))) ? rowBody : undefined
  }

  /** A missing or hidden record gives record_not_found alone. */
  *#refuse({ resource, body, validation, view }: RefusedBody, id?: string): Coroutine<undefined> {
    try {
      yield* this.#validator.validate(body, resource, validation, view)
      return undefined
    } catch (error) {
      const { key } = validation
      const isGone = error instanceof RestError && key !== undefined && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))
      throw isGone ? notFound(resource, id!) : error
    }
  }

  /** Leaves out values equal to the shown values: no changes. */
  *#omitShown(
    shape: RowShape,
    { resource, key }: RecordAddress,
    body: JsonObject,
  ): Coroutine<{ shape: RowShape | undefined; body: JsonObject }> {
    const shown = yield* wait(this.#reader.asStored.record(resource, key))
    const rest = shown === undefined ? body : omitUnchanged(body, resource, [shown], this.#connection.mayHoldMisfits)
    return { shape: rest === body ? shape : this.#shapes.find(resource, rest, 'update'), body: rest }
  }
}

/** Whether no function of the model and no condition of the request needs the row before a change. */
function isFree({ row: { touched } }: RowShape, { ctx }: View): boolean {
  return touched.length === 0 && !hasPrecondition(ctx.headers)
}
