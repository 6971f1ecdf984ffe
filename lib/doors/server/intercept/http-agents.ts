/** Intercepts `node:http` and `node:https` where agents create connections. */
import type { Duplex } from 'node:stream'
import { builtin } from '../../../foundation/base/builtins.ts'

export interface ConnectionRoute {
  /** Keeps connections to one origin apart. */
  readonly name: string
  readonly connect: () => Duplex
}

/** Another connection, an error, or undefined: the network. The path is not always known. */
type DecideConnection = (origin: string, path: string | undefined, isEncrypted: boolean) => ConnectionRoute | Error | undefined

/** Agents copy this member with the other options. */
const PATH = Symbol('path of the request')
/** The decision at the request; null: the network. An agent may connect much later, within an earlier request. */
const ROUTE = Symbol('route of the request')

interface ConnectOptions {
  [PATH]?: string
  [ROUTE]?: ConnectionRoute | Error | null
  readonly host?: string | null
  readonly port?: string | number | null
  readonly socketPath?: string | null
}

type ConnectDone = (error: Error | null, socket?: Duplex) => void
type Connect = (this: object, options: ConnectOptions, done?: ConnectDone) => Duplex | null | undefined
type GetName = (this: object, options?: ConnectOptions) => string
type AddRequest = (this: object, request: { readonly path: string }, options: ConnectOptions | string, ...more: unknown[]) => void

interface Methods {
  addRequest: AddRequest
  createConnection: Connect
  getName: GetName
}

function formatOrigin({ host, port, socketPath }: ConnectOptions, isEncrypted: boolean): string | undefined {
  if (typeof socketPath === 'string') return undefined
  const name = host ?? 'localhost'
  return URL.parse(`http${isEncrypted ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}${port ? `:${port}` : ''}`)?.origin
}

function decideOnce(route: DecideConnection, options: ConnectOptions, isEncrypted: boolean): ReturnType<DecideConnection> {
  if (options[ROUTE] !== undefined) return options[ROUTE] ?? undefined
  const origin = formatOrigin(options, isEncrypted)
  const found = origin === undefined ? undefined : route(origin, options[PATH], isEncrypted)
  if (options[PATH] !== undefined) options[ROUTE] = found ?? null
  return found
}

/** @returns a function that ends the routing */
export function routeAgents(route: DecideConnection): () => void {
  const HttpsAgent = builtin.https.Agent
  const [ofHttp, ofHttps] = [builtin.http.Agent, HttpsAgent].map(({ prototype }) => prototype as unknown as Methods) as [Methods, Methods]
  let isOn = true
  const routed = (options: ConnectOptions, isEncrypted: boolean): ReturnType<DecideConnection> =>
    isOn ? decideOnce(route, options, isEncrypted) : undefined
  const connectOver = (below: Connect, isEncrypted: boolean): Connect =>
    function createConnection(options, done) {
      const found = routed(options, isEncrypted)
      if (found === undefined) return below.call(this, options, done)
      if (!(found instanceof Error)) return found.connect()
      if (done === undefined) throw found
      done(found)
      return undefined
    }
  // Agents find kept connections by name: no connection to the network may serve an intercepted request. Names must not change.
  const names = new WeakMap<object, string>()
  const nameOver = (below: GetName): GetName =>
    function getName(options) {
      const name = below.call(this, options)
      if (options === undefined) return name
      const known = names.get(options)
      if (known !== undefined) return name + known
      const found = routed(options, this instanceof HttpsAgent)
      const mark = found === undefined ? '' : `:intercepted ${found instanceof Error ? '' : found.name}`
      names.set(options, mark)
      return name + mark
    }
  const addOver = (below: AddRequest): AddRequest =>
    function addRequest(request, options, ...more) {
      if (typeof options === 'object' && options !== null) options[PATH] = request.path
      below.call(this, request, options, ...more)
    }
  const undo = [
    replace(ofHttp, 'addRequest', addOver),
    replace(ofHttp, 'createConnection', below => connectOver(below, false)),
    replace(ofHttps, 'createConnection', below => connectOver(below, true)),
    replace(ofHttp, 'getName', nameOver),
  ]
  return () => {
    isOn = false
    for (const each of undo) each()
  }
}

/** A replacement wrapped by other code stays, and passes calls on. */
function replace<Name extends keyof Methods>(holder: Methods, name: Name, over: (below: Methods[Name]) => Methods[Name]): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name)
  const below = holder[name]
  const replacement = over(below)
  Object.defineProperty(holder, name, { value: replacement, writable: true, enumerable: before?.enumerable ?? true, configurable: true })
  return () => {
    if (holder[name] !== replacement) return
    if (before === undefined) delete (holder as Partial<Methods>)[name]
    else Object.defineProperty(holder, name, before)
  }
}
