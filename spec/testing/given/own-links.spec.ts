/** A relation that an entity requires to itself: `given` makes records that link themselves. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../../lib/index.ts'
import { createEngine, describeStores } from '../../helpers/stores.ts'

const Org = defineEntity({ name: 'Org', properties: { id: p.integer().primary(), name: p.string() } })
const Doc = defineEntity({ name: 'Doc', properties: { id: p.uuid().primary(), parent: () => p.manyToOne(Doc) } })
const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    updatedAt: p
      .datetime()
      .nullable()
      .onUpdate(() => new Date()),
    createdBy: () => p.manyToOne(Member),
    org: () => p.manyToOne(Org),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Member) },
})

const Slug = defineEntity({
  name: 'Slug',
  properties: { id: p.integer().primary(), slug: p.string().unique().default('first'), up: () => p.manyToOne(Slug) },
})
const Coded = defineEntity({
  name: 'Coded',
  properties: { id: p.integer().primary(), code: p.string().unique(), next: () => p.manyToOne(Coded).referencedColumnNames('code') },
})
const Pair = defineEntity({
  name: 'Pair',
  properties: { a: p.integer().primary(), b: p.string().primary(), peer: () => p.oneToOne(Pair).owner() },
})
const Vehicle = defineEntity({ name: 'Vehicle', inheritance: 'tpt', properties: { id: p.integer().primary() } })
const Truck = defineEntity({
  name: 'Truck',
  extends: Vehicle,
  properties: { mate: () => p.manyToOne(Truck) },
})

describeStores('a required relation to itself', () => {
  for (const [writer, orm] of Object.entries({ statements: {}, 'the unit of work': { subscribers: [{ beforeCreate() {} }] } })) {
    it(`is made up by given: the record links itself, at any depth, by a key that nobody has, by ${writer}`, async () => {
      await using engine = await createEngine({ entities: [Member, Org, Post, Doc], orm: orm as never })
      const find = async (id: number): Promise<Record<string, unknown>> => (await engine.handle('GET', `/v1/members/${id}`)).body.member
      for (let count = 0; count < 30; count++) {
        const member = await engine.given('member')
        assert.equal(member['createdBy'], member['id'])
        assert.deepEqual(await find(member['id']), member)
        assert.equal(member['updatedAt'], null)
      }
      const doc = await engine.given('doc')
      assert.equal(doc['parent'], doc['id'])
      const { author } = await engine.given('post')
      assert.equal((await find(author))['createdBy'], author)
      const { createdBy, posts } = await engine.given('member', { createdBy: { email: 'boss@x.y' }, posts: 2 })
      const boss = await find(createdBy)
      assert.deepEqual([boss['email'], boss['createdBy'], posts.length], ['boss@x.y', createdBy, 2])
      assert.equal((await engine.given('member', { id: 1500, createdBy: 1500 }))['createdBy'], 1500)
      assert.deepEqual(
        (await engine.given.many('member', 3, { createdBy: 1500 })).map(each => each['createdBy']),
        [1500, 1500, 1500],
      )
      assert.equal((await engine.handle('POST', '/v1/members', undefined, { email: 'a', createdBy: 1500, org: 1 })).status, 200)
      await assert.rejects(
        engine.given('member', { createdBy: 9999 }),
        /^RestError: given: "createdBy": there is no member with the ID 9999\.$/,
      )
      await assert.rejects(engine.given('member', { id: 1500 }), ({ code }: { code: string }) => code === 'unique_conflict')
    })

    it(`is made up by given for each kind of key, by ${writer}`, async () => {
      const entities = [Slug, Coded, Pair, Vehicle, Truck]
      await using engine = await createEngine({ entities, resources: [resource(Slug, { key: 'slug' })], orm: orm as never })
      const [slug, coded, truck] = [await engine.given('slug'), await engine.given('coded'), await engine.given('truck')]
      assert.deepEqual([slug['up'], coded['next'], truck['mate']], [slug['slug'], coded['id'], truck['id']])
      const { a, b, peer } = await engine.given('pair')
      assert.equal(peer, `${a}~${encodeURIComponent(b)}`)
    })
  }
})
