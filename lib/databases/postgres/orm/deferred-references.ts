/**
 * Defers foreign keys to the commit, in tables made by the engine, where MikroORM may write a link before the linked record: in the tables
 * of a class, and for a mere key (`mapToPk`).
 */
import { ReferenceKind, type EntityMetadata, type EntityProperty, type MikroORM } from '@mikro-orm/core'

/**
 * Defers references that MikroORM's order of records does not follow, but not unique constraints. The metadata change only while `make`
 * runs: MikroORM would insert a deferred link in a single step, not two as on SQLite, and each step counts as a version.
 */
export async function withDeferredReferences<T>(orm: MikroORM, make: () => Promise<T>): Promise<T> {
  const undo: (() => void)[] = []
  for (const meta of orm.getMetadata()) {
    const { uniques } = meta
    for (const prop of meta.relations) if (isUnordered(prop, meta)) undo.push(...defer(prop, meta))
    undo.push(() => void (meta.uniques = uniques))
  }
  try {
    return await make()
  } finally {
    for (const each of undo) each()
  }
}

function isUnordered(prop: EntityProperty, { inheritanceType }: EntityMetadata): boolean {
  const isOfHierarchy = inheritanceType === 'tpt' || prop.targetMeta?.inheritanceType === 'tpt'
  return (prop.mapToPk || isOfHierarchy) && isOwning(prop) && prop.deferMode === undefined
}

/** The result undoes the change. */
function defer(prop: EntityProperty, meta: EntityMetadata): (() => void)[] {
  const { unique } = prop
  prop.deferMode = 'deferred' as NonNullable<typeof prop.deferMode>
  const undo = [() => void delete prop.deferMode]
  if (unique !== undefined && unique !== false) {
    delete prop.unique
    undo.push(() => void (prop.unique = unique))
    const isKey = prop.primary === true && !meta.compositePK
    const isInherited = meta.tptParent !== undefined && !(meta.ownProps ?? []).some(({ name }) => name === prop.name)
    const named = typeof unique === 'string' ? { name: unique } : {}
    if (!isKey && !isInherited) meta.uniques = [...meta.uniques, { properties: prop.name, ...named }]
  }
  return undo
}

function isOwning({ kind, mappedBy }: EntityProperty): boolean {
  return kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && mappedBy === undefined)
}
