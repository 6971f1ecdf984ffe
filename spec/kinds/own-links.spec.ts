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

  it('is named by a refusal of given', async () => {
    await using engine = await createEngine({ entities: [User] })
    await assert.rejects(engine.given('user', { id: 15, createdBy: 15 }), ({ message }: Error) => {
      assert.match(message, /: "createdBy" → the user\. One of these relations must be able to be null\.$/)
      return true
    })
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
  })
})
