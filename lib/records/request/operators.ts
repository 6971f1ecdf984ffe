/** Operators: how filters compare. The parser, the planner, hints and docs read this table. */

import type { FilterSign } from '../../model/client/query-names.ts'

/** Compares with any of several values, with one value by order, or as the complement of another operator. */
export type FilterOperator =
  | { readonly compares: 'values'; readonly ignoresCase: boolean }
  | { readonly compares: 'order' }
  | { readonly negates: '=' }

/** A sign ends with `=`, or is `<` or `>`. */
export const OPERATORS = {
  '=': { compares: 'values', ignoresCase: false },
  '!=': { negates: '=' },
  '~=': { compares: 'values', ignoresCase: true },
  '>=': { compares: 'order' },
  '<=': { compares: 'order' },
  '>': { compares: 'order' },
  '<': { compares: 'order' },
  // The typed client lists the signs, too; `satisfies` fails if the two lists differ.
} as const satisfies Record<FilterSign, FilterOperator>

type Operators = typeof OPERATORS

export type Sign = keyof Operators

export type Operator = { [sign in Sign]: Operators[sign] extends { readonly negates: string } ? never : sign }[Sign]

export type OrderOperator = { [sign in Sign]: Operators[sign] extends { readonly compares: 'order' } ? sign : never }[Sign]

const SIGNS = Object.keys(OPERATORS) as readonly Sign[]

/** Generated clients put `=` between name and value, so they can send these signs alone. */
export type ListedSign = Extract<Sign, `${string}=`>

/** The sign without `=`, which descriptions append to a name: `age>`. */
export type OperatorMark = ListedSign extends infer S ? (S extends `${infer M}=` ? M : never) : never

export const SIGN_OF_MARK = Object.fromEntries(SIGNS.filter(sign => sign.endsWith('=')).map(sign => [sign.slice(0, -1), sign])) as Readonly<
  Record<OperatorMark, ListedSign>
>

/** Signs without `=` end a name. */
const ANGLES: readonly string[] = SIGNS.filter(sign => !sign.endsWith('='))

/** The first characters of `!=` and `~=`. */
const MARKS: readonly string[] = SIGNS.filter(sign => sign.length > 1 && !ANGLES.includes(sign[0]!)).map(sign => sign[0]!)

/** An operator behind a name: nothing for `=`. */
export type WrittenSign = '' | Exclude<Sign, '='>

export function isAngle(sign: string): sign is '<' | '>' {
  return ANGLES.includes(sign)
}

const ANGLE = new RegExp(`[${ANGLES.join('')}]`)

export function findAngle(name: string): number {
  return name.search(ANGLE)
}

/** The character `!` before `=` makes `!=`. */
export function findMarked(mark: string | undefined): WrittenSign | undefined {
  return mark !== undefined && MARKS.includes(mark) ? (`${mark}=` as WrittenSign) : undefined
}

/** Finds the operator at the end of a key: `age>=`. */
export function findSignAtEnd(key: string): WrittenSign {
  const last = key.at(-1) ?? ''
  if (isAngle(last)) return last
  const two = key.slice(-2)
  return two.length === 2 && Object.hasOwn(OPERATORS, two) ? (two as WrittenSign) : ''
}

export function isOrderOperator(operator: Operator): operator is OrderOperator {
  return OPERATORS[operator].compares === 'order'
}

/** Without case, plain values are matched like wildcards. */
export function isFolded({ operator }: { readonly operator: Operator }): boolean {
  const compared = OPERATORS[operator]
  return compared.compares === 'values' && compared.ignoresCase
}
