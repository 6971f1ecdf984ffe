/**
 * Auth: the optional authentication module: the check of the token of every request, the tokens of users, and what is kept of them. Its
 * routes stand in session-routes.ts. Refuses with token_missing, token_malformed, token_invalid, token_expired, token_revoked.
 */
import type { DescribedLogin } from '../../description/openapi/source.ts'
import { chain, type Awaitable } from '../../foundation/base/awaitable.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { withArticle } from '../../foundation/base/article.ts'
import type { Claims } from '../../model/hook-context.ts'
import { RestError, restError } from '../../foundation/base/errors.ts'
import type { LogInStore, TokenState } from '../../records/database/log-in-store.ts'
import { keyFromJson, keyFromText, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Stored } from '../../records/read/run-read.ts'
import type { AuthModule } from './auth-module.ts'
import { TokenCookies, requireOwnPage } from './cookies.ts'
import { Credentials } from './credentials.ts'
import { missing, refuseUser } from './refusals.ts'
import type { Request } from '../../records/request/parse-request.ts'
import { findSession, type SessionPaths } from '../../records/request/session-paths.ts'
import type { Principal } from '../../records/request/request-context.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import type { AuthServices } from './services.ts'
import { SessionRoutes } from './session-routes.ts'
import { SharedThrottle } from './shared-throttle.ts'
import { LoginThrottle } from './throttle.ts'
import { TokenMarks } from './token-marks.ts'
import { TokenPairs, isRefresh } from './token-pairs.ts'
import { SigningKey, Tokens, loadSignatures } from './tokens.ts'
import { findPasswordKind } from './password-kind.ts'
import { PublicRequests, type KnownPaths } from './public-requests.ts'
import { Removals, computeState, isOfState, readIssueTime } from './user-state.ts'
import { Users, keyToSub, keyToTexts } from './users.ts'
import type { AuthState, Authentication, LoadedAuthentication, PublicKey } from './authentication.ts'

interface FoundToken {
  readonly token: string
  readonly isCookie: boolean
}

/** The headers whose tokens are remembered, and the bytes of those. */
const HEADERS = 1000
const HEADER_BYTES = 1 << 20

/** The user of a token, as far as there is one. */
interface FoundUser {
  readonly user?: Stored | undefined
  readonly known?: TokenState
  readonly mark?: string | undefined
}

/** Loads what a module of log-in needs. */
export async function loadAuthentication(module: AuthModule): Promise<LoadedAuthentication> {
  await loadSignatures()
  return {
    create: (services, parent) =>
      new TokenAuthentication(module, services, parent instanceof TokenAuthentication ? parent.tokens.key : undefined),
    findPasswordKind,
  }
}

