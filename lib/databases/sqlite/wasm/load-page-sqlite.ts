/** Loads SQLite's WebAssembly for the engines of a page (`loadSqlite`). */
import { giveSmallBuffer } from '../../../foundation/page/give-buffer.ts'
import { loadSqlite as start } from './open-wasm.ts'
import { webAssembly, type WasmModule } from './web-assembly.ts'

/** An address, an answer of `fetch`, bytes, or a compiled `WebAssembly.Module`. */
export type SqliteSource = string | URL | Response | Promise<Response> | ArrayBuffer | Uint8Array | WasmModule

/** @throws Error for an address that gives no WebAssembly of SQLite */
export async function loadSqlite(wasm: SqliteSource): Promise<void> {
  giveSmallBuffer()
  await start(() => compile(wasm))
}

async function compile(wasm: SqliteSource): Promise<WasmModule> {
  const given = typeof wasm === 'string' || wasm instanceof URL ? fetch(wasm) : wasm
  const found: WasmModule = given instanceof Promise ? await given : given
  if (found instanceof Uint8Array) return webAssembly.compile(found)
  if (found instanceof ArrayBuffer) return webAssembly.compile(new Uint8Array(found))
  if (!(found instanceof Response)) return found
  if (!found.ok) throw new Error(`loadSqlite: ${found.url} answers ${found.status}.`)
  return webAssembly.compile(new Uint8Array(await found.arrayBuffer()))
}
