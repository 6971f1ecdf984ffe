/**
 * Session paths: where the log-in module answers, below the version. This is the one place that knows: the routes, the journal, transports,
 * descriptions and the docs page ask it. Takes the option `paths`; refuses what is no path.
 */
import { checkNames } from '../../foundation/base/suggest.ts'

/** What the log-in module does at a path. */
export type SessionAction = 'login' | 'logout' | 'refresh' | 'me' | 'signUp'

/** The paths by action, as they follow the version: `users/login`. Undefined: there is none. */
export type SessionPaths = Readonly<Record<'login' | 'logout', string>> & Readonly<Partial<Record<SessionAction, string>>>

const ACTIONS: readonly SessionAction[] = ['login', 'logout', 'refresh', 'me', 'signUp']

/** The names that other libraries give the paths. */
const HABITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['logIn', 'signIn', 'signin', 'sign_in'].map(name => [name, 'login'])),
  ...Object.fromEntries(['logOut', 'signOut', 'signout', 'sign_out'].map(name => [name, 'logout'])),
  ...Object.fromEntries(['user', 'whoami', 'profile', 'current', 'self'].map(name => [name, 'me'])),
  ...Object.fromEntries(['signup', 'sign_up', 'register', 'registration'].map(name => [name, 'signUp'])),
}

const DEFAULTS: SessionPaths = Object.freeze({ login: 'login', logout: 'logout' })

/** What a segment of a path may be without being encoded (RFC 3986 section 2.3). */
const PATH = /^[\w.~-]+(?:\/[\w.~-]+)*$/

const METHODS: Readonly<Record<SessionAction, readonly string[]>> = {
  login: ['POST'],
  logout: ['POST'],
  refresh: ['POST'],
  me: ['GET', 'HEAD', 'PUT', 'PATCH'],
  signUp: ['POST'],
}

/**
 * Completes the option `paths`.
 *
 * @param refreshes whether there are refresh tokens
 * @throws TypeError for what is no path, and for two actions at one place
 */
export function readSessionPaths(given: unknown, refreshes: boolean): SessionPaths {
  const defaults = refreshes ? { ...DEFAULTS, refresh: 'refresh' } : DEFAULTS
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
  if (paths.refresh !== undefined && !refreshes)
    throw new TypeError('auth: paths: "refresh" is for refresh tokens: refresh: { ttl: 30 * 24 * 3600 }.')
  return Object.freeze(paths as SessionPaths)
}

/** Returns what the module does with a request; undefined where it is none of its own. */
export function findSession(paths: SessionPaths, method: string, below: readonly string[]): SessionAction | undefined {
  return ACTIONS.find(action => METHODS[action].includes(method) && isAt(paths[action], below))
}

/** Whether the segments behind the version are those of a path. */
function isAt(path: string | undefined, below: readonly string[]): boolean {
  return path !== undefined && below.length > 0 && path.startsWith(below[0]!) && path === below.join('/')
}

/** The names in the place of resources that only the module answers: no resource may have one where paths have no version. */
export function listSessionNames({ login, logout, refresh }: SessionPaths): readonly string[] {
  return [login, logout, refresh].filter(path => path !== undefined).filter(path => !path.includes('/'))
}
