/** Opens SQLite in WebAssembly, in memory, for pages. The twin of `driver/open-raw.ts`. */
import { giveBuffer } from '../../../foundation/page/give-buffer.ts'
import type { RawError, RawOptions } from '../driver/raw-database.ts'
import { startSqlite, type Sqlite } from './load-sqlite.ts'
import { SqliteError, WasmDatabase } from './wasm-database.ts'
import type { WasmModule } from './web-assembly.ts'

let started: Promise<Sqlite> | undefined
let sqlite: Sqlite | undefined

/**
 * Starts SQLite, once.
 *
 * @param find compiles `sqlite3.wasm` of `@sqlite.org/sqlite-wasm`
 */
export async function loadSqlite(find: () => Promise<WasmModule>): Promise<void> {
  started ??= find().then(startSqlite)
  try {
    sqlite = await started
  } catch (error) {
    // The next call tries again.
    started = undefined
    throw error
  }
}

/** @param source `:memory:`, or the bytes of a database */
export function openRaw(source: string | Uint8Array, { readonly = false }: RawOptions = {}): WasmDatabase {
  if (sqlite === undefined) throw new Error('SQLite is not loaded: call loadSqlite() first.')
  if (typeof source === 'string' && source !== ':memory:')
    throw new TypeError(`SQLite in WebAssembly has no files: ${JSON.stringify(source)} cannot be opened, ":memory:" can.`)
  const db = new WasmDatabase(sqlite, typeof source === 'string' ? undefined : source)
  if (readonly) db.pragma('query_only = on')
  return db
}

export function isRawError(error: unknown): error is RawError {
  return error instanceof SqliteError
}

/** Only better-sqlite3 needs a Buffer. */
export function toRawBytes(bytes: Uint8Array): Uint8Array {
  return bytes
}

/** Values of the model have the class Buffer. */
export function prepareBytes(): Promise<void> | undefined {
  return giveBuffer()
}
