/** Finds the entities and properties named in `fill` and `renamed`. Refuses unknown names with the nearest. */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { publicName } from '../../model/metadata/property-type.ts'
import { defaultNames } from '../../model/resource-names.ts'
import type { Evolving } from '../../records/database/evolving.ts'

/** The table's name in a request, with the entity's schema. */
export function keyOfEntity({ schema, tableName }: EntityMetadata): string {
  return schema === undefined || schema === '' ? tableName : `${schema}.${tableName}`
}

export type EntityWithSingular = EntityMetadata & { readonly singular: string }

/** Entities by all names of their resources, classes and tables. */
export function nameEntities(orm: MikroORM, { resources }: Evolving): ReadonlyMap<string, EntityWithSingular> {
  const all = [...orm.getMetadata()].filter(meta => !meta.embeddable && !meta.abstract && meta.pivotTable !== true && !meta.virtual)
  const named = new Map<string, EntityWithSingular>()
  const add = (name: string, meta: EntityMetadata, singular: string): void => {
    if (!named.has(name)) named.set(name, Object.assign(Object.create(meta) as EntityMetadata, { singular }))
  }
  for (const { entity, config } of resources) {
    const meta = entity === undefined || typeof entity === 'string' ? undefined : orm.getMetadata().find(entity)
    if (meta === undefined) continue
    const { name, singular } = config
    for (const each of [name, singular]) if (each !== undefined) add(each, meta, singular ?? defaultNames(meta.className).singular)
  }
  for (const meta of all) {
    const { accepted, singular } = defaultNames(meta.className)
    for (const each of [...accepted, meta.className, meta.tableName]) add(each, meta, singular)
  }
  return named
}

export function findEntity(named: ReadonlyMap<string, EntityWithSingular>, name: string, option: string): EntityWithSingular {
  const meta = named.get(name)
  if (meta !== undefined) return meta
  throw new TypeError(`"${option}" names the resource "${name}", which no entity is called.${formatHint(findNearest(name, named.keys()))}`)
}

export function findProperty(meta: EntityMetadata, name: string, option: string): EntityProperty {
  const prop = meta.props.find(each => each.name === name || publicName(each) === name)
  if (prop !== undefined) return prop
  throw new TypeError(
    `"${option}" names "${name}", which is no property of ${meta.className}.${formatHint(findNearest(name, meta.props.map(publicName)))}`,
  )
}
