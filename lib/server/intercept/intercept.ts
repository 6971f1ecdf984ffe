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
import { createServer } from '../http.ts'
import { connectLocally } from './local-socket.ts'
import type { LocalSocket } from './local-socket.ts'
import { checkNames, formatHint, findNearest } from '../../base/suggest.ts'
import type { WorldEngine } from '../worlds.ts'

/** Options of `engine.intercept`. */
export interface InterceptOptions {
  /** Whether requests to origins without an interception fail instead of being passed on. Default: false. */
  readonly strict?: boolean
}

/**
 * An interception that `engine.intercept` began. `dispose`, or the end of its `using` block, restores the former dispatcher.
 *
 * @example using api = engine.intercept('https://api.example.test') await fetch('https://api.example.test/v1/users')
 */
export interface Interception {
  /** The origins, normalised. */
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

type Origins = string | URL | readonly (string | URL)[]

/** All active interceptions, oldest first. */
const interceptions = new Set<EngineInterception>()
const layers = new WeakMap<object, Layer>()
/** Ends the interception of clients on `node:http`. Undefined without one. */
let endRouting: (() => void) | undefined

/** Begins an interception. `onDisposed` is called when it ends. */
export function intercept(engine: WorldEngine, origin: Origins, options: InterceptOptions, onDisposed: () => void): Interception {
  checkNames(options, ['strict'], 'intercept')
  const { strict = false } = options
  if (typeof strict !== 'boolean') throw new TypeError('intercept: "strict" must be true or false.')
  return new EngineInterception(engine, readOrigins(origin), strict, onDisposed)
}

class EngineInterception implements Interception {
  readonly origins: readonly string[]
  readonly dispatcher: Dispatcher
  readonly isStrict: boolean
  readonly #engine: WorldEngine
  readonly #onDisposed: () => void
  readonly #layers: readonly Layer[]
  /** Answers clients on `node:http`. It does not listen. */
  #server: Server | undefined

  constructor(engine: WorldEngine, origins: readonly string[], isStrict: boolean, onDisposed: () => void) {
    this.#engine = engine
    this.origins = origins
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

  intercepts(origin: string | undefined): origin is string {
    return origin !== undefined && this.origins.includes(origin)
  }

  answer(origin: string, options: DispatchOptions, handler: AnyHandler): boolean {
    dispatch(this.#engine, origin, options, toCurrent(handler))
    return true
  }

  /** Makes a connection for a single request, so that none outlives the interception. */
  connect(isEncrypted: boolean): LocalSocket {
    if (this.#server === undefined) {
      // Pages of all origins may read the answers, since some in-process browsers (happy-dom, jsdom) check that.
      this.#server = createServer(this.#engine, { cors: true, allowedHosts: true })
      this.#server.maxRequestsPerSocket = 1
    }
    const [client, server] = connectLocally(isEncrypted)
    this.#server.emit('connection', server)
    return client
  }

  /** Makes a dispatcher for this interception alone. Later interceptions and their ends do not affect it. */
  #ownDispatcher(): Dispatcher {
    const layerFor = (handler: AnyHandler): Layer => this.#layers.findLast(layer => layer.place.takes(handler))!
    return layDispatcher(this.#layers[0]!.below, (options, handler) => {
      const origin = readRequestOrigin(options)
      if (!this.intercepts(origin)) return layerFor(handler).dispatch(options, handler)
      if (this.isAlive) return this.answer(origin, options, handler)
      return fail(handler, new Error(`The interception of ${origin} has been disposed of, and the request still goes to its dispatcher.`))
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
function findRoute(origin: string, isEncrypted: boolean): (() => LocalSocket) | Error | undefined {
  const latest = [...interceptions].findLast(each => each.intercepts(origin))
  if (latest !== undefined) return () => latest.connect(isEncrypted)
  return [...interceptions].some(each => each.isStrict) ? notIntercepted(origin) : undefined
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
    if (this.#answers(origin)) return this.#interception.answer(origin, options, handler)
    if (this.#interception.isAlive && this.#interception.isStrict && !this.#belowAnswers(origin)) {
      return fail(handler, notIntercepted(origin))
    }
    return this.below.dispatch(options, handler)
  }

  #answers(origin: string | undefined): origin is string {
    return this.#interception.isAlive && this.#interception.intercepts(origin)
  }

  #belowAnswers(origin: string | undefined): boolean {
    const layer = layers.get(this.below)
    return layer !== undefined && (layer.#answers(origin) || layer.#belowAnswers(origin))
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

function notIntercepted(origin: string | undefined): Error {
  const known = [...new Set([...interceptions].flatMap(each => each.origins))]
  const asked = origin ?? 'an unknown origin'
  const text = `${asked} is not intercepted, and an interception is strict; intercepted: ${known.join(', ')}.${formatHint(findNearest(asked, known))}`
  return Object.assign(new Error(text), { code: 'ERR_NOT_INTERCEPTED' })
}

function readOrigins(given: Origins): string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw new TypeError('intercept: the list of origins is empty.')
  return [...new Set(list.map(readOrigin))]
}

function readOrigin(given: unknown): string {
  const text = given instanceof URL ? given.href : given
  const wrong = (what: string): TypeError =>
    new TypeError(
      `intercept: ${JSON.stringify(given) ?? String(given)} is not an origin: ${what}. Give one like "https://api.example.test".`,
    )
  if (typeof text !== 'string') throw wrong('it is neither a string nor a URL')
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const meant = text.startsWith('/') ? null : URL.parse(`https://${text.replace(/^[a-z]+:\/\//i, '')}`)
    throw wrong(`it does not begin with http:// or https://${meant === null ? '' : ` (did you mean "${meant.origin}"?)`}`)
  }
  if (url.hostname.includes('*')) throw wrong('patterns are not possible, give a list of origins')
  if (url.username !== '' || url.password !== '') throw wrong(`it has a user (did you mean "${url.origin}"?)`)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || /[?#]$/.test(text)) {
    throw wrong(`it has more than scheme, host and port (did you mean "${url.origin}"?)`)
  }
  return url.origin
}
