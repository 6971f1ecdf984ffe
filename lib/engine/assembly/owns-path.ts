/** Owns path: tells the engine's paths, for apps that answer other paths. */
import { NO_VERSION } from '../../records/request/address.ts'
import type { Routes } from '../../records/request/custom-routes.ts'
import { readPath } from '../../records/request/parse-request.ts'
import { describeReserved } from '../../records/request/reserved-paths.ts'
import type { StageParts } from '../pipeline/handle.ts'

/**
 * A version and all below; without versions: resources, reserved paths and custom routes. And the index.
 *
 * @param target path below the base; may carry a query
 * @param hasBase whether there is a base: without a base the root is the app's
 */
export function ownsPath(target: string, hasBase: boolean, { options, routes, served, authentication }: StageParts): boolean {
  const path = readPath(target)
  if (!isDecodable(path)) return false
  const { versions } = options
  const segments = path === '/' ? [] : path.slice(1).split('/')
  const [first] = segments
  if (first === undefined) return hasBase || hasRoute([], routes)
  if (versions.length > 0) return versions.includes(first)
  const name = decodeURIComponent(first)
  return (
    describeReserved(name, authentication?.paths) !== undefined ||
    served.get(NO_VERSION)!.lookUp(name, NO_VERSION) !== undefined ||
    hasRoute([NO_VERSION, ...segments], routes)
  )
}

function hasRoute(segments: readonly string[], routes: Routes | undefined): boolean {
  return routes !== undefined && routes.listMethods(segments).length > 0
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
