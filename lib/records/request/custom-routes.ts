/** Finds and runs routes of the application, before the engine's routes. Refuses invalid and shadowed routes when the engine is created. */
import type { EntityManager } from '@mikro-orm/core'
import { WRITE_METHODS } from '../../foundation/http/http-methods.ts'
import { commitUnlessRefused } from '../../foundation/http/refused.ts'
import type { HandlerResponse, HookContext } from '../../model/hook-context.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { NO_VERSION, plainPath } from './address.ts'
import { TEST_CONTROLS } from './reserved-paths.ts'
import { checkHeaders } from '../../foundation/base/headers.ts'
import { toJson } from '../../foundation/json/json.ts'
import { RequestContext, type ContextParts } from './request-context.ts'
import { JSON_TYPE, type RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'

/** A route of the application, asked before the routes of the engine: `{ method: 'GET', path: '/{version}/users/me', handler }`. */
export interface Route {
  /** Upper case. */
  readonly method: string
  /** A path below the base: `/{version}/users/me`. A segment `{name}` matches any text. Without versions: any path. */
  readonly path: string
  readonly handler: (ctx: HookContext) => HandlerResponse | Promise<HandlerResponse>
  /**
   * Whether the handler runs in one transaction, undone by an error or an answer of 400 or above. On SQLite other writes wait meanwhile:
   * say `false` for a handler waiting for another service. Default: true for POST, PUT, PATCH and DELETE, else false.
   */
  readonly transaction?: boolean
  /**
   * Whether handler and transaction run again after a conflict with another write, several times if need be. For handlers without effects
   * outside of the database, on PostgreSQL, where writes run concurrently; otherwise such a request is 503 `database_busy`. Default:
   * `false`.
   */
  readonly repeatable?: boolean
}

/** `params`: decoded `{name}` parts. */
export interface RouteMatch {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

const NO_ROUTES: readonly object[] = Object.freeze([])

interface CheckedRoute {
  readonly route: Route
  /** The version comes first. */
  readonly segments: readonly { readonly name: string | undefined; readonly text: string }[]
}

export class Routes {
  readonly #routes: readonly CheckedRoute[]

  /** @throws TypeError */
  constructor(routes: readonly Route[], versions: readonly string[]) {
    const hasVersions = versions.length > 0
    this.#routes = routes.map(route => checked(route, hasVersions))
    for (const [index, route] of this.#routes.entries()) {
      const shadow = this.#routes.slice(0, index).find(earlier => shadows(earlier, route))
      if (shadow !== undefined) {
        throw new TypeError(`routes: ${formatRoute(route.route)} can never be reached, since ${formatRoute(shadow.route)} comes before it.`)
      }
      const [first] = route.segments
      if (hasVersions && first !== undefined && first.name !== 'version' && !versions.includes(first.text)) {
        throw new TypeError(
          `routes: ${formatRoute(route.route)} must begin with "/{version}" or one of the versions ${versions.join(', ')}.`,
        )
      }
    }
  }

  /** @param passed routes that sent the request by `ctx.ask`, and do not get the request again */
  match(method: string, segments: readonly string[], passed: readonly object[] = NO_ROUTES): RouteMatch | undefined {
    return this.#find(method, segments, passed) ?? (method === 'HEAD' ? this.#find('GET', segments, passed) : undefined)
  }

  #find(method: string, segments: readonly string[], passed: readonly object[] = NO_ROUTES): RouteMatch | undefined {
    for (const { route, segments: pattern } of this.#routes) {
      if (
        route.method === method &&
        !passed.includes(route) &&
        pattern.length === segments.length &&
        pattern.every(({ name, text }, index) => name !== undefined || isSameText(text, segments[index]!, index))
      ) {
        const params: Record<string, string> = {}
        for (const [index, { name }] of pattern.entries()) if (name !== undefined) params[name] = decodeURIComponent(segments[index]!)
        return { route, params }
      }
    }
    return undefined
  }

  listMethods(segments: readonly string[], passed: readonly object[] = NO_ROUTES): readonly string[] {
    const methods = this.#routes
      .filter(({ route }) => this.#find(route.method, segments, passed)?.route === route)
      .map(({ route }) => route.method)
    return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods
  }
}

/** Decoded. The version has a single spelling. */
function isSameText(text: string, segment: string, at: number): boolean {
  return text === segment || (at > 0 && segment.includes('%') && text === plainPath(segment))
}

function formatRoute({ method, path }: Route): string {
  return `${method} ${path}`
}

function checked(route: Route, hasVersions: boolean): CheckedRoute {
  if (typeof route !== 'object' || route === null) throw new TypeError('routes: each must be { method, path, handler }.')
  checkNames(route, ['method', 'path', 'handler', 'transaction', 'repeatable'], 'routes')
  if (typeof route.method !== 'string' || !/^[A-Z]+$/.test(route.method))
    throw new TypeError('routes: "method" must be an upper-case method name.')
  for (const name of ['transaction', 'repeatable'] as const)
    if (route[name] !== undefined && typeof route[name] !== 'boolean')
      throw new TypeError(`routes: "${name}" of ${formatRoute(route)} must be true or false.`)
  const isRoot = route.path === '/' && !hasVersions
  if (typeof route.path !== 'string' || (!isRoot && (!/^\/[^/]/.test(route.path) || /\/$|\/\/|\?/.test(route.path)))) {
    throw new TypeError(`routes: the path "${route.path}" must begin with "/", and have no empty segment and no query.`)
  }
  if (typeof route.handler !== 'function') throw new TypeError(`routes: ${formatRoute(route)} has no handler function.`)
  const segments = isRoot
    ? []
    : (hasVersions ? route.path.slice(1) : NO_VERSION + route.path)
        .split('/')
        .map(text => ({ name: /^\{(\w+)\}$/.exec(text)?.[1], text: plainPath(text) }))
  if (!hasVersions) checkUnversioned(route, segments)
  const names = segments.flatMap(({ name, text }) => {
    if (name === undefined && /[{}]/.test(text))
      throw new TypeError(`routes: in ${formatRoute(route)}, "${text}" must be a whole segment "{name}".`)
    return name ?? []
  })
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`routes: ${formatRoute(route)} has two parts "{${twice}}".`)
  return { route, segments }
}

/** Without versions, refuses `{version}` and the path of test controls. */
function checkUnversioned(route: Route, segments: CheckedRoute['segments']): void {
  if (segments.some(({ name }) => name === 'version')) {
    const meant = route.path.replace(/\/\{version\}(?=\/|$)/, '') || '/'
    throw new TypeError(`routes: ${formatRoute(route)}: paths have no version here ("versions" is empty): write "${meant}".`)
  }
  if (segments[1]?.text === TEST_CONTROLS)
    throw new TypeError(`routes: ${formatRoute(route)}: the paths below "/${TEST_CONTROLS}" are those of test controls.`)
}

function shadows(earlier: CheckedRoute, later: CheckedRoute): boolean {
  return (
    earlier.route.method === later.route.method &&
    earlier.segments.length === later.segments.length &&
    earlier.segments.every(
      ({ name, text }, index) => name !== undefined || (later.segments[index]!.name === undefined && later.segments[index]!.text === text),
    )
  )
}

/**
 * Default: status 200, JSON.
 *
 * @throws TypeError for an invalid answer; names the place
 */
export function buildResponse(answer: HandlerResponse | undefined, place: string): RestResponse {
  if (typeof answer !== 'object' || answer === null)
    throw new TypeError(
      `${place} must give { status, headers, body }, ` +
        `gave ${answer === null ? 'null' : typeof answer}.${answer === undefined ? ' Is its "return" missing?' : ''}`,
    )
  checkNames(answer, ['status', 'headers', 'body'], place)
  const { status = 200, headers = {}, body } = answer
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new TypeError(`${place} gave the status ${String(status)}.`)
  const plain = checkHeaders(headers, place)
  if (body === undefined) return { status, headers: plain, body: undefined }
  return { status, headers: { 'content-type': JSON_TYPE, ...plain }, body: toJson(body, place) }
}

/** After a conflict, repeatable work of one place takes turns. */
interface RoutePlace {
  readonly resource: string
  readonly id: string
}

interface RouteServices {
  readonly versions: readonly string[]
  /** Repeats the work after a conflict, if `repeatable`. */
  readonly transaction: <T>(work: (em: EntityManager) => Promise<T>, repeatable: RoutePlace | undefined) => Promise<T>
}

export async function runRoute(
  { route, params }: RouteMatch,
  parts: Omit<ContextParts, 'params'>,
  { versions, transaction }: RouteServices,
): Promise<RestResponse> {
  const version = params['version'] ?? parts.version
  if ('version' in params && !versions.includes(version)) {
    throw restError('version_unknown', `The path must begin with a version (${versions.join(', ')}), not "${version.slice(0, 100)}".`)
  }
  const ctx = new RequestContext({ ...parts, version, params, passed: [...(parts.passed ?? NO_ROUTES), route] })
  const answer = async (): Promise<RestResponse> => buildResponse(await route.handler(ctx), `the handler of ${formatRoute(route)}`)
  const begin = ctx.startAgain()
  const isWhole = route.transaction ?? WRITE_METHODS.includes(route.method)
  return isWhole
    ? await commitUnlessRefused<EntityManager>(
        work => transaction(work, route.repeatable === true ? { resource: formatRoute(route), id: parts.request.path } : undefined),
        async em => {
          begin()
          ctx.enter(em)
          return answer()
        },
      )
    : await answer()
}
