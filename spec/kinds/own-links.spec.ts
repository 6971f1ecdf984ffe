/** A required relation of an entity to itself: the first record links itself, by the key that it says. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), createdBy: () => p.manyToOne(User) },
})
const Doc = defineEntity({ name: 'Doc', properties: { id: p.uuid().primary(), parent: () => p.manyToOne(Doc) } })
const UUID = '0b000000-0000-4000-8000-000000000000'
const ANN = { id: 1, name: 'Ann', createdBy: 1 }

describeStores('a required relation to itself', () => {
  it('is set by POST of the first record, which says its own key', async () => {
    await using engine = await createEngine({ entities: [User, Doc] })
    const post = async (path: string, body: object): Promise<unknown> => {
      const answer = await engine.handle('POST', `/v1/${path}`, undefined, body)
      return answer.status === 200 ? answer.body[answer.body.resource] : [answer.status, answer.body.errors[0].code]
    }
    assert.deepEqual(await post('users', { id: 1, name: 'Ann', createdBy: 2 }), [422, 'reference_not_found'])
    assert.deepEqual(await post('users', { name: 'Ann', createdBy: 1 }), [422, 'reference_not_found'])
    assert.deepEqual(await post('users', ANN), ANN)
    assert.deepEqual(await post('users', ANN), [409, 'not_unique'])
    assert.deepEqual(await post('users', { name: 'Bob', createdBy: 1 }), { id: 2, name: 'Bob', createdBy: 1 })
    assert.deepEqual(await post('docs', { id: UUID, parent: UUID }), { id: UUID, parent: UUID })
    assert.deepEqual((await engine.handle('GET', '/v1/users', 'createdBy.createdBy=1')).body.count, 2)
  })

  it('is set by a seed', async () => {
    const users = [ANN, { id: 2, name: 'Bob', createdBy: 1 }]
    await using engine = await createEngine({ entities: [User], seed: { users } })
    assert.deepEqual((await engine.handle('GET', '/v1/users')).body.users, users)
  })

  it('is made up by given: the record links itself, at any depth, by a key that nobody has', async () => {
    const Org = defineEntity({ name: 'Org', properties: { id: p.integer().primary(), name: p.string() } })
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
    await using engine = await createEngine({ entities: [Member, Org, Post, Doc] })
    const find = async (id: number): Promise<Record<string, unknown>> => (await engine.handle('GET', `/v1/members/${id}`)).body.member
    for (let count = 0; count < 30; count++) {
      const member = await engine.given('member')
      assert.equal(member['createdBy'], member['id'])
      assert.deepEqual(await find(member['id']), member)
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

  it('is within the scope of the caller, or refused', async () => {
    const scoped = resource(User, { scope: () => ({ name: { $ne: 'Eve' } }) })
    await using engine = await createEngine({ entities: [User], resources: [scoped] })
    const eve = await engine.handle('POST', '/v1/users', undefined, { ...ANN, name: 'Eve' })
    assert.deepEqual([eve.status, eve.body.code], [403, 'outside_scope'])
    assert.equal((await engine.handle('POST', '/v1/users', undefined, ANN)).status, 200)
  })

  it('is needed: a link that can be null is refused where it leads to the new record, whoever writes', async () => {
    const Car = defineEntity({ name: 'Car', properties: { id: p.integer().primary(), twin: () => p.manyToOne(Car).nullable() } })
    for (const orm of [{}, { subscribers: [{ beforeCreate() {} }] }]) {
      await using engine = await createEngine({ entities: [Car], orm: orm as never })
      const answer = await engine.handle('POST', '/v1/cars', undefined, { id: 2, twin: 2 })
      assert.deepEqual([answer.status, answer.body.errors[0].code], [422, 'reference_not_found'])
      await engine.handle('POST', '/v1/cars', undefined, { id: 2 })
      assert.deepEqual((await engine.handle('PATCH', '/v1/cars/2', undefined, { twin: 2 })).body.car, { id: 2, twin: 2 })
    }
  })

  it('is refused where code of the application looks at entities: MikroORM leaves the link out', async () => {
    await using engine = await createEngine({ entities: [User], orm: { subscribers: [{ beforeCreate() {} }] } as never })
    const answer = await engine.handle('POST', '/v1/users', undefined, ANN)
    assert.deepEqual([answer.status, answer.body.code], [422, 'validation_failed'])
    await assert.rejects(engine.given('user', { id: 15, createdBy: 15 }), ({ message }: Error) => {
      assert.match(message, /: "createdBy" → the user\. One of these relations must be able to be null\.$/)
      return true
    })
  })
})
