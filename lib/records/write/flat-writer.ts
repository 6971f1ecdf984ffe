/**
 * Flat writer: inserts and changes one row by the statement of a shape (row-shape.ts), which is kept by the names in the body, as a reading is by its query. The steps and
 * the errors are those of writer.ts. Gives undefined where nothing has been written, since a value is more than a statement can say: the unit of work writes it then.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait } from '../../foundation/base/awaitable.ts'
import type { Coroutine } from '../../foundation/base/awaitable.ts'
import { RestError } from '../../foundation/base/errors.ts'
import type { JsonObject } from '../../foundation/base/json.ts'
import type { Connection, Reading, ReadingStep, Row, RowsWritten, Statement } from '../database/dialect.ts'
import { keyFromCount } from '../../model/key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import { EVERYTHING, hasVisibleTarget, retryWithRules } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { addTouched, bindDiffers, bindKey, bindUpdate } from './bind-write.ts'
import { outsideScope } from './check-outcome.ts'
import { findTaken } from './find-taken.ts'
import type { RefusedBody } from './find-taken.ts'
import { isLinkedByShown, withRowKey } from './link-rows.ts'
import { MadeValues, valuesForMember } from './made-values.ts'
import { planRows } from './plan-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import type { VersionReader } from './read-version.ts'
import { implyOwner, owningAttribute } from './relation-sides.ts'
import type { RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, mayLink } from './row-shapes.ts'
import type { RowShapes } from './row-shapes.ts'
import { RowRules } from './row-rules.ts'
import { omitUnchanged } from './unchanged.ts'
import type { ChangeValidator } from './validate-change.ts'
import { WriteRules } from './write-rules.ts'
import type { Address, Written } from './written.ts'

interface Change {
  readonly shape: RowShape
  readonly parameters: readonly unknown[]
  /** What functions of the model give. */
  readonly values: MadeValues | undefined
  readonly behind: (() => void) | undefined
}

export class FlatWriter {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator
  readonly #versions: VersionReader
  readonly #shapes: RowShapes

  constructor(connection: Connection, reader: Reader, validator: ChangeValidator, versions: VersionReader, shapes: RowShapes) {
    this.#shapes = shapes
    this.#connection = connection
    this.#reader = reader
    this.#validator = validator
    this.#versions = versions
  }

