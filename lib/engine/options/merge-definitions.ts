/** Adds names of resources from the database to the application's definitions of resources. A definition may name a table as a text. */
import type { EntityMetadata, EntityName, MikroORM } from '@mikro-orm/core'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import { defaultNames } from '../../model/resource-names.ts'

export function mergeDefinitions(
  found: readonly ResourceDefinition[],
  given: readonly ResourceDefinition[],
  orm: MikroORM,
): readonly ResourceDefinition[] {
  if (found.length === 0 && !given.some(isNamed)) return given
  const byClass = new Map(found.map(definition => [classOf(definition, orm), definition]))
  const replaced = new Set<object>()
  const merged = given.map(definition => {
    const entity = isNamed(definition) ? findNamed(definition.entity as string, found, orm) : definition?.entity
    const ofDatabase = byClass.get(classOf({ ...definition, entity }, orm))
    if (ofDatabase === undefined) return { ...definition, entity }
    replaced.add(ofDatabase)
    const { name, singular } = ofDatabase.config
    const isRenamed = definition.config.name !== undefined || definition.config.singular !== undefined
    return { entity, config: isRenamed ? definition.config : { name: name!, singular: singular!, ...definition.config } }
  })
  return [...found.filter(definition => !replaced.has(definition)), ...merged]
}

function isNamed(definition: ResourceDefinition): boolean {
  return typeof definition?.entity === 'string'
}

function classOf({ entity }: Pick<ResourceDefinition, 'entity'>, orm: MikroORM): object | undefined {
  return entity === undefined ? undefined : orm.getMetadata().find(entity as EntityName)?.class
}

function findNamed(name: string, found: readonly ResourceDefinition[], orm: MikroORM): EntityName {
  const metas = [...orm.getMetadata()].filter(meta => !meta.embeddable && meta.pivotTable !== true)
  const named = new Map<string, EntityMetadata>()
  // A table's own name counts before a resource's.
  for (const names of [namesOfTable, (meta: EntityMetadata) => namesOfResource(meta, found, orm)])
    for (const meta of metas) for (const each of names(meta)) if (!named.has(each)) named.set(each, meta)
  const meta = named.get(name)
  if (meta === undefined)
    throw new TypeError(`resource(${JSON.stringify(name)}): there is no table of this name.${formatHint(findNearest(name, named.keys()))}`)
  return meta.class
}

function namesOfTable({ className, tableName, schema }: EntityMetadata): string[] {
  return [className, tableName, ...(schema === undefined ? [] : [`${schema}.${tableName}`])]
}

function namesOfResource(meta: EntityMetadata, found: readonly ResourceDefinition[], orm: MikroORM): readonly string[] {
  const own = found.find(definition => classOf(definition, orm) === meta.class)?.config
  return own === undefined ? defaultNames(meta.className).accepted : [own.name!, own.singular!]
}
