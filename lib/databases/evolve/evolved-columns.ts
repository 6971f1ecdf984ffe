/** The columns of the entities, with functions from JSON values and texts to stored values. */
import type { EntityMetadata, EntityProperty, MikroORM, Platform } from '@mikro-orm/core'
import { countCharacters, parseScalar, readScalar, toProperty } from '../../foundation/values/scalar-type.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import { scalarType } from '../../model/metadata/property-type.ts'
import { isJsonText } from '../orm/correct-metadata.ts'
import { keyOfEntity } from './named-entities.ts'

export interface EvolvedColumn {
  readonly meta: EntityMetadata
  readonly prop: EntityProperty
  readonly column: string
  /** `undefined` for objects, such as of an embeddable. */
  readonly type: ScalarType | undefined
  /** `undefined` for a refused value. */
  readonly store: (json: unknown) => unknown
  /** `undefined` for a refused text. */
  readonly storeText: (text: string) => unknown
}

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

/** Maps names of tables (`keyOfEntity`) to their columns by name. */
export function readColumns(orm: MikroORM): Map<string, Map<string, EvolvedColumn>> {
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
  // `parseScalar` takes decimals with more digits than the column.
  return encode(type.kind === 'decimal' ? readScalar(text, type) : parseScalar(text, type))
}
