/**
 * Reads changes of some members of a list, as in `{ connect: [7], disconnect: [8] }`. `create: true` makes missing records, by the unique
 * attribute known to clients (`ResourceConfig.key`).
 */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { ToManyAttribute } from '../../model/model.ts'

export const LIST_CHANGE = ['connect', 'disconnect'] as const

const NAMES: readonly string[] = [...LIST_CHANGE, 'create']

/** Members given or connected; undefined: no list. */
export function listGiven(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[]
  if (!isListChange(value)) return undefined
  const { connect = [] } = value
  return Array.isArray(connect) ? (connect as readonly unknown[]) : undefined
}

export function isListChange(value: unknown): value is JsonObject {
  return isObject(value) && LIST_CHANGE.some(name => Object.hasOwn(value, name)) && Object.keys(value).every(name => NAMES.includes(name))
}

/** The body to create a record for an ID without one; undefined where neither change nor list creates. */
export function bodyOfNew(
  change: unknown,
  id: unknown,
  { target: { shownKey }, creates = false }: ToManyAttribute,
): JsonObject | undefined {
  const isAsked = creates || (isObject(change) && change['create'] === true)
  return isAsked && shownKey !== undefined && typeof id !== 'object' ? { [shownKey.name]: id } : undefined
}
