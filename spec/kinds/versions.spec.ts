/** Optimistic locking: the version in a body, entity tags and conditions in headers, and properties with `concurrencyCheck`. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Stock, entities } from './versions.ts'

type Answer = { status: number; body: Record<string, unknown> & { resource: string }; headers: Record<string, string> }

describeStores('optimistic locking', () => {
  let engine: RestEngine
  before(async () => {
    engine = await createEngine({
      entities,
      seed: {
        docs: [{ id: 1, title: 'A', pages: [{ id: 1, text: 'x' }] }],
        stocks: [{ id: 1, amount: 5 }],
        plains: [{ id: 1, name: 'x' }],
      },
    })
  })
  beforeEach(() => engine.reset())
  after(() => engine.close())
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    query: Record<string, string> = {},
  ): Promise<Answer> => engine.handle(method, path, query, body, { headers })

  it('a version counts up, is given as a tag, and an old one in a body is a conflict', async () => {
    const first = await call('GET', '/v1/docs/1')
    assert.equal(first.headers['etag'], '"1"')
    assert.equal((await call('HEAD', '/v1/docs/1')).headers['etag'], '"1"')
    const changed = await call('PUT', '/v1/docs/1', { title: 'B', version: 1 })
    assert.deepEqual([changed.status, changed.headers['etag'], (changed.body['doc'] as { version: number }).version], [200, '"2"', 2])
    const late = await call('PUT', '/v1/docs/1', { title: 'C', version: 1 })
    assert.deepEqual([late.status, late.body['code']], [409, 'version_conflict'])
    assert.equal((await call('PUT', '/v1/docs/1', { title: 'C' })).headers['etag'], '"3"')
    assert.equal((await call('POST', '/v1/docs', { title: 'N' })).headers['etag'], '"1"')
    assert.equal((await call('GET', '/v1/docs/1', undefined, {}, { attributes: 'title' })).headers['etag'], undefined)
    assert.equal((await call('GET', '/v1/docs')).headers['etag'], undefined)
    assert.equal((await call('GET', '/v1/plains/1')).headers['etag'], undefined)
  })

  it('a version that is a time', async () => {
    const { headers, body } = await call('GET', '/v1/pages/1')
    const { stamp } = body['page'] as { stamp: string }
    assert.equal(headers['etag'], `"${stamp}"`)
    const changed = await call('PUT', '/v1/pages/1', { text: 'y', stamp }, { 'if-match': `"${stamp}"` })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const late = await call('PUT', '/v1/pages/1', { text: 'z', stamp: '2000-01-01T00:00:00.000Z' })
    assert.deepEqual([late.status, late.body['code']], [409, 'version_conflict'])
  })

  it('changes are made under the condition that they name', async () => {
    const cases: [method: string, path: string, body: unknown][] = [
      ['PUT', '/v1/docs/1', { title: 'B' }],
      ['PATCH', '/v1/docs/1', { title: 'C' }],
      ['PUT', '/v1/docs/1/title', 'D'],
      ['POST', '/v1/docs/1/pages', { text: 'p' }],
      ['DELETE', '/v1/docs/1/pages', undefined],
      ['DELETE', '/v1/docs/1', undefined],
    ]
    for (const [method, path, body] of cases) {
      const { headers } = await call('GET', '/v1/docs/1')
      const before = JSON.stringify((await call('GET', '/v1/docs', undefined, {}, { depth: '2' })).body['docs'])
      for (const failing of [
        { 'if-match': '"0"' },
        { 'If-Match': `W/${headers['etag']!}` },
        { 'if-match': '"7", "8"' },
        { 'if-none-match': '*' },
        { 'if-none-match': headers['etag']! },
        { 'if-match': 'nonsense' },
      ]) {
        const refused = await call(method, path, body, failing)
        assert.deepEqual(
          [refused.status, refused.body['code']],
          [412, 'precondition_failed'],
          `${method} ${path} ${JSON.stringify(failing)}`,
        )
      }
      assert.equal(JSON.stringify((await call('GET', '/v1/docs', undefined, {}, { depth: '2' })).body['docs']), before)
      const done = await call(method, path, body, { 'if-match': `"0", ${headers['etag']!}`, 'if-none-match': '"0"' })
      assert.equal(done.status, 200, `${method} ${path} ${JSON.stringify(done.body)}`)
    }
    assert.equal((await call('PUT', '/v1/docs/1', {}, { 'if-match': '*' })).status, 404)
    assert.equal((await call('PUT', '/v1/plains/1', { name: 'y' }, { 'if-match': '*' })).status, 200)
    assert.equal((await call('PUT', '/v1/plains/1', { name: 'z' }, { 'if-match': '"1"' })).status, 412)
  })

  it('of two changes with one tag, made at once, one is refused', async () => {
    const answers = await Promise.all([1, 2, 3].map(n => call('PUT', '/v1/docs/1', { title: `T${n}` }, { 'if-match': '"1"' })))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 412, 412],
    )
  })

  it('properties with concurrencyCheck are written, and a change behind the back of a hook is a conflict', async () => {
    const changed = await call('PUT', '/v1/stocks/1', { amount: 6, note: 'n', big: '9007199254740993' })
    assert.deepEqual(changed.body['stock'], { id: 1, amount: 6, note: 'n', big: '9007199254740993', other: null })
    assert.equal((await call('PUT', '/v1/stocks/1', { amount: 7, note: null })).status, 200)
    // A rule of MikroORM's: a change must change one of them.
    assert.equal((await call('PUT', '/v1/stocks/1', { other: 'x' })).status, 409)
    engine.orm.em.getEventManager().registerSubscriber({
      getSubscribedEntities: () => [Stock as never],
      async beforeUpdate({ em }) {
        await em.getConnection().execute('update stock set amount = 99', [], 'run', em.getTransactionContext())
      },
    })
    const late = await call('PUT', '/v1/stocks/1', { amount: 8 })
    assert.deepEqual([late.status, late.body['code']], [409, 'version_conflict'])
    assert.equal(((await call('GET', '/v1/stocks/1')).body['stock'] as { amount: number }).amount, 7)
  })

  it('an old version is said after what is wrong with the body, a value that is taken included', async () => {
    const properties = { id: p.integer().primary(), name: p.string().unique(), version: p.integer().version() }
    const Named = defineEntity({ name: 'Named', properties })
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      const seed = { nameds: ['a', 'b'].map(name => ({ name })) }
      await using own = await createEngine({ entities: [Named], seed, orm: { subscribers } })
      const codes = []
      for (const name of ['b', 'c']) codes.push((await own.handle('PUT', '/v1/nameds/1', undefined, { name, version: 7 })).body.code)
      assert.deepEqual(codes, ['unique_conflict', 'version_conflict'])
    }
  })

  it('an old version is said after what a new object lacks, however the record is written', async () => {
    const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string(), zip: p.string().nullable() } })
    const properties = { id: p.integer().primary(), place: () => p.embedded(Place).object().nullable(), version: p.integer().version() }
    const House = defineEntity({ name: 'House', properties })
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      await using own = await createEngine({ entities: [House], seed: { houses: [{ id: 1 }] }, orm: { subscribers } })
      const lacking = await own.handle('PATCH', '/v1/houses/1', '', { place: { zip: '1' }, version: 7 })
      const [error] = lacking.body.errors as { attribute: string }[]
      assert.deepEqual([lacking.status, error?.attribute], [422, 'place.city'])
      const late = await own.handle('PATCH', '/v1/houses/1', '', { place: { city: 'x' }, version: 7 })
      assert.deepEqual([late.status, late.body.code], [409, 'version_conflict'])
    }
  })
})
