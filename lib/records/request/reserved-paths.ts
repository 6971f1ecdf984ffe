/** The names of paths beside resources, such as `openapi.json`, and whose they are. Without versions, no resource may have such a name. */
import { listSessionNames, type SessionPaths } from './session-paths.ts'

export const DESCRIPTION = 'openapi.json'

export const TEST_CONTROLS = '_test'

export const WORKBENCH = '_ui'

/** After resources and custom routes. */
export const DOCS = 'docs'

/**
 * Undefined for other names.
 *
 * @param session undefined: the log-in module is off
 */
export function describeReserved(name: string, session: SessionPaths | undefined): string | undefined {
  if (name === TEST_CONTROLS) return 'the test controls of a server'
  if (name === WORKBENCH) return 'the workbench of a server'
  if (name === DESCRIPTION) return 'the OpenAPI document'
  return session !== undefined && listSessionNames(session).includes(name) ? 'the log-in module' : undefined
}
