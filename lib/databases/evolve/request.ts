/**
 * Request: resolves the options `fill` and `renamed` to tables, columns and stored values. Refuses unknown names, and values of another
 * type than the property's.
 */
import type { EntityMetadata, EntityProperty, MikroORM, Platform } from '@mikro-orm/core'
import { countCharacters, describeScalar, parseScalar, readScalar, toProperty } from '../../foundation/values/scalar-type.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import { publicName, scalarType } from '../../model/metadata/property-type.ts'
import { FillText, type Evolving } from '../../records/database/evolving.ts'
import { isJsonText } from '../orm/json-defaults.ts'
import { findEntity, findProperty, keyOfEntity, nameEntities, type EntityWithSingular } from './named-entities.ts'
import { readRenamed, type AskedRename, type AskedTable } from './read-renames.ts'

export interface EvolvedColumn {
  readonly meta: EntityMetadata
  readonly prop: EntityProperty
  readonly column: string
  /** `undefined` unless values are plain. */
  readonly type: ScalarType | undefined
  /** Makes the stored value of JSON; `undefined` for a refused value. */
  readonly store: (json: unknown) => unknown
  /** Makes the stored value of a text; `undefined` for a refused text. */
  readonly storeText: (text: string) => unknown
}

/** By table, as the metadata name tables, and by column. */
export interface EvolveRequest {
  /** For rows without a value. */
  readonly fill: ReadonlyMap<string, ReadonlyMap<string, { readonly json: unknown; readonly stored: unknown }>>
  /** Columns to rename, by table. */
  readonly renamed: ReadonlyMap<string, readonly AskedRename[]>
  readonly tables: readonly AskedTable[]
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, EvolvedColumn>>
  /** The singular name of a table's resource. */
  readonly resourceOf: (table: string) => string
  readonly entityOf: (table: string) => string | undefined
  /** All names of a table's resources. */
  readonly namesOf: (table: string) => readonly string[]
}

/** The name in a request of a table of MikroORM's schema. */
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
    fill: readFill(named, columns, evolving.fill),
    ...readRenamed(named, orm, evolving.renamed),
    entityOf: table => [...named].find(([, meta]) => keyOfEntity(meta) === table)?.[1].className,
    namesOf: table => [...named].flatMap(([each, meta]) => (keyOfEntity(meta) === table ? [each] : [])),
    resourceOf,
  }
}

/** Whether a name of `drop`, in small letters, is a resource's or a property's. */
export function isModelled(name: string, { columns, namesOf }: EvolveRequest): boolean {
  const [resource, ...rest] = name.split('.')
  const table = [...columns.keys()].find(key => namesOf(key).some(each => each.toLowerCase() === resource))
  if (table === undefined || rest.length === 0) return table !== undefined
  const own = [...columns.get(table)!.values()].flatMap(({ column, prop }) => [column, prop.name, publicName(prop)])
  return own.some(each => each.toLowerCase() === rest.join('.'))
}

/** A value of each type, as code. */
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

/** Such as `fill: { trip: { days: 0 } }`. */
export function exampleFill({ columns, resourceOf }: EvolveRequest, table: string, column: string): string {
  const evolved = columns.get(table)?.get(column)
  const type = evolved?.prop.kind === 'scalar' ? evolved.type : undefined
  const [item] = type?.items ?? []
  const value = item === undefined ? (EXAMPLES[type?.kind ?? 'custom'] ?? '...') : JSON.stringify(item).replaceAll(/^"|"$/g, "'")
  return `fill: { ${resourceOf(table)}: { ${evolved?.prop.name ?? column}: ${value} } }`
}

/** Stored properties with one column each. */
function listProperties(meta: EntityMetadata): EntityProperty[] {
  return meta.props.filter(
    ({ persist, formula, generated, kind, fieldNames, owner }) =>
      persist !== false &&
      formula === undefined &&
      generated === undefined &&
      (kind === 'scalar' || kind === 'm:1' || (kind === '1:1' && owner) || (kind === 'embedded' && fieldNames?.length === 1)) &&
      fieldNames?.length === 1,
  )
}

