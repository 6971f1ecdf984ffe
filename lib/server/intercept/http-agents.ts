/**
 * HTTP agents: the place where clients on `node:http` and `node:https` get their connections. While somebody intercepts, `createConnection` of the agents gives
 * a connection inside of the process for origins that are intercepted, and an error for those that nobody may reach.
 */
import type { Duplex } from 'node:stream'
import { builtin } from '../../base/builtins.ts'

/** What becomes of a connection: another one, an error, or undefined for what would have been. */
export type Route = (origin: string, isEncrypted: boolean) => (() => Duplex) | Error | undefined

interface ConnectOptions {
  readonly host?: string | null
  readonly port?: string | number | null
  readonly socketPath?: string | null
}

type Done = (error: Error | null, socket?: Duplex) => void
type Connect = (this: object, options: ConnectOptions, done?: Done) => Duplex | null | undefined
type GetName = (this: object, options?: ConnectOptions) => string

/** The methods of agents that are replaced; they are public, and classes on top of the agents call them. */
interface Methods {
  createConnection: Connect
  getName: GetName
}

function formatOrigin({ host, port, socketPath }: ConnectOptions, isEncrypted: boolean): string | undefined {
  if (typeof socketPath === 'string') return undefined
  const name = host ?? 'localhost'
  return URL.parse(`http${isEncrypted ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}${port ? `:${port}` : ''}`)?.origin
}

/** Begins to ask `route` for every new connection; the function that it gives ends it. */
export function routeAgents(route: Route): () => void {
  const HttpsAgent = builtin.https.Agent
  const [ofHttp, ofHttps] = [builtin.http.Agent, HttpsAgent].map(({ prototype }) => prototype as unknown as Methods) as [Methods, Methods]
  let isOn = true
  const routed = (options: ConnectOptions, isEncrypted: boolean): ReturnType<Route> => {
    const origin = isOn ? formatOrigin(options, isEncrypted) : undefined
    return origin === undefined ? undefined : route(origin, isEncrypted)
  }
  const connectOver = (below: Connect, isEncrypted: boolean): Connect =>
    function createConnection(options, done) {
      const found = routed(options, isEncrypted)
      if (found === undefined) return below.call(this, options, done)
      if (!(found instanceof Error)) return found()
      if (done === undefined) throw found
      done(found)
      return undefined
    }
  // A connection that was kept from before goes to the network: it must not be found under the name of one that is intercepted. Nor may a name change.
  const names = new WeakMap<object, string>()
  const nameOver = (below: GetName): GetName =>
    function getName(options) {
      const name = below.call(this, options)
      if (options === undefined) return name
      const known = names.get(options)
      if (known !== undefined) return name + known
      const mark = routed(options, this instanceof HttpsAgent) === undefined ? '' : ':intercepted'
      names.set(options, mark)
      return name + mark
    }
  const undo = [
    replace(ofHttp, 'createConnection', below => connectOver(below, false)),
    replace(ofHttps, 'createConnection', below => connectOver(below, true)),
    // That of the agents for https calls it.
    replace(ofHttp, 'getName', nameOver),
  ]
  return () => {
    isOn = false
    for (const each of undo) each()
  }
}

/** Puts another method in the place of one. Where somebody has put his own over it meanwhile, it stays, and passes on. */
function replace<Name extends keyof Methods>(holder: Methods, name: Name, over: (below: Methods[Name]) => Methods[Name]): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name)
  const below = holder[name]
  const own = over(below)
  Object.defineProperty(holder, name, { value: own, writable: true, enumerable: before?.enumerable ?? true, configurable: true })
  return () => {
    if (holder[name] !== own) return
    if (before === undefined) delete (holder as Partial<Methods>)[name]
    else Object.defineProperty(holder, name, before)
  }
}
