/**
 * CORS: which response headers let a page of another origin read the answers, and the answer to a preflight request (Fetch standard, "CORS
 * protocol"). Cookies and other credentials go along only where the server says so, for origins that it names: tokens travel in the
 * Authorization header, which needs none.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** Which origins may read the answers: every one (`true` or `'*'`), or those listed, as browsers send them: `https://app.example.test`. */
export type CorsOrigins = string | readonly string[] | true

// Headers beyond the safelisted ones that a client of the API has a use for.
const EXPOSED = 'Location, Allow, Accept-Query, ETag, WWW-Authenticate, Retry-After'
const EXPOSED_OF_PAGES = `${EXPOSED}, Link, X-Total-Count`
// Ten minutes: a preflight for every request would double the traffic, and a changed option should still be noticed soon.
const MAX_AGE = '600'

/** The policy of one server. */
export class Cors {
  /** Tells whether pages of an origin may do what those of the server may; undefined where no others may send the cookies of the user. */
  readonly trusts: ((origin: string) => boolean) | undefined
  /** Undefined: every origin. */
  readonly #origins: ReadonlySet<string> | undefined
  readonly #methods: string
  readonly #credentials: boolean

  /** @throws TypeError when an entry is not an origin, or one with credentials is not a named one. */
  constructor(origins: CorsOrigins, methods: readonly string[], credentials = false) {
    const list = origins === true ? ['*'] : typeof origins === 'string' ? [origins] : origins
    if (!Array.isArray(list) || list.length === 0) throw new TypeError('createServer: "cors" must be an origin, a list of origins or true.')
    for (const origin of list) checkOrigin(origin)
    const open = credentials ? list.find(origin => origin === '*' || origin === 'null') : undefined
    if (open !== undefined) throw new TypeError(describeOpen(open, origins === true))
    this.#credentials = credentials
    this.trusts = credentials ? origin => this.allows(origin) : undefined
    this.#origins = list.includes('*') ? undefined : new Set(list)
    this.#methods = methods.join(', ')
  }

  /** Whether every origin may read the answers. */
  get allowsAll(): boolean {
    return this.#origins === undefined
  }

  /** Whether the pages of an origin may read the answers. */
  allows(origin: string): boolean {
    return this.#origins === undefined || this.#origins.has(origin)
  }

  /** Whether this request is a preflight: the browser asks whether it may send the real one. */
  static isPreflight(method: string | undefined, headers: IncomingHttpHeaders): boolean {
    return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
  }

  /** Adds the headers that go with the answer to a request. Without them a browser keeps the answer from the page, or does not even ask. */
  mark(method: string | undefined, requested: IncomingHttpHeaders, headers: OutgoingHttpHeaders): void {
    if (!this.#allow(requested, headers)) return
    if (!Cors.isPreflight(method, requested)) {
      headers['access-control-expose-headers'] = headers['x-total-count'] === undefined ? EXPOSED : EXPOSED_OF_PAGES
      // Without it a page of another origin is not shown the times (Resource Timing, "Timing-Allow-Origin").
      if (headers['server-timing'] !== undefined) headers['timing-allow-origin'] = headers['access-control-allow-origin']
      return
    }
    headers['access-control-allow-methods'] = this.#methods
    headers['access-control-max-age'] = MAX_AGE
    // `*` would not cover Authorization, so the wanted names are repeated.
    const wanted = requested['access-control-request-headers']
    if (wanted !== undefined) headers['access-control-allow-headers'] = wanted
    addVary(headers, 'Access-Control-Request-Headers')
  }

  #allow(requested: IncomingHttpHeaders, headers: OutgoingHttpHeaders): boolean {
    if (this.#origins === undefined) {
      headers['access-control-allow-origin'] = '*'
      return true
    }
    // The answer depends on the origin even when there is none, or a cache would hand one origin's answer to another.
    addVary(headers, 'Origin')
    const { origin } = requested
    if (origin === undefined || !this.#origins.has(origin)) return false
    headers['access-control-allow-origin'] = origin
    if (this.#credentials) headers['access-control-allow-credentials'] = 'true'
    return true
  }
}

function addVary(headers: OutgoingHttpHeaders, name: string): void {
  const vary = headers['vary']
  headers['vary'] = vary === undefined ? name : `${vary}, ${name}`
}

/** With credentials of the user every page could act as that user. */
function describeOpen(origin: string, isTrue: boolean): string {
  const who =
    origin === 'null'
      ? '"null", the origin of files and of sandboxed frames of any site'
      : `${isTrue ? 'true' : '"*"'}, which is every page`
  return (
    `createServer: "corsCredentials" lets pages send the cookies of the user, and "cors" is ${who}: ` +
    'name the origins that may, such as "http://localhost:5173".'
  )
}

/** An entry that no browser sends would silently allow nobody. */
function checkOrigin(origin: unknown): void {
  if (origin === '*' || origin === 'null') return
  const hasStar = typeof origin === 'string' && origin.includes('*')
  const expected = typeof origin === 'string' && !hasStar ? findOrigin(origin) : undefined
  if (origin === expected) return
  const hint = hasStar
    ? ' An origin has no "*" in it: list the origins, or give "*" for all.'
    : expected === undefined
      ? ' An origin looks like "http://localhost:5173".'
      : ` Did you mean "${expected}"?`
  throw new TypeError(`createServer: "cors" holds ${JSON.stringify(origin)}, which is not an origin.${hint}`)
}

/** Returns the origin that a text means: of `localhost:5173` a URL would take the host for a scheme. */
function findOrigin(text: string): string | undefined {
  const [host, port] = /^[\w-]+(?:\.[\w-]+)*(:\d+)?(?=\/|$)/.exec(text) ?? []
  const isLocal = host !== undefined && (port !== undefined || /^localhost$|^[\d.]+$/i.test(host))
  const given = host === undefined ? text.replace(/^ws(?=s?:\/\/)/i, 'http') : `http${isLocal ? '' : 's'}://${text}`
  const url = URL.parse(given)
  // URL gives the origin "null" to schemes that it does not know; browser extensions use some of those.
  return url === null ? undefined : url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}
