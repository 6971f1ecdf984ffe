/** The request that a fault meets, and the patterns that select requests. */
import { findPathBelow } from '../../records/request/address.ts'
import { lowerCase, readPath } from '../../records/request/parse-request.ts'
import { readPairs } from '../../records/request/parsed-query.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { Pair } from '../../records/request/raw-filter.ts'
import { meetsPattern, readPattern } from '../../records/request/route-pattern.ts'

/** For match functions. */
export interface FaultRequest {
  /** Upper case. */
  readonly method: string
  /** Without query and final slash; percent-encoded as sent. */
  readonly path: string
  /** The path before the version; may be empty. */
  readonly base: string
  /** Decoded names with operator, and values: `['age>=', '18']`. Empty for an unreadable query. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body: unknown
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Selects requests: `'POST /v1/orders'`. `*` stands for any characters; method (`'/v1/*'`, `'*'`) and base may be left out, and GET
 * includes HEAD. Or a function of the request.
 */
export type RequestMatch = string | ((request: FaultRequest) => unknown)

export interface CompiledMatch {
  readonly label: string
  readonly meets: (request: FaultRequest) => boolean
}

interface FaultedRequest {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly base: string
}

export function faultRequest({ method, path: target, query, body, headers, base }: FaultedRequest): FaultRequest {
  let pairs: FaultRequest['query'] | undefined
  return {
    method: method.toUpperCase(),
    path: readPath(target),
    base,
    get query() {
      return (pairs ??= readablePairs(target, query).map(({ name, operator, value }) => [name + operator, value] as const))
    },
    body,
    headers: lowerCase(headers),
  }
}

function readablePairs(target: string, query: QueryInput | undefined): readonly Pair[] {
  try {
    return readPairs(target, query)
  } catch {
    // A stage refuses the query, if no fault comes first.
    return []
  }
}

/**
 * @param where the called function, for errors
 * @param methods further methods, of the application
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
