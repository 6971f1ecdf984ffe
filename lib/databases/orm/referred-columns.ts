/**
 * Reads foreign keys to a unique column (`referencedColumnNames: ['code']`) as links by `targetKey`. MikroORM would use the type and value
 * of the primary key.
 */
import { EntitySchema, type EntityMetadata, type EntityProperty, type NamingStrategy, type Options, type Platform } from '@mikro-orm/core'

type ReferredProperty = EntityProperty & { referenceColumnName?: string; fieldName?: string }

/** Completes links between discovered entities, before columns are known. */
export class ReferredColumns {
  readonly #named: Options['namingStrategy']
  #naming: NamingStrategy | undefined
  readonly #metas: EntityMetadata[] = []
  /** Links to undiscovered entities. */
  #pending: { readonly prop: ReferredProperty; readonly column: string }[] = []

  /** @param named the naming strategy in the options */
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

  /** Finds a unique plain property, also in superclasses. MikroORM takes no other. */
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
