/**
 * Flat writer: inserts or changes one row by the statement of a shape (row-shape.ts), with the steps and errors of writer.ts. Gives
 * undefined where a value cannot be bound: nothing is written then, and the unit of work takes over.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/work/awaitable.ts'
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
import { RowChanges, type RowAsked } from './row-changes.ts'
import type { LinkField, RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, type RowShapes } from './row-shapes.ts'
import { RowRules } from './row-rules.ts'
import { omitUnchanged } from '../validate/unchanged.ts'
import type { ChangeValidator } from '../unit-of-work/validate-change.ts'
import type { Validation } from '../validate/validate-record.ts'
import { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'

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

  /** Returns how a statement creates the record that a body describes; undefined where more is needed. */
  insert(resource: Resource, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const shape = this.#shapes.findInsert(resource, body)
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.made.length === 0 ? undefined : valuesForMember(body)
    const asked: RowAsked = { resource, body, validation: { mode: 'create' }, view, values, rules: undefined, isWide: false }
    return { values, run: () => this.#insert(shape, body, asked) }
  }

  /** Returns how a statement creates a member of a list of a record that is there; undefined where more is needed. */
  append(owner: RecordAddress, list: ToManyAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const link = list.where === undefined && !list.readOnly && list.via.kind === 'foreign' ? owningAttribute(list) : undefined
    if (link === undefined || planRows(owner.resource) === null || Object.hasOwn(body, link.name)) return undefined
    const linked = replaceLink(body, link, owner.key)
    const shape = this.#shapes.findInsert(list.target, linked)
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.made.length === 0 ? undefined : new MadeValues()
    const validation: Validation = { mode: 'create', ...implyOwner(list, owner.key) }
    const asked: RowAsked = { resource: list.target, body, validation, view, values, rules: undefined, isWide: false }
    return { values, run: () => this.#append(shape, owner, linked, asked) }
  }

  /** Returns how a statement changes what a body gives of a record; undefined where more is needed. */
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
    return { values, run }
  }

  *#append(shape: RowShape, owner: RecordAddress, body: JsonObject, asked: RowAsked): Coroutine<Written | undefined> {
    const { view } = asked
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, view.visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    return yield* this.#insert(shape, body, asked)
  }

  /** @param body what the client gives, and the link that the path gives */
  *#insert(shape: RowShape, body: JsonObject, asked: RowAsked): Coroutine<Written | undefined> {
    const { resource, view, values } = asked
    const before = view.trace?.enter('validate')
    const own = body === asked.body && shape.link !== undefined ? yield* this.#resolveLink(shape.link, body, view) : body
    const fields = own && bindFields(shape, own)
    if (own === undefined || fields === undefined) return yield* this.#refuse(asked)
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    const writing = WriteRules.of(this.#reader, view)
    if (writing !== undefined) yield* wait(writing.prepare(resource))
    const bound = bindNewRow({ shape, resource, body: own, fields, values }, this.#connection)
    const key = bound && (yield* this.#rows.insert(bound, shape.row.stored, asked))
    return key && (yield* this.#rows.answerNew(key, asked, writing))
  }

  *#update(shape: RowShape, address: RecordAddress, asked: RowAsked): Coroutine<Written | undefined> {
    const { resource, key, id } = address
    const { body, view, rules } = asked
    if (shape.plain !== undefined && rules === undefined && isFree(shape, view)) {
      const parameters = bindFields(shape, body)
      const { row, columns, plain: statement } = shape
      const change = { row, columns: { columns, parameters: parameters! }, statement, address, shown: address, isTried: true }
      const written = parameters === undefined ? undefined : yield* this.#rows.update(change, asked)
      if (written !== undefined) return written
    }
    // Nothing else is said of a record that does not exist for the caller, nor where a trigger of a file may refuse the statement. Where
    // nothing else need be known before, the statement of the change looks for it.
    const isUnseen = rules?.hides(resource) === true && this.#looks(shape, asked)
    if (rules?.asksOf(resource) === true) {
      if (!isUnseen) yield* rules.admit(address, body)
    } else if (this.#connection.mayHoldMisfits && !(yield* wait(this.#reader.exists(resource, key, view.visibility))))
      throw notFound(resource, id)
    yield* this.#versions.read(address, view, false)
    const before = view.trace?.enter('validate')
    const changed = shape.mayBeShown ? yield* this.#omitShown(shape, address, body) : { shape, body }
    const { shape: left } = changed
    const own = left?.link === undefined ? changed.body : yield* this.#resolveLink(left.link, changed.body, view)
    const parameters = left && own && bindFields(left, own)
    if (left === undefined || parameters === undefined) return yield* this.#refuse(asked, id)
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    const { row, columns, statement } = left
    return yield* this.#rows.update({ row, columns: { columns, parameters }, statement, address, shown: address, isUnseen }, asked)
  }

  /** Whether the statement that changes a record may be the first that looks for it. */
  #looks(shape: RowShape, asked: RowAsked): boolean {
    return asked.rules?.writing === undefined && !this.#connection.mayHoldMisfits && isFree(shape, asked.view)
  }

  /** Returns a body with the primary key of the record that it links; undefined where that does not exist for the caller. */
  *#resolveLink(link: LinkField, body: JsonObject, { visibility }: View): Coroutine<JsonObject | undefined> {
    const { attribute, name, readKey } = link
    const own = isLinkedByShown(link) ? yield* withRowKey(link, body, this.#connection) : body
    const key = own && readKey(own[name])
    if (visibility !== EVERYTHING) {
      const isSeen = yield* wait(retryWithRules(visibility, () => hasVisibleTarget(attribute, visibility)))
      if (!isSeen || (key !== undefined && !(yield* wait(visibility.permits(attribute.target, 'get'))))) return undefined
    }
    // One that clients name by another key has just been found.
    if (key === undefined || (visibility === EVERYTHING && attribute.target.shownKey !== undefined)) return own
    return (yield* wait(this.#reader.exists(attribute.target, key, visibility))) ? own : undefined
  }

  /** Says what is wrong with a body. Of a record that does not exist nothing else is said. */
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

  /** Leaves out of a body what equals the values shown, which are no changes. */
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

/** Whether nothing need be known of a row before a statement changes it: no function of the model, and no condition of the request. */
function isFree({ row: { touched } }: RowShape, { ctx }: View): boolean {
  return touched.length === 0 && !hasPrecondition(ctx.headers)
}
