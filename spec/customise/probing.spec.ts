/**
 * Probing: what a caller may not see cannot be inferred. Two requests that differ only in what is hidden must be answered alike: a private
 * attribute like a name that never was, a row out of scope like an ID that never was, a resource without access like one whose rows are
 * other ones.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import type { QueryInput, ResourceConfig } from '../../lib/index.ts'
import { data, Crate, Item, Label, rows, Shop, start, startOnce } from './world.ts'
import type { Answer, Asked } from './world.ts'

/** An answer without what differs between any two requests: its time, and the name or value asked for. */
function likeness({ status, headers, body }: Answer, ...asked: string[]): string {
  const text = JSON.stringify({ status, headers, body: { ...body, timestamp: undefined } })
  return asked.reduce((rest, one) => rest.replaceAll(one, '<asked>'), text)
}

describe('a private attribute', () => {
  // Names that are equally far from all others.
  const Safe = defineEntity({
    name: 'Safe',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      zzzzzzzzq: p.string().nullable(),
      zzzzzzzzh: p.string().hidden().nullable(),
      zzzzzzzzr: p.string().nullable(),
      other: () => p.manyToOne(Safe).nullable(),
      others: () => p.oneToMany(Safe).mappedBy('other'),
    },
  })
  const world = startOnce({
    entities: [Safe],
    seed: {
      safes: [
        { id: 1, name: 'a', zzzzzzzzq: 'open', zzzzzzzzh: 'open' },
        { id: 2, name: 'b', zzzzzzzzq: null, other: 1 },
      ],
    },
    resources: [resource(Safe, { attributes: { zzzzzzzzq: { private: true }, zzzzzzzzr: { private: true, readOnly: true } } })],
  })

  const probes: [string, (asked: Asked, name: string) => Promise<Answer>][] = [
    ['a filter', ({ get }, name) => get('/v1/safes', { [name]: 'open' })],
    ['a filter with a wildcard', ({ get }, name) => get('/v1/safes', { [name]: 'o*' })],
    ['a filter without regard to case', ({ get }, name) => get('/v1/safes', { [`${name}~=`]: 'O*' })],
    ['a comparison', ({ get }, name) => get('/v1/safes', { [`${name}>=`]: 'a' })],
    ['a negated filter', ({ get }, name) => get('/v1/safes', { [`!${name}`]: 'open' })],
    ['a filter by null', ({ get }, name) => get('/v1/safes', { [name]: null })],
    ['a wrong value', ({ get }, name) => get('/v1/safes', { [name]: 'a\\' })],
    ['one of several paths', ({ get }, name) => get('/v1/safes', { [`name|${name}`]: 'open' })],
    ['a filter behind a to-one', ({ get }, name) => get('/v1/safes', { [`other.${name}`]: 'open' })],
    ['a filter behind a list', ({ get }, name) => get('/v1/safes', { [`others.${name}`]: 'open' })],
    ['a filter inside it', ({ get }, name) => get('/v1/safes', { [`${name}.x`]: 'open' })],
    ['a filter with an underscore', ({ get }, name) => get('/v1/safes', { [`${name}_`]: 'open' })],
    ['a sort', ({ get }, name) => get('/v1/safes', { sort: name })],
    ['a descending sort', ({ get }, name) => get('/v1/safes', { sort: `${name}.desc` })],
    ['a sort behind a relation', ({ get }, name) => get('/v1/safes', { sort: `other.${name}` })],
    ['a sort behind a list', ({ get }, name) => get('/v1/safes', { sort: `others.${name}.desc` })],
    ['attributes', ({ get }, name) => get('/v1/safes', { attributes: name })],
    ['excluded attributes', ({ get }, name) => get('/v1/safes', { attributes: `!${name}` })],
    ['attributes behind a relation', ({ get }, name) => get('/v1/safes', { attributes: `other.${name}`, depth: 2 })],
    ['expand', ({ get }, name) => get('/v1/safes', { expand: name })],
    ['its path', ({ get }, name) => get(`/v1/safes/1/${name}`)],
    ['HEAD of its path', ({ call }, name) => call('HEAD', `/v1/safes/1/${name}`)],
    ['OPTIONS of its path', ({ call }, name) => call('OPTIONS', `/v1/safes/1/${name}`)],
    ['POST to its path', ({ call }, name) => call('POST', `/v1/safes/1/${name}`, {}, {})],
    ['DELETE of its path', ({ call }, name) => call('DELETE', `/v1/safes/1/${name}`)],
    ['a filter of a deletion', ({ call }, name) => call('DELETE', '/v1/safes/1/others', { [name]: 'open' })],
  ]
  for (const [what, probe] of probes) {
    it(`is unknown in ${what}`, async () => {
      await using asked = await world()
      const unknown = await probe(asked, 'zzzzzzzzx')
      assert.ok(unknown.status === 400 || unknown.status === 404)
      for (const name of ['zzzzzzzzq', 'zzzzzzzzh', 'zzzzzzzzr']) {
        assert.equal(likeness(await probe(asked, name), name), likeness(unknown, 'zzzzzzzzx'))
      }
    })
  }

  it('is unknown in bodies too, when it cannot be written', async () => {
    await using asked = await world()
    for (const [method, path] of [
      ['POST', '/v1/safes'],
      ['PUT', '/v1/safes/1'],
    ] as const) {
      const unknown = await asked.call(method, path, {}, { name: 'c', zzzzzzzzx: 'open' })
      const known = await asked.call(method, path, {}, { name: 'c', zzzzzzzzr: 'open' })
      assert.equal(unknown.status, 422)
      assert.equal(likeness(known, 'zzzzzzzzr'), likeness(unknown, 'zzzzzzzzx'))
    }
  })

  it('is not named by any hint, and is in no list of what is allowed', async () => {
    await using asked = await world()
    const answers = await Promise.all([
      asked.get('/v1/safes', { zzzzzzzzz: '1' }),
      asked.get('/v1/safes', { sort: 'zzzzzzzzz' }),
      asked.get('/v1/safes', { attributes: 'zzzzzzzzz' }),
      asked.get('/v1/safes', { expand: 'zzzzzzzzz' }),
      asked.get('/v1/safes/1/zzzzzzzzz'),
      asked.call('POST', '/v1/safes', {}, { name: 'c', zzzzzzzzz: 1 }),
      asked.call('PUT', '/v1/safes/1', {}, { zzzzzzzzz: 1 }),
    ])
    for (const { status, body } of answers) {
      assert.ok(status >= 400)
      assert.doesNotMatch(JSON.stringify(body), /zzzzzzzz[qhr]/)
    }
  })

  it('is in no answer, whatever the request', async () => {
    await using asked = await world()
    const answers = [
      await asked.get('/v1/safes', { depth: 2, expand: 'other.others' }),
      await asked.get('/v1/safes/1', { depth: 2 }),
      await asked.get('/v1/safes/2/other'),
      await asked.get('/v1/safes/1/others'),
      await asked.call('POST', '/v1/safes', { depth: 2 }, { name: 'c', zzzzzzzzq: 'open', zzzzzzzzh: 'open' }),
      await asked.call('PUT', '/v1/safes/1', {}, { zzzzzzzzq: 'open', zzzzzzzzh: 'open' }),
      await asked.call('PUT', '/v1/safes/1/zzzzzzzzq', {}, 'open'),
      await asked.call('DELETE', '/v1/safes/2'),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body))
      assert.doesNotMatch(JSON.stringify(body), /zzzzzzzz|open/)
    }
  })
})

