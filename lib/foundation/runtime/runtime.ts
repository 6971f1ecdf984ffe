/**
 * The work of Node for the library, such as timers, hashes, contexts and warnings. Pages have page-runtime.ts. `scripts/node-rooms.ts`
 * lists the files with Node past this interface.
 */
import { builtin } from '../base/builtins.ts'

/** Ways to write bytes (RFC 4648): `base64url` has no padding. */
export type BytesForm = 'hex' | 'base64' | 'base64url'

/** Carried across waits: AsyncLocalStorage. */
export interface WorkContext<T> {
  getStore(): T | undefined
  run<Result, Arguments extends unknown[]>(store: T, work: (...args: Arguments) => Result, ...args: Arguments): Result
}

export interface Runtime {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly hasFiles: boolean
  /** The working folder. */
  folder(): string
  createContext<T>(): WorkContext<T>
  /** Undefined where contexts carry stores across waits. */
  readonly bindWork?: <Arguments extends unknown[], Result>(work: (...args: Arguments) => Result) => (...args: Arguments) => Result
  nextTurn(): Promise<void>
  /** The program may end before the timer. */
  spare(timer: ReturnType<typeof setTimeout>): void
  warn(warning: Error | string, about?: { readonly type: string; readonly code: string }): void
  /** Compares parts and classes, too; 0 is not -0. */
  isSame(a: unknown, b: unknown): boolean
  /** In UTF-8. */
  countBytes(text: string): number
  formatBytes(bytes: Uint8Array, form: BytesForm): string
  /** Skips other characters; `hex` ends before such. A Buffer on Node: an application's hooks may count on Buffers. */
  parseBytes(text: string, form: BytesForm): Uint8Array
  /** The reason phrase of HTTP. */
  nameStatus(status: number): string | undefined
  hash(name: 'sha256' | 'sha1' | 'md5', text: string, form: BytesForm): string
  randomUUID(): string
}

const NODE: Runtime = {
  get environment() {
    return process.env
  },
  hasFiles: true,
  folder: () => process.cwd(),
  createContext: () => new (process.getBuiltinModule('node:async_hooks').AsyncLocalStorage)(),
  nextTurn: () => new Promise(resolve => setImmediate(resolve)),
  spare: timer => void timer.unref(),
  warn: (warning, about) => process.emitWarning(warning, about),
  isSame: (a, b) => builtin.util.isDeepStrictEqual(a, b),
  countBytes: text => Buffer.byteLength(text),
  formatBytes: ({ buffer, byteOffset, byteLength }, form) => Buffer.from(buffer, byteOffset, byteLength).toString(form),
  parseBytes: (text, form) => Buffer.from(text, form),
  nameStatus: status => builtin.http.STATUS_CODES[status],
  hash: (name, text, form) => builtin.crypto.hash(name, text, form),
  randomUUID: () => builtin.crypto.randomUUID(),
}

export const runtime: Runtime = NODE
