/** Runs a write by MikroORM's unit of work, in an open transaction: loads, changes and flushes entities, then reads the answer. */
import { FlushMode, type EntityManager } from '@mikro-orm/core'
import { authorize } from '../access/access-rules.ts'
import { notFound } from '../access/resolve-path.ts'
import { chain, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Connection } from '../database/connection.ts'
import { findClass, keyOfEntity, type Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { append, changeLink, create, update } from './apply.ts'
import { confirmWritten, flushAndCheck, refuseLeft } from './check-outcome.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import {
  readBefore,
  requireAllRemoved,
  requireLists,
  requireRemoved,
  requireWritten,
  type LookUp,
  outsideScope,
  refuseNew,
} from '../validate/dropped-writes.ts'
import type { FillMode } from '../validate/fill-body.ts'
import type { ModelTraits } from '../validate/model-traits.ts'
import { checkPrecondition } from '../validate/precondition.ts'
import { remove } from './remove.ts'
import {
  load,
  loadsAlone,
  requireWritable,
  reference,
  removesAlone,
  type ConditionalMember,
  type Touched,
  type Work,
} from './unit-of-work.ts'
import { filledSide, implyOwner, owningAttribute } from '../validate/relation-sides.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { RequestCaller } from '../validate/request-caller.ts'
import { isHeldByOtherRows, WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import type { RecordInput } from '../validate/record-input.ts'
import type { ChangeValidator } from '../validate/validate-change.ts'

interface EntityWriterParts {
  readonly connection: Connection
  readonly reader: Reader
  readonly validator: ChangeValidator
  readonly traits: ModelTraits
  readonly addFills: (body: JsonObject, resource: Resource, mode: FillMode, view: View) => Coroutine<JsonObject>
}

export class EntityWriter {
  readonly work: RequestWork
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator
  readonly #traits: ModelTraits
  readonly #addFills: EntityWriterParts['addFills']
  readonly #view: View
  readonly #lookUp: LookUp

  constructor(em: EntityManager, parts: EntityWriterParts, view: View) {
    this.work = new RequestWork(em, parts.connection, parts.reader, view)
    this.#connection = parts.connection
    this.#reader = parts.reader
    this.#validator = parts.validator
    this.#traits = parts.traits
    this.#addFills = parts.addFills
    this.#view = view
    this.#lookUp = parts
  }

  *run<T>(steps: (writer: EntityWriter) => Coroutine<T>): Coroutine<T> {
    const { work } = this
    this.#view.end?.throwIfReached()
    work.em.setFlushMode(FlushMode.COMMIT)
    // MikroORM orders no inserts and deletes where a class refers to an inheriting class.
    if (this.#traits.hasHierarchies) yield* wait(this.#connection.deferReferences())
    const result = yield* steps(this)
    if (work.writing !== undefined) yield* confirmWritten(work, work.writing)
    this.#view.end?.throwIfReached()
    return result
  }

  *create(resource: Resource, body: JsonObject): Coroutine<Written> {
    const change = yield* this.#validator.validate(body, resource, { mode: 'create' }, this.#view)
    yield* wait(this.#reader.prepare(resource, this.#view))
    const entity = yield* wait(create(change, this.work))
    yield* flushAndCheck(this.work, this.#reader, { resource, entity })
    const written = yield* this.#written(resource, keyOfEntity(resource, entity))
    yield* requireLists(change.lists, resource, written.key, this.#view, this.#lookUp)
    return written
  }

  *append(address: RecordAddress, attribute: ToManyAttribute, body: JsonObject): Coroutine<Written> {
    const { target } = attribute
    const entity = yield* this.#loaded(address, isHeldByOtherRows(attribute) ? undefined : {})
    const change = yield* this.#validator.validate(body, target, { mode: 'create', ...implyOwner(attribute, address.key) }, this.#view)
    yield* wait(this.#reader.prepare(target, this.#view))
    const created = yield* wait(append(entity, attribute, change, this.work))
    yield* flushAndCheck(this.work, this.#reader)
    return yield* this.#written(target, keyOfEntity(target, created))
  }

  *update(address: RecordAddress, body: JsonObject): Coroutine<Written> {
    const { resource, key } = address
    const entity = yield* this.#loaded(address, body)
    const change = yield* this.#validator.validate(body, findClass(resource, entity), { mode: 'update', key }, this.#view, entity)
    const before = yield* wait(this.#before(address, change))
    const stored = yield* readBefore(resource, key, this.#lookUp)
    yield* wait(update(entity, change, this.work))
    yield* flushAndCheck(this.work, this.#reader)
    yield* requireWritten(address, { body, stored, lists: change.lists }, this.#view, this.#lookUp)
    return yield* this.#changed(resource, key, before)
  }

  *updateOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject): Coroutine<Written> {
    const { [attribute.typeName]: type, ...rest } = body
    const branch = yield* wait(this.#reader.linkedBranch(address.resource, address.key, attribute, this.#view))
    const isOther = branch === undefined || branch.target.readOnly || (type !== undefined && type !== branch.target.singular)
    if (!isOther) return yield* this.updateLinked(address, branch, yield* this.#addFills(rest, branch.target, 'update', this.#view))
    return yield* this.update(address, yield* this.#addFills({ [attribute.name]: body }, address.resource, 'update', this.#view))
  }

  *updateLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject): Coroutine<Written> {
    const { resource, key } = address
    const { target } = attribute
    const entity = yield* this.#loaded(address)
    const linked = yield* wait(this.#linkedKey(address, attribute))
    yield* wait(authorize(target, linked === undefined ? 'create' : 'update', this.#view.visibility, this.#view.ctx))
    let before: JsonRecord | undefined
    let stored: JsonRecord | undefined
    if (linked === undefined) {
      // Refuses a read-only link, as for an ID: creating would set the link.
      if (attribute.readOnly) yield* this.#validator.validate({ [attribute.name]: body }, resource, { mode: 'update', key }, this.#view)
      if (attribute.owner) yield* wait(requireWritable(address.resource, [address.key], this.work))
      const { otherSide } = attribute
      const implied =
        !attribute.owner && otherSide !== undefined ? { implied: { name: otherSide, key, link: owningAttribute(attribute) } } : {}
      const as = { mode: 'create', ...implied, linkedFrom: filledSide(attribute) } as const
      const record = yield* this.#validator.validate(body, target, as, this.#view)
      before = yield* wait(this.#before(address, undefined))
      yield* wait(changeLink(entity, { attribute, path: attribute.name, link: { kind: 'new', record } }, resource, this.work))
    } else {
      const related = (yield* wait(load(target, linked, this.work)))!
      if (this.work.writing !== undefined) yield* this.work.writing.admit({ resource: target, key: linked, id: '' }, body)
      const change = yield* this.#validator.validate(body, findClass(target, related), { mode: 'update', key: linked }, this.#view, related)
      before = yield* wait(this.#before(address, change))
      stored = yield* readBefore(target, linked, this.#lookUp)
      yield* wait(update(related, change, this.work))
    }
    yield* flushAndCheck(this.work, this.#reader)
    if (linked !== undefined)
      yield* requireWritten({ resource: target, key: linked }, { body, stored, lists: [] }, this.#view, this.#lookUp)
    if (linked !== undefined) yield* wait(refuseLeft(target, linked, this.work, this.#reader))
    return yield* this.#changed(resource, key, before)
  }

  *delete(address: RecordAddress): Coroutine<Written> {
    const { resource, key, id } = address
    // A version may have a precondition; a record of a hierarchy may be several rows.
    const isPlain = resource.version === undefined && resource.hierarchy === undefined
    const isAlone = isPlain && this.#view.visibility === EVERYTHING && removesAlone(resource, this.work)
    const loaded = isAlone ? undefined : yield* this.#loaded(address, {})
    const record = yield* wait(this.#reader.record(resource, key, this.#view))
    if (record === undefined) throw isAlone ? notFound(resource, id) : outsideScope(resource)
    yield* wait(remove(resource, [loaded ?? reference(resource, key, this.work.em)], this.work))
    yield* wait(this.work.em.flush())
    yield* requireRemoved(resource, key, record, this.#view, this.#lookUp)
    return { resource, key, record }
  }

  *deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute): Coroutine<Written> {
    const entity = yield* this.#loaded(address)
    const attribute =
      relation.kind === 'toOne' ? relation : yield* wait(this.#reader.linkedBranch(address.resource, address.key, relation, this.#view))
    if (attribute === undefined) throw restError('record_not_found', `"${relation.name}" is empty: there is nothing to delete.`)
    const { target } = attribute
    if (relation.kind === 'toOneOf') yield* wait(authorize(target, 'delete', this.#view.visibility, this.#view.ctx))
    const linked = yield* wait(this.#linkedKey(address, attribute))
    if (linked === undefined) throw restError('record_not_found', `"${attribute.name}" is empty: there is no ${target.singular} to delete.`)
    if (attribute.owner && !attribute.nullable) {
      const detail = `The ${address.resource.singular} needs its "${attribute.name}", so the ${target.singular} cannot be deleted.`
      throw restError('owner_required', detail)
    }
    if (attribute.owner) yield* wait(requireWritable(address.resource, [address.key], this.work))
    const written = yield* this.#written(target, linked)
    const related = (yield* wait(load(target, linked, this.work)))!
    if (attribute.owner) {
      entity[attribute.property] = null
      yield* wait(this.work.em.flush())
    }
    yield* wait(remove(target, [related], this.work))
    yield* wait(this.work.em.flush())
    yield* requireRemoved(target, linked, written.record, this.#view, this.#lookUp)
    yield* wait(refuseLeft(address.resource, address.key, this.work, this.#reader))
    return written
  }

  *deleteRelated(address: RecordAddress, attribute: ToManyAttribute): Coroutine<readonly JsonRecord[]> {
    const { target } = attribute
    yield* this.#loaded(address)
    const records = yield* wait(this.#reader.relatedRecords(address.resource, address.key, attribute, this.#view))
    const keys = yield* wait(this.#reader.relatedKeys(address.resource, address.key, attribute, this.#view))
    const entities: Entity[] = []
    for (const key of keys) entities.push((yield* wait(load(target, key, this.work)))!)
    yield* wait(remove(target, entities, this.work))
    yield* wait(this.work.em.flush())
    yield* requireAllRemoved(
      target,
      keys.map((key, index) => ({ key, before: records[index]! })),
      this.#view,
      this.#lookUp,
    )
    return records
  }

  async #linkedKey(address: RecordAddress, attribute: ToOneAttribute): Promise<KeyValues | undefined> {
    const [key] = await this.#reader.relatedKeys(address.resource, address.key, attribute, {
      ...this.#view,
      parameters: NO_PARAMETERS,
    })
    return key
  }

  /** @param body `{}` for the whole record; undefined: no change */
  *#loaded(address: RecordAddress, body?: JsonObject): Coroutine<Entity> {
    const { resource, key, id } = address
    const isAlone = this.#view.visibility === EVERYTHING && resource.hierarchy === undefined && loadsAlone(resource, this.work)
    const exists = isAlone || (yield* wait(this.work.isVisible(resource, key)))
    const entity = exists ? yield* wait(load(resource, key, this.work)) : undefined
    if (entity === undefined) throw notFound(resource, id)
    if (body !== undefined && this.work.writing !== undefined) yield* this.work.writing.admit(address, body)
    checkPrecondition(this.#view.ctx.headers, findClass(resource, entity), entity)
    return entity
  }

  /** Asks the answer's access rules; returns a record that the change may remove. */
  #before({ resource, key }: RecordAddress, change: RecordInput | undefined): Awaitable<JsonRecord | undefined> {
    const isPlain = change !== undefined && change.links.length === 0 && change.lists.length === 0
    return (this.#traits.removesOrphans && !isPlain) || hasFixed(resource)
      ? this.#reader.record(resource, key, this.#view)
      : chain(this.#reader.prepare(resource, this.#view), () => undefined)
  }

  /** The former record, if removed by rules of the model. */
  *#changed(resource: Resource, key: KeyValues, before: JsonRecord | undefined): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, this.#view))
    if (record !== undefined) return { resource, key, record }
    const mayLeave = hasFixed(resource) && (yield* wait(this.#reader.exists(resource, key, this.#view.visibility.leaving())))
    if (!mayLeave && (yield* wait(this.#reader.exists(resource, key, EVERYTHING)))) throw outsideScope(resource)
    if (before !== undefined) return { resource, key, record: before, removed: true }
    throw restError('record_not_found', `The ${resource.singular} has been removed by its own change, which was undone.`)
  }

  *#written(resource: Resource, key: KeyValues): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, this.#view))
    return record === undefined ? yield* refuseNew(resource, key, this.#lookUp) : { resource, key, record }
  }
}

class RequestWork extends RequestCaller implements Work {
  readonly em: EntityManager
  readonly conditional: ConditionalMember[] = []
  readonly newMembers: Work['newMembers'] = []
  readonly touched: Touched[] = []
  readonly setByBody = new Set<string>()
  readonly writing: WriteRules | undefined

  constructor(em: EntityManager, connection: Connection, reader: Reader, view: View) {
    super(connection, reader, view)
    this.em = em
    this.writing = WriteRules.of(reader, view)
  }
}
