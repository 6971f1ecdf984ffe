/** How a value becomes a parameter, as stored (`'value'`), or encoded by one database, as for a bound, a spelling, a pattern. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export type ValueForm = 'value' | OwnForm | OwnPatternForm

export interface OwnForm {
  readonly of: 'value'
  readonly encode: (value: unknown, type: ScalarType) => unknown
  /** A wrong type becomes a text, not NULL. */
  readonly takesMisfits?: boolean
}

export interface OwnPatternForm {
  readonly of: 'pattern'
  /** Takes the texts between the wildcards. */
  readonly encode: (pieces: readonly string[]) => unknown
}
