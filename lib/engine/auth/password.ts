/** Hashes and verifies passwords with scrypt (RFC 7914), as `scrypt$N$r$p$salt$hash`, salt and hash in base64. */
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets, type ScryptCost } from '../../foundation/runtime/secrets.ts'

const COST: ScryptCost = { N: 16_384, r: 8, p: 1 }
/** In bytes. */
const LENGTH = 32
/** Limit of N * r * p: eight times the default, at most some 130 MB. */
const MAX_WORK = 2 ** 20
/** In bytes: shorter hashes could be found by trying. */
const MIN_HASH = 16
/** In characters. */
export const HASH_LENGTH = `scrypt$${COST.N}$${COST.r}$${COST.p}$$`.length + 24 + 44
const FORM = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/

/** Hashes of other programs: a seen hash must not serve as a password. */
const OF_OTHERS = /^(?:\$\w+\$|\{\w+\}|(?:scrypt|bcrypt|argon2\w*|pbkdf2\w*|sha\d+|md5)[$:]|[\da-f]{32,}$)/i

export function isOtherHash(text: string): boolean {
  return OF_OTHERS.test(text) && !isPasswordHash(text)
}

function derive(password: string, salt: Uint8Array, length: number, cost: ScryptCost): Promise<Uint8Array> {
  return secrets.scrypt(password.normalize('NFC'), salt, length, cost)
}

/**
 * Hashes a password for the database.
 *
 * @example em.create(User, { email: 'ann@example.test', password: await hashPassword('secret') })
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = secrets.randomBytes(16)
  const hash = await derive(password, salt, LENGTH, COST)
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${runtime.formatBytes(salt, 'base64')}$${runtime.formatBytes(hash, 'base64')}`
}

/** Refuses unbearable cost: a client's hash must not decide the memory of a log-in. */
export function isPasswordHash(text: string): boolean {
  return readHash(text) !== undefined
}

/**
 * Takes as long without a hash: time must not tell who is a user.
 *
 * @param isPlain a stored text without a hash is the password itself
 */
export async function verifyPassword(password: string, stored: unknown, isPlain = false): Promise<boolean> {
  const found = typeof stored === 'string' ? readHash(stored) : undefined
  if (found === undefined) {
    const salt = secrets.randomBytes(16)
    const derived = await derive(password, salt, LENGTH, COST)
    const text = typeof stored === 'number' ? String(stored) : stored
    if (!isPlain || typeof text !== 'string' || text === '' || isOtherHash(text)) return false
    return secrets.isSame(derived, await derive(text, salt, LENGTH, COST))
  }
  const { cost, salt, hash } = found
  const derived = await derive(password, salt, hash.length, cost)
  return secrets.isSame(derived, hash)
}

function readHash(text: string): { readonly cost: ScryptCost; readonly salt: Uint8Array; readonly hash: Uint8Array } | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [N, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // RFC 7914 section 2: N is a power of 2 above 1.
  const isBearable = N > 1 && Number.isInteger(Math.log2(N)) && r > 0 && p > 0 && N * r * p <= MAX_WORK
  const hash = runtime.parseBytes(match[5]!, 'base64')
  return isBearable && hash.length >= MIN_HASH ? { cost: { N, r, p }, salt: runtime.parseBytes(match[4]!, 'base64'), hash } : undefined
}
