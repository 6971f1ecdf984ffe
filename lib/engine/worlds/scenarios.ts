/**
 * Makes the states of named seeds, for `engine.scenario`: a snapshot of the database before the seed, with the scenario's records, which
 * forks share. Throws RangeError for an unknown name, TypeError and RestError for records that the model refuses.
 */
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { checkSeeds, type Seeds } from '../../model/seeds.ts'
import type { Snapshot } from './snapshot.ts'

export interface ScenarioWorld {
  seed(data: Seeds): Promise<void>
  snapshot(): Promise<Snapshot>
  close(): Promise<void>
}

export class Scenarios {
  readonly #seeds: Readonly<Record<string, Seeds>>
  #empty: Snapshot | undefined
  readonly #made = new Map<string, Promise<Snapshot>>()

  constructor(seeds: Readonly<Record<string, Seeds>>) {
    this.#seeds = seeds
  }

  get names(): readonly string[] {
    return Object.keys(this.#seeds)
  }

  async start(takeSnapshot: () => Promise<Snapshot>): Promise<void> {
    if (this.names.length > 0) this.#empty = await takeSnapshot()
  }

  /** @param fork makes a world with the state */
  async find(name: string, fork: (state: Snapshot) => Promise<ScenarioWorld>): Promise<Snapshot> {
    if (!Object.hasOwn(this.#seeds, name)) throw this.#unknown(name)
    let making = this.#made.get(name)
    if (making === undefined) {
      making = make(this.#seeds[name]!, this.#empty!, fork)
      this.#made.set(name, making)
      // A failure is not kept: the next call tries again.
      making.catch(() => this.#made.delete(name))
    }
    return making
  }

  #unknown(name: unknown): RangeError {
    const known = this.names.length === 0 ? 'The option "scenarios" names none.' : `Known are ${this.names.join(', ')}.`
    return new RangeError(
      `engine.scenario: there is no scenario ${JSON.stringify(name)}.${formatHint(findNearest(String(name), this.names))} ${known}`,
    )
  }
}

async function make(data: Seeds, empty: Snapshot, fork: (state: Snapshot) => Promise<ScenarioWorld>): Promise<Snapshot> {
  const world = await fork(empty)
  try {
    await world.seed(data)
    return await world.snapshot()
  } finally {
    await world.close()
  }
}

export function checkScenarios(scenarios: unknown): void {
  if (typeof scenarios !== 'object' || scenarios === null || Array.isArray(scenarios))
    throw new TypeError('RestEngine.create: "scenarios" must be an object of seeds: { empty: {}, vip: { users: [...] } }.')
  for (const [name, data] of Object.entries(scenarios)) {
    if (!/^[\w.:-]{1,100}$/.test(name))
      throw new TypeError(
        `RestEngine.create: scenarios: ${JSON.stringify(name)} must be a name of at most 100 letters, digits and "_", ".", ":", "-".`,
      )
    checkSeeds(data, `RestEngine.create: "scenarios.${name}"`)
  }
}
