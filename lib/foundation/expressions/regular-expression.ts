/**
 * A parsed regular expression, for `^An*` a start, a letter, and a repeated letter. `checkWeight` refuses expressions that PostgreSQL would
 * read for seconds.
 */
import type { CharacterSet } from './character-set.ts'

export type RegularExpression =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence' | 'choice'; readonly of: readonly RegularExpression[] }
  /** `most` may be Infinity. */
  | { readonly kind: 'repeat'; readonly of: RegularExpression; readonly least: number; readonly most: number }

/** Limits characters and groups, with repetitions written out. */
const MAX_SIZE = 1000
/** Limits parts with an empty match, with repetitions written out: PostgreSQL takes half a minute for `((a?){30}){30}`. */
const MAX_OPTIONAL = 256

/** In PostgreSQL's words. */
export const TOO_COMPLEX = 'regular expression is too complex'

/** Limits `^` and `$` in a row: PostgreSQL reads `(^|$|a?)` eight times in milliseconds, twelve times in seconds. */
const MAX_BORDERS = 8

export function checkWeight(expression: RegularExpression, refuse: (what: string) => Error): void {
  const { size, optional, borders } = weigh(expression)
  if (size > MAX_SIZE) throw refuse(`${TOO_COMPLEX}; with repetitions written out, it may have ${MAX_SIZE} characters`)
  if (optional > MAX_OPTIONAL) throw refuse(`${TOO_COMPLEX}; with repetitions written out, ${MAX_OPTIONAL} parts may be empty`)
  if (borders > MAX_BORDERS) throw refuse(`${TOO_COMPLEX}; with repetitions written out, "^" and "$" may stand ${MAX_BORDERS} times`)
}

interface ExpressionWeight {
  readonly size: number
  readonly optional: number
  readonly mayBeEmpty: boolean
  readonly borders: number
}

const CHARACTER: ExpressionWeight = { size: 1, optional: 0, mayBeEmpty: false, borders: 0 }
const BORDER: ExpressionWeight = { ...CHARACTER, mayBeEmpty: true, borders: 1 }

function weigh(expression: RegularExpression): ExpressionWeight {
  switch (expression.kind) {
    case 'character':
      return CHARACTER
    case 'start':
    case 'end':
      return BORDER
    case 'repeat': {
      const { least, most } = expression
      const part = weigh(expression.of)
      const copies = most === Infinity ? Math.max(least, 1) : most
      const empty = part.mayBeEmpty ? copies : most === Infinity ? Number(least === 0) : most - least
      return {
        size: 1 + copies * part.size,
        optional: copies * part.optional + empty,
        mayBeEmpty: least === 0 || part.mayBeEmpty,
        borders: part.borders === 0 ? 0 : part.borders * most,
      }
    }
    default: {
      const parts = expression.of.map(weigh)
      const sum = (of: 'size' | 'optional' | 'borders'): number => parts.reduce((all, part) => all + part[of], 0)
      const isChoice = expression.kind === 'choice'
      const mayBeEmpty = isChoice ? parts.some(part => part.mayBeEmpty) : parts.every(part => part.mayBeEmpty)
      return {
        size: 1 + sum('size'),
        optional: sum('optional') + Number(isChoice && mayBeEmpty),
        mayBeEmpty,
        borders: isChoice ? Math.max(...parts.map(part => part.borders)) : sum('borders'),
      }
    }
  }
}
