/** Reads and writes texts, bytes and numbers in the memory of SQLite's WebAssembly. */
import { toBuffer } from '../../../foundation/page/give-buffer.ts'
import type { WasmMemory } from './web-assembly.ts'

/** Shorter texts are read and written letter by letter: a decoder costs more. */
const SHORT = 48

/** Bytes for values until SQLite has a copy. */
const ROOM = 1 << 16

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class Heap {
  readonly #memory: WasmMemory
  #allocate: (bytes: number) => number = () => 0
  #free: (at: number) => void = () => {}
  #bytes: Uint8Array
  #view: DataView
  #room = 0

  constructor(memory: WasmMemory) {
    this.#memory = memory
    this.#bytes = new Uint8Array(memory.buffer)
    this.#view = new DataView(memory.buffer)
  }

  start(allocate: (bytes: number) => number, free: (at: number) => void): void {
    this.#allocate = allocate
    this.#free = free
    this.#room = allocate(ROOM)
  }

  /** The memory has grown: old views have no bytes. */
  refresh(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer)
    this.#view = new DataView(this.#memory.buffer)
  }

  readNumber(at: number): number {
    return this.#view.getInt32(at, true)
  }

  writeNumber(at: number, value: number): void {
    this.#view.setInt32(at, value, true)
  }

  writeLong(at: number, value: bigint): void {
    this.#view.setBigInt64(at, value, true)
  }

  /** A view. */
  bytesAt(at: number, length: number): Uint8Array {
    return this.#bytes.subarray(at, at + length)
  }

  readBytes(at: number, length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.bytesAt(at, length))
  }

  /** As a Buffer, like on Node. */
  readBlob(at: number, length: number): Uint8Array<ArrayBuffer> {
    return toBuffer(this.readBytes(at, length))
  }

  readText(at: number, length: number): string {
    if (length > SHORT) return decoder.decode(this.bytesAt(at, length))
    const bytes = this.#bytes
    let text = ''
    for (let index = at; index < at + length; index++) {
      const byte = bytes[index]!
      if (byte > 127) return decoder.decode(this.bytesAt(at, length))
      text += String.fromCharCode(byte)
    }
    return text
  }

  /** A text ends before a byte 0. Null for no text. */
  readCText(at: number): string | null {
    if (at === 0) return null
    return this.readText(at, this.#bytes.indexOf(0, at) - at)
  }

  /** Lends the text, with a byte 0 behind, until a function of JavaScript is called. */
  withText<T>(text: string, work: (at: number, length: number) => T): T {
    if (text.length * 3 + 1 > ROOM) return this.withKeptText(text, work)
    const at = this.#room
    const length = text.length <= SHORT ? this.#writeShort(text, at) : encoder.encodeInto(text, this.bytesAt(at, ROOM)).written
    this.#bytes[at + length] = 0
    return work(at, length)
  }

  /** Allocates a text with a byte 0 behind. */
  withKeptText<T>(text: string, work: (at: number, length: number) => T): T {
    const bytes = encoder.encode(text)
    return this.#allocated(bytes.length + 1, at => {
      this.#bytes.set(bytes, at)
      this.#bytes[at + bytes.length] = 0
      return work(at, bytes.length)
    })
  }

  #writeShort(text: string, at: number): number {
    const bytes = this.#bytes
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 127) return encoder.encodeInto(text, this.bytesAt(at, ROOM)).written
      bytes[at + index] = code
    }
    return text.length
  }

  /** The work must copy the bytes. */
  withBytes<T>(bytes: Uint8Array, work: (at: number, length: number) => T): T {
    return bytes.length > ROOM ? this.#allocated(bytes.length, at => this.#placed(bytes, at, work)) : this.#placed(bytes, this.#room, work)
  }

  #placed<T>(bytes: Uint8Array, at: number, work: (at: number, length: number) => T): T {
    this.#bytes.set(bytes, at)
    return work(at, bytes.length)
  }

  #allocated<T>(bytes: number, work: (at: number) => T): T {
    const at = this.#allocate(bytes)
    if (at === 0) throw new RangeError(`SQLite has no memory for ${bytes} bytes.`)
    try {
      return work(at)
    } finally {
      this.#free(at)
    }
  }
}
