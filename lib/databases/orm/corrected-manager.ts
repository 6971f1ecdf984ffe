/**
 * Corrected manager: the entity managers of engines, whose factories make entities as the engine needs them, and which tell of the filters
 * that are added to them. MikroORM has no option for a factory. The classes of MikroORM stay as they are: an application may use them in
 * the same process.
 */
import { EntityFactory, type EntityManager, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import type { OrmFilter } from '../../model/added-filters.ts'
import type { OrmBase } from './fork-orm.ts'
import { createOwn } from './shared-classes.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the base of a mixin
type ManagerClass = new (...given: any[]) => EntityManager

/** The member of MikroORM's factory that its types keep private. */
const factory = EntityFactory.prototype as unknown as {
  createEmbeddable: EntityFactory['createEmbeddable']
  createEntity: (data: unknown, meta: EntityMetadata, options: unknown) => object
}

/** What is corrected, for `checkMembers`. */
export const FACTORY = { holder: 'EntityFactory', object: factory, members: ['createEmbeddable', 'createEntity'] }

/** Shared by all factories, since each request has one. */
const CORRECTIONS = {
  createEmbeddable(this: EntityFactory, ...given: Parameters<EntityFactory['createEmbeddable']>): object {
    return createEach(factory.createEmbeddable, this, ...given)
  },
  createEntity(this: EntityFactory, data: unknown, meta: EntityMetadata, options: unknown): object {
    return createOwn(factory.createEntity, this, data, meta, options)
  },
}

const corrected = new WeakMap<ManagerClass, ManagerClass>()

/** Returns the class of entity managers of engines, which extends one of MikroORM's or of the application's. */
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
      // The application may have a request or a transaction of its own open, in whose manager MikroORM would look for the factory.
      const own = this as { getContext?: () => unknown }
      own.getContext = () => this
      Object.assign(this.getEntityFactory(), CORRECTIONS)
      delete own.getContext
    }

    override addFilter(...given: Parameters<EntityManager['addFilter']>): void {
      super.addFilter(...given)
      const [filter] = given as [OrmFilter & { readonly name: string }]
      const { filters } = this.config.get('driverOptions') as OrmBase
      // One of another entity manager is for what that finds, and within a request or a transaction of the application's MikroORM adds it
      // there.
      if (this.global && this.getContext(false) === this) filters?.add(filter.name, filter)
    }
  }
  return Object.defineProperty(extended, 'name', { value: base.name })
}

type CreateEmbeddable = EntityFactory['createEmbeddable']
type Values = Record<string, unknown>

/**
 * Makes the embedded objects that the constructor of an entity takes. MikroORM 7.2 makes one object of a whole list, so that creating the
 * entity fails, and gives an object no more than its own constructor takes.
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
