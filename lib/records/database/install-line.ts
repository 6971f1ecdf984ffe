/** Formats `npm install` for missing packages, with fitting versions of MikroORM, for error messages. */
import { createRequire } from 'node:module'

interface PackageManifest {
  readonly version: string
}

/** Shared by all packages of MikroORM. */
export function installedOrmVersion(): string {
  return (createRequire(import.meta.url)('@mikro-orm/core/package.json') as PackageManifest).version
}

/** Else npm would take the newest MikroORM, and fail with ERESOLVE. */
export function formatInstall(...packages: readonly string[]): string {
  return `npm install ${packages.map(name => (name.startsWith('@mikro-orm/') ? `${name}@${installedOrmVersion()}` : name)).join(' ')}`
}
