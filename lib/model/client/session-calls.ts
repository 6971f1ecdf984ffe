/** Sends the client's log-in, log-out and refresh, and finds token and user in the answers. */
import { checkNames } from '../../foundation/base/suggest.ts'
import type { CallOptions } from './client-types.ts'
import { mergeHeaders } from './merge-headers.ts'
import type { Transport } from './transport.ts'

/** Below the version. */
export type SessionCallPaths = Readonly<Partial<Record<'login' | 'logout' | 'refresh' | 'me' | 'signUp', string>>>

const DEFAULT_PATHS: SessionCallPaths = { login: 'login', logout: 'logout', refresh: 'refresh' }
const PATHS: readonly (keyof SessionCallPaths)[] = ['login', 'logout', 'refresh', 'me', 'signUp']

/** A member anywhere. */
const REFRESH = 'refreshToken'

type LogInAnswer = Readonly<Record<string, unknown>>

export interface ClientWire {
  readonly transport: Transport
  readonly paths: SessionCallPaths
  readonly refreshToken?: string | undefined
}

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

export function sendSession(
  { transport, paths }: ClientWire,
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

/** Without a token, the browser may have a cookie. */
export function writeRefresh({ refreshToken }: ClientWire): LogInAnswer {
  return refreshToken === undefined ? {} : { [REFRESH]: refreshToken }
}

export function withRefreshToken(wire: ClientWire, answer: LogInAnswer): ClientWire {
  const refreshToken = findMember(answer, REFRESH)
  return refreshToken === undefined ? wire : { ...wire, refreshToken }
}

/** The record, or the whole answer of an application's form. */
export function readUser(answer: LogInAnswer): LogInAnswer {
  const { resource } = answer
  const record = typeof resource === 'string' ? answer[resource] : undefined
  return typeof record === 'object' && record !== null ? (record as LogInAnswer) : answer
}

/** An application may answer with a JSON Web Token anywhere. */
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
  const value = (answer as LogInAnswer)[name]
  if (typeof value === 'string') return value
  for (const member of Object.values(answer)) {
    const found = findMember(member, name)
    if (found !== undefined) return found
  }
  return undefined
}
