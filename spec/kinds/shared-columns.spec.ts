/** Foreign keys that share a column with the key of their record: lists of them take no record whose key says something else. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Room: EntitySchema = defineEntity({
  name: 'Room',
  properties: { tenant: p.integer().primary(), number: p.integer().primary(), desks: () => p.oneToMany(Desk).mappedBy('room') },
})
const Desk: EntitySchema = defineEntity({
  name: 'Desk',
  properties: {
    tenant: p.integer().primary(),
    number: p.integer().primary(),
    room: () => p.manyToOne(Room).joinColumns('tenant', 'room_number').nullable(),
  },
})

describeStores('lists by foreign keys that share a column', () => {
  it('take records of the same part of the key, and refuse others', async () => {
    const seed = {
      rooms: [
        { tenant: 5, number: 1 },
        { tenant: 24, number: 1 },
      ],
      desks: [
        { tenant: 5, number: 1 },
        { tenant: 24, number: 3, room: '24~1' },
      ],
    }
    await using engine = await createEngine({ entities: [Room, Desk], seed })
    const send = async (method: string, path: string, body: unknown) => engine.handle(method, `/v1/${path}`, undefined, body)
    const before = (await engine.handle('GET', '/v1/desks')).body.desks
    for (const [method, path, body, attribute] of [
      ['PUT', 'rooms/5~1', { desks: ['5~1', '24~3'] }, 'desks.1'],
      ['POST', 'rooms', { tenant: 5, number: 2, desks: ['24~3'] }, 'desks.0'],
      ['PUT', 'rooms/5~1', { desks: [{ tenant: 24, number: 9 }] }, 'desks.0'],
    ] as const) {
      const answer = await send(method, path, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.deepEqual([answer.body.errors[0].code, answer.body.errors[0].attribute], ['conflict', attribute])
      assert.deepEqual((await engine.handle('GET', '/v1/desks')).body.desks, before)
    }
    assert.deepEqual((await send('PUT', 'rooms/5~1', { desks: ['5~1', { tenant: 5, number: 2 }] })).body.room.desks, ['5~1', '5~2'])
  })
})

const Org: EntitySchema = defineEntity({ name: 'Org', properties: { id: p.integer().primary() } })
const Team: EntitySchema = defineEntity({
  name: 'Team',
  uniques: [{ properties: ['id', 'org'] }],
  properties: {
    id: p.integer().primary(),
    org: () => p.manyToOne(Org).joinColumn('org_id'),
    desks: () => p.oneToMany(Seat).mappedBy('team'),
  },
})
const Seat: EntitySchema = defineEntity({
  name: 'Seat',
  properties: {
    id: p.integer().primary(),
    team: () => p.manyToOne(Team).joinColumns('team_id', 'org_id').referencedColumnNames('id', 'org_id').nullable(),
    org: () => p.manyToOne(Org).joinColumn('org_id'),
  },
})

describeStores('foreign keys that refer to more than the primary key', store => {
  const seed = {
    orgs: [{ id: 1 }, { id: 2 }],
    teams: [
      { id: 1, org: 1 },
      { id: 2, org: 1 },
      { id: 3, org: 2 },
    ],
    seats: [
      { id: 1, org: 1, team: 1 },
      { id: 2, org: 2 },
    ],
  }

  it('are links like any other, whose further columns belong to other attributes', async () => {
    await using engine = await createEngine({ entities: [Org, Team, Seat], seed })
    const send = async (method: string, path: string, body?: unknown) => {
      const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
      assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
      return answer.body[answer.body.resource]
    }
    assert.deepEqual(await send('GET', 'seats?team=1&depth=2'), [{ id: 1, team: { id: 1, org: 1, desks: [1] }, org: { id: 1 } }])
    assert.deepEqual(await send('GET', 'seats?team.org=1&sort=team.id'), [{ id: 1, team: 1, org: 1 }])
    assert.deepEqual(await send('PUT', 'seats/1', { team: 2 }), { id: 1, team: 2, org: 1 })
    assert.deepEqual(await send('PUT', 'seats/1', { team: 3, org: 2 }), { id: 1, team: 3, org: 2 })
    assert.deepEqual(await send('PUT', 'seats/1/team', null), { id: 1, team: null, org: 2 })
    assert.deepEqual(await send('PUT', 'teams/3', { desks: [2, { org: 2 }] }), { id: 3, org: 2, desks: [2, 3] })
    assert.deepEqual(await send('PUT', 'teams/3', { desks: [3] }), { id: 3, org: 2, desks: [3] })
    assert.deepEqual(await send('POST', 'seats', { org: 1, team: { org: 1 } }), { id: 4, team: 4, org: 1 })
    const rows = await engine.orm.em.getConnection().execute('select * from seat order by id')
    assert.deepEqual(rows.at(-1), { id: 4, org_id: 1, team_id: 4 })
  })

  it('keep what they refer to', async () => {
    await using engine = await createEngine({ entities: [Org, Team, Seat], seed })
    for (const [method, path, body] of [
      ['PUT', 'seats/1', { team: 3 }],
      ['POST', 'seats', { org: 1, team: 3 }],
      ['PUT', 'teams/1', { org: 2 }],
    ] as const) {
      const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
      assert.equal(answer.status, 409, JSON.stringify(answer.body))
      assert.match(answer.body.detail, /"team" of a seat links a record of another "org_id"/)
    }
    const removed = await engine.handle('DELETE', '/v1/teams/1')
    assert.deepEqual([removed.status, removed.body.code], [409, 'owner_required'])
  })

  it('are made up so that both sides agree', async () => {
    await using engine = await createEngine({ entities: [Org, Team, Seat] })
    for (const given of [{ team: {} }, { team: {}, org: { id: 7 } }]) {
      const { team, org } = await engine.given('seat', given)
      assert.equal((await engine.handle('GET', `/v1/teams/${String(team)}`)).body.team.org, org)
    }
  })

  it('are refused where MikroORM does not write them', store.except('foreign words'), async () => {
    const refused = async (team: () => unknown): Promise<string> => {
      const Loose = defineEntity({ name: 'Loose', properties: { id: p.integer().primary(), team } as never })
      const error = await createEngine({ entities: [Org, Team, Seat, Loose as never] }).then(
        () => assert.fail('created'),
        (caught: Error) => caught,
      )
      return error.message
    }
    assert.match(
      await refused(() => p.manyToOne(Team).joinColumns('team_id', 'group_id').referencedColumnNames('id', 'org_id')),
      /^Loose\.team cannot be served: MikroORM does not write "group_id" of its foreign key.*declare a property for it/,
    )
    assert.match(
      await refused(() => p.manyToOne(Team).joinColumns('team_id').referencedColumnNames('org_id')),
      /^Loose\.team cannot be served: its foreign key refers to org_id of Team, which MikroORM neither loads nor writes: refer to the primary key \(id\), or to one plain property that is unique/,
    )
  })
})
