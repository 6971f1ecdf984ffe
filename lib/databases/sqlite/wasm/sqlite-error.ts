/** Errors with the codes and texts of SQLite. */
import type { RawError } from '../driver/raw-database.ts'
import type { Sqlite } from './load-sqlite.ts'

export class SqliteError extends Error implements RawError {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.name = 'SqliteError'
    this.code = code
  }
}

/** @param db the address of the database with the error */
export function errorOf({ calls, heap, nameCode }: Sqlite, db: number): SqliteError {
  const message = heap.readCText(calls.sqlite3_errmsg(db)) ?? ''
  return new SqliteError(message, nameCode(calls.sqlite3_extended_errcode(db)))
}
