/** MikroORM's type for a column of a SQLite file. Properties hold stored values unchanged. */
import { DescribedType } from '../../../model/metadata/described-type.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { formatStoredTime, type FileScalar } from '../sql/stored-time.ts'

/**
 * The type of a column with a stored form of its own, for `p.type` in a model of a SQLite file. `--eject` writes the type where no builder
 * of MikroORM reads and writes the same: date-times other than milliseconds, collations, columns without a type.
 *
 * @param isRowid the column is the rowid of a table without a key, by which records come
 * @example p.type(fileType({ kind: 'datetime', loose: true, time: { unit: 'text', separator: ' ', clock: 'seconds', digits: 0, zone: '',
 * uniform: true } }))
 */
export function fileType(scalar: FileScalar, isRowid = false): FileType {
  return new FileType({ ...scalar, loose: true }, isRowid)
}

/** A type made by `fileType`: properties hold stored values. */
export class FileType extends DescribedType {
  readonly scalar: ScalarType
  /** The hidden rowid, by which records of a table without a key are sorted. */
  readonly isRowid: boolean

  constructor(scalar: FileScalar, isRowid = false) {
    super()
    this.scalar = Object.freeze({ ...scalar, toStored: (value: unknown) => formatStored(value, scalar) })
    this.isRowid = isRowid
  }

  get ordersRecords(): boolean {
    return this.isRowid
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

function formatStored(value: unknown, { kind, time }: FileScalar): unknown {
  switch (kind) {
    case 'datetime':
      return formatStoredTime(value as number, time!)
    case 'boolean':
      return value === true ? 1 : 0
    case 'decimal':
      return Number(value)
    case 'json':
      return JSON.stringify(value)
    default:
      return value
  }
}
