/**
 * Hides the attributes of `--hide` (`password`, `user.password`), as `hidden: true` of an entity does. Refuses an unknown name before
 * anything is written.
 */
import type { EntityMetadata } from '@mikro-orm/core'
import type { EngineOptions } from '../../engine/options/options.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { camelCase, camelPlural } from '../../model/resource-names.ts'
import { CommandError } from './command-error.ts'

type HiddenProperty = EntityMetadata['props'][number]

export function hideAttributes(options: EngineOptions, names: readonly string[]): EngineOptions {
  if (names.length === 0) return options
  const { discovery } = options.orm ?? {}
  return {
    ...options,
    orm: {
      ...options.orm,
      discovery: {
        ...discovery,
        afterDiscovered: (storage, platform) => {
          const metas = [...storage.getAll().values()].filter(meta => meta.pivotTable !== true)
          for (const name of names) hide(name, metas)
          return discovery?.afterDiscovered?.(storage, platform)
        },
      },
    },
  }
}

function hide(name: string, metas: readonly EntityMetadata[]): void {
  // A dot may be part of either name.
  const dots = [...name.matchAll(/\./g)].map(({ index }) => [name.slice(0, index), name.slice(index + 1)] as const)
  const found = [
    ...metas.flatMap(meta => findProperties(meta, name)),
    ...dots.flatMap(([table, attribute]) => metas.filter(meta => isNamed(meta, table)).flatMap(meta => findProperties(meta, attribute))),
  ]
  if (found.length === 0) throw new CommandError(`--hide: ${explainUnknown(name, dots, metas)}`, 2)
  for (const property of found) property.hidden = true
}

function explainUnknown(name: string, dots: readonly (readonly [string, string])[], metas: readonly EntityMetadata[]): string {
  for (const [table, attribute] of dots) {
    const meta = metas.find(each => isNamed(each, table))
    if (meta !== undefined)
      return `${table} has no attribute ${JSON.stringify(attribute)}.${formatHint(findNearest(attribute, meta.props.flatMap(namesOf)))}`
  }
  const all = metas.flatMap(meta => meta.props.flatMap(namesOf))
  const [table, attribute] = dots[0] ?? []
  if (table === undefined) return `no table has an attribute ${JSON.stringify(name)}.${formatHint(findNearest(name, all))}`
  const tables = metas.filter(meta => findProperties(meta, attribute!).length > 0).map(({ tableName }) => tableName)
  const nearest = findNearest(table, tables.length > 0 ? tables : metas.map(({ tableName }) => tableName))
  return `there is no table ${JSON.stringify(table)}.${formatHint(nearest)}`
}

function isNamed({ tableName, className, schema }: EntityMetadata, table: string): boolean {
  const names = [tableName, className, ...(schema === undefined ? [] : [`${schema}.${tableName}`])]
  return names.includes(table) || names.some(each => each !== undefined && camelPlural(each) === camelPlural(table))
}

/** Exact names (in the API, entity or table) come before other spellings. */
function findProperties(meta: EntityMetadata, name: string): HiddenProperty[] {
  const exact = meta.props.filter(prop => namesOf(prop).includes(name))
  return exact.length > 0 ? exact : meta.props.filter(prop => namesOf(prop).some(each => camelCase(each) === camelCase(name)))
}

function namesOf(prop: HiddenProperty): string[] {
  const columns = prop.fieldNames ?? []
  return [prop.name, prop.serializedName, prop.embedded?.[1], ...(columns.length === 1 ? columns : [])].filter(each => each !== undefined)
}
