/** The wire of Supabase, with PostgREST below `/rest/v1`, and log-in below `/auth/v1`. */
import type { Wire, WireAnswer, WireApi, WireError, WireLogIn, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import { isRefusal } from './failure.ts'
import { answerRest, checkRpc, isOfTable, refuseRest, type PostgrestOptions, isAnonymous } from './postgrest.ts'
import { keyOf, textOf, type ShownRow } from './keys.ts'
import { columnOf } from './tables.ts'

/** Options of `supabase`. */
export interface SupabaseOptions extends PostgrestOptions {
  /** The resource of users. Default: the resource of `auth`. */
  readonly users?: string
}

/**
 * Answers as a Supabase project does, with tables below `/rest/v1`, and log-in by the engine's `auth` below `/auth/v1`. Takes any `apikey`,
 * for no user.
 *
 * @example
 * const engine = await RestEngine.create({ entities, auth: auth({ entity: User, public: ['* /*'] }), wire: supabase() })
 * using _ = engine.intercept('https://demo.supabase.co')
 * const { data } = await createClient('https://demo.supabase.co', 'any-key').from('posts').select()
 */
export function supabase(options: SupabaseOptions = {}): Wire {
  const rpc = checkRpc(options, ['rpc', 'users'], 'supabase')
  const { users } = options
  if (users !== undefined && typeof users !== 'string')
    throw new TypeError(`supabase: "users" must be the name of a resource, got ${typeof users}.`)
  return {
    answer: (request, api) => {
      const [service = '', version, ...segments] = request.segments
      const below = { ...request, segments }
      if (service === 'rest' && version === 'v1') return answerRest(rpc, below, api)
      if (service === 'auth' && version === 'v1') return answerAuth(users, below, api)
      return notServed(service)
    },
    repeatable: ({ segments: [service, , ...segments], ...request }) => service === 'rest' && isOfTable({ ...request, segments }),
    refuse: (error, request) =>
      request.segments[0] === 'auth' || request.path.startsWith('/auth/') ? refuseAuth(error) : refuseRest(error, request),
  }
}

/** Storage, realtime, edge functions. */
function notServed(service: string): WireAnswer {
  const message = `"/${service}" is not served here, only "/rest/v1" and "/auth/v1".`
  return { status: 404, body: { statusCode: '404', error: 'not_found', code: 'not_found', details: null, hint: null, message } }
}

class AuthFailure extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface AuthRequest {
  readonly api: WireApi
  /** For a caller without a token. */
  readonly nobody: WireApi
  readonly logIn: WireLogIn
  readonly users: WireResource
  readonly request: WireRequest
}

/** @param users the resource of the users; undefined: the resource of the log-in */
async function answerAuth(users: string | undefined, request: WireRequest, api: WireApi): Promise<WireAnswer> {
  try {
    return await route(users, request, api)
  } catch (error) {
    if (error instanceof AuthFailure) return show(error)
    if (isRefusal(error) && error.status < 500)
      return refuseAuth({ ...error, message: error.message, detail: error.message, headers: error.headers ?? {} } as WireError)
    throw error
  }
}

function show({ status, code, message }: AuthFailure, headers: Readonly<Record<string, string>> = {}): WireAnswer {
  return { status, headers: { ...headers, 'x-sb-error-code': code }, body: { code: status, error_code: code, msg: message } }
}

function refuseAuth({ status, code, message, errors = [], headers }: WireError): WireAnswer {
  const entry: { readonly code?: string; readonly detail?: string } | undefined = errors[0]
  const [as, name, text] = readRefused(status, code, entry?.detail ?? message, entry?.code)
  return show(new AuthFailure(as, name, text), headers)
}

function readRefused(status: number, code: string, message: string, ofEntry: string | undefined): [number, string, string] {
  if (code === 'login_failed') return [400, 'invalid_credentials', 'Invalid login credentials']
  if (code === 'login_throttled' || status === 429) return [429, 'over_request_rate_limit', 'Request rate limit reached']
  if (ofEntry === 'not_unique' || code === 'unique_conflict') return [422, 'user_already_exists', 'User already registered']
  if (code === 'token_missing') return [401, 'no_authorization', 'This endpoint requires a valid Bearer token']
  if (code.startsWith('token_')) return [403, 'bad_jwt', `invalid JWT: ${message}`]
  if (code === 'json_malformed' || code === 'body_invalid') return [400, 'bad_json', 'Could not parse request body as JSON']
  if (code === 'validation_failed') return [400, 'validation_failed', message]
  return [status, code, message]
}

async function route(named: string | undefined, request: WireRequest, api: WireApi): Promise<WireAnswer> {
  const { logIn } = api
  const path = `${request.method} ${request.segments.join('/')}`
  if (logIn === undefined) throw new AuthFailure(404, 'not_found', 'The engine has no log-in: see its option "auth".')
  const users = api.resources.find(({ name }) => name === (named ?? logIn.users))
  if (users === undefined) throw new TypeError(`supabase: "users": there is no resource "${named ?? logIn.users}".`)
  const { authorization: _, ...headers } = request.headers
  const authRequest: AuthRequest = { api, nobody: api.as(headers), logIn, users, request }
  switch (path) {
    case 'POST signup':
      return { status: 200, body: await signUp(authRequest) }
    case 'POST token':
      return { status: 200, body: await issueToken(authRequest) }
    case 'GET user':
      return { status: 200, body: showUser(authRequest, await findUser(authRequest)) }
    case 'PUT user':
      return { status: 200, body: showUser(authRequest, await changeUser(authRequest)) }
    case 'POST logout':
      requireToken(request)
      await api.ask('POST', logIn.paths.logout!)
      return { status: 204 }
    case 'GET settings':
      return { status: 200, body: { external: { email: true, phone: false }, disable_signup: false, mailer_autoconfirm: true } }
    default:
      throw new AuthFailure(404, 'not_found', `"${path}" is not served here.`)
  }
}

function bodyOf({ body }: WireRequest): ShownRow {
  if (typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof Uint8Array)) return body as ShownRow
  throw new AuthFailure(400, 'bad_json', 'Could not parse request body as JSON')
}

