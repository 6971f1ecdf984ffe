/** Reads records as stored, whatever answers show, and bare values of columns, for entity tags, conditions and events. */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Reading, Row } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import type { KeyValues, RecordKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { planStored } from '../plan/plan.ts'
import type { Plans } from './plan-cache.ts'
import { findId } from './row-keys.ts'
import { readFirst, readRows, readStored, readTogether, type JsonRecord, type Stored } from './run-read.ts'

const NO_FILTERS = [] as const
const WHOLE = Object.freeze({ limit: Number.MAX_SAFE_INTEGER, offset: 0 })

export class StoredReader {
  readonly #connection: Connection
  readonly #plans: Plans

  constructor(connection: Connection, plans: Plans) {
    this.#connection = connection
    this.#plans = plans
  }

  /** Without hidden attributes. */
  record(resource: Resource, key: KeyValues): Awaitable<JsonRecord | undefined> {
    const { dialect } = this.#connection
    let read = this.#plans.stored.get(resource)
    if (read === undefined) this.#plans.stored.set(resource, (read = dialect.compile(planStored(resource))))
    return this.#connection.read(() => readFirst(read, { filters: [], key, ...WHOLE }, dialect))
  }

  id(resource: Resource, key: KeyValues): Awaitable<RecordKey | undefined> {
    return findId(resource, key, this.#connection)
  }

  /** With bare `columns`, the same for each resource. */
  recordWith(resource: Resource, key: KeyValues, columns: readonly string[]): Awaitable<Stored | undefined> {
    return this.#connection.read(this.#reading(resource, key, columns))
  }

  /** In one batch with another reading. */
  recordBeside<T>(
    resource: Resource,
    key: KeyValues,
    columns: readonly string[],
    other: () => Reading<T>,
  ): Awaitable<[Stored | undefined, T]> {
    const stored = this.#reading(resource, key, columns)
    return this.#connection.read(() => readTogether(stored(), other()))
  }

  #reading(resource: Resource, key: KeyValues, columns: readonly string[]): () => Reading<Stored | undefined> {
    const { dialect } = this.#connection
    let read = this.#plans.storedBeside.get(resource)
    if (read === undefined) this.#plans.storedBeside.set(resource, (read = dialect.compile(planStored(resource, columns))))
    return () => readStored(read, { filters: NO_FILTERS, key, ...WHOLE }, dialect)
  }

  /** Without waiting for another request's transaction. */
  columns(resource: Resource, key: KeyValues, columns: readonly string[]): Awaitable<Row | undefined> {
    const { dialect } = this.#connection
    let statement = this.#plans.columns.get(resource)
    if (statement === undefined) this.#plans.columns.set(resource, (statement = dialect.columns(resource, columns)))
    const rows = this.#connection.readNow(() => readRows(statement, { filters: [], key, ...WHOLE }, dialect))
    return chain(rows, ([row]) => row)
  }
}
