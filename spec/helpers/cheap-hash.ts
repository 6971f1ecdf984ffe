/**
 * Cheap hashes of passwords, in the form of `hashPassword`, for seeds: a hash says itself what it costs, and these cost a sixteenth, here
 * and at each log-in. Hashes of the full cost are those that `spec/auth/hash.spec.ts` stores and logs in with.
 */
import { randomBytes, scryptSync } from 'node:crypto'

const COST = { N: 1024, r: 8, p: 1 }

export function cheapHash(password: string): string {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, COST)
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('base64')}$${hash.toString('base64')}`
}
