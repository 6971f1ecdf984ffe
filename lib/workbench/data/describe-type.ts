/** Words for the type of an attribute. */
import type { OutlinedAttribute } from '../state/outline.ts'

export function describeType({ kind, type, unique, readOnly }: OutlinedAttribute, isKey: boolean): string {
  const what = kind === 'toOne' || kind === 'toOneOf' ? `→ ${type}` : kind === 'toMany' ? 'list' : type
  return [isKey ? 'key' : what, unique && !isKey ? 'unique' : '', readOnly && !isKey ? 'computed' : ''].filter(Boolean).join(', ')
}

/** Numbers are aligned right. */
export function isNumber({ kind, type }: OutlinedAttribute): boolean {
  return kind === 'toMany' || (kind === 'scalar' && ['integer', 'bigint', 'float', 'decimal'].includes(type))
}
