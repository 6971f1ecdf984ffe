/** SQLite's numbers for the types of values. */

export const INTEGER = 1
export const FLOAT = 2
export const TEXT = 3
export const BLOB = 4

/** SQLite copies a text or bytes at once (SQLITE_TRANSIENT). */
export const COPIED = -1

export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array
}
