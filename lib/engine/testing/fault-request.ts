/** The request as faults see it, and the match that selects requests. */
import { findPathBelow } from '../../records/request/address.ts'
import { lowerCase, readPath } from '../../records/request/parse-request.ts'
import { readPairs } from '../../records/request/parsed-query.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { Pair } from '../../records/request/query-string.ts'
import { meetsPattern, readPattern } from '../../records/request/route-pattern.ts'

/** A request, as a match that is a function sees it. */
export interface FaultRequest {
  /** Upper case. */
  readonly method: string
  /** Without the query and without one slash at its end; percent-encoded as the client sent it. */
  readonly path: string
  /** The part of the path before the version; empty without one. */
  readonly base: string
  /** Decoded pairs of name with operator, and value: `['age>=', '18']`. Empty for a query that cannot be read. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body: unknown
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Which requests are meant: `'POST /v1/orders'`, in which `*` stands for any run of characters and the method may be left out (`'/v1/*'`,
 * `'*'`); GET means HEAD, too. The base may be left out. Or a function of the request.
 */
export type RequestMatch = string | ((request: FaultRequest) => unknown)

/** A match that has been compiled. */
export interface CompiledMatch {
  /** The match in error texts. */
  readonly label: string
  readonly meets: (request: FaultRequest) => boolean
}

/** A request on its way to the engine. */
interface FaultedRequest {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly base: string
}

/** The request as functions see it; the query is read when it is asked for. */
export function faultRequest({ method, path: target, query, body, headers, base }: FaultedRequest): FaultRequest {
  let pairs: FaultRequest['query'] | undefined
  return {
    method: method.toUpperCase(),
    path: readPath(target),
    base,
    get query() {
      return (pairs ??= readable(target, query).map(({ name, operator, value }) => [name + operator, value] as const))
    },
    body,
    headers: lowerCase(headers),
  }
}

function readable(target: string, query: QueryInput | undefined): readonly Pair[] {
  try {
    return readPairs(target, query)
  } catch {
    // The engine answers its errors, if the request gets there.
    return []
  }
}

/**
 * Compiles a match to a function of the request.
 *
 * @param where the function that was called, for errors
 * @param methods methods that requests may have beside the usual ones
 */
export function compileMatch(match: RequestMatch, where: string, methods: readonly string[]): CompiledMatch {
  if (typeof match === 'string') {
    const pattern = readPattern(match, where, methods)
    return {
      label: match,
      meets: ({ method, path, base }) => {
        if (meetsPattern(pattern, method, path)) return true
        const below = base === '' ? undefined : findPathBelow(path, base)
        return below !== undefined && meetsPattern(pattern, method, below)
      },
    }
  }
  if (typeof match !== 'function')
    throw new TypeError(`${where}: the match must be a string like "POST /v1/orders" or a function of the request, got ${typeof match}.`)
  const label = match.name === '' ? String(match).replaceAll(/\s+/g, ' ').slice(0, 80) : match.name
  return {
    label,
    meets: request => {
      const met = match(request)
      if (typeof met === 'object' && met !== null && 'then' in met)
        throw new TypeError(`${where}: the match ${label} must say at once whether a request is meant: it gave a promise.`)
      return Boolean(met)
    },
  }
}
