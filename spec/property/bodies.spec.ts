/**
 * Half-right bodies on the library model, which has every kind of attribute: whatever is wrong with one, the answer is sound, nothing is
 * written when it is refused, and what was written can be read again.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { check } from '../helpers/check.ts'
import { assertSound } from '../helpers/sound.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** Good values of each attribute; the IDs are there after `SEED`. The first ones are enough for a create. */
const text = fc.constantFrom('', 'a', 'é', 'a\0b', 'null', '\u{1F600}', 'x'.repeat(200))
const unused = fc.nat({ max: 1e9 }).map(n => `u${n}`)
const date = fc.constantFrom('2024-02-29', '1999-12-31', '0001-01-01')
const datetime = fc.constantFrom('2024-02-29T12:00:00.000Z', '1969-07-20T20:17:40Z', '2024-02-29', '2024-01-01T00:00:00+02:00')
const address = fc.record({ street: text, city: text, zip: fc.constantFrom(null, '123') }, { noNullPrototype: true })
const size = fc.record(
  { width: fc.constantFrom(1, 0.5), height: fc.constant(2), unit: fc.constantFrom('mm', 'in') },
  { noNullPrototype: true },
)
const id = fc.constantFrom<unknown>(1, 2, 3, '1', null, 99)
const ids = fc.uniqueArray(fc.constantFrom<unknown>(1, 2, 3, 99, '1'), { maxLength: 3 })
const GOOD: Record<string, { required: Record<string, Arbitrary<unknown>>; other: Record<string, Arbitrary<unknown>> }> = {
  authors: {
    required: { name: text, email: unused },
    other: {
      id: fc.integer({ min: 50, max: 90 }),
      bio: text,
      born: date,
      wakesAt: fc.constantFrom('07:30:00', '23:59:59'),
      active: fc.boolean(),
      rating: fc.double(),
      royalties: fc.constantFrom('1.50', '0', '-3.2', 5),
      followers: fc.constantFrom('9007199254740993', '1', 5),
      role: fc.constantFrom('writer', 'editor'),
      passwordHash: text,
      pen_name: text,
      home: address,
      mentor: id,
      pupils: ids,
      profile: fc.constantFrom<unknown>(1, null, { website: 'w' }, 99),
      books: fc.oneof(ids, fc.constant([{ title: 'nested', genres: [{ name: 'nested' }] }])),
      reviews: fc.constantFrom<unknown>([], ['1~1'], ['9~9'], [{ number: 7, stars: 1, book: 1 }]),
      createdAt: datetime,
    },
  },
  books: {
    required: { title: text, author: fc.constantFrom<unknown>(1, 2, { name: 'n', email: 'nested' }) },
    other: {
      isbn: fc.constantFrom('9780000000001', '9780000000002', null),
      pages: fc.constantFrom<unknown>(0, 5, 1.5, 2 ** 31, -1),
      weight: fc.double(),
      price: fc.constantFrom('1.50', '99999999.99', '1.234', 3),
      discount: fc.constantFrom<unknown>(0.5, 99.99, 1.234, '0.5'),
      barcode: fc.constantFrom('1', '-9223372036854775808', '9223372036854775808'),
      views: fc.constantFrom<unknown>(1, 2 ** 53, '1'),
      published: datetime,
      edition: fc.constantFrom<unknown>(1, 2, 3, 4, '1'),
      cover: fc.constantFrom('aGVsbG8=', '', 'not base64!', 'aGVsbG8'),
      meta: fc.jsonValue({ maxDepth: 2 }),
      size,
      titleLength: fc.constant(3),
      draft: fc.boolean(),
      sequelOf: id,
      sequel: id,
      genres: fc.oneof(ids, fc.constant([{ name: 'g' }])),
      similar: ids,
      reviews: fc.constantFrom<unknown>([], ['1~1'], [{ author: 2, number: 8, stars: 2 }]),
      copies: fc.constantFrom<unknown>([], [{ loanable: false }], [{ branch: 'B1' }, { shelf: 'A~1~4' }, { shelf: 'A%7E1~4' }]),
    },
  },
  genres: { required: { name: unused }, other: { parent: id, children: ids, books: ids } },
  reviews: {
    required: { author: fc.constantFrom(1, 2), number: fc.nat({ max: 5 }), stars: fc.constantFrom(1, 5), book: fc.constantFrom(1, 2) },
    other: { text, comments: fc.constantFrom<unknown>([], [{ text: 'c' }], [1]) },
  },
  comments: { required: { text, review: fc.constantFrom<unknown>('1~1', '1~2', { author: 1, number: 1 }, '1') }, other: {} },
  branches: {
    required: { code: fc.constantFrom('B1', 'B2', 'a/b', 'a~b', '', '%', '..'), name: text },
    other: { address, sign: size, copies: fc.constantFrom([]) },
  },
  shelves: { required: { room: fc.constantFrom('A~1', 'B', '', '%7E', '/'), number: fc.nat({ max: 5 }) }, other: { label: text } },
  copies: {
    required: { book: fc.constantFrom(1, 2) },
    other: {
      id: fc.uuid(),
      acquired: date,
      loanable: fc.boolean(),
      token: fc.uuid(),
      branch: fc.constantFrom('B1', 'no', null),
      shelf: fc.constantFrom('A%7E1~4', 'A~1~4', null),
    },
  },
  profiles: { required: { author: fc.constantFrom<unknown>(1, 2, 3) }, other: { website: text, newsletter: fc.boolean() } },
}
const SEED: [resource: string, body: unknown][] = [
  ...[1, 2, 3].map((n): [string, unknown] => ['authors', { id: n, name: `a${n}`, email: `a${n}`, home: { street: 's', city: 'c' } }]),
  ...[1, 2, 3].map((n): [string, unknown] => [
    'books',
    { id: n, title: `b${n}`, author: 1, size: { width: 1, height: 2 }, meta: { a: [1] } },
  ]),
  ...[1, 2, 3].map((n): [string, unknown] => ['genres', { id: n, name: `g${n}`, books: [n] }]),
  ['reviews', { author: 1, number: 1, stars: 3, book: 1 }],
  ['comments', { text: 'c', review: '1~1' }],
  ['branches', { code: 'B1', name: 'b' }],
  ['shelves', { room: 'A~1', number: 4 }],
  ['copies', { book: 1, branch: 'B1', shelf: 'A%7E1~4' }],
  ['profiles', { author: 1 }],
]

