/**
 * Lists that make their members: an ID in a body that no record has becomes the key of a new one (`attributes: { tags: { create: true }
 * }`).
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { describeStores, suiteEngine } from '../helpers/stores.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string().length(8).unique() } })
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string().default(''),
    tags: () => p.manyToMany(Tag).owner(),
    others: () => p.manyToMany(Tag).owner(),
  },
})
const entities = [Tag, Post]
const options = {
  entities,
  seed: { tags: [{ name: 'old' }], posts: [{ id: 1, tags: ['old'] }] },
  resources: [resource(Tag, { key: 'name' }), resource(Post, { attributes: { tags: { create: true } } })],
}
/** Bodies go by statements, or by the unit of work where somebody listens. */
const WAYS: Readonly<Record<string, NonNullable<EngineOptions['orm']>>> = {
  'by statements': {},
  'by the unit of work': { subscribers: [{ beforeCreate: () => {}, beforeUpdate: () => {} }] },
}

for (const [way, orm] of Object.entries(WAYS)) {
  describeStores(`a list that makes its members, ${way}`, () => {
    const engine = suiteEngine({ ...options, orm })
    const ask = async (line: string, body?: unknown): Promise<unknown> => {
      const answer = await engine().send(line, { body })
      return answer.status < 400 ? answer.body[answer.body.resource] : [answer.status, answer.body.errors?.[0].code ?? answer.body.code]
    }
    const tagsOf = (record: unknown): string[] => (record as { tags: string[] }).tags.toSorted()

    it('makes those that are not there, once, and links those that are', async () => {
      assert.deepEqual(tagsOf(await ask('POST /v1/posts', { tags: ['new', 'old', 'new'] })), ['new', 'old'])
      assert.deepEqual(tagsOf(await ask('PUT /v1/posts/1', { tags: ['newer', 'new'] })), ['new', 'newer'])
      assert.deepEqual(tagsOf(await ask('PUT /v1/posts/1/tags', ['newest'])), ['newest'])
      assert.deepEqual(tagsOf(await ask('PATCH /v1/posts/1', { tags: { connect: ['last'], disconnect: ['newest'] } })), ['last'])
      assert.deepEqual(tagsOf(await ask('POST /v1/posts/1/tags', 'very')), ['last', 'very'])
      const names = ((await ask('GET /v1/tags?sort=name')) as { name: string }[]).map(({ name }) => name)
      assert.deepEqual(names, ['last', 'new', 'newer', 'newest', 'old', 'very'])
    })

    it('refuses what the new record may not be, and leaves other lists as they are', async () => {
      assert.deepEqual(await ask('POST /v1/posts', { tags: ['far too long'] }), [422, 'too_long'])
      assert.deepEqual(await ask('POST /v1/posts', { tags: [7] }), [422, 'value_invalid'])
      assert.deepEqual(await ask('POST /v1/posts', { others: ['new'] }), [422, 'reference_not_found'])
      assert.deepEqual(((await ask('GET /v1/tags')) as unknown[]).length, 1)
    })
  })
}

describe('a list that makes its members', () => {
  it('needs the right to create them', async () => {
    await using engine = await RestEngine.create({
      ...options,
      resources: [resource(Tag, { key: 'name', access: { create: false } }), options.resources[1]!],
    })
    assert.equal((await engine.send('POST /v1/posts', { body: { tags: ['old'] } })).status, 200)
    assert.equal((await engine.send('POST /v1/posts', { body: { tags: ['new'] } })).status, 403)
  })

  it('fills seeds, too', async () => {
    await using engine = await RestEngine.create({
      ...options,
      seed: {
        posts: [
          { id: 1, tags: ['a', 'b'] },
          { id: 2, tags: ['b', 'c'] },
        ],
      },
    })
    assert.deepEqual((await engine.send('GET /v1/posts/2')).body.post.tags, ['b', 'c'])
  })

  it('makes one for all records of an array', async () => {
    await using engine = await RestEngine.create(options)
    const { status, body } = await engine.send('POST /v1/posts', { body: [{ tags: ['b'] }, { tags: ['c', 'b'] }] })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal((await engine.send('GET /v1/tags')).body.count, 3)
  })

  it('is refused at the start where its members have no key, and of what is no list', async () => {
    await assert.rejects(
      RestEngine.create({ entities, resources: [resource(Post, { attributes: { tags: { create: true } } })] }),
      /resource\(Post\): attributes\.tags: "create" makes records by their key, and Tag has none: resource\(Tag, \{ key: \.\.\. \}\)/,
    )
    await assert.rejects(
      RestEngine.create({ entities, resources: [resource(Post, { attributes: { title: { create: true } } })] }),
      /"title" cannot create its records: it is no list/,
    )
  })
})
