/** Public requests: which ones need no token, by the option `public`. */
import { compilePattern, meetsPattern } from '../../records/request/route-pattern.ts'
import type { RequestPattern } from '../../records/request/route-pattern.ts'

export class PublicRequests {
  readonly #listed: readonly RequestPattern[]
  readonly #taken: readonly RequestPattern[]

  /** @param patterns of good form; one that begins with `!` takes out again what the others list */
  constructor(patterns: readonly string[]) {
    this.#listed = patterns.filter(pattern => !pattern.startsWith('!')).map(compilePattern)
    this.#taken = patterns.filter(pattern => pattern.startsWith('!')).map(pattern => compilePattern(pattern.slice(1)))
  }

  /** Whether a request needs no token. The path is below the base, without its query. */
  has(method: string, path: string): boolean {
    const meets = (pattern: RequestPattern): boolean => meetsPattern(pattern, method, path)
    return this.#listed.some(meets) && !this.#taken.some(meets)
  }
}
