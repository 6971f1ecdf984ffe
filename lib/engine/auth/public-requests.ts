/**
 * Public requests: which requests need no token, by the option `public`. What a path means decides, not its text: a pattern that names
 * `/v1/users` is for `/v1/user` and `/v1/%75sers`, too. Where that is in doubt a request needs a token.
 */
import { READS } from '../../foundation/base/http-methods.ts'
import { idFromText } from '../../model/key.ts'
import type { PathMeaning, RelatedRequest } from '../../records/access/path-meaning.ts'
import { foldText } from './fold-text.ts'
import { compilePattern, meetsMethod, meetsPath, meetsTemplate, type RequestPattern } from '../../records/request/route-pattern.ts'

/** What is known of the paths of an engine. */
export interface KnownPaths {
  /** The methods and paths of custom routes and of the log-in, as templates. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  /** Returns the path of a pattern with the names in it that links have. */
  readonly rename: (path: string) => readonly string[]
  /** Returns the segments of a path below the base, the version first. */
  readonly split: (path: string) => readonly string[]
  /** Whether a path is that of a custom route or of the log-in. */
  readonly isRoute: (method: string, segments: readonly string[]) => boolean
  /** What a path means; undefined where the application's look-up fails. */
  readonly meaning: (method: string, segments: readonly string[]) => PathMeaning | undefined
  /** Throws a TypeError for a pattern that no request can meet. */
  readonly check: (pattern: string, where: string) => void
}

interface PublicPattern extends RequestPattern {
  /** The segments of a path without a star, which are read as those of a request are. */
  readonly segments: readonly string[] | undefined
  /** Whether custom routes may be meant. */
  readonly isOfRoutes: boolean
  /** The patterns that name the same resource as links do. */
  readonly renamed: readonly RequestPattern[]
  /** All of these, for folded paths. */
  readonly folded: readonly RequestPattern[]
}

export class PublicRequests {
  readonly #paths: KnownPaths
  readonly #listed: readonly PublicPattern[]
  readonly #taken: readonly PublicPattern[]

  /**
   * @param patterns of good form; one that begins with `!` takes out again what the others list
   * @throws TypeError for one that no request can meet
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
    this.#taken = patterns.filter(pattern => pattern.startsWith('!')).map(compile)
  }

  /**
   * Whether a request needs no token.
   *
   * @param segments those of its path below the base, the version first
   */
  has(method: string, segments: readonly string[]): boolean {
    if (this.#listed.length === 0) return false
    const meaning = this.#paths.meaning(method, segments)
    if (meaning === undefined) return false
    const isRoute = this.#paths.isRoute(method, segments)
    // `GET /v1/user` is not what the route at `/v1/users` answers, nor is `QUERY /v1/users`.
    if (!isRoute && [segments, ...meaning.segments].some(each => this.#hasRoute(method, each))) return false
    return (
      this.#listed.some(each => this.#lists(each, method, meaning, isRoute)) &&
      !this.#taken.some(each => this.#takes(each, method, meaning))
    )
  }

  /** As `has`, for a path of the OpenAPI document. */
  hasPath(method: string, path: string): boolean {
    return this.has(method, this.#paths.split(path))
  }

  /** Whether a custom route answers the requests of a path that are like this one. */
  #hasRoute(method: string, segments: readonly string[]): boolean {
    const { isRoute } = this.#paths
    return isRoute(method, segments) || (READS.has(method) && isRoute('GET', segments))
  }

  #lists(pattern: PublicPattern, method: string, { linked, others }: PathMeaning, isRoute: boolean): boolean {
    if (!meetsMethod(pattern, method)) return false
    if (linked.some(path => meetsPath(pattern, path))) return true
    // A pattern of a route at `/user` does not open the users.
    if (isRoute || pattern.isOfRoutes) return false
    if (pattern.segments === undefined)
      return others.some(path => meetsPath(pattern, path)) || pattern.renamed.some(each => linked.some(path => meetsPath(each, path)))
    return this.#paths.meaning(method, pattern.segments)?.linked.some(path => linked.includes(path)) === true
  }

  #takes(pattern: PublicPattern, method: string, { linked, others, related }: PathMeaning): boolean {
    if (meetsMethod(pattern, method)) {
      const { segments, folded } = pattern
      if ([...linked, ...others].some(path => folded.some(each => meetsPath(each, foldText(path))))) return true
      const own = segments && this.#paths.meaning(method, segments)
      if (own?.linked.some(path => linked.some(other => foldText(other) === foldText(path))) === true) return true
    }
    return related.some(each => meetsMethod(pattern, each.method) && this.#leadsTo(pattern, each))
  }

  /** Whether a relation may lead to what a pattern takes out. */
  #leadsTo({ segments, isOfRoutes, folded }: PublicPattern, { resource, templates, method }: RelatedRequest): boolean {
    if (segments === undefined) return templates.some(template => folded.some(each => meetsTemplate(each, foldText(template))))
    // A pattern of one record may be for the one that the relation leads to.
    const isOfRecord = !isOfRoutes && segments.length === 3 && idFromText(segments[2]!, resource, true) !== undefined
    const own = (this.#paths.meaning(method, segments)?.linked ?? []).map(foldText)
    return templates
      .map(foldText)
      .some(template =>
        own.some(path => path === template || (isOfRecord && template.endsWith(ANY) && path.startsWith(template.slice(0, -ANY.length)))),
      )
  }
}

/** How templates end that are for any record. */
const ANY = '{id}'

function isForMethod({ method }: RequestPattern, other: string): boolean {
  return method === '*' || method === other
}
