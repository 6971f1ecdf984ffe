/**
 * Finds requests without need of a token, by the option `public`. A path's meaning counts, not the text: `/v1/users` covers `/v1/user` and
 * `/v1/%75sers`. In doubt, a token is needed.
 */
import { READS } from '../../foundation/http/http-methods.ts'
import { idFromText } from '../../model/key.ts'
import type { PathMeaning, RelatedRequest } from '../../records/access/path-meaning.ts'
import type { KnownPaths } from './authentication.ts'
import { foldText } from './fold-text.ts'
import { compilePattern, meetsMethod, meetsPath, meetsTemplate, type RequestPattern } from '../../records/request/route-pattern.ts'

interface PublicPattern extends RequestPattern {
  readonly segments: readonly string[] | undefined
  readonly isOfRoutes: boolean
  /** `/v1/user*` as `/v1/users*`, the name in links. */
  readonly renamed: readonly RequestPattern[]
  readonly folded: readonly RequestPattern[]
}

export class PublicRequests {
  readonly #paths: KnownPaths
  readonly #listed: readonly PublicPattern[]
  readonly #excluded: readonly PublicPattern[]

  /**
   * @param patterns well-formed
   * @throws TypeError for a pattern no request can meet
   */
  constructor(patterns: readonly string[], paths: KnownPaths) {
    this.#paths = paths
    const compile = (pattern: string): PublicPattern => {
      const where = 'auth: public'
      const text = pattern.replace(/^!/, '')
      const compiled = compilePattern(text, where)
      paths.check(text, where)
      const space = text.indexOf(' ')
      const path = text.slice(space + 1)
      const renamed =
        compiled.texts.length > 1 ? paths.rename(path).map(each => compilePattern(text.slice(0, space + 1) + each, where)) : []
      return {
        ...compiled,
        segments: compiled.texts.length > 1 ? undefined : paths.split(path),
        isOfRoutes: paths.routes.some(route => isForMethod(compiled, route.method) && meetsTemplate(compiled, route.path)),
        renamed,
        folded: [compiled, ...renamed].map(each => ({ ...each, texts: each.texts.map(foldText) })),
      }
    }
    this.#listed = patterns.filter(pattern => !pattern.startsWith('!')).map(compile)
    this.#excluded = patterns.filter(pattern => pattern.startsWith('!')).map(compile)
  }

  has(method: string, segments: readonly string[]): boolean {
    if (this.#listed.length === 0) return false
    const meaning = this.#paths.meaning(method, segments)
    if (meaning === undefined) return false
    const isRoute = this.#paths.isRoute(method, segments)
    // A route at `GET /v1/users` answers neither `GET /v1/user` nor `QUERY /v1/users`.
    if (!isRoute && [segments, ...meaning.segments].some(each => this.#hasRoute(method, each))) return false
    return (
      this.#listed.some(each => this.#lists(each, method, meaning, isRoute)) &&
      !this.#excluded.some(each => this.#excludes(each, method, meaning))
    )
  }

  hasPath(method: string, path: string): boolean {
    return this.has(method, this.#paths.split(path))
  }

  #hasRoute(method: string, segments: readonly string[]): boolean {
    const { isRoute } = this.#paths
    return isRoute(method, segments) || (READS.has(method) && isRoute('GET', segments))
  }

  #lists(pattern: PublicPattern, method: string, { linked, others }: PathMeaning, isRoute: boolean): boolean {
    if (!meetsMethod(pattern, method)) return false
    if (linked.some(path => meetsPath(pattern, path))) return true
    // A pattern for a route at `/user` does not open the users.
    if (isRoute || pattern.isOfRoutes) return false
    if (pattern.segments === undefined)
      return others.some(path => meetsPath(pattern, path)) || pattern.renamed.some(each => linked.some(path => meetsPath(each, path)))
    return this.#paths.meaning(method, pattern.segments)?.linked.some(path => linked.includes(path)) === true
  }

  #excludes(pattern: PublicPattern, method: string, { linked, others, related }: PathMeaning): boolean {
    if (meetsMethod(pattern, method)) {
      const { segments, folded } = pattern
      if ([...linked, ...others].some(path => folded.some(each => meetsPath(each, foldText(path))))) return true
      const patternMeaning = segments && this.#paths.meaning(method, segments)
      if (patternMeaning?.linked.some(path => linked.some(other => foldText(other) === foldText(path))) === true) return true
    }
    return related.some(each => meetsMethod(pattern, each.method) && this.#leadsTo(pattern, each))
  }

  /** Whether `/v1/posts/1/author` may be `/v1/users/1` of a pattern. */
  #leadsTo({ segments, isOfRoutes, folded }: PublicPattern, { resource, templates, method }: RelatedRequest): boolean {
    if (segments === undefined) return templates.some(template => folded.some(each => meetsTemplate(each, foldText(template))))
    const isOfRecord = !isOfRoutes && segments.length === 3 && idFromText(segments[2]!, resource, true) !== undefined
    const patternPaths = (this.#paths.meaning(method, segments)?.linked ?? []).map(foldText)
    return templates
      .map(foldText)
      .some(template =>
        patternPaths.some(
          path =>
            path === template || (isOfRecord && template.endsWith(ANY_RECORD) && path.startsWith(template.slice(0, -ANY_RECORD.length))),
        ),
      )
  }
}

const ANY_RECORD = '{id}'

function isForMethod({ method }: RequestPattern, other: string): boolean {
  return method === '*' || method === other
}
