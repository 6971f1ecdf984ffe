/** Auth options: checks `auth({ … })` and adds defaults. An unknown name is refused with the nearest known. */
import { checkNames } from '../../foundation/base/suggest.ts'
import { readCookie } from './cookies.ts'
import { readSessionPaths } from '../../records/request/session-paths.ts'
import type { AuthModule, AuthOptions, NamedAuthOptions } from './auth-module.ts'

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

/** Names in other libraries. */
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
 * @throws TypeError, RangeError for unknown or malformed options
 * @example RestEngine.create({ entities, auth: auth({ entity: User, public: ['GET /v1/posts*'] }) })
 */
export function auth<E extends object>(options: AuthOptions<E> & Required<Pick<AuthOptions<E>, 'authenticate'>>): AuthModule
export function auth<E extends object>(options: NamedAuthOptions<E>): AuthModule
export function auth(options: AuthOptions): AuthModule {
  const isEntity = typeof options === 'function' || '_meta' in ((options as object | null | undefined) ?? {})
  if (typeof options !== 'object' || options === null || isEntity)
    throw new TypeError('auth: the options must be an object: { entity: User }.')
  checkNames(options, OPTIONS, 'auth', HABITS)
  const { entity, identifier = 'email', password = 'password', ttl = 3600, public: publicPatterns = [] } = options
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
  checkPatterns(publicPatterns)
  const { cookie: givenCookie, ...others } = options
  const cookie = readCookie(givenCookie)
  return {
    options: {
      ...others,
      entity,
      identifier,
      password,
      ttl,
      paths: readSessionPaths(options.paths, options.refresh !== undefined),
      ...(cookie === undefined ? {} : { cookie }),
      public: publicPatterns,
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

/** A scheme is an HTTP token (RFC 9110 section 11.1). */
function checkScheme(scheme: unknown): void {
  if (scheme === undefined) return
  if (typeof scheme !== 'string' || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(scheme))
    throw new TypeError(`auth: "scheme" must be a name such as "Token", got ${JSON.stringify(scheme)}.`)
  if (scheme.toLowerCase() === 'basic') throw new TypeError('auth: "scheme" cannot be "Basic", which clients send a password with.')
}

function checkPatterns(patterns: unknown): void {
  if (!Array.isArray(patterns)) throw new TypeError('auth: "public" must be an array of patterns like "GET /v1/posts*".')
  for (const pattern of patterns as unknown[]) {
    if (typeof pattern !== 'string' || !/^!?([A-Z]+|\*) \/.*$/.test(pattern))
      throw new TypeError(`auth: public: "${String(pattern)}" must be like "GET /v1/posts*".`)
  }
}
