/** Snapshot: the state of an engine's world at one moment, to go back to. */
import type { AuthState } from '../auth/auth.ts'
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

/**
 * The state of an engine at one moment, as `engine.snapshot()` gives it and `engine.restore(snapshot)` takes it. It never changes, and can be restored any
 * number of times, also by forks of the engine.
 */
export class Snapshot {
  readonly #shared: object
  readonly #image: WorldImage
  readonly #state: WorldState

  /**
   * @internal
   * @param shared the state that an engine shares with its forks
   */
  constructor(shared: object, image: WorldImage, state: WorldState) {
    this.#shared = shared
    this.#image = image
    this.#state = state
  }

  /** Size of the data, in bytes. */
  get size(): number {
    return this.#image.size
  }

  /** @internal The whole database. */
  get image(): WorldImage {
    return this.#image
  }

  /** @internal */
  get state(): WorldState {
    return this.#state
  }

  /** @internal Whether it was taken of an engine with this shared state, whose schema is the same. */
  isOf(shared: object): boolean {
    return shared === this.#shared
  }
}
