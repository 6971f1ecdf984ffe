/** A page's keys, hashes and random numbers, in the place of secrets.ts, with the same results byte by byte. */
import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { SecretWork } from '../runtime/secrets.ts'

const toBytes = (secret: string | Uint8Array): Uint8Array => (typeof secret === 'string' ? utf8ToBytes(secret) : secret)

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

export const secrets: SecretWork = {
  authenticate: (key, text) => hmac(sha256, key, utf8ToBytes(text)),
  deriveKey: (secret, info) => hkdf(sha256, toBytes(secret), undefined, utf8ToBytes(info), 32),
  async scrypt(password, salt, length, { N, r, p }) {
    const { scryptAsync } = await import('@noble/hashes/scrypt.js')
    return scryptAsync(utf8ToBytes(password), salt, { N, r, p, dkLen: length, maxmem: 256 * N * r })
  },
  isSame(a, b) {
    if (a.length !== b.length) throw new RangeError('Input buffers must have the same byte length')
    let difference = 0
    for (const [index, byte] of a.entries()) difference |= byte ^ b[index]!
    return difference === 0
  },
  randomBytes,
}
