/** Records: the ID of a record, and how one is named to a reader. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- records of any API
export type AnyRecord = Readonly<Record<string, any>>

/** Returns the ID of a record as paths have it: the parts of a composite key are joined by `~`. Undefined for one without its key. */
export function idOf(record: AnyRecord, { key, attributes }: OutlinedResource): string | undefined {
  const parts = key.map(name => {
    const value: unknown = record[name] ?? record[attributes.find(attribute => attribute.name === name)?.ids ?? name]
    return typeof value === 'object' && value !== null ? (value as AnyRecord)['id'] : value
  })
  if (parts.length === 0 || parts.some(part => part === undefined || part === null)) return undefined
  const texts = parts.map(String)
  return texts.length === 1 ? texts[0] : texts.map(text => encodeURIComponent(text).replaceAll('~', '%7E')).join('~')
}

/** Returns how a record is named to a reader, beside its ID. */
export function labelOf(record: AnyRecord, { label }: OutlinedResource): string {
  const value: unknown = label === undefined ? undefined : record[label]
  return typeof value === 'string' ? value : ''
}

/** Returns the attributes that make columns: those which answers have without a flag. */
export function columnsOf({ attributes }: OutlinedResource): readonly OutlinedAttribute[] {
  return attributes.filter(({ flag }) => flag === undefined)
}

/** The value of an attribute in a record: a relation that is not shown as an object may have its IDs under another name. */
export function valueOf(record: AnyRecord, { name, ids }: OutlinedAttribute): unknown {
  return record[name] === undefined && ids !== undefined ? record[ids] : record[name]
}

/** The text of a plain value, or the JSON of any other. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
