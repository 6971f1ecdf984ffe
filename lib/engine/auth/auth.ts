/**
 * Auth: the optional authentication module. Log-in and log-out as custom routes, and the check of the token of every other request.
 * Refuses with token_missing, token_malformed, token_invalid, token_expired, token_revoked, login_failed, login_throttled, and with body_invalid
 * and validation_failed for credentials that are not of their form.
 */
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { withArticle } from '../../foundation/base/article.ts'
import type { Claims, HandlerResponse, HookContext } from '../../model/hook-context.ts'
import { isInEagerCircle } from '../../model/metadata/eager-cycles.ts'
import { RestError, restError } from '../../foundation/base/errors.ts'
import type { LogInStore, TokenState } from '../../records/database/log-in-store.ts'
import type { FieldError } from '../../foundation/base/errors.ts'
import { keyFromJson, keyFromText, keyToSegment, textOfPart } from '../../model/key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Stored } from '../../records/read/run-read.ts'
import { formatScalar } from '../../foundation/values/scalar-type.ts'
import { keyOfEntity } from '../../model/entity-key.ts'
import type { Entity } from '../../model/entity-key.ts'
import type { AuthModule } from './auth-options.ts'
import { verifyPassword } from './password.ts'
import { PublicRequests } from './public-requests.ts'
import { failed, missing, refuseUser } from './refusals.ts'
import { readPathBelow } from '../../records/request/parse-request.ts'
import type { Request } from '../../records/request/parse-request.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { SESSION_PATHS } from '../../records/request/reserved-paths.ts'
import type { Principal } from '../../records/request/request-context.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { checkNames, findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { AuthServices } from './services.ts'
import { SharedThrottle } from './shared-throttle.ts'
import { LoginThrottle } from './throttle.ts'
import type { FailedLogins } from './throttle.ts'
import { TokenMarks } from './token-marks.ts'
import { SigningKey, Tokens } from './tokens.ts'
import { Removals, computeState, findStateColumns, isOfState, readIssueTime } from './user-state.ts'
import type { RemovalState, StateColumns } from './user-state.ts'
import { isObject } from '../../foundation/base/json.ts'

/** No cache may keep a token (RFC 6749 section 5.1). */
const NO_STORE = Object.freeze({ 'cache-control': 'no-store' })

/** The user of a token, as far as there is one. */
interface FoundUser {
  readonly user?: Stored | undefined
  readonly known?: TokenState
  readonly mark?: string | undefined
}

/** The state of the module. */
export interface AuthState {
  readonly revoked: ReadonlyMap<string, number>
  readonly failures: FailedLogins
  readonly removals: RemovalState
}

export class Authentication {
  readonly tokens: Tokens
  readonly #options: AuthModule['options']
  readonly #services: AuthServices
  readonly #public: PublicRequests
  /** The header `Authorization`. */
  readonly #header: RegExp
  readonly #throttle: LoginThrottle
  /** Where log-ins are kept; undefined where that is in memory. */
  readonly #written: LogInStore | undefined
  /** The throttle of all processes; undefined where there is one. */
  readonly #shared: SharedThrottle | undefined
  readonly #marks: TokenMarks
  /** The name of the password in records of each version. */
  readonly #passwordNames: ReadonlyMap<Resource, string>
  /** By version. */
  readonly #state: ReadonlyMap<Resource, StateColumns>
  readonly #removals = new Removals()

  /**
   * @param key signs the tokens; an engine shares it with its forks
   * @throws TypeError when the module was not made by `auth`, or the entity is not served or has no such properties.
   */
  constructor(module: AuthModule, services: AuthServices, key: SigningKey = new SigningKey(module.options?.secret)) {
    const { options } = module
    if (options?.entity === undefined)
      throw new TypeError('RestEngine.create: "auth" must be made by auth({ entity, ... }): write auth: auth({ entity: User }).')
    this.#options = options
    this.#services = services
    this.#throttle = new LoginThrottle(services.clock)
    this.#written = services.store?.mayWrite === true ? services.store : undefined
    this.#shared = this.#written && new SharedThrottle(this.#written, services.clock)
    this.#marks = new TokenMarks(key, this.#written)
    this.tokens = new Tokens(services.clock, key)
    const meta = services.orm().getMetadata().get(options.entity)
    if (this.#resource('') === undefined) throw new TypeError(`auth: ${meta.className} is not served in any version.`)
    for (const name of options.authenticate === undefined ? [options.identifier, options.password] : []) {
      if (name in meta.properties) continue
      const near = formatHint(findNearest(name, Object.keys(meta.properties)))
      throw new TypeError(
        `auth: ${meta.className} has no property "${name}".${near} The options "identifier" (default "email") and "password" (default "password") name the properties of the log-in.`,
      )
    }
    this.#passwordNames = new Map(
      [...services.versions.values()].flatMap(({ model }): [Resource, string][] => {
        const resource = model.byEntity.get(meta.class)
        const attribute = resource?.attributes.find(({ property }) => property === options.password)
        return resource === undefined || attribute === undefined ? [] : [[resource, attribute.name]]
      }),
    )
    const resources = [...services.versions.values()].flatMap(({ model }) => model.byEntity.get(meta.class) ?? [])
    this.#state = new Map(resources.map(each => [each, findStateColumns(each, options.password, options.identifier)]))
    this.#public = new PublicRequests(options.public)
    const schemes = ['Bearer', ...(options.scheme === undefined ? [] : [options.scheme])]
    this.#header = new RegExp(`^(?:${schemes.map(escapeRegExp).join('|')}) +(\\S+) *$`, 'i')
  }

