/** Writes bytes as hex or base64, and reads such texts, as Buffers do (RFC 4648), in a page. */

import type { BytesForm } from '../runtime/runtime.ts'

/** Bytes in a call of `String.fromCharCode`: arguments are limited. */
const PART = 8192

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** By character code, in base64 and base64url. -1: no digit. */
const DIGITS = new Int8Array(128).fill(-1)
for (const [digit, character] of [...ALPHABET].entries()) DIGITS[character.charCodeAt(0)] = digit
DIGITS['-'.charCodeAt(0)] = 62
DIGITS['_'.charCodeAt(0)] = 63

export function formatPageBytes(bytes: Uint8Array, form: BytesForm): string {
  if (form === 'hex') return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  let text = ''
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART))
  const base64 = btoa(text)
  return form === 'base64' ? base64 : base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export function parsePageBytes(text: string, form: BytesForm): Uint8Array {
  return form === 'hex' ? parseHex(text) : parseBase64(text)
}

/** Ends before the first pair without a number. */
function parseHex(text: string): Uint8Array {
  const digits = /^(?:[\da-f]{2})*/i.exec(text)![0]
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
}

/** Skips all characters but digits, and ends at `=`. */
function parseBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4))
  let [length, bits, held] = [0, 0, 0]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 61) break
    const digit = DIGITS[code] ?? -1
    if (digit < 0) continue
    held = ((held << 6) | digit) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[length++] = (held >> bits) & 0xff
  }
  return bytes.slice(0, length)
}

/** In UTF-8. A lone surrogate becomes U+FFFD. */
export function countTextBytes(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x80) count += 1
    else if (code < 0x800) count += 2
    else if (isPair(code, text.charCodeAt(index + 1))) {
      count += 4
      index++
    } else count += 3
  }
  return count
}

function isPair(first: number, second: number): boolean {
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000
}
