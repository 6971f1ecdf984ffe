/** Type classes for columns of files and existing databases. Introspection finds the `ScalarType`: MikroORM's types say too little. */
import { DoubleType, Type } from '@mikro-orm/core'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export abstract class DescribedType extends Type<unknown, unknown> {
  abstract readonly scalar: ScalarType
  /** Whether the column only orders records, without an attribute. */
  abstract readonly ordersRecords: boolean
}

/** The place of a record in the JSON file. */
export class PlaceType extends DoubleType {}
