/** Reads a relation's foreign key, with its columns, the key referred to, and the rule for deletes. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { DeleteRule, Discriminator, TargetKey, ToOneAttribute } from '../model.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { unsupported } from './unsupported.ts'

/** Kinds of values allowed in keys. */
export const KEY_KINDS: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid', 'date', 'datetime', 'time', 'custom'])

export function isOwning(prop: EntityProperty): boolean {
  return prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
}

export function readForeignColumns(meta: EntityMetadata, prop: EntityProperty): string[] {
  if (prop.targetKey !== undefined) return [...prop.fieldNames]
  // The columns hold keys of all targets.
  if (prop.polymorphic === true) return [...prop.joinColumns]
  return orderByKey(meta, prop, prop.joinColumns)
}

/** Sorts the columns of a foreign key like the primary key. Rejects a foreign key to only a part. */
export function orderByKey(meta: EntityMetadata, prop: EntityProperty, columns: readonly string[]): string[] {
  const target = prop.targetMeta!
  const referenced = prop.referencedColumnNames
  const targetColumns = target.getPrimaryProps().flatMap(key => key.fieldNames)
  const shared = targetColumns.find((column, index) => targetColumns.indexOf(column) < index)
  if (shared !== undefined && columns.length !== targetColumns.length)
    throw unsupported(meta, prop.name, `relations in the primary key of ${target.className} share the column ${shared}`)
  if (!targetColumns.every(column => referenced.includes(column))) {
    const why =
      `its foreign key refers to ${referenced.join(', ')} of ${target.className}, which MikroORM neither loads nor writes: ` +
      `refer to the primary key (${targetColumns.join(', ')}), or to one plain property that is unique`
    throw unsupported(meta, prop.name, why)
  }
  return targetColumns.map(column => columns[referenced.indexOf(column)]!)
}

/** Lists columns of a foreign key beyond the primary key. Rejects columns MikroORM does not write. */
export function readBeside(meta: EntityMetadata, prop: EntityProperty): ToOneAttribute['beside'] {
  const target = prop.targetMeta!
  const keys = target.getPrimaryProps().flatMap(key => key.fieldNames)
  if (prop.targetKey !== undefined || prop.polymorphic === true || prop.joinColumns.length <= keys.length) return undefined
  const beside = prop.joinColumns
    .map((column, index) => ({ column, referred: prop.referencedColumnNames[index]! }))
    .filter(({ referred }) => !keys.includes(referred))
  const isHeld = (column: string, { props }: EntityMetadata): boolean =>
    props.some(other => other !== prop && other.persist !== false && other.fieldNames?.includes(column))
  const unheld = beside.find(({ column }) => !isHeld(column, meta))
  if (unheld !== undefined) {
    const why =
      `MikroORM does not write "${unheld.column}" of its foreign key, which refers to more than the primary key: ` +
      'declare a property for it'
    throw unsupported(meta, prop.name, why)
  }
  if (keys.length > 1) throw unsupported(meta, prop.name, 'its foreign key refers to more than a primary key of several columns')
  return Object.freeze(beside)
}

/** Finds the value of a polymorphic link for this entity, or for a class above. */
export function findDiscriminator(target: EntityMetadata, prop: EntityProperty): Discriminator | undefined {
  if (prop.polymorphic !== true) return undefined
  const values = Object.entries(prop.discriminatorMap as Record<string, unknown>)
  for (let at: unknown = target.class; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    const found = values.find(([, entity]) => entity === at)
    if (found !== undefined) return Object.freeze({ column: prop.discriminatorColumn as string, value: found[0] })
  }
  throw unsupported(target, undefined, `"${prop.name}", which it is the other side of, does not link it`)
}

/** Reads MikroORM's `targetKey`: a link to a unique attribute instead of the primary key. */
export function readTargetKey(meta: EntityMetadata, prop: EntityProperty): TargetKey | undefined {
  if (prop.targetKey === undefined) return undefined
  const target = prop.targetMeta!
  const referred = target.properties[prop.targetKey] as EntityProperty
  const type = referred.kind === 'scalar' && referred.fieldNames?.length === 1 && !isGetter(referred) ? scalarType(referred) : undefined
  if (type === undefined || !KEY_KINDS.has(type.kind)) {
    const why = `"${prop.targetKey}" of ${target.className} cannot be referred to: it is not a plain value that can be a key`
    throw unsupported(meta, prop.name, why)
  }
  rejectUnheldKey(meta, prop, target)
  rejectSharedColumn(meta, prop)
  return Object.freeze({
    name: publicName(referred),
    property: referred.name,
    part: Object.freeze({ column: referred.fieldNames[0]!, type }),
  })
}

/** Rejects a constraint to a column of the table of a class above. */
function rejectUnheldKey(meta: EntityMetadata, prop: EntityProperty, target: EntityMetadata): void {
  const { targetKey } = prop
  if (!prop.createForeignKeyConstraint || target.tptParent === undefined || target.ownProps!.some(({ name }) => name === targetKey)) return
  const why =
    `the table of ${target.className} has no "${targetKey}" for its foreign key to refer to, the table of a class above has; ` +
    'relate to that one, or do without a constraint (createForeignKeyConstraint: false)'
  throw unsupported(meta, prop.name, why)
}

function rejectSharedColumn(meta: EntityMetadata, prop: EntityProperty): void {
  const isShared = meta.props.some(
    other =>
      other !== prop &&
      other.persist !== false &&
      other.formula === undefined &&
      other.kind !== '1:m' &&
      (other.kind !== '1:1' || other.owner) &&
      other.fieldNames?.includes(prop.fieldNames[0]!),
  )
  if (!isShared) return
  const why = 'its foreign key, which holds another key than the primary one (targetKey), is the column of another property'
  throw unsupported(meta, prop.name, why)
}

export function readDeleteRule({ deleteRule }: EntityProperty): DeleteRule {
  if (deleteRule === 'cascade') return 'cascade'
  return deleteRule === 'set null' || deleteRule === 'set default' ? 'unlink' : 'refuse'
}

export function cascadesRemove(prop: EntityProperty): boolean {
  return prop.orphanRemoval === true || prop.cascade.some(cascade => cascade === 'remove' || cascade === 'all')
}

/** Whether the whole key is one relation to a key of several parts. */
export function hasRelatedKey(meta: EntityMetadata): boolean {
  const [key, ...others] = meta.getPrimaryProps()
  return key !== undefined && key.kind !== 'scalar' && others.length === 0 && key.fieldNames.length > 1
}

/** Whether MikroORM cannot load records: a link's target has a relation as its whole key. */
export function isUnloadable({ relations }: EntityMetadata): boolean {
  return relations.some(
    prop => isOwning(prop) && prop.formula === undefined && prop.polymorphic !== true && hasRelatedKey(prop.targetMeta!),
  )
}
