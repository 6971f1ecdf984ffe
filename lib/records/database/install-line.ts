/** Install line: the command that installs packages which are missing, in the versions that go with those that are there. */
import { createRequire } from 'node:module'

interface Manifest {
  readonly version: string
}

/**
 * Returns `npm install ...` for packages. Those of MikroORM need the version of the others: without it npm takes the newest, and ends in ERESOLVE where
 * that is another one.
 */
export function formatInstall(...packages: readonly string[]): string {
  const { version } = createRequire(import.meta.url)('@mikro-orm/core/package.json') as Manifest
  return `npm install ${packages.map(name => (name.startsWith('@mikro-orm/') ? `${name}@${version}` : name)).join(' ')}`
}
