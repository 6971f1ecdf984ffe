/**
 * Addresses: what is intercepted: an origin, and the path before the version where one is given. Takes what `engine.intercept` takes;
 * refuses what no request could be sent to.
 */
import { findPathBelow, readBase } from '../../../records/request/address.ts'
import { readPath } from '../../../records/request/parse-request.ts'
import { originForm } from '../transport.ts'

/** What `engine.intercept` takes. */
export type Origins = string | URL | readonly (string | URL)[]

/** Where requests are intercepted. */
export interface InterceptedAddress {
  readonly origin: string
  /** Requests to other paths are not intercepted. Undefined: all of the origin is, and the base is that of the engine. */
  readonly base: string | undefined
}

export function formatAddress({ origin, base = '' }: InterceptedAddress): string {
  return origin + base
}

/** Returns the address of a request; that with the longest path where several suit. A path that is not known suits all. */
export function findIntercepted(addresses: readonly InterceptedAddress[], origin: string, path: unknown): InterceptedAddress | undefined {
  return addresses.find(
    each =>
      each.origin === origin &&
      (each.base === undefined || typeof path !== 'string' || findPathBelow(readPath(originForm(path)), each.base) !== undefined),
  )
}

/**
 * Returns the addresses, those with the longest paths first.
 *
 * @param base path of the origins that are given without one
 * @throws TypeError
 */
export function readAddresses(given: Origins, base: string | undefined, versions: readonly string[]): InterceptedAddress[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw new TypeError('intercept: the list of origins is empty.')
  const own = base === undefined ? undefined : readBase(base, 'intercept', versions)
  const byText = new Map(list.map(each => readAddress(each, own, versions)).map(address => [formatAddress(address), address]))
  return [...byText.values()].toSorted((one, other) => (other.base ?? '').length - (one.base ?? '').length)
}

function readAddress(given: unknown, own: string | undefined, versions: readonly string[]): InterceptedAddress {
  const text = given instanceof URL ? given.href : given
  const wrong = (what: string): TypeError =>
    new TypeError(
      `intercept: ${JSON.stringify(given) ?? String(given)} is not an origin: ${what}. ` +
        'Give one like "https://api.example.test", or "https://api.example.test/api".',
    )
  if (typeof text !== 'string') throw wrong('it is neither a string nor a URL')
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const meant = text.startsWith('/')
      ? null
      : URL.parse(`http${/^localhost\b|^[\d.]+(?::|$)/i.test(text) ? '' : 's'}://${text.replace(/^[a-z]+:\/\//i, '')}`)
    throw wrong(`it does not begin with http:// or https://${meant === null ? '' : ` (did you mean "${meant.origin}"?)`}`)
  }
  const address = url.origin + (url.pathname === '/' ? '' : url.pathname)
  if (url.hostname.includes('*')) throw wrong('patterns are not possible, give a list of origins')
  if (url.username !== '' || url.password !== '') throw wrong(`it has a user (did you mean "${address}"?)`)
  if (url.search !== '' || url.hash !== '' || /[?#]$/.test(text)) throw wrong(`it has a query or a fragment (did you mean "${address}"?)`)
  if (url.pathname === '/') return { origin: url.origin, base: own === '' ? undefined : own }
  if (own !== undefined) throw wrong('it has a path, and "base" is given, too')
  return { origin: url.origin, base: readBase(url.pathname, `intercept: ${JSON.stringify(given)}`, versions) }
}
