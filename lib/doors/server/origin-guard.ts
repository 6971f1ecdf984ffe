/**
 * Origin guard: which requests a server takes, by where they come from. A server on a loopback address is open to every page that a browser
 * on this machine shows: a page whose name has been pointed to 127.0.0.1 (DNS rebinding) reads it, and any page may send it what needs no
 * preflight. Takes the headers of a request; refuses with request_malformed, host_not_allowed and origin_not_allowed.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AddressInfo, BlockList } from 'node:net'
import { builtin } from '../../foundation/base/builtins.ts'
import type { Cors } from './cors.ts'
import { restError } from '../../foundation/errors/errors.ts'

/**
 * Names that a server answers to beside the local ones: one, several (`.example.test` stands for a name and all below it), or `true` for
 * all.
 */
export type AllowedHosts = string | readonly string[] | true

/** The addresses that only this machine reaches; made for the first server. */
let loopback: BlockList | undefined

function loopbackList(): BlockList {
  const list = new builtin.net.BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  return list
}

/** A host, and the port after it: an IPv6 address stands in brackets (RFC 3986 section 3.2.2). */
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.~!$&'()*+,;=%-]+))(?::\d*)?$/i

/** What a request is about to do: `write` changes data, `control` is a test control. */
export type RequestTarget = 'read' | 'write' | 'control'

export class OriginGuard {
  /** Undefined: all names. */
  readonly #allowed: readonly string[] | undefined
  /** Whether the requests on any address are looked at. */
  readonly #always: boolean
  /** Whether the server listens on a loopback address; undefined until that is known. */
  #isLocal: boolean | undefined
  readonly #cors: Cors | undefined
  /** The header that was last found to be good: most clients send the same one always. */
  #known: string | undefined

  /** @throws TypeError when an entry is not the name of a host. */
  constructor(allowed: AllowedHosts | undefined, cors: Cors | undefined) {
    const list = allowed === undefined || allowed === true ? [] : typeof allowed === 'string' ? [allowed] : allowed
    if (!Array.isArray(list)) throw new TypeError('createServer: "allowedHosts" must be a name, a list of names or true.')
    this.#allowed = allowed === true ? undefined : list.map(checkedName)
    this.#always = allowed !== undefined && allowed !== true
    this.#cors = cors
  }

  /** The server listens there. A socket of the file system has no name, and no page reaches it. */
  listen(address: AddressInfo | string | null): void {
    this.#isLocal = typeof address === 'object' && address !== null ? isLoopback(address.address) : undefined
  }

  /** Refuses a request that is not addressed to this server, or that the page of another site sends to change something. */
  check(request: IncomingMessage, aim: RequestTarget): void {
    const host = readHost(request)
    const checks = this.#always || (this.#isLocal ?? isLoopback(request.socket.localAddress))
    if (checks && this.#allowed !== undefined) {
      if (host !== undefined && host !== this.#known) this.#checkHost(host, request)
      const { url = '/' } = request
      // The absolute form says the name a second time, and is the one that counts (RFC 9112 section 3.2.2).
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
      this.#known = host
      return
    }
    // Whoever names the very address that the connection has come to has been led there by no name.
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
    // Only a browser sends this header, and no page can set it.
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
    const { protocol, host: own } = new URL(origin)
    const asked = `${protocol}//${host}`
    return own !== '' && URL.canParse(asked) && new URL(asked).host === own
  }
}

/** The one `Host` of a request. Node makes the object of headers when it is asked for, which most requests are answered without. */
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

/**
 * The name in a `Host` header: lower case, without port, brackets and the dot that ends a full name. Undefined for what is not of that
 * form.
 */
function parseHostName(host: string): string | undefined {
  const match = HOST.exec(host)
  return (match?.[1] ?? match?.[2]?.replace(/\.$/, ''))?.toLowerCase()
}

/** `localhost` and what lies below it never leaves the machine (RFC 6761 section 6.3). */
function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}

/** Whether an address is this machine's own alone. */
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
