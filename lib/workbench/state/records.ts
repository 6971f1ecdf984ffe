/** Finds ID, label and values of a record, and says which values are editable. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- records of any API
export type AnyRecord = Readonly<Record<string, any>>

/** Of a composite key `1~2`. Undefined: the record hides its key. */
export function idOf(record: AnyRecord, { key, attributes }: OutlinedResource): string | undefined {
  const parts = key.map(name => {
    const value: unknown = record[name] ?? record[attributes.find(attribute => attribute.name === name)?.ids ?? name]
    return typeof value === 'object' && value !== null ? (value as AnyRecord)['id'] : value
  })
  if (parts.length === 0 || parts.some(part => part === undefined || part === null)) return undefined
  const texts = parts.map(String)
  return texts.length === 1 ? texts[0] : texts.map(text => encodeURIComponent(text).replaceAll('~', '%7E')).join('~')
}

/** The name for readers. */
export function labelOf(record: AnyRecord, { label }: OutlinedResource): string {
  const value: unknown = label === undefined ? undefined : record[label]
  return typeof value === 'string' ? value : ''
}

export function columnsOf({ attributes }: OutlinedResource): readonly OutlinedAttribute[] {
  return attributes.filter(({ flag }) => flag === undefined)
}

export function valueOf(record: AnyRecord, { name, ids }: OutlinedAttribute): unknown {
  return record[name] === undefined && ids !== undefined ? record[ids] : record[name]
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function isEditable(resource: OutlinedResource, column: OutlinedAttribute, record: AnyRecord): boolean {
  const { name, kind, readOnly } = column
  const isWritable = resource.updates && !readOnly && kind !== 'toMany' && name !== resource.version
  return isWritable && !resource.key.includes(name) && valueOf(record, column) !== undefined
}
