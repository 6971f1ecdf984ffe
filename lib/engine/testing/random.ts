/**
 * Gives repeatable random numbers. A text names each stream: giving one value leaves others unchanged. The generator is sfc32 (Chris
 * Doty-Humphrey, PractRand, public domain), with the first 16 bytes of the name's SHA-256 as state: the same bits on every machine.
 */
import { runtime } from '../../foundation/runtime/runtime.ts'

export class Random {
  #a: number
  #b: number
  #c: number
  #counter: number

  constructor(name: string) {
    const { buffer, byteOffset } = runtime.parseBytes(runtime.hash('sha256', name, 'hex'), 'hex')
    const state = new DataView(buffer, byteOffset)
    this.#a = state.getInt32(0, true)
    this.#b = state.getInt32(4, true)
    this.#c = state.getInt32(8, true)
    this.#counter = state.getInt32(12, true)
  }

  /** An unsigned integer of 32 bits. */
  next(): number {
    const result = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0
    return result >>> 0
  }

  /** From 0 up to, but not including, 1. */
  fraction(): number {
    return this.next() / 2 ** 32
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next() & 0xff)
  }

  /** Version 4 (RFC 9562). */
  uuid(): string {
    const bytes = this.bytes(16)
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    return runtime.formatBytes(bytes, 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}
