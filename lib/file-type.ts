/**
 * File type: the type of a column that was read from a SQLite file, as MikroORM takes it. Properties hold what the file holds, unchanged, whatever it
 * is: so a value that does not fit its declared type stays as it is until somebody writes another one. The engine makes and shows the values.
 */
import { Type } from '@mikro-orm/core'
import type { ScalarType } from './scalars.ts'

export class FileType extends Type<unknown, unknown> {
  readonly scalar: ScalarType
  /** The rowid of a table without a key: nobody sees it, but records come in its order. */
  readonly isRowid: boolean

  constructor(scalar: ScalarType, isRowid = false) {
    super()
    this.scalar = Object.freeze(scalar)
    this.isRowid = isRowid
  }

  override get runtimeType(): string {
    return 'unknown'
  }

  /** Stored values need no conversion to be compared. */
  override ensureComparable(): boolean {
    return false
  }

  override getColumnType(): string {
    return 'blob'
  }
}
