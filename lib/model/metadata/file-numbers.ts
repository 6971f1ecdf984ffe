/**
 * File numbers: marks numbers and booleans of a file. A column may hold more than declared: 64-bit integers, texts of other programs.
 */
import type { Attribute, InnerAttribute } from '../model.ts'

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** Marks values with a column, but not keys and versions. */
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
