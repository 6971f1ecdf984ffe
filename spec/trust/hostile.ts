/**
 * Tries what clients of bad will try: other spellings of paths that need a token, other spellings of a user's name, paths and patterns that
 * are made to be slow, routes that ask themselves, bodies that unpack to gigabytes.
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, hashPassword } from '../../lib/index.ts'
import { answered, pick, random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string().columnType('text collate nocase').unique(),
    password: p.string().hidden(),
    blogEntries: () => p.oneToMany(BlogEntry).mappedBy('author'),
  },
})
const BlogEntry = defineEntity({
  name: 'BlogEntry',
  properties: { id: p.integer().primary(), text: p.string(), author: () => p.manyToOne(User).nullable() },
})

/** Milliseconds that any answer may take on a busy machine. */
const SLOW = 2000

const SPELLINGS = {
  users: ['users', 'user'],
  blog_entries: ['blog_entries', 'blog_entry', 'blog-entries', 'blog-entry', 'blogEntries', 'blogEntry'],
}

async function start(): Promise<RestEngine> {
  const password = await hashPassword('trust')
  return RestEngine.create({
    entities: [User, BlogEntry],
    limits: { maxBodyBytes: 1 << 16 },
    seed: { users: [{ id: 1, email: 'ann', password }], blog_entries: [{ id: 1, text: 'open', author: 1 }] },
    auth: auth({ entity: User, public: ['GET /v1/*', '!GET /v1/users*'] }),
    routes: [
      { method: 'GET', path: '/v1/blog_entries/endless', handler: ctx => ctx.engine.handle('GET', '/v1/blog_entries/endless') },
      { method: 'GET', path: '/v1/blog_entries/circle', handler: ctx => ctx.engine.handle('GET', '/v1/blog_entries/circle2') },
      { method: 'GET', path: '/v1/blog_entries/circle2', handler: ctx => ctx.engine.handle('GET', '/v1/blog_entries/circle') },
    ],
    onError: () => {},
  })
}

/** Percent-encodes some characters. */
function encodeSome(segment: string, next: () => number): string {
  const share = next()
  const encode = (character: string): string => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0')
    return `%${next() < 0.5 ? hex : hex.toUpperCase()}`
  }
  return [...segment].map(character => (next() < share ? encode(character) : character)).join('')
}

async function tryPaths(counter: Counter, engine: RestEngine, next: () => number, count: number): Promise<void> {
  const codes = new Map<number, number>()
  for (let index = 0; index < count; index++) {
    const list = pick(next, ['users', 'blog_entries'] as const)
    const rest = pick(next, list === 'users' ? ['', '1', '1/email', '1/blogEntries', '1/blogEntries/1'] : ['', '1', '1/text', '1/author'])
    const segments = [pick(next, SPELLINGS[list]), ...rest.split('/').filter(text => text !== '')]
    const path = `/v1/${segments.map(text => encodeSome(text, next)).join('/')}${pick(next, ['', '', '/', '?limit=1', '?'])}`
    const method = pick(next, ['GET', 'GET', 'HEAD', 'QUERY', 'get'])
    const { status } = await engine.handle(method, path, undefined, method === 'QUERY' ? {} : undefined)
    codes.set(status, (codes.get(status) ?? 0) + 1)
    const isShut = list === 'users' || rest === '1/author'
    counter.ok(isShut ? status === 401 : status !== 401 && status < 500, () => `${method} ${path} is ${status}`)
  }
  counter.note = answered(codes)
}

async function tryPasswords(counter: Counter, engine: RestEngine, next: () => number): Promise<void> {
  let guesses = 0
  for (let index = 0; index < 20; index++) {
    const email = [...'ann'].map(letter => (next() < 0.5 ? letter : letter.toUpperCase())).join('')
    const { status } = await engine.send('POST /v1/login', { body: { email, password: `guess ${index}` } })
    if (status === 401) guesses++
  }
  counter.ok(guesses === 5, () => `${guesses} guesses by other spellings of a name`)
}

/** Does work, and fails where it takes long. */
async function inTime(counter: Counter, what: string, work: () => Promise<boolean>): Promise<void> {
  const started = performance.now()
  const holds = await work()
  const took = performance.now() - started
  counter.ok(holds && took < SLOW, () => `${what}: ${holds ? '' : 'a wrong answer, '}${Math.round(took)} ms`)
}

async function trySlowness(counter: Counter, engine: RestEngine): Promise<void> {
  using fault = engine.fail(`GET /v1/${'*a'.repeat(15)}b`, { status: 503 })
  for (const path of ['a'.repeat(4000), 'a/'.repeat(2000), '%61'.repeat(1300), `users/${'a'.repeat(4000)}`, 'user%'.repeat(800)])
    await inTime(counter, `a path of ${path.length} characters`, async () => {
      const { status } = await engine.handle('GET', `/v1/${path}`)
      return status >= 400 && status < 500
    })
  counter.ok(fault.met === 0, () => 'the fault has met a request')
  for (const route of ['endless', 'circle', '%65ndless'])
    await inTime(counter, `the route ${route}`, async () => (await engine.handle('GET', `/v1/blog_entries/${route}`)).status === 500)
}

async function tryBombs(counter: Counter, engine: RestEngine): Promise<void> {
  const authorization = `Bearer ${engine.token(1)}`
  const plain = Buffer.from(`{"text":"${'x'.repeat(8 << 20)}"}`)
  for (const [coding, bytes] of [
    ['gzip', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['gzip', gzipSync(gzipSync(plain))],
    ['gzip', createHash('sha256').update('noise').digest()],
    ['zstd', plain.subarray(0, 100)],
  ] as const)
    await inTime(counter, `${bytes.length} bytes of ${coding}`, async () => {
      const headers = { authorization, 'content-type': 'application/json', 'content-encoding': coding }
      const { status } = await engine.fetch('/v1/blog_entries', { method: 'POST', body: new Uint8Array(bytes), headers })
      return [400, 413, 415].includes(status)
    })
  const { body } = await engine.handle('GET', '/v1/blog_entries')
  counter.ok((body as { count: number }).count === 1, () => 'a bomb has written a record')
}

async function run(counter: Counter, { seed, scale }: Plan): Promise<void> {
  const next = random(seed)
  await using engine = await start()
  await tryPaths(counter, engine, next, Math.round(20_000 * scale))
  await tryPasswords(counter, engine, next)
  await trySlowness(counter, engine)
  await tryBombs(counter, engine)
}

export const hostile: Check = { name: 'hostile spellings, patterns, routes and bodies', what: 'requests', run }
