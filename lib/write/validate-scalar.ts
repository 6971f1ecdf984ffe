/** Validates a scalar value of a body: its type, the items of an enum, the length of a text. */
import type { ScalarAttribute } from '../model/model.ts'
import { countCharacters, describeScalar, readScalar } from '../values/scalar-type.ts'
import { suggestName } from './validation-context.ts'
import type { ValidationContext } from './validation-context.ts'
import type { ValueInput } from './record-input.ts'

export function validateScalar(attribute: ScalarAttribute, value: unknown, context: ValidationContext): ValueInput | undefined {
  const { type } = attribute
  const typed = readScalar(value, type)
  // An answer does not repeat a value that nobody may see: it may be a password.
  const shown = attribute.hidden ? {} : { value }
  if (typed === undefined || (type.kind === 'text' && !(typed as string).isWellFormed())) {
    const text = `must be ${describeScalar(type)}.`
    const { items } = type
    if (items === undefined) return context.error('value_invalid', text, shown)
    const suggested = type.kind !== 'array' && typeof value === 'string' ? suggestName(value, items.map(String)) : {}
    return context.error('not_allowed', text, { ...shown, allowed: items, ...suggested })
  }
  const needed = context.dialect.describeUnstorable(typed, type)
  if (needed !== undefined) return context.error('value_invalid', `must be ${needed}.`, shown)
  if (type.kind === 'text' && type.length !== undefined && countCharacters(typed as string) > type.length) {
    return context.error('too_long', `may have at most ${type.length} characters.`, shown)
  }
  return { attribute, path: context.path, value: typed }
}
