/**
 * File numbers: the number attributes of a database in a file, which other programs may write too. Takes an attribute, gives it with a type
 * that says what its column may hold. SQLite keeps a column to its declared type only where it can: integers have 64 bits, and texts may
 * stand among them.
 */
import type { Attribute, InnerAttribute } from '../model.ts'

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** Marks the number attributes that have a column of their own, also those inside an embedded object. */
export function markFileNumbers(attribute: Attribute): Attribute {
  if (attribute.kind === 'embedded') {
    if (attribute.document !== undefined) return attribute
    const attributes = attribute.attributes.map(markFileNumbers) as InnerAttribute[]
    const byName = new Map(attributes.map(child => [child.name, child]))
    return Object.freeze({ ...attribute, attributes: Object.freeze(attributes), byName })
  }
  if (attribute.kind !== 'scalar' || attribute.source.kind !== 'column' || attribute.primary || attribute.version) return attribute
  return NUMBERS.has(attribute.type.kind)
    ? Object.freeze({ ...attribute, type: Object.freeze({ ...attribute.type, ofFile: true }) })
    : attribute
}
