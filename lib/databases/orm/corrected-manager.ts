/**
 * Entity managers with corrected factories. MikroORM has no option for a factory, and applications in the same process need the classes
 * unchanged.
 */
import { EntityFactory, type EntityManager, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import type { OrmFilter } from '../../model/added-filters.ts'
import type { OrmBase } from './fork-orm.ts'
import { createOwn } from './shared-classes.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the base of a mixin
type ManagerClass = new (...given: any[]) => EntityManager

const factory = EntityFactory.prototype as unknown as {
  createEmbeddable: EntityFactory['createEmbeddable']
  createEntity: (data: unknown, meta: EntityMetadata, options: unknown) => object
}

/** Checked by `checkMembers`. */
export const FACTORY = { holder: 'EntityFactory', object: factory, members: ['createEmbeddable', 'createEntity'] }

/** Shared: each request has a factory. */
const CORRECTIONS = {
  createEmbeddable(this: EntityFactory, ...given: Parameters<EntityFactory['createEmbeddable']>): object {
    return createEach(factory.createEmbeddable, this, ...given)
  },
  createEntity(this: EntityFactory, data: unknown, meta: EntityMetadata, options: unknown): object {
    return createOwn(factory.createEntity, this, data, meta, options)
  },
}

const corrected = new WeakMap<ManagerClass, ManagerClass>()

export function correctedManager<C extends ManagerClass>(base: C): C {
  let found = corrected.get(base)
  if (found === undefined) corrected.set(base, (found = extend(base)))
  return found as C
}

function extend(base: ManagerClass): ManagerClass {
  const extended = class extends base {
    // oxlint-disable-next-line typescript/no-explicit-any -- the constructor of a mixin
    constructor(...given: any[]) {
      super(...given)
      // In a request or transaction of the application, MikroORM would give another factory.
      const own = this as { getContext?: () => unknown }
      own.getContext = () => this
      Object.assign(this.getEntityFactory(), CORRECTIONS)
      delete own.getContext
    }

    override addFilter(...given: Parameters<EntityManager['addFilter']>): void {
      super.addFilter(...given)
      const [filter] = given as [OrmFilter & { readonly name: string }]
      const { filters } = this.config.get('driverOptions') as OrmBase
      // Filters of other managers, as in the application's request, do not hold here.
      if (this.global && this.getContext(false) === this) filters?.add(filter.name, filter)
    }
  }
  return Object.defineProperty(extended, 'name', { value: base.name })
}

type CreateEmbeddable = EntityFactory['createEmbeddable']
type Values = Record<string, unknown>

/**
 * Makes embedded objects for an entity's constructor. MikroORM 7.2 fails at a list, and sets only properties that the constructor of the
 * object takes.
 */
function createEach(create: CreateEmbeddable, factory: EntityFactory, ...[name, data, options]: Parameters<CreateEmbeddable>): object {
  if (Array.isArray(data)) return data.map(item => createEach(create, factory, name, item, options))
  const object = create.call(factory, name, data, options) as Values & { readonly __meta?: EntityMetadata }
  const { __meta: meta } = object
  const { properties, constructorParams = [] } = meta ?? {}
  if (options?.newEntity !== true || properties === undefined) return object
  for (const [key, value] of Object.entries(data)) {
    const prop = properties[key] as EntityProperty | undefined
    if (prop === undefined || constructorParams.includes(key) || object[key] === value) continue
    const isObject = prop.kind === 'embedded' && typeof value === 'object' && value !== null
    object[key] = isObject ? createEach(create, factory, prop.targetMeta!.class, value, options) : value
  }
  return object
}
