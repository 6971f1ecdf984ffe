/** Errors for entities and properties the engine cannot serve, with the reason. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { isGetter, scalarType } from './property-type.ts'

export function unsupported(meta: EntityMetadata, property: string | undefined, reason: string): Error {
  return new Error(`${meta.className}${property === undefined ? '' : `.${property}`} cannot be served: ${reason}.`)
}

export function unsupportedReason(prop: EntityProperty): string | undefined {
  if (prop.polymorphic === true && prop.kind !== 'm:n' && (prop.primary === true || prop.mapToPk === true || prop.targetKey !== undefined))
    return 'a relation to one of several entities (polymorphic) cannot be part of a key, mapToPk, or by another key (targetKey)'
  if (prop.targetKey !== undefined && (prop.primary === true || prop.mapToPk === true)) {
    const what = prop.primary === true ? 'part of a key' : 'mapped to it (mapToPk)'
    return `a relation by another key than the primary one (targetKey) cannot be ${what}`
  }
  // Classes of a hierarchy may use one name for different embeddables.
  if (prop.targetMeta?.polymorphs !== undefined && prop.targetMeta.discriminatorColumn === undefined && prop.stiMerged !== true)
    return (
      `nothing says which of its classes (${prop.targetMeta.polymorphs.map(({ className }) => className).join(', ')}) an object is of: ` +
      'give them a base class with a discriminatorColumn, and each a discriminatorValue'
    )
  if (prop.kind !== 'scalar' || isGetter(prop)) return undefined
  return scalarType(prop) === undefined
    ? `its type "${prop.type}" is unknown: give it a type of MikroORM's, or one derived from Type`
    : undefined
}