/** Reads `email`, `password`, and columns of the users in `data`. */
function readUser({ users, logIn, request }: AuthRequest, needed: boolean): Record<string, unknown> {
  const { email, password, data } = bodyOf(request)
  for (const [name, value] of [
    ['email', email],
    ['password', password],
  ] as const) {
    if (typeof value === 'string' ? value === '' : needed || value !== undefined)
      throw new AuthFailure(400, 'validation_failed', `A valid ${name} is needed`)
  }
  const record: Record<string, unknown> = {}
  if (email !== undefined) record[logIn.identifier] = email
  if (password !== undefined) record[logIn.password] = password
  if (data === undefined || data === null) return record
  if (typeof data !== 'object' || Array.isArray(data)) throw new AuthFailure(400, 'validation_failed', '"data" must be an object')
  for (const [column, value] of Object.entries(data)) {
    const attribute = users.attributes.find(each => columnOf(each) === column)
    if (attribute === undefined)
      throw new AuthFailure(400, 'validation_failed', `"data": "${users.table}" has no column "${column.slice(0, 100)}"`)
    record[attribute.name] = value
  }
  return record
}

async function signUp(asked: AuthRequest): Promise<object> {
  const { nobody, logIn, users } = asked
  const record = readUser(asked, true)
  if (logIn.paths.signUp !== undefined) return showSession(asked, await nobody.ask('POST', logIn.paths.signUp, undefined, record))
  try {
    await nobody.create(users, record)
  } catch (error) {
    if (isRefusal(error) && ['token_missing', 'forbidden'].includes(error.code))
      throw new AuthFailure(422, 'signup_disabled', 'Signups not allowed for this instance')
    throw error
  }
  return logInWith(asked, record)
}

async function logInWith(asked: AuthRequest, record: ShownRow): Promise<object> {
  const { nobody, logIn } = asked
  const credentials = { [logIn.identifier]: record[logIn.identifier], [logIn.password]: record[logIn.password] }
  return showSession(asked, await nobody.ask('POST', logIn.paths.login!, undefined, credentials))
}