  /** The state for a snapshot: the revoked tokens, the failed log-ins, and when users were removed, as far as the database does not keep them. */
  get state(): AuthState {
    return { revoked: this.tokens.revoked, failures: this.#throttle.state, removals: this.#removals.state }
  }

  /** The table of the users. */
  get table(): string {
    return this.#resource('').table
  }

  /** A user has been removed: their tokens are not those of a later one with the same ID. */
  removed(id: string | number): void {
    const resource = this.#resource('')
    const key = keyFromJson(id, resource)
    if (key !== undefined) this.#removals.add(keyToSub(key, resource))
  }

  /** Resolves when all that is to be kept of the tokens that have been minted is kept. */
  settled(): Promise<void> {
    return this.#marks.settled()
  }

  /** Takes the state of a snapshot, or of the engine that is forked. */
  restore({ revoked, failures, removals }: AuthState): void {
    this.tokens.restore(revoked)
    this.#removals.restore(removals)
    this.#throttle.restore(failures)
  }

  /** Whether a request logs in or out, which writes nothing to the database. */
  static isSession(method: string, segments: readonly string[]): boolean {
    return method === 'POST' && segments.length === 2 && SESSION_PATHS.includes(segments[1]!)
  }

  /** The routes of the module. */
  routes(): Route[] {
    const root = this.#services.versions.has(NO_VERSION) ? '' : '/{version}'
    return [
      { method: 'POST', path: `${root}/login`, transaction: false, handler: ctx => this.#logIn(ctx) },
      { method: 'POST', path: `${root}/logout`, transaction: false, handler: ctx => this.#logOut(ctx) },
    ]
  }

  /** Describes the log-in for the OpenAPI document. */
  describe(version: string): {
    readonly credentials: readonly [string, string] | undefined
    readonly user: Resource | undefined
    readonly isPublic: (method: string, path: string) => boolean
    readonly answers: boolean
    readonly scheme: string | undefined
  } {
    const { authenticate, credentials, answer, scheme, identifier, password, entity } = this.#options
    return {
      credentials: authenticate === undefined && credentials === undefined ? [identifier, password] : undefined,
      user: this.#services.versions.get(version)?.model.byEntity.get(this.#services.orm().getMetadata().get(entity).class),
      isPublic: (method, path) => this.#public.has(method, path),
      answers: answer === undefined,
      scheme,
    }
  }

  /** The user entity as a resource of a version, or of the first one in which it is served. */
  #resource(version: string): Resource {
    const { orm, versions } = this.#services
    const entity = orm().getMetadata().get(this.#options.entity).class
    const own = versions.get(version)?.model.byEntity.get(entity)
    return own ?? [...versions.values()].map(({ model }) => model.byEntity.get(entity)).find(resource => resource !== undefined)!
  }

  /** Who sends the request. Without a token nobody, where that is allowed. */
  async authenticate(request: Request): Promise<Principal | undefined> {
    // Who logs in may well send the token that has expired.
    if (isLogIn(request)) return undefined
    const header = request.headers['authorization']
    if (header === undefined || header === '') {
      if (this.#isPublic(request)) return undefined
      throw missing()
    }
    const match = this.#header.exec(header)
    if (match === null) {
      const { scheme } = this.#options
      const names = scheme === undefined ? '"Bearer"' : `"Bearer" or "${scheme}"`
      throw restError('token_malformed', `The header "Authorization" must be ${names} and a token.`, {
        headers: { 'www-authenticate': 'Bearer error="invalid_request"' },
      })
    }
    return this.#findPrincipal(this.tokens.verify(match[1]!), request.segments[0] ?? '')
  }

  async #findPrincipal(claims: Claims, version: string): Promise<Principal> {
    const resource = this.#resource(version)
    const key = keyFromText(claims.sub, resource)
    const columns = this.#state.get(resource)!
    const { user, known, mark } = key === undefined ? {} : await this.#findUser(claims, resource, key)
    if (known?.hasEnded === true) throw refuseUser('token_revoked', 'The token has been revoked: log in again.')
    if (user === undefined || this.#removals.has(claims) || (known?.removed ?? -1) >= readIssueTime(claims))
      throw refuseUser('token_invalid', 'The user of the token does not exist any more.')
    if (!isOfState(claims, computeState(columns, user.row), this.tokens.key.markKey, mark))
      throw refuseUser('token_revoked', 'The token is older than the password of its user: log in again.')
    return { claims, user: this.#withoutPassword(resource, user.record) }
  }

  async #findUser(claims: Claims, resource: Resource, key: KeyValues): Promise<FoundUser> {
    const { store, stored, storedBeside } = this.#services
    const { columns } = this.#state.get(resource)!
    if (store === undefined) return { user: await stored(resource, key, columns), mark: await this.#marks.remembered(claims) }
    const token = { id: claims.jti, user: keyToTexts(key, resource) }
    return this.#marks.read(claims, async () => {
      const [user, known] = await storedBeside(resource, key, columns, () => store.read(token))
      return { user, known }
    })
  }

  /** The hash is for nobody, should the model forget to hide it. */
  #withoutPassword(resource: Resource, record: JsonRecord): JsonRecord {
    const name = this.#passwordNames.get(resource)
    if (name === undefined || !(name in record)) return record
    const { [name]: _, ...others } = record
    return others
  }

  #isPublic(request: Request): boolean {
    const { method } = request
    if (method === 'OPTIONS') return true
    const path = readPathBelow(request)
    return this.#public.has(method, path)
  }

  /**
   * Mints a token for a user.
   *
   * @param user an entity, or the ID of one
   * @param options `ttl` in seconds; default: that of the module
   * @throws TypeError, RangeError
   */
  mint(user: unknown, options: { readonly ttl?: number }): string {
    checkNames(options, ['ttl'], 'token')
    const { ttl = this.#options.ttl } = options
    if (!Number.isFinite(ttl)) throw new RangeError(`token: "ttl" must be a number of seconds, got ${String(ttl)}.`)
    const resource = this.#resource('')
    const key = this.#readUserKey(user, resource)
    if (key === undefined) throw new TypeError(`token: not ${withArticle(resource.singular)}, nor an ID of one: ${String(user)}.`)
    const columns = this.#state.get(resource)!
    const row = this.#services.columns(resource, key, columns.columns)
    const sub = keyToSub(key, resource)
    if (!(row instanceof Promise)) return this.tokens.mint(sub, computeState(columns, row), ttl)
    const { token, claims } = this.tokens.mintUnmarked(sub, ttl)
    const state = row.then(found => computeState(columns, found))
    this.#marks.keep(claims, state, this.tokens.now())
    return token
  }

  /** @throws TypeError for an entity of another kind. */
  #readUserKey(user: unknown, resource: Resource): KeyValues | undefined {
    if (typeof user === 'object' && user !== null) {
      const record = user as Entity & { readonly __meta?: { readonly class?: unknown; readonly className?: string } }
      const { __meta: meta } = record
      if (meta !== undefined && meta.class !== resource.entity)
        throw new TypeError(`auth: a user must be ${withArticle(resource.className)}, not ${withArticle(String(meta.className))}.`)
      const complete = resource.keyNames.every(name => (record[resource.byName.get(name)!.property] ?? undefined) !== undefined)
      return complete ? keyOfEntity(resource, record) : undefined
    }
    const isId = typeof user === 'string' || typeof user === 'number' || typeof user === 'bigint'
    return isId ? keyFromText(String(user), resource) : undefined
  }

  async #logIn(ctx: HookContext): Promise<HandlerResponse> {
    const resource = this.#resource(ctx.version)
    const columns = this.#state.get(resource)!
    const credentials = await this.#readCredentials(ctx.data)
    const { key, stored, state } = await this.#throttled(credentials, async () => {
      const user = await this.#check(credentials, ctx)
      const key = user === undefined || user === null || user === false ? undefined : this.#readUserKey(user, resource)
      const stored = key === undefined ? undefined : await this.#services.stored(resource, key, columns.columns)
      if (key === undefined || stored === undefined) return undefined
      return { key, stored: stored.record, state: computeState(columns, this.#withCheckedPassword(user as Entity, columns, stored.row)) }
    })
    const token = this.tokens.mint(keyToSub(key, resource), state, this.#options.ttl)
    const record = await this.#services.shown(
      resource,
      key,
      { claims: this.tokens.verify(token), user: this.#withoutPassword(resource, stored) },
      ctx,
    )
    const user = record === undefined ? null : this.#withoutPassword(resource, record)
    const { answer } = this.#options
    if (answer !== undefined) return { headers: NO_STORE, body: await answer(user, token, ctx) }
    const timestamp = this.#services.clock.now().toISOString()
    return { headers: NO_STORE, body: { auth_token: token, message: 'Logged in.', success: true, timestamp, user } }
  }

  /** The credentials in the body of a log-in. */
  async #readCredentials(body: unknown): Promise<unknown> {
    const { credentials } = this.#options
    if (credentials === undefined) return body
    try {
      return await credentials(body)
    } catch (error) {
      if (error instanceof RestError) throw error
      // A client may send anything, and the function expects what it is to be.
      throw restError('body_invalid', 'The body does not have the credentials where this log-in takes them.', { cause: error })
    }
  }

