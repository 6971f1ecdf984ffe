/** Pages by keys: `offset=first`, then `next`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const Owner = defineEntity({
  name: 'Owner',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    notes: () => p.oneToMany(Note).mappedBy('owner').orderBy({ secret: 'asc' }),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    stars: p.integer().nullable(),
    price: p.decimal().precision(14).scale(2).nullable(),
    big: p.bigint().nullable(),
    rate: p.double().nullable(),
    at: p.datetime().nullable(),
    data: p.json<unknown>().nullable(),
    secret: p.string().hidden().nullable(),
    owner: () => p.manyToOne(Owner).nullable(),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), slug: p.string().unique(), text: p.string() } })
const entities = [Owner, Note, Tag]

const seed = {
  owners: [
    { id: 1, name: 'Ann' },
    { id: 2, name: null },
  ],
  notes: Array.from({ length: 12 }, (_, index) => ({
    id: index + 1,
    title: `n'${index % 3}\u{1f98a}"`,
    stars: index % 4 === 0 ? null : index % 3,
    price: index % 5 === 0 ? null : `${1 + (index % 3)}12345678901.1${index % 2}`,
    big: index % 3 === 0 ? null : `90071992547409${90 + (index % 4)}`,
    rate: index % 4 === 3 ? null : 0.1 * (index % 3),
    at: index % 6 === 0 ? null : `2026-01-0${1 + (index % 3)}T00:00:00.${100 + (index % 2)}Z`,
    data: { a: index },
    secret: `s${index % 2}`,
    owner: index % 3 === 0 ? null : 1 + (index % 2),
  })),
  tags: ['b', 'a', 'c'].map((slug, index) => ({ id: index + 1, slug, text: 'same' })),
}

type Shown = Record<string, unknown>

const offsetOf = (next: unknown): string => new URLSearchParams(String(next).split('?')[1]).get('offset')!

async function follow(target: Target, path: string, query: object): Promise<unknown[]> {
  const found: unknown[] = []
  let answer = await target.call('GET', path, { limit: 5, ...query, offset: 'first' })
  for (let pages = 0; pages < 20; pages++) {
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { body } = answer
    found.push(...(body[body.resource as string] as Shown[]).map(({ id }) => id))
    assert.equal(body['previous'], null)
    if (body['next'] === null) return found
    const { next } = body
    answer = await target.call('GET', next as string)
    assert.equal(answer.body['offset'], offsetOf(next))
  }
  throw new Error('next leads on for ever')
}

describeTargets('pages by keys', { entities, seed }, target => {
  it('show what pages by numbers show, whatever the order', async () => {
    const sorts = [
      '',
      'stars',
      'stars.desc',
      'stars.asc.nullslast',
      'stars.desc.nullsfirst',
      'price.desc',
      'big',
      'rate.desc',
      'at,title.desc',
    ]
    sorts.push('owner.name', 'owner.name.desc.nullsfirst,stars', 'title', 'owner', 'owner.notes.stars.desc', 'id.desc')
    for (const sort of sorts) {
      const { body } = await target.call('GET', '/v1/notes', { sort })
      assert.deepEqual(
        await follow(target, '/v1/notes', { sort }),
        (body['notes'] as Shown[]).map(({ id }) => id),
        sort,
      )
    }
    assert.deepEqual(
      await follow(target, '/v1/owners/1/notes', { sort: 'stars.desc', limit: 2 }),
      await ids(target, { sort: 'stars.desc' }, '/v1/owners/1/notes'),
    )
    assert.deepEqual(
      await follow(target, '/v1/notes', { 'stars>': 0, limit: 1, sort: 'stars' }),
      await ids(target, { 'stars>': 0, sort: 'stars' }),
    )
  })

  it('are not moved by records that come and go', async () => {
    const first = await target.call('GET', '/v1/notes', { sort: 'title', limit: 4, offset: 'first' })
    const seen = (first.body['notes'] as Shown[]).map(({ id }) => id)
    const rest = (await ids(target, { sort: 'title' })).filter(id => !seen.includes(id))
    await target.call('POST', '/v1/notes', undefined, { id: 99, title: '' })
    await target.call('DELETE', `/v1/notes/${seen[0] as number}`)
    await target.call('DELETE', `/v1/notes/${seen.at(-1) as number}`)
    const next = await target.call('GET', first.body['next'] as string)
    assert.deepEqual(
      (next.body['notes'] as Shown[]).map(({ id }) => id),
      rest.slice(0, 4),
    )
    assert.equal(next.body['count'], 11)
  })

  it('have no next page behind a full last one, and none at limit=0', async () => {
    const whole = await target.call('GET', '/v1/notes', { limit: 12, offset: 'first' })
    assert.deepEqual([whole.body['next'], whole.body['offset'], whole.body['count']], [null, 'first', 12])
    const none = await target.call('GET', '/v1/notes', { limit: 0, offset: 'first' })
    assert.deepEqual([none.body['next'], none.body['notes'], none.body['count']], [null, [], 12])
  })

  it('refuse the cursor of another list or order, and what is none', async () => {
    const { body } = await target.call('GET', '/v1/notes', { sort: 'stars', limit: 2, offset: 'first' })
    const offset = offsetOf(body['next'])
    const cases: [path: string, query: object][] = [
      ['/v1/notes', { offset }],
      ['/v1/notes', { offset, sort: 'stars.desc' }],
      ['/v1/notes', { offset, sort: 'stars,title' }],
      ['/v1/owners', { offset, sort: 'name' }],
      ['/v1/notes', { offset: 'first', sort: 'data.a' }],
      ['/v1/owners/1/notes', { offset: 'first' }],
      ['/v1/owners', { expand: 'notes(offset=first)' }],
      ['/v1/notes/1', { offset: 'first' }],
    ]
    for (const text of ['after.', 'after', 'last', 'first.', 'after.!!', 'after.AAAA', `after.${'A'.repeat(9000)}`])
      cases.push(['/v1/notes', { offset: text }])
    const forge = (value: unknown): string => `after.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
    for (const value of [
      {},
      [],
      [1],
      ['notes stars.asc'],
      ['notes stars.asc', 't'],
      ['notes stars.asc', 'i1', 'i1', 'i1'],
      ['notes stars.asc', 1, 'i1'],
    ])
      cases.push(['/v1/notes', { offset: forge(value), sort: 'stars' }])
    for (const value of ['i99999999999999999999', 'i01', 'x', 'rNaN', 'b!', 't\ud800', { a: 1 }])
      cases.push(['/v1/notes', { offset: forge(['notes stars.asc', value, 'i1']), sort: 'stars' }])
    for (const [path, query] of cases) {
      const { status } = await target.call('GET', path, query as never)
      assert.ok(status === 400 || status === 431, `${path} ${JSON.stringify(query).slice(0, 80)}: ${status}`)
    }
    for (const values of [
      ['tabc', 'tabc'],
      ['t\0', 't1'],
      ['rInfinity', 'i1'],
      ['bAAAA', 'bAAAA'],
      [null, null],
      ['t', 't'],
    ]) {
      const { status } = await target.call('GET', '/v1/notes', { sort: 'stars', offset: forge(['notes stars.asc', ...values]) })
      assert.ok(status === 400 || status === 200, `${JSON.stringify(values)}: ${status}`)
    }
    const csv = await target.call('GET', '/v1/notes', { offset: 'first' }, undefined, { accept: 'text/csv' })
    assert.equal(csv.status, 400)
  })
})

async function ids(target: Target, query: object, path = '/v1/notes'): Promise<unknown[]> {
  const { body } = await target.call('GET', path, query as never)
  return (body['notes'] as Shown[]).map(({ id }) => id)
}

describeStores('pages by keys, behind rules', () => {
  it('hold the scope, and show no key that is hidden behind another', async () => {
    const resources = [resource(Tag, { key: 'slug', scope: () => ({ slug: { $ne: 'c' } }) })]
    await using engine = await createEngine({ entities, seed, resources })
    const { body } = (await engine.handle('GET', '/v1/tags', { offset: 'first', limit: 1, sort: 'text' })) as { body: Shown }
    const cursor = offsetOf(body['next']).slice('after.'.length)
    assert.equal(Buffer.from(cursor, 'base64url').toString(), '["tags text.asc","tsame","ta"]')
    const next = (await engine.handle('GET', body['next'] as string)) as { body: Shown }
    assert.deepEqual([(next.body['tags'] as Shown[])[0]!['slug'], next.body['next'], next.body['count']], ['b', null, 2])
  })
})
