/** Relations that MikroORM loads with their records, and that lead back to where they began: writing ends, whatever the records link. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { auth, hashPassword } from '../../lib/index.ts'
import { createEngine, describeStores, testStores } from '../helpers/stores.ts'

type Answer = Record<string, unknown>

/** An engine whose MikroORM runs no more statements for a request than these: an endless load never gives back the thread. */
async function serve(entities: readonly unknown[], options: object = {}, most = 40) {
  let count = 0
  const engine = await createEngine({ entities: entities as never, onError: error => console.error(error), ...options })
  const connection = engine.orm.em.getConnection()
  const execute = connection.execute.bind(connection)
  connection.execute = (...args: Parameters<typeof execute>) => {
    if (++count > most) throw new Error('The load does not end.')
    return execute(...args) as never
  }
  const done = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    count = 0
    const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    const given = answer.body as Answer
    return given[given['resource'] as string]
  }
  return { engine, done, [Symbol.asyncDispose]: () => engine.close() }
}

describeStores('an eager relation of an entity to itself', () => {
  for (const loadStrategy of ['joined', 'select-in', 'balanced']) {
    it(`may hold circles of records (${loadStrategy})`, async () => {
      const Group = defineEntity({
        name: 'Group',
        properties: {
          id: p.integer().primary(),
          name: p.string(),
          parent: () => p.manyToOne(Group).nullable().eager(),
          children: () => p.oneToMany(Group).mappedBy('parent').eager(),
          friends: () => p.manyToMany(Group).eager(),
        },
      })
      await using world = await serve([Group], { orm: { loadStrategy } })
      await world.done('POST', 'groups', { name: 'a' })
      await world.done('POST', 'groups', { name: 'b', parent: 1 })
      await world.done('PUT', 'groups/1', { parent: 1 })
      await world.done('PUT', 'groups/1', { name: 'c', parent: 2 })
      await world.done('PUT', 'groups/2', { children: [1, 2], friends: [1, 2] })
      assert.deepEqual(await world.done('PUT', 'groups/2', { name: 'd' }), {
        id: 2,
        name: 'd',
        parent: 2,
        children: [1, 2],
        friends: [1, 2],
      })
      await world.done('PUT', 'groups/2/friends', [2])
      await world.done('PUT', 'groups/2/parent', { name: 'e' })
      assert.deepEqual(await world.done('GET', 'groups/2'), { id: 2, name: 'e', parent: 2, children: [1, 2], friends: [2] })
      await world.done('PUT', 'groups/2', { children: [2] })
      await world.done('DELETE', 'groups/2/friends')
      assert.deepEqual(await world.done('GET', 'groups'), [{ id: 1, name: 'c', parent: null, children: [], friends: [] }])
    })
  }
})

describeStores('eager relations through several entities', () => {
  const Team = defineEntity({
    name: 'Team',
    properties: {
      id: p.integer().primary(),
      lead: () => p.oneToOne(Person).owner().nullable().eager().inversedBy('leads'),
      members: () =>
        p
          .manyToMany(Person)
          .inversedBy('teams')
          .eager()
          .cascade('all' as never),
    },
  })
  const Person = defineEntity({
    name: 'Person',
    properties: {
      id: p.integer().primary(),
      email: p.string().nullable(),
      leads: () => p.oneToOne(Team).mappedBy('lead').eager(),
      teams: () => p.manyToMany(Team).mappedBy('members').eager(),
    },
  })

  it('may hold circles of records', async () => {
    await using world = await serve([Team, Person])
    await world.done('POST', 'people', { email: 'a' })
    await world.done('POST', 'teams', { lead: 1, members: [{ email: 'b' }] })
    await world.done('PUT', 'teams/1', { members: [1, 2] })
    assert.deepEqual(await world.done('PUT', 'people/1', { email: 'c' }), { id: 1, email: 'c', leads: 1, teams: [1] })
    await world.done('PUT', 'people/2', { leads: 1, teams: [] })
    assert.deepEqual(await world.done('GET', 'teams/1'), { id: 1, lead: 2, members: [1] })
    await world.done('DELETE', 'teams/1')
    assert.deepEqual(await world.done('GET', 'people'), [{ id: 2, email: 'b', leads: null, teams: [] }])
  })
})

testStores('nobody is kept from logging in by eager relations in a circle', async () => {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      email: p.string(),
      password: p.string().hidden().lazy(),
      boss: () => p.manyToOne(User).nullable().eager(),
      reports: () => p.oneToMany(User).mappedBy('boss').eager(),
    },
  })
  const password = await hashPassword('secret')
  await using world = await serve([User], {
    seed: { users: [{ id: 1, email: 'a', password, boss: 1 }] },
    auth: auth({ entity: User, secret: 'a'.repeat(40) }),
  })
  const { status, body } = await world.engine.handle('POST', '/v1/login', undefined, { email: 'a', password: 'secret' })
  assert.equal(status, 200, JSON.stringify(body))
})
