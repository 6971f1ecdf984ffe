/** The methods of resources, reading or writing, with or without a body. Custom routes may take others. */
import { restError, type RestError } from '../errors/errors.ts'

/** `hasBody`: the body is read. QUERY is RFC 10008. */
const METHODS = {
  GET: { writes: false, reads: true, hasBody: false },
  HEAD: { writes: false, reads: true, hasBody: false },
  QUERY: { writes: false, reads: true, hasBody: true },
  POST: { writes: true, reads: false, hasBody: true },
  PUT: { writes: true, reads: false, hasBody: true },
  PATCH: { writes: true, reads: false, hasBody: true },
  DELETE: { writes: true, reads: false, hasBody: false },
  OPTIONS: { writes: false, reads: false, hasBody: false },
} as const satisfies Record<string, { readonly writes: boolean; readonly reads: boolean; readonly hasBody: boolean }>

export type HttpMethod = keyof typeof METHODS

export const HTTP_METHODS = Object.keys(METHODS) as readonly HttpMethod[]
export const READ_METHODS: readonly string[] = HTTP_METHODS.filter(method => !METHODS[method].writes)
export const WRITE_METHODS: readonly string[] = HTTP_METHODS.filter(method => METHODS[method].writes)

export const READS: ReadonlySet<string> = new Set(HTTP_METHODS.filter(method => METHODS[method].reads))
export const TAKES_BODY: ReadonlySet<string> = new Set(HTTP_METHODS.filter(method => METHODS[method].hasBody))

/** For the header `Accept-Query` (RFC 10008 section 3). */
export const QUERY_TYPES = 'application/json, application/x-www-form-urlencoded'

/** @param allowed methods of the path, if known */
export function readOnlyError(method: string, allowed: readonly string[] = READ_METHODS): RestError {
  return restError('method_not_allowed', `This server is read-only: ${method} is not allowed.`, {
    headers: { allow: allowed.filter(each => !WRITE_METHODS.includes(each)).join(', ') },
  })
}

export function keepReadingMethods(allow: string): string {
  return allow
    .split(', ')
    .filter(method => !WRITE_METHODS.includes(method))
    .join(', ')
}
