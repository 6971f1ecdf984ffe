/**
 * Write: the writing stages put together: validate, check, apply, and the answer read by the reading stages, in one transaction a request.
 * Refuses with body_invalid, validation_failed, unique_conflict, owner_required, version_conflict, record_not_found.
 */
import {
  CheckConstraintViolationException,
  DriverException,
  FlushMode,
  ForeignKeyConstraintViolationException,
  NotNullConstraintViolationException,
  OptimisticLockError,
  UniqueConstraintViolationException,
} from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import {
  append,
  changeLink,
  checkShared,
  create,
  load,
  loadsAlone,
  reference,
  remove,
  removesAlone,
  requireNewEmbedded,
  update,
} from './apply.ts'
import type { Work } from './apply.ts'
import { chain } from '../base/awaitable.ts'
import type { Awaitable } from '../base/awaitable.ts'
import { authorize } from '../access/access-rules.ts'
import { checkChanges } from './check-database.ts'
import type { Implied } from './check-database.ts'
import { addContradictions } from './contradictions.ts'
import type { Connection, Dialect } from '../database/dialect.ts'
import { RestError, restError } from '../base/errors.ts'
import type { FieldError } from '../base/errors.ts'
import { FieldErrors } from '../base/body-errors.ts'
import type { KeyValues } from '../model/key.ts'
import { tableColumns } from '../model/model.ts'
import type { Attribute, Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../model/model.ts'
import { classOf, keyOfEntity } from '../model/entity-key.ts'
import type { Entity } from '../model/entity-key.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { checkPrecondition } from './precondition.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { notFound } from '../access/resolve-path.ts'
import { EVERYTHING, retryWithRules } from '../plan/visibility.ts'
import { filledSide, isObject, linkedBy, owningAttribute, requireObject, validateRecord } from './validate-record.ts'
import type { Validation } from './validate-record.ts'
import { givesForms, renderedIn, withoutUnchanged } from './unchanged.ts'
import type { RecordInput } from './write-plan.ts'

/** A written record: its key, and its rendering as the request wants it. */
export interface Written {
  readonly resource: Resource
  readonly key: KeyValues
  readonly record: JsonRecord
  /** The write has removed the record, which is shown as it was. */
  readonly removed?: boolean
}

/** A record of which the path gives the resource and the key; `id` is the key as the client sent it. */
export interface Address {
  readonly resource: Resource
  readonly key: KeyValues
  readonly id: string
}

/** A change, with the faults of its body. */
interface ValidatedInput {
  readonly change: RecordInput
  readonly faults: FieldErrors
}

export class Writer {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #model: Model
  /** Whether the application's functions have a say in what answers show. */
  readonly #renders: boolean
  /** Whether classes inherit from each other. */
  readonly #inherits: boolean
  /** Whether the model removes what is linked no longer: that may be the very record of the path. */
  readonly #removesOrphans: boolean

  constructor(connection: Connection, reader: Reader, model: Model) {
    this.#connection = connection
    this.#reader = reader
    this.#model = model
    this.#renders = model.resources.some(({ attributes }) => attributes.some(isRendered))
    this.#inherits = model.resources.some(({ hierarchy }) => hierarchy !== undefined)
    this.#removesOrphans = model.entities.some(({ attributes }) => attributes.some(removesOrphans))
  }

  /** POST of a collection. */
  create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    requireObject(body, `of the attributes of the new ${resource.singular}`)
    return this.#transaction(
      work =>
        chain(this.#validated(body, resource, { mode: 'create' }, view), change =>
          chain(this.#reader.prepare(resource, view), () =>
            chain(create(change, work), entity =>
              chain(this.#settle(work, { resource, entity }), () => this.#written(resource, keyOfEntity(resource, entity), view)),
            ),
          ),
        ),
      view,
    )
  }

  /** POST of a list attribute. */
  append(owner: Address, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    const { target } = attribute
    requireObject(body, `of the attributes of the new ${target.singular}`)
    return this.#transaction(async work => {
      const entity = await this.#loaded(owner, work, view)
      const { via } = attribute
      const implied = via.kind === 'foreign' ? { implied: { name: via.attribute, key: owner.key, link: owningAttribute(attribute) } } : {}
      const change = await this.#validated(body, target, { mode: 'create', ...implied }, view)
      await this.#reader.prepare(target, view)
      const created = await append(entity, attribute, change, work)
      await this.#settle(work)
      return this.#written(target, keyOfEntity(target, created), view)
    }, view)
  }

  /** PUT and PATCH of a record: the given attributes change, the others stay. */
  update(address: Address, body: unknown, view: View): Awaitable<Written> {
    requireObject(body, `of the attributes to change`)
    return this.#change(address, body, view)
  }

  /** PUT and PATCH of an attribute. */
  updateAttribute(address: Address, attribute: Attribute, body: unknown, view: View): Awaitable<Written> {
    if (body === undefined) throw restError('body_invalid', `The body must be the JSON value of "${attribute.name}", got no body.`)
    if (attribute.kind === 'toMany' && !Array.isArray(body)) {
      throw restError('body_invalid', `The body must be an array of IDs or objects, which replaces "${attribute.name}".`)
    }
    if (attribute.kind === 'toOne') {
      if (Array.isArray(body) || typeof body === 'boolean') {
        throw restError('body_invalid', `The body must be an ID, an object or null, which "${attribute.name}" then refers to.`)
      }
      if (isObject(body) && !attribute.target.readOnly) return this.#changeLinked(address, attribute, body, view)
    }
    if (attribute.kind === 'toOneOf') {
      if (body !== null && !isObject(body)) {
        throw restError(
          'body_invalid',
          `The body must be an object with "${attribute.typeName}", or null, which "${attribute.name}" then refers to.`,
        )
      }
      if (body !== null && linkedBy(attribute, body) === undefined) return this.#changeOneOf(address, attribute, body, view)
    }
    return this.#change(address, { [attribute.name]: body }, view)
  }

  #change(address: Address, body: unknown, view: View): Awaitable<Written> {
    const { resource, key } = address
    return this.#transaction(
      work =>
        chain(this.#loaded(address, work, view), entity =>
          chain(this.#validated(body, classOf(resource, entity), { mode: 'update', key }, view, entity), change =>
            chain(this.#before(address, change, view), before =>
              chain(update(entity, change, work), () => chain(this.#settle(work), () => this.#changed(resource, key, view, before))),
            ),
          ),
        ),
      view,
    )
  }

  /** An object changes the record that is linked, when it is of the resource that the object tells, if any; else it creates and links one. */
  #changeOneOf(address: Address, attribute: ToOneOfAttribute, body: Readonly<Record<string, unknown>>, view: View): Awaitable<Written> {
    const { [attribute.typeName]: told, ...rest } = body
    return this.#transaction(async () => {
      const branch = await this.#reader.linkedBranch(address.resource, address.key, attribute, view)
      const isOther = branch === undefined || branch.target.readOnly || (told !== undefined && told !== branch.target.singular)
      return isOther ? this.#change(address, { [attribute.name]: body }, view) : this.#changeLinked(address, branch, rest, view)
    }, view)
  }

  /** An object changes the record that the to-one links, or creates and links one when there is none. */
  #changeLinked(address: Address, attribute: ToOneAttribute, body: unknown, view: View): Awaitable<Written> {
    const { resource, key } = address
    const { target } = attribute
    return this.#transaction(async work => {
      const entity = await this.#loaded(address, work, view)
      const linked = await this.#linkedKey(address, attribute, view)
      await authorize(target, linked === undefined ? 'create' : 'update', view.visibility, view.ctx)
      let before: JsonRecord | undefined
      if (linked === undefined) {
        const { otherSide } = attribute
        const implied =
          !attribute.owner && otherSide !== undefined ? { implied: { name: otherSide, key, link: owningAttribute(attribute) } } : {}
        const as = { mode: 'create', ...implied, linkedFrom: filledSide(attribute) } as const
        const record = await this.#validated(body, target, as, view)
        before = await this.#before(address, undefined, view)
        await changeLink(entity, { attribute, path: attribute.name, link: { kind: 'new', record } }, resource, work)
      } else {
        const related = (await load(target, linked, work))!
        const change = await this.#validated(body, classOf(target, related), { mode: 'update', key: linked }, view, related)
        before = await this.#before(address, change, view)
        await update(related, change, work)
      }
      await this.#settle(work)
      if (linked !== undefined) await this.#refuseLeft(target, linked, work)
      return this.#changed(resource, key, view, before)
    }, view)
  }

  /** DELETE of a record; gives it as it was. */
  delete(address: Address, view: View): Awaitable<Written> {
    const { resource, key } = address
    return this.#transaction(work => {
      // The answer is read in any case, and tells whether there is a record.
      // One with a version may be subject to a precondition, and one of several classes is of more than one row.
      const isPlain = resource.version === undefined && resource.hierarchy === undefined
      const isAlone = isPlain && view.visibility === EVERYTHING && removesAlone(resource, work)
      return chain(isAlone ? undefined : this.#loaded(address, work, view), loaded =>
        chain(this.#reader.record(resource, key, view), record => {
          if (record === undefined) throw isAlone ? notFound(resource, address.id) : outsideScope(resource)
          const removed = remove(resource, [loaded ?? reference(resource, key, work.em)], work)
          return chain(removed, () => chain(this.#connection.flush(work.em), () => ({ resource, key, record })))
        }),
      )
    }, view)
  }

  /** DELETE of a to-one: the related record goes, and the reference to it. */
  deleteLinked(address: Address, relation: ToOneAttribute | ToOneOfAttribute, view: View): Awaitable<Written> {
    return this.#transaction(async work => {
      const entity = await this.#loaded(address, work, view)
      const attribute =
        relation.kind === 'toOne' ? relation : await this.#reader.linkedBranch(address.resource, address.key, relation, view)
      if (attribute === undefined) throw restError('record_not_found', `"${relation.name}" is empty: there is nothing to delete.`)
      const { target } = attribute
      if (relation.kind === 'toOneOf') await authorize(target, 'delete', view.visibility, view.ctx)
      const linked = await this.#linkedKey(address, attribute, view)
      if (linked === undefined)
        throw restError('record_not_found', `"${attribute.name}" is empty: there is no ${target.singular} to delete.`)
      if (attribute.owner && !attribute.nullable) {
        throw restError(
          'owner_required',
          `The ${address.resource.singular} needs its "${attribute.name}", so the ${target.singular} cannot be deleted.`,
        )
      }
      const written = await this.#written(target, linked, view)
      const related = (await load(target, linked, work))!
      if (attribute.owner) {
        entity[attribute.property] = null
        await this.#connection.flush(work.em)
      }
      await remove(target, [related], work)
      await this.#connection.flush(work.em)
      await this.#refuseLeft(address.resource, address.key, work)
      return written
    }, view)
  }

  /** DELETE of a list: the related records that meet the filters go; gives them as they were. */
  deleteRelated(address: Address, attribute: ToManyAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const { target } = attribute
    return this.#transaction(async work => {
      await this.#loaded(address, work, view)
      const records = await this.#reader.relatedRecords(address.resource, address.key, attribute, view)
      const keys = await this.#reader.relatedKeys(address.resource, address.key, attribute, view)
      const entities: Entity[] = []
      for (const key of keys) entities.push((await load(target, key, work))!)
      await remove(target, entities, work)
      await this.#connection.flush(work.em)
      return records
    }, view)
  }

  async #linkedKey(address: Address, attribute: ToOneAttribute, view: View): Promise<KeyValues | undefined> {
    const [key] = await this.#reader.relatedKeys(address.resource, address.key, attribute, { ...view, parameters: NO_PARAMETERS })
    return key
  }

  #loaded(address: Address, work: Work, view: View): Awaitable<Entity> {
    const { resource, key, id } = address
    const isAlone = view.visibility === EVERYTHING && resource.hierarchy === undefined && loadsAlone(resource, work)
    return chain(isAlone || work.exists(resource, key), exists =>
      chain(exists ? load(resource, key, work) : undefined, entity => {
        if (entity === undefined) throw notFound(resource, id)
        checkPrecondition(view.ctx.headers, classOf(resource, entity), entity)
        return entity
      }),
    )
  }

  /** The change that a body asks for; `entity` is the record that is changed. */
  #validated(body: unknown, resource: Resource, validation: Validation, view: View, entity?: Entity): Awaitable<RecordInput> {
    const before = view.trace?.enter('validate')
    return chain(this.#changeAsked(body, resource, validation, view), ({ change, faults }) => {
      // First of all, so that the faults of a nested body tell nothing to those who may not make such records.
      const isNested = change.links.length > 0 || change.lists.length > 0
      return chain(isNested ? this.#authorizeNested(change, view) : undefined, () => {
        const { visibility } = view
        const lacking = entity === undefined ? [] : retryWithRules(visibility, () => requireNewEmbedded(entity, change, visibility))
        return chain(lacking, required => {
          // What was given and is wrong has its fault already.
          faults.push(...required.filter(({ attribute }) => !faults.has(attribute)))
          checkShared(change, entity, faults)
          addContradictions(change, validation.key, faults)
          const checking = { self: validation.key, implied: impliedBy(validation) }
          return chain(checkChanges([change], checking, this.#connection, visibility, faults), () => {
            const refusal = faults.refusal()
            if (refusal !== undefined) throw refusal
            if (before !== undefined) view.trace?.enter(before)
            return change
          })
        })
      })
    })
  }

  /** The change of a body as the model alone takes it: what is given as it is shown is no change, be it of a form that nobody may write. */
  #changeAsked(body: unknown, resource: Resource, validation: Validation, view: View): Awaitable<ValidatedInput> {
    const { visibility } = view
    const ask = (given: unknown): Awaitable<ValidatedInput> =>
      retryWithRules(visibility, () => {
        const faults = new FieldErrors(this.#reader.limits)
        return { change: validateRecord(given, resource, { ...validation, visibility }, faults), faults }
      })
    return chain(ask(body), asked => {
      const { key, mode } = validation
      const given = body as Readonly<Record<string, unknown>>
      if (mode !== 'update' || key === undefined || (asked.faults.listed.length === 0 && !givesForms(given, resource))) return asked
      return chain(this.#shown(given, resource, key, view), shown => {
        const rest = withoutUnchanged(given, resource, shown)
        return rest === given ? asked : ask(rest)
      })
    })
  }

  /** What is shown of a record: as it is stored, and, of what the body gives, as it is rendered. */
  #shown(body: Readonly<Record<string, unknown>>, resource: Resource, key: KeyValues, view: View): Awaitable<readonly JsonRecord[]> {
    const rendered = renderedIn(body, resource)
    return chain(this.#reader.stored(resource, key), stored => {
      const first = stored === undefined ? [] : [stored]
      if (rendered.length === 0) return first
      const parameters = { ...NO_PARAMETERS, depth: 0 as const, attributes: rendered }
      return chain(this.#reader.record(resource, key, { ...view, parameters }), record =>
        record === undefined ? first : [...first, record],
      )
    })
  }

  /** A body may only make records that the caller could make by themselves. */
  async #authorizeNested(change: RecordInput, view: View): Promise<void> {
    const refs = [...change.links.map(({ link }) => link), ...change.lists.flatMap(({ items }) => items)]
    for (const ref of refs) {
      if (ref?.kind !== 'new') continue
      await authorize(ref.record.resource, 'create', view.visibility, view.ctx)
      await this.#authorizeNested(ref.record, view)
    }
  }

  /** Writes what is pending; refuses records that the caller could not see afterwards. */
  #settle(work: Work, answered?: Work['touched'][number]): Awaitable<void> {
    return chain(this.#connection.flush(work.em), () => {
      const [touched, ...others] = work.touched
      // What is read for the answer tells the same.
      const isRead =
        work.listed.length === 0 && others.length === 0 && touched?.entity === answered?.entity && touched?.resource === answered?.resource
      if (!isRead) return chain(work.listed.length === 0 ? undefined : this.#refuseUnlisted(work), () => this.#refuseUnseen(work))
    })
  }

  /** Refuses what a body puts into a list that would not show it. */
  async #refuseUnlisted({ listed, meets }: Work): Promise<void> {
    const faults = new FieldErrors(this.#reader.limits)
    for (const { list, entity, path } of listed) {
      const { target, name } = list
      if (await meets(list, keyOfEntity(target, entity))) continue
      const detail = `"${path === '' ? name : path}": the ${target.singular} does not meet the condition of the model ("where") for what is in "${name}".`
      faults.push({ code: 'conflict', detail, attribute: path === '' ? name : path })
    }
    const refusal = faults.refusal()
    if (refusal !== undefined) throw refusal
  }

  /** From one of the touched records on. A loop, for a body may make thousands of records. */
  #refuseUnseen(work: Work, from = 0): Awaitable<void> {
    for (let index = from; index < work.touched.length; index++) {
      const touched = work.touched[index]!
      const { resource, entity, key = keyOfEntity(resource, entity) } = touched
      const exists = work.exists(resource, key)
      if (exists instanceof Promise) {
        return exists.then(async answer => {
          if (!answer) await this.#refuseOutside(touched, key, work)
          return this.#refuseUnseen(work, index + 1)
        })
      }
      if (!exists) return chain(this.#refuseOutside(touched, key, work), () => this.#refuseUnseen(work, index + 1))
    }
  }

  /** A record that was made must be seen; one that was changed may leave what a filter of its entity shows, and may be gone. */
  async #refuseOutside({ resource, key: old }: Work['touched'][number], key: KeyValues, work: Work): Promise<void> {
    if (old === undefined) throw outsideScope(resource)
    await this.#refuseLeft(resource, key, work)
  }

  /**
   * Refuses a change by which a record has left the scope of the caller. A filter of its own entity does not forbid it, such as that of soft deletion; and
   * one that is gone has left by the model's own rules.
   */
  async #refuseLeft(resource: Resource, key: KeyValues, { stays }: Work): Promise<void> {
    if (!(await stays(resource, key)) && (await this.#reader.exists(resource, key, EVERYTHING))) throw outsideScope(resource)
  }

  /** Asks what the answer will come upon; gives the record as it is, where the change may remove it. */
  #before({ resource, key }: Address, change: RecordInput | undefined, view: View): Awaitable<JsonRecord | undefined> {
    const isPlain = change !== undefined && change.links.length === 0 && change.lists.length === 0
    return this.#removesOrphans && !isPlain
      ? this.#reader.record(resource, key, view)
      : chain(this.#reader.prepare(resource, view), () => undefined)
  }

  /** The record of the path after it was changed; as it was, where the model's own rules have removed it. */
  #changed(resource: Resource, key: KeyValues, view: View, before: JsonRecord | undefined): Awaitable<Written> {
    return chain(this.#reader.record(resource, key, view), record =>
      record === undefined ? this.#left(resource, key, view, before) : { resource, key, record },
    )
  }

  async #left(resource: Resource, key: KeyValues, view: View, before: JsonRecord | undefined): Promise<Written> {
    const record = (await this.#reader.stays(resource, key, view.visibility))
      ? await this.#reader.record(resource, key, view, true)
      : undefined
    if (record !== undefined) return { resource, key, record }
    if (await this.#reader.exists(resource, key, EVERYTHING)) throw outsideScope(resource)
    if (before !== undefined) return { resource, key, record: before, removed: true }
    throw restError('record_not_found', `The ${resource.singular} has been removed by its own change, which was undone.`)
  }

  #written(resource: Resource, key: KeyValues, view: View): Awaitable<Written> {
    return chain(this.#reader.record(resource, key, view), record => {
      if (record === undefined) throw outsideScope(resource)
      return { resource, key, record }
    })
  }

  /** One transaction: all or nothing. What the database itself refuses is told in terms of the model. */
  #transaction<T>(work: (work: Work) => Awaitable<T>, { end, visibility, trace, ctx }: View): Awaitable<T> {
    const exists = (resource: Resource, key: KeyValues): Awaitable<boolean> => this.#reader.exists(resource, key, visibility)
    const meets = (list: ToManyAttribute, key: KeyValues): Awaitable<boolean> => this.#reader.meets(list, key)
    const stays = (resource: Resource, key: KeyValues): Awaitable<boolean> => this.#reader.stays(resource, key, visibility)
    const may = (resource: Resource, action: 'update' | 'delete'): Awaitable<void> => authorize(resource, action, visibility, ctx)
    const tells = async (resource: Resource): Promise<boolean> =>
      (await visibility.permits(resource, 'get')) && (await visibility.permits(resource, 'list'))
    const before = trace?.enter('write')
    const leave = (written: T): T => {
      if (before !== undefined) trace?.enter(before)
      return written
    }
    const fail = (error: unknown): never => {
      throw translateDatabaseError(error, this.#connection.dialect, this.#model)
    }
    const run = (em: EntityManager): Awaitable<T> => {
      end?.throwIfReached()
      // Looking for one record must not write others that are half changed.
      em.setFlushMode(FlushMode.COMMIT)
      // MikroORM does not find the order of inserts and deletes where a class refers to one that inherits.
      if (this.#inherits) this.#connection.deferReferences()
      return chain(
        work({ em, connection: this.#connection, exists, stays, meets, authorize: may, tells, touched: [], listed: [], named: new Set() }),
        result => {
          end?.throwIfReached()
          return result
        },
      )
    }
    try {
      const result = this.#connection.write(run, end, visibility === EVERYTHING && !this.#renders)
      return result instanceof Promise ? result.then(leave, fail) : leave(result)
    } catch (error) {
      return fail(error)
    }
  }
}

/** What the database itself refuses, told in terms of the model. */
export function translateDatabaseError(error: unknown, dialect: Dialect, model: Model): unknown {
  if (error instanceof RestError || !(error instanceof Error)) return error
  if (error instanceof OptimisticLockError) {
    return restError('version_conflict', 'The record has changed meanwhile.', { cause: error })
  }
  if (error instanceof ForeignKeyConstraintViolationException || dialect.breaksReference(error)) {
    return restError('owner_required', 'Records refer to each other, and one of them would be left without what it needs.', {
      cause: error,
    })
  }
  if (error instanceof UniqueConstraintViolationException || error instanceof NotNullConstraintViolationException) {
    const unique = error instanceof UniqueConstraintViolationException
    const names = violated(error, dialect, model)
    const errors = names.map((attribute): FieldError =>
      unique
        ? { code: 'not_unique', detail: `Another record has this ${names.map(name => `"${name}"`).join(' and ')} already.`, attribute }
        : { code: 'required', detail: `"${attribute}" must be given.`, attribute },
    )
    const detail = errors[0]?.detail ?? (unique ? 'A value that must be unique exists already.' : missing(dialect.violation(error)))
    return restError(unique ? 'unique_conflict' : 'validation_failed', detail, { errors, cause: error })
  }
  if (error instanceof CheckConstraintViolationException) {
    return restError('validation_failed', `A check of the model is not met: ${dialect.brokenCheck(error) ?? ''}.`, { cause: error })
  }
  if (error instanceof DriverException) {
    const said = dialect.refusal(error)
    if (said !== undefined) return restError('validation_failed', `The database refuses it: ${said}.`, { cause: error })
  }
  return error
}

/** Of a column that no attribute has. */
function missing(violation: ReturnType<Dialect['violation']>): string {
  if (violation === undefined) return 'A value that is needed is missing.'
  const columns = violation.columns.map(column => `"${column}"`).join(', ')
  return `The column ${columns} of the table "${violation.table}" must have a value, and no attribute gives it one.`
}

/** The attributes that a broken constraint is about. */
function violated(error: Error, dialect: Dialect, model: Model): string[] {
  const violation = dialect.violation(error)
  // As SQLite compares names, and the table is called in the file.
  const found = model.resources.find(({ table }) => table.toLowerCase() === violation?.table.toLowerCase())
  const resource = found?.hierarchy?.isShared === true ? found.hierarchy.root : found
  if (violation === undefined || resource === undefined) return []
  const columnsOf = (attribute: Attribute): readonly string[] =>
    attribute.kind === 'scalar'
      ? attribute.source.kind === 'column'
        ? [attribute.source.column]
        : []
      : attribute.kind === 'embedded'
        ? attribute.attributes.flatMap(columnsOf)
        : tableColumns(attribute)
  return resource.attributes
    .filter(attribute => columnsOf(attribute).some(column => violation.columns.includes(column)))
    .map(({ name }) => name)
}

function impliedBy({ implied }: Validation): Implied | undefined {
  return implied?.key === undefined ? undefined : { name: implied.name, owner: implied.key }
}

function outsideScope(resource: Resource) {
  return restError('outside_scope', `The ${resource.singular} would be outside of what you may see.`)
}

function removesOrphans(attribute: Attribute): boolean {
  if (attribute.kind === 'scalar') return false
  if (attribute.kind === 'embedded') return attribute.attributes.some(removesOrphans)
  return attribute.kind === 'toOneOf' ? attribute.branches.some(({ orphanRemoval }) => orphanRemoval) : attribute.orphanRemoval
}

function isRendered(attribute: Attribute): boolean {
  return attribute.render !== undefined || (attribute.kind === 'embedded' && attribute.attributes.some(isRendered))
}
