/**
 * Keeps named forks of an engine, for tests that share a server. The first request for a world forks the first state of the engine, or a
 * scenario; an idle world is closed. Refuses with worlds_exhausted, request_malformed, path_unknown and body_invalid.
 */
import type { EngineInternals } from '../../../engine/assembly/engine-internals.ts'
import { internalsOf } from '../../../engine/assembly/internals.ts'
import type { Faults } from '../../../engine/testing/fault-injection.ts'
import { nameSnapshot, type Snapshot } from '../../../engine/worlds/snapshot.ts'
import { findNearest, formatHint } from '../../../foundation/base/suggest.ts'
import { restError, RestError } from '../../../foundation/errors/errors.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'
import type { WorldEngine } from './world-engine.ts'

interface WorldOrigin {
  /** `engine`: the engine's own world; else forked from the first state, a scenario or another world. */
  readonly from: 'engine' | 'start' | 'scenario' | 'world'
  /** Of the scenario or the other world; `null`: the engine's own. */
  readonly name?: string | null
}

export interface NamedSnapshot {
  readonly snapshot: Snapshot
  readonly at: string
  readonly last: number
}

export class NamedWorld {
  readonly engine: WorldEngine
  readonly internals: EngineInternals
  readonly origin: WorldOrigin
  readonly snapshots = new Map<string, NamedSnapshot>()
  #running = 0
  #usedAt = Date.now()
  #named = 0

  constructor(engine: WorldEngine, origin: WorldOrigin) {
    this.engine = engine
    this.origin = origin
    this.internals = internalsOf(engine)
  }

  keepStatements(): void {
    this.internals.keepStatements()
  }

  keepBeginning(snapshot: Snapshot): void {
    const { recorded } = this.internals
    if (recorded === undefined) return
    nameSnapshot(snapshot, 'before')
    this.snapshots.set('before', { snapshot, at: this.engine.clock.now().toISOString(), last: recorded.begun })
  }

  get scenario(): string | undefined {
    return this.origin.from === 'scenario' ? (this.origin.name ?? undefined) : undefined
  }

  get faults(): Faults {
    return this.internals.parts.faults
  }

  get last(): number {
    return this.internals.parts.journal?.position ?? 0
  }

  freeName(): string {
    for (;;) {
      const name = `s${++this.#named}`
      if (!this.snapshots.has(name)) return name
    }
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
    this.#usedAt = Date.now()
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    this.enter()
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  get idle(): number {
    return this.#running > 0 ? 0 : Math.max(0, Date.now() - this.#usedAt)
  }
}

/** Rounds of looking for idle worlds, in the time of `idle`. */
const ROUNDS = 4

export class Worlds {
  streams = 0
  readonly #ends = new AbortController()
  #seeded: Promise<Snapshot> | undefined
  readonly #main: NamedWorld
  readonly #worlds = new Map<string, Promise<NamedWorld>>()
  readonly #timer: NodeJS.Timeout
  readonly #idle: number
  readonly #max: number

  /**
   * @param idle milliseconds after which an unused world is closed
   * @param max most worlds beside the engine's own
   * @param isEager worlds begin with the state of now
   */
  constructor(engine: WorldEngine, idle: number, max: number, isEager: boolean) {
    this.#idle = idle
    this.#max = max
    this.#main = new NamedWorld(engine, { from: 'engine' })
    if (isEager) this.keepStatements()
    if (isEager || this.#main.internals.recorded !== undefined) void this.#start()
    this.#timer = setInterval(() => void this.#closeIdle(), Math.max(1, idle / ROUNDS))
    runtime.spare(this.#timer)
  }

  keepStatements(): void {
    this.#main.keepStatements()
  }

  get names(): string[] {
    return [...this.#worlds.keys()]
  }

  get ends(): AbortSignal {
    return this.#ends.signal
  }

  /**
   * The world of a name; without a name, the engine's own.
   *
   * @param scenario of a new world; default: the first state
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

  async known(name: string): Promise<{ readonly world: NamedWorld; readonly name: string }> {
    const world = await this.#worlds.get(name)
    if (world === undefined) throw restError('path_unknown', `There is no world "${name}".${formatHint(findNearest(name, this.names))}`)
    return { world, name }
  }

  copy(name: string, { world, name: other }: { readonly world: NamedWorld; readonly name: string | undefined }): Promise<NamedWorld> {
    if (this.#worlds.has(name))
      throw restError('body_invalid', `There is a world "${name}" already: close it first (DELETE /_test/worlds/${name}).`)
    return this.#add(name, () => world.use(async () => new NamedWorld(await forkOf(world.engine), { from: 'world', name: other ?? null })))
  }

  #add(name: string, make: () => Promise<NamedWorld>): Promise<NamedWorld> {
    if (this.#worlds.size >= this.#max) throw this.#full(name)
    const making = keepingStatements(make()).catch(refuseImpossible)
    this.#worlds.set(name, making)
    making.then(
      () => this.#tell(),
      () => this.#worlds.delete(name),
    )
    return making
  }

  #tell(): void {
    const names = this.names
    for (const each of [Promise.resolve(this.#main), ...this.#worlds.values()])
      void each.then(({ internals }) => internals.parts.events.worldsChanged(names)).catch(() => {})
  }

  async list(): Promise<object[]> {
    const others = [...this.#worlds].map(async ([name, making]) => this.describe(name, making))
    return Promise.all([this.describe(null, this.#main), ...others])
  }

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

  async drop(name: string): Promise<void> {
    const world = this.#worlds.get(name)
    if (world === undefined) return
    this.#worlds.delete(name)
    this.#tell()
    await (await world).engine.close()
  }

  async #closeIdle(): Promise<void> {
    for (const [name, world] of this.#worlds) {
      // The world may be in use again.
      if ((await world).idle >= this.#idle && this.#worlds.get(name) === world) await this.drop(name)
    }
  }

  endStreams(): void {
    this.#ends.abort()
  }

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

/** Hidden from lists of engines: the workbench shows worlds. */
async function forkOf(engine: WorldEngine, snapshot?: Snapshot): Promise<WorldEngine> {
  return (await internalsOf(engine).fork(snapshot)) as unknown as WorldEngine
}

async function keepingStatements(making: Promise<NamedWorld>): Promise<NamedWorld> {
  const world = await making
  world.keepStatements()
  return world
}

/** `engine.fork: the database can be copied only while nobody else is connected to it`. */
const REFUSAL = /^engine\.\w+: /

/** @throws RestError method_not_allowed for such a refusal (a 500 would blame the server); other errors as they are */
export function refuseImpossible(error: unknown): never {
  const isPlain = error instanceof Error && !(error instanceof RestError) && !(error instanceof TypeError) && !(error instanceof RangeError)
  if (!isPlain || !REFUSAL.test(error.message)) throw error
  throw restError('method_not_allowed', error.message, { cause: error })
}
