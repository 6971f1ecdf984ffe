/** Sends the client's calls to an engine, a URL or a `fetch` function. Throws a RestError for a refusal. */
import { RestError, type FieldError } from '../../foundation/errors/errors.ts'
import type { Asked, ReadShaped } from './read-shaped.ts'

export interface EngineTarget {
  handle(
    method: string,
    path: string,
    query: string,
    body: unknown,
    context: { readonly headers: Record<string, string>; readonly signal?: AbortSignal },
  ): Promise<ClientAnswer>
  readonly versions: readonly string[]
  readonly base?: string
}

/** Such as `engine.fetch`, or the `request` of a Hono app. */
export type FetchTarget = (url: string, init: FetchInit) => FetchAnswer | Promise<FetchAnswer>

interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

interface FetchAnswer {
  readonly status: number
  readonly headers: { forEach(visit: (value: string, name: string) => void): void }
  text(): Promise<string>
}

/** An address, an engine, or a `fetch` function. */
export type ClientTarget = EngineTarget | FetchTarget | string | URL

interface ClientAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Call {
  readonly method: string
  /** After the version, not encoded. */
  readonly segments: readonly string[]
  readonly query?: string
  readonly body?: unknown
  readonly isRecord?: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** The application decides the answer's form, as for a log-in. */
  readonly isFree?: boolean
  readonly asked?: Asked
}

export type Transport = (call: Call) => Promise<Readonly<Record<string, unknown>>>

interface ClientAddress {
  /** Null for an API without versions. */
  readonly version?: string | null | undefined
  /** Origin, and path before the version, for a `fetch` function. */
  readonly url?: string | URL | undefined
}

/** For URLs and `fetch` functions. */
const FIRST = 'v1'

/** Headers of refusals about how to continue. */
const KEPT = ['retry-after', 'www-authenticate', 'allow']

/** @throws TypeError for an invalid target or `url` */
export function openTransport(target: ClientTarget, { version, url }: ClientAddress, read?: ReadShaped): Transport {
  if (typeof target === 'string' || target instanceof URL) {
    if (url !== undefined) throw new TypeError('client: "url" goes with a fetch function; the target is a URL itself.')
    return viaFetch((address, init) => globalThis.fetch(address, init), { root: readUrl(target), version, read })
  }
  if (typeof target === 'function') return viaFetch(target, { root: readUrl(url ?? 'http://localhost'), version, read })
  if (typeof (target as Partial<EngineTarget> | null | undefined)?.handle !== 'function')
    throw new TypeError("client: the target is an engine, a URL ('http://127.0.0.1:3000') or a fetch function.")
  if (url !== undefined) throw new TypeError('client: "url" goes with a fetch function, not with an engine.')
  return viaEngine(target, version, read)
}

function viaEngine(engine: EngineTarget, given: string | null | undefined, read: ReadShaped | undefined): Transport {
  const version = given === undefined ? (engine.versions[0] ?? null) : given
  return async ({ method, segments, query = '', body, headers, signal, isFree, asked }) => {
    const path = `${engine.base ?? ''}${writePath(version, segments)}`
    const context = { headers: { ...headers }, ...(signal === undefined ? {} : { signal }) }
    return readAnswer(await engine.handle(method, path, query, body === undefined ? undefined : toJson(body), context), {
      method,
      path,
      isFree,
      asked,
      read,
    })
  }
}

interface FetchedApi {
  readonly root: string
  readonly version: string | null | undefined
  readonly read: ReadShaped | undefined
}

function viaFetch(fetch: FetchTarget, { root, version = FIRST, read }: FetchedApi): Transport {
  return async ({ method, segments, query = '', body, headers, signal, isFree, asked }) => {
    const address = `${root}${writePath(version, segments)}${query === '' ? '' : `?${query}`}`
    const answer = await fetch(address, {
      method,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(toJson(body)) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const found: Record<string, string> = {}
    answer.headers.forEach((value, name) => (found[name.toLowerCase()] = value))
    return readAnswer(
      { status: answer.status, headers: found, body: parseBody(await answer.text()) },
      { method, path: address, isFree, asked, read },
    )
  }
}

function readUrl(given: string | URL): string {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new TypeError(`client: ${JSON.stringify(String(given))} is not the URL of an API, such as 'http://127.0.0.1:3000'.`)
  return url.origin + url.pathname.replace(/\/$/, '')
}

/** In a segment, a slash is data. */
function writePath(version: string | null, segments: readonly string[]): string {
  return [...(version === null ? [] : [version]), ...segments].map(segment => `/${encodeURIComponent(segment)}`).join('')
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface ClientRefusal {
  readonly code?: unknown
  readonly detail?: unknown
  readonly errors?: readonly FieldError[]
}

interface SentCall extends Pick<Call, 'method'> {
  readonly path: string
  readonly isFree: boolean | undefined
  readonly asked: Asked | undefined
  readonly read: ReadShaped | undefined
}

function readAnswer(
  { status, headers, body }: ClientAnswer,
  { method, path, isFree, asked, read }: SentCall,
): Readonly<Record<string, unknown>> {
  const isObject = typeof body === 'object' && body !== null
  if (status >= 400) {
    const { code, detail, errors } = (isObject ? body : {}) as ClientRefusal
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT.includes(name)))
    const message = typeof detail === 'string' ? detail : `${method} ${path} is answered with ${status}, and no error body of this API.`
    throw new RestError(status, typeof code === 'string' ? code : 'unknown', message, {
      ...(errors === undefined ? {} : { errors }),
      headers: kept,
    })
  }
  const shaped = asked === undefined ? undefined : read?.({ status, headers, body }, asked)
  if (shaped !== undefined && status < 300) return shaped
  if (status < 200 || status > 299 || !isObject || (isFree !== true && !('success' in body)))
    throw new Error(
      `client: ${method} ${path} is answered with ${status} and no body of this API: ${JSON.stringify(body ?? null).slice(0, 200)}. ` +
        'An API with answers of another form needs the option "envelope" of the client.',
    )
  return body as Readonly<Record<string, unknown>>
}

/** @throws TypeError for a function, a symbol or an invalid date */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`client: a body cannot have a ${typeof value}.`)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError('client: a body cannot have an invalid date.')
    return value.toISOString()
  }
  if (value instanceof Uint8Array) return btoa(Array.from(value, byte => String.fromCharCode(byte)).join(''))
  if (Array.isArray(value)) return value.map(toJson)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}

type Headers = Readonly<Record<string, string>>

export function mergeHeaders(...all: readonly (Headers | undefined)[]): Headers {
  const merged: Record<string, string> = {}
  for (const headers of all) for (const [name, value] of Object.entries(headers ?? {})) merged[name.toLowerCase()] = value
  return merged
}
