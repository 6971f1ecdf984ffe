/** Session calls: where the client logs in and out, and what the answers hold: a token, a refresh token, the user. */
import { checkNames } from '../../foundation/base/suggest.ts'
import type { CallOptions } from './client-types.ts'
import { mergeHeaders } from './merge-headers.ts'
import type { Transport } from './transport.ts'

/** The paths of calls that concern no one resource, below the version. */
export type SessionCallPaths = Readonly<Partial<Record<'login' | 'logout' | 'refresh' | 'me' | 'signUp', string>>>

const DEFAULT_PATHS: SessionCallPaths = { login: 'login', logout: 'logout', refresh: 'refresh' }
const PATHS: readonly (keyof SessionCallPaths)[] = ['login', 'logout', 'refresh', 'me', 'signUp']

/** The member of an answer, or of an object in it, that has a refresh token. */
const REFRESH = 'refreshToken'

type LogInAnswer = Readonly<Record<string, unknown>>

/** How calls are sent, and where those that concern no one resource. */
export interface Wire {
  readonly transport: Transport
  readonly paths: SessionCallPaths
  /** The refresh token of the last log-in. */
  readonly refreshToken?: string | undefined
}

/** @throws TypeError for what is no path */
export function readPaths(given: unknown): SessionCallPaths {
  if (given === undefined) return DEFAULT_PATHS
  if (typeof given !== 'object' || given === null)
    throw new TypeError('client: "paths" must be an object of paths: { login: "users/login" }.')
  checkNames(given, PATHS, 'client: paths')
  for (const [name, path] of Object.entries(given))
    if (typeof path !== 'string' || !/[^/]/.test(path))
      throw new TypeError(`client: paths: "${name}" must be a path below the version, such as "users/login".`)
  return { ...DEFAULT_PATHS, ...given }
}

/** Sends a call that concerns no one resource. */
export function sendSession(
  { transport, paths }: Wire,
  method: string,
  name: keyof SessionCallPaths,
  body: unknown,
  { signal, headers }: CallOptions,
): Promise<LogInAnswer> {
  const path = paths[name]
  if (path === undefined)
    throw new TypeError(
      `client: where "${name}" is must be said: client(target, entities, { paths: { ${name}: ... } }), as in the option "paths" of auth.`,
    )
  const segments = path.split('/').filter(segment => segment !== '')
  return transport({ method, segments, body, headers: mergeHeaders({}, headers), signal, isFree: name !== 'logout' })
}

/** The body of a refresh: without a token it is in a cookie, which a browser sends by itself. */
export function writeRefresh({ refreshToken }: Wire): LogInAnswer {
  return refreshToken === undefined ? {} : { [REFRESH]: refreshToken }
}

/** Returns the wire with the refresh token of an answer, if it has one. */
export function withRefreshToken(wire: Wire, answer: LogInAnswer): Wire {
  const refreshToken = findMember(answer, REFRESH)
  return refreshToken === undefined ? wire : { ...wire, refreshToken }
}

/** Returns the record in the answer of the API's own form, else the whole answer. */
export function readUser(answer: LogInAnswer): LogInAnswer {
  const { resource } = answer
  const record = typeof resource === 'string' ? answer[resource] : undefined
  return typeof record === 'object' && record !== null ? (record as LogInAnswer) : answer
}

/** Finds the token in the answer to a log-in, which the application may have put elsewhere than in `auth_token`: it is a JSON Web Token. */
export function findToken(answer: unknown): string | undefined {
  if (typeof answer === 'string') return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(answer) ? answer : undefined
  if (typeof answer !== 'object' || answer === null) return undefined
  const { auth_token: own } = answer as { readonly auth_token?: unknown }
  if (typeof own === 'string') return own
  for (const [name, member] of Object.entries(answer)) {
    const token = name === REFRESH ? undefined : findToken(member)
    if (token !== undefined) return token
  }
  return undefined
}

function findMember(answer: unknown, name: string): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const own = (answer as LogInAnswer)[name]
  if (typeof own === 'string') return own
  for (const member of Object.values(answer)) {
    const found = findMember(member, name)
    if (found !== undefined) return found
  }
  return undefined
}