  /** Returns the row with the password as it was when it was checked: a change meanwhile ends the token, too. */
  #withCheckedPassword(user: Entity, { password }: StateColumns, row: readonly unknown[]): readonly unknown[] {
    const { authenticate, password: property } = this.#options
    const checked = authenticate === undefined && password?.type.codec === undefined ? user[property] : undefined
    return typeof checked === 'string' ? [checked, ...row.slice(1)] : row
  }

  /** The user whose credentials these are, or nothing. */
  async #check(credentials: unknown, ctx: HookContext): Promise<unknown> {
    const { authenticate, identifier, password } = this.#options
    if (authenticate !== undefined) return authenticate(credentials, ctx)
    const place = this.#options.credentials === undefined ? 'The body' : 'The credentials of the body'
    if (!isObject(credentials)) throw restError('body_invalid', `${place} must be an object with "${identifier}" and "${password}".`)
    const faults = [identifier, password].flatMap((name): FieldError[] => {
      const value = credentials[name]
      if (typeof value === 'string') return []
      return [{ code: value === undefined ? 'required' : 'value_invalid', detail: `"${name}" must be a string.`, attribute: name }]
    })
    if (faults.length > 0) {
      const others = Object.keys(credentials).filter(name => name !== identifier && name !== password)
      const instead =
        others.length === 0
          ? ''
          : ` ${place} ${place === 'The body' ? 'has' : 'have'} ${others
              .slice(0, 5)
              .map(name => `"${name.slice(0, 100)}"`)
              .join(', ')} instead.`
      throw restError('validation_failed', faults.map(({ detail }) => detail).join(' ') + instead, { errors: faults })
    }
    const user = await this.#find(credentials[identifier] as string)
    const stored = (user as Entity | null | undefined)?.[password]
    return (await verifyPassword(credentials[password] as string, stored)) ? user : undefined
  }

  async #find(identified: string): Promise<unknown> {
    const { entity, identifier, password } = this.#options
    const em = this.#services.orm().em.fork()
    const where = { [identifier]: identified }
    try {
      // A password is often a lazy property.
      return isInEagerCircle(em.getMetadata().get(entity))
        ? (await em.find(entity, where, { fields: ['*', password], populate: false, limit: 1 } as never))[0]
        : await em.findOne(entity, where, { populate: [password] as never })
    } catch (error) {
      // A text that the column cannot hold identifies nobody.
      if (this.#services.refuses(error as Error)) return undefined
      throw error
    }
  }

  /** Runs the check of credentials, unless their identifier has failed too often. */
  async #throttled<T>(credentials: unknown, check: () => Promise<T | undefined>): Promise<T> {
    const identifier = isObject(credentials) ? credentials[this.#options.identifier] : undefined
    const found = typeof identifier === 'string' ? await (this.#shared ?? this.#throttle).run(identifier, check) : await check()
    return found ?? failed()
  }

  async #logOut(ctx: HookContext): Promise<HandlerResponse> {
    if (ctx.claims === undefined) throw missing()
    const { jti, exp } = ctx.claims
    if (this.#written === undefined) this.tokens.revoke(ctx.claims)
    else await this.#written.end(jti, exp, this.tokens.now())
    return { body: { success: true, timestamp: this.#services.clock.now().toISOString(), message: 'Logged out.', status: 'OK' } }
  }
}

function isLogIn({ method, segments }: Request): boolean {
  return method === 'POST' && segments.length === 2 && segments[1] === 'login'
}

/** The ID as `sub` carries it: that of records, as text. */
function keyToSub(key: KeyValues, resource: Resource): string {
  return key.length === 1 ? keyToTexts(key, resource)[0]! : keyToSegment(key, resource)
}

function keyToTexts(key: KeyValues, { key: parts }: Resource): string[] {
  return key.map((part, index) => textOfPart(formatScalar(part, parts[index]!.type)))
}
