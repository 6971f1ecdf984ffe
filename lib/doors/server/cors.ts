/** Writes the headers that let pages of other origins read answers, also for a preflight request (Fetch standard, "CORS protocol"). */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** `https://app.example.test`; `true` and `'*'`: every origin. */
export type CorsOrigins = string | readonly string[] | true

const EXPOSED = 'Location, Allow, Accept-Query, ETag, WWW-Authenticate, Retry-After'
const EXPOSED_OF_PAGES = `${EXPOSED}, Link, X-Total-Count`
// Ten minutes: few preflights, and a changed option is soon noticed.
const MAX_AGE = '600'

export class Cors {
  /** `undefined`: no page of another origin may send the user's cookies. */
  readonly trusts: ((origin: string) => boolean) | undefined
  readonly #origins: ReadonlySet<string> | undefined
  readonly #methods: string
  readonly #credentials: boolean

  /** @throws TypeError for a wrong origin, and credentials without named origins. */
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

  get allowsAll(): boolean {
    return this.#origins === undefined
  }

  allows(origin: string): boolean {
    return this.#origins === undefined || this.#origins.has(origin)
  }

  static isPreflight(method: string | undefined, headers: IncomingHttpHeaders): boolean {
    return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
  }

  mark(method: string | undefined, requested: IncomingHttpHeaders, headers: OutgoingHttpHeaders): void {
    if (!this.#allow(requested, headers)) return
    if (!Cors.isPreflight(method, requested)) {
      const exposedByWire = headers['access-control-expose-headers']
      const exposed = headers['x-total-count'] === undefined ? EXPOSED : EXPOSED_OF_PAGES
      // The wire may expose its own.
      headers['access-control-expose-headers'] = typeof exposedByWire === 'string' ? addNames(exposed, exposedByWire) : exposed
      // Resource Timing, "Timing-Allow-Origin".
      if (headers['server-timing'] !== undefined) headers['timing-allow-origin'] = headers['access-control-allow-origin']
      return
    }
    headers['access-control-allow-methods'] = this.#methods
    headers['access-control-max-age'] = MAX_AGE
    // `*` would not cover Authorization.
    const wanted = requested['access-control-request-headers']
    if (wanted !== undefined) headers['access-control-allow-headers'] = wanted
    addVary(headers, 'Access-Control-Request-Headers')
  }

  #allow(requested: IncomingHttpHeaders, headers: OutgoingHttpHeaders): boolean {
    if (this.#origins === undefined) {
      headers['access-control-allow-origin'] = '*'
      return true
    }
    // Otherwise a cache could give an answer to another origin's page.
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

/** The error for credentials with every origin: each page could act as the user. */
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

/** `app.test` without a scheme would silently allow nobody. */
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

/** URL would take the host of `localhost:5173` for a scheme. */
function findOrigin(text: string): string | undefined {
  const [host, port] = /^[\w-]+(?:\.[\w-]+)*(:\d+)?(?=\/|$)/.exec(text) ?? []
  const isLocal = host !== undefined && (port !== undefined || /^localhost$|^[\d.]+$/i.test(host))
  const given = host === undefined ? text.replace(/^ws(?=s?:\/\/)/i, 'http') : `http${isLocal ? '' : 's'}://${text}`
  const url = URL.parse(given)
  // Unknown schemes, as of browser extensions, have the origin "null".
  return url === null ? undefined : url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}

function addNames(exposed: string, own: string): string {
  return [...new Set([...exposed.split(', '), ...own.split(', ')])].join(', ')
}
