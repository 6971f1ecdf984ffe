/**
 * The places where `fetch` and undici look for the global dispatcher, also of the undici inside Node. Undici 8 uses another symbol than 6
 * and 7; a realm (a test file in Jest) has its own globals.
 */
import { hasBuiltins } from '../../../foundation/base/builtins.ts'
import { isCurrent, toLegacy, type AnyHandler, type DispatchOptions, type Dispatcher } from './undici-types.ts'

const LEGACY = Symbol.for('undici.globalDispatcher.1')
const CURRENT = Symbol.for('undici.globalDispatcher.2')

type Realm = Record<symbol, unknown>

/** Fills an empty place, and notices the use by an undici. */
interface Placeholder {
  dispatcher: Dispatcher
  isUsed: boolean
}

const placeholders = new WeakMap<() => unknown, Placeholder>()

export class DispatcherSlot {
  readonly #realm: Realm
  readonly #symbol: symbol
  /** Whether undici 8 reads this place. */
  readonly isCurrent: boolean

  constructor(realm: Realm, symbol: symbol) {
    this.#realm = realm
    this.#symbol = symbol
    this.isCurrent = symbol === CURRENT
  }

  takes(handler: AnyHandler): boolean {
    return this.isCurrent === isCurrent(handler)
  }

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

  /** Empties the place, unless an undici uses the placeholder. */
  clear(): void {
    if (this.#placeholder()?.isUsed === false) delete this.#realm[this.#symbol]
  }

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

const vm = hasBuiltins ? process.getBuiltinModule('node:vm') : undefined
/** Node's `fetch` looks in this realm. */
const nodeRealm = (vm === undefined ? globalThis : vm.runInThisContext('globalThis')) as Realm
const NODE = { legacy: new DispatcherSlot(nodeRealm, LEGACY), current: new DispatcherSlot(nodeRealm, CURRENT) }
const ownRealm = globalThis as Realm
const OWN = ownRealm === nodeRealm ? NODE : { legacy: new DispatcherSlot(ownRealm, LEGACY), current: new DispatcherSlot(ownRealm, CURRENT) }

export const PLACES: readonly DispatcherSlot[] = [...new Set([...Object.values(NODE), ...Object.values(OWN)])]

/**
 * Lets Node's undici create its dispatcher, else made at the first `fetch`.
 *
 * @throws Error in Bun, Deno and pages: `fetch` and `node:http` there ask no dispatcher
 */
export function loadDispatcher(): void {
  const { bun, deno } = vm === undefined ? ({} as NodeJS.ProcessVersions) : process.versions
  if (vm === undefined || bun !== undefined || deno !== undefined) {
    const runtime = vm === undefined ? 'a page' : bun === undefined ? 'Deno' : 'Bun'
    throw new Error(
      `intercept: ${runtime} sends requests past the engine; Node does not. ` +
        'Give the code "engine.fetch" in the place of fetch, or serve it with createServer.',
    )
  }
  vm.runInThisContext('Response')
}
