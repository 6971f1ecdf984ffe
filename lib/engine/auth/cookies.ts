/**
 * Cookies: tokens in cookies (RFC 6265bis), for the option `cookie`: how they are written, read and removed, and which requests may use
 * them: a browser sends them with the requests of any page, so what writes must come from a page of the server. Refuses with
 * origin_not_allowed.
 */
import { restError } from '../../foundation/base/errors.ts'
import { READ_METHODS } from '../../foundation/base/http-methods.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { formatRoot } from '../../records/request/address.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { CookieOptions } from './auth-module.ts'

/** A token (RFC 9110 section 5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const SITES = ['Lax', 'Strict', 'None'] as const

/** @throws TypeError */
export function readCookie(given: unknown): CookieOptions | undefined {
  if (given === undefined) return undefined
  const options = typeof given === 'string' ? { name: given } : given
  if (typeof options !== 'object' || options === null)
    throw new TypeError('auth: "cookie" must be a name, or { name, sameSite }: cookie: "session".')
  checkNames(options, ['name', 'sameSite', 'secure'], 'auth: cookie', { samesite: 'sameSite', sameSitePolicy: 'sameSite' })
  const { name, sameSite = 'Lax', secure } = options as { readonly name?: unknown; readonly sameSite?: unknown; readonly secure?: unknown }
  if (typeof name !== 'string' || !NAME.test(name))
    throw new TypeError(`auth: cookie: "name" must be a name such as "session", got ${JSON.stringify(name)}.`)
  const site = SITES.find(each => typeof sameSite === 'string' && each.toLowerCase() === sameSite.toLowerCase())
  if (site === undefined)
    throw new TypeError(
      `auth: cookie: "sameSite" must be one of ${SITES.map(each => `"${each}"`).join(', ')}, got ${JSON.stringify(sameSite)}.`,
    )
  if (secure !== undefined && typeof secure !== 'boolean') throw new TypeError('auth: cookie: "secure" must be true or false.')
  // Browsers drop such cookies without it.
  const needed = site === 'None' ? 'sameSite "None"' : /^__(?:Host|Secure)-/i.test(name) ? `the name "${name}"` : undefined
  if (needed !== undefined && secure === false) throw new TypeError(`auth: cookie: ${needed} needs "secure".`)
  return Object.freeze({ name, sameSite: site, secure: needed === undefined ? secure : true })
}

export class TokenCookies {
  readonly #options: CookieOptions
  readonly #refreshPath: string | undefined

  /** @param refreshPath where refresh tokens are taken, below the version; undefined where there are none */
  constructor(options: CookieOptions, refreshPath: string | undefined) {
    this.#options = options
    this.#refreshPath = refreshPath
  }

  /** Returns the token in the cookie of a request. */
  read(request: Pick<Request, 'header'>): string | undefined {
    return findCookie(request.header('cookie'), this.#options.name)
  }

  /** Returns the refresh token in the cookie of a request. */
  readRefresh(request: Pick<Request, 'header'>): string | undefined {
    return findCookie(request.header('cookie'), this.#refreshName)
  }

  /** @param life seconds; 0 removes it */
  write(token: string, life: number, request: Request): string {
    const path = /^__Host-/i.test(this.#options.name) || request.base === '' ? '/' : request.base
    return this.#format({ name: this.#options.name, token, life, path }, request)
  }

  /** The cookie of a refresh token goes to the path where it is taken, and nowhere else. */
  writeRefresh(token: string, life: number, request: Request, version: string): string {
    const path = `${formatRoot(request.base, version)}/${this.#refreshPath!}`
    return this.#format({ name: this.#refreshName, token, life, path }, request)
  }

  /** A prefix asks for a path that the cookie of a refresh token does not have. */
  get #refreshName(): string {
    return `${this.#options.name.replace(/^__Host-/i, '__Secure-')}_refresh`
  }

  #format(
    { name, token, life, path }: { readonly name: string; readonly token: string; readonly life: number; readonly path: string },
    request: Request,
  ): string {
    const { sameSite, secure = request.connected.isSecure === true } = this.#options
    const parts = [`${name}=${token}`, `Path=${path}`, `Max-Age=${Math.max(0, Math.floor(life))}`, 'HttpOnly', `SameSite=${sameSite}`]
    return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
  }
}

/** Returns the value of the first cookie of a name: a browser sends the one of the longest path first. */
function findCookie(header: string | undefined, name: string): string | undefined {
  // Several headers come joined by a comma, which no value has.
  for (const part of (header ?? '').split(/[;,]/)) {
    const mark = part.indexOf('=')
    if (mark > 0 && part.slice(0, mark).trim() === name) return part.slice(mark + 1).trim()
  }
  return undefined
}

/**
 * Refuses a request that writes, by a cookie, for a page of another origin. A browser says where a request comes from, and no page can make
 * it say otherwise; what says nothing of it is no browser.
 */
export function requireOwnPage(request: Pick<Request, 'method' | 'header' | 'connected'>): void {
  if (READ_METHODS.includes(request.method)) return
  const from = request.header('origin') ?? request.header('referer')
  const site = request.header('sec-fetch-site')
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (from === undefined ? !isForeignSite : isTrusted(from, request) || (!isForeignSite && isOwn(from, request))) return
  const what =
    from === undefined || isOwn(from, request)
      ? 'It comes from a page of another origin.'
      : `It comes from ${JSON.stringify(from.slice(0, 100))}.`
  throw restError('origin_not_allowed', `With a cookie only pages of this server may change anything. ${what}`)
}

/** Returns the page of a URL; undefined where it has no origin of its own, or came by http to a server that is asked by https. */
function readPage(url: string, { connected }: Pick<Request, 'connected'>): URL | undefined {
  const page = URL.parse(url) ?? undefined
  return page === undefined || page.origin === 'null' || (connected.isSecure === true && page.protocol !== 'https:') ? undefined : page
}

/** Whether the URL of a page is of an origin that the server trusts beside its own. */
function isTrusted(url: string, request: Pick<Request, 'connected'>): boolean {
  const page = readPage(url, request)
  return page !== undefined && request.connected.trusts?.(page.origin) === true
}

/** Whether the URL of a page is one of the server's. */
function isOwn(url: string, request: Pick<Request, 'header' | 'connected'>): boolean {
  const page = readPage(url, request)
  // A `Request` of the Fetch API has its URL, and often no `Host`. Behind a proxy that takes care of https the server sees another scheme,
  // but the same host.
  return [request.connected.host, request.header('host')].some(
    host => page !== undefined && host !== undefined && URL.parse(`${page.protocol}//${host}`)?.host === page.host,
  )
}
