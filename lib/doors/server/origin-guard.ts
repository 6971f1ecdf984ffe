/**
 * Decides by Host and Origin which requests a server takes. Every browser of this machine reaches a loopback address: a page whose name
 * points to 127.0.0.1 (DNS rebinding) could read, any page could send without a preflight. Refuses with request_malformed, host_not_allowed
 * and origin_not_allowed.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AddressInfo, BlockList } from 'node:net'
import { builtin } from '../../foundation/base/builtins.ts'
import type { Cors } from './cors.ts'
import { restError } from '../../foundation/errors/errors.ts'

/** Names beside the local names: a name, a list (`.example.test` stands for a name and all names below), or `true` for all. */
export type AllowedHosts = string | readonly string[] | true

let loopback: BlockList | undefined

function loopbackList(): BlockList {
  const list = new builtin.net.BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  return list
}

/** Host and port; an IPv6 address stands in brackets (RFC 3986 section 3.2.2). */
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.~!$&'()*+,;=%-]+))(?::\d*)?$/i

export type RequestTarget = 'read' | 'write' | 'control'

export class OriginGuard {
  readonly #allowed: readonly string[] | undefined
  readonly #checksEveryAddress: boolean
  /** Whether the server listens on loopback; `undefined`: unknown. */
  #isLocal: boolean | undefined
  readonly #cors: Cors | undefined
  /** Remembered: most clients repeat the header. */
  #lastGoodHost: string | undefined

  constructor(allowed: AllowedHosts | undefined, cors: Cors | undefined) {
    const list = allowed === undefined || allowed === true ? [] : typeof allowed === 'string' ? [allowed] : allowed
    if (!Array.isArray(list)) throw new TypeError('createServer: "allowedHosts" must be a name, a list of names or true.')
    this.#allowed = allowed === true ? undefined : list.map(checkedName)
    this.#checksEveryAddress = allowed !== undefined && allowed !== true
    this.#cors = cors
  }

  /** Undefined for a socket of the file system, out of reach for pages. */
  listen(address: AddressInfo | string | null): void {
    this.#isLocal = typeof address === 'object' && address !== null ? isLoopback(address.address) : undefined
  }

  /** Refuses requests to other names, and changes from pages of other sites. */
  check(request: IncomingMessage, aim: RequestTarget): void {
    const host = readHost(request)
    const checks = this.#checksEveryAddress || (this.#isLocal ?? isLoopback(request.socket.localAddress))
    if (checks && this.#allowed !== undefined) {
      if (host !== undefined && host !== this.#lastGoodHost) this.#checkHost(host, request)
      const { url = '/' } = request
      // The absolute form repeats the name, and counts before Host (RFC 9112 section 3.2.2).
      if (!url.startsWith('/')) this.#checkTarget(url, request)
    }
    if (aim === 'control' || (aim === 'write' && checks)) this.#checkOrigin(request.headers)
  }

  #checkTarget(url: string, request: IncomingMessage): void {
    const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1]
    if (authority !== undefined) this.#checkHost(authority, request)
  }

  #checkHost(host: string, request: IncomingMessage): void {
    const name = parseHostName(host)
    if (name !== undefined && (isLocal(name) || this.#isAllowed(name))) {
      this.#lastGoodHost = host
      return
    }
    // An address, not a name, has led the client here.
    if (name !== undefined && name === request.socket.localAddress?.toLowerCase().replace('::ffff:', '')) return
    const shown = host.slice(0, 100)
    throw restError(
      'host_not_allowed',
      `This server does not answer to the name ${JSON.stringify(shown)}: ` +
        'on a loopback address it answers to local names alone (localhost, 127.0.0.1, [::1]). ' +
        `Allow the name with the option allowedHosts of createServer, or with --allow-host ${name?.slice(0, 100) ?? 'NAME'}.`,
    )
  }

  #isAllowed(name: string): boolean {
    return this.#allowed!.some(allowed =>
      allowed.startsWith('.') ? name === allowed.slice(1) || name.endsWith(allowed) : name === allowed,
    )
  }

  #checkOrigin(headers: IncomingHttpHeaders): void {
    const { origin, host } = headers
    const site = headers['sec-fetch-site']
    // Browsers set this header; no page can.
    if (site === 'same-origin' || site === 'none') return
    if (origin === undefined ? site !== 'cross-site' || this.#cors?.allowsAll === true : this.#isOwn(origin, host)) return
    const from = origin === undefined ? 'another site' : JSON.stringify(origin.slice(0, 100))
    throw restError(
      'origin_not_allowed',
      `A page of ${from} may not change anything here. ` +
        `Allow its origin with the option cors of createServer, or with --cors ${origin?.slice(0, 100) ?? 'ORIGIN'}.`,
    )
  }

  #isOwn(origin: string, host: string | undefined): boolean {
    if (this.#cors?.allows(origin) === true) return true
    if (host === undefined || !URL.canParse(origin)) return false
    const { protocol, host: originHost } = new URL(origin)
    const addressed = `${protocol}//${host}`
    return originHost !== '' && URL.canParse(addressed) && new URL(addressed).host === originHost
  }
}

/** Most requests never need Node's object of all headers. */
function readHost({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) throw restError('request_malformed', 'The request has two Host headers.')
    host = rawHeaders[index + 1]!
  }
  if (host === undefined && httpVersion === '1.1') throw restError('request_malformed', 'The request has no Host header.')
  return host
}

/** In lower case, without port, brackets and the dot at the end of a full name. */
function parseHostName(host: string): string | undefined {
  const match = HOST.exec(host)
  return (match?.[1] ?? match?.[2]?.replace(/\.$/, ''))?.toLowerCase()
}

/** `localhost` and names below never leave the machine (RFC 6761 section 6.3). */
function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}

export function isLoopback(address: string | undefined): boolean {
  const version = address === undefined ? 0 : builtin.net.isIP(address)
  return version !== 0 && (loopback ??= loopbackList()).check(address!, version === 6 ? 'ipv6' : 'ipv4')
}

function checkedName(given: unknown): string {
  const name = typeof given === 'string' ? given.toLowerCase() : ''
  const bare = name.replace(/^\./, '').replace(/^\[(.*)\]$/, '$1')
  if (builtin.net.isIPv6(bare)) return bare
  if (/^[\w-]+(?:\.[\w-]+)*$/.test(bare)) return name.startsWith('.') ? `.${bare}` : bare
  throw new TypeError(
    `createServer: "allowedHosts" holds ${JSON.stringify(given)}, which is not the name of a host: ` +
      'write "api.example.test", or ".example.test" for all below it.',
  )
}
