/**
 * Set-Cookie: the one header that cannot be a list (RFC 6265bis section 3.2). An answer of the engine has one text for each header, in
 * which several cookies are joined by `, `, as `Headers.get` of fetch has them; transports send each by itself.
 */

/** What stands between two cookies, and not in a date: a comma before the name of another one. */
const BETWEEN = /,\s*(?=[^\s=;,]+=)/

export function joinSetCookies(cookies: readonly string[]): string {
  return cookies.join(', ')
}

export function splitSetCookies(header: string): string[] {
  return header.split(BETWEEN)
}

/** Returns headers as lists, each cookie by itself, where there are several; else as they are. */
export function separateCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string | string[]>> {
  const { 'set-cookie': cookies } = headers
  if (cookies === undefined) return headers
  const each = splitSetCookies(cookies)
  return each.length === 1 ? headers : { ...headers, 'set-cookie': each }
}
