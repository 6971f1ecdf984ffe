/**
 * The journal against what a reader sees: the changes of a request are the difference between all records before it and after it; and no
 * secret, wherever it was planted, is in what the journal shows.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { auth, resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import type { Change, JournalEntry } from '../../lib/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities } from './world/entities.ts'

type Json = Record<string, unknown>

/** The attributes that a row holds, by hand, and the lists that the resource owns. */
const STORED: Record<string, { row: string; lists?: string; id: (record: Json) => unknown }> = {
  publishers: { row: 'code,name,office', id: ({ code }) => code },
  users: {
    row: 'id,name,email,age,score,balance,big,active,born,day,alarm,token,role,home,publisher,boss',
    lists: 'tags,friends',
    id: ({ id }) => id,
  },
  profiles: { row: 'id,bio,user', id: ({ id }) => id },
  sites: { row: 'id,url,clicks,user,publisher', lists: 'tags', id: ({ id }) => id },
  tags: { row: 'id,name,weight', id: ({ id }) => id },
  visits: { row: 'site,number,at,note', id: ({ site, number }) => `${String(site)}~${String(number)}` },
}

/** Every record of the engine, by resource and ID. */
async function snapshot(engine: RestEngine): Promise<Map<string, Json>> {
  const all = new Map<string, Json>()
  for (const [name, { row, lists, id }] of Object.entries(STORED)) {
    const attributes = lists === undefined ? row : `${row},${lists}`
    const { body } = await engine.handle('GET', `/v1/${name}`, { attributes, limit: 1000 })
    for (const record of body[name] as Json[]) all.set(`${name} ${String(id(record))}`, record)
  }
  return all
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function compare(before: Map<string, Json>, after: Map<string, Json>, { changes, status }: JournalEntry): void {
  const told = new Map(changes!.map((change): [string, Change] => [`${change.resource} ${change.id}`, change]))
  assert.equal(told.size, changes!.length, 'a record is told of twice')
  if (status! >= 400) assert.deepEqual(changes, [])
  for (const key of new Set([...before.keys(), ...after.keys(), ...told.keys()])) {
    const [old, now, change] = [before.get(key), after.get(key), told.get(key)]
    if (change === undefined) {
      assert.deepEqual(now, old, `${key} has changed, and nobody tells`)
      continue
    }
    assert.equal(change.type, old === undefined ? 'insert' : now === undefined ? 'delete' : 'update', key)
    assert.equal(change.before === null, old === undefined)
    assert.equal(change.after === null, now === undefined)
    for (const [shown, held] of [
      [change.before, old],
      [change.after, now],
    ] as [Json | null, Json | undefined][]) {
      for (const name of Object.keys(shown ?? {})) assert.deepEqual(shown![name], held![name], `${key}: ${name}`)
    }
    const names = Object.keys(old ?? now!)
    const lists = STORED[change.resource]!.lists?.split(',') ?? []
    // A record that comes or goes is told of whole, but for lists that are empty.
    const due =
      change.type === 'update'
        ? names.filter(name => !same(old![name], now![name]))
        : names.filter(name => !lists.includes(name) || ((old ?? now)![name] as unknown[]).length > 0)
    for (const name of due) assert.ok(name in (change.before ?? change.after), `${key}: ${name} is not told`)
  }
}

const small = fc.nat({ max: 6 })
const word = fc.constantFrom(null, '', 'a', 'é', 'x y', '0')
const when = fc.constantFrom(null, '2026-01-31T12:00:00Z', '1969-07-20')
const place = fc.option(fc.record({ city: fc.constantFrom('Rome', 'Oslo'), zip: fc.option(small) }, { requiredKeys: ['city'] }))
const TAGS = Array.from({ length: 5 }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`)
const tag = fc.oneof(fc.constantFrom(...TAGS), fc.record({ name: word, weight: fc.constantFrom(null, '1.5') }))
const tags = fc.uniqueArray(tag, { maxLength: 4, selector: item => JSON.stringify(item) })
const code = fc.constantFrom('p0', 'p1', 'p2')
const site = fc.record({ url: fc.constantFrom('x', 'y'), clicks: small, tags, publisher: fc.option(code) }, { requiredKeys: ['url'] })
const user = fc.record(
  {
    email: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    name: word,
    age: fc.option(small),
    score: fc.constantFrom(null, 0.1, -1e21),
    balance: fc.constantFrom(null, '0.1', '99999.99'),
    big: fc.constantFrom(null, '9007199254740993', '-1'),
    active: fc.constantFrom(null, true, false),
    born: when,
    day: fc.constantFrom(null, '2024-02-29'),
    alarm: fc.constantFrom(null, '07:30'),
    token: fc.constantFrom(null, 'ABCDEF00-0000-4000-8000-000000000000'),
    role: fc.constantFrom('admin', 'guest', 'nobody'),
    secret: fc.constantFrom(null, 'one', 'two'),
    home: place,
    publisher: fc.oneof(fc.option(code), fc.record({ code: fc.constantFrom('q0', 'q1'), name: word, office: place })),
    boss: fc.option(small),
    tags,
    friends: fc.uniqueArray(small, { maxLength: 3 }),
    sites: fc.array(site, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const profile = fc.record({ bio: word, user: small }, { requiredKeys: ['user'] })
const visit = fc.record({ site: small, number: small, at: when, note: word }, { requiredKeys: ['site', 'number'] })
const publisher = fc.record({ code, name: word, office: place }, { requiredKeys: ['code'] })

const id = fc.oneof(small, fc.constantFrom(...TAGS), code)
const target = fc.oneof(
  fc.tuple(fc.constantFrom('users', 'sites', 'profiles'), small).map(([name, key]) => `/v1/${name}/${key}`),
  fc.constantFrom(...TAGS).map(key => `/v1/tags/${key}`),
  code.map(key => `/v1/publishers/${key}`),
  fc.tuple(small, small).map(([a, b]) => `/v1/visits/${a}~${b}`),
)
const step: fc.Arbitrary<[string, string, unknown]> = fc.oneof(
  { arbitrary: user.map((body): [string, string, unknown] => ['POST', '/v1/users', body]), weight: 3 },
  { arbitrary: fc.tuple(small, user).map(([key, body]): [string, string, unknown] => ['PUT', `/v1/users/${key}`, body]), weight: 5 },
  fc.tuple(small, site).map(([key, body]): [string, string, unknown] => ['PUT', `/v1/sites/${key}`, body]),
  fc.tuple(small, site).map(([key, body]): [string, string, unknown] => ['POST', `/v1/users/${key}/sites`, body]),
  fc.tuple(small, tags).map(([key, body]): [string, string, unknown] => ['PUT', `/v1/users/${key}/tags`, body]),
  fc
    .tuple(fc.constantFrom(...TAGS), fc.uniqueArray(small, { maxLength: 3 }))
    .map(([key, body]): [string, string, unknown] => ['PUT', `/v1/tags/${key}/users`, body]),
  profile.map((body): [string, string, unknown] => ['POST', '/v1/profiles', body]),
  visit.map((body): [string, string, unknown] => ['POST', '/v1/visits', body]),
  publisher.map((body): [string, string, unknown] => ['POST', '/v1/publishers', body]),
  fc
    .tuple(small, fc.constantFrom('publisher', 'boss', 'profile', 'tags', 'sites'))
    .map(([key, name]): [string, string, unknown] => ['DELETE', `/v1/users/${key}/${name}`, undefined]),
  { arbitrary: target.map((path): [string, string, unknown] => ['DELETE', path, undefined]), weight: 4 },
  fc.tuple(target, id).map(([path, key]): [string, string, unknown] => ['PUT', `${path}/user`, key]),
)

describeStores('the journal', () => {
  it('tells exactly what has changed', async () => {
    await using engine = await createEngine({ entities })
    await engine.seed({
      publishers: ['p0', 'p1'].map(key => ({ code: key })),
      tags: TAGS.map(key => ({ id: key })),
      users: [1, 2, 3].map(key => ({ id: key, email: `seed ${key}`, tags: TAGS.slice(0, key), friends: [1, 2], boss: 1 })),
      sites: [1, 2].map(key => ({ id: key, url: 'seed', user: key })),
    })
    const start = await engine.snapshot()
    await check(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), async steps => {
        await engine.restore(start)
        for (const [method, path, body] of steps) {
          const before = await snapshot(engine)
          const { status, body: answer } = await engine.handle(method, path, undefined, body)
          assert.ok(status < 500, JSON.stringify([method, path, body, answer]))
          const entry = engine.requests.at(-1)!
          assert.equal(entry.path, path)
          compare(before, await snapshot(engine), entry)
        }
      }),
      { label: 'changes', runs: costly(60) },
    )
  })
})

const Vault = defineEntity({
  name: 'Vault',
  embeddable: true,
  properties: { label: p.string(), combination: p.string().hidden().nullable() },
})
const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string(),
    answer: p.string().hidden().nullable(),
    number: p.integer().hidden().nullable(),
    document: p.json().hidden().nullable(),
    remark: p.string().nullable(),
    vault: () => p.embedded(Vault).nullable(),
    safe: () => p.embedded(Vault).object().nullable(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Member).nullable() },
})

/** A request that carries a secret. */
type Plant = (secret: string, number: number) => Parameters<RestEngine['handle']>

let unique = 0
const email = (): string => `m${unique++}@x.test`

/** Places of what is secret by its name or the model. */
const NAMED: Plant[] = [
  secret => ['POST', '/v1/members', undefined, { email: email(), password: secret }],
  secret => ['POST', '/v1/members', undefined, { email: 5, password: [secret], extra: secret }],
  (secret, number) => [
    'POST',
    '/v1/members',
    undefined,
    { email: email(), password: 'longenough', answer: secret, number, document: { a: [secret] }, remark: secret },
  ],
  secret => [
    'POST',
    '/v1/posts',
    undefined,
    { title: secret, author: { email: email(), password: secret, posts: [{ title: 'x', author: { password: secret } }] } },
  ],
  secret => [
    'POST',
    '/v1/posts',
    undefined,
    {
      title: 'x',
      author: {
        email: email(),
        password: 'longenough',
        vault: { label: 'v', combination: secret },
        safe: { label: 's', combination: secret },
      },
    },
  ],
  secret => ['PUT', '/v1/members/1', undefined, { remark: secret, safe: { label: 'x', combination: secret } }],
  secret => ['PATCH', '/v1/members/1', undefined, { vault: { combination: secret }, password: { [`${secret}!`]: secret } }],
  secret => ['PUT', '/v1/members/1/answer', undefined, secret],
  secret => ['PUT', '/v1/members/1/number', undefined, secret],
  secret => ['PUT', '/v1/members/1/password', undefined, secret],
  secret => ['PUT', '/v1/members/1/vault', undefined, { label: 'l', combination: secret }],
  secret => ['PUT', '/v1/posts/1/author', undefined, { answer: secret }],
  secret => ['POST', '/v1/members/1/posts', undefined, { title: 'x', author: { answer: secret } }],
  secret => ['POST', '/v1/membres', undefined, { nested: [{ password: secret, combination: secret, answer: { deep: secret } }] }],
  secret => ['POST', '/v9/members', undefined, { password: secret }],
  secret => ['DELETE', '/v1/members', undefined, { password: secret }],
  secret => ['GET', '/v1/members', { password: secret }],
  secret => ['GET', `/v1/members/${encodeURIComponent(secret)}`, { password: secret }],
  secret => ['GET', '/v1/posts', { '!author.password~=': `${secret}*`, 'author.answer|title': secret, 'vault.combination>=': secret }],
  secret => ['GET', '/v1/posts', { '|': [{ title: 'x' }, { author: { password: secret, answer: secret } }, { 'author.number>': secret }] }],
  secret => ['GET', `/v1/posts?(title=x|author(password=${encodeURIComponent(secret)};title=x)`],
  secret => ['GET', `/v1/posts?sort=title&password=${encodeURIComponent(secret)}`],
  secret => ['GET', '/v1/posts', new URLSearchParams({ access_token: secret, title: 'x' })],
  secret => ['POST', '/v1/login', undefined, { email: 'ann@x.test', password: secret }],
  secret => ['POST', '/v1/login', undefined, { email: { deep: secret }, password: 5 }],
  (secret, number) => ['POST', '/v1/login', undefined, { email: 'ann@x.test', otp: number, [`key${number}`]: [secret] }],
  secret => ['POST', '/v1/login', undefined, secret],
  secret => ['POST', '/v1/login', undefined, [secret]],
  secret => ['POST', '/v2/login', undefined, { email: 'ann@x.test', secretWord: secret }],
  secret => ['POST', '/v1/echo', { id_token: secret }, { new_password: secret, refresh_token: secret, text: `<${secret}>` }],
  secret => ['PUT', '/v2/posts/1', undefined, { title: secret }],
]

/** Places of tokens, which are known by their looks. */
const ANYWHERE: Plant[] = [
  secret => ['GET', `/v1/posts/${secret}`],
  secret => ['GET', `/v1/${secret}`],
  secret => ['GET', `/${secret}/posts`],
  secret => ['GET', `/v1/posts/1/${secret}`],
  secret => ['GET', `/v1/posts/${secret.replaceAll('.', '%2E')}`],
  secret => ['GET', '/v1/posts', { title: secret, sort: secret }],
  secret => ['GET', '/v1/posts', { limit: secret }],
  secret => ['GET', '/v1/posts', `title=${secret}&limit=1&offset=1`],
  secret => ['POST', '/v1/posts', undefined, { title: secret }],
  secret => ['POST', '/v1/posts', undefined, { title: `Bearer ${secret}, and more`, [secret]: 1 }],
  secret => ['PUT', '/v1/posts/1/title', undefined, `a ${secret} b`],
  secret => ['POST', '/v1/echo', { [secret]: secret }, { any: [{ [secret]: secret }] }],
  secret => ['PUT', '/v1/members/1', undefined, { remark: secret }],
]

// Marked, so that it cannot be found by chance; with what JSON, URLs and patterns write in another way.
const secretText = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9]{8}$/),
    fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '/', '%', '+', '&', '.', '*', '(', 'é', '\u{1F600}', '\n'), maxLength: 12 }),
  )
  .map(([mark, more]) => `ZQ${mark}${more}`)
const token = fc
  .tuple(fc.uint8Array({ minLength: 8, maxLength: 64 }), fc.constantFrom({ alg: 'EdDSA', typ: 'JWT' }, { typ: 'JWT', alg: 'HS256' }))
  .map(([bytes, header]) => {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part(header)}.${part({ sub: Buffer.from(bytes).toString('hex') })}.${Buffer.from(bytes).toString('base64url')}`
  })

describeStores('the secrets of a journal', () => {
  it('are nowhere in it', async () => {
    const password = cheapHash('the password of ann')
    await using engine = await createEngine({
      entities: [Member, Post, Vault],
      versions: ['v1', 'v2'],
      resources: [resource(Post, { versions: ['v1'] }), resource(Post, { versions: ['v2'], attributes: { title: { private: true } } })],
      auth: auth({ entity: Member, secret: 'of the journal', public: ['* /*'] }),
      routes: [{ method: 'POST', path: '/{version}/echo', handler: ({ data, query }) => ({ body: { data, query, nothing: null } }) }],
      seed: { members: [{ id: 1, email: 'ann@x.test', password }], posts: [{ id: 1, title: 'x', author: 1 }] },
    })
    await check(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({
              plant: fc.constantFrom(...NAMED),
              secret: secretText,
              number: fc.integer({ min: 1_000_000_000, max: 9_000_000_000 }),
            }),
            fc.record({
              plant: fc.constantFrom(...ANYWHERE, ...NAMED),
              secret: token,
              number: fc.integer({ min: 1_000_000_000, max: 9_000_000_000 }),
            }),
          ),
          { minLength: 1, maxLength: 12 },
        ),
        async planted => {
          await engine.reset()
          engine.clearRequests()
          const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@x.test', password: 'the password of ann' })
          const own = body.auth_token as string
          for (const { plant, secret, number } of planted) {
            const [method, path, query, sent] = plant(secret, number)
            await engine.handle(method, path, query, sent, { headers: { authorization: `Bearer ${own}` } })
            const text = JSON.stringify(engine.requests.at(-1))
            for (const spelling of [
              secret,
              JSON.stringify(secret).slice(1, -1),
              encodeURIComponent(secret),
              secret.split('.')[1] ?? secret,
              String(number),
            ]) {
              if (spelling.length >= 4) assert.ok(!text.includes(spelling), `${spelling} is in ${text}`)
            }
          }
          const all = JSON.stringify(engine.requests)
          for (const secret of [own, own.split('.')[1]!, own.split('.')[2]!, 'the password of ann', password, 'longenough', 'scrypt'])
            assert.ok(!all.includes(secret), `${secret} is in ${all}`)
        },
      ),
      { label: 'secrets', runs: costly(60) },
    )
  })
})