class TokenAuthentication implements Authentication {
  readonly tokens: Tokens
  readonly #options: AuthModule['options']
  readonly #services: AuthServices
  /** Set once the paths of the engine are known. */
  #public: PublicRequests | undefined
  /** Undefined: tokens travel in the header alone. */
  readonly #cookies: TokenCookies | undefined
  /** The header `Authorization`. */
  readonly #header: RegExp
  /** The tokens of headers that have been read. */
  readonly #headers = new LruCache<FoundToken>(HEADERS, { bytes: HEADER_BYTES, weigh: (_, header) => 2 * header.length })
  readonly #throttle: LoginThrottle
  /** Where log-ins are kept; undefined where that is in memory. */
  readonly #written: LogInStore | undefined
  /** The throttle of all processes; undefined where there is one. */
  readonly #shared: SharedThrottle | undefined
  readonly #marks: TokenMarks
  readonly #users: Users
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
    this.#users = new Users(options, services)
    this.#cookies = options.cookie && new TokenCookies(options.cookie, options.paths.refresh)
    const schemes = ['Bearer', ...(options.scheme === undefined ? [] : [options.scheme])]
    this.#header = new RegExp(`^(?:${schemes.map(escapeRegExp).join('|')}) +(\\S+) *$`, 'i')
  }

  /**
   * The state for a snapshot: the revoked tokens, the failed log-ins, and when users were removed, as far as the database does not keep
   * them.
   */
  get state(): AuthState {
    return { revoked: this.tokens.revoked, failures: this.#throttle.state, removals: this.#removals.state }
  }

  get publicKey(): PublicKey {
    return this.tokens.key.publicKey
  }

  /** The table of the users. */
  get table(): string {
    return this.#users.resource('').table
  }

  /** A user has been removed: their tokens are not those of a later one with the same ID. */
  removed(id: string | number): void {
    const resource = this.#users.resource('')
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

  /** Where the module answers. */
  get paths(): SessionPaths {
    return this.#options.paths
  }

  /** Whether a request logs in or out, which writes nothing to the data. The first segment is the version. */
  isSession(method: string, segments: readonly string[]): boolean {
    const action = findSession(this.paths, method, segments.slice(1))
    return action === 'login' || action === 'logout' || action === 'refresh'
  }

  /** Whether the module answers a request. */
  answersAt(method: string, segments: readonly string[]): boolean {
    return findSession(this.paths, method, segments.slice(1)) !== undefined
  }

  /** The routes of the module. */
  routes(): Route[] {
    return new SessionRoutes({
      options: this.#options,
      services: this.#services,
      users: this.#users,
      credentials: new Credentials(this.#options, this.#services, this.#users, this.#shared ?? this.#throttle),
      pairs: new TokenPairs(this.#options, this.tokens, this.#written),
      tokens: this.tokens,
      cookies: this.#cookies,
      tokenOf: request => this.#findToken(request)?.token,
      check: async (claims, version) => void (await this.#findPrincipal(claims, version)),
    }).routes
  }

  /** Takes the paths of the engine, which decide what is public. */
  knowPaths(paths: KnownPaths): void {
    this.#public = new PublicRequests(this.#options.public, paths)
  }

  /** Describes the log-in for the OpenAPI document. */
  describe(version: string): DescribedLogin {
    const { authenticate, credentials, answer, scheme, identifier, password, paths, cookie, refresh } = this.#options
    return {
      credentials: authenticate === undefined && credentials === undefined ? [identifier, password] : undefined,
      user: this.#users.resourceOf(version),
      isPublic: (method, path) => this.#public!.hasPath(method, path),
      answers: answer === undefined,
      scheme,
      paths,
      nests: credentials !== undefined,
      cookie: cookie?.name,
      refreshes: refresh !== undefined,
    }
  }

  /** Who sends the request. Without a token nobody, where that is allowed. Says so at once where the database does. */
  authenticate(request: Request): Awaitable<Principal | undefined> {
    // Who logs in may well send the token that has expired.
    if (this.#isFree(request)) {
      // A page of another site could log its visitor in as somebody else.
      if (this.#cookies !== undefined) requireOwnPage(request)
      return undefined
    }
    const found = this.#findToken(request)
    if (found === undefined) {
      if (this.#isPublic(request)) return undefined
      throw missing()
    }
    const version = request.segments[0] ?? ''
    if (!found.isCookie) return this.#findPrincipal(this.#verify(found.token), version)
    requireOwnPage(request)
    return this.#authenticateByCookie(found.token, version, request)
  }

  async #authenticateByCookie(token: string, version: string, request: Request): Promise<Principal | undefined> {
    try {
      return await this.#findPrincipal(this.#verify(token), version)
    } catch (error) {
      // A browser goes on sending a cookie that is worth nothing any more.
      if (error instanceof RestError && error.status === 401 && this.#isPublic(request)) return undefined
      throw error
    }
  }

  /** Finds the token of a request: in the header, else in the cookie. */
  #findToken(request: Request): FoundToken | undefined {
    const header = request.headers['authorization']
    if (header === undefined || header === '') {
      const token = this.#cookies?.read(request)
      return token === undefined || token === '' ? undefined : { token, isCookie: true }
    }
    const known = this.#headers.get(header)
    if (known !== undefined) return known
    const match = this.#header.exec(header)
    if (match !== null) {
      const found = { token: match[1]!, isCookie: false }
      this.#headers.set(header, found)
      return found
    }
    const { scheme } = this.#options
    const names = scheme === undefined ? '"Bearer"' : `"Bearer" or "${scheme}"`
    throw restError('token_malformed', `The header "Authorization" must be ${names} and a token.`, {
      headers: { 'www-authenticate': 'Bearer error="invalid_request"' },
    })
  }

  #verify(token: string): Claims {
    const claims = this.tokens.verify(token)
    if (isRefresh(claims)) throw refuseUser('token_invalid', 'This is a refresh token, which is good for new tokens alone.')
    return claims
  }

  #findPrincipal(claims: Claims, version: string): Awaitable<Principal> {
    const resource = this.#users.resource(version)
    const key = keyFromText(claims.sub, resource)
    return key === undefined
      ? this.#principalOf(claims, resource, {})
      : chain(this.#findUser(claims, resource, key), found => this.#principalOf(claims, resource, found))
  }

  /** @param found what is known of the user of a token */
  #principalOf(claims: Claims, resource: Resource, { user, known, mark }: Partial<FoundUser>): Principal {
    const columns = this.#users.columns(resource)
    if (known?.hasEnded === true) throw refuseUser('token_revoked', 'The token has been revoked: log in again.')
    if (user === undefined || this.#removals.has(claims) || (known?.removed !== undefined && known.removed >= readIssueTime(claims)))
      throw refuseUser('token_invalid', 'The user of the token does not exist any more.')
    if (!isOfState(claims, columns, user.row, this.tokens.key.markKey, mark))
      throw refuseUser('token_revoked', 'The token is older than the password of its user: log in again.')
    return { claims, user: this.#users.withoutPassword(resource, user.record), resource }
  }

  #findUser(claims: Claims, resource: Resource, key: KeyValues): Awaitable<FoundUser> {
    const { store, stored, storedBeside } = this.#services
    const { columns } = this.#users.columns(resource)
    if (store === undefined)
      return chain(stored(resource, key, columns), user => chain(this.#marks.remembered(claims), mark => ({ user, mark })))
    const { fam } = claims
    const token = { id: claims.jti, user: keyToTexts(key, resource), family: typeof fam === 'string' ? fam : undefined }
    return this.#marks.read(claims, async () => {
      const [user, known] = await storedBeside(resource, key, columns, () => store.read(token))
      return { user, known }
    })
  }

  /** Whether a request gets a token, so that one that is sent along says nothing. */
  #isFree({ method, segments }: Request): boolean {
    const action = findSession(this.paths, method, segments.slice(1))
    return action === 'login' || action === 'signUp' || action === 'refresh'
  }

  #isPublic({ method, segments }: Request): boolean {
    return method === 'OPTIONS' || this.#public!.has(method, segments)
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
    const resource = this.#users.resource('')
    const key = this.#users.readKey(user, resource)
    if (key === undefined) throw new TypeError(`token: not ${withArticle(resource.singular)}, nor an ID of one: ${String(user)}.`)
    const columns = this.#users.columns(resource)
    const row = this.#services.columns(resource, key, columns.columns)
    const sub = keyToSub(key, resource)
    if (!(row instanceof Promise)) return this.tokens.mint(sub, computeState(columns, row), ttl).token
    const { token, claims } = this.tokens.mintUnmarked(sub, ttl)
    const state = row.then(found => computeState(columns, found))
    this.#marks.keep(claims, state, this.tokens.now())
    return token
  }
}
