/** Editable: whether a value can be edited. */
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'
import { valueOf, type AnyRecord } from '../state/records.ts'

export function isEditable(resource: OutlinedResource, column: OutlinedAttribute, record: AnyRecord): boolean {
  const { name, kind, readOnly } = column
  const isWritable = resource.updates && !readOnly && kind !== 'toMany' && name !== resource.version
  return isWritable && !resource.key.includes(name) && valueOf(record, column) !== undefined
}
