/**
 * Removes records by a statement, where no application code takes part, and the model removes no more than the database. Steps and errors
 * are as in entity-writer.ts.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Connection, RowsWritten } from '../database/connection.ts'
import { keyFromJson, type KeyValues } from '../../model/key.ts'
import { findHierarchyRoot, type Resource, type ToManyAttribute } from '../../model/model.ts'
import { owningLinks } from '../../model/owning-links.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { bindDelete, bindDeleteAll } from './bind-write.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import { hasPrecondition, type VersionReader } from '../validate/read-version.ts'
import { requireAllRemoved, requireRemoved, outsideScope } from '../validate/dropped-writes.ts'
import { RowRules } from './row-rules.ts'
import { bindKey } from './row-shape.ts'
import { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { checkReferrers } from '../validate/referrers.ts'
import { RequestCaller } from '../validate/request-caller.ts'

export class PlannedRemoval {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #versions: VersionReader

  constructor(connection: Connection, reader: Reader, versions: VersionReader) {
    this.#connection = connection
    this.#reader = reader
    this.#versions = versions
  }

  remove(address: RecordAddress, view: View): PlannedWrite<Written> | undefined {
    const plan = this.#plan(address.resource)
    return plan && { given: undefined, run: () => this.#remove(plan, address, view) }
  }

  #plan(resource: Resource): RowPlan | undefined {
    const plan = planRows(resource)
    return plan?.deletes === true && this.#connection.writesAlone() ? plan : undefined
  }

  removeRelated(owner: RecordAddress, list: ToManyAttribute, view: View): PlannedWrite<readonly JsonRecord[]> | undefined {
    const { resource } = owner
    const { target } = list
    // The unit of work loads the list's record, whose link to a removed record counts as a change.
    const root = findHierarchyRoot(target)
    const links = owningLinks(resource.attributes).some(({ attribute }) => findHierarchyRoot(attribute.target) === root)
    const plan = links ? undefined : this.#plan(target)
    return plan && { given: undefined, run: () => this.#removeRelated(plan, owner, list, view) }
  }

  *#remove({ stored }: RowPlan, address: RecordAddress, view: View): Coroutine<Written> {
    const { resource, key, id } = address
    const rules = view.visibility === EVERYTHING ? undefined : new RowRules(this.#connection, this.#reader, view)
    // Without rule or header to check, reading the answer shows whether the record exists.
    const isCheckedBefore = rules?.writing !== undefined || hasPrecondition(view.ctx.headers)
    const requiresFirst =
      isCheckedBefore && (rules?.hides(resource) === true || (rules?.writing !== undefined && resource.hierarchy !== undefined))
    if (requiresFirst) yield* rules.require(address)
    if (rules?.writing !== undefined) yield* rules.writing.requireWritable(resource, [key])
    yield* this.#versions.read(address, view, false)
    if (rules?.writing !== undefined) yield* rules.writing.requireRemovable([address], this.#connection)
    const { statement, parameters } = bindDelete(stored, bindKey(key, resource, stored, this.#connection), this.#connection)
    const remove = (): Awaitable<RowsWritten> => this.#connection.run(statement, parameters, 'nothing')
    let removing: Awaitable<RowsWritten> | undefined
    // A server gets the delete before the last answers to the reading. If the record must stay, the delete is undone. Stages of a trace
    // follow each other.
    const behind = (): void => {
      removing = remove()
      if (removing instanceof Promise) removing.catch(() => {})
    }
    const isAlone = resource.referrers.length === 0 && view.trace === undefined
    const reading = this.#reader.record(resource, key, isAlone ? { ...view, behind } : view)
    const record = yield* wait(reading)
    if (record === undefined) throw requiresFirst ? outsideScope(resource) : notFound(resource, id)
    if (resource.referrers.length > 0) yield* checkReferrers([{ resource, key }], new RequestCaller(this.#connection, this.#reader, view))
    const { rows } = yield* wait(removing ?? remove())
    if (rows === 0) yield* requireRemoved(resource, key, record, view, this.#lookUp)
    return { resource, key, record }
  }

  *#removeRelated({ stored }: RowPlan, owner: RecordAddress, list: ToManyAttribute, view: View): Coroutine<readonly JsonRecord[]> {
    const { target } = list
    if (!(yield* wait(this.#reader.exists(owner.resource, owner.key, view.visibility)))) throw notFound(owner.resource, owner.id)
    yield* this.#versions.read(owner, view, false)
    const records = yield* wait(this.#reader.relatedRecords(owner.resource, owner.key, list, view))
    if (records.length === 0) return records
    const keys = readKeys(records, target) ?? (yield* wait(this.#reader.relatedKeys(owner.resource, owner.key, list, view)))
    const removed = keys.map(key => ({ resource: target, key }))
    const writing = WriteRules.of(this.#reader, view)
    if (writing !== undefined) yield* writing.requireRemovable(removed, this.#connection)
    yield* checkReferrers(removed, new RequestCaller(this.#connection, this.#reader, view))
    const statements = bindDeleteAll(stored, keys, target, this.#connection)
    let count = 0
    for (const [index, { statement, parameters }] of statements.entries()) {
      count += (yield* wait(this.#connection.run(statement, parameters, index === statements.length - 1 ? 'reads' : 'writes'))).rows
    }
    const shown = keys.map((key, index) => ({ key, before: records[index]! }))
    if (count < keys.length) yield* requireAllRemoved(target, shown, view, this.#lookUp)
    return records
  }

  get #lookUp(): { readonly connection: Connection; readonly reader: Reader } {
    return { connection: this.#connection, reader: this.#reader }
  }
}

/** Undefined: records show other than stored values. */
function readKeys(records: readonly JsonRecord[], resource: Resource): readonly KeyValues[] | undefined {
  const [name] = resource.keyNames
  const attribute = resource.byName.get(name!)
  if (resource.key.length > 1 || attribute?.kind !== 'scalar' || attribute.render !== undefined) return undefined
  const keys: KeyValues[] = []
  for (const { [name!]: shown } of records) {
    const key = keyFromJson(shown, resource)
    if (key === undefined) return undefined
    keys.push(key)
  }
  return keys
}
