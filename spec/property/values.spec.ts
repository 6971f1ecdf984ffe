/**
 * Values of every type go in and come out: what a POST or PUT was given is what its answer, a later GET and the attribute's own path show;
 * and a filter for equality with it finds that record. By contract sections 3 and 4, on the library model, which has every type.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { after, before, it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { check, costly } from '../helpers/check.ts'
import type { Json } from '../helpers/oracle.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { withoutNul } from './world/data.ts'
import { escapeText } from './world/queries.ts'

interface Case {
  readonly resource: 'authors' | 'books' | 'copies'
  readonly attribute: string
  readonly value: Arbitrary<Json>
  /** How a filter spells the value; nothing when it cannot be filtered by, or not exactly. */
  readonly filter?: (value: Json) => string | undefined
}

const wellFormed = (maxLength: number): Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ unit: 'grapheme', maxLength: Math.floor(maxLength / 8) }),
    fc.string({ maxLength }),
  )
/** NUL is data in a body, but cannot travel in a query. */
const asText = (value: Json): string | undefined => (spelled(value).includes('\0') ? undefined : escapeText(spelled(value)))
const spelled = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value))

const instant = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map(date => date.toISOString())
const decimal = (digits: number, scale: number): Arbitrary<string> =>
  fc.bigInt({ min: -(10n ** BigInt(digits)) + 1n, max: 10n ** BigInt(digits) - 1n }).map(unscaled => {
    const figures = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
    return `${unscaled < 0n ? '-' : ''}${figures.slice(0, -scale)}.${figures.slice(-scale)}`
  })
const maybe = (value: Arbitrary<string>): Arbitrary<string | null> => fc.option(value, { nil: null })
/** Objects as `JSON.parse` makes them. */
const PLAIN = { noNullPrototype: true } as const
/** Doubles as JSON has them: finite, and no -0. */
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)
/** A double as a plain decimal; the contract says nothing of exponents. */
const plainDouble = (value: Json): string | undefined => (/e/.test(spelled(value)) ? undefined : spelled(value))
const json = fc.jsonValue({ maxDepth: 3 }).map(value => JSON.parse(JSON.stringify(value)) as Json)
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)

const CASES: readonly Case[] = [
  { resource: 'authors', attribute: 'name', value: wellFormed(60), filter: asText },
  { resource: 'authors', attribute: 'bio', value: wellFormed(300), filter: asText },
  { resource: 'authors', attribute: 'pen_name', value: wellFormed(60), filter: asText },
  { resource: 'authors', attribute: 'born', value: instant.map(at => at.slice(0, 10)), filter: spelled },
  { resource: 'authors', attribute: 'wakesAt', value: instant.map(at => at.slice(11, 19)), filter: spelled },
  { resource: 'authors', attribute: 'active', value: fc.boolean(), filter: spelled },
  { resource: 'authors', attribute: 'rating', value: double, filter: plainDouble },
  { resource: 'authors', attribute: 'royalties', value: decimal(12, 2), filter: spelled },
  { resource: 'authors', attribute: 'followers', value: big, filter: spelled },
  { resource: 'authors', attribute: 'role', value: fc.constantFrom('writer', 'editor', 'translator'), filter: spelled },
  {
    resource: 'authors',
    attribute: 'home',
    value: fc.record({ street: wellFormed(80), city: wellFormed(80), zip: maybe(wellFormed(10)) }, PLAIN),
  },
  { resource: 'books', attribute: 'pages', value: fc.integer(), filter: spelled },
  { resource: 'books', attribute: 'weight', value: double, filter: plainDouble },
  { resource: 'books', attribute: 'price', value: decimal(8, 2), filter: spelled },
  {
    resource: 'books',
    attribute: 'discount',
    value: decimal(4, 2)
      .map(Number)
      .map(value => value + 0),
    filter: plainDouble,
  },
  { resource: 'books', attribute: 'barcode', value: big, filter: spelled },
  { resource: 'books', attribute: 'views', value: fc.maxSafeInteger(), filter: spelled },
  { resource: 'books', attribute: 'published', value: instant, filter: spelled },
  { resource: 'books', attribute: 'edition', value: fc.constantFrom(1, 2, 3), filter: spelled },
  { resource: 'books', attribute: 'cover', value: fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('base64')) },
  // Whether a JSON `null` is the SQL NULL, no reader can tell.
  { resource: 'books', attribute: 'meta', value: json },
  {
    resource: 'books',
    attribute: 'size',
    value: fc.record(
      { width: double, height: double, unit: fc.constantFrom('mm', 'in'), measuredOn: maybe(instant.map(at => at.slice(0, 10))) },
      PLAIN,
    ),
  },
  { resource: 'copies', attribute: 'token', value: fc.uuid(), filter: value => spelled(value).toUpperCase() },
  { resource: 'copies', attribute: 'acquired', value: instant.map(at => at.slice(0, 10)), filter: spelled },
]

