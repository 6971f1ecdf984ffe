/**
 * List change: `{ connect: [7], disconnect: [8] }` links and unlinks some members. `create: true` makes missing records, by the unique
 * attribute that clients know (`ResourceConfig.key`).
 */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { ToManyAttribute } from '../../model/model.ts'

export const LIST_CHANGE = ['connect', 'disconnect'] as const

const NAMES: readonly string[] = [...LIST_CHANGE, 'create']

/** Members given or connected; undefined where the value is no list. */
export function listGiven(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[]
  if (!isListChange(value)) return undefined
  const { connect = [] } = value
  return Array.isArray(connect) ? (connect as readonly unknown[]) : undefined
}

export function isListChange(value: unknown): value is JsonObject {
  return isObject(value) && LIST_CHANGE.some(name => Object.hasOwn(value, name)) && Object.keys(value).every(name => NAMES.includes(name))
}

/** The body of the record to create for an ID without a record; undefined where neither change nor list creates. */
export function bodyOfNew(
  change: unknown,
  id: unknown,
  { target: { shownKey }, creates = false }: ToManyAttribute,
): JsonObject | undefined {
  const isAsked = creates || (isObject(change) && change['create'] === true)
  return isAsked && shownKey !== undefined && typeof id !== 'object' ? { [shownKey.name]: id } : undefined
}
