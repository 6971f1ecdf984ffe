/** Checks type, enum items and length of a value in a body. */
import { isUnreachable } from '../../model/key.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import { countCharacters, describeScalar, readScalar, type ScalarType, type ScalarValue } from '../../foundation/values/scalar-type.ts'
import { suggestName, type ValidationContext } from './validation-context.ts'
import type { ValueInput } from './record-input.ts'

export function validateScalar(attribute: ScalarAttribute, value: unknown, context: ValidationContext): ValueInput | undefined {
  const { type } = attribute
  const valid = readValid(value, type, context.dialect)
  if (valid !== undefined) return { attribute, path: context.path, value: valid }
  const typed = readScalar(value, type)
  if (typed === undefined || (type.kind === 'text' && !(typed as string).isWellFormed())) return refuseValue(attribute, value, context)
  const needed = context.dialect.describeUnstorable(typed, type)
  if (needed !== undefined) return context.error('value_invalid', `must be ${needed}.`, shownValue(attribute, value))
  return context.error('too_long', `may have at most ${type.length} characters.`, shownValue(attribute, value))
}

/** Refuses a key without a possible path. */
export function refuseUnreachable({ attribute, value }: ValueInput, resource: Resource, context: ValidationContext): void {
  if (context.keepsUnreachable || !isUnreachable(value, attribute.name, resource)) return
  const text = 'is the ID of the record in paths: it must not be empty, "." or "..", and must not contain NUL.'
  context.error('value_invalid', text, { value })
}

/**
 * Returns undefined for a refused value.
 *
 * @param dialect undefined: the database stores all values
 */
export function readValid(value: unknown, type: ScalarType, dialect: ValidationContext['dialect'] | undefined): ScalarValue | undefined {
  const typed = readScalar(value, type)
  if (typed === undefined || (dialect !== undefined && dialect.describeUnstorable(typed, type) !== undefined)) return undefined
  if (type.kind !== 'text') return typed
  const text = typed as string
  if (!text.isWellFormed()) return undefined
  const { length } = type
  // A character takes one unit of `length`, or two.
  return length !== undefined && text.length > length && countCharacters(text) > length ? undefined : typed
}

/** No answer repeats a hidden value: a password. */
function shownValue({ hidden }: ScalarAttribute, value: unknown): { value?: unknown } {
  return hidden ? {} : { value }
}

function refuseValue(attribute: ScalarAttribute, value: unknown, context: ValidationContext): undefined {
  const { type } = attribute
  const shown = shownValue(attribute, value)
  const text = `must be ${describeScalar(type)}.`
  const { items } = type
  if (items === undefined) return context.error('value_invalid', text, shown)
  const suggested = type.kind !== 'array' && typeof value === 'string' ? suggestName(value, items.map(String)) : {}
  return context.error('not_allowed', text, { ...shown, allowed: items, ...suggested })
}
