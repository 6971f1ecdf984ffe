/** Install line: installs missing packages, in fitting versions. */
import { createRequire } from 'node:module'

interface PackageManifest {
  readonly version: string
}

/** All packages of MikroORM must have the same version. */
export function installedOrmVersion(): string {
  return (createRequire(import.meta.url)('@mikro-orm/core/package.json') as PackageManifest).version
}

/** Without a version, npm takes the newest MikroORM package, and fails with ERESOLVE beside an older one. */
export function formatInstall(...packages: readonly string[]): string {
  return `npm install ${packages.map(name => (name.startsWith('@mikro-orm/') ? `${name}@${installedOrmVersion()}` : name)).join(' ')}`
}
