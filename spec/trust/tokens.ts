/** Checks that forged, damaged and foreign tokens are refused with 401, and valid ones are accepted. */
import { defineEntity, p } from '@mikro-orm/core'
import { createHmac } from 'node:crypto'
import nacl from 'tweetnacl'
import { RestEngine, auth, hashPassword } from '../../lib/index.ts'
import { pick, random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() } })

const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const decode = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

/** The order of the group of Ed25519 (RFC 8032, 5.1): a signature with it added to S verifies where that is not checked. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n

function withOrderAdded(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url')
  let s = 0n
  for (let at = 63; at >= 32; at--) s = (s << 8n) | BigInt(bytes[at]!)
  s += L
  for (let at = 32; at < 64; at++) {
    bytes[at] = Number(s & 255n)
    s >>= 8n
  }
  return bytes.toString('base64url')
}

type Forger = (token: [header: string, payload: string, signature: string], next: () => number, publicKey: string) => string

const foreign = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7))
const signedBy = (text: string, key: Uint8Array): string =>
  `${text}.${Buffer.from(nacl.sign.detached(Buffer.from(text), key)).toString('base64url')}`

const FORGERS: readonly Forger[] = [
  ([, payload]) => `${encode({ alg: 'none' })}.${payload}.`,
  ([, payload, signature]) => `${encode({ alg: 'none' })}.${payload}.${signature}`,
  ([, payload, signature]) => `${encode({ alg: 'HS256' })}.${payload}.${signature}`,
  ([, payload], _, key) => {
    const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}`
    return `${text}.${createHmac('sha256', Buffer.from(key, 'base64url')).update(text).digest('base64url')}`
  },
  ([header, payload, signature]) => `${header}.${encode({ ...decode(payload), sub: '2' })}.${signature}`,
  ([header, payload, signature]) => `${header}.${encode({ ...decode(payload), exp: 9e9 })}.${signature}`,
  ([header, payload]) => signedBy(`${header}.${payload}`, foreign.secretKey),
  ([header, payload, signature]) => `${header}.${payload}.${withOrderAdded(signature)}`,
  ([header, payload, signature]) => `${header}.${payload}.${signature}=`,
  ([header, payload, signature]) => `${header}.${payload}.${signature.slice(0, -2)}`,
  ([header, payload]) => `${header}.${payload}.`,
  ([header, payload]) => `${header}.${payload}`,
  ([header, payload, signature]) => `${header}.${payload}.${signature}.${signature}`,
  ([header, payload]) => `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
  ([header, payload, signature], next) => {
    const bytes = Buffer.from(signature, 'base64url')
    bytes[Math.floor(next() * 64)]! ^= 1 << Math.floor(next() * 8)
    return `${header}.${payload}.${bytes.toString('base64url')}`
  },
  ([header, payload, signature], next) => {
    const bytes = Buffer.from(payload, 'base64url')
    bytes[Math.floor(next() * bytes.length)]! ^= 1 << Math.floor(next() * 7)
    return `${header}.${bytes.toString('base64url')}.${signature}`
  },
  ([header, payload, signature]) => `${header}.${payload}${'A'.repeat(100_000)}.${signature}`,
  ([header, payload, signature], next) => `${header}.${payload}.${pick(next, ['a', '!', '\u0100'])}${signature.slice(1)}`,
]

async function run(counter: Counter, { seed, scale }: Plan): Promise<void> {
  const next = random(seed)
  const users = [1, 2].map(id => ({ id, email: `u${id}@example.test`, password: '' }))
  const password = await hashPassword('trust')
  const engine = await RestEngine.create({
    entities: [User],
    auth: auth({ entity: User }),
    seed: { users: users.map(user => ({ ...user, password })) },
  })
  const ask = async (token: string): Promise<number> =>
    (await engine.handle('GET', '/v1/users/1', undefined, undefined, { headers: { authorization: `Bearer ${token}` } })).status
  const count = Math.max(FORGERS.length, Math.round(1000 * scale))
  for (let index = 0; index < count; index++) {
    const token = engine.token(1)
    const forged = FORGERS[index % FORGERS.length]!(token.split('.') as [string, string, string], next, engine.publicKey.x)
    if (forged === token) continue
    const status = await ask(forged)
    counter.ok(status === 401, () => `${status} for the forgery ${index % FORGERS.length}: ${forged.slice(0, 300)}`)
    if (index % 50 === 0) counter.ok((await ask(token)) === 200, () => 'A true token was refused.')
  }
  await engine.close()
}

export const tokens: Check = { name: 'forged tokens are refused', what: 'tokens', run }
