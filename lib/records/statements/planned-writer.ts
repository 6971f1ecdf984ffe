/**
 * Planned writer: creates and changes records, nested ones included, by statements (plan-rows.ts), with the steps and errors of
 * entity-writer.ts, where no application code takes part. Gives undefined where nothing is written.
 */
import { authorize } from '../access/access-rules.ts'
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import { keyToSegment, type KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { bindColumns, bindInsert } from './bind-write.ts'
import { MadeValues } from './made-values.ts'
import { planChanges, planMember, planNew, type BodyPlan } from './plan-body.ts'
import { requireLists } from '../validate/dropped-writes.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import { readDocuments } from './planned-documents.ts'
import { PlannedRelations } from './planned-relations.ts'
import { withLink, type RecordInput } from '../validate/record-input.ts'
import { implyOwner, owningAttribute } from '../validate/relation-sides.ts'
import type { VersionReader } from '../validate/read-version.ts'
import type { Validation } from '../validate/validate-record.ts'
import { isHeldByOtherRows } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { findAskedClass } from '../validate/record-class.ts'
import { RowChanges, type RowRequest } from './row-changes.ts'
import { RowRules } from './row-rules.ts'
import { checkVersion } from '../validate/precondition.ts'
import type { ChangeValidator } from '../validate/validate-change.ts'
import { Unplanned } from './unplanned.ts'

interface PlannedBody {
  readonly row: RowPlan
  readonly body: BodyPlan
  /** Kept for a repeated write. */
  readonly values: MadeValues
}

interface PlannedRequest extends RowRequest {
  readonly values: MadeValues
  /** As sent by the client. */
  readonly id?: string
}

/** A record before the change. */
interface FoundRow {
  readonly view: View
  readonly rules: RowRules | undefined
  /** `undefined`: the request does not depend on the version. */
  readonly current: Record<string, unknown> | undefined
  /** The record shown by the answer. */
  readonly shown: RecordAddress
}

export class PlannedWriter {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator
  readonly #rows: RowChanges
  readonly #versions: VersionReader

  constructor(connection: Connection, reader: Reader, validator: ChangeValidator, versions: VersionReader) {
    this.#rows = new RowChanges(connection, reader, validator)
    this.#connection = connection
    this.#reader = reader
    this.#validator = validator
    this.#versions = versions
  }

  insert(resource: Resource, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    // A body may name the class of the record.
    const askedClass = findAskedClass(resource, body)
    const row = planRows(askedClass)
    const plan = row === null ? undefined : planNew(row, askedClass, body, this.#connection)
    return row !== null && plan !== undefined && this.#writes(plan)
      ? plannedBy(row, plan, planned => this.#insertBody(planned, resource, body, view))
      : undefined
  }

  append(owner: RecordAddress, list: ToManyAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const { resource } = owner
    const row = planRows(resource) === null ? null : planRows(list.target)
    const plan = row === null ? undefined : planMember(resource, list, body, this.#connection)
    if (row === null || plan === undefined || !this.#writes(plan)) return undefined
    const planned = plannedBy(row, plan, own => this.#appendBody(own, owner, list, body, view))
    // The unit of work explains a refused row between owner and member.
    return list.via.kind === 'pivot' ? { ...planned, isWide: true } : planned
  }

  update(address: RecordAddress, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const planned = this.#planChanges(address.resource, body)
    return planned && plannedBy(planned.row, planned.plan, own => this.#updateBody(own, address, body, view))
  }

  #planChanges(resource: Resource, body: JsonObject): { row: RowPlan; plan: BodyPlan } | undefined {
    const row = planRows(resource)
    const plan = row === null ? undefined : planChanges(row, resource, body, this.#connection)
    return row !== null && plan !== undefined && this.#writes(plan) ? { row, plan } : undefined
  }

  #writes({ pivots }: BodyPlan): boolean {
    for (const table of pivots.keys()) if (this.#connection.countsKeys(table)) return false
    return this.#connection.writesAlone()
  }

  #relations({ values, rules }: Pick<PlannedRequest, 'values' | 'rules'>): PlannedRelations {
    return new PlannedRelations(this.#connection, values, rules)
  }

  *#insertBody(
    { row: { stored }, body: plan, values }: PlannedBody,
    resource: Resource,
    body: JsonObject,
    view: View,
  ): Coroutine<Written | undefined> {
    const { isWide } = plan
    const rules = RowRules.of(this.#reader, view)
    const request: PlannedRequest = { resource, body, view, validation: { mode: 'create' }, isWide, values, rules }
    const change = yield* this.#validate(plan, request)
    yield* wait(this.#reader.prepare(resource, view))
    const key = isWide ? yield* this.#relations(request).create(change) : yield* this.#insert(change, stored, request)
    if (key === undefined) return undefined
    if (rules !== undefined) yield* rules.confirm()
    const written = yield* this.#rows.answerNew(key, request, rules?.writing)
    yield* this.#requireLists(change, key, request)
    return written
  }

  *#requireLists({ lists, resource }: RecordInput, key: KeyValues, { view }: PlannedRequest): Coroutine<void> {
    if (lists.length > 0) yield* requireLists(lists, resource, key, view, { connection: this.#connection, reader: this.#reader })
  }

  *#appendBody(
    { row, body: plan, values }: PlannedBody,
    owner: RecordAddress,
    list: ToManyAttribute,
    body: JsonObject,
    view: View,
  ): Coroutine<Written | undefined> {
    const { target: resource } = list
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, view.visibility)))) throw notFound(owner.resource, owner.id)
    const rules = RowRules.of(this.#reader, view)
    if (rules?.writing !== undefined && !isHeldByOtherRows(list)) yield* rules.writing.requireWritable(owner.resource, [owner.key])
    yield* this.#versions.read(owner, view, false)
    const { isWide } = plan
    const validation: Validation = { mode: 'create', ...implyOwner(list, owner.key) }
    const request: PlannedRequest = { resource, body, view, validation, isWide, values, rules }
    const change = yield* this.#validate(plan, request)
    yield* wait(this.#reader.prepare(resource, view))
    const link = owningAttribute(list)
    const linkedChange = link === undefined ? change : withLink(change, link, owner.key)
    const key = isWide ? yield* this.#relations(request).create(linkedChange) : yield* this.#insert(linkedChange, row.stored, request)
    if (key === undefined) return undefined
    if (link === undefined) yield* this.#relations(request).enterPivot(list, key, owner)
    if (rules !== undefined) yield* rules.confirm()
    return yield* this.#rows.answerNew(key, request, rules?.writing)
  }

  *#insert(change: RecordInput, stored: StoredTable, request: PlannedRequest): Coroutine<KeyValues | undefined> {
    const bound = bindInsert(change, stored, this.#connection, request.values)
    return bound && (yield* this.#rows.insert(bound, stored, request))
  }

  /** Changes the linked record; answers with the linking record. */
  updateLinked(owner: RecordAddress, link: ToOneAttribute, body: JsonObject, view: View): PlannedWrite<Written> | undefined {
    const planned = this.#planChanges(link.target, body)
    // Another record of the body may be the linking record, which the unit of work has loaded.
    if (planned === undefined || planned.plan.isWide) return undefined
    return plannedBy(planned.row, planned.plan, own => this.#updateLinkedBody(own, owner, link, body, view))
  }

  /** Changes the linked record; answers with the linking record. */
  *#updateLinkedBody(
    plan: PlannedBody,
    owner: RecordAddress,
    link: ToOneAttribute,
    body: JsonObject,
    view: View,
  ): Coroutine<Written | undefined> {
    const { visibility, ctx } = view
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    const [key] = yield* wait(this.#reader.relatedKeys(owner.resource, owner.key, link, { ...view, parameters: NO_PARAMETERS }))
    // The unit of work creates the record.
    if (key === undefined) return undefined
    yield* wait(authorize(link.target, 'update', visibility, ctx))
    const address = { resource: link.target, key, id: keyToSegment(key, link.target) }
    const rules = RowRules.of(this.#reader, view)
    if (rules?.writing !== undefined) yield* rules.writing.admit(address, body)
    const { version } = link.target
    const isGiven = version !== undefined && body[version.name] !== undefined
    const current = isGiven ? yield* this.#versions.read(address, { ...view, ctx: { ...view.ctx, headers: {} } }, true) : undefined
    return yield* this.#update(plan, address, body, { view, rules, current, shown: owner })
  }

  *#updateBody(plan: PlannedBody, address: RecordAddress, body: JsonObject, view: View): Coroutine<Written | undefined> {
    const { resource, key, id } = address
    const { version } = resource
    // A new record could get the missing record's key. A missing or hidden record gives record_not_found before a trigger refuses.
    const rules = RowRules.of(this.#reader, view)
    const asksFirst = plan.body.created.size > 0 || this.#connection.mayHoldMisfits
    if (rules?.asksOf(resource) === true) yield* rules.admit(address, body)
    else if (asksFirst && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id)
    const current = yield* this.#versions.read(address, view, version !== undefined && body[version.name] !== undefined)
    return yield* this.#update(plan, address, body, { view, rules, current, shown: address })
  }

  *#update(
    plan: PlannedBody,
    address: RecordAddress,
    body: JsonObject,
    { view, rules, current, shown }: FoundRow,
  ): Coroutine<Written | undefined> {
    const { resource, key, id } = address
    const { values } = plan
    const request: PlannedRequest = {
      resource,
      body,
      view,
      validation: { mode: 'update', key },
      isWide: plan.body.isWide,
      values,
      rules,
      id,
    }
    const relations = this.#relations(request)
    // Errors of the body come before version_conflict.
    const linksLater = current === undefined && this.#refusesLinks(plan.body) && seesMembers(plan.body, view)
    const change = yield* this.#validate(plan.body, request, linksLater)
    yield* wait(this.#reader.prepare(shown.resource, view))
    // Missing parts come before version_conflict.
    const documents = yield* readDocuments(change, key, this.#connection)
    if (documents === undefined) return undefined
    if (current !== undefined) yield* this.#checkVersion(current, change, plan.body, request)
    if (plan.body.isWide && (yield* relations.areRefused(change.lists, resource, key))) return undefined
    const rowChange = plan.body.isWide ? yield* relations.createLinked(change) : change
    const columns = bindColumns(rowChange, plan.row.stored, this.#connection, documents)
    if (columns === undefined) return this.#leave(plan.body)
    // Visibility of list members may depend on the record before the change.
    if (plan.body.isWide) {
      try {
        yield* relations.replace(change.lists, resource, key)
      } catch (error) {
        if (linksLater && this.#connection.dialect.breaksConstraint(error)) yield* this.#validate(plan.body, request)
        throw error
      }
    }
    const written = (yield* this.#rows.update({ row: plan.row, columns, address, shown }, request)) ?? this.#leave(plan.body)
    yield* this.#requireLists(change, key, request)
    return written
  }

  #leave({ isWide }: BodyPlan): undefined {
    if (isWide) throw new Unplanned()
    return undefined
  }

  /** All errors of the body come first, taken values included. */
  *#checkVersion(
    current: Record<string, unknown>,
    change: RecordInput,
    { keepsUnique }: BodyPlan,
    request: PlannedRequest,
  ): Coroutine<void> {
    try {
      checkVersion(current, change)
    } catch (error) {
      const { body, resource, validation, view } = request
      if (this.#finds(keepsUnique)) yield* this.#validator.validate(body, resource, validation, view)
      throw error
    }
  }

  /** An existing database may lack the model's constraints. */
  #finds(keepsUnique: boolean): boolean {
    return keepsUnique && this.#connection.keepsConstraints
  }

  /** Whether all links are members of many-to-many lists, and the database refuses missing members. */
  #refusesLinks({ pivots, created, linksOthers }: BodyPlan): boolean {
    if (pivots.size === 0 || created.size > 0 || linksOthers) return false
    for (const [table, { via }] of pivots)
      if (via.kind !== 'pivot' || !this.#connection.refusesLinks(table, via.targetColumns[0]!)) return false
    return true
  }

  /**
   * A missing or hidden record gives record_not_found alone.
   *
   * @param linksLater see `Validation`
   */
  *#validate(
    { keepsUnique, mayLack }: BodyPlan,
    { resource, body, validation, view, isWide, id }: PlannedRequest,
    linksLater = false,
  ): Coroutine<RecordInput> {
    // An undone write has drawn keys, and a rule for writing refuses members before the row is written.
    const asksFirst = isWide && (this.#connection.dialect.failsWhole || view.visibility.writing !== undefined)
    const uniquesLater = this.#finds(keepsUnique) && !asksFirst
    try {
      return yield* this.#validator.validate(body, resource, { ...validation, uniquesLater, linksLater }, view)
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      const { key } = validation
      if (key !== undefined && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id!)
      // The unit of work reports all errors at once.
      if (mayLack) throw new Unplanned('', { cause: error })
      if (uniquesLater) return yield* this.#validator.validate(body, resource, validation, view)
      throw error
    }
  }
}

function plannedBy(row: RowPlan, body: BodyPlan, run: (planned: PlannedBody) => Coroutine<Written | undefined>): PlannedWrite<Written> {
  const planned: PlannedBody = { row, body, values: new MadeValues() }
  return { values: planned.values, isWide: body.isWide, run: () => run(planned) }
}

/** Whether the caller sees all possible members, as far as known at once. */
function seesMembers({ pivots }: BodyPlan, { visibility }: View): boolean {
  if (visibility === EVERYTHING) return true
  if (visibility.writing !== undefined) return false
  for (const { target } of pivots.values()) if (visibility.restricts(target) || visibility.permits(target, 'get') !== true) return false
  return true
}
