/** Auth options: what the application gives `auth({ … })`, checked and completed with defaults. Unknown names are refused with the nearest known one. */
import type { EntityName } from '@mikro-orm/core'
import { checkNames } from '../../foundation/base/suggest.ts'
import { readCookie } from './cookies.ts'
import type { CookieOptions } from './cookies.ts'
import { readSessionPaths } from '../../records/request/session-paths.ts'
import type { SessionAction, SessionPaths } from '../../records/request/session-paths.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { PropertyName } from '../../model/resource-config.ts'

/** Options of the authentication module. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any entity
export interface AuthOptions<E extends object = any> {
  /** The entity of the users. */
  readonly entity: EntityName<E>
  /** Property by which a user logs in; must be unique. Default `email`. */
  readonly identifier?: string
  /** Property that holds the scrypt hash of the password. Default `password`. */
  readonly password?: string
  /**
   * Whether plain passwords of bodies, of `seed` and of `given` are hashed before they are stored; what is a hash of ours already is kept. Default: true where
   * the password property is hidden, there is no `authenticate`, and no hook, subscriber, setter or type of the application's may hash it.
   */
  readonly hash?: boolean
  /** Life of a token, in seconds. Default 3600. */
  readonly ttl?: number
  /** The key pair follows from it, so that tokens outlive the engine. Default: a random key. */
  readonly secret?: string
  /** Replaces the check of identifier and password: gives the user (an entity, or its ID), or nothing. */
  readonly authenticate?: (credentials: unknown, ctx: HookContext) => unknown
  /**
   * Finds the credentials in the body of a log-in, for the check of identifier and password and for `authenticate`: `body => body.user`. A body on which it
   * throws is refused with 400. Default: the body itself.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a client sends has no type yet
  readonly credentials?: (body: any) => unknown
  /**
   * Makes the body of a log-in's answer of the user as this user sees it, and the new token; a refresh token comes fourth. Default: `{ auth_token, message, success, timestamp, user }`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- a record, whose attributes follow from the model
  readonly answer?: (user: any, token: string, ctx: HookContext, refreshToken: string | undefined) => unknown
  /**
   * Where the module answers, below the version: `{ login: 'users/login', me: 'user', signUp: 'users' }`. `me` answers GET, PUT and PATCH with the record of the
   * token's user; `signUp` creates one as a POST of the resource does, without a token, and answers as a log-in does. Default: `login` and `logout`, no others.
   */
  readonly paths?: Readonly<Partial<Record<SessionAction, string>>>
  /**
   * The name of a cookie that carries the token, or `{ name, sameSite, secure }`: log-in sets it (HttpOnly), log-out removes it, and it counts where no header
   * `Authorization` stands. What writes by it must come from a page of the server. `sameSite`: `'Lax'` (the default), `'Strict'` or `'None'`; `secure`: whether it is
   * sent by https alone, by default where the log-in came by https. Default: no cookie.
   */
  readonly cookie?: string | { readonly name: string; readonly sameSite?: 'Lax' | 'Strict' | 'None'; readonly secure?: boolean }
  /**
   * Log-in answers a refresh token, too, of this life in seconds: `{ ttl: 30 * 24 * 3600 }`. `POST /{version}/refresh` takes it, once, and gives a new pair. Default: none.
   */
  readonly refresh?: { readonly ttl: number }
  /** A name that the header `Authorization` may have before the token, beside `Bearer`: `Token`. Default: none. */
  readonly scheme?: string
  /**
   * Requests that need no token: `GET /v1/posts*`, where `*` stands for any run of characters. HEAD goes with GET. A pattern that begins with `!` takes out
   * again what others list, wherever it stands: `['GET /v1/posts*', '!GET /v1/posts/drafts']`.
   */
  readonly public?: readonly string[]
}

/** The names of properties are those of the entity, unless a check of the application's own knows others. */
type NamedProperties<E> =
  | { readonly authenticate: NonNullable<AuthOptions['authenticate']> }
  | { readonly identifier?: PropertyName<E>; readonly password?: PropertyName<E>; readonly authenticate?: undefined }

/** The authentication module, for the option `auth`. */
export interface AuthModule {
  readonly options: Required<Omit<AuthOptions, Optional | 'paths' | 'cookie'>> &
    Pick<AuthOptions, Optional> & { readonly paths: SessionPaths; readonly cookie?: CookieOptions }
}

type Optional = 'refresh' | 'hash' | 'secret' | 'authenticate' | 'credentials' | 'answer' | 'scheme'

const OPTIONS = [
  'entity',
  'identifier',
  'password',
  'ttl',
  'secret',
  'hash',
  'authenticate',
  'credentials',
  'answer',
  'paths',
  'cookie',
  'refresh',
  'scheme',
  'public',
]

