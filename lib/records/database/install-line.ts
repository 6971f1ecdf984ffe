/** Install line: the command that installs packages which are missing, in the versions that go with those that are there. */
import { createRequire } from 'node:module'

interface PackageManifest {
  readonly version: string
}

/** The version of MikroORM that is installed: each of its packages needs the others in exactly this one. */
export function installedOrmVersion(): string {
  return (createRequire(import.meta.url)('@mikro-orm/core/package.json') as PackageManifest).version
}

/**
 * Returns `npm install ...` for packages. Those of MikroORM need the version of the others: without it npm takes the newest, and ends in
 * ERESOLVE where that is another one.
 */
export function formatInstall(...packages: readonly string[]): string {
  return `npm install ${packages.map(name => (name.startsWith('@mikro-orm/') ? `${name}@${installedOrmVersion()}` : name)).join(' ')}`
}
