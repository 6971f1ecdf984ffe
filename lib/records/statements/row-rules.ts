/**
 * Asks the caller's rules about the rows of a planned write, before and after. Refuses with record_not_found, forbidden, outside_scope and
 * statement_dropped.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Connection } from '../database/connection.ts'
import { EVERYTHING, type Visibility } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { WriteRules } from '../validate/write-rules.ts'
import { RequestCaller } from '../validate/request-caller.ts'
import type { RecordAddress } from '../validate/written.ts'
import { outsideScope, refuseNew } from '../validate/dropped-writes.ts'

/** Without the row of the answer. */
interface TouchedRows {
  readonly made: KeyValues[]
  /** Linked or unlinked rows. */
  readonly linked: KeyValues[]
}

export class RowRules {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #view: View
  readonly visibility: Visibility
  readonly #touched = new Map<Resource, TouchedRows>()
  readonly writing: WriteRules | undefined

  /** Of a caller who sees `EVERYTHING`, nothing is asked. */
  constructor(connection: Connection, reader: Reader, view: View) {
    this.#connection = connection
    this.#reader = reader
    this.#view = view
    this.visibility = view.visibility
    this.writing = WriteRules.of(reader, view)
  }

  /** Hidden records are refused before any other error. */
  *require({ resource, key, id }: RecordAddress): Coroutine<void> {
    if (!(yield* wait(this.#reader.exists(resource, key, this.visibility)))) throw notFound(resource, id)
  }

  *admit(address: RecordAddress, body: JsonObject): Coroutine<void> {
    const { resource } = address
    const { writing } = this
    // The rule for writing has found the row.
    const mayFind = writing !== undefined && !this.hides(resource) && resource.hierarchy === undefined
    if (mayFind && (yield* writing.admit(address, body))) return
    yield* this.require(address)
    if (writing !== undefined) yield* writing.admit(address, body)
  }

  /** Refuses a change by which the record becomes hidden from the caller, except by a fixed filter. */
  *requireStays(resource: Resource, key: KeyValues): Coroutine<void> {
    if (!this.hides(resource) || (yield* wait(this.#reader.exists(resource, key, this.visibility)))) return
    yield* this.refuseLeft(resource, key)
  }

  /** For a record hidden now. */
  *refuseLeft(resource: Resource, key: KeyValues): Coroutine<void> {
    if (yield* wait(this.#caller().mayLeave(resource, key))) return
    if (yield* wait(this.#reader.exists(resource, key, EVERYTHING))) throw outsideScope(resource)
  }

  *permit(resource: Resource, action: 'update' | 'delete'): Coroutine<void> {
    yield* wait(this.#caller().authorize(resource, action))
  }

  permits(resource: Resource, action: 'update' | 'delete'): Awaitable<boolean> {
    return this.visibility.permits(resource, action)
  }

  asksOf(resource: Resource): boolean {
    return this.writing !== undefined || this.hides(resource)
  }

  hides({ rules }: Resource): boolean {
    return rules.scopes.length > 0
  }

  *findUnseen(resource: Resource, keys: readonly KeyValues[]): Coroutine<readonly KeyValues[]> {
    if (keys.length === 0 || !this.hides(resource)) return []
    const { visibility } = this
    const seen = keys.length === 1 ? undefined : yield* wait(this.#reader.existing(resource, keys, visibility))
    const unseen: KeyValues[] = []
    for (const key of keys) {
      if (!(seen === undefined ? yield* wait(this.#reader.exists(resource, key, visibility)) : seen.has(formatKey(key)))) unseen.push(key)
    }
    return unseen
  }

  #caller(): RequestCaller {
    return new RequestCaller(this.#connection, this.#reader, this.#view)
  }

  touch(resource: Resource, key: KeyValues, how: keyof TouchedRows): void {
    if (how === 'made') this.writing?.addNew(resource, key)
    if (!this.hides(resource)) return
    let rows = this.#touched.get(resource)
    if (rows === undefined) this.#touched.set(resource, (rows = { made: [], linked: [] }))
    rows[how].push(key)
  }

  /** Refuses new rows hidden from the caller, and linked rows out of scope. */
  *confirm(): Coroutine<void> {
    for (const [resource, { made, linked }] of this.#touched) {
      for (const key of yield* this.findUnseen(resource, made))
        yield* refuseNew(resource, key, { connection: this.#connection, reader: this.#reader })
      for (const key of yield* this.findUnseen(resource, linked)) yield* this.refuseLeft(resource, key)
    }
  }
}
