/** Makes MikroORM's options, for any database, of the options that the application gives. */
import {
  type EntityMetadata,
  type Options,
  type Platform,
  type MikroORM,
  EntitySchema,
  type EntityProperty,
  type NamingStrategy,
} from '@mikro-orm/core'
import { mayGenerateCode } from '../../foundation/base/generated-code.ts'
import { fitFunctions } from './compiled-functions.ts'
import type { Opening } from '../../records/database/world-store.ts'
import { forEngine } from './run-migrations.ts'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { formatInstall } from '../../records/database/install-line.ts'

/** Only MikroORM's asynchronous start looks for entities on the disk. */
export function hasGlobs({ entities }: Pick<Opening, 'entities'>): boolean {
  return entities!.some(entity => typeof entity === 'string')
}

/** @param adapt receives each discovered entity, before its columns are known */
export function optionsForEngine(
  opening: Pick<Opening, 'entities' | 'orm'>,
  adapt?: (meta: EntityMetadata, platform: Platform) => void,
): object {
  const { entities, orm } = opening
  const { discovery } = orm
  const referred = new ReferredColumns(orm.namingStrategy)
  return {
    ...orm,
    compiledFunctions: mayGenerateCode() ? undefined : fitFunctions(orm.compiledFunctions),
    entities,
    // `TsMorphMetadataProvider` would write types to a folder of the application's MikroORM, and needs an asynchronous start.
    metadataCache: { ...orm.metadataCache, enabled: orm.metadataCache?.enabled ?? false },
    extensions: withLazyExtensions(orm.extensions),
    migrations: forEngine(orm.migrations),
    discovery: {
      ...discovery,
      // MikroORM.init would change the application's object.
      skipSyncDiscovery: hasGlobs(opening),
      onMetadata: (meta, platform) => {
        adapt?.(meta, platform)
        referred.add(meta, platform)
        return discovery?.onMetadata?.(meta, platform)
      },
    } satisfies Options['discovery'],
  }
}

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

/**
 * Loads the package of `engine.orm.seeder`, `.migrator` or `.entityGenerator` on first use, not at an asynchronous start. Throws Error in
 * one line for a missing package.
 */
function withLazyExtensions(given: Extensions = []): Extensions {
  const names = new Set(given.map(each => (each as { readonly name?: string }).name))
  const missing = (Object.keys(PACKAGES) as ExtensionName[]).filter(name => !names.has(name))
  return [...given, ...missing.map(name => ({ name, register: (orm: MikroORM) => registerLazily(orm, name) }))] as Extensions
}

function registerLazily(orm: MikroORM, name: ExtensionName): void {
  const { key } = PACKAGES[name]
  orm.config.registerExtension(key, () => {
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

type ReferredProperty = EntityProperty & { referenceColumnName?: string; fieldName?: string }

/**
 * Sets `targetKey` for foreign keys to a unique column (`referencedColumnNames: ['code']`), before columns are known. MikroORM would use
 * the type and value of the primary key.
 */
class ReferredColumns {
  readonly #named: Options['namingStrategy']
  #naming: NamingStrategy | undefined
  readonly #metas: EntityMetadata[] = []
  /** Links to undiscovered entities. */
  #pending: { readonly prop: ReferredProperty; readonly column: string }[] = []

  constructor(named: Options['namingStrategy']) {
    this.#named = named
  }

  add(meta: EntityMetadata, platform: Platform): void {
    const naming = this.#named ?? platform.getNamingStrategy()
    this.#naming ??= typeof naming === 'function' ? new naming() : naming
    this.#metas.push(meta)
    for (const prop of Object.values<ReferredProperty>(meta.properties)) {
      const column = findReferred(prop)
      if (column !== undefined) this.#pending.push({ prop, column })
    }
    this.#pending = this.#pending.filter(({ prop, column }) => {
      const target = this.#findTarget(prop)
      if (target === undefined) return true
      const key = this.#findProperty(target, column)
      if (key !== undefined) prop.targetKey = key
      return false
    })
  }

  #findTarget({ entity, type, target }: ReferredProperty): EntityMetadata | undefined {
    const declared: unknown =
      typeof entity === 'function' && entity.prototype === undefined ? (entity as () => unknown)() : (entity ?? target)
    const named = declared instanceof EntitySchema ? declared.meta.className : typeof declared === 'string' ? declared : type
    return this.#metas.find(meta => meta.class === declared) ?? this.#metas.find(({ className }) => className === named)
  }

  /** Finds a unique plain property, also in superclasses: MikroORM takes no others. */
  #findProperty(target: EntityMetadata, column: string): string | undefined {
    for (let meta: EntityMetadata | undefined = target; meta !== undefined; meta = this.#findParent(meta)) {
      const { properties, uniques } = meta
      const found = Object.values<ReferredProperty>(properties).find(prop => this.#columnOf(prop) === column)
      if (found === undefined) continue
      const isUnique = found.unique !== undefined && found.unique !== false
      const isPlain = found.primary !== true && ((found.kind as string | undefined) ?? 'scalar') === 'scalar'
      return isPlain && (isUnique || uniques.some(({ properties: own }) => String(own) === found.name)) ? found.name : undefined
    }
    return undefined
  }

  #findParent({ class: own, extends: parent }: EntityMetadata): EntityMetadata | undefined {
    const above: unknown = parent instanceof EntitySchema ? parent.meta.class : (parent ?? Object.getPrototypeOf(own))
    return this.#metas.find(meta => meta.class === above)
  }

  #columnOf({ name, fieldName, fieldNames }: ReferredProperty): string {
    return fieldName ?? fieldNames?.[0] ?? this.#naming!.propertyToColumnName(name)
  }
}

function findReferred(prop: ReferredProperty): string | undefined {
  if (prop.targetKey !== undefined || (prop.kind !== 'm:1' && prop.kind !== '1:1')) return undefined
  if (prop.referenceColumnName !== undefined) return prop.referenceColumnName
  const { referencedColumnNames: named } = prop as { referencedColumnNames?: string[] }
  return named?.length === 1 ? named[0] : undefined
}
