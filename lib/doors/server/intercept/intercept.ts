/**
 * `engine.intercept`: lets an engine answer `fetch`, undici and `node:http` for given origins, by a layer over the global dispatchers and
 * the agents; standing.ts decides which engine answers.
 */
import type { Server } from 'node:http'
import { toCurrent, type AnyHandler, type Dispatcher, type DispatchOptions, type Handler } from './undici-types.ts'
import { PLACES, loadDispatcher } from './global-dispatcher.ts'
import { routeAgents, type ConnectionRoute } from './http-agents.ts'
import { Layer, fail, layDispatcher, readRequestOrigin, type Answerer, type Decide } from './layers.ts'
import { StandingInterceptions, type InterceptionReach } from './standing.ts'
import { connectLocally, type LocalSocket } from './local-socket.ts'
import type { Wire } from '../../../foundation/base/wire.ts'
import { anything, flag, readOptions, wire as checkWire } from '../../../foundation/base/option-table.ts'
import { findIntercepted, formatAddress, readAddresses, type InterceptedAddress, type Origins } from './addresses.ts'
import type { TransportEngine } from '../transport.ts'
import type { WorldEngine } from '../controls/world-engine.ts'
import { internalsOf } from '../../../engine/assembly/internals.ts'

/** Options of `engine.intercept`. */
export interface InterceptOptions {
  /** The path before the version, for origins without a path. Other paths pass like other origins. Default: the engine's base. */
  readonly base?: string
  /**
   * Whether requests to other origins fail with ERR_NOT_INTERCEPTED. Default: pass with a warning for each origin; `false`: without a
   * warning.
   */
  readonly strict?: boolean
  /** Whether the interception holds in the whole process. Default: false in a test and inside of `within`. */
  readonly everywhere?: boolean
  /** The grammar of these origins. Default: the engine's `wire`, or its own grammar. */
  readonly wire?: Wire
}

/**
 * An interception that `engine.intercept` began. `dispose`, or the end of its `using` block, restores the former dispatcher.
 *
 * @example using api = engine.intercept('https://api.example.test') await fetch('https://api.example.test/v1/users')
 */
export interface Interception {
  /** The normalised origins, with their paths. */
  readonly origins: readonly string[]
  /**
   * The interception as an undici Dispatcher, for code with a dispatcher of its own: `fetch(url, { dispatcher })`. Passes other origins on
   * to the global dispatcher, and fails for the intercepted origins after `dispose`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- it fits the Dispatcher type of every undici, and those differ
  readonly dispatcher: any
  /** Callable more than once, and in any order of interceptions. */
  dispose(): void
  [Symbol.dispose](): void
}

const standing = new StandingInterceptions<EngineInterception>()
let dispatch: ((engine: TransportEngine, address: InterceptedAddress, options: DispatchOptions, handler: Handler) => void) | undefined
let endRouting: (() => void) | undefined
let interceptionCount = 0
let endLateTime: (() => void) | undefined

/** Milliseconds without network for late requests. */
const LATE_MS = 30_000

function keepLayers(): void {
  endLateTime?.()
  const holder = {}
  const layers = PLACES.map(place => Layer.hold(place, decide, holder))
  endRouting ??= routeAgents(findRoute)
  const release = (): void => {
    clearTimeout(timer)
    endLateTime = undefined
    for (const layer of layers) layer.release(holder)
    endRoutingIfUnused()
  }
  const timer = setTimeout(release, LATE_MS)
  timer.unref()
  endLateTime = release
}

function endRoutingIfUnused(): void {
  if (standing.size > 0 || endLateTime !== undefined) return
  endRouting?.()
  endRouting = undefined
}

export function intercept(engine: WorldEngine, origin: Origins, options: InterceptOptions, onDisposed: () => void): Interception {
  const table = { base: [anything], strict: [flag], everywhere: [flag, false], wire: [checkWire] } as const
  const { base, strict, everywhere, wire } = readOptions(options, table, 'intercept')
  if (wire !== undefined) internalsOf(engine).expectWire()
  const addresses = readAddresses(origin, base, engine.versions).map(address => ({ ...address, wire }))
  return new EngineInterception(engine, addresses, strict, standing.locate(everywhere), onDisposed)
}

export function runWithin<Result>(engine: WorldEngine, work: () => Result | Promise<Result>): Promise<Result> {
  if (typeof work !== 'function') throw new TypeError('within: give it a function: "await engine.within(async () => { ... })".')
  return standing.within(engine, work, interception => interception.end())
}

export function enterTest(test: object): void {
  standing.enterTest(test)
}

