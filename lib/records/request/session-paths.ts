/** Reads and finds the paths of log-in, log-out and refresh, below the version, such as `users/login`. */
import { checkNames } from '../../foundation/base/suggest.ts'
import { plainPath } from './address.ts'

export type SessionAction = 'login' | 'logout' | 'refresh' | 'me' | 'signUp'

/** With defaults. `me` and `signUp` need a path, `refresh` needs refresh tokens. */
export type SessionPaths = Readonly<Record<'login' | 'logout', string>> & Readonly<Partial<Record<SessionAction, string>>>

const ACTIONS: readonly SessionAction[] = ['login', 'logout', 'refresh', 'me', 'signUp']

/** Of other libraries, for hints. */
const HABITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['logIn', 'signIn', 'signin', 'sign_in'].map(name => [name, 'login'])),
  ...Object.fromEntries(['logOut', 'signOut', 'signout', 'sign_out'].map(name => [name, 'logout'])),
  ...Object.fromEntries(['user', 'whoami', 'profile', 'current', 'self'].map(name => [name, 'me'])),
  ...Object.fromEntries(['signup', 'sign_up', 'register', 'registration'].map(name => [name, 'signUp'])),
}

const DEFAULTS: SessionPaths = Object.freeze({ login: 'login', logout: 'logout' })

/** Characters without encoding (RFC 3986 section 2.3). */
const PATH = /^[\w.~-]+(?:\/[\w.~-]+)*$/

const METHODS: Readonly<Record<SessionAction, readonly string[]>> = {
  login: ['POST'],
  logout: ['POST'],
  refresh: ['POST'],
  me: ['GET', 'HEAD', 'PUT', 'PATCH'],
  signUp: ['POST'],
}

/**
 * @param hasRefresh whether log-in gives refresh tokens
 * @throws TypeError for an invalid path, and for two actions with the same path and method
 */
export function readSessionPaths(given: unknown, hasRefresh: boolean): SessionPaths {
  const defaults = hasRefresh ? { ...DEFAULTS, refresh: 'refresh' } : DEFAULTS
  if (given === undefined) return defaults
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError('auth: "paths" must be an object of paths: { login: "users/login", me: "user" }.')
  checkNames(given, ACTIONS, 'auth: paths', HABITS)
  const paths: Partial<Record<SessionAction, string>> = { ...defaults }
  for (const action of ACTIONS) {
    const path = (given as Readonly<Record<string, unknown>>)[action]
    if (path === undefined) continue
    const text = typeof path === 'string' ? path.replace(/^\//, '').replace(/\/$/, '') : ''
    if (!PATH.test(text) || text.split('/').some(segment => segment === '.' || segment === '..'))
      throw new TypeError(
        `auth: paths: "${action}" must be a path below the version, without a method, such as "users/login", got ${JSON.stringify(path)}.`,
      )
    paths[action] = text
  }
  const twice = ACTIONS.flatMap((one, at) => ACTIONS.slice(at + 1).map(other => [one, other] as const)).find(
    ([one, other]) => paths[one] !== undefined && paths[one] === paths[other] && METHODS[one].some(each => METHODS[other].includes(each)),
  )
  if (twice !== undefined) throw new TypeError(`auth: paths: "${twice[0]}" and "${twice[1]}" cannot have one path, "${paths[twice[0]]}".`)
  if (paths.refresh !== undefined && !hasRefresh)
    throw new TypeError('auth: paths: "refresh" is for refresh tokens: refresh: { ttl: 30 * 24 * 3600 }.')
  return Object.freeze(paths as SessionPaths)
}

export function findSession(paths: SessionPaths, method: string, parts: readonly string[]): SessionAction | undefined {
  return ACTIONS.find(action => METHODS[action].includes(method) && isAt(paths[action], parts))
}

/** Decoding costs time: only where the first segment may fit. */
function isAt(path: string | undefined, parts: readonly string[]): boolean {
  const [first] = parts
  return path !== undefined && first !== undefined && (path.startsWith(first) || first.includes('%')) && path === plainPath(parts.join('/'))
}

/** Without versions, no resource may have these names. `me` and `signUp` may be shared: log-in leaves other methods. */
export function listSessionNames({ login, logout, refresh }: SessionPaths): readonly string[] {
  return [login, logout, refresh].filter(path => path !== undefined).filter(path => !path.includes('/'))
}
