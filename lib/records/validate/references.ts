/**
 * References: the records that a body links by another key than the primary one (`Resource.shownKey`). A validation that comes upon such
 * IDs collects them, so that one statement for each resource looks for all of them. It is run again where one is missing.
 */
import type { JsonObject } from '../../foundation/json/json.ts'
import { idFromJson, sameKey, shownText, type KeyValues, type ShownKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { chain, type Awaitable } from '../../foundation/work/awaitable.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { findRowKeys, type RowKeys } from '../read/row-keys.ts'
import { listNew } from './linked-records.ts'
import type { ExistingRef, RecordInput } from './record-input.ts'

/** A reference that is yet to be given the key of its row. */
interface OpenReference {
  readonly ref: { -readonly [K in keyof ExistingRef]: ExistingRef[K] }
  readonly target: Resource
  readonly text: string
}

const NO_KEY: KeyValues = Object.freeze([])
const NO_NAMES: ReadonlySet<string> = new Set()

export class References {
  /** Those of the validation that has run last. */
  #open: OpenReference[] = []
  #wanted = new Map<Resource, Map<string, ShownKey>>()
  readonly #found = new Map<Resource, ReadonlyMap<string, KeyValues>>()
  /** The IDs that have been looked for. */
  readonly #asked = new Set<string>()
  #named = NO_NAMES
  /** Names the new record that is validated now, which may link itself. */
  own: string | undefined
  #isSettled = true

  /** A validation begins. */
  begin(): void {
    this.own = undefined
    if (this.#wanted.size === 0) return
    this.#open = []
    this.#wanted = new Map()
    this.#isSettled = true
  }

  /** Whether there are IDs that have not been looked for. */
  get isOpen(): boolean {
    return this.#wanted.size > 0
  }

  /** Whether all that the validation came upon has its key by now; else it is to be run again, which finds what is missing. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Returns the reference to the record of an ID, whose key may come later; undefined where there is no such record. */
  refer(target: Resource, id: ShownKey, given: unknown, path: string): ExistingRef | undefined {
    const found = this.#look(target, id)
    if (found === undefined) return undefined
    const ref = { kind: 'existing', key: NO_KEY, path, given } as const
    if (found !== 'open') return { ...ref, ...found }
    const text = shownText(id, target)
    const open = { ...ref }
    this.#open.push({ ref: open, target, text })
    return open
  }

  /** Whether an ID is that of the record of a key; true while nothing has been looked for: the validation is run again then. */
  isOf(target: Resource, id: ShownKey, key: KeyValues): boolean {
    const found = this.#look(target, id)
    if (found === 'open') this.#isSettled = false
    return found === 'open' || (found !== undefined && sameKey(found.key, key))
  }

  #look(target: Resource, id: ShownKey): Pick<ExistingRef, 'key' | 'name' | 'isThere'> | 'open' | undefined {
    const text = shownText(id, target)
    const name = nameShown(target, text)
    if (name === this.own || this.#named.has(name)) return { key: NO_KEY, name }
    const key = this.#found.get(target)?.get(text)
    if (key !== undefined) return { key, isThere: true }
    if (this.#asked.has(name)) return undefined
    const wanted = this.#wanted.get(target) ?? new Map<string, ShownKey>()
    this.#wanted.set(target, wanted.set(text, id))
    return 'open'
  }

  /** Makes the records known that come with those that refer to them, as `nameNew` calls them. */
  know(names: ReadonlySet<string>): void {
    this.#named = names
    for (const { ref, target, text } of this.#open) {
      const name = nameShown(target, text)
      if (!names.has(name)) continue
      ref.name = name
      this.#wanted.get(target)!.delete(text)
    }
  }

  /** Makes the record of an ID known that the records of a seed make as they come upon it: those behind refer to it. */
  expect(target: Resource, id: ShownKey): void {
    this.#named = new Set([...this.#named, nameShown(target, shownText(id, target))])
  }

  /**
   * Looks for the records of all IDs that were come upon, and gives the references their keys.
   *
   * @param keep leaves those that exist for the caller: of another one nothing may differ from one that is not there, the place of its
   * refusal among others included
   */
  resolve(connection: ReadingConnection, keep: (found: RowKeys) => Awaitable<RowKeys> = found => found): Awaitable<void> {
    const wanted = this.#wanted
    return chain(chain(findRowKeys(wanted, connection), keep), found => {
      for (const [resource, keys] of found) this.#found.set(resource, new Map([...(this.#found.get(resource) ?? []), ...keys]))
      for (const [resource, keys] of wanted) for (const text of keys.keys()) this.#asked.add(nameShown(resource, text))
      for (const { ref, target, text } of this.#open) {
        if (ref.name !== undefined) continue
        const key = found.get(target)?.get(text)
        if (key === undefined) this.#isSettled = false
        else Object.assign(ref, { key, isThere: true })
      }
    })
  }
}

function nameShown({ className }: Resource, text: string): string {
  return `${className}=${text}`
}

/** Returns the name by which a body refers to a new record, where its own body gives the key that clients know it by. */
export function nameNew({ resource, values }: RecordInput): string | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return undefined
  const given = values.find(({ attribute }) => attribute.name === shownKey.name)
  return given === undefined ? undefined : nameShown(resource, shownText({ shown: given.value as KeyValues[number] }, resource))
}

/** As `nameNew`, before the body is validated. */
export function nameGiven(body: JsonObject, resource: Resource): string | undefined {
  const { shownKey } = resource
  const id = shownKey === undefined ? undefined : idFromJson(body[shownKey.name] ?? null, resource)
  return id === undefined ? undefined : nameShown(resource, shownText(id as ShownKey, resource))
}

/** Returns the names of all records that changes make, those nested in them included. */
export function nameAllNew(changes: readonly RecordInput[]): ReadonlySet<string> {
  return new Set(changes.flatMap(change => listNew(change).flatMap(each => nameNew(each) ?? [])))
}
