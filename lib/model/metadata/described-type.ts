/** Described type: the database describes the column's type, where MikroORM's types do not say enough. */
import { DoubleType, Type } from '@mikro-orm/core'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export abstract class DescribedType extends Type<unknown, unknown> {
  abstract readonly scalar: ScalarType
  /** Whether the column is no attribute, but orders the records. */
  abstract readonly ordersRecords: boolean
}

export class PlaceType extends DoubleType {}
