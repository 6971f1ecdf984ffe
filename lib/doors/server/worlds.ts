/**
 * Worlds: forks of one engine by name, for tests that share a server. A world is forked from the engine's state at the start when it is first asked for, and
 * closed when nobody has asked for it for a while. Refuses with worlds_exhausted.
 */
import type { Clock } from '../../foundation/base/clock.ts'
import { restError } from '../../foundation/base/errors.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { RestError } from '../../foundation/base/errors.ts'
import { internalsOf } from '../../engine/pipeline/internals.ts'
import type { Delay, FaultHandle, Gate } from '../../engine/testing/fault-injection.ts'
import type { DropOptions, FailOptions, FaultOptions } from '../../engine/testing/fault-options.ts'
import type { RequestMatch } from '../../engine/testing/fault-request.ts'
import type { Give } from '../../engine/testing/given.ts'
import type { RateLimit } from '../../engine/testing/rate-limit.ts'
import type { Snapshot } from '../../engine/pipeline/snapshot.ts'

/** The members of `RestEngine` that test controls use. */
export interface WorldEngine {
  readonly base: string
  readonly versions: readonly string[]
  readonly limits: { readonly maxBodyBytes: number }
  readonly clock: Clock
  readonly requests: readonly object[]
  clearRequests(): void
  readonly given: Give
  seed(data: Readonly<Record<string, readonly object[]>>): Promise<void>
  snapshot(): Promise<Snapshot>
  restore(snapshot: Snapshot): Promise<void>
  reset(): Promise<void>
  scenario(name: string): Promise<void>
  readonly scenarios: readonly string[]
  fork(snapshot?: Snapshot): Promise<WorldEngine>
  token(user: unknown, options?: { readonly ttl?: number }): string
  delay(match: RequestMatch, delay: Delay, options?: FaultOptions): FaultHandle
  fail(match: RequestMatch, options: FailOptions): FaultHandle
  drop(match: RequestMatch, options?: DropOptions): FaultHandle
  rateLimit(match: RequestMatch, options: RateLimit): FaultHandle
  hold(match: RequestMatch, options?: FaultOptions): Gate
  close(): Promise<void>
}

/** One world of a server. */
export class World {
  readonly engine: WorldEngine
  /** The scenario with which it has begun, if any. */
  readonly scenario: string | undefined
  /** Snapshots and faults that have been asked for over HTTP, by their ID. */
  readonly snapshots = new Map<string, Snapshot>()
  readonly faults = new Map<string, NamedFault>()
  #running = 0
  #usedAt = performance.now()
  #named = 0

  constructor(engine: WorldEngine, scenario?: string) {
    this.engine = engine
    this.scenario = scenario
  }

  /** An ID for a snapshot or fault. */
  name(prefix: string): string {
    return `${prefix}${++this.#named}`
  }

  /** Counts work in this world, so that it is not idle meanwhile. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
      this.#usedAt = performance.now()
    }
  }

  /** Milliseconds since it was last used. */
  get idle(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#usedAt
  }
}

/** A fault that has an ID. */
export interface NamedFault {
  readonly kind: 'delay' | 'fail' | 'drop' | 'rateLimit' | 'hold'
  readonly match: string
  readonly handle: FaultHandle | Gate
}

/** How often idle worlds are looked for, as a part of the time after which they are. */
const ROUNDS = 4

/** The worlds of one server. */
export class Worlds {
  readonly #seeded: Promise<Snapshot>
  readonly #main: World
  readonly #worlds = new Map<string, Promise<World>>()
  readonly #timer: NodeJS.Timeout
  readonly #idle: number
  readonly #max: number

  /**
   * @param idle milliseconds after which an unused world is closed
   * @param max worlds that there may be at a time, apart from the engine's own
   */
  constructor(engine: WorldEngine, idle: number, max: number) {
    this.#idle = idle
    this.#max = max
    this.#main = new World(engine)
    this.#seeded = engine.snapshot()
    // Every request for a world gets the error.
    this.#seeded.catch(() => {})
    this.#timer = setInterval(() => void this.#closeIdle(), Math.max(1, idle / ROUNDS))
    this.#timer.unref()
  }

  /** The names of the worlds that there are, apart from the engine's own. */
  get names(): string[] {
    return [...this.#worlds.keys()]
  }

  /**
   * The world of a name: the engine's own without one.
   *
   * @param scenario the scenario with which the world begins; default: the state of the engine
   */
  async of(name: string | undefined, scenario?: string): Promise<World> {
    if (name === undefined) {
      if (scenario === undefined) return this.#main
      throw restError('request_malformed', 'X-Scenario is the scenario with which a world begins: name the world in X-World.')
    }
    let world = this.#worlds.get(name)
    if (world === undefined) {
      if (this.#worlds.size >= this.#max) throw this.#full(name)
      world = this.#fork(scenario)
      this.#worlds.set(name, world)
      world.catch(() => this.#worlds.delete(name))
    }
    const known = await world
    if (scenario !== undefined && known.scenario !== scenario) throw begunOtherwise(name, known, scenario)
    return known
  }

  #full(name: string): RestError {
    return restError(
      'worlds_exhausted',
      `There is no room for the world ${JSON.stringify(name)}: the server has ${this.#max} already. Close those that are done with (DELETE /_test/world), ` +
        'or raise testControls.maxWorlds of createServer.',
    )
  }

  async #fork(scenario: string | undefined): Promise<World> {
    const { engine } = this.#main
    if (scenario === undefined) return new World(await engine.fork(await this.#seeded))
    if (!engine.scenarios.includes(scenario)) throw unknownScenario(scenario, engine.scenarios)
    return new World(await engine.fork(await internalsOf(engine).scenarioSnapshot(scenario)), scenario)
  }

  /** Closes a world, if there is one of the name; the next request that names it begins a new one. */
  async drop(name: string): Promise<void> {
    const world = this.#worlds.get(name)
    this.#worlds.delete(name)
    await (await world)?.engine.close()
  }

  async #closeIdle(): Promise<void> {
    for (const [name, world] of this.#worlds) {
      // Asked again after the wait: it may have been used meanwhile.
      if ((await world).idle >= this.#idle && this.#worlds.get(name) === world) await this.drop(name)
    }
  }

  /** Closes all worlds but the engine's own. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.names.map(name => this.drop(name)))
  }
}

function unknownScenario(name: string, known: readonly string[]): RestError {
  const all = known.length === 0 ? 'The engine has none.' : `Known are ${known.join(', ')}.`
  const detail = `X-Scenario: there is no scenario ${JSON.stringify(name.slice(0, 100))}.${formatHint(findNearest(name, known))} ${all}`
  return restError('request_malformed', detail)
}

function begunOtherwise(name: string, { scenario }: World, wanted: string): RestError {
  const begun = scenario === undefined ? 'without a scenario' : `with the scenario "${scenario}"`
  return restError(
    'request_malformed',
    `The world ${JSON.stringify(name)} has begun ${begun}, not with ${JSON.stringify(wanted.slice(0, 100))}: POST /_test/scenario changes it.`,
  )
}