/** The names that other libraries give the options. */
const HABITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['user', 'users', 'model', 'userEntity', 'userModel', 'entities'].map(name => [name, 'entity'])),
  ...Object.fromEntries(['username', 'usernameField', 'email', 'login', 'identity', 'identifierField'].map(name => [name, 'identifier'])),
  ...Object.fromEntries(['passwordField', 'passwordHash'].map(name => [name, 'password'])),
  ...Object.fromEntries(['expiresIn', 'expires', 'expiry', 'maxAge', 'lifetime'].map(name => [name, 'ttl'])),
  ...Object.fromEntries(['key', 'jwtSecret', 'secretOrKey', 'privateKey'].map(name => [name, 'secret'])),
  ...Object.fromEntries(['verify', 'validate', 'check'].map(name => [name, 'authenticate'])),
  ...Object.fromEntries(['except', 'exclude', 'open', 'allow', 'unprotected', 'anonymous', 'routes'].map(name => [name, 'public'])),
}

/**
 * Switches log-in on.
 *
 * @throws TypeError, RangeError for options that are unknown or not of their form.
 * @example RestEngine.create({ entities, auth: auth({ entity: User, public: ['GET /v1/posts*'] }) })
 */
export function auth<E extends object>(options: AuthOptions<E> & NamedProperties<E>): AuthModule {
  const isEntity = typeof options === 'function' || '_meta' in ((options as object | null | undefined) ?? {})
  if (typeof options !== 'object' || options === null || isEntity)
    throw new TypeError('auth: the options must be an object: { entity: User }.')
  checkNames(options, OPTIONS, 'auth', HABITS)
  const { entity, identifier = 'email', password = 'password', ttl = 3600, public: open = [] } = options
  if (entity === undefined) throw new TypeError('auth: "entity" is needed: the entity of the users.')
  if (!Number.isFinite(ttl) || ttl <= 0) throw new RangeError('auth: "ttl" must be a number of seconds above 0.')
  if (options.secret !== undefined && (typeof options.secret !== 'string' || options.secret === ''))
    throw new TypeError('auth: "secret" must be a string that is not empty.')
  for (const name of ['authenticate', 'credentials', 'answer'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') throw new TypeError(`auth: "${name}" must be a function.`)
  }
  if (options.hash !== undefined && typeof options.hash !== 'boolean') throw new TypeError('auth: "hash" must be true or false.')
  checkRefresh(options.refresh)
  checkScheme(options.scheme)
  for (const [name, value] of Object.entries({ identifier, password })) {
    if (typeof value !== 'string' || value === '') throw new TypeError(`auth: "${name}" must be the name of a property.`)
  }
  checkPatterns(open)
  const { cookie: given, ...others } = options
  const cookie = readCookie(given)
  return {
    options: {
      ...others,
      entity,
      identifier,
      password,
      ttl,
      paths: readSessionPaths(options.paths, options.refresh !== undefined),
      ...(cookie === undefined ? {} : { cookie }),
      public: open,
    },
  }
}

function checkRefresh(refresh: unknown): void {
  if (refresh === undefined) return
  if (typeof refresh !== 'object' || refresh === null)
    throw new TypeError('auth: "refresh" must be { ttl }: refresh: { ttl: 30 * 24 * 3600 }.')
  checkNames(refresh, ['ttl'], 'auth: refresh', { expiresIn: 'ttl', maxAge: 'ttl' })
  const { ttl } = refresh as { readonly ttl?: unknown }
  if (!Number.isFinite(ttl) || (ttl as number) <= 0) throw new RangeError('auth: refresh: "ttl" must be a number of seconds above 0.')
}

/** A scheme is a token of HTTP (RFC 9110 section 11.1). */
function checkScheme(scheme: unknown): void {
  if (scheme === undefined) return
  if (typeof scheme !== 'string' || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(scheme))
    throw new TypeError(`auth: "scheme" must be a name such as "Token", got ${JSON.stringify(scheme)}.`)
  if (scheme.toLowerCase() === 'basic') throw new TypeError('auth: "scheme" cannot be "Basic", which clients send a password with.')
}

function checkPatterns(open: unknown): void {
  if (!Array.isArray(open)) throw new TypeError('auth: "public" must be an array of patterns like "GET /v1/posts*".')
  for (const pattern of open as unknown[]) {
    if (typeof pattern !== 'string' || !/^!?([A-Z]+|\*) \/.*$/.test(pattern))
      throw new TypeError(`auth: public: "${String(pattern)}" must be like "GET /v1/posts*".`)
  }
}
