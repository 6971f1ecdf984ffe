/**
 * Reads what attributes of every kind have in common, and describes the place of a property: its public name, declaration and JSON
 * document.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { Resource } from '../model.ts'

/** The resources that relations refer to, by entity class. */
export type ResourcesByClass = ReadonlyMap<object, Resource>

/** Where a value is inside a JSON document: the column, and the keys that lead to it. */
export interface DocumentPath {
  readonly column: string
  readonly keys: readonly string[]
}

/** A property that is read into an attribute. */
export interface PropertyContext {
  readonly meta: EntityMetadata
  readonly prop: EntityProperty
  /** The public name. */
  readonly name: string
  /**
   * The declaration by the embeddable: MikroORM marks every child of a nullable object as nullable. Outside of objects the property itself.
   */
  readonly declared: EntityProperty
  /** Undefined for a property that has columns of its own. */
  readonly document: DocumentPath | undefined
}

/**
 * Whether a list has members of several entities, each in a table of its own. Such a list has no one resource; the other sides of its
 * members are served.
 */
export function isMixedList(prop: EntityProperty): boolean {
  return prop.kind === 'm:n' && prop.polymorphTargets !== undefined
}

/** Whether MikroORM has added the property as the other side of a unidirectional many-to-many. */
export function isHiddenInverse(prop: EntityProperty): boolean {
  return prop.kind === 'm:n' && prop.name.endsWith('__inverse') && prop.hydrate === false
}

/** Returns what attributes of every kind have. */
export function readCommon({
  meta,
  prop,
  name,
  declared,
}: Pick<PropertyContext, 'prop' | 'name' | 'declared'> & Partial<Pick<PropertyContext, 'meta'>>) {
  const readOnly = prop.generated !== undefined || prop.formula !== undefined
  const required =
    declared.nullable !== true &&
    // MikroORM does not find a record again of whose key the database has given one of several parts.
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

/** Whether a value is required inside a JSON document. Nothing there has a column, so that MikroORM marks it as not stored. */
export function isRequiredInside(declared: EntityProperty): boolean {
  return declared.nullable !== true && declared.default === undefined && declared.onCreate === undefined
}
