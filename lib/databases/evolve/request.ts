/** Resolves the options for evolving a database to tables, columns and stored values. */
import type { MikroORM } from '@mikro-orm/core'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { publicName } from '../../model/metadata/property-type.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import { readColumns, type EvolvedColumn } from './evolved-columns.ts'
import { keyOfEntity, nameEntities } from './named-entities.ts'
import { readFill, type Filling, type RowsFrom } from './read-fill.ts'
import { readRenamed, type AskedRename, type AskedTable } from './read-renames.ts'

/** Tables are named as in the metadata. */
export interface EvolveRequest {
  /** By table and column. */
  readonly fill: ReadonlyMap<string, ReadonlyMap<string, Filling>>
  /** Rows for new tables. */
  readonly from: readonly RowsFrom[]
  /** By table. */
  readonly renamed: ReadonlyMap<string, readonly AskedRename[]>
  readonly tables: readonly AskedTable[]
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, EvolvedColumn>>
  /** The singular name of a table's resource. */
  readonly resourceOf: (table: string) => string
  readonly entityOf: (table: string) => string | undefined
  readonly namesOf: (table: string) => readonly string[]
}

/** The table's name in a request. */
export function keyOfTable(
  { columns }: EvolveRequest,
  { name, schema }: { readonly name: string; readonly schema?: string | undefined },
): string {
  const whole = `${schema ?? ''}.${name}`
  return columns.has(whole) ? whole : name
}

/** @throws TypeError for names and values that the model does not know */
export function readRequest(orm: MikroORM, evolving: Evolving): EvolveRequest {
  const named = nameEntities(orm, evolving)
  const columns = readColumns(orm)
  const resourceOf = (table: string): string => [...named].find(([, meta]) => keyOfEntity(meta) === table)?.[1].singular ?? table
  return {
    columns,
    ...readFill(named, columns, evolving),
    ...readRenamed(named, orm, evolving.renamed),
    entityOf: table => [...named].find(([, meta]) => keyOfEntity(meta) === table)?.[1].className,
    namesOf: table => [...named].flatMap(([each, meta]) => (keyOfEntity(meta) === table ? [each] : [])),
    resourceOf,
  }
}

/** @param name of `drop`, in small letters */
export function isModelled(name: string, { columns, namesOf }: EvolveRequest): boolean {
  const [resource, ...rest] = name.split('.')
  const table = [...columns.keys()].find(key => namesOf(key).some(each => each.toLowerCase() === resource))
  if (table === undefined || rest.length === 0) return table !== undefined
  const columnNames = [...columns.get(table)!.values()].flatMap(({ column, prop }) => [column, prop.name, publicName(prop)])
  return columnNames.some(each => each.toLowerCase() === rest.join('.'))
}

const EXAMPLES: Readonly<Partial<Record<ScalarType['kind'], string>>> = {
  integer: '0',
  bigint: "'0'",
  float: '0',
  decimal: "'0'",
  text: "''",
  boolean: 'false',
  datetime: "'2026-01-31T12:00:00Z'",
  date: "'2026-01-31'",
  time: "'12:00:00'",
  json: '{}',
}

/** `fill: { trip: { days: 0 } }` */
export function exampleFill({ columns, resourceOf }: EvolveRequest, table: string, column: string): string {
  const evolved = columns.get(table)?.get(column)
  const type = evolved?.prop.kind === 'scalar' ? evolved.type : undefined
  const [item] = type?.items ?? []
  const value = item === undefined ? (EXAMPLES[type?.kind ?? 'custom'] ?? '...') : JSON.stringify(item).replaceAll(/^"|"$/g, "'")
  const [resource, name] = [resourceOf(table), evolved?.prop.name ?? column]
  const way = value === '...' || value.startsWith('{') ? '' : ` (--fill ${resource}.${name}=${value.replaceAll("'", '')})`
  return `fill: { ${resource}: { ${name}: ${value} } }${way}`
}
