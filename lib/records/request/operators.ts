/** Operators: how filters compare, as one table by the sign that a query has. The parser, the planner, the hints and the docs read it. */

import type { FilterSign } from '../../model/client/query-names.ts'

/**
 * How an operator compares: with `values` (any of a list, wildcards, null), with one value by its `order`, or as the exact complement of
 * another operator (`negates`).
 */
export type FilterOperator =
  | { readonly compares: 'values'; readonly ignoresCase: boolean }
  | { readonly compares: 'order' }
  | { readonly negates: '=' }

/** A sign is one of `<` `>`, which stand alone, or ends with `=`. */
export const OPERATORS = {
  '=': { compares: 'values', ignoresCase: false },
  '!=': { negates: '=' },
  '~=': { compares: 'values', ignoresCase: true },
  '>=': { compares: 'order' },
  '<=': { compares: 'order' },
  '>': { compares: 'order' },
  '<': { compares: 'order' },
  // The typed client spells them, too: neither compiles without the other.
} as const satisfies Record<FilterSign, FilterOperator>

type Operators = typeof OPERATORS

/** An operator as a query has it. */
export type Sign = keyof Operators

/** An operator that is not the complement of another. */
export type Operator = { [sign in Sign]: Operators[sign] extends { readonly negates: string } ? never : sign }[Sign]

/** An operator that compares with one value by its order. */
export type OrderOperator = { [sign in Sign]: Operators[sign] extends { readonly compares: 'order' } ? sign : never }[Sign]

const SIGNS = Object.keys(OPERATORS) as readonly Sign[]

/** A sign that ends with `=`, which is what stands between a parameter and its value in generated clients. */
export type ListedSign = Extract<Sign, `${string}=`>

/** What such a sign has before its `=`, as descriptions have it behind the name of a parameter. */
export type OperatorMark = ListedSign extends infer S ? (S extends `${infer M}=` ? M : never) : never

/** The signs by their marks. */
export const SIGN_OF_MARK = Object.fromEntries(SIGNS.filter(sign => sign.endsWith('=')).map(sign => [sign.slice(0, -1), sign])) as Readonly<
  Record<OperatorMark, ListedSign>
>

/** The signs without `=`: a name ends at the first of them. */
const ANGLES: readonly string[] = SIGNS.filter(sign => !sign.endsWith('='))

/** The characters before the `=` of the other signs: a name that ends with one of them has that operator. */
const MARKS: readonly string[] = SIGNS.filter(sign => sign.length > 1 && !ANGLES.includes(sign[0]!)).map(sign => sign[0]!)

/** The operator of a filter, as it is written behind its name: `=` is left out. */
export type WrittenSign = '' | Exclude<Sign, '='>

/** Whether the character of a sign stands alone, so that no `=` has to follow: `<` and `>`. */
export function isAngle(sign: string): sign is '<' | '>' {
  return ANGLES.includes(sign)
}

const ANGLE = new RegExp(`[${ANGLES.join('')}]`)

/** Finds the first `<` or `>` of a name; -1 where there is none. */
export function findAngle(name: string): number {
  return name.search(ANGLE)
}

/** Finds the operator whose mark is the character before `=`: `!` is that of `!=`. */
export function findMarked(mark: string | undefined): WrittenSign | undefined {
  return mark !== undefined && MARKS.includes(mark) ? (`${mark}=` as WrittenSign) : undefined
}

/** Finds the operator that a whole key ends with: `age>=`. */
export function findSignAtEnd(key: string): WrittenSign {
  const last = key.at(-1) ?? ''
  if (isAngle(last)) return last
  const two = key.slice(-2)
  return two.length === 2 && Object.hasOwn(OPERATORS, two) ? (two as WrittenSign) : ''
}

/** Whether an operator compares with one value by its order. */
export function isOrderOperator(operator: Operator): operator is OrderOperator {
  return OPERATORS[operator].compares === 'order'
}

/** Whether a filter matches without regard to case, so that plain values are matched as wildcards are. */
export function isFolded({ operator }: { readonly operator: Operator }): boolean {
  const compared = OPERATORS[operator]
  return compared.compares === 'values' && compared.ignoresCase
}
