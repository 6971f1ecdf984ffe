/**
 * Described type: the type of a column that the database itself describes to the model, where MikroORM's own types do not say what the
 * column holds.
 */
import { Type } from '@mikro-orm/core'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export abstract class DescribedType extends Type<unknown, unknown> {
  /** The type of the attribute. */
  abstract readonly scalar: ScalarType
  /** Whether the column is not an attribute, and its order is that of the records. */
  abstract readonly ordersRecords: boolean
}
