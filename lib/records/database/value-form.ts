/**
 * Value form: the forms in which a value becomes a parameter. Every database has the plain one, `'value'`: the value as it is stored. What
 * a database compares besides (the bounds of a range, a spelling, a pattern) are forms of its flavour's own.
 */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export type ValueForm = 'value' | OwnForm | OwnPatternForm

/** A form of a flavour's own, of one value. */
export interface OwnForm {
  readonly of: 'value'
  /** Makes the parameter of a value. */
  readonly encode: (value: unknown, type: ScalarType) => unknown
  /** Whether a value that is not of its attribute's type is given as the text that it is, instead of NULL. */
  readonly takesMisfits?: boolean
}

/** A form of a flavour's own, of a wildcard pattern. */
export interface OwnPatternForm {
  readonly of: 'pattern'
  /** Makes the parameter of the texts between the wildcards. */
  readonly encode: (pieces: readonly string[]) => unknown
}
