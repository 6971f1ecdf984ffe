/** Writes a record as a call of `engine.seed`: with the key, without lists, version, hidden, flagged, read-only attributes. */
import type { OutlinedResource } from '../../description/outline/outline-parts.ts'
import { code } from '../state/code.ts'
import { valueOf, type AnyRecord } from '../state/records.ts'
import { readId } from './input-text.ts'

/**
 * @param idOfLink gives the ID of a linked record, which may be expanded
 * @param find by plural name
 */
export function seedText(
  resource: OutlinedResource,
  record: AnyRecord,
  idOfLink: (value: unknown, name: string) => string | undefined,
  find: (name: string) => OutlinedResource | undefined,
): string {
  const values: Record<string, unknown> = {}
  for (const attribute of resource.attributes) {
    const { name, ids = name, kind, readOnly, flag, target } = attribute
    const value = valueOf(record, attribute)
    const isKey = resource.key.includes(name)
    if (kind === 'toMany' || (readOnly && !isKey) || flag !== undefined || name === resource.version || value === undefined) continue
    const id = kind === 'toOne' && value !== null ? idOfLink(value, name) : undefined
    values[ids] = id === undefined ? value : readId(id, target === undefined ? undefined : find(target))
  }
  return `await engine.seed(${code({ [resource.name]: [values] })})\n`
}
