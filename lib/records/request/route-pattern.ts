/**
 * Matches requests with patterns such as `POST /v1/orders` and `GET /v1/posts*`: a method (`*` or none for any), and a path, where `*` is
 * any text. Percent-encoding does not count.
 */
import { HTTP_METHODS, READS } from '../../foundation/http/http-methods.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { plainPath } from './address.ts'

const METHODS: readonly string[] = HTTP_METHODS

const MAX_STARS = 20

export interface RequestPattern {
  /** Upper case; `*` for any. */
  readonly method: string
  /** Between stars; one without stars. */
  readonly texts: readonly string[]
}

/**
 * Expects a valid pattern.
 *
 * @param where begins the text of the error
 * @throws TypeError for too many stars
 */
export function compilePattern(text: string, where: string): RequestPattern {
  const space = text.indexOf(' ')
  const path = text.slice(space + 1)
  // A final slash has no meaning.
  const texts = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split(/\*+/).map(plainPath)
  if (texts.length - 1 > MAX_STARS) throw new TypeError(`${where}: "${text}" has more than ${MAX_STARS} stars.`)
  return { method: space < 0 ? '*' : text.slice(0, space), texts }
}

/**
 * @param where begins the error
 * @param further methods of custom routes
 * @throws TypeError for an invalid pattern
 */
export function readPattern(text: string, where: string, further: readonly string[] = []): RequestPattern {
  const match = /^(?:(\S+) )?([*/]\S*)$/.exec(text)
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
  return compilePattern(text, where)
}

function isMethod(text: string, further: readonly string[]): boolean {
  return METHODS.includes(text.toUpperCase()) || further.includes(text.toUpperCase())
}

/** Patterns for GET also match HEAD and QUERY. */
export function meetsMethod({ method: wanted }: RequestPattern, method: string): boolean {
  return wanted === '*' || wanted === method || (wanted === 'GET' && READS.has(method))
}

/**
 * Finds each text once, behind the text before. A regular expression would try all ways to share characters among stars.
 *
 * @param path plain, without query and without one slash at its end
 */
export function meetsPath({ texts }: RequestPattern, path: string): boolean {
  const [first = ''] = texts
  if (texts.length === 1) return path === first
  const last = texts.at(-1)!
  const end = path.length - last.length
  if (end < first.length || !path.startsWith(first) || !path.endsWith(last)) return false
  let at = first.length
  for (const text of texts.slice(1, -1)) {
    const found = path.indexOf(text, at)
    if (found < 0) return false
    at = found + text.length
  }
  return at <= end
}

/** `path` comes from `readPath`. */
export function meetsPattern(pattern: RequestPattern, method: string, path: string): boolean {
  return meetsMethod(pattern, method) && meetsPath(pattern, plainPath(path))
}

/** Stands for any text. */
const HOLE = /(?<=\/)\{[^/]*\}(?=\/|$)/

/** Whether some path of `/v1/users/{id}` matches. */
export function meetsTemplate({ texts }: RequestPattern, template: string): boolean {
  const pieces = template.split(HOLE)
  // Undefined for a hole.
  const wanted = pieces.flatMap((piece, at): (string | undefined)[] => (at === 0 ? [...piece] : [undefined, ...piece]))
  // Reachable places in the template. A hole takes a character or more.
  let places = new Set([0])
  for (const [at, text] of texts.entries()) {
    if (at > 0) {
      const first = Math.min(...places)
      places = new Set(Array.from({ length: wanted.length + 1 - first }, (_, index) => first + index))
    }
    for (const character of text) {
      const next = new Set<number>()
      for (const place of places) {
        if (wanted[place] === character) next.add(place + 1)
        if (place < wanted.length && wanted[place] === undefined && character !== '/') next.add(place).add(place + 1)
      }
      if (next.size === 0) return false
      places = next
    }
  }
  return places.has(wanted.length)
}
