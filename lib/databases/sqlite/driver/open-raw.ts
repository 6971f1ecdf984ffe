/** Opens SQLite by better-sqlite3. No other file imports the package. */
import Database from 'better-sqlite3'
import type { RawDatabase, RawError, RawOptions } from './raw-database.ts'

/** @param source `:memory:`, a path (created when missing), or the bytes of a database */
export function openRaw(source: string | Uint8Array, options?: RawOptions): RawDatabase {
  return new Database(typeof source === 'string' ? source : toRawBytes(source), options)
}

export function isRawError(error: unknown): error is RawError {
  return error instanceof Database.SqliteError
}

export function toRawBytes(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Node has Buffer. */
export function prepareBytes(): Promise<void> | undefined {
  return undefined
}
