/**
 * Served versions: what answers the requests of one engine at present. The model grows when a request adds names to an open resource, and
 * gets other rules when the application adds a filter to the entity manager: the versions are compiled with them, and take the place of the
 * old ones in one step. A request goes on with the version that it began with.
 */
import type { Clock } from '../../foundation/base/clock.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { Model } from '../../model/model.ts'
import { NOTHING_LEARNED, addLearned, type LearnedNames } from '../../model/open-attributes.ts'
import type { Services } from './operate.ts'
import type { CheckedOptions } from './options.ts'
import type { SharedState } from './shared-state.ts'
import { serveVersions } from './versions.ts'

/** What versions are served with. */
interface ServingParts {
  readonly options: CheckedOptions
  readonly connection: Connection
  readonly shared: SharedState
  readonly clock: Clock
  /** Returns the OpenAPI document of a version. */
  readonly describe: (version: string, base: string, readOnly: boolean) => Promise<object>
}

/** The versions with the names that a request adds. */
export interface Growth {
  readonly served: ReadonlyMap<string, Services>
  /** The model of the first version. */
  readonly model: Model
  /** Serves every request by them from now on. */
  readonly adopt: () => void
}

export class ServedVersions {
  readonly #parts: ServingParts
  readonly #served: Map<string, Services>
  #learned: LearnedNames = NOTHING_LEARNED

  constructor(parts: ServingParts) {
    this.#parts = parts
    parts.connection.filters.follow(() => this.#serve(this.#learned))
    this.#served = this.#compile(NOTHING_LEARNED)
  }

  /** The services by version. The map stays the same, whatever is learned. */
  get byName(): ReadonlyMap<string, Services> {
    return this.#served
  }

  /** The services of the first version. */
  get first(): Services {
    const [first] = this.#served.values()
    return first!
  }

  /** The names that requests have added. */
  get learned(): LearnedNames {
    return this.#learned
  }

  /** Serves the model with these names and no others. */
  restore(learned: LearnedNames): void {
    if (learned === this.#learned) return
    this.#serve(learned)
  }

  #serve(learned: LearnedNames): void {
    for (const [version, services] of this.#compile(learned)) this.#served.set(version, services)
    this.#learned = learned
  }

  /** Compiles the versions with more names, for a request whose transaction has not committed yet. */
  grow(more: LearnedNames): Growth {
    const served = this.#compile(addLearned(this.#learned, more))
    const [first] = served.values()
    return {
      served,
      model: first!.model,
      // Other requests may have added names meanwhile.
      adopt: () => this.restore(addLearned(this.#learned, more)),
    }
  }

  #compile(learned: LearnedNames): Map<string, Services> {
    const { options, connection, shared, clock, describe } = this.#parts
    const { compile, passwords } = shared
    return serveVersions(compile(learned, connection.filters.named), options, { connection, clock, describe, passwords })
  }
}
