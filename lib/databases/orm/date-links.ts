/**
 * Date links: reads links to records with a time as key as dates. MikroORM would keep a text or number, find each link changed, and write
 * the record at each flush.
 */
import { ReferenceKind, type EntityProperty, type MikroORM } from '@mikro-orm/core'

export function readDateLinks(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    if (meta.pivotTable === true) continue
    for (const prop of meta.relations) if (isPlainLink(prop) && refersToDate(prop)) prop.runtimeType = 'Date'
  }
}

function isPlainLink({ kind, mappedBy, polymorphic, targetKey, fieldNames }: EntityProperty): boolean {
  const isOwning = kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && mappedBy === undefined)
  return isOwning && polymorphic !== true && targetKey === undefined && fieldNames.length === 1
}

function refersToDate({ targetMeta }: EntityProperty): boolean {
  const [key] = targetMeta!.getPrimaryProps() as [EntityProperty]
  // The key may be a link.
  return key.kind === ReferenceKind.SCALAR ? key.runtimeType === 'Date' : key.targetMeta !== targetMeta && refersToDate(key)
}
