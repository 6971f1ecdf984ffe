/** Checks the options of `auth({ … })`, and adds defaults. */
import { anything, callable, filledText, flag, must, readOptions, type OptionTable } from '../../foundation/base/option-table.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { readCookie } from './cookies.ts'
import { readSessionPaths } from '../../records/request/session-paths.ts'
import type { AuthModule, AuthOptions, NamedAuthOptions } from './auth-module.ts'

const property = must('the name of a property', value => typeof value === 'string' && value !== '')
const seconds = must('a number of seconds above 0', value => Number.isFinite(value) && (value as number) > 0, RangeError)

const OPTIONS = {
  entity: [anything],
  identifier: [property, 'email'],
  password: [property, 'password'],
  ttl: [seconds, 3600],
  secret: [filledText],
  hash: [flag],
  plain: [flag],
  authenticate: [callable],
  credentials: [callable],
  answer: [callable],
  paths: [anything],
  cookie: [anything],
  refresh: [checkRefresh],
  scheme: [checkScheme],
  public: [checkPatterns, []],
} as const satisfies OptionTable<AuthOptions>

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
export function auth(options: Omit<AuthOptions, 'entity'> & { readonly entity: string }): AuthModule
export function auth<E extends object>(options: NamedAuthOptions<E>): AuthModule
export function auth(options: Omit<AuthOptions, 'entity'> & { readonly entity: AuthOptions['entity'] | string }): AuthModule {
  const isEntity = typeof options === 'function' || '_meta' in ((options as object | null | undefined) ?? {})
  if (typeof options !== 'object' || options === null || isEntity)
    throw new TypeError('auth: the options must be an object: { entity: User }.')
  const given = readOptions(options, OPTIONS, 'auth', HABITS)
  if (given.entity === undefined) throw new TypeError('auth: "entity" is needed: the entity of the users.')
  if (given.plain === true && given.hash === true)
    throw new TypeError('auth: "plain" compares passwords that are no hashes, and "hash" hashes all: choose one of them.')
  const { cookie: name, ...others } = given as typeof given & Pick<AuthOptions, 'entity'>
  const cookie = readCookie(name)
  const paths = readSessionPaths(given.paths, given.refresh !== undefined)
  return { options: { ...others, paths, ...(cookie === undefined ? {} : { cookie }) } }
}

function checkRefresh(refresh: unknown): void {
  if (typeof refresh !== 'object' || refresh === null)
    throw new TypeError('auth: "refresh" must be { ttl }: refresh: { ttl: 30 * 24 * 3600 }.')
  checkNames(refresh, ['ttl'], 'auth: refresh', { expiresIn: 'ttl', maxAge: 'ttl' })
  seconds((refresh as { readonly ttl?: unknown }).ttl, 'auth: refresh: "ttl"', 'auth')
}

/** A scheme is an HTTP token (RFC 9110 section 11.1). */
function checkScheme(scheme: unknown): void {
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
