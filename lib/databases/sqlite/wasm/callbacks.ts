/** Lets SQLite call functions of JavaScript from SQL. An error of a function ends the running statement. */
import type { Heap } from './heap.ts'
import { type SqliteCalls, BLOB, COPIED, FLOAT, INTEGER, TEXT, isBytes } from './sqlite-calls.ts'
import { webAssembly, type WasmModule } from './web-assembly.ts'

export interface SqlCallback {
  readonly name: string
  readonly safeIntegers: boolean
  readonly run?: (values: unknown[]) => unknown
  readonly start?: () => unknown
  readonly step?: (total: unknown, values: unknown[]) => unknown
  readonly result?: (total: unknown) => unknown
  readonly failed: (error: unknown) => void
}

/**
 * A WebAssembly module that exports the three functions it imports: SQLite's table takes no functions of JavaScript. Two take three
 * numbers, the third a single number.
 */
const TRAMPOLINE = Uint8Array.from(
  [
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // types
    [0x01, 0x0b, 0x02, 0x60, 0x03, 0x7f, 0x7f, 0x7f, 0x00, 0x60, 0x01, 0x7f, 0x00],
    // imports: e.f, e.s, e.r
    [0x02, 0x13, 0x03, 0x01, 0x65, 0x01, 0x66, 0x00, 0x00, 0x01, 0x65, 0x01, 0x73, 0x00, 0x00, 0x01, 0x65, 0x01, 0x72, 0x00, 0x01],
    // exports: f, s, r
    [0x07, 0x0d, 0x03, 0x01, 0x66, 0x00, 0x00, 0x01, 0x73, 0x00, 0x01, 0x01, 0x72, 0x00, 0x02],
  ].flat(),
)

/** Cloudflare's workers compile at their start alone. */
const compiled = compileNow()

function compileNow(): WasmModule | undefined {
  try {
    return new webAssembly.Module(TRAMPOLINE)
  } catch {
    // By a policy of the page: `create` throws the error again.
    return undefined
  }
}

export class Callbacks {
  readonly #calls: SqliteCalls
  readonly #heap: Heap
  /** By `sqlite3_user_data`. */
  readonly #called = new Map<number, SqlCallback>()
  readonly #totals = new Map<number, unknown>()
  #numbers = 0
  /** Places in the table of functions. */
  run = 0
  step = 0
  result = 0

  private constructor(calls: SqliteCalls, heap: Heap) {
    this.#calls = calls
    this.#heap = heap
  }

  static async create(calls: SqliteCalls, heap: Heap): Promise<Callbacks> {
    const callbacks = new Callbacks(calls, heap)
    const e = {
      f: (context: number, count: number, values: number) =>
        callbacks.#guard(context, called => callbacks.#run(called, context, count, values)),
      s: (context: number, count: number, values: number) =>
        callbacks.#guard(context, called => callbacks.#step(called, context, count, values)),
      r: (context: number) => callbacks.#guard(context, called => callbacks.#result(called, context)),
    }
    const { exports } = await webAssembly.instantiate(compiled ?? (await webAssembly.compile(TRAMPOLINE)), { e })
    const { __indirect_function_table: table } = calls
    const first = table.grow(3)
    for (const [index, name] of ['f', 's', 'r'].entries()) table.set(first + index, exports[name])
    Object.assign(callbacks, { run: first, step: first + 1, result: first + 2 })
    return callbacks
  }

  /** @returns the number for `sqlite3_user_data` */
  add(called: SqlCallback): number {
    const number = ++this.#numbers
    this.#called.set(number, called)
    return number
  }

  remove(number: number): void {
    this.#called.delete(number)
  }

  /** No error of JavaScript may pass through WebAssembly: SQLite would not clean up. */
  #guard(context: number, work: (called: SqlCallback) => void): void {
    const called = this.#called.get(this.#calls.sqlite3_user_data(context))!
    try {
      work(called)
    } catch (error) {
      called.failed(error)
      this.#heap.withText(String(error), (at, length) => this.#calls.sqlite3_result_error(context, at, length))
    }
  }

  #run(called: SqlCallback, context: number, count: number, values: number): void {
    this.#give(called, context, called.run!(this.#values(called, count, values)))
  }

  #step(called: SqlCallback, context: number, count: number, values: number): void {
    const at = this.#calls.sqlite3_aggregate_context(context, 4)
    let number = this.#heap.readNumber(at)
    if (number === 0) {
      number = ++this.#numbers
      this.#totals.set(number, called.start!())
      this.#heap.writeNumber(at, number)
    }
    const total = this.#totals.get(number)
    const next = called.step!(total, this.#values(called, count, values))
    if (next !== undefined) this.#totals.set(number, next)
  }

  /** Called after an error, too. */
  #result(called: SqlCallback, context: number): void {
    const at = this.#calls.sqlite3_aggregate_context(context, 0)
    const number = at === 0 ? 0 : this.#heap.readNumber(at)
    const total = number === 0 ? called.start!() : this.#totals.get(number)
    this.#totals.delete(number)
    this.#give(called, context, called.result!(total))
  }

  #values({ safeIntegers }: SqlCallback, count: number, at: number): unknown[] {
    const values: unknown[] = []
    for (let index = 0; index < count; index++) values.push(this.#value(this.#heap.readNumber(at + 4 * index), safeIntegers))
    return values
  }

  #value(value: number, safeIntegers: boolean): unknown {
    const calls = this.#calls
    switch (calls.sqlite3_value_type(value)) {
      case INTEGER:
        return safeIntegers ? calls.sqlite3_value_int64(value) : calls.sqlite3_value_double(value)
      case FLOAT:
        return calls.sqlite3_value_double(value)
      case TEXT: {
        const at = calls.sqlite3_value_text(value)
        return this.#heap.readText(at, calls.sqlite3_value_bytes(value))
      }
      case BLOB: {
        const at = calls.sqlite3_value_blob(value)
        return this.#heap.readBlob(at, calls.sqlite3_value_bytes(value))
      }
      default:
        return null
    }
  }

  #give({ name }: SqlCallback, context: number, value: unknown): void {
    const calls = this.#calls
    if (value === null || value === undefined) calls.sqlite3_result_null(context)
    else if (typeof value === 'number') calls.sqlite3_result_double(context, value)
    else if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) calls.sqlite3_result_int64(context, value)
    else if (typeof value === 'string') this.#heap.withText(value, (at, length) => calls.sqlite3_result_text(context, at, length, COPIED))
    else if (isBytes(value) && value.length === 0) calls.sqlite3_result_zeroblob(context, 0)
    else if (isBytes(value)) this.#heap.withBytes(value, (at, length) => calls.sqlite3_result_blob(context, at, length, COPIED))
    else throw new TypeError(`User-defined function ${name}() returned an invalid value`)
  }
}