describe('a row out of scope', () => {
  const scoped = startOnce({ resources: [resource(Item, { scope: () => ({ name: { $ne: 'banana' } }) })] })

  const probes: [string, (asked: Asked, id: number) => Promise<Answer>][] = [
    ['its path', ({ get }, id) => get(`/v1/items/${id}`)],
    ['a path of an attribute', ({ get }, id) => get(`/v1/items/${id}/name`)],
    ['a path of a relation', ({ get }, id) => get(`/v1/items/${id}/shop`)],
    ['a path of a list', ({ get }, id) => get(`/v1/items/${id}/tags`)],
    ['a change', ({ call }, id) => call('PUT', `/v1/items/${id}`, {}, { price: 1 })],
    ['a change of nothing', ({ call }, id) => call('PATCH', `/v1/items/${id}`, {}, {})],
    ['a wrong change', ({ call }, id) => call('PUT', `/v1/items/${id}`, {}, { price: 'x', nope: 1 })],
    ['a change of an attribute', ({ call }, id) => call('PUT', `/v1/items/${id}/price`, {}, 1)],
    ['a change of a link', ({ call }, id) => call('PUT', `/v1/items/${id}/shop`, {}, null)],
    ['a change of a linked record', ({ call }, id) => call('PUT', `/v1/items/${id}/shop`, {}, { name: 'x' })],
    ['a replaced list', ({ call }, id) => call('PUT', `/v1/items/${id}/tags`, {}, [])],
    ['an appended record', ({ call }, id) => call('POST', `/v1/items/${id}/tags`, {}, { name: 'x' })],
    ['a change on a condition', ({ call }, id) => call('PATCH', `/v1/items/${id}`, {}, { price: 1 }, { 'if-match': '"1"' })],
    ['a change unless it is there', ({ call }, id) => call('PATCH', `/v1/items/${id}`, {}, { price: 1 }, { 'if-none-match': '*' })],
    ['a change of a list on a condition', ({ call }, id) => call('PUT', `/v1/items/${id}`, {}, { tags: [] }, { 'if-match': '"1"' })],
    ['a change to a value that is taken', ({ call }, id) => call('PATCH', `/v1/items/${id}`, {}, { code: 'A' })],
    ['a deletion', ({ call }, id) => call('DELETE', `/v1/items/${id}`)],
    ['a deletion on a condition', ({ call }, id) => call('DELETE', `/v1/items/${id}`, {}, undefined, { 'if-match': '"1"' })],
    ['a deletion of a list', ({ call }, id) => call('DELETE', `/v1/items/${id}/tags`)],
    ['a deletion of a link', ({ call }, id) => call('DELETE', `/v1/items/${id}/shop`)],
    ['a filter by ID', ({ get }, id) => get('/v1/labels', { item: String(id) })],
    ['a negated filter by ID', ({ get }, id) => get('/v1/labels', { 'item!=': String(id) })],
    ['a filter of a list by ID', ({ get }, id) => get('/v1/shops', { items: String(id) })],
    ['a filter by the ID behind a relation', ({ get }, id) => get('/v1/labels', { 'item.id': String(id) })],
    ['a filter by the ID behind a list', ({ get }, id) => get('/v1/tags', { 'items.id': String(id) })],
    ['a link', ({ call }, id) => call('POST', '/v1/labels', {}, { text: 'x', item: id })],
    ['a changed link', ({ call }, id) => call('PUT', '/v1/labels/4', {}, { item: id })],
    ['a link by path', ({ call }, id) => call('PUT', '/v1/labels/4/item', {}, id)],
    ['a list of links', ({ call }, id) => call('PUT', '/v1/shops/3', {}, { items: [id] })],
    ['a list of links by path', ({ call }, id) => call('PUT', '/v1/tags/3/items', {}, [id])],
    ['a nested link', ({ call }, id) => call('POST', '/v1/shops', {}, { name: 'x', items: [id, { name: 'y' }] })],
  ]
  const ruled = startOnce({ resources: [resource(Item, { scope: () => ({ name: { $ne: 'banana' } }), write: () => ({ name: 'apple' }) })] })

  for (const [what, probe, begin] of probes.flatMap(([called, each]): [string, typeof each, typeof scoped][] => [
    [called, each, scoped],
    [`${called} under a rule for writing`, each, ruled],
  ])) {
    it(`is like one that never was, in ${what}`, async () => {
      await using asked = await begin()
      const never = await probe(asked, 7)
      await using fresh = await begin()
      const hidden = await probe(fresh, 2)
      assert.equal(likeness(hidden).replaceAll(/\b2\b/g, '<asked>'), likeness(never).replaceAll(/\b[27]\b/g, '<asked>'))
    })
  }

  // The same requests on a database that never held the row.
  const requests: [string, QueryInput?][] = [
    ['/v1/items'],
    ['/v1/items', { limit: 0 }],
    ['/v1/items', { limit: 2 }],
    ['/v1/items', { sort: 'price.desc', limit: 1 }],
    ['/v1/items', { name: 'b*' }],
    ['/v1/items', { 'name~=': '*AN*' }],
    ['/v1/items', { '!name': 'apple' }],
    ['/v1/items', { 'price>=': 50 }],
    ['/v1/shops', { depth: 2 }],
    ['/v1/shops', { sort: 'items.desc' }],
    ['/v1/shops', { sort: 'items.name.desc' }],
    ['/v1/shops', { sort: 'items.price.desc' }],
    ['/v1/shops', { 'items.name': 'b*' }],
    ['/v1/shops', { '!items.name': 'b*' }],
    ['/v1/shops', { 'items.price>': 50 }],
    ['/v1/shops/1/items'],
    ['/v1/shops/1/items', { limit: 1 }],
    ['/v1/shops/1/items', { limit: 0 }],
    ['/v1/tags', { items: null }],
    ['/v1/tags', { sort: 'items' }],
    ['/v1/tags', { depth: 2, expand: 'items.shop' }],
    ['/v1/tags', { 'items.shop': 1 }],
    ['/v1/tags', { 'items.shop.name': 'north' }],
    ['/v1/tags', { sort: 'items.shop.desc' }],
    ['/v1/tags', { sort: 'items.shop.name.desc' }],
    ['/v1/labels', { 'item.shop': 1 }],
    ['/v1/labels', { 'item.shop.name': null }],
    ['/v1/labels', { item: null }],
    ['/v1/labels', { sort: 'item.desc' }],
    ['/v1/labels', { sort: 'item.price.desc' }],
    ['/v1/labels', { sort: 'item.tags.desc' }],
    ['/v1/labels', { 'item.tags': 3 }],
    ['/v1/labels', { 'item.tags': null }],
    ['/v1/labels', { 'item.tags.name': 'r*' }],
  ]
  it('is like one that never was, in lists, counts, sorts and filters', async () => {
    const without = {
      ...data,
      items: data.items.filter(({ id }) => id !== 2),
      labels: data.labels.map(label => (label.item === 2 ? { ...label, item: null } : label)),
    }
    await using asked = await scoped()
    await using fewer = await start({ seed: without })
    for (const [path, query] of requests) {
      assert.equal(likeness(await asked.get(path, query)), likeness(await fewer.get(path, query)), `${path} ${JSON.stringify(query)}`)
    }
  })

  it('is like one that never was, in tables whose names are those that statements give to tables', async () => {
    const Member = defineEntity({
      name: 'Member',
      tableName: 't0',
      properties: { id: p.integer().primary(), kind: p.string(), note: p.string() },
    })
    const Team = defineEntity({
      name: 'Team',
      properties: { id: p.integer().primary(), members: () => p.manyToMany(Member) },
    })
    const Box = defineEntity({
      name: 'Box',
      properties: { id: p.integer().primary(), items: () => p.manyToMany(Thing).pivotTable('T0') },
    })
    const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), kind: p.string() } })
    await using boxes = await start({
      entities: [Box, Thing],
      seed: {
        things: [
          { id: 1, kind: 'shown' },
          { id: 2, kind: 'hidden' },
        ],
        boxes: [{ id: 1, items: [1, 2] }],
      },
      resources: [resource(Thing, { scope: () => ({ kind: 'shown' }) })],
    })
    assert.equal((await boxes.call('PUT', '/v1/boxes/1/items', {}, [])).status, 200)
    assert.deepEqual(await rows(boxes.engine, 'select thing_id from "T0"'), [{ thing_id: 2 }])
    await using asked = await start({
      entities: [Member, Team],
      seed: {
        members: [
          { id: 1, kind: 'shown', note: 'a' },
          { id: 2, kind: 'hidden', note: 'b' },
        ],
        teams: [{ id: 1, members: [1, 2] }],
      },
      resources: [resource(Member, { scope: () => ({ kind: 'shown' }) })],
    })
    assert.equal((await asked.call('PATCH', '/v1/members/2', {}, { note: 'c' })).status, 404)
    assert.equal((await asked.call('PATCH', '/v1/members/1', {}, { note: 'c' })).status, 200)
    assert.equal((await asked.call('PUT', '/v1/teams/1/members', {}, [])).status, 200)
    assert.deepEqual(await rows(asked.engine, 'select id, note from t0'), [
      { id: 1, note: 'c' },
      { id: 2, note: 'b' },
    ])
    assert.deepEqual(await rows(asked.engine, 'select member_id from team_members'), [{ member_id: 2 }])
  })

  it('is not told by the conflict of a deletion', async () => {
    await using asked = await start({ resources: [resource(Crate, { scope: () => ({ weight: 5 }) })] })
    const { status, body } = await asked.call('DELETE', '/v1/shops/1')
    assert.equal(status, 409)
    assert.doesNotMatch(JSON.stringify({ ...body, timestamp: '', status: 0 }), /\b[12]\b|crate/i)
  })

  it('is not told by the conflict of an unlinked record', async () => {
    await using asked = await start({
      entities: [Host, Guest],
      seed: { hosts: [{ id: 1 }], guests: [{ id: 77, kind: 'hidden', host: 1 }] },
      resources: [resource(Guest, { scope: () => ({ kind: 'shown' }) })],
    })
    assert.equal((await asked.get('/v1/hosts/1')).body.host.guest, null)
    const nothing = await asked.call('PUT', '/v1/hosts/1', {}, { guest: null })
    assert.equal(nothing.status, 200, 'what is null for the caller stays so')
    const other = await asked.call('PUT', '/v1/hosts/1', {}, { guest: { kind: 'shown' } })
    assert.equal(other.status, 409)
    assert.doesNotMatch(JSON.stringify({ ...other.body, timestamp: '' }), /77/)
    assert.deepEqual(await rows(asked.engine, 'select id, host_id from guest'), [{ id: 77, host_id: 1 }])
  })

  const Host = defineEntity({
    name: 'Host',
    properties: { id: p.integer().primary(), guest: () => p.oneToOne(Guest).mappedBy('host').nullable() },
  })
  const Guest = defineEntity({
    name: 'Guest',
    properties: { id: p.integer().primary(), kind: p.string(), host: () => p.oneToOne(Host).inversedBy('guest') },
  })

  it('shows in a conflict of a unique value no more than that the value is taken', async () => {
    await using asked = await scoped()
    const { status, body } = await asked.call('POST', '/v1/items', {}, { name: 'x', code: 'B' })
    assert.equal(status, 409)
    assert.doesNotMatch(JSON.stringify({ ...body, timestamp: '' }), /banana|99|xb/)
  })
})