class EngineInterception implements Interception {
  readonly origins: readonly string[]
  readonly dispatcher: Dispatcher
  readonly strict: boolean | undefined
  readonly engine: WorldEngine
  readonly addresses: readonly InterceptedAddress[]
  readonly reach: InterceptionReach
  readonly #number = ++interceptionCount
  readonly #onDisposed: () => void
  readonly #layers: readonly Layer[]
  /** By base; no server listens. */
  readonly #servers = new Map<string | undefined, Server>()

  constructor(
    engine: WorldEngine,
    addresses: readonly InterceptedAddress[],
    strict: boolean | undefined,
    reach: InterceptionReach,
    onDisposed: () => void,
  ) {
    this.engine = engine
    this.addresses = addresses
    this.origins = addresses.map(formatAddress)
    this.strict = strict
    this.reach = reach
    this.#onDisposed = onDisposed
    loadDispatcher()
    standing.add(this)
    this.#layers = PLACES.map(place => Layer.hold(place, decide, this))
    endRouting ??= routeAgents(findRoute)
    this.dispatcher = this.#ownDispatcher()
  }

  get isAlive(): boolean {
    return standing.has(this)
  }

  answerer(address: InterceptedAddress): Answerer {
    return {
      answer: (options, handler) => {
        this.#dispatch(address, options, toCurrent(handler))
        return true
      },
    }
  }

  #dispatch(address: InterceptedAddress, options: DispatchOptions, handler: Handler): void {
    if (dispatch !== undefined) return dispatch(internalsOf(this.engine), address, options, handler)
    import('./exchange.ts').then(
      loaded => (dispatch = loaded.dispatch)(internalsOf(this.engine), address, options, handler),
      (error: unknown) => handler.onResponseError?.(null, error),
    )
  }

  /** Named by interception: no request gets a connection of another. */
  route(address: InterceptedAddress, isEncrypted: boolean): ConnectionRoute {
    return { name: `${formatAddress(address)} ${this.#number}`, connect: () => this.#connect(address, isEncrypted) }
  }

  /** No connection outlives the interception. */
  #connect(address: InterceptedAddress, isEncrypted: boolean): LocalSocket {
    const [client, end] = connectLocally(isEncrypted)
    void this.#serve(end, address).catch((error: unknown) => client.destroy(error as Error))
    return client
  }

  async #serve(end: LocalSocket, { base, wire }: InterceptedAddress): Promise<void> {
    const { createServer } = await import('../http.ts')
    let server = this.#servers.get(base)
    if (server === undefined) {
      // Browsers of this process (happy-dom, jsdom) may check CORS.
      server = createServer(this.engine, {
        cors: true,
        allowedHosts: true,
        ...(base === undefined ? {} : { base }),
        ...(wire === undefined ? {} : { wire }),
      })
      server.maxRequestsPerSocket = 1
      this.#servers.set(base, server)
    }
    server.emit('connection', end)
  }

  #ownDispatcher(): Dispatcher {
    const layerFor = (handler: AnyHandler): Layer => this.#layers.findLast(layer => layer.place.takes(handler))!
    return layDispatcher(this.#layers[0]!.below, (options, handler) => {
      const origin = readRequestOrigin(options)
      const address = origin === undefined ? undefined : findIntercepted(this.addresses, origin, options.path)
      if (address === undefined) return layerFor(handler).dispatch(options, handler)
      if (this.isAlive) return this.answerer(address).answer(options, handler)
      const what = formatAddress(address)
      return fail(handler, new Error(`The interception of ${what} has been disposed of, and the request still goes to its dispatcher.`))
    })
  }

  dispose(): void {
    if (internalsOf(this.engine).isClosed) this.end()
    else this.#release()
  }

  /**
   * Ends with `within`, or with the engine. Late requests are refused while other interceptions stand; after a test of `withEngine` for
   * `LATE_MS`.
   */
  end(): void {
    if (this.isAlive && standing.leave(this) && internalsOf(this.engine).isOfTest) keepLayers()
    this.#release()
  }

  #release(): void {
    if (!standing.delete(this)) return
    endRoutingIfUnused()
    for (const layer of this.#layers) layer.release(this)
    this.#onDisposed()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }
}

const decide: Decide = (origin, path) => {
  const found = standing.decide(origin, path)
  if (found === undefined || found instanceof Error) return found
  return { holder: found.interception, answerer: found.interception.answerer(found.address) }
}

function findRoute(origin: string, path: string | undefined, isEncrypted: boolean): ConnectionRoute | Error | undefined {
  const found = standing.decide(origin, path)
  return found === undefined || found instanceof Error ? found : found.interception.route(found.address, isEncrypted)
}
