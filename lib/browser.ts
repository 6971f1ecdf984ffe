/** The public exports for a page, the entry `mikro-rest/browser`. */
import { loadSqlite as startSqlite, type SqliteSource } from './databases/sqlite/wasm/load-page-sqlite.ts'
export type { SqliteSource }
export * from './everywhere.ts'
export { serveOn } from './doors/page/serve-port.ts'
export { removeWorld } from './engine/persistence/remove-world.ts'

/**
 * Loads SQLite before the first engine of a page. Later calls do nothing.
 *
 * @param wasm `sqlite3.wasm` of the package `@sqlite.org/sqlite-wasm`: its address, an answer of `fetch`, its bytes, or its module
 * @throws Error for an address that gives no WebAssembly of SQLite
 * @example
 * import wasm from '@sqlite.org/sqlite-wasm/sqlite3.wasm?url'
 * await loadSqlite(wasm)
 */
export async function loadSqlite(wasm: SqliteSource): Promise<void> {
  // `RestEngine.create` loads the files again, and says what fails.
  for (const loading of [import('./engine/assembly/open-engine.ts'), import('./databases/sqlite/open.ts')]) loading.catch(() => {})
  await startSqlite(wasm)
}
