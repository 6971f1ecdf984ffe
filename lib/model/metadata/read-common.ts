/** Reads the common members of attributes, such as name, nullable, hidden, read-only, required. */
import { type EntityMetadata, type EntityProperty, isRaw } from '@mikro-orm/core'
import type { Resource, Formula } from '../model.ts'

/** By entity class. */
export type ResourcesByClass = ReadonlyMap<object, Resource>

export interface DocumentPath {
  readonly column: string
  readonly keys: readonly string[]
}

export interface PropertyContext {
  readonly meta: EntityMetadata
  readonly prop: EntityProperty
  readonly name: string
  /** Inside an embedded object, the property of its class: MikroORM makes children of a nullable object nullable. */
  readonly declared: EntityProperty
  /** Undefined: the property has columns of its own. */
  readonly document: DocumentPath | undefined
}

/** Whether a list has entities of several tables. Only the other sides are served. */
export function isMixedList(prop: EntityProperty): boolean {
  return prop.kind === 'm:n' && prop.polymorphTargets !== undefined
}

/** Whether MikroORM added the property, for a many-to-many list without an other side. */
export function isHiddenInverse(prop: EntityProperty): boolean {
  return prop.kind === 'm:n' && prop.name.endsWith('__inverse') && prop.hydrate === false
}

export function readCommon({
  meta,
  prop,
  name,
  declared,
}: Pick<PropertyContext, 'prop' | 'name' | 'declared'> & Partial<Pick<PropertyContext, 'meta'>>) {
  const readOnly = prop.generated !== undefined || prop.formula !== undefined
  const required =
    declared.nullable !== true &&
    // MikroORM cannot find a record whose composite key the database completed.
    ((declared.default === undefined && declared.defaultRaw === undefined) || (prop.primary === true && meta?.compositePK === true)) &&
    declared.onCreate === undefined &&
    !(prop.primary === true && prop.autoincrement === true) &&
    prop.version !== true &&
    prop.persist !== false &&
    !readOnly
  return {
    name,
    property: declared.name,
    nullable: declared.nullable === true,
    hidden: prop.hidden === true,
    readOnly,
    filterable: true,
    sortable: true,
    flag: undefined,
    render: undefined,
    required,
    needed: required,
  }
}

/** Ignores `persist`: false inside JSON. */
export function isRequiredInside(declared: EntityProperty): boolean {
  return declared.nullable !== true && declared.default === undefined && declared.onCreate === undefined
}

/** Turns a formula into SQL over a table alias: `t0.price * t0.amount`. In `raw` of MikroORM, `??` is an identifier, `?` a bound value. */
export function compileFormula(meta: EntityMetadata, prop: EntityProperty): Formula {
  const formula = prop.formula as (columns: object, table: object) => unknown
  return (alias, quote) => {
    const table = { alias, name: meta.tableName, schema: meta.schema, qualifiedName: meta.tableName, toString: () => alias }
    const result: unknown = formula(meta.createColumnMappingObject(alias), table)
    if (!isRaw(result)) return { sql: String(result), values: [] }
    const params = [...result.params]
    const values: unknown[] = []
    const sql = result.sql.replaceAll(/\?\??/g, mark => {
      const value = params.shift()
      if (mark === '?') {
        values.push(value)
        return '?'
      }
      return String(value).split('.').map(quote).join('.')
    })
    return { sql, values }
  }
}
