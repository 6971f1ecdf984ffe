/** Where a parameter of a statement comes from, such as a filter, a key, a scope, the page, a value to write. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { KeyPart, Resource, ToOneOfAttribute } from '../../model/model.ts'

export type Binding =
  | {
      readonly from: 'filter'
      readonly filter: number
      readonly value: number
      readonly type: ScalarType
      readonly form: ValueForm
      readonly inDocument: boolean
      readonly isPlain?: boolean
    }
  | {
      readonly from: 'filterKey'
      readonly filter: number
      readonly value: number
      readonly resource: Resource
      readonly part: number
      readonly form: ValueForm
      /** IDs name their resource (`post:7`): others become NULL. */
      readonly oneOf?: ToOneOfAttribute
    }
  /** All plain values, in all forms, as one parameter. */
  | {
      readonly from: 'filterList'
      readonly filter: number
      readonly type: ScalarType
      readonly forms: readonly ValueForm[]
      readonly inDocument: boolean
    }
  | { readonly from: 'filterPatterns'; readonly filter: number }
  /** All IDs, as one parameter. */
  | {
      readonly from: 'filterKeys'
      readonly filter: number
      readonly resource: Resource
      readonly forms: readonly ValueForm[]
      readonly oneOf?: ToOneOfAttribute
    }
  /** `isPlain`: the database takes the engine's value as it is. */
  | { readonly from: 'key'; readonly part: number; readonly type: ScalarType; readonly form: ValueForm; readonly isPlain?: boolean }
  /** All owners' keys, for one statement. */
  | { readonly from: 'links'; readonly parts: readonly KeyPart[] }
  /** The key of the only owner. */
  | { readonly from: 'link'; readonly part: number; readonly type: ScalarType }
  | { readonly from: 'limit' }
  | { readonly from: 'offset' }
  | { readonly from: 'most' }
  | { readonly from: 'cursor'; readonly index: number }
  | { readonly from: 'literal'; readonly value: unknown }
  | {
      readonly from: 'scope'
      readonly of: Resource | undefined
      readonly index: number
      readonly type: ScalarType
      readonly form: ValueForm
      readonly inDocument: boolean
    }
  | {
      readonly from: 'scopeKey'
      readonly of: Resource | undefined
      readonly index: number
      readonly part: number
      readonly type: ScalarType
      readonly form: ValueForm
    }
  | { readonly from: 'model'; readonly value: unknown; readonly type: ScalarType; readonly form: ValueForm; readonly inDocument: boolean }
  /** A value to write, or the key of a row. `type` undefined: the column's. */
  | { readonly from: 'written'; readonly type: ScalarType | undefined }
  | { readonly from: 'given'; readonly index: number; readonly type: ScalarType }

/** How a value becomes a parameter: as stored (`'value'`), or encoded by one database, as for a bound, a spelling, a pattern. */
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
