/**
 * Puts engines in the place of the global dispatcher. Every interception adds a layer, which answers its own origins and passes the rest
 * on. A layer that is disposed of below others passes everything on, and is removed with them.
 */
import type { Server } from 'node:http'
import { dispatch } from './exchange.ts'
import type { AnyHandler, DispatchOptions, Dispatcher } from './undici-types.ts'
import { toCurrent } from './undici-types.ts'
import { PLACES, loadDispatcher } from './global-dispatcher.ts'
import type { DispatcherSlot } from './global-dispatcher.ts'
import { routeAgents } from './http-agents.ts'
import type { ConnectionRoute } from './http-agents.ts'
import { readPath } from '../../request/parse-request.ts'
import { createServer } from '../http.ts'
import { originForm } from '../transport.ts'
import { connectLocally } from './local-socket.ts'
import type { LocalSocket } from './local-socket.ts'
import { checkNames, formatHint, findNearest } from '../../base/suggest.ts'
import { findIntercepted, formatAddress, readAddresses } from './addresses.ts'
import type { InterceptedAddress, Origins } from './addresses.ts'
import type { WorldEngine } from '../worlds.ts'

/** Options of `engine.intercept`. */
export interface InterceptOptions {
  /** The path before the version, of origins that are given without one. Paths that are not below it pass as other origins do. Default: that of the engine. */
  readonly base?: string
  /** Whether requests to origins without an interception fail instead of being passed on. Default: false. */
  readonly strict?: boolean
}

/**
 * An interception that `engine.intercept` began. `dispose`, or the end of its `using` block, restores the former dispatcher.
 *
 * @example using api = engine.intercept('https://api.example.test') await fetch('https://api.example.test/v1/users')
 */
export interface Interception {
  /** The origins, normalised, with the path that was given. */
  readonly origins: readonly string[]
  /**
   * The interception as an undici Dispatcher, for single calls and for code with a dispatcher of its own: `fetch(url, { dispatcher })`,
   * `request(url, { dispatcher })`. It passes other origins on to the global dispatcher. After `dispose` it fails for its own origins.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- it fits the Dispatcher type of every undici, and those differ
  readonly dispatcher: any
  /** Ends the interception. Interceptions may end in any order, and `dispose` may be called more than once. */
  dispose(): void
  [Symbol.dispose](): void
}

/** All active interceptions, oldest first. */
const interceptions = new Set<EngineInterception>()
const layers = new WeakMap<object, Layer>()
/** Ends the interception of clients on `node:http`. Undefined without one. */
let endRouting: (() => void) | undefined

/** Begins an interception. `onDisposed` is called when it ends. */
export function intercept(engine: WorldEngine, origin: Origins, options: InterceptOptions, onDisposed: () => void): Interception {
  checkNames(options, ['base', 'strict'], 'intercept')
  const { strict = false } = options
  if (typeof strict !== 'boolean') throw new TypeError('intercept: "strict" must be true or false.')
  return new EngineInterception(engine, readAddresses(origin, options.base, engine.versions), strict, onDisposed)
}

class EngineInterception implements Interception {
  readonly origins: readonly string[]
  readonly dispatcher: Dispatcher
  readonly isStrict: boolean
  readonly #engine: WorldEngine
  readonly #addresses: readonly InterceptedAddress[]
  readonly #onDisposed: () => void
  readonly #layers: readonly Layer[]
  /** Answer clients on `node:http`, by the base. They do not listen. */
  readonly #servers = new Map<string | undefined, Server>()

  constructor(engine: WorldEngine, addresses: readonly InterceptedAddress[], isStrict: boolean, onDisposed: () => void) {
    this.#engine = engine
    this.#addresses = addresses
    this.origins = addresses.map(formatAddress)
    this.isStrict = isStrict
    this.#onDisposed = onDisposed
    loadDispatcher()
    this.#layers = PLACES.map(place => new Layer(this, place))
    interceptions.add(this)
    endRouting ??= routeAgents(findRoute)
    this.dispatcher = this.#ownDispatcher()
  }

  get isAlive(): boolean {
    return interceptions.has(this)
  }

