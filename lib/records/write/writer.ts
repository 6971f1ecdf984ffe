/** Writer: validates, checks, applies, and reads the answer, in one transaction. */
import { FlushMode, type EntityManager } from '@mikro-orm/core'
import { authorize } from '../access/access-rules.ts'
import { notFound } from '../access/resolve-path.ts'
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Connection } from '../database/connection.ts'
import { findClass, keyOfEntity, type Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Attribute, Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { append, changeLink, create, update } from '../unit-of-work/apply.ts'
import { checkAttributeBody } from '../validate/check-attribute-body.ts'
import { confirmWritten, flushAndCheck, outsideScope, refuseLeft, refuseNew } from '../unit-of-work/check-outcome.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import { readBefore, requireAllRemoved, requireLists, requireRemoved, requireWritten, type LookUp } from '../validate/dropped-writes.ts'
import { runTranslated } from '../unit-of-work/run-translated.ts'
import { BY_STATEMENTS, byUnitOfWork, explainUnplanned } from '../statements/explain-way.ts'
import { giveBody, type FillMode } from '../validate/fill-body.ts'
import { FlatBulk } from '../statements/flat-bulk.ts'
import { FlatWriter } from '../statements/flat-writer.ts'
import type { MadeValues } from '../statements/made-values.ts'
import { traitsOf, type ModelTraits } from '../validate/model-traits.ts'
import { checkPrecondition } from '../validate/precondition.ts'
import { PlannedRemoval } from '../statements/planned-removal.ts'
import type { PlannedWrite } from '../statements/planned-write.ts'
import { PlannedWriter } from '../statements/planned-writer.ts'
import { VersionReader } from '../validate/read-version.ts'
import { remove } from '../unit-of-work/remove.ts'
import { RowShapes } from '../statements/row-shapes.ts'
import { RequestWork } from '../unit-of-work/request-work.ts'
import { load, loadsAlone, mayChange, reference, removesAlone, type Translating, type Work } from '../unit-of-work/unit-of-work.ts'
import { ChangeValidator } from '../unit-of-work/validate-change.ts'
import { filledSide, implyOwner, owningAttribute } from '../validate/relation-sides.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { parseBranchLink } from '../validate/fixed-attributes.ts'
import { notAnObject } from '../validate/validate-record.ts'
import { isHeldByOthers } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import type { RecordInput } from '../validate/record-input.ts'

export class Writer {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #translating: Translating
  readonly #validator: ChangeValidator
  readonly #flat: FlatWriter
  readonly #bulk: FlatBulk
  readonly #planned: PlannedWriter
  readonly #removal: PlannedRemoval
  readonly #traits: ModelTraits
  readonly #lookUp: LookUp

  constructor(connection: Connection, reader: Reader, model: Model) {
    this.#connection = connection
    this.#reader = reader
    this.#translating = { dialect: connection.dialect, model }
    this.#validator = new ChangeValidator(connection, reader)
    const versions = new VersionReader(connection)
    const shapes = new RowShapes(connection)
    this.#flat = new FlatWriter(connection, reader, this.#validator, versions, shapes)
    this.#bulk = new FlatBulk(connection, reader, shapes)
    this.#planned = new PlannedWriter(connection, reader, this.#validator, versions)
    this.#removal = new PlannedRemoval(connection, reader, versions)
    this.#traits = traitsOf(model)
    this.#lookUp = { connection, reader }
  }

  /** POST of a collection. */
  create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${resource.singular}`)
    const planned = this.#flat.insert(resource, body, view) ?? this.#planned.insert(resource, body, view)
    const why = (): string => explainUnplanned(resource, 'insert', body, this.#connection)
    return this.#write(planned, work => this.#create(resource, body, view, work), view, why)
  }

  *#create(resource: Resource, body: JsonObject, view: View, work: Work): Coroutine<Written> {
    const change = yield* this.#validator.validate(body, resource, { mode: 'create' }, view)
    yield* wait(this.#reader.prepare(resource, view))
    const entity = yield* wait(create(change, work))
    yield* flushAndCheck(work, this.#reader, { resource, entity })
    const written = yield* this.#written(resource, keyOfEntity(resource, entity), view)
    yield* requireLists(change.lists, resource, written.key, view, this.#lookUp)
    return written
  }

  /** POST of an array, by shared statements. Undefined, with nothing written: create the records one by one. */
  createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined> {
    const planned = this.#traits.renders ? undefined : this.#bulk.insert(resource, bodies, view)
    if (planned === undefined) return undefined
    return chain(
      this.#runPlanned<readonly Written[] | undefined>(planned, view, () => undefined),
      written => {
        if (written !== undefined && view.trace?.statements !== undefined) view.trace.ways.push(BY_STATEMENTS)
        return written
      },
    )
  }

  /** POST of a list attribute. */
  append(owner: RecordAddress, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes of the new ${attribute.target.singular}`)
    const planned = this.#flat.append(owner, attribute, body, view) ?? this.#planned.append(owner, attribute, body, view)
    const why = (): string => explainUnplanned(attribute.target, 'insert', body, this.#connection)
    return this.#write(planned, work => this.#append(owner, attribute, body, view, work), view, why)
  }

  *#append(owner: RecordAddress, attribute: ToManyAttribute, body: JsonObject, view: View, work: Work): Coroutine<Written> {
    const { target } = attribute
    const entity = yield* this.#loaded(owner, work, view, isHeldByOthers(attribute) ? undefined : {})
    const change = yield* this.#validator.validate(body, target, { mode: 'create', ...implyOwner(attribute, owner.key) }, view)
    yield* wait(this.#reader.prepare(target, view))
    const created = yield* wait(append(entity, attribute, change, work))
    yield* flushAndCheck(work, this.#reader)
    return yield* this.#written(target, keyOfEntity(target, created), view)
  }

  /** PUT and PATCH of a record: attributes not given stay. */
  update(address: RecordAddress, body: unknown, view: View): Awaitable<Written> {
    if (!isObject(body)) throw notAnObject(body, `of the attributes to change`)
    return this.change(address, body, view)
  }

  /** PUT and PATCH of an attribute. */
  updateAttribute(address: RecordAddress, attribute: Attribute, body: unknown, view: View): Awaitable<Written> {
    checkAttributeBody(attribute, body)
    if (attribute.kind === 'toOne' && isObject(body) && !attribute.target.readOnly) return this.changeLinked(address, attribute, body, view)
    if (attribute.kind === 'toOneOf' && isObject(body) && parseBranchLink(attribute, body) === undefined)
      return this.changeOneOf(address, attribute, body, view)
    return this.change(address, { [attribute.name]: body }, view)
  }

  protected change(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return this.#changeBy(address, body, view)
  }

  /** The engine may change attributes closed to clients. */
  give(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return this.#changeBy(address, giveBody(body), view)
  }

  #changeBy(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    const planned = this.#flat.update(address, body, view) ?? this.#planned.update(address, body, view)
    const why = (): string => explainUnplanned(address.resource, 'update', body, this.#connection)
    return this.#write(planned, work => this.#update(address, body, view, work), view, why)
  }

  *#update(address: RecordAddress, body: JsonObject, view: View, work: Work): Coroutine<Written> {
    const { resource, key } = address
    const entity = yield* this.#loaded(address, work, view, body)
    const change = yield* this.#validator.validate(body, findClass(resource, entity), { mode: 'update', key }, view, entity)
    const before = yield* wait(this.#before(address, change, view))
    const stored = yield* readBefore(resource, key, this.#lookUp)
    yield* wait(update(entity, change, work))
    yield* flushAndCheck(work, this.#reader)
    yield* requireWritten(address, { body, stored, lists: change.lists }, view, this.#lookUp)
    return yield* this.#changed(resource, key, view, before)
  }

  /** Changes the linked record; where none is linked, or the object names another type, creates and links one. */
  protected changeOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const why = (): string => `"${attribute.name}" is a link to one of several entities`
    return this.#write(undefined, work => this.#updateOneOf(address, attribute, body, view, work), view, why)
  }

  *#updateOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject, view: View, work: Work): Coroutine<Written> {
    const { [attribute.typeName]: type, ...rest } = body
    const branch = yield* wait(this.#reader.linkedBranch(address.resource, address.key, attribute, view))
    const isOther = branch === undefined || branch.target.readOnly || (type !== undefined && type !== branch.target.singular)
    if (!isOther) return yield* this.#updateLinked(address, branch, yield* this.filled(rest, branch.target, 'update', view), view, work)
    return yield* this.#update(address, yield* this.filled({ [attribute.name]: body }, address.resource, 'update', view), view, work)
  }

  // oxlint-disable-next-line require-yield -- a writer whose records are filled waits
  protected *filled(body: JsonObject, _resource: Resource, _mode: FillMode, _view: View): Coroutine<JsonObject> {
    return body
  }

  /** Creates and links a record where none is linked. */
  protected changeLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const planned = this.#planned.updateLinked(address, attribute, body, view)
    const why = (): string => explainUnplanned(attribute.target, 'update', body, this.#connection)
    return this.#write(planned, work => this.#updateLinked(address, attribute, body, view, work), view, why)
  }

  *#updateLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject, view: View, work: Work): Coroutine<Written> {
    const { resource, key } = address
    const { target } = attribute
    const entity = yield* this.#loaded(address, work, view)
    const linked = yield* wait(this.#linkedKey(address, attribute, view))
    yield* wait(authorize(target, linked === undefined ? 'create' : 'update', view.visibility, view.ctx))
    let before: JsonRecord | undefined
    let stored: JsonRecord | undefined
    if (linked === undefined) {
      // Refuses as for an ID, since creating would set the link.
      if (attribute.readOnly) yield* this.#validator.validate({ [attribute.name]: body }, resource, { mode: 'update', key }, view)
      if (attribute.owner) yield* wait(mayChange(address.resource, [address.key], work))
      const { otherSide } = attribute
      const implied =
        !attribute.owner && otherSide !== undefined ? { implied: { name: otherSide, key, link: owningAttribute(attribute) } } : {}
      const as = { mode: 'create', ...implied, linkedFrom: filledSide(attribute) } as const
      const record = yield* this.#validator.validate(body, target, as, view)
      before = yield* wait(this.#before(address, undefined, view))
      yield* wait(changeLink(entity, { attribute, path: attribute.name, link: { kind: 'new', record } }, resource, work))
    } else {
      const related = (yield* wait(load(target, linked, work)))!
      if (work.writing !== undefined) yield* work.writing.admit({ resource: target, key: linked, id: '' }, body)
      const change = yield* this.#validator.validate(body, findClass(target, related), { mode: 'update', key: linked }, view, related)
      before = yield* wait(this.#before(address, change, view))
      stored = yield* readBefore(target, linked, this.#lookUp)
      yield* wait(update(related, change, work))
    }
    yield* flushAndCheck(work, this.#reader)
    if (linked !== undefined) yield* requireWritten({ resource: target, key: linked }, { body, stored, lists: [] }, view, this.#lookUp)
    if (linked !== undefined) yield* wait(refuseLeft(target, linked, work, this.#reader))
    return yield* this.#changed(resource, key, view, before)
  }

  /** DELETE of a record; returns the former record. */
  delete(address: RecordAddress, view: View): Awaitable<Written> {
    const why = (): string => explainUnplanned(address.resource, 'delete', undefined, this.#connection)
    return this.#write(this.#removal.remove(address, view), work => this.#delete(address, view, work), view, why)
  }

  *#delete(address: RecordAddress, view: View, work: Work): Coroutine<Written> {
    const { resource, key, id } = address
    // The answer shows existence. A version may have a precondition; a record of a hierarchy may be several rows.
    const isPlain = resource.version === undefined && resource.hierarchy === undefined
    const isAlone = isPlain && view.visibility === EVERYTHING && removesAlone(resource, work)
    const loaded = isAlone ? undefined : yield* this.#loaded(address, work, view, {})
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) throw isAlone ? notFound(resource, id) : outsideScope(resource)
    yield* wait(remove(resource, [loaded ?? reference(resource, key, work.em)], work))
    yield* wait(work.em.flush())
    yield* requireRemoved(resource, key, record, view, this.#lookUp)
    return { resource, key, record }
  }

  /** DELETE of a to-one: removes the record, and the link. */
  deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute, view: View): Awaitable<Written> {
    const why = (): string => `the record that "${relation.name}" links is removed with the link`
    return this.#write(undefined, work => this.#deleteLinked(address, relation, view, work), view, why)
  }

  *#deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute, view: View, work: Work): Coroutine<Written> {
    const entity = yield* this.#loaded(address, work, view)
    const attribute =
      relation.kind === 'toOne' ? relation : yield* wait(this.#reader.linkedBranch(address.resource, address.key, relation, view))
    if (attribute === undefined) throw restError('record_not_found', `"${relation.name}" is empty: there is nothing to delete.`)
    const { target } = attribute
    if (relation.kind === 'toOneOf') yield* wait(authorize(target, 'delete', view.visibility, view.ctx))
    const linked = yield* wait(this.#linkedKey(address, attribute, view))
    if (linked === undefined) throw restError('record_not_found', `"${attribute.name}" is empty: there is no ${target.singular} to delete.`)
    if (attribute.owner && !attribute.nullable) {
      const detail = `The ${address.resource.singular} needs its "${attribute.name}", so the ${target.singular} cannot be deleted.`
      throw restError('owner_required', detail)
    }
    if (attribute.owner) yield* wait(mayChange(address.resource, [address.key], work))
    const written = yield* this.#written(target, linked, view)
    const related = (yield* wait(load(target, linked, work)))!
    if (attribute.owner) {
      entity[attribute.property] = null
      yield* wait(work.em.flush())
    }
    yield* wait(remove(target, [related], work))
    yield* wait(work.em.flush())
    yield* requireRemoved(target, linked, written.record, view, this.#lookUp)
    yield* wait(refuseLeft(address.resource, address.key, work, this.#reader))
    return written
  }

  /** DELETE of a list, within the filters; returns the former records. */
  deleteRelated(address: RecordAddress, attribute: ToManyAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const why = (): string => explainUnplanned(attribute.target, 'delete', undefined, this.#connection)
    const planned = this.#removal.removeRelated(address, attribute, view)
    return this.#write(planned, work => this.#deleteRelated(address, attribute, view, work), view, why)
  }

  *#deleteRelated(address: RecordAddress, attribute: ToManyAttribute, view: View, work: Work): Coroutine<readonly JsonRecord[]> {
    const { target } = attribute
    yield* this.#loaded(address, work, view)
    const records = yield* wait(this.#reader.relatedRecords(address.resource, address.key, attribute, view))
    const keys = yield* wait(this.#reader.relatedKeys(address.resource, address.key, attribute, view))
    const entities: Entity[] = []
    for (const key of keys) entities.push((yield* wait(load(target, key, work)))!)
    yield* wait(remove(target, entities, work))
    yield* wait(work.em.flush())
    yield* requireAllRemoved(
      target,
      keys.map((key, index) => ({ key, before: records[index]! })),
      view,
      this.#lookUp,
    )
    return records
  }

  async #linkedKey(address: RecordAddress, attribute: ToOneAttribute, view: View): Promise<KeyValues | undefined> {
    const [key] = await this.#reader.relatedKeys(address.resource, address.key, attribute, { ...view, parameters: NO_PARAMETERS })
    return key
  }

  /** @param body the planned change: `{}` for the whole record; undefined: none */
  *#loaded(address: RecordAddress, work: Work, view: View, body?: JsonObject): Coroutine<Entity> {
    const { resource, key, id } = address
    const isAlone = view.visibility === EVERYTHING && resource.hierarchy === undefined && loadsAlone(resource, work)
    const exists = isAlone || (yield* wait(work.exists(resource, key)))
    const entity = exists ? yield* wait(load(resource, key, work)) : undefined
    if (entity === undefined) throw notFound(resource, id)
    if (body !== undefined && work.writing !== undefined) yield* work.writing.admit(address, body)
    checkPrecondition(view.ctx.headers, findClass(resource, entity), entity)
    return entity
  }

  /** Evaluates the answer's access rules; returns the record where the change may remove it. */
  #before({ resource, key }: RecordAddress, change: RecordInput | undefined, view: View): Awaitable<JsonRecord | undefined> {
    const isPlain = change !== undefined && change.links.length === 0 && change.lists.length === 0
    return (this.#traits.removesOrphans && !isPlain) || hasFixed(resource)
      ? this.#reader.record(resource, key, view)
      : chain(this.#reader.prepare(resource, view), () => undefined)
  }

  /** Returns the former record, where rules of the model removed the record. */
  *#changed(resource: Resource, key: KeyValues, view: View, before: JsonRecord | undefined): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record !== undefined) return { resource, key, record }
    const mayLeave = hasFixed(resource) && (yield* wait(this.#reader.exists(resource, key, view.visibility.leaving())))
    if (!mayLeave && (yield* wait(this.#reader.exists(resource, key, EVERYTHING)))) throw outsideScope(resource)
    if (before !== undefined) return { resource, key, record: before, removed: true }
    throw restError('record_not_found', `The ${resource.singular} has been removed by its own change, which was undone.`)
  }

  *#written(resource: Resource, key: KeyValues, view: View): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, view))
    return record === undefined ? yield* refuseNew(resource, key, this.#lookUp) : { resource, key, record }
  }

  /** Whether a write may begin again: functions of the application are called once for a request. */
  #isRepeatable({ visibility }: View): boolean {
    return visibility === EVERYTHING && !this.#traits.renders
  }

  /**
   * The unit of work also writes where the statements are not enough.
   *
   * @param why reason for the missing plan, for `engine.explain`
   */
  #write<T>(planned: PlannedWrite<T> | undefined, steps: (work: Work) => Coroutine<T>, view: View, why: () => string): Awaitable<T> {
    const { trace } = view
    if (trace?.statements !== undefined) trace.ways.push(planned === undefined ? byUnitOfWork(why()) : BY_STATEMENTS)
    if (planned === undefined) return this.#transaction(steps, view)
    const otherwise = (): Awaitable<T> => {
      if (trace?.statements !== undefined)
        trace.ways.push(byUnitOfWork('the statements of the plan were not enough, and have been taken back'))
      return this.#transaction(steps, view, planned.values)
    }
    return this.#runPlanned(planned, view, otherwise)
  }

  /** @param otherwise called where the statements are not enough, with nothing written */
  #runPlanned<T>({ values, isWide, run }: PlannedWrite<T>, view: View, otherwise: () => Awaitable<T>): Awaitable<T> {
    const { end, ctx } = view
    const work = (): Awaitable<T | undefined> => {
      values?.begin()
      end?.throwIfReached()
      return runCoroutine(run())
    }
    const transact = (): Awaitable<T | undefined> => this.#connection.transact(work, end, this.#isRepeatable(view), ctx)
    return runTranslated(transact, this.#translating, view.trace, otherwise, isWide)
  }

  #transaction<T>(steps: (work: Work) => Coroutine<T>, view: View, values?: MadeValues): Awaitable<T> {
    const translating: Translating = { ...this.#translating }
    const work = (em: EntityManager): Awaitable<T> => {
      values?.beginIn(em)
      return runCoroutine(this.#workIn((translating.work = new RequestWork(em, this.#connection, this.#reader, view)), steps, view))
    }
    const transact = (): Awaitable<T> => this.#connection.write(work, view.end, this.#isRepeatable(view), view.ctx)
    return runTranslated(transact, translating, view.trace)
  }

  *#workIn<T>(work: Work, steps: (work: Work) => Coroutine<T>, view: View): Coroutine<T> {
    view.end?.throwIfReached()
    // A query must not flush half-changed entities.
    work.em.setFlushMode(FlushMode.COMMIT)
    // MikroORM does not order inserts and deletes where a class refers to an inheriting class.
    if (this.#traits.inherits) yield* wait(this.#connection.deferReferences())
    const result = yield* steps(work)
    if (work.writing !== undefined) yield* confirmWritten(work, work.writing)
    view.end?.throwIfReached()
    return result
  }
}
