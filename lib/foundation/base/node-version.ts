/** Refuses an old Node, where database drivers silently end the process. */
import { hasBuiltins } from './builtins.ts'

/** As `engines` in package.json says. */
const LEAST = [22, 17, 0]

/** @throws Error for an older version. A page has no Node. */
export function requireNode(version = hasBuiltins ? process.versions.node : undefined): void {
  if (version === undefined) return
  const parts = version.split('.').map(Number)
  const differing = LEAST.findIndex((least, index) => parts[index] !== least)
  if (differing >= 0 && parts[differing]! < LEAST[differing]!)
    throw new Error(`mikro-rest needs Node ${LEAST.join('.')} or newer, and this is Node ${version}.`)
}