describe('a resource without access', () => {
  const rules: [string, ResourceConfig<{ id: number }>][] = [
    ['that is false', { access: false }],
    ['by a function', { access: () => false }],
    ['by an asynchronous function', { access: () => Promise.resolve(false) }],
    ['by action', { access: { list: false, get: false, create: false, update: false, delete: false } }],
  ]
  const requests: [string, string, QueryInput?, unknown?][] = [
    ['GET', '/v1/items'],
    ['GET', '/v1/items', { name: 'b*' }],
    ['GET', '/v1/items', { nope: '1' }],
    ['GET', '/v1/items', { sort: 'nope' }],
    ['GET', '/v1/items', { attributes: 'nope' }],
    ['GET', '/v1/items', { price: 'x' }],
    ['GET', '/v1/items/2'],
    ['GET', '/v1/items/7'],
    ['GET', '/v1/items/2/name'],
    ['GET', '/v1/items/7/name'],
    ['GET', '/v1/items/2/nope'],
    ['GET', '/v1/items/2/prise'],
    ['GET', '/v1/items/2/shop'],
    ['GET', '/v1/shops', { depth: 2 }],
    ['GET', '/v1/shops', { items: '2' }],
    ['GET', '/v1/shops', { items: null }],
    ['GET', '/v1/shops', { 'items.name': 'b*' }],
    ['GET', '/v1/shops', { 'items.nope': 'b*' }],
    ['GET', '/v1/shops', { sort: 'items' }],
    ['GET', '/v1/shops', { sort: 'items.price.desc' }],
    ['GET', '/v1/shops', { attributes: 'items' }],
    ['GET', '/v1/shops', { expand: 'items' }],
    ['GET', '/v1/shops', { itms: '2' }],
    ['GET', '/v1/shops/1', { depth: 2 }],
    ['GET', '/v1/shops/1/items'],
    ['GET', '/v1/shops/1/itms'],
    ['GET', '/v1/labels', { sort: 'item' }],
    ['GET', '/v1/labels', { 'item.price>': 50 }],
    ['GET', '/v1/labels/2', { depth: 2 }],
    ['GET', '/v1/labels/2/item'],
    ['GET', '/v1/labels/4/item'],
    ['POST', '/v1/items', {}, { name: 'x' }],
    ['POST', '/v1/items', {}, { nope: 'x' }],
    ['POST', '/v1/shops/1/items', {}, { name: 'x' }],
    ['POST', '/v1/shops', {}, { name: 'x', itms: 1 }],
    ['POST', '/v1/shops', {}, { name: 'x', items: [{ name: 'y' }] }],
    ['POST', '/v1/labels', {}, { text: 'x', item: 2 }],
    ['POST', '/v1/labels', {}, { text: 'x', item: 9 }],
    ['PUT', '/v1/labels/4', {}, { item: 2 }],
    ['PUT', '/v1/labels/4/item', {}, 2],
    ['PUT', '/v1/labels/4/item', {}, 9],
    ['PUT', '/v1/items/2', {}, { price: 1 }],
    ['PUT', '/v1/items/7', {}, { price: 1 }],
    ['PUT', '/v1/tags/1/items', {}, [2]],
    ['DELETE', '/v1/items/2'],
    ['DELETE', '/v1/items/7'],
    ['DELETE', '/v1/shops/1/items'],
    ['DELETE', '/v1/labels/2/item'],
    ['DELETE', '/v1/labels/4/item'],
  ]
  for (const [what, config] of rules) {
    it(`${what} tells nothing of its records`, async () => {
      const resources = [resource(Item, config as never)]
      await using full = await start({ resources })
      await using bare = await start({
        resources,
        seed: { ...data, items: [], labels: data.labels.map(label => ({ ...label, item: null })) },
      })
      for (const [method, path, query, body] of requests) {
        await using asked = await full.fork()
        await using empty = await bare.fork()
        const [one, other] = [await asked.call(method, path, query, body), await empty.call(method, path, query, body)]
        const text = `${method} ${path} ${JSON.stringify(query)} ${JSON.stringify(body)}: ${JSON.stringify(one.body)}`
        assert.equal(likeness(one), likeness(other), text)
        assert.ok(one.status < 500, text)
      }
    })

    it(`${what} tells nothing of its attributes, nor of the relations to it`, async () => {
      await using asked = await start({ resources: [resource(Item, config as never)] })
      const answers = [
        await asked.get('/v1/items/2/prise'),
        await asked.get('/v1/items/2/nope'),
        await asked.get('/v1/shops/1/itms'),
        await asked.get('/v1/shops', { itms: '2' }),
        await asked.get('/v1/shops', { sort: 'itms' }),
        await asked.get('/v1/shops', { 'items.prise': '2' }),
        await asked.get('/v1/labels', { iten: '2' }),
        await asked.call('POST', '/v1/labels', {}, { text: 'x', iten: 2 }),
        await asked.call('PUT', '/v1/shops/1', {}, { itms: [2] }),
      ]
      for (const { status, body } of answers) {
        assert.ok(status >= 400 && status < 500)
        assert.doesNotMatch(JSON.stringify(body), /price|"items"|"item"|secret|removedOn/)
      }
      // A name that is near no other.
      for (const value of [2, 9, null, 'x', { prise: 2 }]) {
        const [known, never] = [
          await asked.call('POST', '/v1/labels', {}, { text: 'x', item: value }),
          await asked.call('POST', '/v1/labels', {}, { text: 'x', zzzz: value }),
        ]
        assert.equal(likeness(known, 'item'), likeness(never, 'zzzz'))
      }
    })
  }

  it('does not tell by its conflicts how many of its rows refer to a record', async () => {
    for (const [, config] of rules) {
      await using asked = await start({ resources: [resource(Crate, config as never)] })
      const { status, body } = await asked.call('DELETE', '/v1/shops/1')
      assert.equal(status, 409)
      assert.doesNotMatch(JSON.stringify({ ...body, timestamp: '', status: 0 }), /\b[12]\b|crate/i)
    }
  })
})

