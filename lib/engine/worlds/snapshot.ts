/** The snapshot of an engine, and the state of a world beside its data. */
import type { AuthState } from '../auth/authentication.ts'
import type { ClockSetting } from '../../foundation/async/clock.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { WorldImage } from '../../records/database/world-store.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'

/** The state of a world beside the data. */
export interface WorldState {
  readonly clock: ClockSetting
  readonly auth: AuthState | undefined
  /** For the next generated record without a seed. */
  readonly nextSeed: number
  /** Names added to open resources. */
  readonly learned: LearnedNames
}

export interface Persisted {
  /** The state beside the data has changed. */
  changed(): void
  /** @throws Error when the last state cannot be stored */
  end(): Promise<void>
}

export interface SnapshotContents {
  /** The same object in forks, with the same schema. */
  readonly shared: object
  readonly image: WorldImage
  readonly state: WorldState
}

export let makeSnapshot: (contents: SnapshotContents) => Snapshot
/** The application cannot see inside of a snapshot. */
export let contentsOf: (snapshot: Snapshot) => SnapshotContents

const NAMES = new WeakMap<Snapshot, string>()

/** Events show the name. */
export function nameSnapshot(snapshot: Snapshot, name: string): void {
  NAMES.set(snapshot, name)
}

export function findSnapshotName(snapshot: Snapshot): string | undefined {
  return NAMES.get(snapshot)
}

/**
 * The state of an engine at one moment, for `engine.restore(snapshot)`. A snapshot never changes, and can be restored any number of times,
 * also by forks.
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

  /** Bytes of the data. */
  get size(): number {
    return this.#contents.image.size
  }
}

/** A moment, by the request that came then. */
export type RequestPoint =
  | {
      /** The ID of a request in the journal: `engine.requests.at(-1).id`. */
      readonly before: number
    }
  | {
      /** The IDs of requests. */
      readonly undo: readonly number[]
    }

export function isRequestPoint(to: unknown): to is RequestPoint {
  return isObject(to) && ('before' in to || 'undo' in to)
}
