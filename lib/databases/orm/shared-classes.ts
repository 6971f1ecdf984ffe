/**
 * Keeps engine and application apart on shared entity classes. MikroORM writes metadata, platform and functions into prototypes, for the
 * last instance alone. Members of the application stay; entities of the engine get the engine's.
 */
import type { Configuration, EntityMetadata, MetadataStorage, MikroORM } from '@mikro-orm/core'

type Names = Record<PropertyKey, PropertyDescriptor>
/** An engine's members of prototypes. */
type Decoration = ReadonlyMap<object, Names>
type CreateEntity = (this: unknown, data: unknown, meta: EntityMetadata, options: unknown) => object

const engines = new WeakSet<Configuration>()
/** Members of prototypes before an engine's MikroORM was made. */
const before = new WeakMap<MetadataStorage, Map<object, Names>>()
const decorations = new WeakMap<EntityMetadata, Decoration>()
const owners = new WeakMap<object, Decoration>()
/** Getters of `__config` that tell engines apart. */
const telling = new WeakMap<object, unknown>()
let making: Decoration | undefined

function isOfApplication(prototype: object): boolean {
  const { __config: config } = prototype as { readonly __config?: Configuration }
  return config !== undefined && !engines.has(config)
}

function prototypesOf(metadata: MetadataStorage): object[] {
  return [...metadata].flatMap(({ prototype }) => (prototype === undefined ? [] : [prototype as object]))
}

export function rememberPrototypes(metadata: MetadataStorage): void {
  const shared = prototypesOf(metadata).filter(isOfApplication)
  before.set(metadata, new Map(shared.map(prototype => [prototype, Object.getOwnPropertyDescriptors(prototype)])))
}

export function confinePrototypes(orm: MikroORM): void {
  engines.add(orm.config)
  const metadata = orm.getMetadata()
  const decoration: Decoration = new Map(prototypesOf(metadata).map(prototype => [prototype, Object.getOwnPropertyDescriptors(prototype)]))
  for (const meta of metadata) decorations.set(meta, decoration)
  for (const [prototype, theirs] of before.get(metadata) ?? []) keepApart(prototype, decoration.get(prototype)!, theirs)
  before.delete(metadata)
}

function keepApart(prototype: object, members: Names, theirs: Names): void {
  const isTold = telling.get(prototype) === theirs['__config']?.get && theirs['__config']?.get !== undefined
  for (const name of Reflect.ownKeys(members)) {
    const [ours, other] = [members[name]!, theirs[name]]
    if (other !== undefined && isSame(ours, other)) continue
    // The getter serves any number of engines.
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
    const members = entity === prototype ? undefined : ownerOf(entity)?.get(prototype)
    return members === undefined ? theirs : members[name]
  }
  function get(this: object): unknown {
    const found = find(this)
    return found?.get === undefined ? (found?.value as unknown) : (found.get.call(this) as unknown)
  }
  return {
    configurable: true,
    enumerable: theirs?.enumerable ?? false,
    // MikroORM gives attributes only a setter, and would keep a getter, or wrap an unguarded getter.
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
  // MikroORM first asks a new entity for its helper.
  if (owner !== undefined || making === undefined || Object.hasOwn(entity, '__helper')) return owner
  owners.set(entity, making)
  return making
}

/** Lets MikroORM make an entity with the engine's members. */
export function createOwn(create: CreateEntity, factory: unknown, ...[data, meta, options]: Parameters<CreateEntity>): object {
  const prototype = meta.prototype as object
  if (!isOfApplication(prototype)) return create.call(factory, data, meta, options)
  const decoration = decorations.get(meta)
  if (decoration === undefined) return create.call(factory, data, meta, options)
  const theirs = Object.getOwnPropertyDescriptors(prototype)
  // Another MikroORM instance was made after the engine.
  if (telling.get(prototype) !== theirs['__config']!.get || theirs['__config']!.get === undefined)
    keepApart(prototype, decoration.get(prototype)!, theirs)
  const outer = making
  making = decoration
  try {
    const entity = create.call(factory, data, meta, options)
    owners.set(entity, decoration)
    return entity
  } finally {
    making = outer
  }
}
