/**
 * List change: what a body may say of a list in the place of all its members: `{ connect: [7], disconnect: [8] }` links and unlinks some.
 * With `create: true` it makes those that are not there, of a resource whose records clients know by a unique attribute
 * (`ResourceConfig.key`).
 */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { ToManyAttribute } from '../../model/model.ts'

/** The names of the lists of such an object. */
export const LIST_CHANGE = ['connect', 'disconnect'] as const

const NAMES: readonly string[] = [...LIST_CHANGE, 'create']

/** Returns the members of a list that a body gives, or those that it links; undefined for what is no list. */
export function listGiven(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[]
  if (!isListChange(value)) return undefined
  const { connect = [] } = value
  return Array.isArray(connect) ? (connect as readonly unknown[]) : undefined
}

/** Whether a value changes some members of a list, and leaves the others. */
export function isListChange(value: unknown): value is JsonObject {
  return isObject(value) && LIST_CHANGE.some(name => Object.hasOwn(value, name)) && Object.keys(value).every(name => NAMES.includes(name))
}

/**
 * Returns the body of the record that is made for an ID which no record has, where the change of the list or the list itself says so;
 * undefined where none is.
 */
export function bodyOfNew(
  change: unknown,
  id: unknown,
  { target: { shownKey }, creates = false }: ToManyAttribute,
): JsonObject | undefined {
  const isAsked = creates || (isObject(change) && change['create'] === true)
  return isAsked && shownKey !== undefined && typeof id !== 'object' ? { [shownKey.name]: id } : undefined
}
