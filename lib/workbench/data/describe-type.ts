/** Describe type: what an attribute is, in a word or two, as it stands below its name. */
import type { OutlinedAttribute } from '../state/outline.ts'

export function describeType({ kind, type, unique, readOnly }: OutlinedAttribute, isKey: boolean): string {
  const what = kind === 'toOne' || kind === 'toOneOf' ? `→ ${type}` : kind === 'toMany' ? 'list' : type
  return [isKey ? 'key' : what, unique && !isKey ? 'unique' : '', readOnly && !isKey ? 'computed' : ''].filter(Boolean).join(', ')
}

/** Whether values of the attribute stand at the right of their column. */
export function isNumber({ kind, type }: OutlinedAttribute): boolean {
  return kind === 'toMany' || (kind === 'scalar' && ['integer', 'bigint', 'float', 'decimal'].includes(type))
}
