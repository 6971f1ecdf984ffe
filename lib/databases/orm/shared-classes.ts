/**
 * Shared classes: entities that an application's own MikroORM uses beside the engine. MikroORM writes its metadata, its platform and its
 * functions into the prototypes of the classes, so that the instance made last would decide for both. Here the application's stay where
 * they are, and the entities that the engine makes have the engine's.
 */
import type { Configuration, EntityMetadata, MetadataStorage, MikroORM } from '@mikro-orm/core'

type Names = Record<PropertyKey, PropertyDescriptor>
/** What an engine has written into prototypes. */
type Decoration = ReadonlyMap<object, Names>
type CreateEntity = (this: unknown, data: unknown, meta: EntityMetadata, options: unknown) => object

const engines = new WeakSet<Configuration>()
/** What prototypes bore before an engine's MikroORM was made. */
const before = new WeakMap<MetadataStorage, Map<object, Names>>()
const decorations = new WeakMap<EntityMetadata, Decoration>()
/** The entities of engines whose classes are shared. */
const owners = new WeakMap<object, Decoration>()
/** The getters that tell entities apart, by prototype. */
const telling = new WeakMap<object, unknown>()
/** The engine's that makes an entity just now. */
let making: Decoration | undefined

function isOfApplication(prototype: object): boolean {
  const { __config: config } = prototype as { readonly __config?: Configuration }
  return config !== undefined && !engines.has(config)
}

function prototypesOf(metadata: MetadataStorage): object[] {
  return [...metadata].flatMap(({ prototype }) => (prototype === undefined ? [] : [prototype as object]))
}

/** Remembers what the application's MikroORM has written, before the engine's writes. */
export function rememberPrototypes(metadata: MetadataStorage): void {
  const shared = prototypesOf(metadata).filter(isOfApplication)
  before.set(metadata, new Map(shared.map(prototype => [prototype, Object.getOwnPropertyDescriptors(prototype)])))
}

/** Gives the application back what was its own, once the engine's MikroORM is made. */
export function confinePrototypes(orm: MikroORM): void {
  engines.add(orm.config)
  const metadata = orm.getMetadata()
  const own: Decoration = new Map(prototypesOf(metadata).map(prototype => [prototype, Object.getOwnPropertyDescriptors(prototype)]))
  for (const meta of metadata) decorations.set(meta, own)
  for (const [prototype, theirs] of before.get(metadata) ?? []) keepApart(prototype, own.get(prototype)!, theirs)
  before.delete(metadata)
}

function keepApart(prototype: object, own: Names, theirs: Names): void {
  const isTold = telling.get(prototype) === theirs['__config']?.get && theirs['__config']?.get !== undefined
  for (const name of Reflect.ownKeys(own)) {
    const [ours, other] = [own[name]!, theirs[name]]
    if (other !== undefined && isSame(ours, other)) continue
    // What tells entities apart already does so for any number of engines.
    const tells = isTold && other !== undefined
    Object.defineProperty(prototype, name, tells ? other : tellApart(prototype, name, ours, other))
  }
  telling.set(prototype, Object.getOwnPropertyDescriptor(prototype, '__config')?.get)
}

function isSame(one: PropertyDescriptor, other: PropertyDescriptor): boolean {
  return one.value === other.value && one.get === other.get && one.set === other.set
}

function isSetter({ get, set }: PropertyDescriptor): boolean {
  return get === undefined && set !== undefined
}

function tellApart(prototype: object, name: PropertyKey, ours: PropertyDescriptor, theirs?: PropertyDescriptor): PropertyDescriptor {
  const find = (entity: object): PropertyDescriptor | undefined => {
    const own = entity === prototype ? undefined : ownerOf(entity)?.get(prototype)
    return own === undefined ? theirs : own[name]
  }
  function get(this: object): unknown {
    const found = find(this)
    return found?.get === undefined ? (found?.value as unknown) : (found.get.call(this) as unknown)
  }
  return {
    configurable: true,
    enumerable: theirs?.enumerable ?? false,
    // MikroORM gives attributes a setter alone, and would keep a getter beside it. Any other it would wrap, as it does with those of an
    // application.
    ...(isSetter(ours) && (theirs === undefined || isSetter(theirs)) ? {} : { get: Object.assign(get, { __guarded: true }) }),
    set(this: object, value: unknown) {
      const found = find(this)
      if (found?.set !== undefined) found.set.call(this, value)
      else Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
    },
  }
}

function ownerOf(entity: object): Decoration | undefined {
  const owner = owners.get(entity)
  // The first that MikroORM does with a new entity is to ask for its helper.
  if (owner !== undefined || making === undefined || Object.hasOwn(entity, '__helper')) return owner
  owners.set(entity, making)
  return making
}

/** Makes an entity by MikroORM's own function, which gets what the engine has written into its class. */
export function createOwn(create: CreateEntity, factory: unknown, ...[data, meta, options]: Parameters<CreateEntity>): object {
  const prototype = meta.prototype as object
  if (!isOfApplication(prototype)) return create.call(factory, data, meta, options)
  const own = decorations.get(meta)
  if (own === undefined) return create.call(factory, data, meta, options)
  const theirs = Object.getOwnPropertyDescriptors(prototype)
  // An instance of MikroORM that was made after the engine has written its own.
  if (telling.get(prototype) !== theirs['__config']!.get || theirs['__config']!.get === undefined)
    keepApart(prototype, own.get(prototype)!, theirs)
  const outer = making
  making = own
  try {
    const entity = create.call(factory, data, meta, options)
    owners.set(entity, own)
    return entity
  } finally {
    making = outer
  }
}
