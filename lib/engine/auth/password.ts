/** Hashes and verifies passwords with scrypt (RFC 7914). A hash describes itself: `scrypt$N$r$p$salt$hash`, salt and hash in base64. */
import { builtin } from '../../foundation/base/builtins.ts'

/** The parameters of scrypt, by their names in RFC 7914 section 2. */
interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
}

const COST: Cost = { N: 16_384, r: 8, p: 1 }
const LENGTH = 32
const FORM = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/

function derive(password: string, salt: Buffer, length: number, { N, r, p }: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    builtin.crypto.scrypt(password.normalize('NFC'), salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

/**
 * Hashes a password, for the database.
 *
 * @example em.create(User, { email: 'ann@example.test', password: await hashPassword('secret') })
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = builtin.crypto.randomBytes(16)
  const hash = await derive(password, salt, LENGTH, COST)
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/** Whether the password matches the hash. Without a hash (an unknown user) it takes the same time and returns false. */
export async function verifyPassword(password: string, stored: unknown): Promise<boolean> {
  const match = typeof stored === 'string' ? FORM.exec(stored) : null
  if (match === null) {
    await derive(password, builtin.crypto.randomBytes(16), LENGTH, COST)
    return false
  }
  const [, N, r, p, salt, hash] = match
  const expected = Buffer.from(hash!, 'base64')
  const derived = await derive(password, Buffer.from(salt!, 'base64'), expected.length, { N: Number(N), r: Number(r), p: Number(p) })
  return builtin.crypto.timingSafeEqual(derived, expected)
}
