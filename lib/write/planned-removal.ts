/**
 * Planned removal: removes a record by a statement, inside the transaction of the request, where no code of the application takes part in it, and the model
 * removes nothing with the record but what the database does. The steps and the errors are those of writer.ts.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait } from '../base/awaitable.ts'
import type { Coroutine } from '../base/awaitable.ts'
import type { Connection } from '../database/dialect.ts'
import type { Resource } from '../model/model.ts'
import type { Reader, View } from '../read/reader.ts'
import { bindDelete, bindKey } from './bind-write.ts'
import { canWrite, planRows } from './plan-write.ts'
import type { RowPlan } from './plan-write.ts'
import type { VersionReader } from './read-version.ts'
import { checkReferrers } from './remove.ts'
import { Caller } from './request-work.ts'
import type { Address, Written } from './written.ts'

export class PlannedRemoval {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #versions: VersionReader

  constructor(connection: Connection, reader: Reader, versions: VersionReader) {
    this.#connection = connection
    this.#reader = reader
    this.#versions = versions
  }

  /** Returns how a statement removes a record; undefined where the unit of work does. */
  plan(resource: Resource, view: View): RowPlan | undefined {
    const plan = planRows(resource)
    return plan?.deletes === true && canWrite(view, this.#connection) ? plan : undefined
  }

  /** Removes the record of a path. */
  *remove({ stored }: RowPlan, address: Address, view: View): Coroutine<Written> {
    const { resource, key, id } = address
    yield* this.#versions.read(address, view, false)
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) throw notFound(resource, id)
    if (resource.referrers.length > 0) yield* checkReferrers([{ resource, key }], new Caller(this.#connection, this.#reader, view))
    const bound = bindDelete(stored, bindKey(key, resource, stored, this.#connection), this.#connection)
    yield* wait(this.#connection.run(bound.statement, bound.parameters))
    return { resource, key, record }
  }
}
