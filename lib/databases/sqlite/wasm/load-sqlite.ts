/** Starts SQLite's WebAssembly of the package `@sqlite.org/sqlite-wasm`, without the JavaScript of the package. */
import { Callbacks } from './callbacks.ts'
import { Heap } from './heap.ts'
import type { SqliteCalls } from './sqlite-calls.ts'
import { MAX_MEMORY, makeSystemCalls, unknownCall } from './system-calls.ts'
import { webAssembly, type WasmModule } from './web-assembly.ts'

/** In pages of 64 KiB. */
const FIRST_PAGES = 128

export interface Sqlite {
  readonly calls: SqliteCalls
  readonly heap: Heap
  readonly callbacks: Callbacks
  /** Such as `SQLITE_CONSTRAINT_UNIQUE`. */
  readonly nameCode: (code: number) => string
}

/** @throws Error for WebAssembly that is not SQLite's */
export async function startSqlite(module: WasmModule): Promise<Sqlite> {
  const memory = new webAssembly.Memory({ initial: FIRST_PAGES, maximum: MAX_MEMORY / 65_536 })
  const heap = new Heap(memory)
  const known = makeSystemCalls(memory, heap)
  const imports: Record<string, Record<string, unknown>> = {}
  for (const { module: from, name, kind } of webAssembly.Module.imports(module)) {
    const value = kind === 'memory' ? memory : (known[name] ?? unknownCall)
    ;(imports[from] ??= {})[name] = value
  }
  const { exports } = await webAssembly.instantiate(module, imports)
  if (!('sqlite3_open_v2' in exports)) throw new Error('The WebAssembly is not SQLite: give sqlite3.wasm of @sqlite.org/sqlite-wasm.')
  const calls = exports as unknown as SqliteCalls
  const { __wasm_call_ctors: construct } = calls
  construct()
  heap.start(
    bytes => calls.malloc(bytes),
    at => calls.free(at),
  )
  calls.sqlite3_initialize()
  return { calls, heap, callbacks: await Callbacks.create(calls, heap), nameCode: nameCodes(calls, heap) }
}

function nameCodes(calls: SqliteCalls, heap: Heap): (code: number) => string {
  let names: ReadonlyMap<number, string> | undefined
  const read = (): ReadonlyMap<number, string> => {
    const { resultCodes } = JSON.parse(heap.readCText(calls.sqlite3__wasm_enum_json())!) as { resultCodes: Record<string, number> }
    return new Map(Object.entries(resultCodes).map(([name, code]) => [code, name]))
  }
  return code => (names ??= read()).get(code) ?? `UNKNOWN_SQLITE_ERROR_${code}`
}
