/**
 * Client: the typed client of an API that an engine serves, or that a server serves like one. Its types come from the entities, without
 * generated code; at run time it needs their names alone. It imports nothing of Node, so that it runs in browsers.
 */
import { checkNames, findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { CallOptions, Client, ClientEntities, ClientMethods } from './client-types.ts'
import type { EnvelopeTemplates } from '../../foundation/base/envelope-template.ts'
import { createReader, createWrapper } from './read-shaped.ts'
import { mergeHeaders } from './merge-headers.ts'
import { ResourceCalls } from './resource-calls.ts'
import { findToken, readPaths, readUser, sendSession, withRefreshToken, writeRefresh } from './session-calls.ts'
import type { SessionCallPaths, Wire } from './session-calls.ts'
import { openTransport, type Call, type ClientTarget, type Transport } from './transport.ts'

/** What `client` takes beside target and entities. */
export interface ClientOptions {
  /**
   * The version that paths begin with; null for an API without versions. Default: the first of an engine, none where it has none; `'v1'`
   * for a URL or a `fetch` function.
   */
  readonly version?: string | null
  /** Origin, and path in front of the version, for a `fetch` function. Default: `'http://localhost'`. */
  readonly url?: string | URL
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Where the API logs in and out, below the version, as the option `paths` of `auth` says it: `{ login: 'users/login', me: 'user' }`.
   * Default: `login`, `logout`.
   */
  readonly paths?: SessionCallPaths
  /** The form of the answers, where the API has the option `envelope`: the same templates. Default: the engine's own form. */
  readonly envelope?: EnvelopeTemplates
  /** The token of every call, as a log-in or `engine.token(user)` gives it. */
  readonly token?: string
}

const OPTIONS = ['version', 'url', 'headers', 'paths', 'envelope', 'token']

/**
 * Makes a typed client. Names, operators and values of queries, bodies and records follow from the entities; a filter that is misspelt does
 * not compile.
 *
 * @param target an engine, the URL of a server (with the path in front of the version), or a function like `fetch`
 * @param entities the entities by the names of their resources in paths; left out where types alone are imported: `client<{ users: typeof
 * User }>(url)`
 * @returns the calls for each resource by its name, and `login`, `logout`, `refresh`, `signUp`, `me`, `updateMe`, `withToken`,
 * `withHeaders`
 * @throws TypeError for a wrong target, an unknown option, and a resource with the name of a method of the client. A call throws a
 * `RestError` with `status`, `code` and `errors` when the server refuses it, and the error of `fetch` when no answer comes.
 * @example
 * const api = client(engine, { users: User, sites: Site })
 * const { items, count } = await api.users.list({ 'age>=': 18, 'name~=': 'a*', sort: 'age.desc', limit: 20 })
 * const user = await api.users.create({ name: 'Ann', sites: [{ url: 'https://ann.example' }] }, { expand: 'sites' })
 */
export function client<const M extends ClientEntities>(target: ClientTarget, entities?: M, options: ClientOptions = {}): Client<M> {
  checkNames(options, OPTIONS, 'client')
  const { version, url, headers = {}, paths, envelope, token } = options
  const names = entities === undefined ? undefined : Object.keys(entities)
  const taken = names?.find(name => METHODS.includes(name))
  if (taken !== undefined) throw new TypeError(`client: "${taken}" is a method of the client, and cannot be the name of a resource.`)
  const transport = openTransport(target, { version, url }, envelope === undefined ? undefined : createReader(envelope))
  const wrap = envelope === undefined ? undefined : createWrapper(envelope)
  const wire = {
    transport:
      wrap === undefined ? transport : (call: Call) => transport(call.isRecord === true ? { ...call, body: wrap(call.body) } : call),
    paths: readPaths(paths),
  }
  return makeClient(wire, names, mergeHeaders(headers, authorize(token)))
}

function authorize(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

const METHODS: readonly string[] = [
  'login',
  'logout',
  'refresh',
  'signUp',
  'me',
  'updateMe',
  'withToken',
  'withHeaders',
] satisfies (keyof ClientMethods<ClientEntities>)[]

function makeClient<M extends ClientEntities>(
  wire: Wire,
  names: readonly string[] | undefined,
  headers: Readonly<Record<string, string>>,
): Client<M> {
  const withHeaders = (more: Readonly<Record<string, string>>): Client<M> => makeClient(wire, names, mergeHeaders(headers, more))
  const send = (
    method: string,
    name: keyof SessionCallPaths,
    body: unknown,
    options: CallOptions = {},
  ): Promise<Readonly<Record<string, unknown>>> =>
    sendSession(wire, method, name, body, { ...options, headers: mergeHeaders(headers, options.headers) })
  const begin = async (name: 'login' | 'signUp' | 'refresh', body: unknown, callOptions: CallOptions | undefined): Promise<Client<M>> => {
    const answer = await send('POST', name, body, callOptions)
    const token = findToken(answer)
    if (token === undefined)
      throw new TypeError('client: the answer to the log-in has no token: get it by yourself, and write api.withToken(token).')
    return makeClient(withRefreshToken(wire, answer), names, mergeHeaders(headers, authorize(token)))
  }
  const methods: ClientMethods<M> = {
    login: async (credentials, callOptions) => begin('login', credentials, callOptions),
    signUp: async (body, callOptions) => begin('signUp', body, callOptions),
    refresh: async callOptions => begin('refresh', writeRefresh(wire), callOptions),
    logout: async callOptions => {
      await send('POST', 'logout', undefined, callOptions)
    },
    me: async callOptions => readUser(await send('GET', 'me', undefined, callOptions)),
    updateMe: async (body, callOptions) => {
      const answer = await send('PATCH', 'me', body, callOptions)
      const own = mergeHeaders(headers, authorize(findToken(answer)))
      return { user: readUser(answer), api: makeClient<M>(withRefreshToken(wire, answer), names, own) }
    },
    withToken: token => withHeaders(authorize(token)),
    withHeaders,
  }
  const open = (name: string): ResourceCalls => new ResourceCalls(wire.transport, headers, [name])
  if (names === undefined) return withAnyName(methods, open) as Client<M>
  const calls = { ...methods, ...Object.fromEntries(names.map(name => [name, open(name)])) }
  return withAnyName(calls, name => new ResourceCalls(refuseName(name, names), headers, [name])) as Client<M>
}

/** Refuses the calls of a name that is not among the entities: in JavaScript nobody else says so. */
function refuseName(name: string, names: readonly string[]): Transport {
  const known = names.length === 0 ? 'none' : names.join(', ')
  return async () => {
    throw new TypeError(
      `client: "${name}" is not among the entities that it was made with (${known}).${formatHint(findNearest(name, names))} Add it, ` +
        `as in client(target, { ${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ` +
        'Entity }), or leave the entities out: then it takes any name.',
    )
  }
}

/** Takes any name for that of a resource, but for those that are there and those that JavaScript asks for by itself. */
function withAnyName(methods: object, open: (name: string) => ResourceCalls): object {
  const opened = new Map<string, ResourceCalls>()
  return new Proxy(methods, {
    get: (known, name) => {
      if (typeof name === 'symbol' || name in known || name === 'then' || name === 'toJSON') return Reflect.get(known, name) as unknown
      const calls = opened.get(name) ?? open(name)
      opened.set(name, calls)
      return calls
    },
  })
}
