/**
 * The order of calls: whatever an engine has been asked before, by whomever, from outside or by itself (`given`, `seed`, log-in, `expect`,
 * the journal), a request is answered the same. Two engines are asked the same calls in two orders, each call on the same data, and must
 * give the same answers.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestError, auth, resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import type { HookContext } from '../../lib/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Place = defineEntity({
  name: 'Place',
  embeddable: true,
  properties: { city: p.string().nullable(), shop: () => p.manyToOne(Shop).nullable() },
})
const Shop = defineEntity({
  name: 'Shop',
  properties: { id: p.integer().primary(), name: p.string(), books: () => p.oneToMany(Book).mappedBy('shop') },
})
const Writer = defineEntity({
  name: 'Writer',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().hidden().nullable(),
    home: () => p.embedded(Place).object(),
    books: () => p.oneToMany(Book).mappedBy('writer'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    writer: () => p.manyToOne(Writer).nullable(),
    shop: () => p.manyToOne(Shop).nullable(),
    tags: () => p.manyToMany(Tag),
    note: () => p.oneToOne(Note).mappedBy('book').nullable(),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), word: p.string() } })
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), book: () => p.oneToOne(Book).inversedBy('note').nullable() },
})

const HASH = cheapHash('secret')
const SEED = {
  shops: [
    { id: 1, name: 'north' },
    { id: 2, name: 'south' },
  ],
  writers: [
    { id: 1, email: 'a@x.test', password: HASH, home: { city: 'A', shop: 1 } },
    { id: 2, email: 'b@x.test', password: HASH, home: { city: 'B', shop: 2 } },
  ],
  tags: [
    { id: 1, word: 'red' },
    { id: 2, word: 'blue' },
  ],
  books: [
    { id: 1, title: 'one', writer: 1, shop: 2, tags: [1, 2] },
    { id: 2, title: 'two', writer: 2, shop: 1, tags: [2] },
    { id: 3, title: 'three', writer: 2, shop: 2 },
  ],
  notes: [
    { id: 1, text: 'first', book: 1 },
    { id: 2, text: 'second', book: 2 },
  ],
}

const sees = (ctx: HookContext): string => ctx.headers['x-sees'] ?? ''
const own = (ctx: HookContext): number | undefined => (ctx.user as { id: number } | undefined)?.id

/** Rules of every kind; what they say depends on the caller. */
function begin(): Promise<RestEngine> {
  return createEngine({
    entities: [Place, Shop, Writer, Book, Tag, Note],
    seed: SEED,
    clock: () => new Date('2026-05-01T12:00:00Z'),
    auth: auth({ entity: Writer, secret: 'orders', public: ['* /v1*'] }),
    parameters: { numbered: value => ({ id: Number(value) }) },
    resources: [
      resource(Shop, { scope: ctx => (sees(ctx).includes('north') ? { name: 'north' } : undefined) }),
      resource(Writer, { expand: ['home.shop'], scope: ctx => (own(ctx) === undefined ? undefined : { id: own(ctx)! }) }),
      resource(Book, {
        access: (ctx, action) => !(action === 'list' && sees(ctx).includes('unlisted')),
        scope: ctx => (own(ctx) === undefined ? { id: { $gt: 1 } } : { writer: own(ctx)! }),
        computed: { extra: { flag: 'extras', length: { type: 'integer', sql: alias => `length(${alias}.title)` } } },
      }),
      resource(Note, { access: ctx => !sees(ctx).includes('noteless') }),
    ],
  })
}

const CALLERS = ['', 'north', 'unlisted', 'noteless', 'user 1', 'user 2'] as const
const PATHS = [
  ...['shops', 'writers', 'books', 'tags', 'notes'].flatMap(name => [`/v1/${name}`, `/v1/${name}/1`, `/v1/${name}/2`]),
  '/v1/writers/1/home',
  '/v1/books/2/writer',
  '/v1/books/2/shop',
  '/v1/books/2/note',
  '/v1/notes/1/book',
  '/v1/books/2/title',
  '/v1/shops/2/books',
  '/v1/writers/2/books',
  '/v1/books/1/tags',
  '/v1/notes/2/text',
]
const QUERIES = ['', '', '', 'depth=2', 'depth=1&attributes=home', 'extras', 'numbered=2', 'sort=books']

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly caller: string
}

const reading: Arbitrary<Call> = fc
  .tuple(fc.constantFrom(...PATHS), fc.constantFrom(...QUERIES), fc.constantFrom(...CALLERS))
  .map(([path, query, caller]) => ({ method: 'GET', path: query === '' ? path : `${path}?${query}`, caller }))
