/** Explains, for `engine.explain`, why the unit of work must write all records of an entity. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { isPlainKey, isOneTable } from './read-stored-table.ts'

/** Ends a sentence: "since …". Undefined: the entity gives no reason. */
export function explainStoredTable(meta: EntityMetadata): string | undefined {
  const { className } = meta
  const hooks = Object.entries(meta.hooks).flatMap(([hook, list]) => (list.length > 0 ? [hook] : []))
  if (hooks.length > 0) return `${className} has a hook (${hooks.join(', ')})`
  const looking = meta.props.find(prop => looksAtEntity(prop) !== undefined)
  if (looking !== undefined) return `"${looking.name}" of ${className} has ${looksAtEntity(looking)!}`
  if (!isOneTable(meta)) {
    return meta.root.inheritanceType === undefined && meta.root === meta
      ? `a record of ${className} is not one row of a table of its own`
      : `${className} shares its records with classes that inherit from it, or has them in several tables`
  }
  const key = meta.getPrimaryProps().find(prop => prop.kind === 'scalar' && !isPlainKey(prop))
  return key === undefined ? undefined : `the key "${key.name}" of ${className} is a time, or of a type of its own`
}

function looksAtEntity({ onCreate, onUpdate, accessor, getter, setter, persist }: EntityProperty): string | undefined {
  if ((onCreate?.length ?? 0) > 0) return 'an onCreate that takes the entity'
  if ((onUpdate?.length ?? 0) > 0) return 'an onUpdate that takes the entity'
  return persist !== false && (accessor !== undefined || getter === true || setter === true) ? 'an accessor' : undefined
}
