/**
 * Global dispatcher: the places where the undici packages of a process, and the one inside Node, look for their global dispatcher.
 * Undici 8 keeps it under another symbol than 6 and 7, and a realm of its own (a test file in Jest) has places of its own.
 */
import { runInThisContext } from 'node:vm'
import { isCurrent, toLegacy } from './undici-types.ts'
import type { AnyHandler, DispatchOptions, Dispatcher } from './undici-types.ts'

const LEGACY = Symbol.for('undici.globalDispatcher.1')
const CURRENT = Symbol.for('undici.globalDispatcher.2')

type Realm = Record<symbol, unknown>

/** Stands in a place that was empty, and notices whether an undici that was loaded meanwhile has begun to rely on it. */
interface Placeholder {
  dispatcher: Dispatcher
  isUsed: boolean
}

const placeholders = new WeakMap<() => unknown, Placeholder>()

/** One place. */
export class DispatcherSlot {
  readonly #realm: Realm
  readonly #symbol: symbol
  /** Whether this is where undici 8 looks. Its dispatchers take handlers of its own generation alone. */
  readonly isCurrent: boolean

  constructor(realm: Realm, symbol: symbol) {
    this.#realm = realm
    this.#symbol = symbol
    this.isCurrent = symbol === CURRENT
  }

  /** Whether a handler is of the generation that dispatchers here are asked with. */
  takes(handler: AnyHandler): boolean {
    return this.isCurrent === isCurrent(handler)
  }

  /** What is there; undefined for nothing. */
  read(): Dispatcher | undefined {
    const placeholder = this.#placeholder()
    return placeholder === undefined ? (this.#realm[this.#symbol] as Dispatcher | undefined) : placeholder.dispatcher
  }

  #placeholder(): Placeholder | undefined {
    const getter = Object.getOwnPropertyDescriptor(this.#realm, this.#symbol)?.get
    return getter === undefined ? undefined : placeholders.get(getter)
  }

  put(dispatcher: Dispatcher): void {
    const placeholder = this.#placeholder()
    if (placeholder !== undefined) placeholder.dispatcher = dispatcher
    else if (this.read() !== undefined) this.#realm[this.#symbol] = dispatcher
    else this.#hold({ dispatcher, isUsed: false })
  }

  #hold(placeholder: Placeholder): void {
    const get = (): Dispatcher => {
      placeholder.isUsed = true
      return placeholder.dispatcher
    }
    const set = (dispatcher: Dispatcher): void => {
      Object.defineProperty(this.#realm, this.#symbol, { value: dispatcher, writable: true, enumerable: false, configurable: true })
    }
    placeholders.set(get, placeholder)
    Object.defineProperty(this.#realm, this.#symbol, { get, set, enumerable: false, configurable: true })
  }

  /** Empties a place that was empty before, unless somebody has come to rely on what stands there. */
  clear(): void {
    if (this.#placeholder()?.isUsed === false) delete this.#realm[this.#symbol]
  }

  /** What answers the requests of an undici that finds nothing here: the dispatcher of Node itself. */
  fallback(): Dispatcher {
    const known = this.isCurrent ? NODE.current.read() : undefined
    if (known !== undefined) return known
    return {
      dispatch(options: DispatchOptions, handler: AnyHandler): boolean {
        const legacy = NODE.legacy.read()
        if (legacy === undefined) throw new Error('There is no global dispatcher to pass the request on to.')
        return legacy.dispatch(options, isCurrent(handler) ? toLegacy(handler) : handler)
      },
    }
  }
}

/** The realm that Node started in, where its own `fetch` looks, whatever realm this file was loaded in. */
const nodeRealm = runInThisContext('globalThis') as Realm
const NODE = { legacy: new DispatcherSlot(nodeRealm, LEGACY), current: new DispatcherSlot(nodeRealm, CURRENT) }
const ownRealm = globalThis as unknown as Realm
const OWN = ownRealm === nodeRealm ? NODE : { legacy: new DispatcherSlot(ownRealm, LEGACY), current: new DispatcherSlot(ownRealm, CURRENT) }

/** All places of this process that code here can reach, each once. */
export const PLACES: readonly DispatcherSlot[] = [...new Set([...Object.values(NODE), ...Object.values(OWN)])]

/** Node creates its dispatcher with its undici, and loads that when it is first used. */
export function loadDispatcher(): void {
  runInThisContext('Response')
}
