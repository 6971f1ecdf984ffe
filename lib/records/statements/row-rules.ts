/**
 * Row rules: checks the rows of a planned write against the caller's rules, before and after. Refuses with record_not_found and
 * outside_scope; throws `Unplanned` where the unit of work must name the row of several.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { EVERYTHING, type Visibility } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress } from '../validate/written.ts'
import { outsideScope } from '../validate/dropped-writes.ts'
import { Unplanned } from './unplanned.ts'

/** Apart from the row of the answer. */
interface TouchedRows {
  readonly made: KeyValues[]
  /** Linked or unlinked rows. */
  readonly linked: KeyValues[]
}

export class RowRules {
  readonly #reader: Reader
  readonly visibility: Visibility
  readonly #touched = new Map<Resource, TouchedRows>()
  /** `undefined`: the caller may write all visible rows. */
  readonly writing: WriteRules | undefined

  private constructor(reader: Reader, view: View) {
    this.#reader = reader
    this.visibility = view.visibility
    this.writing = WriteRules.of(reader, view)
  }

  /** `undefined`: the caller sees all rows and may do everything. */
  static of(reader: Reader, view: View): RowRules | undefined {
    return view.visibility === EVERYTHING ? undefined : new RowRules(reader, view)
  }

  /** Refuses a hidden record, before any other error. */
  *require({ resource, key, id }: RecordAddress): Coroutine<void> {
    if (!(yield* wait(this.#reader.exists(resource, key, this.visibility)))) throw notFound(resource, id)
  }

  *admit(address: RecordAddress, body: JsonObject): Coroutine<void> {
    const { resource } = address
    const { writing } = this
    // A row found by the rule for writing exists. A hidden row gives record_not_found before.
    const mayFind = writing !== undefined && !this.hides(resource) && resource.hierarchy === undefined
    if (mayFind && (yield* writing.admit(address, body))) return
    yield* this.require(address)
    if (writing !== undefined) yield* writing.admit(address, body)
  }

  /** Refuses a change that hides the path's record from the caller. */
  *refuseLeft({ resource, key }: RecordAddress): Coroutine<never> {
    // A soft deletion answers with the former record, which the unit of work reads before.
    if (!hasFixed(resource) && (yield* wait(this.#reader.exists(resource, key, EVERYTHING)))) throw outsideScope(resource)
    throw new Unplanned()
  }

  *requireStays(resource: Resource, key: KeyValues): Coroutine<void> {
    if (resource.rules.scopes.length === 0 || (yield* wait(this.#reader.exists(resource, key, this.visibility)))) return
    if (hasFixed(resource)) throw new Unplanned()
    if (yield* wait(this.#reader.exists(resource, key, EVERYTHING))) throw outsideScope(resource)
  }

  /** The unit of work knows whether a forbidden action is needed at all. */
  *permit(resource: Resource, action: 'update' | 'delete'): Coroutine<void> {
    if (!(yield* wait(this.visibility.permits(resource, action)))) throw new Unplanned()
  }

  /** Whether rules must be asked before a change. */
  asksOf(resource: Resource): boolean {
    return this.writing !== undefined || this.hides(resource)
  }

  /** Whether rows may be hidden from the caller. */
  hides({ rules }: Resource): boolean {
    return rules.scopes.length > 0
  }

  /** Whether rules check new rows. */
  follows(resource: Resource): boolean {
    return this.hides(resource) || this.writing?.hasRules(resource) === true
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

  touch(resource: Resource, key: KeyValues, how: keyof TouchedRows): void {
    if (how === 'made') this.writing?.addNew(resource, key)
    if (!this.hides(resource)) return
    let rows = this.#touched.get(resource)
    if (rows === undefined) this.#touched.set(resource, (rows = { made: [], linked: [] }))
    rows[how].push(key)
  }

  /** The caller must see new rows, and linked rows must stay in the caller's scope. */
  *confirm(): Coroutine<void> {
    for (const [resource, { made, linked }] of this.#touched) {
      if ((yield* this.findUnseen(resource, made)).length > 0) throw new Unplanned()
      for (const key of yield* this.findUnseen(resource, linked)) {
        if (yield* wait(this.#reader.exists(resource, key, EVERYTHING))) throw new Unplanned()
      }
    }
  }
}
