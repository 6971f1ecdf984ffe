/** Route pattern: a method (`*` or none for any) and a path, where `*` is any text: `POST /v1/orders`, `GET /v1/posts*`. */
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { HTTP_METHODS, READS } from '../../foundation/base/http-methods.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'

/** Custom routes may have further methods. */
const METHODS: readonly string[] = HTTP_METHODS

export interface RequestPattern {
  /** Upper case; `*` for any. */
  readonly method: string
  readonly path: RegExp
}

/** Compiles a valid pattern. */
export function compilePattern(text: string): RequestPattern {
  const space = text.indexOf(' ')
  const path = text.slice(space + 1)
  // As in requests, one slash at the end has no meaning.
  const source = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('*').map(escapeRegExp).join('.*')
  return { method: space < 0 ? '*' : text.slice(0, space), path: new RegExp(`^${source}$`, 's') }
}

/**
 * Compiles a pattern, or refuses it.
 *
 * @param where begins the text of the error
 * @param further methods beside the usual ones
 * @throws TypeError
 */
export function readPattern(text: string, where: string, further: readonly string[] = []): RequestPattern {
  const match = /^(?:(\S+) )?([/*]\S*)$/.exec(text)
  if (match === null) {
    const [, method = '', path = ''] = /^(?:(\S+) )?(\S+)$/.exec(text) ?? []
    const meant = path === '' ? undefined : isMethod(path, further) ? `${path.toUpperCase()} *` : `${method} /${path}`.trimStart()
    throw new TypeError(
      `${where}: "${text}" must be like "POST /v1/orders": a method, one space and a path that begins with "/" or "*".${formatHint(meant)}`,
    )
  }
  const [, method, path = ''] = match
  if (method !== undefined && method !== '*' && !METHODS.includes(method) && !further.includes(method)) {
    const known = findNearest(method, [...METHODS, ...further])
    throw new TypeError(
      `${where}: "${text}": unknown method "${method}".${formatHint(known === undefined ? undefined : `${known} ${path}`)}`,
    )
  }
  if (path.includes('?')) {
    throw new TypeError(
      `${where}: "${text}": a pattern is for the path alone. ` +
        'Match the query with a function: ({ path, query }) => ..., of pairs [name, value].',
    )
  }
  return compilePattern(text)
}

function isMethod(text: string, further: readonly string[]): boolean {
  return METHODS.includes(text.toUpperCase()) || further.includes(text.toUpperCase())
}

/** Patterns for GET also match HEAD and QUERY. `path` comes from `readPath`. */
export function meetsPattern(pattern: RequestPattern, method: string, path: string): boolean {
  const { method: wanted } = pattern
  const isMeant = wanted === '*' || wanted === method || (wanted === 'GET' && READS.has(method))
  return isMeant && pattern.path.test(path)
}