function readColumns(orm: MikroORM): Map<string, Map<string, EvolvedColumn>> {
  const platform = orm.em.getPlatform()
  const tables = new Map<string, Map<string, EvolvedColumn>>()
  for (const meta of orm.getMetadata()) {
    if (meta.embeddable || meta.virtual || meta.tableName === undefined) continue
    const columns = tables.get(keyOfEntity(meta)) ?? new Map<string, EvolvedColumn>()
    tables.set(keyOfEntity(meta), columns)
    for (const prop of listProperties(meta)) {
      const column = prop.fieldNames[0]!
      if (!columns.has(column)) columns.set(column, { meta, prop, column, ...describe(prop, platform) })
    }
  }
  return tables
}

/** The column of a link holds values of the linked key. */
function findValue(prop: EntityProperty): EntityProperty | undefined {
  if (prop.kind === 'scalar') return prop
  const keys = prop.kind === 'embedded' ? [] : (prop.targetMeta?.getPrimaryProps() ?? [])
  return keys.length === 1 ? findValue(keys[0]!) : undefined
}

function describe(prop: EntityProperty, platform: Platform): Pick<EvolvedColumn, 'type' | 'store' | 'storeText'> {
  const value = findValue(prop)
  const type = value === undefined ? undefined : scalarType(value)
  if (value === undefined || type === undefined)
    return {
      type: undefined,
      store: json => (typeof json === 'object' && json !== null ? JSON.stringify(json) : undefined),
      storeText: text => (isJsonText(text) ? text : undefined),
    }
  const { customType } = value
  const encode = (typed: ScalarValue | undefined): unknown => {
    if (typed === undefined) return undefined
    if (type.kind === 'text' && type.length !== undefined && countCharacters(typed as string) > type.length) return undefined
    const property = toProperty(typed, type)
    if (customType !== undefined) return customType.convertToDatabaseValue(property, platform, { mode: 'serialization' }) as unknown
    return property instanceof Date ? platform.processDateProperty(property) : property
  }
  return { type, store: json => encode(readScalar(json, type)), storeText: text => storeText(text, type, encode) }
}

/** JSON is stored as text. */
function storeText(text: string, type: ScalarType, encode: (typed: ScalarValue | undefined) => unknown): unknown {
  if (type.kind === 'json') return isJsonText(text) ? text : undefined
  // A decimal of a path may have more digits than the column.
  return encode(type.kind === 'decimal' ? readScalar(text, type) : parseScalar(text, type))
}

function readFill(
  named: ReadonlyMap<string, EntityWithSingular>,
  columns: ReadonlyMap<string, ReadonlyMap<string, EvolvedColumn>>,
  fill: Evolving['fill'],
): EvolveRequest['fill'] {
  const filled = new Map<string, Map<string, { json: unknown; stored: unknown }>>()
  for (const [resource, values] of Object.entries(fill)) {
    const meta = findEntity(named, resource, 'fill')
    const ofTable = filled.get(keyOfEntity(meta)) ?? new Map<string, { json: unknown; stored: unknown }>()
    filled.set(keyOfEntity(meta), ofTable)
    for (const [name, json] of Object.entries(values)) {
      const prop = findProperty(meta, name, `fill.${resource}`)
      const column = columns.get(keyOfEntity(meta))?.get(prop.fieldNames?.[0] ?? '')
      if (column === undefined || prop.fieldNames.length !== 1)
        throw new TypeError(`"fill.${resource}.${name}" is not stored in one column, so it cannot be filled.`)
      const stored = json instanceof FillText ? column.storeText(json.text) : column.store(json)
      if (stored === undefined || stored === null) {
        const { type } = column
        throw new TypeError(
          `"fill.${resource}.${name}" must be ${type === undefined ? 'a JSON object' : describeScalar(type)}, ` +
            `got ${JSON.stringify(json instanceof FillText ? json.text : json) ?? String(json)}.`,
        )
      }
      ofTable.set(column.column, { json: json instanceof FillText ? json.text : json, stored })
    }
  }
  return filled
}
