/**
 * Lazy extensions: loads the package of `engine.orm.seeder`, `.migrator` or `.entityGenerator` on first use. MikroORM would load packages
 * at its asynchronous start. Throws Error in one line for a missing package.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { MikroORM, Options } from '@mikro-orm/core'
import { formatInstall } from '../../records/database/install-line.ts'

type Extensions = NonNullable<Options['extensions']>

interface Factory {
  register(orm: MikroORM): void
}

const PACKAGES = {
  SeedManager: { key: '@mikro-orm/seeder', package: '@mikro-orm/seeder', member: 'seeder' },
  Migrator: { key: '@mikro-orm/migrator', package: '@mikro-orm/migrations', member: 'migrator' },
  EntityGenerator: { key: '@mikro-orm/entity-generator', package: '@mikro-orm/entity-generator', member: 'entityGenerator' },
} as const

type ExtensionName = keyof typeof PACKAGES

/** MikroORM knows extensions by name. */
export function withLazyExtensions(given: Extensions = []): Extensions {
  const names = new Set(given.map(each => (each as { readonly name?: string }).name))
  const missing = (Object.keys(PACKAGES) as ExtensionName[]).filter(name => !names.has(name))
  return [...given, ...missing.map(name => ({ name, register: (orm: MikroORM) => registerLazily(orm, name) }))] as Extensions
}

function registerLazily(orm: MikroORM, name: ExtensionName): void {
  const { key } = PACKAGES[name]
  orm.config.registerExtension(key, () => {
    // Replaces this by the loaded extension.
    load(orm, name).register(orm)
    return orm.config.getExtension(key)!
  })
}

/** Looks beside this package, then, as under npx, in the application's folder. */
function load(orm: MikroORM, name: ExtensionName): Factory {
  const { package: needed, member } = PACKAGES[name]
  let cause: unknown
  for (const base of [import.meta.url, join(orm.config.get('baseDir'), 'package.json')]) {
    try {
      return (createRequire(base)(needed) as Readonly<Record<string, Factory>>)[name]!
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
      cause ??= error
    }
  }
  throw new Error(`engine.orm.${member} needs a package that is not installed: ${formatInstall(needed)}`, { cause })
}
