/** Marks numbers and booleans of an existing SQLite file (`ofFile`): other programs may have stored 64-bit integers or texts there. */
import type { Attribute, InnerAttribute } from '../model.ts'

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

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
