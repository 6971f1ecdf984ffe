/** The public exports for a page, the entry `mikro-rest/browser`. */
import { loadSqlite as startSqlite, type SqliteSource } from './databases/sqlite/wasm/load-page-sqlite.ts'
export type { SqliteSource }
export * from './everywhere.ts'
export { serveOn } from './doors/page/serve-port.ts'
export { removeWorld } from './engine/persistence/remove-world.ts'

/**
 * Loads SQLite before a page's first engine. Later calls do nothing.
 *
 * @param wasm `mikro-rest/sqlite3.wasm`, or that of `@sqlite.org/sqlite-wasm`: its address, an answer of `fetch`, its bytes, or its module
 * @throws Error for an address that gives no WebAssembly of SQLite
 * @example
 * import wasm from 'mikro-rest/sqlite3.wasm?url'
 * await loadSqlite(wasm)
 */
export async function loadSqlite(wasm: SqliteSource): Promise<void> {
  // `RestEngine.create` loads the files again, and says what fails.
  for (const loading of [import('./engine/assembly/open-engine.ts'), import('./databases/sqlite/open.ts')]) loading.catch(() => {})
  await startSqlite(wasm)
}
