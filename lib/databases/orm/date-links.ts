/**
 * Date links: links to records whose key is a time. The driver gives the key as a text or a number, which MikroORM reads as a time in the
 * record itself alone: to it each loaded link would differ from the key of its record, and each flush would write the record again, and
 * count its version.
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
  // The key may be a link itself.
  return key.kind === ReferenceKind.SCALAR ? key.runtimeType === 'Date' : key.targetMeta !== targetMeta && refersToDate(key)
}