const SEEDED = Object.fromEntries(
  Object.entries(Object.groupBy(SEED, ([resource]) => resource)).map(([resource, records]) => [
    resource,
    records!.map(([, body]) => body as object),
  ]),
)

/** Values that are wrong for most attributes, and names that are no attribute. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 60,
    1e300,
    '',
    'abc',
    '1',
    [],
    [null],
    [1, 1],
    [[1]],
    {},
    { id: 1 },
    { nope: 1 },
    'a\0',
  ),
)
const strange = fc.constantFrom('nope', '__proto__', 'constructor', 'toString', '', 'author_id', 'home_street', 'id', 'home.street')

const request = fc.constantFrom(...Object.entries(GOOD)).chain(([resource, { required, other }]) => {
  const all = { ...required, ...other }
  const names = Object.keys(all)
  const bodyOf = (must: Record<string, Arbitrary<unknown>>): Arbitrary<unknown> =>
    fc
      .tuple(
        fc.record(must),
        fc.record(all, { requiredKeys: [] }),
        fc.uniqueArray(fc.nat(), { maxLength: 3 }),
        fc.array(fc.tuple(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...names) }, strange), odd), { maxLength: 2 }),
      )
      // Few attributes at a time: with many, one of them is always wrong and nothing else is reached.
      .map(([musts, more, picks, wrong]) =>
        Object.fromEntries(
          [...Object.entries(musts), ...picks.map(n => Object.entries(more)[n % (Object.keys(more).length || 1)] ?? []), ...wrong].filter(
            pair => pair.length === 2,
          ) as [string, unknown][],
        ),
      )
  const attribute = fc.constantFrom(...names).chain(name => fc.tuple(fc.constant(name), fc.oneof(all[name] ?? odd, odd)))
  return fc.oneof(
    bodyOf(required).map(body => ({ method: 'POST', resource, attribute: '', body })),
    bodyOf({}).map(body => ({ method: 'PUT', resource, attribute: '', body })),
    attribute.map(([name, body]) => ({ method: 'PUT', resource, attribute: `/${name}`, body })),
    attribute.map(([name, body]) => ({ method: 'POST', resource, attribute: `/${name}`, body })),
    fc.constantFrom(...names).map(name => ({ method: 'DELETE', resource, attribute: `/${name}`, body: undefined })),
  )
})

describeStores('bodies', () => {
  it('writes nothing when it refuses, and what it writes can be read', async () => {
    const causes: unknown[] = []
    await using engine = await createEngine({ ...library, seed: SEEDED, onError: error => causes.push(error) })
    await check(
      fc.asyncProperty(fc.array(fc.tuple(request, fc.nat()), { minLength: 1, maxLength: 12 }), async steps => {
        await engine.reset()
        causes.length = 0
        const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> => {
          // A body is what JSON.parse gives: no prototypes, no -0.
          const sent = body === undefined ? undefined : (JSON.parse(JSON.stringify(body)) as unknown)
          const response = await engine.handle(method, path, undefined, sent)
          assert.ok(response.status < 500, `${method} ${path} ${JSON.stringify(body)} failed: ${causes.join()}`)
          assertSound(response, [method, path, body])
          return { status: response.status, body: response.body as Record<string, unknown> }
        }
        const everything = async (): Promise<unknown> =>
          Promise.all(Object.keys(GOOD).map(async resource => (await ask('GET', `/v1/${resource}?limit=1000`)).body[resource]))
        for (const [{ method, resource, attribute, body }, pick] of steps) {
          const before = await everything()
          const paths = await pathsOf(ask, resource)
          const item = method === 'POST' && attribute === '' ? '' : `/${paths[pick % (paths.length + 1)] ?? '77'}`
          const answer = await ask(method, `/v1/${resource}${item}${attribute}`, body)
          if (answer.status >= 400)
            assert.deepEqual(await everything(), before, `${method} ${resource}${item}${attribute} was refused but wrote`)
          else await everything()
        }
      }),
      { label: 'bodies', runs: 100 },
    )
  })
})

/** The IDs in the paths of a resource's records: the key, percent-encoded, its parts joined by `~`. */
async function pathsOf(
  ask: (method: string, path: string) => Promise<{ body: Record<string, unknown> }>,
  resource: string,
): Promise<string[]> {
  const KEYS: Record<string, string[]> = { reviews: ['author', 'number'], branches: ['code'], shelves: ['room', 'number'] }
  const records = (await ask('GET', `/v1/${resource}`)).body[resource] as Record<string, string | number>[]
  const encode = (part: string | number): string => encodeURIComponent(part).replaceAll('~', '%7E')
  return records.map(record => (KEYS[resource] ?? ['id']).map(key => encode(record[key] ?? '')).join('~'))
}
