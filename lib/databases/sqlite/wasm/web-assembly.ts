/** Types of the standard WebAssembly. TypeScript declares WebAssembly for pages alone. */

export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** In pages of 64 KiB. */
  grow(pages: number): number
}

/** Of functions. */
export interface WasmTable {
  grow(by: number): number
  set(index: number, value: unknown): void
}

/** Compiled WebAssembly: a `WebAssembly.Module`. */
export type WasmModule = object

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface WebAssemblyApi {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory
  readonly Module: {
    new (bytes: Uint8Array): WasmModule
    imports(module: WasmModule): { readonly module: string; readonly name: string; readonly kind: string }[]
  }
  compile(bytes: Uint8Array): Promise<WasmModule>
  instantiate(module: WasmModule, imports: WasmImports): Promise<WasmInstance>
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
