/**
 * Makes the typed client of an API, as in `client(engine, { users: User }).users.get(1)`. Types come from entities, without generated code.
 * For browsers, too.
 */
import { checkNames, findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { EnvelopeTemplates } from '../../foundation/http/envelope-template.ts'
import type { CallOptions, Client, ClientEntities, ClientMethods } from './client-types.ts'
import { createReader, createWrapper } from './read-shaped.ts'
import { ResourceCalls } from './resource-calls.ts'
import { mergeHeaders, openTransport, type Call, type ClientTarget, type Transport } from './transport.ts'

/** Options of `client`. */
export interface ClientOptions {
  /**
   * First segment of paths; null for an API without versions. Default: an engine's first version, or null; `'v1'` for a URL or a `fetch`
   * function.
   */
  readonly version?: string | null
  /** Origin, and path before the version, for a `fetch` function. Default: `'http://localhost'`. */
  readonly url?: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Paths below the version, as in the option `paths` of `auth`: `{ login: 'users/login', me: 'user' }`. Default: `login`, `logout`,
   * `refresh`.
   */
  readonly paths?: SessionCallPaths
  /** The templates of the engine's option `envelope`. Default: the engine's own form. */
  readonly envelope?: EnvelopeTemplates
  /** From a log-in or `engine.token(user)`. */
  readonly token?: string
}

const OPTIONS = ['version', 'url', 'headers', 'paths', 'envelope', 'token']

/**
 * Makes a typed client. The entities determine names, operators and values: a misspelt filter does not compile.
 *
 * @param target an engine, the URL of a server (with the path before the version), or a function like `fetch`. The client speaks the
 * engine's own grammar: a URL must be of a server without a `wire`
 * @param entities entities by resource name; omit them to import only types: `client<{ users: typeof User }>(url)`
 * @returns calls for each resource by name, and `login`, `logout`, `refresh`, `signUp`, `me`, `updateMe`, `withToken`, `withHeaders`
 * @throws TypeError for a wrong target, an unknown option, or a resource with the name of a method. A refused call throws a `RestError`
 * with `status`, `code` and `errors`; a call without an answer throws the error of `fetch`.
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
  wire: ClientWire,
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
      const loggedIn = mergeHeaders(headers, authorize(findToken(answer)))
      return { user: readUser(answer), api: makeClient<M>(withRefreshToken(wire, answer), names, loggedIn) }
    },
    withToken: token => withHeaders(authorize(token)),
    withHeaders,
  }
  const open = (name: string): ResourceCalls => new ResourceCalls(wire.transport, headers, [name])
  if (names === undefined) return withAnyName(methods, open) as Client<M>
  const calls = { ...methods, ...Object.fromEntries(names.map(name => [name, open(name)])) }
  return withAnyName(calls, name => new ResourceCalls(refuseName(name, names), headers, [name])) as Client<M>
}

/** JavaScript has no compiler: an unknown name fails at the first call. */
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

/** A name is a resource, but for `then` and `toJSON`, which JavaScript itself reads. */
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

/** Below the version. */
type SessionCallPaths = Readonly<Partial<Record<'login' | 'logout' | 'refresh' | 'me' | 'signUp', string>>>

const DEFAULT_PATHS: SessionCallPaths = { login: 'login', logout: 'logout', refresh: 'refresh' }
const PATHS: readonly (keyof SessionCallPaths)[] = ['login', 'logout', 'refresh', 'me', 'signUp']

/** A member anywhere. */
const REFRESH = 'refreshToken'

type LogInAnswer = Readonly<Record<string, unknown>>

interface ClientWire {
  readonly transport: Transport
  readonly paths: SessionCallPaths
  readonly refreshToken?: string | undefined
}

function readPaths(given: unknown): SessionCallPaths {
  if (given === undefined) return DEFAULT_PATHS
  if (typeof given !== 'object' || given === null)
    throw new TypeError('client: "paths" must be an object of paths: { login: "users/login" }.')
  checkNames(given, PATHS, 'client: paths')
  for (const [name, path] of Object.entries(given))
    if (typeof path !== 'string' || !/[^/]/.test(path))
      throw new TypeError(`client: paths: "${name}" must be a path below the version, such as "users/login".`)
  return { ...DEFAULT_PATHS, ...given }
}

function sendSession(
  { transport, paths }: ClientWire,
  method: string,
  name: keyof SessionCallPaths,
  body: unknown,
  { signal, headers }: CallOptions,
): Promise<LogInAnswer> {
  const path = paths[name]
  if (path === undefined)
    throw new TypeError(
      `client: where "${name}" is must be said: client(target, entities, { paths: { ${name}: ... } }), as in the option "paths" of auth.`,
    )
  const segments = path.split('/').filter(segment => segment !== '')
  return transport({ method, segments, body, headers: mergeHeaders({}, headers), signal, isFree: name !== 'logout' })
}

/** Without a token, the browser may have a cookie. */
function writeRefresh({ refreshToken }: ClientWire): LogInAnswer {
  return refreshToken === undefined ? {} : { [REFRESH]: refreshToken }
}

function withRefreshToken(wire: ClientWire, answer: LogInAnswer): ClientWire {
  const refreshToken = findMember(answer, REFRESH)
  return refreshToken === undefined ? wire : { ...wire, refreshToken }
}

/** The record, or the whole answer of an application's form. */
function readUser(answer: LogInAnswer): LogInAnswer {
  const { resource } = answer
  const record = typeof resource === 'string' ? answer[resource] : undefined
  return typeof record === 'object' && record !== null ? (record as LogInAnswer) : answer
}

/** An application may answer with a JSON Web Token anywhere. */
function findToken(answer: unknown): string | undefined {
  if (typeof answer === 'string') return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(answer) ? answer : undefined
  if (typeof answer !== 'object' || answer === null) return undefined
  const { auth_token: own } = answer as { readonly auth_token?: unknown }
  if (typeof own === 'string') return own
  for (const [name, member] of Object.entries(answer)) {
    const token = name === REFRESH ? undefined : findToken(member)
    if (token !== undefined) return token
  }
  return undefined
}

function findMember(answer: unknown, name: string): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const value = (answer as LogInAnswer)[name]
  if (typeof value === 'string') return value
  for (const member of Object.values(answer)) {
    const found = findMember(member, name)
    if (found !== undefined) return found
  }
  return undefined
}
