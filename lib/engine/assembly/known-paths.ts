/** Known paths: tells the log-in module the engine's paths, by which the module decides what is public. */
import { findPathMeaning, meaningOfText, renameInPattern, type PathMeaning } from '../../records/access/path-meaning.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { readPath } from '../../records/request/parse-request.ts'
import type { KnownPaths } from '../auth/public-requests.ts'
import { checkPublicPath } from './check-pattern-path.ts'
import type { StageParts } from '../pipeline/handle.ts'

/** @param all the routes, those of the log-in included */
export function findKnownPaths(
  all: readonly Route[],
  { routes, options, served, authentication }: Pick<StageParts, 'routes' | 'options' | 'served' | 'authentication'>,
): KnownPaths {
  const hasVersions = options.versions.length > 0
  const isRoute = (method: string, segments: readonly string[]): boolean => routes?.match(method, segments) !== undefined
  const meaning = (method: string, segments: readonly string[]): PathMeaning | undefined => {
    const [version = NO_VERSION] = segments
    const services = served.get(version)
    if (services === undefined || isRoute(method, segments)) return meaningOfText(segments)
    try {
      return findPathMeaning(method, segments, { version, lookUp: services.lookUp })
    } catch {
      // The application's look-up would fail again.
      return undefined
    }
  }
  const rename = (path: string): string[] => {
    const [, first = ''] = path.split('/')
    const versions = hasVersions && !first.includes('*') ? [first] : [...served.keys()]
    return versions.flatMap(version => {
      const services = served.get(version)
      return (services && renameInPattern(path, { version, lookUp: services.lookUp })) ?? []
    })
  }
  const templates = all.map(({ path }) => path)
  return {
    routes: all.flatMap(({ method, path }) => {
      const paths = path.startsWith('/{version}/') ? options.versions.map(version => path.replace('{version}', version)) : [path]
      return paths.map(each => ({ method, path: each }))
    }),
    isRoute,
    meaning,
    rename,
    split: path => {
      const segments = readPath(path) === '/' ? [] : readPath(path).slice(1).split('/')
      return hasVersions || segments.length === 0 ? segments : [NO_VERSION, ...segments]
    },
    check: (pattern, where) => checkPublicPath(pattern, where, { options, served, authentication, templates }),
  }
}
