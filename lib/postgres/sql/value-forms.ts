/** Value forms: the forms in which PostgreSQL compares values and wildcard patterns, beside the stored one. */
import type { OwnForm, OwnPatternForm } from '../../database/value-form.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { formatTime, keepPossible } from './encode.ts'

/** Of date-times: the next millisecond. */
export const TIME_NEXT: OwnForm = {
  of: 'value',
  encode: value => (value === null || value === undefined ? null : formatTime((value as number) + 1)),
}

/** A pattern of which no part has a NUL: no stored text has one. */
function pattern(encode: (pieces: readonly string[]) => unknown): OwnPatternForm {
  return { of: 'pattern', encode: pieces => (pieces.some(piece => keepPossible(piece) === null) ? null : encode(pieces)) }
}

/** Of `abc*`: the bounds between which the texts are. */
export const PREFIX_LOW = pattern(pieces => pieces[0])
export const PREFIX_HIGH = pattern(pieces => upperBound(pieces[0]!))

/** Of `*abc*`: the text in the middle. */
export const CONTAINED = pattern(pieces => pieces[1])

/** The pattern as LIKE takes it. */
export const LIKE = pattern(formatLike)
