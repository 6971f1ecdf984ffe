/** Binding: where the parameters of a statement come from. */
import type { KeyPart, Resource, ToOneOfAttribute } from '../../model/model.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { ValueForm } from './value-form.ts'

/** Where a parameter of a statement comes from. */
export type Binding =
  | {
      readonly from: 'filter'
      readonly filter: number
      readonly value: number
      readonly type: ScalarType
      readonly form: ValueForm
      readonly inDocument: boolean
    }
  | {
      readonly from: 'filterKey'
      readonly filter: number
      readonly value: number
      readonly resource: Resource
      readonly part: number
      readonly form: ValueForm
      /** See `KeyRef`: an ID of another resource is NULL. */
      readonly oneOf?: ToOneOfAttribute
    }
  /** All plain values of a filter, each in these forms, as one parameter; or all its patterns. */
  | {
      readonly from: 'filterList'
      readonly filter: number
      readonly type: ScalarType
      readonly forms: readonly ValueForm[]
      readonly inDocument: boolean
    }
  | { readonly from: 'filterPatterns'; readonly filter: number }
  /** All IDs of a filter, of a resource with a key of one part, as one parameter. */
  | {
      readonly from: 'filterKeys'
      readonly filter: number
      readonly resource: Resource
      readonly forms: readonly ValueForm[]
      readonly oneOf?: ToOneOfAttribute
    }
  /** A part of the key in the path. */
  | { readonly from: 'key'; readonly part: number; readonly type: ScalarType; readonly form: ValueForm }
  /** The keys of the rows above, for a statement that reads one relation of all of them. */
  | { readonly from: 'links'; readonly parts: readonly KeyPart[] }
  /** A part of the key of the one row above. */
  | { readonly from: 'link'; readonly part: number; readonly type: ScalarType }
  | { readonly from: 'limit' }
  | { readonly from: 'offset' }
  /** The number up to which records are counted. */
  | { readonly from: 'most' }
  | { readonly from: 'literal'; readonly value: unknown }
  /** A value of a scope or custom parameter. */
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
  /** A value of the model's own. */
  | { readonly from: 'model'; readonly value: unknown; readonly type: ScalarType; readonly form: ValueForm; readonly inDocument: boolean }
  /** A value that is written to a column, or the key of a row that is written: of that type; undefined: of the column's own. */
  | { readonly from: 'written'; readonly type: ScalarType | undefined }
  /** One of the values that the engine itself asks for. */
  | { readonly from: 'given'; readonly index: number; readonly type: ScalarType }
