/** Snapshot: the state of an engine's world at one moment, to go back to. */
import type { AuthState } from '../auth/authentication.ts'
import type { ClockSetting } from '../../foundation/base/clock.ts'
import type { WorldImage } from '../../records/database/world-store.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'

/** The part of a world beside its data. */
export interface WorldState {
  readonly clock: ClockSetting
  /** Undefined when the authentication module is off. */
  readonly auth: AuthState | undefined
  /** The seed of the next generated record that has none of its own. */
  readonly nextSeed: number
  /** The names that requests have added to open resources. */
  readonly learned: LearnedNames
}

/** What a snapshot holds. */
export interface SnapshotContents {
  /** The state that an engine shares with its forks, whose schema is the same. */
  readonly shared: object
  /** The whole database. */
  readonly image: WorldImage
  readonly state: WorldState
}

export let makeSnapshot: (contents: SnapshotContents) => Snapshot
/** Returns what a snapshot holds, which is no business of who keeps it. */
export let contentsOf: (snapshot: Snapshot) => SnapshotContents

const NAMES = new WeakMap<Snapshot, string>()

/** Gives a snapshot the name that events call it by. */
export function nameSnapshot(snapshot: Snapshot, name: string): void {
  NAMES.set(snapshot, name)
}

/** Returns the name of a snapshot, where it has one. */
export function findSnapshotName(snapshot: Snapshot): string | undefined {
  return NAMES.get(snapshot)
}

/**
 * The state of an engine at one moment, as `engine.snapshot()` gives it and `engine.restore(snapshot)` takes it. It never changes, and can
 * be restored any number of times, also by forks of the engine.
 */
export class Snapshot {
  readonly #contents: SnapshotContents

  private constructor(contents: SnapshotContents) {
    this.#contents = contents
  }

  static {
    makeSnapshot = contents => new Snapshot(contents)
    contentsOf = snapshot => snapshot.#contents
  }

  /** Size of the data, in bytes. */
  get size(): number {
    return this.#contents.image.size
  }
}
