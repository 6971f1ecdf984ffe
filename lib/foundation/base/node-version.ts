/** Rejects a Node on which database drivers silently end the process. */

/** As `engines` of package.json. */
const LEAST = [22, 17, 0]

/** @throws Error for a version that is too old */
export function requireNode(version: string = process.versions.node): void {
  const parts = version.split('.').map(Number)
  const differing = LEAST.findIndex((least, index) => parts[index] !== least)
  if (differing >= 0 && parts[differing]! < LEAST[differing]!)
    throw new Error(`mikro-rest needs Node ${LEAST.join('.')} or newer, and this is Node ${version}.`)
}
