/**
 * Collects links by the key known to clients (`Resource.shownKey`), such as a slug, and finds the primary keys by one statement per
 * resource. Validation runs again where a record is missing.
 */
import type { JsonObject } from '../../foundation/json/json.ts'
import { idFromJson, sameKey, shownText, type KeyValues, type ShownKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { findRowKeys, type RowKeys } from '../read/row-keys.ts'
import type { ExistingRef, RecordInput } from './record-input.ts'

interface OpenReference {
  readonly ref: { -readonly [K in keyof ExistingRef]: ExistingRef[K] }
  readonly target: Resource
  readonly text: string
}

const NO_KEY: KeyValues = Object.freeze([])
const NO_NAMES: ReadonlySet<string> = new Set()

export class References {
  /** References of the latest validation that wait for keys. */
  #open: OpenReference[] = []
  #wanted = new Map<Resource, Map<string, ShownKey>>()
  readonly #found = new Map<Resource, ReadonlyMap<string, KeyValues>>()
  readonly #lookedUp = new Set<string>()
  #expected = NO_NAMES
  /** The new record under validation, which may link itself. */
  ownName: string | undefined
  #isSettled = true

  begin(): void {
    this.ownName = undefined
    if (this.#wanted.size === 0) return
    this.#open = []
    this.#wanted = new Map()
    this.#isSettled = true
  }

  get isOpen(): boolean {
    return this.#wanted.size > 0
  }

  /** False: validation runs again to report missing records. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The key may come later. Undefined where no record has the ID. */
  refer(target: Resource, id: ShownKey, given: unknown, path: string): ExistingRef | undefined {
    const found = this.#lookUp(target, id)
    if (found === undefined) return undefined
    const ref = { kind: 'existing', key: NO_KEY, path, given } as const
    if (found !== 'open') return { ...ref, ...found }
    const text = shownText(id, target)
    const open = { ...ref }
    this.#open.push({ ref: open, target, text })
    return open
  }

  /** True before the look-up: validation runs again afterwards. */
  isOf(target: Resource, id: ShownKey, key: KeyValues): boolean {
    const found = this.#lookUp(target, id)
    if (found === 'open') this.#isSettled = false
    return found === 'open' || (found !== undefined && sameKey(found.key, key))
  }

  #lookUp(target: Resource, id: ShownKey): Pick<ExistingRef, 'key' | 'name' | 'isThere'> | 'open' | undefined {
    const text = shownText(id, target)
    const name = nameShown(target, text)
    if (name === this.ownName || this.#expected.has(name)) return { key: NO_KEY, name }
    const key = this.#found.get(target)?.get(text)
    if (key !== undefined) return { key, isThere: true }
    if (this.#lookedUp.has(name)) return undefined
    const wanted = this.#wanted.get(target) ?? new Map<string, ShownKey>()
    this.#wanted.set(target, wanted.set(text, id))
    return 'open'
  }

  /** Adds the new records of the body (`nameNew`). */
  addNewNames(names: ReadonlySet<string>): void {
    this.#expected = names
    for (const { ref, target, text } of this.#open) {
      const name = nameShown(target, text)
      if (!names.has(name)) continue
      ref.name = name
      this.#wanted.get(target)!.delete(text)
    }
  }

  /** In a seed, later records may link a record that a link creates. */
  addNewName(target: Resource, id: ShownKey): void {
    this.#expected = new Set([...this.#expected, nameShown(target, shownText(id, target))])
  }

  /** @param keep leaves the records visible to the caller: a hidden record must look missing, down to the order of errors */
  resolve(connection: ReadingConnection, keep: (found: RowKeys) => Awaitable<RowKeys> = found => found): Awaitable<void> {
    const wanted = this.#wanted
    return chain(chain(findRowKeys(wanted, connection), keep), found => {
      for (const [resource, keys] of found) this.#found.set(resource, new Map([...(this.#found.get(resource) ?? []), ...keys]))
      for (const [resource, keys] of wanted) for (const text of keys.keys()) this.#lookedUp.add(nameShown(resource, text))
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

/** Names a new record by the clients' key; undefined where the body gives none. */
export function nameNew({ resource, values }: RecordInput): string | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return undefined
  const given = values.find(({ attribute }) => attribute.name === shownKey.name)
  return given === undefined ? undefined : nameShown(resource, shownText({ shown: given.value as KeyValues[number] }, resource))
}

/** As `nameNew`, before validation. */
export function nameGiven(body: JsonObject, resource: Resource): string | undefined {
  const { shownKey } = resource
  const id = shownKey === undefined ? undefined : idFromJson(body[shownKey.name] ?? null, resource)
  return id === undefined ? undefined : nameShown(resource, shownText(id as ShownKey, resource))
}

export function nameAllNew(changes: readonly RecordInput[]): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (change: RecordInput): void => {
    const name = nameNew(change)
    if (name !== undefined) names.add(name)
    for (const { link } of change.links) if (link?.kind === 'new') collect(link.record)
    for (const { items } of change.lists) for (const item of items) if (item.kind === 'new') collect(item.record)
  }
  changes.forEach(collect)
  return names
}
