/**
 * Intercept: engines in the place of the global dispatcher. Every interception puts a layer over what is there; a layer answers what is its
 * own and passes on the rest. A layer that is disposed of while others stand on it passes everything on, and goes with them.
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

/** What `engine.intercept` may be told. */
export interface InterceptOptions {
  /** Fail requests to origins that nobody intercepts, instead of passing them on. Default: false. */
  readonly strict?: boolean
}

/**
 * An interception that `engine.intercept` has begun. `dispose`, or the end of its `using` block, puts back what was there.
 *
 * @example
 * using api = engine.intercept('https://api.example.test')
 * await fetch('https://api.example.test/v1/users')
 */
export interface Interception {
  /** The origins, normalised. */
  readonly origins: readonly string[]
  /**
   * The same as an undici Dispatcher, to be handed to a single call or to code that has one of its own: `fetch(url, { dispatcher })`,
   * `request(url, { dispatcher })`. It passes other origins on to the global dispatcher. Fails for its origins once it is disposed of.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- it fits the Dispatcher type of every undici, and those differ
  readonly dispatcher: any
  /** Ends the interception. In any order, and more than once. */
  dispose(): void
  [Symbol.dispose](): void
}

type Origins = string | URL | readonly (string | URL)[]

/** All that are in force, oldest first. */
const interceptions = new Set<EngineInterception>()
const layers = new WeakMap<object, Layer>()
/** Ends the interception of clients on `node:http`; undefined while there is none. */
let endRouting: (() => void) | undefined

/** Begins an interception. `onDisposed` is called when it ends. */
export function intercept(engine: WorldEngine, origin: Origins, options: InterceptOptions, onDisposed: () => void): Interception {
  checkNames(options, ['strict'], 'intercept')
  const { strict = false } = options
  if (typeof strict !== 'boolean') throw new TypeError('intercept: "strict" is true or false.')
  return new EngineInterception(engine, readOrigins(origin), strict, onDisposed)
}

class EngineInterception implements Interception {
  readonly origins: readonly string[]
  readonly dispatcher: Dispatcher
  readonly isStrict: boolean
  readonly #engine: WorldEngine
  readonly #onDisposed: () => void
  readonly #layers: readonly Layer[]
  /** Answers clients on `node:http`. It never listens. */
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

  /** A connection that is answered here, each for one request: so none is kept beyond the interception. */
  connect(isEncrypted: boolean): LocalSocket {
    if (this.#server === undefined) {
      // Pages of all origins may read, as far as a browser in this process (happy-dom, jsdom) asks at all.
      this.#server = createServer(this.#engine, { cors: true, allowedHosts: true })
      this.#server.maxRequestsPerSocket = 1
    }
    const [client, server] = connectLocally(isEncrypted)
    this.#server.emit('connection', server)
    return client
  }

  /** Bound to this interception alone: neither later ones nor its end change what it does with its origins. */
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

/** What becomes of a connection of `node:http`. */
function findRoute(origin: string, isEncrypted: boolean): (() => LocalSocket) | Error | undefined {
  const latest = [...interceptions].findLast(each => each.intercepts(origin))
  if (latest !== undefined) return () => latest.connect(isEncrypted)
  return [...interceptions].some(each => each.isStrict) ? notIntercepted(origin) : undefined
}

/** An interception at one place. */
class Layer {
  readonly place: DispatcherSlot
  /** What was there. */
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

  /** Takes away the layers at the top of the place that have ended. One that somebody else has put his own over stays, and passes on. */
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

/** Methods of undici's dispatchers that go through `this.dispatch`. */
const THROUGH_DISPATCH = new Set<string | symbol>(['constructor', 'compose', 'connect', 'pipeline', 'request', 'stream', 'upgrade'])

/** A dispatcher as another one, but for what it does with requests: whatever else code does with the global dispatcher, it does with that. */
function layDispatcher(below: Dispatcher, dispatchOver: Dispatcher['dispatch']): Dispatcher {
  return new Proxy(below, {
    get(target, key) {
      if (key === 'dispatch') return dispatchOver
      const value: unknown = Reflect.get(target, key)
      // Bound, because a method may use private fields, which a proxy has none of.
      return typeof value === 'function' && !THROUGH_DISPATCH.has(key) ? (value.bind(target) as unknown) : value
    },
  })
}

/** The origin of the last request, as it is often that of the next. */
let lastOrigin: string | undefined

function readRequestOrigin({ origin }: DispatchOptions): string | undefined {
  if (typeof origin !== 'string') return origin?.origin
  if (origin === lastOrigin) return origin
  // As fetch and undici give it; anything else costs a parser.
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
