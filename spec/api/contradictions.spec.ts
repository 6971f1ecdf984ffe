/** Bodies in which several places say something of one record: all of it happens, or the body is refused. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

type Answer = Record<string, unknown> & { resource: string; errors: { code: string; attribute: string }[] }

const Team = defineEntity({
  name: 'Team',
  properties: {
    id: p.integer().primary(),
    members: () => p.oneToMany(Member).mappedBy('team'),
    tasks: () => p.oneToMany(Task).mappedBy('team'),
    chores: () => p.oneToMany(Chore).mappedBy('team').orphanRemoval(),
  },
})
const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    team: () => p.manyToOne(Team).nullable(),
    assigned: () => p.oneToMany(Task).mappedBy('who'),
    chores: () => p.oneToMany(Chore).mappedBy('who'),
    badge: () => p.oneToOne(Badge).mappedBy('holder'),
  },
})
const Task = defineEntity({
  name: 'Task',
  properties: {
    id: p.integer().primary(),
    team: () => p.manyToOne(Team).nullable(),
    who: () => p.manyToOne(Member).nullable(),
  },
})
const Chore = defineEntity({
  name: 'Chore',
  properties: {
    id: p.integer().primary(),
    team: () => p.manyToOne(Team).nullable(),
    who: () => p.manyToOne(Member).nullable(),
  },
})
const Badge = defineEntity({
  name: 'Badge',
  properties: { id: p.integer().primary(), holder: () => p.oneToOne(Member).owner().nullable() },
})
const Node = defineEntity({
  name: 'Node',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    parent: () => p.manyToOne(Node).nullable(),
    buddy: () => p.manyToOne(Node).nullable(),
    children: () => p.oneToMany(Node).mappedBy('parent'),
    follows: () => p.manyToMany(Node).inversedBy('followers'),
    followers: () => p.manyToMany(Node).mappedBy('follows'),
  },
})
const SEED = {
  teams: [{ id: 1 }, { id: 2 }],
  members: [{ id: 1, team: 1 }, { id: 2 }],
  tasks: [{ id: 1, team: 1 }, { id: 2 }],
  chores: [{ id: 1, team: 1 }, { id: 2 }],
  badges: [{ id: 1, holder: 1 }, { id: 2 }],
  nodes: [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 3 }, { id: 4 }],
}

async function serve() {
  const engine = await RestEngine.create({ entities: [Team, Member, Task, Chore, Badge, Node], seed: SEED })
  const ask = async (method: string, path: string, body?: unknown, status = 200): Promise<Answer> => {
    const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
    assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`)
    return answer.body as Answer
  }
  const get = async (path: string): Promise<unknown> => {
    const body = await ask('GET', path)
    return body[body.resource]
  }
  return { engine, ask, get, [Symbol.asyncDispose]: () => engine.close() }
}

describe('a record that stands in several places of a body', () => {
  it('is linked by all of them', async () => {
    await using world = await serve()
    await world.ask('PATCH', 'teams/1', { members: [{ name: 'x', assigned: [1] }], tasks: [1] })
    assert.deepEqual(await world.get('tasks/1'), { id: 1, team: 1, who: 3 })
    await world.ask('PATCH', 'teams/2', { tasks: [1, 2], members: [{ assigned: [2, 1] }, 1] })
    assert.deepEqual(await world.get('tasks'), [
      { id: 1, team: 2, who: 4 },
      { id: 2, team: 2, who: 4 },
    ])
    await world.ask('PATCH', 'nodes/1', { children: [2], buddy: { name: 'y', parent: 2, follows: [2] } })
    assert.deepEqual(await world.get('nodes/5'), {
      id: 5,
      name: 'y',
      parent: 2,
      buddy: null,
      children: [],
      follows: [2],
      followers: [],
    })
  })

  it('is moved from the list of one to that of another', async () => {
    await using world = await serve()
    await world.ask('PATCH', 'nodes/1', { children: [], buddy: { name: 'y', children: [2] } })
    assert.deepEqual(await world.get('nodes?attributes=id,parent,buddy'), [
      { id: 1, parent: null, buddy: 5 },
      { id: 2, parent: 5, buddy: null },
      { id: 3, parent: 3, buddy: null },
      { id: 4, parent: null, buddy: null },
      { id: 5, parent: null, buddy: null },
    ])
    await world.ask('PATCH', 'nodes/3', { children: [], parent: 4 })
    assert.deepEqual(await world.get('nodes/3?attributes=parent'), { parent: 4 })
    await world.ask('PATCH', 'teams/1', { chores: [], members: [{ name: 'z' }], tasks: [2] })
    assert.deepEqual(await world.get('chores'), [{ id: 2, team: null, who: null }])
  })

  it('may stand in one list twice', async () => {
    await using world = await serve()
    await world.ask('PATCH', 'nodes/1', { children: [2, 4, 2], follows: [2, 2] })
    assert.deepEqual(await world.get('nodes/1?attributes=children,follows'), { children: [2, 4], follows: [2] })
  })
})

describe('a body that contradicts itself', () => {
  const BODIES: readonly (readonly [string, unknown, string])[] = [
    ['nodes/1', { children: [2, { name: 'x', children: [2] }] }, 'children.1.children.0'],
    ['nodes/1', { children: [1], parent: 2 }, 'children.0'],
    ['nodes/1', { parent: 1, children: [] }, 'parent'],
    ['nodes/1', { children: [], buddy: { parent: 1 } }, 'buddy.parent'],
    ['nodes/1', { children: [{ follows: [1] }], followers: [2] }, 'children.0.follows.0'],
    ['nodes/1', { follows: [{ followers: [] }] }, 'follows.0'],
    ['nodes/1', { follows: [1], followers: [] }, 'follows.0'],
    ['teams/1', { members: [{ assigned: [1] }, { assigned: [1] }] }, 'members.1.assigned.0'],
    ['teams/1', { members: [{ badge: 2 }, { badge: 2 }] }, 'members.1.badge'],
    ['teams/1', { chores: [], members: [{ chores: [1] }] }, 'chores'],
  ]
  for (const [path, body, attribute] of BODIES) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using world = await serve()
      const before = await world.get(path.replace(/\/.*/, ''))
      const { errors } = await world.ask('PUT', path, body, 422)
      assert.deepEqual(
        errors.map(({ code, attribute: at }) => [code, at]),
        [['conflict', attribute]],
      )
      assert.deepEqual(await world.get(path.replace(/\/.*/, '')), before)
    })
  }
})