const writing: Arbitrary<Call> = fc
  .tuple(
    fc.constantFrom<[string, string, unknown?]>(
      ['PUT', '/v1/books/2', {}],
      ['PUT', '/v1/books/2', { title: 'x' }],
      ['PUT', '/v1/books/2', { note: null }],
      ['PUT', '/v1/books/2/tags', [1]],
      ['PUT', '/v1/shops/1', { books: [] }],
      ['PUT', '/v1/notes/2/book', { title: 'y' }],
      ['POST', '/v1/books', { title: 'z', writer: 2, tags: [1] }],
      ['POST', '/v1/shops/1/books', { title: 'z' }],
      ['POST', '/v1/notes', { text: 'n', book: 3 }],
      ['DELETE', '/v1/books/2'],
      ['DELETE', '/v1/notes/2/book'],
      ['DELETE', '/v1/shops/1/books'],
    ),
    fc.constantFrom(...CALLERS),
  )
  .map(([[method, path, body], caller]) => ({ method, path, body, caller }))
const request = fc.oneof({ weight: 3, arbitrary: reading }, { weight: 2, arbitrary: writing })

async function ask(engine: RestEngine, { method, path, body, caller }: Call): Promise<unknown> {
  const user = /user (\d)/.exec(caller)?.[1]
  const headers = { 'x-sees': caller, ...(user === undefined ? {} : { authorization: `Bearer ${engine.token(user)}` }) }
  const answer = await engine.handle(method, path, undefined, body, { headers })
  assert.ok(answer.status < 500, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return { status: answer.status, headers: answer.headers, body: answer.body }
}

/** What an engine is asked by its own process. */
const INTERNAL: Readonly<Record<string, (engine: RestEngine) => Promise<unknown>>> = {
  'given a book': engine => engine.given('book', { writer: {}, note: { text: 'n' } }),
  'given a note': engine => engine.given('note', { book: 1 }),
  'given a shop': engine => engine.given('shop', { books: 2 }),
  'given a writer': engine => engine.given('writer'),
  'given tags': engine => engine.given.many('tag', 2),
  seed: engine => engine.seed({ books: [{ title: 'seeded', writer: 1, shop: 1 }] }),
  token: engine => Promise.resolve(engine.token(1)),
  'log-in': engine => engine.handle('POST', '/v1/login', undefined, { email: 'a@x.test', password: 'secret' }),
  'log-out': engine =>
    engine.handle('POST', '/v1/logout', undefined, undefined, { headers: { authorization: `Bearer ${engine.token(2)}` } }),
  expect: engine => engine.expect({ '*': 'any' }, () => engine.handle('POST', '/v1/tags', undefined, { word: 'w' })),
  journal: engine => Promise.resolve(engine.requests.map(entry => JSON.stringify(entry))),
  explain: engine => engine.explain('GET', '/v1/books/2'),
  'ask a fork': async engine => {
    await using world = await engine.fork()
    await world.given('book')
    await world.handle('GET', '/v1/books')
  },
}

/** What has gone before may leave no room: a unique value that is taken, an ID that is gone. */
function refused(error: unknown): void {
  if (!(error instanceof RestError)) throw error
}

const call = fc.oneof({ weight: 3, arbitrary: request }, { weight: 1, arbitrary: fc.constantFrom(...Object.keys(INTERNAL)) })

/** The answers of a new engine to some calls, asked in an order, each on the same data. */
async function answersOf(calls: readonly (Call | string)[], order: readonly number[]): Promise<unknown[]> {
  await using engine = await begin()
  const start = await engine.snapshot()
  const answers: unknown[] = []
  for (const index of order) {
    const one = calls[index]!
    if (typeof one === 'string') await INTERNAL[one]!(engine).catch(refused)
    else answers[index] = await ask(engine, one)
    if (typeof one === 'string' || one.method !== 'GET') await engine.restore(start)
  }
  return answers
}

describeStores('the order of calls', () => {
  it('changes no answer', () =>
    check(
      fc.asyncProperty(
        fc
          .array(call, { minLength: 2, maxLength: 60, size: 'max' })
          .chain(calls => fc.tuple(fc.constant(calls), fc.shuffledSubarray([...calls.keys()], { minLength: calls.length }))),
        async ([calls, order]) => {
          const answers = await answersOf(calls, [...calls.keys()])
          const others = await answersOf(calls, order)
          for (const [index, one] of calls.entries()) assert.deepEqual(others[index], answers[index], JSON.stringify(one))
        },
      ),
      { label: 'orders', runs: costly(10) },
    ))
})
