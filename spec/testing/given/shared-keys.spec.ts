/** Records whose foreign keys share a column, as where a tenant is part of every key. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'

const Org = defineEntity({ name: 'Org', properties: { id: p.integer().primary(), name: p.string() } })
const Space = defineEntity({
  name: 'Space',
  properties: { org: () => p.manyToOne(Org).primary().joinColumn('org_id'), id: p.integer().primary(), name: p.string() },
})
const Member: EntitySchema = defineEntity({
  name: 'Member',
  properties: {
    // Before the link that has the column alone.
    space: () => p.manyToOne(Space).joinColumns('org_id', 'space_id'),
    org: () => p.manyToOne(Org).primary().joinColumn('org_id'),
    id: p.integer().primary(),
    tasks: () => p.oneToMany(Task).mappedBy('member'),
  },
})
const Task: EntitySchema = defineEntity({
  name: 'Task',
  properties: {
    org: () => p.manyToOne(Org).primary().joinColumn('org_id'),
    id: p.integer().primary(),
    member: () => p.manyToOne(Member).joinColumns('org_id', 'member_id'),
    other: () => p.manyToOne(Member).joinColumns('org_id', 'other_id').nullable(),
  },
})
/** The shared column is a plain value. */
const Room = defineEntity({ name: 'Room', properties: { tenant: p.string().primary(), id: p.integer().primary() } })
const Desk = defineEntity({
  name: 'Desk',
  properties: { tenant: p.string().primary(), id: p.integer().primary(), room: () => p.manyToOne(Room).joinColumns('tenant', 'room_id') },
})
const entities = [Org, Space, Member, Task, Room, Desk]

function orgOf(id: unknown): number {
  return Number(String(id).split('~')[0])
}

describe('given, where foreign keys share a column', () => {
  it('makes one parent of those that must be the same', async () => {
    await using engine = await RestEngine.create({ entities })
    const task = await engine.given('task')
    assert.equal(orgOf(task['member']), task['org'])
    const { body } = await engine.handle('GET', '/v1/members?expand=space')
    assert.deepEqual(
      body.members.map(({ org, space }: { org: number; space: { org: number } }) => [org, space.org]),
      [[task['org'], task['org']]],
    )
    assert.equal((await engine.handle('GET', '/v1/orgs')).body.count, 1)
    const desk = await engine.given('desk')
    assert.equal(String(desk['room']).split('~')[0], desk['tenant'])
  })

  it('follows what the caller gives: an ID, a part of a key, an object, a list', async () => {
    await using engine = await RestEngine.create({
      entities,
      seed: { orgs: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }], spaces: [{ org: 2, id: 5, name: 's' }], rooms: [{ tenant: 'x', id: 1 }] }, // prettier-ignore
    })
    const byId = await engine.given('member', { space: '2~5' })
    assert.deepEqual([byId['org'], byId['space']], [2, '2~5'])
    const byPart = await engine.given('member', { org: 1 })
    assert.deepEqual([byPart['org'], orgOf(byPart['space'])], [1, 1])
    const byObject = await engine.given('member', { space: { org: 2 } })
    assert.deepEqual([byObject['org'], orgOf(byObject['space'])], [2, 2])
    const desk = await engine.given('desk', { room: 'x~1' })
    assert.deepEqual([desk['tenant'], desk['room']], ['x', 'x~1'])
    const member = await engine.given('member', { tasks: 2 })
    assert.deepEqual(member['tasks'].map(orgOf), [member['org'], member['org']])
    const created = await engine.given('task', { member: { org: { name: 'new' } }, other: {} })
    assert.deepEqual([orgOf(created['member']), orgOf(created['other'])], [created['org'], created['org']])
    const many = await engine.given.many('task', 5)
    assert.equal(new Set(many.map(({ org }) => org)).size, 5)
  })

  it('refuses what contradicts itself', async () => {
    await using engine = await RestEngine.create({ entities, seed: { orgs: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }] } }) // prettier-ignore
    await assert.rejects(engine.given('member', { org: 1, space: { org: 2 } }), { status: 409 })
  })
})