describeStores('values', store => {
  // PostgreSQL stores no NUL.
  const storable = (value: Arbitrary<Json>): Arbitrary<Json> => (store.name === 'postgres' ? value.map(withoutNul) : value)
  let engine: RestEngine
  before(async () => {
    engine = await createEngine({ ...library })
    await ask('POST', '/v1/authors', { name: 'the one to change', email: 'a' })
    await ask('POST', '/v1/books', { title: 'the one to change', author: 1 })
    await ask('POST', '/v1/copies', { book: 1 })
  })
  after(async () => {
    await engine.close()
  })

  const ask = async (method: string, path: string, body?: unknown, query?: Record<string, string>): Promise<Record<string, Json>> => {
    const response = await engine.handle(method, path, query, body)
    assert.equal(response.status, 200, `${method} ${path} ${JSON.stringify(body ?? query)} answered ${JSON.stringify(response.body)}`)
    return response.body as Record<string, Json>
  }
  const record = (body: Record<string, Json>): Record<string, Json> => body[body['resource'] as string] as Record<string, Json>
  const REST = { authors: { name: 'x' }, books: { title: 'x', author: 1 }, copies: { book: 1 } }
  let next = 0

  for (const { resource, attribute, value, filter } of CASES) {
    it(`keeps ${resource}.${attribute}`, () =>
      check(
        fc.asyncProperty(storable(value), storable(value), async (first, second) => {
          const email = resource === 'authors' ? { email: `${attribute} ${next++}` } : {}
          const made = record(await ask('POST', `/v1/${resource}`, { ...REST[resource], ...email, [attribute]: first }))
          const path = `/v1/${resource}/${spelled(made['id'])}`
          assert.deepEqual(made[attribute], first)
          assert.deepEqual(record(await ask('GET', path)), made)

          assert.deepEqual(record(await ask('PUT', path, { [attribute]: second }))[attribute], second)
          assert.deepEqual((await ask('GET', `${path}/${attribute}`))['value'], second)
          assert.deepEqual(record(await ask('PUT', `${path}/${attribute}`, first))[attribute], first)

          const spelling = filter?.(first)
          const query = { [attribute]: spelling ?? '', id: spelled(made['id']), attributes: `id,${attribute}` }
          if (spelling !== undefined)
            assert.deepEqual((await ask('GET', `/v1/${resource}`, undefined, query))[resource], [{ id: made['id'], [attribute]: first }])
          await ask('DELETE', path)
        }),
        { label: `keep ${attribute}`, runs: costly(40) },
      ))
  }

  // A key travels in a path, where NUL and dot segments cannot.
  const keyText = (maxLength: number): Arbitrary<string> =>
    wellFormed(maxLength).filter(text => text !== '' && text !== '.' && text !== '..' && !text.includes('\0'))

  it('finds a record by whatever text its key is', () =>
    check(
      fc.asyncProperty(keyText(10), async code => {
        const response = await engine.handle('POST', '/v1/branches', undefined, { code, name: 'x' })
        assert.equal(response.status, 200, JSON.stringify(response.body))
        const path = `/v1/branches/${encodeURIComponent(code)}`
        for (const way of [path, String(response.headers['location'])]) assert.equal(record(await ask('GET', way))['code'], code)
        assert.equal(record(await ask('PUT', '/v1/copies/' + (await copy()), { branch: code }))['branch'], code)
        assert.equal((await ask('GET', '/v1/copies', undefined, { branch: escapeText(code) }))['count'], 1)
        assert.deepEqual(record(await ask('GET', path))['copies'], [await copy()])
        await ask('DELETE', path)
      }),
      { label: 'text keys', runs: costly(60) },
    ))

  it('finds a record by whatever its composite key is', () =>
    check(
      fc.asyncProperty(keyText(20), fc.integer(), async (room, number) => {
        const response = await engine.handle('POST', '/v1/shelves', undefined, { room, number })
        assert.equal(response.status, 200, JSON.stringify(response.body))
        const path = String(response.headers['location'])
        assert.deepEqual(record(await ask('GET', path)), { room, number, label: null, copies: [] })
        // "each part percent-encoded; the same string is its ID in records"
        const id = path.slice('/v1/shelves/'.length)
        assert.deepEqual(id.split('~').map(decodeURIComponent), [room, String(number)])
        assert.equal(record(await ask('PUT', '/v1/copies/' + (await copy()), { shelf: id }))['shelf'], id)
        assert.equal((await ask('GET', '/v1/copies', undefined, { shelf: escapeText(id) }))['count'], 1)
        assert.deepEqual(record(await ask('GET', path))['copies'], [await copy()])
        await ask('DELETE', path)
      }),
      { label: 'composite keys', runs: costly(60) },
    ))

  /** The ID of the copy that was there first. */
  const copy = async (): Promise<string> => {
    const [first] = (await ask('GET', '/v1/copies', undefined, { limit: '1' }))['copies'] as Record<string, Json>[]
    return spelled(first?.['id'])
  }
})
