/**
 * Joins an answer's cookies by `, ` within the engine, as `Headers.get` of fetch, and separates them for servers: HTTP joins no Set-Cookie
 * (RFC 6265bis section 3.2).
 */

/** A comma before a name, not within a date. */
const BETWEEN = /,\s*(?=[^\s=;,]+=)/

export function joinSetCookies(cookies: readonly string[]): string {
  return cookies.join(', ')
}

export function splitSetCookies(header: string): string[] {
  return header.split(BETWEEN)
}

export function separateCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string | string[]>> {
  const { 'set-cookie': cookies } = headers
  if (cookies === undefined) return headers
  const each = splitSetCookies(cookies)
  return each.length === 1 ? headers : { ...headers, 'set-cookie': each }
}
