/** The C functions of SQLite's WebAssembly (sqlite.org/c3ref). Addresses are numbers. */
import type { WasmTable } from './web-assembly.ts'

type WasmAddress = number

export interface SqliteCalls {
  readonly __indirect_function_table: WasmTable
  __wasm_call_ctors(): void
  malloc(bytes: number): WasmAddress
  free(at: WasmAddress): void
  sqlite3_malloc(bytes: number): WasmAddress
  sqlite3_free(at: WasmAddress): void
  sqlite3_initialize(): number
  sqlite3_open_v2(name: WasmAddress, db: WasmAddress, flags: number, vfs: WasmAddress): number
  sqlite3_close_v2(db: WasmAddress): number
  sqlite3_errmsg(db: WasmAddress): WasmAddress
  sqlite3_errstr(code: number): WasmAddress
  sqlite3_extended_errcode(db: WasmAddress): number
  sqlite3_get_autocommit(db: WasmAddress): number
  sqlite3_exec(db: WasmAddress, sql: WasmAddress, callback: WasmAddress, given: WasmAddress, message: WasmAddress): number
  sqlite3_prepare_v3(db: WasmAddress, sql: WasmAddress, bytes: number, flags: number, statement: WasmAddress, rest: WasmAddress): number
  sqlite3_next_stmt(db: WasmAddress, statement: WasmAddress): WasmAddress
  sqlite3_finalize(statement: WasmAddress): number
  sqlite3_stmt_readonly(statement: WasmAddress): number
  sqlite3_bind_parameter_count(statement: WasmAddress): number
  sqlite3_bind_null(statement: WasmAddress, index: number): number
  sqlite3_bind_double(statement: WasmAddress, index: number, value: number): number
  sqlite3_bind_int64(statement: WasmAddress, index: number, value: bigint): number
  sqlite3_bind_text(statement: WasmAddress, index: number, at: WasmAddress, bytes: number, copy: number): number
  sqlite3_bind_blob(statement: WasmAddress, index: number, at: WasmAddress, bytes: number, copy: number): number
  sqlite3_bind_zeroblob(statement: WasmAddress, index: number, bytes: number): number
  sqlite3_clear_bindings(statement: WasmAddress): number
  sqlite3_step(statement: WasmAddress): number
  sqlite3_reset(statement: WasmAddress): number
  sqlite3_column_count(statement: WasmAddress): number
  sqlite3_column_name(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_origin_name(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_table_name(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_decltype(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_type(statement: WasmAddress, column: number): number
  sqlite3_column_double(statement: WasmAddress, column: number): number
  sqlite3_column_int64(statement: WasmAddress, column: number): bigint
  sqlite3_column_text(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_blob(statement: WasmAddress, column: number): WasmAddress
  sqlite3_column_bytes(statement: WasmAddress, column: number): number
  sqlite3_changes(db: WasmAddress): number
  sqlite3_total_changes(db: WasmAddress): number
  sqlite3_last_insert_rowid(db: WasmAddress): bigint
  sqlite3_serialize(db: WasmAddress, schema: WasmAddress, size: WasmAddress, flags: number): WasmAddress
  sqlite3_deserialize(db: WasmAddress, schema: WasmAddress, at: WasmAddress, bytes: bigint, room: bigint, flags: number): number
  // oxlint-disable-next-line max-params -- a function of C
  sqlite3_create_function_v2(
    db: WasmAddress,
    name: WasmAddress,
    count: number,
    flags: number,
    given: WasmAddress,
    run: WasmAddress,
    step: WasmAddress,
    result: WasmAddress,
    destroy: WasmAddress,
  ): number
  sqlite3_user_data(context: WasmAddress): WasmAddress
  sqlite3_aggregate_context(context: WasmAddress, bytes: number): WasmAddress
  sqlite3_value_type(value: WasmAddress): number
  sqlite3_value_double(value: WasmAddress): number
  sqlite3_value_int64(value: WasmAddress): bigint
  sqlite3_value_text(value: WasmAddress): WasmAddress
  sqlite3_value_blob(value: WasmAddress): WasmAddress
  sqlite3_value_bytes(value: WasmAddress): number
  sqlite3_result_null(context: WasmAddress): void
  sqlite3_result_double(context: WasmAddress, value: number): void
  sqlite3_result_int64(context: WasmAddress, value: bigint): void
  sqlite3_result_text(context: WasmAddress, at: WasmAddress, bytes: number, copy: number): void
  sqlite3_result_blob(context: WasmAddress, at: WasmAddress, bytes: number, copy: number): void
  sqlite3_result_zeroblob(context: WasmAddress, bytes: number): void
  sqlite3_result_error(context: WasmAddress, text: WasmAddress, bytes: number): void
  /** JSON with the names of SQLite's numbers. */
  sqlite3__wasm_enum_json(): WasmAddress
}

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
