/**
 * Puts a layer over a global dispatcher, to answer intercepted requests and pass on the rest. If another program has put
 * a dispatcher over a layer, the layer cannot be taken out, and stays idle.
 */
import { toCurrent, type AnyHandler, type DispatchOptions, type Dispatcher } from './undici-types.ts'
import type { DispatcherSlot } from './global-dispatcher.ts'

export interface Answerer {
  answer(options: DispatchOptions, handler: AnyHandler): boolean
}

export type Decide = (
  origin: string | undefined,
  path: unknown,
) => { readonly holder: object; readonly answerer: Answerer } | Error | undefined

const layers = new WeakMap<object, Layer>()

export class Layer {
  readonly place: DispatcherSlot
  readonly below: Dispatcher
  readonly #decide: Decide
  readonly #holders = new Set<object>()
  readonly #wasEmpty: boolean

  private constructor(place: DispatcherSlot, decide: Decide) {
    const present = place.read()
    this.place = place
    this.below = present ?? place.fallback()
    this.#decide = decide
    this.#wasEmpty = present === undefined
    const dispatcher = layDispatcher(this.below, (options, handler) => this.dispatch(options, handler))
    layers.set(dispatcher, this)
    place.put(dispatcher)
  }

  static hold(place: DispatcherSlot, decide: Decide, holder: object): Layer {
    const layer = Layer.#top(place) ?? new Layer(place, decide)
    layer.#holders.add(holder)
    return layer
  }

  static #top(place: DispatcherSlot): Layer | undefined {
    const present = place.read()
    return present === undefined ? undefined : layers.get(present)
  }

  dispatch(options: DispatchOptions, handler: AnyHandler): boolean {
    const decision = this.#holders.size === 0 ? undefined : this.#decide(readRequestOrigin(options), options.path)
    if (decision instanceof Error) return fail(handler, decision)
    // Nobody intercepts, or the interception holds a layer on the other side of another program's dispatcher.
    if (decision === undefined || !this.#holders.has(decision.holder)) return this.below.dispatch(options, handler)
    return decision.answerer.answer(options, handler)
  }

  /** Removes top layers without a holder. */
  release(holder: object): void {
    this.#holders.delete(holder)
    for (let top = Layer.#top(this.place); top !== undefined && top.#holders.size === 0; top = Layer.#top(this.place)) {
      if (top.#wasEmpty) return this.place.clear()
      this.place.put(top.below)
    }
  }
}

/** Methods of dispatchers that call `this.dispatch`. */
const THROUGH_DISPATCH = new Set<string | symbol>(['constructor', 'compose', 'connect', 'pipeline', 'request', 'stream', 'upgrade'])

export function layDispatcher(below: Dispatcher, dispatchOver: Dispatcher['dispatch']): Dispatcher {
  return new Proxy(below, {
    get(target, key) {
      if (key === 'dispatch') return dispatchOver
      const value: unknown = Reflect.get(target, key)
      // A proxy has no private fields.
      return typeof value === 'function' && !THROUGH_DISPATCH.has(key) ? (value.bind(target) as unknown) : value
    },
  })
}

export function readRequestOrigin({ origin }: DispatchOptions): string | undefined {
  if (typeof origin !== 'string') return origin?.origin
  // Most origins are spelt so; another spelling needs a parser.
  if (/^https?:\/\/[a-z0-9.-]+(?::\d+)?$/.test(origin) && !/:(?:80|443)$/.test(origin)) return origin
  return URL.parse(origin)?.origin
}

export function fail(handler: AnyHandler, error: Error): boolean {
  toCurrent(handler).onResponseError?.(null, error)
  return false
}
