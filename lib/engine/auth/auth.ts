/**
 * Finds the user of every request's token, and gives the routes of log-in. Refuses with token_missing, -malformed, -invalid, -expired,
 * -revoked, and origin_not_allowed.
 */
import type { DescribedLogin } from '../../description/openapi/source.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { withArticle } from '../../foundation/base/article.ts'
import type { Claims } from '../../model/hook-context.ts'
import { RestError, restError } from '../../foundation/errors/errors.ts'
import type { LogInStore, TokenState } from '../../records/database/log-in-store.ts'
import { keyFromJson, keyFromText, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Stored } from '../../records/read/run-read.ts'
import type { AuthModule } from './auth-module.ts'
import { TokenCookies, requireOwnPage } from './cookies.ts'
import { Credentials } from './credentials.ts'
import { missing, refuseUser } from './refusals.ts'
import { readHeaders, type Request } from '../../records/request/parse-request.ts'
import { findSession, type SessionPaths } from '../../records/request/session-paths.ts'
import type { Principal } from '../../records/request/request-context.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import type { AuthServices } from './services.ts'
import { SessionRoutes } from './session-routes.ts'
import { LoginThrottle, SharedThrottle } from './throttle.ts'
import { TokenMarks } from './token-marks.ts'
import { TokenPairs, isRefresh } from './token-pairs.ts'
import { SigningKey, Tokens, loadSignatures } from './tokens.ts'
import { comparesPlain, findPasswordKind } from './password-kind.ts'
import { PublicRequests } from './public-requests.ts'
import { Removals, computeState, isOfState, readIssueTime } from './user-state.ts'
import { Users, keyToSub, keyToTexts } from './users.ts'
import type { AuthState, Authentication, KnownPaths, LoadedAuthentication, PublicKey } from './authentication.ts'

interface FoundToken {
  readonly token: string
  readonly isCookie: boolean
}

/** Remembered headers, and their bytes. */
const HEADERS = 1000
const HEADER_BYTES = 1 << 20

interface FoundUser {
  readonly user?: Stored | undefined
  readonly known?: TokenState
  readonly mark?: string | undefined
}

export async function loadAuthentication(module: AuthModule): Promise<LoadedAuthentication> {
  await loadSignatures()
  let isPlain = false
  return {
    create: (services, parent) =>
      new TokenAuthentication(module, services, isPlain, parent instanceof TokenAuthentication ? parent.tokens.key : undefined),
    findPasswordKind: (parts, orm, notes) => {
      isPlain = comparesPlain(parts, orm)
      return findPasswordKind(parts, orm, notes)
    },
  }
}

class TokenAuthentication implements Authentication {
  readonly tokens: Tokens
  readonly #options: AuthModule['options']
  readonly #services: AuthServices
  readonly #isPlain: boolean
  #public: PublicRequests | undefined
  readonly #cookies: TokenCookies | undefined
  readonly #header: RegExp
  readonly #headers = new LruCache<FoundToken>(HEADERS, { bytes: HEADER_BYTES, weigh: (_, header) => 2 * header.length })
  readonly #throttle: LoginThrottle
  readonly #writableStore: LogInStore | undefined
  readonly #shared: SharedThrottle | undefined
  readonly #marks: TokenMarks
  readonly #users: Users
  readonly #removals = new Removals()

  /**
   * @param isPlain a stored text without a hash is the password itself
   * @param key signs tokens; shared with forks
   * @throws TypeError for a module not made by `auth`, or an entity that is not served or lacks the properties
   */
  constructor(module: AuthModule, services: AuthServices, isPlain: boolean, key: SigningKey = new SigningKey(module.options?.secret)) {
    const { options } = module
    if (options?.entity === undefined)
      throw new TypeError('RestEngine.create: "auth" must be made by auth({ entity, ... }): write auth: auth({ entity: User }).')
    this.#options = options
    this.#services = services
    this.#isPlain = isPlain
    this.#throttle = new LoginThrottle(services.clock)
    this.#writableStore = services.store?.mayWrite === true ? services.store : undefined
    this.#shared = this.#writableStore && new SharedThrottle(this.#writableStore, services.clock)
    this.#marks = new TokenMarks(key, this.#writableStore)
    this.tokens = new Tokens(services.clock, key)
    this.#users = new Users(options, services)
    this.#cookies = options.cookie && new TokenCookies(options.cookie, options.paths.refresh)
    const schemes = ['Bearer', ...(options.scheme === undefined ? [] : [options.scheme])]
    this.#header = new RegExp(`^(?:${schemes.map(escapeRegExp).join('|')}) +(\\S+) *$`, 'i')
  }

  get state(): AuthState {
    return { revoked: this.tokens.revoked, failures: this.#throttle.state, removals: this.#removals.state }
  }

  get publicKey(): PublicKey {
    return this.tokens.key.publicKey
  }

  get table(): string {
    return this.#users.resource('').table
  }

  removed(id: string | number): void {
    const resource = this.#users.resource('')
    const key = keyFromJson(id, resource)
    if (key !== undefined) this.#removals.add(keyToSub(key, resource))
  }

  settled(): Promise<void> {
    return this.#marks.settled()
  }

  restore({ revoked, failures, removals }: AuthState): void {
    this.tokens.restore(revoked)
    this.#removals.restore(removals)
    this.#throttle.restore(failures)
  }

  whenRevoked(listener: () => void): void {
    this.tokens.whenRevoked = listener
  }

  get paths(): SessionPaths {
    return this.#options.paths
  }

  isSession(method: string, segments: readonly string[]): boolean {
    const action = findSession(this.paths, method, segments.slice(1))
    return action === 'login' || action === 'logout' || action === 'refresh'
  }

  answersAt(method: string, segments: readonly string[]): boolean {
    return findSession(this.paths, method, segments.slice(1)) !== undefined
  }

  routes(): Route[] {
    return new SessionRoutes({
      options: this.#options,
      services: this.#services,
      users: this.#users,
      credentials: new Credentials(this.#options, this.#services, this.#users, this.#shared ?? this.#throttle, this.#isPlain),
      pairs: new TokenPairs(this.#options, this.tokens, this.#writableStore),
      tokens: this.tokens,
      cookies: this.#cookies,
      tokenOf: request => this.#findToken(request)?.token,
      check: async (claims, version) => void (await this.#findPrincipal(claims, version)),
    }).routes
  }

  knowPaths(paths: KnownPaths): void {
    this.#public = new PublicRequests(this.#options.public, paths)
  }

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

  /** @returns `undefined` for a log-in, and for a public request without a token */
  authenticate(request: Request): Awaitable<Principal | undefined> {
    // A log-in may come with an expired token.
    if (this.#isFree(request)) {
      // Another site's page could log a visitor in as somebody else.
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
      // Browsers keep a cookie with an ended token.
      if (error instanceof RestError && error.status === 401 && this.#isPublic(request)) return undefined
      throw error
    }
  }

  #findToken(request: Request): FoundToken | undefined {
    const header = readHeaders(request.sender)['authorization']
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

  /** Log-in, sign-up and refresh ignore the request's token. */
  #isFree({ method, segments }: Request): boolean {
    const action = findSession(this.paths, method, segments.slice(1))
    return action === 'login' || action === 'signUp' || action === 'refresh'
  }

  #isPublic({ method, segments }: Request): boolean {
    return method === 'OPTIONS' || this.#public!.has(method, segments)
  }

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
