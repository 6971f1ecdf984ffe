/**
 * Row rules: holds the rows that a planned write touches against the rules of the caller, where there are any: as they were before, and as
 * they have become. Both ways of writing refuse the same by the same errors; what a planned write with several rows may not do it leaves to
 * the unit of work, which says which row it is about: `Unplanned`. Refuses with record_not_found and outside_scope.
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/work/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { EVERYTHING, type Visibility } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { hasFixed } from '../../model/resource-rules.ts'
import { outsideScope } from '../unit-of-work/check-outcome.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'
import { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress } from '../validate/written.ts'

/** The rows of one resource that a write has touched beside the one that it answers with. */
interface TouchedRows {
  /** Those that it has made. */
  readonly made: KeyValues[]
  /** Those that it has linked or unlinked. */
  readonly linked: KeyValues[]
}

export class RowRules {
  readonly #reader: Reader
  /** What exists for the caller. */
  readonly visibility: Visibility
  readonly #touched = new Map<Resource, TouchedRows>()
  /** Which rows the caller may write, where that is not all that exist. */
  readonly writing: WriteRules | undefined

  private constructor(reader: Reader, view: View) {
    this.#reader = reader
    this.visibility = view.visibility
    this.writing = WriteRules.of(reader, view)
  }

  /** Returns the rules of a request; undefined where all rows exist for the caller, who may do everything. */
  static of(reader: Reader, view: View): RowRules | undefined {
    return view.visibility === EVERYTHING ? undefined : new RowRules(reader, view)
  }

  /** Refuses a record that does not exist for the caller, before anything else is said of it. */
  *require({ resource, key, id }: RecordAddress): Coroutine<void> {
    if (!(yield* wait(this.#reader.exists(resource, key, this.visibility)))) throw notFound(resource, id)
  }

  /** Refuses to change a record that does not exist for the caller, or that the caller may not write. */
  *admit(address: RecordAddress, body: JsonObject): Coroutine<void> {
    const { resource } = address
    const { writing } = this
    // A row that the rule for writing finds is there, and nothing is said of one that is hidden.
    const mayFind = writing !== undefined && !this.hides(resource) && resource.hierarchy === undefined
    if (mayFind && (yield* writing.admit(address, body))) return
    yield* this.require(address)
    if (writing !== undefined) yield* writing.admit(address, body)
  }

  /** Refuses the record of a path that its own change has taken out of what the caller is shown. */
  *refuseLeft({ resource, key }: RecordAddress): Coroutine<never> {
    // The answer to a soft deletion is the record as it was: the unit of work reads that before.
    if (!hasFixed(resource) && (yield* wait(this.#reader.exists(resource, key, EVERYTHING)))) throw outsideScope(resource)
    throw new Unplanned()
  }

  /** Refuses a changed record that has left the caller's scope. */
  *requireStays(resource: Resource, key: KeyValues): Coroutine<void> {
    if (resource.rules.scopes.length === 0 || (yield* wait(this.#reader.exists(resource, key, this.visibility)))) return
    if (hasFixed(resource)) throw new Unplanned()
    if (yield* wait(this.#reader.exists(resource, key, EVERYTHING))) throw outsideScope(resource)
  }

  /** Leaves to the unit of work what the caller may not do: it knows whether that has to be done at all. */
  *permit(resource: Resource, action: 'update' | 'delete'): Coroutine<void> {
    if (!(yield* wait(this.visibility.permits(resource, action)))) throw new Unplanned()
  }

  /** Whether more is to be known of a row of a resource, before it is changed, than that it is there. */
  asksOf(resource: Resource): boolean {
    return this.writing !== undefined || this.hides(resource)
  }

  /** Whether some of the rows of a resource may not exist for the caller. */
  hides({ rules }: Resource): boolean {
    return rules.scopes.length > 0
  }

  /** Whether the rows of a resource that a write makes are held against rules. */
  follows(resource: Resource): boolean {
    return this.hides(resource) || this.writing?.govern(resource) === true
  }

  /** Returns those of the keys whose records do not exist for the caller. */
  *findUnseen(resource: Resource, keys: readonly KeyValues[]): Coroutine<readonly KeyValues[]> {
    if (keys.length === 0 || !this.hides(resource)) return []
    const { visibility } = this
    const seen = keys.length === 1 ? undefined : yield* wait(this.#reader.existing(resource, keys, visibility))
    const unseen: KeyValues[] = []
    for (const key of keys) {
      if (!(seen === undefined ? yield* wait(this.#reader.exists(resource, key, visibility)) : seen.has(key.map(String).join())))
        unseen.push(key)
    }
    return unseen
  }

  /** Remembers a row that the write has touched, for `confirm`. */
  touch(resource: Resource, key: KeyValues, how: keyof TouchedRows): void {
    if (how === 'made') this.writing?.made(resource, key)
    if (!this.hides(resource)) return
    let rows = this.#touched.get(resource)
    if (rows === undefined) this.#touched.set(resource, (rows = { made: [], linked: [] }))
    rows[how].push(key)
  }

  /**
   * Refuses what the write has made of rows: the caller must see those that it has made, those that it has linked must not have left the
   * caller's scope.
   */
  *confirm(): Coroutine<void> {
    for (const [resource, { made, linked }] of this.#touched) {
      if ((yield* this.findUnseen(resource, made)).length > 0) throw new Unplanned()
      for (const key of yield* this.findUnseen(resource, linked)) {
        if (yield* wait(this.#reader.exists(resource, key, EVERYTHING))) throw new Unplanned()
      }
    }
  }
}
