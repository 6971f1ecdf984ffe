/** Filter meaning: whether the value that a record shows meets a filter, as the reference defines filters. */
import type { Attribute } from '../model/model.ts'
import type { ListedFilter } from './subject.ts'
import { compareShown, findLinkedId, isOrdered, isPlainlyShown, isSameScalar } from './values.ts'

/** Returns whether shown values meet a filter with a value; undefined where that cannot be seen. */
export function findMeaning(attribute: Attribute, mark: ListedFilter['mark'], value: unknown): ((shown: unknown) => boolean) | undefined {
  if (!isPlainlyShown(attribute)) return undefined
  const isEqual = findEquality(attribute, value)
  if (isEqual === undefined) return undefined
  if (mark === '') return isEqual
  if (mark === '!') return shown => !isEqual(shown)
  if (attribute.kind !== 'scalar' || !isOrdered(attribute.type)) return undefined
  const { type } = attribute
  if (mark === '>') return shown => shown !== null && compareShown(type, shown, value) >= 0
  if (mark === '<') return shown => shown !== null && compareShown(type, shown, value) <= 0
  return shown => isEqual(shown) || (typeof shown === 'string' && typeof value === 'string' && fold(shown) === fold(value))
}

function findEquality(attribute: Attribute, value: unknown): ((shown: unknown) => boolean) | undefined {
  if (attribute.kind === 'scalar') {
    if (!isOrdered(attribute.type)) return undefined
    return shown => shown === value || isSameScalar(attribute.type, shown, value)
  }
  if (attribute.kind === 'toOne') return shown => (findLinkedId(shown, attribute.target) ?? null) === value
  if (attribute.kind === 'toMany') {
    const { target } = attribute
    return shown =>
      value === null ? (shown as unknown[]).length === 0 : (shown as unknown[]).some(each => findLinkedId(each, target) === value)
  }
  return undefined
}

function fold(text: string): string {
  return text.toLowerCase()
}
