/** Binds values of JavaScript to a statement, and reads columns. */
import type { Sqlite } from './load-sqlite.ts'
import { BLOB, COPIED, FLOAT, INTEGER, TEXT, isBytes } from './value-kinds.ts'

/**
 * @param index from 1
 * @returns SQLite's code
 */
export function bindValue({ calls, heap }: Sqlite, statement: number, index: number, value: unknown): number {
  switch (typeof value) {
    case 'string':
      return heap.withText(value, (at, length) => calls.sqlite3_bind_text(statement, index, at, length, COPIED))
    case 'number':
      return calls.sqlite3_bind_double(statement, index, value)
    case 'bigint':
      if (BigInt.asIntN(64, value) !== value) throw new RangeError('The bound string, buffer, or bigint is too big')
      return calls.sqlite3_bind_int64(statement, index, value)
    default:
      if (value === null || value === undefined) return calls.sqlite3_bind_null(statement, index)
      if (!isBytes(value)) throw new TypeError('SQLite3 can only bind numbers, strings, bigints, buffers, and null')
      if (value.length === 0) return calls.sqlite3_bind_zeroblob(statement, index, 0)
      return heap.withBytes(value, (at, length) => calls.sqlite3_bind_blob(statement, index, at, length, COPIED))
  }
}

export function readColumn({ calls, heap }: Sqlite, statement: number, column: number, safeIntegers: boolean): unknown {
  switch (calls.sqlite3_column_type(statement, column)) {
    case INTEGER:
      return safeIntegers ? calls.sqlite3_column_int64(statement, column) : calls.sqlite3_column_double(statement, column)
    case FLOAT:
      return calls.sqlite3_column_double(statement, column)
    case TEXT: {
      const at = calls.sqlite3_column_text(statement, column)
      return heap.readText(at, calls.sqlite3_column_bytes(statement, column))
    }
    case BLOB: {
      const at = calls.sqlite3_column_blob(statement, column)
      return heap.readBlob(at, calls.sqlite3_column_bytes(statement, column))
    }
    default:
      return null
  }
}
