/** Random numbers, keys, hashes and signatures, by `node:crypto`. Pages have page-secrets.ts. */
import { builtin } from '../base/builtins.ts'

/** Names of RFC 7914 section 2. */
export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

export interface SecretWork {
  /** HMAC-SHA-256 (RFC 2104). */
  authenticate(key: Uint8Array, text: string): Uint8Array
  /** 32 bytes, by HKDF-SHA-256 without salt (RFC 5869). */
  deriveKey(secret: string | Uint8Array, info: string): Uint8Array
  scrypt(password: string, salt: Uint8Array, length: number, cost: ScryptCost): Promise<Uint8Array>
  /** A page has none. @param key a public key for Ed25519, in base64url */
  readonly verifier?: (key: string) => (text: string, signature: Uint8Array) => boolean
  /** In constant time. */
  isSame(a: Uint8Array, b: Uint8Array): boolean
  randomBytes(count: number): Uint8Array
}

const NODE: SecretWork = {
  authenticate: (key, text) => builtin.crypto.createHmac('sha256', key).update(text).digest(),
  deriveKey: (secret, info) => new Uint8Array(builtin.crypto.hkdfSync('sha256', secret, '', info, 32)),
  scrypt: (password, salt, length, { N, r, p }) =>
    new Promise((resolve, reject) => {
      builtin.crypto.scrypt(password, salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
        // Without an error, Bun gives undefined.
        error ? reject(error) : resolve(key),
      )
    }),
  verifier(x) {
    const key = builtin.crypto.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return (text, signature) => builtin.crypto.verify(null, Buffer.from(text), key, signature)
  },
  isSame: (a, b) => builtin.crypto.timingSafeEqual(a, b),
  randomBytes: count => builtin.crypto.randomBytes(count),
}

export const secrets: SecretWork = NODE
