/**
 * HTTP methods: those that the paths of resources take, as one table; custom routes may take others. Refuses with method_not_allowed what
 * would write to an engine or a server that is read-only.
 */
import { restError, type RestError } from './errors.ts'

/** Whether a method may change data, whether it reads records, and whether its request has a body that is read. QUERY is RFC 10008's. */
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

/** Those that read records, in upper case. */
export const READS: ReadonlySet<string> = new Set(HTTP_METHODS.filter(method => METHODS[method].reads))
/** Those that may have been sent with a body, in upper case. */
export const TAKES_BODY: ReadonlySet<string> = new Set(HTTP_METHODS.filter(method => METHODS[method].hasBody))

/** The media types that the body of a QUERY may have, as the header `Accept-Query` lists them (RFC 10008 section 3). */
export const QUERY_TYPES = 'application/json, application/x-www-form-urlencoded'

/**
 * Returns the refusal of a method that writes.
 *
 * @param allowed the methods that the path takes, where they are known
 */
export function readOnlyError(method: string, allowed: readonly string[] = READ_METHODS): RestError {
  return restError('method_not_allowed', `This server is read-only: ${method} is not allowed.`, {
    headers: { allow: allowed.filter(each => !WRITE_METHODS.includes(each)).join(', ') },
  })
}

/** Removes the writing methods from an `Allow` header. */
export function keepReadingMethods(allow: string): string {
  return allow
    .split(', ')
    .filter(method => !WRITE_METHODS.includes(method))
    .join(', ')
}
