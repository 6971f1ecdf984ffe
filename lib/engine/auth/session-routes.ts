/**
 * Session routes: log-in, log-out, sign-up and the user of the token, as custom routes at the paths that the option `paths` says. What they do to the
 * record of a user is a request to its resource, by the rules of that.
 */
import type { Claims, HandlerResponse, HookContext } from '../../model/hook-context.ts'
import { keyFromText, keyToSegment } from '../../model/key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { answerWithin, readCarried, readRefusal } from '../../records/request/inner-request.ts'
import type { RequestContext } from '../../records/request/request-context.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { AuthModule } from './auth-options.ts'
import type { Credentials } from './credentials.ts'
import { missing } from './refusals.ts'
import type { AuthServices } from './services.ts'
import { keyToSub } from './users.ts'
import type { Users } from './users.ts'
import { computeState } from './user-state.ts'

/** No cache may keep a token (RFC 6749 section 5.1). */
const NO_STORE = Object.freeze({ 'cache-control': 'no-store' })

/** What the routes use of the module. */
export interface SessionParts {
  readonly options: AuthModule['options']
  readonly services: AuthServices
  readonly users: Users
  readonly credentials: Credentials
  /** Makes a token for a user in a state, and its claims. */
  readonly mint: (sub: string, state: string) => { readonly token: string; readonly claims: Claims }
  /** Returns the token that a request has sent. */
  readonly tokenOf: (headers: HookContext['headers']) => string | undefined
  /** Whether a token is still taken. */
  readonly isValid: (claims: Claims, version: string) => Promise<boolean>
  /** Ends a token. */
  readonly end: (claims: Claims) => Promise<void>
}

/** A user, as stored. */
interface KnownUser {
  readonly resource: Resource
  readonly key: KeyValues
  readonly record: JsonRecord
  readonly state: string
}

export class SessionRoutes {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get routes(): Route[] {
    const { options, services } = this.#parts
    const root = services.versions.has(NO_VERSION) ? '' : '/{version}'
    const { login, logout, me, signUp } = options.paths
    const route = (method: string, path: string | undefined, handler: Route['handler']): Route[] =>
      path === undefined ? [] : [{ method, path: `${root}/${path}`, transaction: false, handler }]
    return [
      ...route('POST', login, ctx => this.#logIn(ctx)),
      ...route('POST', logout, ctx => this.#logOut(ctx)),
      ...route('POST', signUp, ctx => this.#signUp(ctx)),
      ...['GET', 'PUT', 'PATCH'].flatMap(method => route(method, me, ctx => this.#ownRecord(ctx as RequestContext))),
    ]
  }

  async #logIn(ctx: HookContext): Promise<HandlerResponse> {
    const { services, users, credentials } = this.#parts
    const resource = users.resource(ctx.version)
    const columns = users.columns(resource)
    const given = await credentials.read(ctx.data)
    const known = await credentials.find(given, ctx, async (user): Promise<KnownUser | undefined> => {
      const key = user === undefined || user === null || user === false ? undefined : users.readKey(user, resource)
      const stored = key === undefined ? undefined : await services.stored(resource, key, columns.columns)
      if (key === undefined || stored === undefined) return undefined
      return {
        resource,
        key,
        record: stored.record,
        state: computeState(columns, credentials.withCheckedPassword(user, columns, stored.row)),
      }
    })
    return this.#begin(known, ctx, 'Logged in.')
  }

  /** Answers with a new token for a user. */
  async #begin({ resource, key, record: stored, state }: KnownUser, ctx: HookContext, message: string): Promise<HandlerResponse> {
    const { options, services, users, mint } = this.#parts
    const { token, claims } = mint(keyToSub(key, resource), state)
    const record = await services.shown(resource, key, { claims, user: users.withoutPassword(resource, stored) }, ctx)
    const user = record === undefined ? null : users.withoutPassword(resource, record)
    if (options.answer !== undefined) return { headers: NO_STORE, body: await options.answer(user, token, ctx) }
    return { headers: NO_STORE, body: { auth_token: token, message, success: true, timestamp: this.#timestamp(), user } }
  }

  async #logOut(ctx: HookContext): Promise<HandlerResponse> {
    if (ctx.claims === undefined) throw missing()
    await this.#parts.end(ctx.claims)
    return { body: { success: true, timestamp: this.#timestamp(), message: 'Logged out.', status: 'OK' } }
  }

  /** Creates a user as a POST of the resource does, for a caller without a token, and logs it in. */
  async #signUp(ctx: HookContext): Promise<HandlerResponse> {
    const { services, users, credentials } = this.#parts
    const resource = users.resource(ctx.version)
    const attributes = await credentials.read(ctx.data)
    const created = await answerWithin((ctx as RequestContext).parts, { method: 'POST', path: `/${resource.plural}`, body: attributes })
    if (created.status >= 400) throw readRefusal(created)
    const segment = created.headers['location']?.split('/').at(-1)
    const key = segment === undefined ? undefined : keyFromText(segment, resource, true)
    const columns = users.columns(resource)
    const stored = key === undefined ? undefined : await services.stored(resource, key, columns.columns)
    // A wrapper of the application may answer with anything.
    if (key === undefined || stored === undefined) return passOn(created)
    const answer = await this.#begin({ resource, key, record: stored.record, state: computeState(columns, stored.row) }, ctx, 'Signed up.')
    return { ...answer, status: created.status, headers: { ...answer.headers, location: created.headers['location']! } }
  }

  /** GET, PUT and PATCH of the user of the token: those of the record, by its rules. */
  async #ownRecord(ctx: RequestContext): Promise<HandlerResponse> {
    const { options, users, credentials, isValid, tokenOf } = this.#parts
    const { claims, method, version } = ctx
    if (claims === undefined) throw missing()
    const resource = users.resource(version)
    const key = keyFromText(claims.sub, resource)!
    const isWrite = method === 'PUT' || method === 'PATCH'
    const body = isWrite ? await credentials.read(ctx.data) : undefined
    const path = `/${resource.plural}/${keyToSegment(key, resource)}`
    const done = await answerWithin(ctx.parts, { method, path, query: ctx.query, body, isSame: true })
    if (done.status >= 400) throw readRefusal(done)
    // A new password has ended the token that it was sent with.
    const renewed = isWrite && !(await isValid(claims, version)) ? await this.#renew(claims, resource, key) : undefined
    if (options.answer !== undefined && done.body !== undefined) {
      const answered = await options.answer(readCarried(done.body), renewed ?? tokenOf(ctx.headers) ?? '', ctx)
      return { status: done.status, headers: NO_STORE, body: answered }
    }
    const own = passOn(done)
    if (renewed === undefined) return own
    return { ...own, headers: { ...own.headers, ...NO_STORE }, body: { ...(done.body as object), auth_token: renewed } }
  }

  async #renew({ sub }: Claims, resource: Resource, key: KeyValues): Promise<string | undefined> {
    const { services, users, mint } = this.#parts
    const columns = users.columns(resource)
    const row = await services.columns(resource, key, columns.columns)
    return row === undefined ? undefined : mint(sub, computeState(columns, row)).token
  }

  #timestamp(): string {
    return this.#parts.services.clock.now().toISOString()
  }
}

/** The answer of the resource as that of a route: what it says of its own length and form is written anew. */
function passOn({ status, headers: { 'content-type': _type, ...headers }, body }: RestResponse): HandlerResponse {
  return { status, headers, body }
}
