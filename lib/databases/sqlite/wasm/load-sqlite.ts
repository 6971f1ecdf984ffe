/** Starts SQLite's WebAssembly of the package `@sqlite.org/sqlite-wasm`, without the JavaScript of the package. */
import { Callbacks } from './callbacks.ts'
import { Heap } from './heap.ts'
import type { SqliteCalls } from './sqlite-calls.ts'
import { webAssembly, type WasmModule, type WasmMemory } from './web-assembly.ts'

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
  if (!('sqlite3_open_v2' in exports)) throw new Error('The WebAssembly is not SQLite: give mikro-rest/sqlite3.wasm.')
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

/** EBADF and ENOSYS are WASI's numbers. */
const ENOENT = 2
const EBADF = 8
const ENOSYS = 52

const PAGE_BYTES = 65_536
const RANDOM_FILE = '/dev/urandom'
const RANDOM_DESCRIPTOR = 3

/** The most of `crypto.getRandomValues`. */
const RANDOM_BYTES = 65_536

/** The maximum of `sqlite3.wasm`, in bytes. */
const MAX_MEMORY = 2 ** 31

type SystemCall = (...values: never[]) => number | undefined

function makeSystemCalls(memory: WasmMemory, heap: Heap): Readonly<Record<string, SystemCall>> {
  return {
    emscripten_date_now: () => Date.now(),
    emscripten_get_now: () => performance.now(),
    emscripten_get_heap_max: () => MAX_MEMORY,
    emscripten_resize_heap: (bytes: number) => Number(growMemory(memory, heap, bytes >>> 0)),
    clock_time_get: (_clock: number, _precision: bigint, at: number) => {
      heap.writeLong(at, BigInt(Math.round(Date.now() * 1e6)))
      return 0
    },
    _tzset_js: () => undefined,
    _localtime_js: (seconds: bigint, at: number) => {
      for (const [index, value] of splitLocalTime(new Date(Number(seconds) * 1000)).entries()) heap.writeNumber(at + 4 * index, value)
      return undefined
    },
    environ_sizes_get: (count: number, bytes: number) => {
      heap.writeNumber(count, 0)
      heap.writeNumber(bytes, 0)
      return 0
    },
    environ_get: () => 0,
    __syscall_openat: (_folder: number, path: number) => (heap.readCText(path) === RANDOM_FILE ? RANDOM_DESCRIPTOR : -ENOENT),
    fd_read: (descriptor: number, parts: number, count: number, read: number) => {
      if (descriptor !== RANDOM_DESCRIPTOR) return EBADF
      let bytes = 0
      for (let part = parts; part < parts + 8 * count; part += 8)
        bytes += fillRandom(heap, heap.readNumber(part), heap.readNumber(part + 4))
      heap.writeNumber(read, bytes)
      return 0
    },
    fd_close: (descriptor: number) => (descriptor === RANDOM_DESCRIPTOR ? 0 : EBADF),
  }
}

const unknownCall = (): number => -ENOSYS

function growMemory(memory: WasmMemory, heap: Heap, bytes: number): boolean {
  if (bytes > MAX_MEMORY) return false
  const had = memory.buffer.byteLength
  // A fifth more: the memory seldom grows.
  const wanted = Math.min(MAX_MEMORY, Math.max(bytes, Math.ceil(had * 1.2)))
  try {
    memory.grow(Math.ceil((wanted - had) / PAGE_BYTES))
  } catch (error) {
    // SQLite gives an error for lack of memory.
    if (error instanceof RangeError) return false
    throw error
  }
  heap.refresh()
  return true
}

function fillRandom(heap: Heap, at: number, length: number): number {
  const bytes = Math.min(length, RANDOM_BYTES)
  crypto.getRandomValues(heap.bytesAt(at, bytes) as Uint8Array<ArrayBuffer>)
  return bytes
}

function splitLocalTime(date: Date): number[] {
  const year = date.getFullYear()
  const offset = date.getTimezoneOffset()
  const [winter, summer] = [new Date(year, 0, 1).getTimezoneOffset(), new Date(year, 6, 1).getTimezoneOffset()]
  const day = Math.round((Date.UTC(year, date.getMonth(), date.getDate()) - Date.UTC(year, 0, 1)) / 86_400_000)
  const isSummer = winter !== summer && offset === Math.min(winter, summer)
  return [
    date.getSeconds(),
    date.getMinutes(),
    date.getHours(),
    date.getDate(),
    date.getMonth(),
    year - 1900,
    date.getDay(),
    day,
    Number(isSummer),
    offset * -60,
  ]
}
