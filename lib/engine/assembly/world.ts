/**
 * Snapshots and restores the world of an engine: data, clock, log-ins, seeds and learned names. Throws TypeError for a snapshot of another
 * model, and Error for a closed engine.
 */
import type { Authentication } from '../auth/authentication.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { OpenDatabase, StoredSecrets, Unavailable, WorldImage, WorldStore } from '../../records/database/world-store.ts'
import type { Journal } from '../journal/journal.ts'
import type { Events } from '../testing/events.ts'
import type { Faults } from '../testing/fault-injection.ts'
import type { Given } from '../testing/given.ts'
import type { Lifecycle } from '../pipeline/lifecycle.ts'
import type { ServedVersions } from '../pipeline/served-versions.ts'
import type { SharedState } from '../pipeline/shared-state.ts'
import {
  Snapshot,
  contentsOf,
  findSnapshotName,
  makeSnapshot,
  type Persisted,
  type SnapshotContents,
  type WorldState,
} from '../worlds/snapshot.ts'

interface WorldParts {
  readonly shared: SharedState
  readonly store: WorldStore
  readonly clock: Clock
  readonly versions: ServedVersions
  readonly given: Given
  readonly authentication: Authentication | undefined
  readonly life: Lifecycle
  readonly faults: Faults
  readonly journal: Journal | undefined
  readonly events: Events
}

export class World {
  readonly #parts: WorldParts
  /** The state for `reset`, beside the data. */
  #origin: WorldState
  persisted: Persisted | undefined
  /** The beginning of the test, with the ID of the last request before. `undefined`: at `#origin`. */
  #begun: { readonly snapshot: Snapshot; readonly last: number } | undefined

  constructor(parts: WorldParts, state?: WorldState) {
    this.#parts = parts
    if (state !== undefined) this.#setState(state)
    this.#origin = this.#state()
  }

  /** To call before the first request. */
  continue(state: WorldState, origin: WorldState): void {
    this.#setState(state)
    this.#origin = origin
  }

  /** Works for a closing engine, too. */
  async take(): Promise<SnapshotContents> {
    await this.#settled()
    return { shared: this.#parts.shared, image: await this.#parts.store.image(), state: this.#state() }
  }

  /** `last`: the ID of the last request before. */
  async beginning(): Promise<SnapshotContents & { readonly last: number }> {
    const { life, shared, store } = this.#parts
    life.assertOpen()
    const begun = this.#begun
    if (begun !== undefined) return { ...contentsOf(begun.snapshot), last: begun.last }
    return { shared, image: await store.baseline(), state: this.#origin, last: 0 }
  }

  write(
    image: WorldImage,
    maxBytes: number,
    secrets: StoredSecrets = this.#parts.shared.secrets,
  ): Awaitable<Uint8Array | string | undefined> {
    return this.#parts.store.write(image, secrets, maxBytes)
  }

  size(): Awaitable<number> {
    this.#parts.life.assertOpen()
    return this.#parts.store.size()
  }

  stateBytes(): number {
    return this.#parts.store.imageBytes()
  }

  unavailable(): Awaitable<Unavailable> {
    this.#parts.life.assertOpen()
    return this.#parts.store.unavailable()
  }

  async snapshot(): Promise<Snapshot> {
    this.#parts.life.assertOpen()
    return makeSnapshot(await this.take())
  }

  /** @param check throws where nothing may be replaced; called before, while no write is running */
  async restore(snapshot: Snapshot, check?: () => void): Promise<void> {
    const { life, store, events } = this.#parts
    life.assertOpen()
    await this.#check(snapshot, 'restore')
    await this.#settled()
    const { image, state } = contentsOf(snapshot)
    await store.replace(image, () => {
      check?.()
      life.invalidate('restore')
    })
    this.#setState(state)
    this.#begun = { snapshot, last: this.#parts.journal?.position ?? 0 }
    events.restored(findSnapshotName(snapshot))
  }

  async begin(snapshot: Snapshot, scenario: string): Promise<void> {
    const { life, store, faults, journal, events } = this.#parts
    life.assertOpen()
    faults.reset()
    journal?.reset()
    await this.#settled()
    const { image, state } = contentsOf(snapshot)
    await store.replace(image, () => life.invalidate('scenario'))
    this.#setState(state)
    this.#begun = { snapshot, last: this.#parts.journal?.position ?? 0 }
    events.reset(scenario)
    this.#refuseUnmet('scenario')
  }

  async reset(): Promise<void> {
    const { life, store, faults, journal, events } = this.#parts
    life.assertOpen()
    faults.reset()
    journal?.reset()
    await this.#settled()
    await store.reset(() => life.invalidate('reset'))
    this.#setState(this.#origin)
    this.#begun = undefined
    events.reset()
    this.#refuseUnmet('reset')
  }

  /** Comes last: the next test must begin with a fresh world. */
  #refuseUnmet(by: string): void {
    const unmet = this.#parts.faults.takeUnmet(by)
    if (unmet !== undefined) throw unmet
  }

  async copy(snapshot?: Snapshot): Promise<{ readonly database: OpenDatabase; readonly state: WorldState }> {
    const { life, store } = this.#parts
    const from = snapshot ?? (await this.snapshot())
    life.assertOpen()
    await this.#settled()
    await this.#check(from, 'fork')
    const { image, state } = contentsOf(from)
    return { database: await store.fork(image), state }
  }

  async #check(snapshot: Snapshot, by: string): Promise<void> {
    if (!(snapshot instanceof Snapshot)) throw new TypeError(`engine.${by}: not a snapshot: take one with engine.snapshot().`)
    const { shared, store } = this.#parts
    const contents = contentsOf(snapshot)
    if (contents.shared === shared) return
    const differing = await store.differing(contents.image)
    if (differing.length > 0)
      throw new TypeError(`engine.${by}: the snapshot is of another model, which differs in ${differing.join(', ')}.`)
  }

  /** Waits until tokens minted just now are part of the state. */
  #settled(): Promise<void> | undefined {
    return this.#parts.authentication?.settled()
  }

  #state(): WorldState {
    const { clock, authentication, given, versions } = this.#parts
    return { clock: clock.setting, auth: authentication?.state, nextSeed: given.nextSeed, learned: versions.learned }
  }

  #setState({ clock, auth, nextSeed, learned }: WorldState): void {
    this.#parts.versions.restore(learned)
    this.#parts.clock.restore(clock)
    this.#parts.given.nextSeed = nextSeed
    if (auth !== undefined) this.#parts.authentication?.restore(auth)
    this.persisted?.changed()
  }
}
