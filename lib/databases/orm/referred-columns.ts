/**
 * Reads foreign keys to one column that is not the primary key (`referencedColumnNames: ['code']`) as links by that key (`targetKey`).
 * MikroORM gives such a link the type of the primary key, and writes the primary key into it.
 */
import { EntitySchema, type EntityMetadata, type EntityProperty, type NamingStrategy, type Options, type Platform } from '@mikro-orm/core'

type ReferredProperty = EntityProperty & { referenceColumnName?: string; fieldName?: string }

/** Takes each entity that MikroORM discovers, before its columns are known, and completes the links between those it was given. */
export class ReferredColumns {
  readonly #named: Options['namingStrategy']
  #naming: NamingStrategy | undefined
  readonly #metas: EntityMetadata[] = []
  /** Links whose target has not been discovered yet. */
  #pending: { readonly prop: ReferredProperty; readonly column: string }[] = []

  /** @param named the naming strategy of the options, if they have one */
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

  /** Finds a unique plain property by its column, in an entity or in one that it extends. MikroORM takes no other for such a link. */
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

/** Returns the one column that a foreign key says that it refers to. */
function findReferred(prop: ReferredProperty): string | undefined {
  if (prop.targetKey !== undefined || (prop.kind !== 'm:1' && prop.kind !== '1:1')) return undefined
  if (prop.referenceColumnName !== undefined) return prop.referenceColumnName
  const { referencedColumnNames: named } = prop as { referencedColumnNames?: string[] }
  return named?.length === 1 ? named[0] : undefined
}
