/**
 * Hide: makes attributes of any model hidden, as `hidden: true` of an entity does, by their names on the command line. Refuses a name that
 * no table has, before anything is written.
 */
import type { EntityMetadata } from '@mikro-orm/core'
import type { EngineOptions } from '../../engine/pipeline/options.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { camelCase, camelPlural } from '../../model/resource-names.ts'
import { CommandError } from './command-error.ts'

type HiddenProperty = EntityMetadata['props'][number]

/** Returns the options of an engine that does not show these attributes, each `name` or `table.name`. */
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
    ...dots.flatMap(([table, own]) => metas.filter(meta => isNamed(meta, table)).flatMap(meta => findProperties(meta, own))),
  ]
  if (found.length === 0) throw new CommandError(`--hide: ${explainUnknown(name, dots, metas)}`, 2)
  for (const property of found) property.hidden = true
}

/** Says which part of a name is unknown, with the nearest one. */
function explainUnknown(name: string, dots: readonly (readonly [string, string])[], metas: readonly EntityMetadata[]): string {
  for (const [table, own] of dots) {
    const meta = metas.find(each => isNamed(each, table))
    if (meta !== undefined)
      return `${table} has no attribute ${JSON.stringify(own)}.${formatHint(findNearest(own, meta.props.flatMap(namesOf)))}`
  }
  const all = metas.flatMap(meta => meta.props.flatMap(namesOf))
  const [table, own] = dots[0] ?? []
  if (table === undefined) return `no table has an attribute ${JSON.stringify(name)}.${formatHint(findNearest(name, all))}`
  const tables = metas.filter(meta => findProperties(meta, own!).length > 0).map(({ tableName }) => tableName)
  const nearest = findNearest(table, tables.length > 0 ? tables : metas.map(({ tableName }) => tableName))
  return `there is no table ${JSON.stringify(table)}.${formatHint(nearest)}`
}

/** Whether a name is that of the table or the resource, in any spelling. */
function isNamed({ tableName, className, schema }: EntityMetadata, table: string): boolean {
  const names = [tableName, className, ...(schema === undefined ? [] : [`${schema}.${tableName}`])]
  return names.includes(table) || names.some(each => each !== undefined && camelPlural(each) === camelPlural(table))
}

/** The properties of a name: that of the API, of the property or of the column, else in another spelling. */
function findProperties(meta: EntityMetadata, name: string): HiddenProperty[] {
  const exact = meta.props.filter(prop => namesOf(prop).includes(name))
  return exact.length > 0 ? exact : meta.props.filter(prop => namesOf(prop).some(each => camelCase(each) === camelCase(name)))
}

function namesOf(prop: HiddenProperty): string[] {
  // Of an embedded object the columns are properties as well, which go by their own names inside of it.
  const columns = prop.fieldNames ?? []
  return [prop.name, prop.serializedName, prop.embedded?.[1], ...(columns.length === 1 ? columns : [])].filter(each => each !== undefined)
}
