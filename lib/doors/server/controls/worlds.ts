/**
 * Worlds: forks of one engine by name, for tests that share a server. A world is forked from the engine's state at the start when it is
 * first asked for, and closed when nobody has asked for it for a while. Refuses with worlds_exhausted.
 */
import { restError, type RestError } from '../../../foundation/errors/errors.ts'
import { findNearest, formatHint } from '../../../foundation/base/suggest.ts'
import { refuseAsked } from './engine-refusal.ts'
import { internalsOf } from '../../../engine/pipeline/internals.ts'
import type { EngineInternals } from '../../../engine/pipeline/engine-internals.ts'
import type { Faults } from '../../../engine/testing/fault-injection.ts'
import { nameSnapshot, type Snapshot } from '../../../engine/pipeline/snapshot.ts'
import type { WorldEngine } from './world-engine.ts'

/** With which state a world has begun. */
interface WorldOrigin {
  /**
   * `engine`: it is the engine's own; `start`: the state of the engine when the server was made; `scenario`, or the state that another
   * `world` had.
   */
  readonly from: 'engine' | 'start' | 'scenario' | 'world'
  /** The name of the scenario; that of the other world, `null` for the engine's own. */
  readonly name?: string | null
}

/** A snapshot that has been asked for over HTTP. */
export interface NamedSnapshot {
  readonly snapshot: Snapshot
  /** When it was taken, by the clock of its world. */
  readonly at: string
  /** The ID of the last request before it. */
  readonly last: number
}

/** One world of a server. */
export class NamedWorld {
  readonly engine: WorldEngine
  readonly internals: EngineInternals
  readonly origin: WorldOrigin
  /** Snapshots that have been asked for over HTTP, by their ID. */
  readonly snapshots = new Map<string, NamedSnapshot>()
  #running = 0
  #usedAt = Date.now()
  #named = 0

  constructor(engine: WorldEngine, origin: WorldOrigin) {
    this.engine = engine
    this.origin = origin
    this.internals = internalsOf(engine)
  }

  /** From now on the journal keeps what its requests run: who controls a world wants to see that. */
  watch(): void {
    this.internals.keepStatements()
  }

  /** Of a recording: the state before the test is a snapshot, which goes back without losing the journal. */
  keepBeginning(snapshot: Snapshot): void {
    const { recorded } = this.internals
    if (recorded === undefined) return
    nameSnapshot(snapshot, 'before')
    this.snapshots.set('before', { snapshot, at: this.engine.clock.now().toISOString(), last: recorded.begun })
  }

  /** The scenario with which it has begun, if any. */
  get scenario(): string | undefined {
    return this.origin.from === 'scenario' ? (this.origin.name ?? undefined) : undefined
  }

  /** The faults of the world. */
  get faults(): Faults {
    return this.internals.parts.faults
  }

  /** The ID of its last request. */
  get last(): number {
    return this.internals.parts.journal?.position ?? 0
  }

  /** An ID for a snapshot. */
  freeName(): string {
    for (;;) {
      const name = `s${++this.#named}`
      if (!this.snapshots.has(name)) return name
    }
  }

  /** Work begins in this world, so that it is not idle meanwhile. */
  enter(): void {
    this.#running++
  }

  /** It has ended. */
  leave(): void {
    this.#running--
    this.#usedAt = Date.now()
  }

  /** Counts work in this world. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.enter()
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Milliseconds since it was last used. */
  get idle(): number {
    return this.#running > 0 ? 0 : Math.max(0, Date.now() - this.#usedAt)
  }
}

/** How often idle worlds are looked for, as a part of the time after which they are. */
const ROUNDS = 4

/** The worlds of one server. */
export class Worlds {
  /** Event streams that are open. */
  streams = 0
  readonly #ends = new AbortController()
  /** The state with which worlds begin; undefined: it has not been taken yet. */
  #seeded: Promise<Snapshot> | undefined
  readonly #main: NamedWorld
  readonly #worlds = new Map<string, Promise<NamedWorld>>()
  readonly #timer: NodeJS.Timeout
  readonly #idle: number
  readonly #max: number

