/** Reads the origins of `engine.intercept`, perhaps with a path before the version. Refuses an origin that no request could reach. */
import { findPathBelow, readBase } from '../../../records/request/address.ts'
import { readPath } from '../../../records/request/parse-request.ts'
import { originForm } from '../transport.ts'
import type { Wire } from '../../../foundation/base/wire.ts'

export type Origins = string | URL | readonly (string | URL)[]

export interface InterceptedAddress {
  readonly origin: string
  /** `undefined`: the whole origin, with the engine's base. */
  readonly base: string | undefined
  readonly wire?: Wire | undefined
}

export function formatAddress({ origin, base = '' }: InterceptedAddress): string {
  return origin + base
}

/** The longest path first; an unknown path matches every address. */
export function findIntercepted(addresses: readonly InterceptedAddress[], origin: string, path: unknown): InterceptedAddress | undefined {
  return addresses.find(
    each =>
      each.origin === origin &&
      (each.base === undefined || typeof path !== 'string' || findPathBelow(readPath(originForm(path)), each.base) !== undefined),
  )
}

/**
 * Longest paths first.
 *
 * @param base path of origins without a path
 * @throws TypeError
 */
export function readAddresses(given: Origins, base: string | undefined, versions: readonly string[]): InterceptedAddress[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw new TypeError('intercept: the list of origins is empty.')
  const givenBase = base === undefined ? undefined : readBase(base, 'intercept', versions)
  const byText = new Map(list.map(each => readAddress(each, givenBase, versions)).map(address => [formatAddress(address), address]))
  return [...byText.values()].toSorted((one, other) => (other.base ?? '').length - (one.base ?? '').length)
}

function readAddress(given: unknown, givenBase: string | undefined, versions: readonly string[]): InterceptedAddress {
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
  if (url.pathname === '/') return { origin: url.origin, base: givenBase === '' ? undefined : givenBase }
  if (givenBase !== undefined) throw wrong('it has a path, and "base" is given, too')
  return { origin: url.origin, base: readBase(url.pathname, `intercept: ${JSON.stringify(given)}`, versions) }
}
