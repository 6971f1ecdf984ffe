/**
 * Reserved paths: what stands beside the resources. Where paths have no version, these names are in the place of resources, and no resource
 * may have one of them.
 */
import { listSessionNames, type SessionPaths } from './session-paths.ts'

/** The last segment of the path of a description. */
export const DESCRIPTION = 'openapi.json'

/** The first segment of the paths of test controls, which have no version. */
export const TEST_CONTROLS = '_test'

/** The first segment of the paths of the workbench, which have no version. */
export const WORKBENCH = '_ui'

/** The first segment of the paths of the docs page, which have no version. A resource or a custom route of that name comes before it. */
export const DOCS = 'docs'

/**
 * Returns what an engine without versions answers under a name that no resource may have; undefined for any other name.
 *
 * @param session where the log-in module answers; undefined: it is off
 */
export function describeReserved(name: string, session: SessionPaths | undefined): string | undefined {
  if (name === TEST_CONTROLS) return 'the test controls of a server'
  if (name === WORKBENCH) return 'the workbench of a server'
  if (name === DESCRIPTION) return 'the OpenAPI document'
  return session !== undefined && listSessionNames(session).includes(name) ? 'the log-in module' : undefined
}
