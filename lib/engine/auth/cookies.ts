/**
 * Keeps tokens in cookies (RFC 6265bis). Browsers send cookies for any page, so a write must come from the server's own or a trusted page.
 * Refuses with origin_not_allowed.
 */
import { restError } from '../../foundation/errors/errors.ts'
import { READ_METHODS } from '../../foundation/http/http-methods.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { formatRoot } from '../../records/request/address.ts'
import { findConnection, readHeader, type Request } from '../../records/request/parse-request.ts'
import type { CookieOptions } from './auth-module.ts'

/** An HTTP token (RFC 9110 section 5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const SITES = ['Lax', 'Strict', 'None'] as const

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
  // Browsers drop such cookies without `Secure`.
  const needed = site === 'None' ? 'sameSite "None"' : /^__(?:Host|Secure)-/i.test(name) ? `the name "${name}"` : undefined
  if (needed !== undefined && secure === false) throw new TypeError(`auth: cookie: ${needed} needs "secure".`)
  return Object.freeze({ name, sameSite: site, secure: needed === undefined ? secure : true })
}

export class TokenCookies {
  readonly #options: CookieOptions
  readonly #refreshPath: string | undefined

  /** @param refreshPath below the version */
  constructor(options: CookieOptions, refreshPath: string | undefined) {
    this.#options = options
    this.#refreshPath = refreshPath
  }

  read(request: Pick<Request, 'sender'>): string | undefined {
    return findCookie(readHeader(request.sender, 'cookie'), this.#options.name)
  }

  readRefresh(request: Pick<Request, 'sender'>): string | undefined {
    return findCookie(readHeader(request.sender, 'cookie'), this.#refreshName)
  }

  /** @param life seconds; 0 removes the cookie */
  write(token: string, life: number, request: Request): string {
    const path = /^__Host-/i.test(this.#options.name) || request.base === '' ? '/' : request.base
    return this.#format({ name: this.#options.name, token, life, path }, request)
  }

  /** For the refresh path alone. */
  writeRefresh(token: string, life: number, request: Request, version: string): string {
    const path = `${formatRoot(request.base, version)}/${this.#refreshPath!}`
    return this.#format({ name: this.#refreshName, token, life, path }, request)
  }

  /** A name with `__Host-` requires the path `/`, not this cookie's. */
  get #refreshName(): string {
    return `${this.#options.name.replace(/^__Host-/i, '__Secure-')}_refresh`
  }

  #format(
    { name, token, life, path }: { readonly name: string; readonly token: string; readonly life: number; readonly path: string },
    request: Request,
  ): string {
    const { sameSite, secure = findConnection(request.sender).isSecure === true } = this.#options
    const parts = [`${name}=${token}`, `Path=${path}`, `Max-Age=${Math.max(0, Math.floor(life))}`, 'HttpOnly', `SameSite=${sameSite}`]
    return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
  }
}

/** Takes the first of several: browsers send the longest path first. */
function findCookie(header: string | undefined, name: string): string | undefined {
  // A comma joins several headers; no value has a comma.
  for (const part of (header ?? '').split(/[;,]/)) {
    const mark = part.indexOf('=')
    if (mark > 0 && part.slice(0, mark).trim() === name) return part.slice(mark + 1).trim()
  }
  return undefined
}

/** Refuses a write by cookie from a foreign page. No page can change the header `Origin`; a client without is no browser. */
export function requireOwnPage(request: Pick<Request, 'method' | 'sender'>): void {
  if (READ_METHODS.includes(request.method)) return
  const senderUrl = readHeader(request.sender, 'origin') ?? readHeader(request.sender, 'referer')
  const site = readHeader(request.sender, 'sec-fetch-site')
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (senderUrl === undefined ? !isForeignSite : isTrusted(senderUrl, request) || (!isForeignSite && isOwn(senderUrl, request))) return
  const what =
    senderUrl === undefined || isOwn(senderUrl, request)
      ? 'It comes from a page of another origin.'
      : `It comes from ${JSON.stringify(senderUrl.slice(0, 100))}.`
  throw restError('origin_not_allowed', `With a cookie only pages of this server may change anything. ${what}`)
}

/** `undefined`: no origin, or a page by http for a server by https. */
function readPage(url: string, { sender }: Pick<Request, 'sender'>): URL | undefined {
  const page = URL.parse(url) ?? undefined
  return page === undefined || page.origin === 'null' || (findConnection(sender).isSecure === true && page.protocol !== 'https:')
    ? undefined
    : page
}

function isTrusted(url: string, request: Pick<Request, 'sender'>): boolean {
  const page = readPage(url, request)
  return page !== undefined && findConnection(request.sender).trusts?.(page.origin) === true
}

function isOwn(url: string, request: Pick<Request, 'sender'>): boolean {
  const page = readPage(url, request)
  // A Fetch `Request` has a URL, and often no `Host`. Behind a proxy for https, the scheme differs.
  return [findConnection(request.sender).host, readHeader(request.sender, 'host')].some(
    host => page !== undefined && host !== undefined && URL.parse(`${page.protocol}//${host}`)?.host === page.host,
  )
}