  /** Returns how a statement creates the record that a body describes; undefined where more is needed. */
  insert(resource: Resource, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const shape = this.#shapes.findInsert(resource, body)
    if (shape === undefined || shape.callsEarly || !mayLink(shape, body)) return undefined
    const values = shape.made.length === 0 ? undefined : valuesForMember(body)
    const asked: RefusedBody = { resource, body, validation: { mode: 'create' }, view }
    return { values, run: () => this.#insert(shape, body, asked, values) }
  }

  /** Returns how a statement creates a member of a list of a record that is there; undefined where more is needed. */
  append(owner: Address, list: ToManyAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const link = list.where === undefined && !list.readOnly && list.via.kind === 'foreign' ? owningAttribute(list) : undefined
    if (link === undefined || planRows(owner.resource) === null || Object.hasOwn(body, link.name)) return undefined
    const linked = linkOwner(body, link, owner)
    const shape = this.#shapes.findInsert(list.target, linked)
    if (shape === undefined || shape.callsEarly) return undefined
    const values = shape.made.length === 0 ? undefined : new MadeValues()
    const asked: RefusedBody = { resource: list.target, body, validation: { mode: 'create', ...implyOwner(list, owner.key) }, view }
    return { values, run: () => this.#append(shape, owner, linked, asked, values) }
  }

  /** Returns how a statement changes what a body gives of a record; undefined where more is needed. */
  update(address: Address, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const shape = this.#shapes.find(address.resource, body, 'update')
    if (shape === undefined || shape.callsEarly || !mayLink(shape, body)) return undefined
    const values = shape.row.touched.length === 0 ? undefined : new MadeValues()
    return { values, run: () => this.#update(shape, address, body, view, values) }
  }

  *#append(
    shape: RowShape,
    owner: Address,
    body: JsonObject,
    asked: RefusedBody,
    values: MadeValues | undefined,
  ): Coroutine<Written | undefined> {
    const { view } = asked
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, view.visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    return yield* this.#insert(shape, body, asked, values)
  }

  /** @param body what the client gives, and the link that the path gives */
  *#insert(shape: RowShape, body: JsonObject, asked: RefusedBody, values: MadeValues | undefined): Coroutine<Written | undefined> {
    const { resource, view } = asked
    const before = view.trace?.enter('validate')
    const isGiven = body === asked.body
    const own = isGiven && isLinkedByShown(shape) ? yield* withRowKey(shape, body, this.#connection) : body
    const parameters = own && bindFields(shape, own)
    if (own === undefined || parameters === undefined || (isGiven && !(yield* this.#linkExists(shape, own, view))))
      return yield* this.#refuse(asked)
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    const writing = WriteRules.of(this.#reader, view)
    if (writing !== undefined) yield* wait(writing.prepare(resource))
    const bound = bindNewRow({ shape, resource, body: own, fields: parameters, values }, this.#connection)
    if (bound === undefined) return undefined
    const { rows, counted } = yield* this.#run(bound.statement, bound.parameters, shape, asked)
    // A trigger of the file has ignored it.
    if (rows === 0) return undefined
    const key = bound.key ?? keyFromCount(counted, resource)
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) throw outsideScope(resource)
    writing?.made(resource, key)
    if (writing !== undefined) yield* writing.confirm()
    return { resource, key, record }
  }

  *#update(
    shape: RowShape,
    address: Address,
    body: JsonObject,
    view: View,
    values: MadeValues | undefined,
  ): Coroutine<Written | undefined> {
    const { resource, key, id } = address
    const rules = RowRules.of(this.#reader, view)
    const asked: RefusedBody = { resource, body, validation: { mode: 'update', key }, view }
    // Nothing else is said of a record that does not exist for the caller, nor where a trigger of a file may refuse the statement.
    const asksFirst = rules !== undefined || this.#connection.mayHoldMisfits
    if (asksFirst && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id)
    if (rules?.writing !== undefined) yield* rules.writing.admit(address, body)
    yield* this.#versions.read(address, view, false)
    const before = view.trace?.enter('validate')
    const changed = shape.mayBeShown ? yield* this.#omitShown(shape, address, body) : { shape, body }
    const { shape: left } = changed
    const own = left !== undefined && isLinkedByShown(left) ? yield* withRowKey(left, changed.body, this.#connection) : changed.body
    const parameters = left === undefined || own === undefined ? undefined : bindFields(left, own)
    if (parameters === undefined || !(yield* this.#linkExists(left!, own!, view))) {
      return yield* this.#refuse(asked, id)
    }
    if (before !== undefined) view.trace?.enter(before)
    yield* wait(this.#reader.prepare(resource, view))
    let answer: Promise<JsonRecord | undefined> | undefined
    const ask = (): void => {
      const reading = this.#reader.record(resource, key, view)
      answer = reading instanceof Promise ? reading : undefined
      // Where the change fails, the reading behind it does so, too.
      answer?.catch(() => {})
    }
    const change: Change = { shape: changed.shape!, parameters, values, behind: view.trace === undefined ? ask : undefined }
    if (!(yield* this.#change(change, key, asked))) return undefined
    const record = yield* wait(answer ?? this.#reader.record(resource, key, view))
    if (record !== undefined) {
      if (rules?.writing !== undefined) yield* rules.writing.confirm()
      return { resource, key, record }
    }
    if (rules === undefined) throw notFound(resource, id)
    return yield* rules.refuseLeft(address)
  }

  /** Sets the columns if one of them changes; says false where nothing has been done. */
  *#change({ shape, parameters, values, behind }: Change, key: KeyValues, asked: RefusedBody): Coroutine<boolean> {
    const { row, columns, statement } = shape
    const { stored, touched } = row
    if (columns.length === 0) return true
    const connection = this.#connection
    const self = bindKey(key, asked.resource, stored, connection)
    if (touched.length === 0) {
      yield* this.#run(statement, [...parameters, ...self, ...parameters], shape, asked, behind)
      return true
    }
    // The functions of the model are called for what changes alone.
    const differs = bindDiffers({ columns, parameters }, stored, self, connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length === 0) return true
    const all = addTouched({ columns, parameters }, touched, connection, values!)
    if (all === undefined) return false
    const update = bindUpdate(all, stored, self, connection, false)
    yield* this.#run(update.statement, update.parameters, shape, asked, behind)
    return true
  }

  /** @param behind asks for what comes next, where the database takes a statement before it has answered the one in front */
  *#run(
    statement: Statement,
    parameters: readonly unknown[],
    { row: { stored } }: RowShape,
    asked: RefusedBody,
    behind?: () => void,
  ): Coroutine<RowsWritten> {
    const connection = this.#connection
    const { dialect } = connection
    try {
      const running = connection.run(statement, parameters, 'reads')
      if (running instanceof Promise) behind?.()
      return yield* wait(running)
    } catch (error) {
      if (stored.keepsUnique && connection.keepsConstraints && dialect.breaksConstraint(error))
        yield* findTaken(error, asked, dialect, this.#validator)
      throw error
    }
  }

  /** Whether the record that a body links exists for the caller. */
  *#linkExists({ link }: RowShape, body: JsonObject, { visibility }: View): Coroutine<boolean> {
    if (link === undefined) return true
    const { attribute, name, readKey } = link
    const key = readKey(body[name])
    if (visibility !== EVERYTHING) {
      const isSeen = yield* wait(retryWithRules(visibility, () => hasVisibleTarget(attribute, visibility)))
      if (!isSeen || (key !== undefined && !(yield* wait(visibility.permits(attribute.target, 'get'))))) return false
    }
    // One that clients name by another key has just been found.
    if (key === undefined || (visibility === EVERYTHING && attribute.target.shownKey !== undefined)) return true
    return yield* wait(this.#reader.exists(attribute.target, key, visibility))
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
  *#omitShown(shape: RowShape, { resource, key }: Address, body: JsonObject): Coroutine<{ shape: RowShape | undefined; body: JsonObject }> {
    const shown = yield* wait(this.#reader.asStored.record(resource, key))
    const rest = shown === undefined ? body : omitUnchanged(body, resource, [shown], this.#connection.mayHoldMisfits)
    return { shape: rest === body ? shape : this.#shapes.find(resource, rest, 'update'), body: rest }
  }
}

/** Returns the body of a new member of a list, with the link to the record that has the list. */
function linkOwner(body: JsonObject, { name }: ToOneAttribute, { key: [key] }: Address): JsonObject {
  return { ...body, [name]: typeof key === 'bigint' ? String(key) : key }
}

function* readOne(step: ReadingStep): Reading<readonly Row[]> {
  const [rows] = yield [step]
  return rows!
}
