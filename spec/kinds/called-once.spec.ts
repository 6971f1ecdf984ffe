/** Functions of the model are called once for a request at most, also where the database refuses what statements write. */
import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { defineEntity, p, raw } from '@mikro-orm/sqlite'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

/** How often the functions of the model have been called. */
const calls = { code: 0, stamp: 0, ticket: 0, odd: 0, ground: 0 }
/** Whether a function gives SQL, which statements of a plan cannot bind. */
let isOdd = false

const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    ticket: p.integer().onCreate(() => ++calls.ticket),
    odd: p
      .integer()
      .nullable()
      .onCreate(() => {
        calls.odd++
        return isOdd ? raw('1 + 1') : 1
      }),
    club: () => p.manyToOne(Club).nullable(),
  },
  checks: [{ name: 'short', expression: 'length(name) < 4' }],
})
const Ground = defineEntity({
  name: 'Ground',
  properties: { id: p.integer().primary(), number: p.integer().onCreate(() => ++calls.ground) },
})
const Club = defineEntity({
  name: 'Club',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    code: p.integer().onCreate(() => ++calls.code),
    stamp: p
      .integer()
      .nullable()
      .onUpdate(() => ++calls.stamp),
    members: () => p.oneToMany(Member).mappedBy('club'),
    ground: () => p.manyToOne(Ground).nullable(),
  },
})
const entities = [Member, Ground, Club]

describeStores('functions of the model', () => {
  const served = suiteEngine({ entities })
  beforeEach(() => {
    Object.assign(calls, { code: 0, stamp: 0, ticket: 0, odd: 0, ground: 0 })
    isOdd = false
  })

  it('are called once for each new record of a body that the database refuses', async () => {
    const engine = served()
    const body = { name: 'a', ground: {}, members: [{ name: 'c' }, { name: 'too long' }] }
    const refused = await engine.handle('POST', '/v1/clubs', undefined, body)
    assert.equal(refused.status, 422, JSON.stringify(refused.body))
    assert.deepEqual(calls, { code: 1, stamp: 0, ticket: 2, odd: 2, ground: 1 })
  })

  it('are called once for a record that changes, and each new one in its lists', async () => {
    await using engine = await createEngine({ entities, seed: { clubs: [{ id: 1, name: 'a' }] } })
    Object.assign(calls, { code: 0, stamp: 0, ticket: 0, odd: 0, ground: 0 })
    const refused = await engine.handle('PUT', '/v1/clubs/1', undefined, { name: 'b', members: [{ name: 'c' }, { name: 'too long' }] })
    assert.equal(refused.status, 422, JSON.stringify(refused.body))
    assert.deepEqual(calls, { code: 0, stamp: 0, ticket: 2, odd: 2, ground: 0 })
    const done = await engine.handle('PUT', '/v1/clubs/1', undefined, { name: 'b', members: [{ name: 'c' }] })
    assert.equal(done.status, 200, JSON.stringify(done.body))
    assert.deepEqual(calls, { code: 0, stamp: 1, ticket: 3, odd: 3, ground: 0 })
  })

  it('are called in the place of null', async () => {
    const engine = served()
    const { body } = await engine.handle('POST', '/v1/members', undefined, { name: 'a', odd: null })
    assert.equal(body.member.odd, 1, JSON.stringify(body))
    assert.equal(calls.odd, 1)
  })

  it('are called once where one of them gives what statements cannot write, and their values are stored', async () => {
    const engine = served()
    isOdd = true
    const { body } = await engine.handle(
      'POST',
      '/v1/clubs',
      { depth: 2 },
      { name: 'a', ground: {}, members: [{ name: 'b' }, { name: 'c' }] },
    )
    assert.deepEqual(calls, { code: 1, stamp: 0, ticket: 2, odd: 2, ground: 1 })
    const { club } = body as { club: { code: number; ground: { number: number }; members: { ticket: number; odd: number }[] } }
    assert.deepEqual([club.code, club.ground.number], [1, 1])
    assert.deepEqual(
      club.members.map(({ ticket, odd }) => [ticket, odd]),
      [
        [1, 2],
        [2, 2],
      ],
    )
  })

  it('may not give SQL for a key, which the answer would not know', async () => {
    const Key = defineEntity({
      name: 'Key',
      properties: {
        id: p
          .string()
          .primary()
          .onCreate(() => raw("'a' || 'b'")),
        text: p.string(),
      },
    })
    await using engine = await createEngine({ entities: [Key] })
    const { status, body } = await engine.handle('POST', '/v1/keys', undefined, { text: 'a' })
    assert.deepEqual([status, body.code], [422, 'validation_failed'])
    assert.match(body.detail, /makes a key by SQL/)
  })

  it('are called once for each record of a seed', async () => {
    const engine = served()
    const seed = { clubs: [{ name: 'a', members: [{ name: 'b' }] }], members: [{ name: 'c' }] }
    await assert.rejects(engine.seed({ clubs: [{ name: 'a' }], members: [{ name: 'too long' }] }))
    assert.deepEqual(calls, { code: 1, stamp: 0, ticket: 1, odd: 1, ground: 0 })
    await assert.rejects(engine.seed({ clubs: [{ name: 'a', members: [{ name: 'too long' }] }] }))
    assert.deepEqual(calls, { code: 2, stamp: 0, ticket: 2, odd: 2, ground: 0 })
    isOdd = true
    await engine.seed(seed)
    assert.deepEqual(calls, { code: 3, stamp: 0, ticket: 4, odd: 4, ground: 0 })
  })
})
