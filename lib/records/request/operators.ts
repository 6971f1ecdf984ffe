/** The table of filter operators (`=`, `!=`, `>=`), with their meaning, for the parser, the planner, hints and docs. */
import type { FilterSign } from '../../model/client/query-names.ts'

/** Takes several values, takes one, or negates another operator. */
export type FilterOperator =
  | { readonly compares: 'values'; readonly fold: Fold }
  | { readonly compares: 'order' }
  | { readonly negates: '=' }

/** What to ignore in texts: nothing, case, or case and accents. */
export type Fold = 0 | 1 | 2

/** Signs end with `=`, `<` or `>`. */
export const OPERATORS = {
  '=': { compares: 'values', fold: 0 },
  '!=': { negates: '=' },
  '~=': { compares: 'values', fold: 1 },
  '~~=': { compares: 'values', fold: 2 },
  '>=': { compares: 'order' },
  '<=': { compares: 'order' },
  '>': { compares: 'order' },
  '<': { compares: 'order' },
} as const satisfies Record<FilterSign, FilterOperator>

type Operators = typeof OPERATORS

export type Sign = keyof Operators

export type Operator = { [sign in Sign]: Operators[sign] extends { readonly negates: string } ? never : sign }[Sign]

export type OrderOperator = { [sign in Sign]: Operators[sign] extends { readonly compares: 'order' } ? sign : never }[Sign]

const SIGNS = Object.keys(OPERATORS) as readonly Sign[]

/** For generated clients, with `=` behind names. */
export type ListedSign = Extract<Sign, `${string}=`>

/** The sign without `=`. Descriptions append it to a name: `age>`. */
export type OperatorMark = ListedSign extends infer S ? (S extends `${infer M}=` ? M : never) : never

export const SIGN_OF_MARK = Object.fromEntries(SIGNS.filter(sign => sign.endsWith('=')).map(sign => [sign.slice(0, -1), sign])) as Readonly<
  Record<OperatorMark, ListedSign>
>

/** `<` and `>` end a name. */
const ANGLES: readonly string[] = SIGNS.filter(sign => !sign.endsWith('='))

/** `!=`, `~=` and `~~=` without `=`, the longest first. */
const MARKS: readonly string[] = SIGNS.filter(sign => sign.length > 1 && !ANGLES.includes(sign[0]!))
  .map(sign => sign.slice(0, -1))
  .toSorted((one, other) => other.length - one.length)

/** The operator behind a name: nothing for `=`. */
export type WrittenSign = '' | Exclude<Sign, '='>

export function isAngle(sign: string): sign is '<' | '>' {
  return ANGLES.includes(sign)
}

const ANGLE = new RegExp(`[${ANGLES.join('')}]`)

export function findAngle(name: string): number {
  return name.search(ANGLE)
}

/** `name!` before `=` is `!=`. */
export function findMarked(name: string): WrittenSign | undefined {
  const mark = MARKS.find(each => name.endsWith(each))
  return mark === undefined ? undefined : (`${mark}=` as WrittenSign)
}

/** A refused comparison still tells the path: `pin!~` is `pin`. */
export function cutMarks(name: string): string {
  const sign = findMarked(name)
  return sign === undefined ? name : cutMarks(name.slice(0, 1 - sign.length))
}

/** Finds `>=` at the end of `age>=`. */
export function findSignAtEnd(key: string): WrittenSign {
  const last = key.at(-1) ?? ''
  if (isAngle(last)) return last
  if (last !== '=') return ''
  return findMarked(key.slice(0, -1)) ?? (isAngle(key.at(-2) ?? '') ? (key.slice(-2) as WrittenSign) : '')
}

export function isOrderOperator(operator: Operator): operator is OrderOperator {
  return OPERATORS[operator].compares === 'order'
}

/** If folded, plain values match as patterns do. */
export function foldOf({ operator }: { readonly operator: Operator }): Fold {
  const compared = OPERATORS[operator]
  return compared.compares === 'values' ? compared.fold : 0
}