  /**
   * @param idle milliseconds after which an unused world is closed
   * @param max worlds that there may be at a time, apart from the engine's own
   * @param isEager whether worlds begin with the state of now, else with that when the first is asked for: it costs a copy, or a log on a
   * server
   */
  constructor(engine: WorldEngine, idle: number, max: number, isEager: boolean) {
    this.#idle = idle
    this.#max = max
    this.#main = new NamedWorld(engine, { from: 'engine' })
    if (isEager) this.watch()
    if (isEager || this.#main.internals.recorded !== undefined) void this.#start()
    this.#timer = setInterval(() => void this.#closeIdle(), Math.max(1, idle / ROUNDS))
    this.#timer.unref()
  }

  /** From now on the engine's own world is watched, too. The others are, since somebody has asked for them. */
  watch(): void {
    this.#main.watch()
  }

  /** The names of the worlds that there are, apart from the engine's own. */
  get names(): string[] {
    return [...this.#worlds.keys()]
  }

  /** Aborts when the server is closed: event streams end. */
  get ends(): AbortSignal {
    return this.#ends.signal
  }

  /**
   * The world of a name: the engine's own without one.
   *
   * @param scenario the scenario with which the world begins; default: the state of the engine
   */
  async of(name: string | undefined, scenario?: string): Promise<NamedWorld> {
    if (name === undefined) {
      if (scenario === undefined) return this.#main
      throw restError('request_malformed', 'X-Scenario is the scenario with which a world begins: name the world in X-World.')
    }
    const known = await (this.#worlds.get(name) ?? this.#add(name, async () => this.#fork(scenario)))
    if (scenario !== undefined && known.scenario !== scenario) throw begunOtherwise(name, known, scenario)
    return known
  }

  /** Finds a world that there is. */
  async known(name: string): Promise<{ readonly world: NamedWorld; readonly name: string }> {
    const world = await this.#worlds.get(name)
    if (world === undefined) throw restError('path_unknown', `There is no world "${name}".${formatHint(findNearest(name, this.names))}`)
    return { world, name }
  }

  /** Makes a world with the present state of another one. */
  copy(name: string, { world, name: other }: { readonly world: NamedWorld; readonly name: string | undefined }): Promise<NamedWorld> {
    if (this.#worlds.has(name))
      throw restError('body_invalid', `There is a world "${name}" already: close it first (DELETE /_test/worlds/${name}).`)
    return this.#add(name, () => world.use(async () => new NamedWorld(await forkOf(world.engine), { from: 'world', name: other ?? null })))
  }

  #add(name: string, make: () => Promise<NamedWorld>): Promise<NamedWorld> {
    if (this.#worlds.size >= this.#max) throw this.#full(name)
    const making = watched(make()).catch(refuseAsked)
    this.#worlds.set(name, making)
    making.then(
      () => this.#tell(),
      () => this.#worlds.delete(name),
    )
    return making
  }

  /** Tells who listens to any of the worlds which there are. */
  #tell(): void {
    const names = this.names
    for (const each of [Promise.resolve(this.#main), ...this.#worlds.values()])
      void each.then(({ internals }) => internals.parts.events.worldsChanged(names)).catch(() => {})
  }

  /** Describes all worlds, the engine's own first. */
  async list(): Promise<object[]> {
    const others = [...this.#worlds].map(async ([name, making]) => this.describe(name, making))
    return Promise.all([this.describe(null, this.#main), ...others])
  }

  /** @param name `null`: the engine's own */
  async describe(name: string | null, making: NamedWorld | Promise<NamedWorld>): Promise<object> {
    const { internals, origin, idle, last } = await making
    const used = new Date(Date.now() - idle).toISOString()
    return { name, origin, size: await internals.size(), requests: last, lastUse: used, idle }
  }

  #full(name: string): RestError {
    return restError(
      'worlds_exhausted',
      `There is no room for the world ${JSON.stringify(name)}: the server has ${this.#max} already. ` +
        'Close those that are done with (DELETE /_test/world), ' +
        'or raise testControls.maxWorlds of createServer.',
    )
  }

  #start(): Promise<Snapshot> {
    if (this.#seeded === undefined) {
      this.#seeded = this.#main.engine.snapshot()
      // Every request for a world gets the error.
      this.#seeded.then(snapshot => this.#main.keepBeginning(snapshot)).catch(() => {})
    }
    return this.#seeded
  }

  async #fork(scenario: string | undefined): Promise<NamedWorld> {
    const { engine } = this.#main
    if (scenario === undefined) return new NamedWorld(await forkOf(engine, await this.#start()), { from: 'start' })
    if (!engine.scenarios.includes(scenario)) throw unknownScenario(scenario, engine.scenarios)
    const state = await internalsOf(engine).scenarioSnapshot(scenario)
    return new NamedWorld(await forkOf(engine, state), { from: 'scenario', name: scenario })
  }

  /** Closes a world, if there is one of the name; the next request that names it begins a new one. */
  async drop(name: string): Promise<void> {
    const world = this.#worlds.get(name)
    if (world === undefined) return
    this.#worlds.delete(name)
    this.#tell()
    await (await world).engine.close()
  }

  async #closeIdle(): Promise<void> {
    for (const [name, world] of this.#worlds) {
      // Asked again after the wait: it may have been used meanwhile.
      if ((await world).idle >= this.#idle && this.#worlds.get(name) === world) await this.drop(name)
    }
  }

  /** Ends the event streams: the server takes no more requests, and waits for none. */
  endStreams(): void {
    this.#ends.abort()
  }

  /** Closes all worlds but the engine's own. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.endStreams()
    await Promise.all(this.names.map(name => this.drop(name)))
  }
}

function unknownScenario(name: string, known: readonly string[]): RestError {
  const all = known.length === 0 ? 'The engine has none.' : `Known are ${known.join(', ')}.`
  const detail = `X-Scenario: there is no scenario ${JSON.stringify(name.slice(0, 100))}.${formatHint(findNearest(name, known))} ${all}`
  return restError('request_malformed', detail)
}

function begunOtherwise(name: string, { scenario }: NamedWorld, wanted: string): RestError {
  const begun = scenario === undefined ? 'without a scenario' : `with the scenario "${scenario}"`
  return restError(
    'request_malformed',
    `The world ${JSON.stringify(name)} has begun ${begun}, not with ${JSON.stringify(wanted.slice(0, 100))}: ` +
      'POST /_test/scenario changes it.',
  )
}

/** Its own workbench shows a world: it is in no list of engines. */
async function forkOf(engine: WorldEngine, snapshot?: Snapshot): Promise<WorldEngine> {
  return (await internalsOf(engine).fork(snapshot)) as unknown as WorldEngine
}

async function watched(making: Promise<NamedWorld>): Promise<NamedWorld> {
  const world = await making
  world.watch()
  return world
}
