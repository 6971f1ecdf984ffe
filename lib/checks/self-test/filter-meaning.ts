/** Finds out whether a shown value meets a filter, to check a list by its records. */
import type { Attribute } from '../../model/model.ts'
import { withoutAccents } from '../../foundation/values/accents.ts'
import { OPERATORS, type FilterOperator, type Fold, type OrderOperator, type Sign } from '../../records/request/operators.ts'
import { compareShown, findLinkedId, isOrdered, isPlainlyShown, isSameScalar } from './values.ts'

const ORDERS: { readonly [sign in OrderOperator]: (order: number) => boolean } = {
  '>=': order => order >= 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '<': order => order < 0,
}

/** @returns undefined where shown values do not tell */
export function findMeaning(attribute: Attribute, sign: Sign, value: unknown): ((shown: unknown) => boolean) | undefined {
  if (!isPlainlyShown(attribute)) return undefined
  const isEqual = findEquality(attribute, value)
  if (isEqual === undefined) return undefined
  const operator: FilterOperator = OPERATORS[sign]
  if ('negates' in operator) {
    const meets = findMeaning(attribute, operator.negates, value)
    return meets === undefined ? undefined : shown => !meets(shown)
  }
  if (operator.compares === 'values' && operator.fold === 0) return isEqual
  if (attribute.kind !== 'scalar' || !isOrdered(attribute.type)) return undefined
  const { type } = attribute
  if (operator.compares === 'values')
    return shown =>
      isEqual(shown) ||
      (typeof shown === 'string' && typeof value === 'string' && folded(shown, operator.fold) === folded(value, operator.fold))
  const meets = ORDERS[sign as OrderOperator]
  return shown => shown !== null && meets(compareShown(type, shown, value))
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

function folded(text: string, fold: Fold): string {
  return (fold === 2 ? withoutAccents(text) : text).toLowerCase()
}
