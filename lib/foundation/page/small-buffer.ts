/** Small buffer: a class with the members called by MikroORM of Node's Buffer. `buffer` of npm has all, and thirty times the size. */
import type { BytesForm } from '../runtime/runtime.ts'
import { formatPageBytes, parsePageBytes } from './page-bytes.ts'

/** Calls of `Buffer.from`. */
type BufferSource = string | ArrayBuffer | ArrayLike<number> | Iterable<number> | { readonly type: 'Buffer'; readonly data: number[] }

const FORMS: ReadonlySet<string> = new Set(['hex', 'base64', 'base64url'] satisfies BytesForm[])

const isForm = (encoding: string): encoding is BytesForm => FORMS.has(encoding)

function refuseEncoding(encoding: string): never {
  throw new TypeError(`Unknown encoding: ${encoding}. A page has them all with globalThis.Buffer of the package "buffer".`)
}

function parseText(text: string, encoding: string): Uint8Array {
  if (isForm(encoding)) return parsePageBytes(text, encoding)
  return /^utf-?8$/i.test(encoding) ? new TextEncoder().encode(text) : refuseEncoding(encoding)
}

export class SmallBuffer extends Uint8Array<ArrayBuffer> {
  static override from(source: BufferSource, encoding: unknown = 'utf8', length?: number): SmallBuffer {
    // As on Node, the bytes are shared.
    if (source instanceof ArrayBuffer) return new SmallBuffer(source, typeof encoding === 'number' ? encoding : 0, length)
    const bytes = typeof source === 'string' ? parseText(source, String(encoding)) : 'data' in source ? source.data : source
    return new SmallBuffer(Uint8Array.from(bytes as Iterable<number>).buffer)
  }

  static allocUnsafe(length: number): SmallBuffer {
    return new SmallBuffer(new ArrayBuffer(length))
  }

  static alloc(length: number): SmallBuffer {
    return new SmallBuffer(new ArrayBuffer(length))
  }

  static isBuffer(value: unknown): value is SmallBuffer {
    return value instanceof SmallBuffer
  }

  static concat(list: readonly Uint8Array[]): SmallBuffer {
    const all = SmallBuffer.alloc(list.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const each of list) {
      all.set(each, at)
      at += each.length
    }
    return all
  }

  static compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const at = a.findIndex((byte, index) => byte !== b[index])
    const [one, other] = at < 0 || at >= b.length ? [a.length, b.length] : [a[at]!, b[at]!]
    return one < other ? -1 : one > other ? 1 : 0
  }

  static byteLength(text: string): number {
    return new TextEncoder().encode(text).length
  }

  equals(other: Uint8Array): boolean {
    return SmallBuffer.compare(this, other) === 0
  }

  toJSON(): { readonly type: 'Buffer'; readonly data: number[] } {
    return { type: 'Buffer', data: [...this] }
  }

  override toString(encoding = 'utf8'): string {
    if (isForm(encoding)) return formatPageBytes(this, encoding)
    return /^utf-?8$/i.test(encoding) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(this) : refuseEncoding(encoding)
  }
}
