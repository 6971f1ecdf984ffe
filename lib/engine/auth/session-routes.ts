/** Answers log-in, log-out, refresh, sign-up and `me`. Sign-up and `me` are requests to the resource of users. */
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import { joinSetCookies } from '../../foundation/http/set-cookie.ts'
import type { Claims, HandlerResponse } from '../../model/hook-context.ts'
import { idFromText, idToSegment, keyFromText, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { answerWithin, readCarried, readRefusal } from '../../records/request/inner-request.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { RequestContext } from '../../records/request/request-context.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { AuthModule } from './auth-module.ts'
import type { Credentials } from './credentials.ts'
import { requireOwnPage, type TokenCookies } from './cookies.ts'
import { missing, missingRefresh, refuseUser } from './refusals.ts'
import type { AuthServices } from './services.ts'
import { keyToSub, type Users } from './users.ts'
import { isRefresh, type Issued, type TokenPairs } from './token-pairs.ts'
import type { Tokens } from './tokens.ts'
import { computeState, isOfState } from './user-state.ts'

/** No cache may keep a token (RFC 6749 section 5.1). */
const NO_STORE = Object.freeze({ 'cache-control': 'no-store' })

const NO_TEXT: FieldError = Object.freeze({ code: 'value_invalid', detail: '"refreshToken" must be a string.', attribute: 'refreshToken' })

interface SessionParts {
  readonly options: AuthModule['options']
  readonly services: AuthServices
  readonly users: Users
  readonly credentials: Credentials
  readonly pairs: TokenPairs
  readonly tokens: Tokens
  /** `undefined`: tokens travel in the header alone. */
  readonly cookies: TokenCookies | undefined
  readonly tokenOf: (request: Request) => string | undefined
  /** @throws RestError for a token no longer valid */
  readonly check: (claims: Claims, version: string) => Promise<void>
}

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
    const { login, logout, refresh, me, signUp } = options.paths
    const route = (method: string, path: string | undefined, handler: (ctx: RequestContext) => Promise<HandlerResponse>): Route[] =>
      path === undefined ? [] : [{ method, path: `${root}/${path}`, transaction: false, handler: ctx => handler(ctx as RequestContext) }]
    return [
      ...route('POST', login, ctx => this.#logIn(ctx)),
      ...route('POST', logout, ctx => this.#logOut(ctx)),
      ...route('POST', refresh, ctx => this.#refresh(ctx)),
      ...route('POST', signUp, ctx => this.#signUp(ctx)),
      ...['GET', 'PUT', 'PATCH'].flatMap(method => route(method, me, ctx => this.#ownRecord(ctx))),
    ]
  }

  async #logIn(ctx: RequestContext): Promise<HandlerResponse> {
    const { services, users, credentials } = this.#parts
    const resource = users.resource(ctx.version)
    const columns = users.columns(resource)
    const sentCredentials = await credentials.read(ctx.data)
    const known = await credentials.find(sentCredentials, ctx, async (user): Promise<KnownUser | undefined> => {
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

  /** @param family of the used refresh token; default: a new family */
  async #begin(
    { resource, key, record: stored, state }: KnownUser,
    ctx: RequestContext,
    message: string,
    family?: string,
  ): Promise<HandlerResponse> {
    const { options, services, users, pairs, cookies } = this.#parts
    const issued = pairs.issue(keyToSub(key, resource), state, family)
    const { token, claims } = issued
    const record = await services.shown(resource, key, { claims, user: users.withoutPassword(resource, stored), resource }, ctx)
    const user = record === undefined ? null : users.withoutPassword(resource, record)
    const headers = { ...NO_STORE, ...this.#setCookies(issued, ctx) }
    // A refresh token in a cookie is for the browser alone.
    const refreshToken = cookies === undefined ? issued.refreshToken : undefined
    if (options.answer !== undefined) return { headers, body: await options.answer(user, token, ctx, refreshToken) }
    const more = refreshToken === undefined ? {} : { refreshToken }
    return { headers, body: { auth_token: token, ...more, message, success: true, timestamp: this.#timestamp(), user } }
  }

  #setCookies({ token, refreshToken }: Issued, ctx: RequestContext): { readonly 'set-cookie'?: string } {
    const { options, cookies } = this.#parts
    if (cookies === undefined) return {}
    const { request } = ctx.parts
    const tokenCookie = cookies.write(token, options.ttl, request)
    if (refreshToken === undefined) return { 'set-cookie': tokenCookie }
    return { 'set-cookie': joinSetCookies([tokenCookie, cookies.writeRefresh(refreshToken, options.refresh!.ttl, request, ctx.version)]) }
  }

  async #logOut(ctx: RequestContext): Promise<HandlerResponse> {
    if (ctx.claims === undefined) throw missing()
    const { options, pairs, cookies } = this.#parts
    await pairs.end(ctx.claims)
    const { request } = ctx.parts
    const removed = cookies === undefined ? [] : [cookies.write('', 0, request)]
    if (cookies !== undefined && options.refresh !== undefined) removed.push(cookies.writeRefresh('', 0, request, ctx.version))
    const headers = removed.length === 0 ? {} : { 'set-cookie': joinSetCookies(removed) }
    return { headers, body: { success: true, timestamp: this.#timestamp(), message: 'Logged out.', status: 'OK' } }
  }

  async #refresh(ctx: RequestContext): Promise<HandlerResponse> {
    const { services, users, pairs, tokens, check } = this.#parts
    const claims = tokens.read(this.#findRefreshToken(ctx))
    if (!isRefresh(claims)) throw refuseUser('token_invalid', 'The token is not a refresh token.')
    const ended = (): RestError => refuseUser('token_revoked', 'The refresh token has been used, or its log-in has ended: log in again.')
    try {
      if (tokens.hasEnded(claims)) throw ended()
      await check(claims, ctx.version)
      const resource = users.resource(ctx.version)
      const key = keyFromText(claims.sub, resource)!
      const columns = users.columns(resource)
      const stored = await services.stored(resource, key, columns.columns)
      const state = computeState(columns, stored?.row)
      // The password may have changed since the check.
      if (stored === undefined || !isOfState(claims, columns, stored.row, tokens.key.markKey) || !(await pairs.use(claims))) throw ended()
      return await this.#begin({ resource, key, record: stored.record, state }, ctx, 'Refreshed.', claims.fam)
    } catch (error) {
      // A sender of a used token is a thief.
      if (error instanceof RestError && error.code === 'token_revoked') await pairs.endFamily(claims.fam)
      throw error
    }
  }

  #findRefreshToken({ data, parts: { request } }: RequestContext): string {
    const { cookies } = this.#parts
    const sentToken = isObject(data) ? data['refreshToken'] : undefined
    if (typeof sentToken === 'string') return sentToken
    if (sentToken !== undefined) throw restError('validation_failed', '"refreshToken" must be a string.', { errors: [NO_TEXT] })
    const token = cookies?.readRefresh(request)
    if (token === undefined || token === '') throw missingRefresh(cookies !== undefined)
    requireOwnPage(request)
    return token
  }

  /** As by a POST without a token, then as by a log-in. */
  async #signUp(ctx: RequestContext): Promise<HandlerResponse> {
    const { services, users, credentials } = this.#parts
    const resource = users.resource(ctx.version)
    const attributes = await credentials.read(this.#recordIn(ctx, resource))
    const created = await answerWithin(ctx.parts, { method: 'POST', path: `/${resource.plural}`, body: attributes })
    if (created.status >= 400) throw readRefusal(created)
    const segment = created.headers['location']?.split('/').at(-1)
    const id = segment === undefined ? undefined : idFromText(segment, resource, true)
    const key = id && (await services.rowKey(resource, id))
    const columns = users.columns(resource)
    const stored = key === undefined ? undefined : await services.stored(resource, key, columns.columns)
    // A wrapper of the application may answer anything.
    if (key === undefined || stored === undefined) return passOn(created)
    const answer = await this.#begin({ resource, key, record: stored.record, state: computeState(columns, stored.row) }, ctx, 'Signed up.')
    return { ...answer, status: created.status, headers: { ...answer.headers, location: created.headers['location']! } }
  }

  async #ownRecord(ctx: RequestContext): Promise<HandlerResponse> {
    const { services, options, users, credentials, cookies, tokenOf } = this.#parts
    const { claims, method, version } = ctx
    if (claims === undefined) throw missing()
    const resource = users.resource(version)
    const key = keyFromText(claims.sub, resource)!
    const isWrite = method === 'PUT' || method === 'PATCH'
    const body = isWrite ? await credentials.read(this.#recordIn(ctx, resource)) : undefined
    const path = `/${resource.plural}/${idToSegment((await services.id(resource, key)) ?? key, resource)}`
    const done = await answerWithin(ctx.parts, { method, path, query: ctx.query, body, isSame: true })
    if (done.status >= 400) throw readRefusal(done)
    // A new password ended the sent token.
    const renewed = isWrite && !(await this.#isValid(claims, version)) ? await this.#renew(claims, resource, key) : undefined
    const headers = renewed === undefined ? {} : { ...NO_STORE, ...this.#setCookies(renewed, ctx) }
    const refreshToken = cookies === undefined ? renewed?.refreshToken : undefined
    if (options.answer !== undefined && done.body !== undefined) {
      const token = renewed?.token ?? tokenOf(ctx.parts.request) ?? ''
      const body = await options.answer(readCarried(done.body), token, ctx, refreshToken)
      return { status: done.status, headers: { ...NO_STORE, ...headers }, body }
    }
    const answer = passOn(done)
    if (renewed === undefined) return answer
    const more = refreshToken === undefined ? {} : { refreshToken }
    return { ...answer, headers: { ...answer.headers, ...headers }, body: { ...(done.body as object), auth_token: renewed.token, ...more } }
  }

  /** Unwraps a body wrapped like answers, unless `credentials` reads the body. */
  #recordIn({ data }: RequestContext, resource: Resource): unknown {
    const { options, services } = this.#parts
    return options.credentials === undefined ? services.unwrap(data, resource) : data
  }

  async #isValid(claims: Claims, version: string): Promise<boolean> {
    try {
      await this.#parts.check(claims, version)
      return true
    } catch (error) {
      if (error instanceof RestError && error.status === 401) return false
      throw error
    }
  }

  async #renew({ sub }: Claims, resource: Resource, key: KeyValues): Promise<Issued | undefined> {
    const { services, users, pairs } = this.#parts
    const columns = users.columns(resource)
    const row = await services.columns(resource, key, columns.columns)
    return row === undefined ? undefined : pairs.issue(sub, computeState(columns, row))
  }

  #timestamp(): string {
    return this.#parts.services.clock.now().toISOString()
  }
}

/** Without the type, set anew by a route. */
function passOn({ status, headers: { 'content-type': _type, ...headers }, body }: RestResponse): HandlerResponse {
  return { status, headers, body }
}