async function issueToken(asked: AuthRequest): Promise<object> {
  const { nobody, logIn, request } = asked
  const grant = request.pairs.find(([name]) => name === 'grant_type')?.[1]
  if (grant === 'password')
    return logInWith(asked, readUser({ ...asked, request: { ...request, body: { ...bodyOf(request), data: undefined } } }, true))
  if (grant !== 'refresh_token') throw new AuthFailure(400, 'invalid_request', `unsupported_grant_type: "${(grant ?? '').slice(0, 100)}"`)
  const { refresh_token: refreshToken } = bodyOf(request)
  const unknown = new AuthFailure(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
  if (logIn.paths.refresh === undefined || typeof refreshToken !== 'string' || refreshToken === '') throw unknown
  try {
    return showSession(asked, await nobody.ask('POST', logIn.paths.refresh, undefined, { refreshToken }))
  } catch (error) {
    if (!isRefusal(error) || !error.code.startsWith('token_')) throw error
    throw error.code === 'token_revoked'
      ? new AuthFailure(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')
      : unknown
  }
}

interface LoggedIn {
  readonly auth_token?: unknown
  readonly refreshToken?: string
  readonly user?: ShownRow | null
}

/** supabase-js takes no session without a refresh token. */
const NO_REFRESH = 'none'

function showSession(asked: AuthRequest, body: unknown): object {
  const { auth_token: token, refreshToken = NO_REFRESH, user } = body as LoggedIn
  if (typeof token !== 'string') throw new TypeError('supabase: the log-in gives no "auth_token": leave out the option "answer" of auth.')
  const { exp } = readClaims(token)
  const { ttl } = asked.logIn
  return {
    access_token: token,
    token_type: 'bearer',
    expires_in: ttl,
    expires_at: exp,
    refresh_token: refreshToken,
    user: showUser(asked, user ?? {}),
  }
}

/** Unverified: the engine verifies tokens. */
function readClaims(token: string): { readonly sub?: string; readonly exp?: number } {
  try {
    const bytes = Uint8Array.from(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')), char => char.codePointAt(0)!)
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? claims : {}
  } catch {
    return {}
  }
}

function requireToken(request: WireRequest): string {
  const { authorization } = request.headers
  if (authorization === undefined) throw new AuthFailure(401, 'no_authorization', 'This endpoint requires a valid Bearer token')
  if (isAnonymous(request)) throw new AuthFailure(403, 'bad_jwt', 'invalid claim: missing sub claim')
  return authorization.replace(/^Bearer\s+/i, '')
}

/** @throws AuthFailure for a token that names nobody */
function subOf(request: WireRequest): string {
  const { sub } = readClaims(requireToken(request))
  if (typeof sub !== 'string') throw new AuthFailure(403, 'bad_jwt', 'invalid claim: missing sub claim')
  return sub
}

async function findUser({ api, logIn, users, request }: AuthRequest): Promise<ShownRow> {
  const sub = subOf(request)
  return logIn.paths.me === undefined ? api.get(users, sub) : ((await api.ask('GET', logIn.paths.me)) as ShownRow)
}

async function changeUser(asked: AuthRequest): Promise<ShownRow> {
  const { api, logIn, users, request } = asked
  const sub = subOf(request)
  const changes = readUser(asked, false)
  return logIn.paths.me === undefined
    ? api.update(users, sub, changes)
    : ((await api.ask('PATCH', logIn.paths.me, undefined, changes)) as ShownRow)
}

/** Other columns become `user_metadata`. */
function showUser({ api, users, logIn }: AuthRequest, record: ShownRow): object {
  const others = users.attributes.filter(
    ({ name, column }) => column !== undefined && Object.hasOwn(record, name) && name !== logIn.identifier && !users.key.includes(name),
  )
  const metadata = Object.fromEntries(others.map(attribute => [columnOf(attribute), record[attribute.name]]))
  const stamp = (column: string): object => (typeof metadata[column] === 'string' ? { [column]: metadata[column] } : {})
  return {
    id: textOf(keyOf(api, record, users)),
    aud: 'authenticated',
    role: 'authenticated',
    email: record[logIn.identifier],
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: metadata,
    identities: [],
    ...stamp('created_at'),
    ...stamp('updated_at'),
  }
}