  /** Returns the address below which a path is. A path that is not known counts as below it. */
  find(origin: string | undefined, path: unknown): InterceptedAddress | undefined {
    return origin === undefined ? undefined : findIntercepted(this.#addresses, origin, path)
  }

  answer(address: InterceptedAddress, options: DispatchOptions, handler: AnyHandler): boolean {
    dispatch(this.#engine, address, options, toCurrent(handler))
    return true
  }

  /** Makes a connection for a single request, so that none outlives the interception. */
  connect({ base }: InterceptedAddress, isEncrypted: boolean): LocalSocket {
    let server = this.#servers.get(base)
    if (server === undefined) {
      // Pages of all origins may read the answers, since some in-process browsers (happy-dom, jsdom) check that.
      server = createServer(this.#engine, { cors: true, allowedHosts: true, ...(base === undefined ? {} : { base }) })
      server.maxRequestsPerSocket = 1
      this.#servers.set(base, server)
    }
    const [client, end] = connectLocally(isEncrypted)
    server.emit('connection', end)
    return client
  }

  /** Makes a dispatcher for this interception alone. Later interceptions and their ends do not affect it. */
  #ownDispatcher(): Dispatcher {
    const layerFor = (handler: AnyHandler): Layer => this.#layers.findLast(layer => layer.place.takes(handler))!
    return layDispatcher(this.#layers[0]!.below, (options, handler) => {
      const address = this.find(readRequestOrigin(options), options.path)
      if (address === undefined) return layerFor(handler).dispatch(options, handler)
      if (this.isAlive) return this.answer(address, options, handler)
      const what = formatAddress(address)
      return fail(handler, new Error(`The interception of ${what} has been disposed of, and the request still goes to its dispatcher.`))
    })
  }

  dispose(): void {
    if (!interceptions.delete(this)) return
    if (interceptions.size === 0) {
      endRouting?.()
      endRouting = undefined
    }
    for (const layer of this.#layers) layer.remove()
    this.#onDisposed()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }
}

/** Decides on a connection of `node:http`. */
function findRoute(origin: string, path: string | undefined, isEncrypted: boolean): ConnectionRoute | Error | undefined {
  for (const latest of [...interceptions].reverse()) {
    const address = latest.find(origin, path)
    if (address !== undefined) return { name: formatAddress(address), connect: () => latest.connect(address, isEncrypted) }
  }
  return [...interceptions].some(each => each.isStrict) ? notIntercepted(origin, path) : undefined
}

/** The layer of an interception at one place. */
class Layer {
  readonly place: DispatcherSlot
  /** The dispatcher below the layer. */
  readonly below: Dispatcher
  readonly #interception: EngineInterception
  readonly #wasEmpty: boolean

  constructor(interception: EngineInterception, place: DispatcherSlot) {
    const there = place.read()
    this.place = place
    this.below = there ?? place.fallback()
    this.#wasEmpty = there === undefined
    this.#interception = interception
    const dispatcher = layDispatcher(this.below, (options, handler) => this.dispatch(options, handler))
    layers.set(dispatcher, this)
    place.put(dispatcher)
  }

  dispatch(options: DispatchOptions, handler: AnyHandler): boolean {
    const origin = readRequestOrigin(options)
    const { path } = options
    const address = this.#find(origin, path)
    if (address !== undefined) return this.#interception.answer(address, options, handler)
    if (this.#interception.isAlive && this.#interception.isStrict && !this.#belowAnswers(origin, path)) {
      return fail(handler, notIntercepted(origin, path))
    }
    return this.below.dispatch(options, handler)
  }

  #find(origin: string | undefined, path: unknown): InterceptedAddress | undefined {
    return this.#interception.isAlive ? this.#interception.find(origin, path) : undefined
  }

  #belowAnswers(origin: string | undefined, path: unknown): boolean {
    const layer = layers.get(this.below)
    return layer !== undefined && (layer.#find(origin, path) !== undefined || layer.#belowAnswers(origin, path))
  }

  /** Removes the ended layers at the top of the place. A layer below another program's dispatcher stays, and passes requests on. */
  remove(): void {
    for (;;) {
      const there = this.place.read()
      const top = there === undefined ? undefined : layers.get(there)
      if (top === undefined || top.#interception.isAlive) return
      if (top.#wasEmpty) return this.place.clear()
      this.place.put(top.below)
    }
  }
}

/** Methods of undici's dispatchers that call `this.dispatch`. */
const THROUGH_DISPATCH = new Set<string | symbol>(['constructor', 'compose', 'connect', 'pipeline', 'request', 'stream', 'upgrade'])

/** Wraps a dispatcher with another `dispatch`. All its other members stay as they are. */
function layDispatcher(below: Dispatcher, dispatchOver: Dispatcher['dispatch']): Dispatcher {
  return new Proxy(below, {
    get(target, key) {
      if (key === 'dispatch') return dispatchOver
      const value: unknown = Reflect.get(target, key)
      // Bound, because a method may use private fields, which a proxy does not have.
      return typeof value === 'function' && !THROUGH_DISPATCH.has(key) ? (value.bind(target) as unknown) : value
    },
  })
}

/** The origin of the last request, which is often that of the next. */
let lastOrigin: string | undefined

function readRequestOrigin({ origin }: DispatchOptions): string | undefined {
  if (typeof origin !== 'string') return origin?.origin
  if (origin === lastOrigin) return origin
  // The spelling of fetch and undici. Any other spelling needs a parser.
  if (/^https?:\/\/[a-z0-9.-]+(?::\d+)?$/.test(origin) && !/:(?:80|443)$/.test(origin)) return (lastOrigin = origin)
  return URL.parse(origin)?.origin
}

function fail(handler: AnyHandler, error: Error): boolean {
  toCurrent(handler).onResponseError?.(null, error)
  return false
}

function notIntercepted(origin: string | undefined, path: unknown): Error {
  const known = [...new Set([...interceptions].flatMap(each => each.origins))]
  // The path matters only where another one of the origin is intercepted.
  const hasPath = typeof path === 'string' && known.some(each => each.startsWith(`${origin}/`))
  const asked = origin === undefined ? 'an unknown origin' : hasPath ? origin + readPath(originForm(path)) : origin
  const text = `${asked} is not intercepted, and an interception is strict; intercepted: ${known.join(', ')}.${formatHint(findNearest(asked, known))}`
  return Object.assign(new Error(text), { code: 'ERR_NOT_INTERCEPTED' })
}