describe('a rendered attribute', () => {
  const masked = (): Promise<Asked> =>
    start({
      resources: [
        resource(Item, {
          attributes: {
            secret: { render: () => '***' },
            size: { render: () => 'big' },
            shop: { render: () => null },
            tags: { render: () => [] },
          },
        }),
        resource(Label, { attributes: { text: { render: () => undefined } } }),
        resource(Shop, {}),
      ],
    })
  const probes: [string, QueryInput][] = [
    ['/v1/items', { secret: 'xb' }],
    ['/v1/items', { secret: '*' }],
    ['/v1/items', { secret: null }],
    ['/v1/items', { 'secret>': 'xa' }],
    ['/v1/items', { 'name|secret': 'xb' }],
    ['/v1/items', { sort: 'secret' }],
    ['/v1/shops', { 'items.secret': 'xb' }],
    ['/v1/shops', { sort: 'items.secret.desc' }],
    ['/v1/labels', { text: 'two' }],
    ['/v1/labels', { sort: 'text' }],
    ['/v1/items', { 'size.width': '9' }],
    ['/v1/items', { 'size.width>': '5' }],
    ['/v1/items', { sort: 'size.width' }],
    ['/v1/labels', { 'item.size.width': '9' }],
    ['/v1/labels', { sort: 'item.size.width' }],
    ['/v1/items', { shop: '1' }],
    ['/v1/items', { 'shop.id': '1' }],
    ['/v1/items', { 'shop.name': 'north' }],
    ['/v1/items', { sort: 'shop' }],
    ['/v1/items', { sort: 'shop.name' }],
    ['/v1/items', { tags: '1' }],
    ['/v1/items', { tags: null }],
    ['/v1/items', { 'tags.name': 'ripe' }],
    ['/v1/items', { sort: 'tags.desc' }],
    ['/v1/items', { sort: 'tags.name' }],
  ]
  for (const [path, query] of probes) {
    it(`is not told by ${path} ${JSON.stringify(query)}`, async () => {
      await using asked = await masked()
      const { status, body } = await asked.get(path, query)
      assert.equal(status, 400, JSON.stringify(body))
      assert.match(body.errors[0].code, /^not_(filterable|sortable)$/)
    })
  }

  it('shows its stored value in no answer', async () => {
    await using asked = await masked()
    const answers = [
      await asked.get('/v1/items', { depth: 2 }),
      await asked.get('/v1/items/2', { attributes: 'secret,size.width' }),
      await asked.get('/v1/items/2', { attributes: '!size.width' }),
      await asked.get('/v1/items/2/secret'),
      await asked.get('/v1/items/2/size'),
      await asked.get('/v1/shops/1/items'),
      await asked.get('/v1/labels/2', { depth: 2 }),
      await asked.get('/v1/labels/2/text'),
      await asked.call('PUT', '/v1/items/2', {}, { secret: 'xb' }),
      await asked.call('POST', '/v1/items', {}, { name: 'x', secret: 'xe' }),
      await asked.call('DELETE', '/v1/items/2/label'),
      await asked.call('DELETE', '/v1/shops/1/items'),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body))
      assert.doesNotMatch(JSON.stringify(body), /"x[a-e]"|"width"|"two"/)
    }
  })
})
