/**
 * Keeps the versions in use. Names added to open resources, and added filters, compile new versions in the place of the old, in one step. A
 * request keeps its version.
 */
import type { Clock } from '../../foundation/async/clock.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { Model } from '../../model/model.ts'
import { NOTHING_LEARNED, addLearned, type LearnedNames } from '../../model/open-attributes.ts'
import type { Services } from './operate.ts'
import type { CheckedOptions } from '../options/options.ts'
import type { SharedState } from './shared-state.ts'
import { serveVersions } from './versions.ts'

interface ServingParts {
  readonly options: CheckedOptions
  readonly connection: Connection
  readonly shared: SharedState
  readonly clock: Clock
  readonly describe: (version: string, base: string, readOnly: boolean) => Promise<object>
}

export interface Growth {
  readonly served: ReadonlyMap<string, Services>
  readonly model: Model
  readonly adopt: () => void
}

export class ServedVersions {
  readonly #parts: ServingParts
  readonly #served: Map<string, Services>
  #learned: LearnedNames = NOTHING_LEARNED

  constructor(parts: ServingParts) {
    this.#parts = parts
    parts.connection.filters.onChange(() => this.#serve(this.#learned))
    this.#served = this.#compile(NOTHING_LEARNED)
  }

  /** The same map at each call: its entries change. */
  get byName(): ReadonlyMap<string, Services> {
    return this.#served
  }

  get first(): Services {
    const [first] = this.#served.values()
    return first!
  }

  get learned(): LearnedNames {
    return this.#learned
  }

  restore(learned: LearnedNames): void {
    if (learned === this.#learned) return
    this.#serve(learned)
  }

  #serve(learned: LearnedNames): void {
    for (const [version, services] of this.#compile(learned)) this.#served.set(version, services)
    this.#learned = learned
  }

  /** For a request whose transaction has not committed yet. */
  grow(more: LearnedNames): Growth {
    const served = this.#compile(addLearned(this.#learned, more))
    const [first] = served.values()
    return {
      served,
      model: first!.model,
      adopt: () => this.restore(addLearned(this.#learned, more)),
    }
  }

  #compile(learned: LearnedNames): Map<string, Services> {
    const { options, connection, shared, clock, describe } = this.#parts
    const { compile, passwords } = shared
    return serveVersions(compile(learned, connection.filters.named), options, { connection, clock, describe, passwords })
  }
}
