/** Writes that remove the record of their own path, by the model's own rules: they are answered as its deletion. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import { describeTargets } from '../helpers/targets.ts'

const Node = defineEntity({
  name: 'Node',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    parent: () => p.manyToOne(Node).nullable(),
    children: () => p.oneToMany(Node).mappedBy('parent').orphanRemoval(),
  },
})
const Owner = defineEntity({
  name: 'Owner',
  properties: {
    id: p.integer().primary(),
    card: () => p.oneToOne(Card).mappedBy('owner').nullable(),
    notes: () => p.oneToMany(Note).mappedBy('owner'),
  },
})
const Card = defineEntity({
  name: 'Card',
  properties: {
    id: p.integer().primary(),
    owner: () => p.oneToOne(Owner).inversedBy('card').cascade(Cascade.ALL).orphanRemoval().nullable(),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), owner: () => p.manyToOne(Owner).nullable().deleteRule('set null') },
})

const options = {
  entities: [Node, Owner, Card, Note],
  seed: {
    nodes: [
      { id: 1, name: 'self', parent: 1 },
      { id: 2, name: 'top' },
      { id: 3, name: 'leaf', parent: 2 },
    ],
    owners: [{ id: 1 }, { id: 2 }],
    cards: [{ id: 1, owner: 1 }],
    notes: [{ id: 1, owner: 1 }],
  },
}

const WRITES: [what: string, method: string, path: string, body: unknown, key: string, record: unknown, gone: string[]][] = [
  [
    'a to-one that leads to itself',
    'DELETE',
    '/v1/nodes/1/parent',
    undefined,
    'node',
    { id: 1, name: 'self', parent: 1, children: [1] },
    ['/v1/nodes/1'],
  ],
  [
    'a to-one whose record takes its owner along',
    'DELETE',
    '/v1/owners/1/card',
    undefined,
    'card',
    { id: 1, owner: 1 },
    ['/v1/owners/1', '/v1/cards/1'],
  ],
  [
    'a list whose orphan it is itself',
    'PUT',
    '/v1/nodes/1',
    { children: [] },
    'node',
    { id: 1, name: 'self', parent: 1, children: [1] },
    ['/v1/nodes/1'],
  ],
  [
    'such a list by its path',
    'PUT',
    '/v1/nodes/1/children',
    [],
    'node',
    { id: 1, name: 'self', parent: 1, children: [1] },
    ['/v1/nodes/1'],
  ],
  [
    'an inverse to-one whose orphan it is',
    'PUT',
    '/v1/owners/1',
    { card: null },
    'owner',
    { id: 1, card: 1, notes: [1] },
    ['/v1/owners/1'],
  ],
  ['such a to-one by its path', 'PUT', '/v1/owners/1/card', null, 'owner', { id: 1, card: 1, notes: [1] }, ['/v1/owners/1']],
]

describeTargets('a write that removes the record of its path', options, target => {
  for (const [what, method, path, body, key, record, gone] of WRITES) {
    it(`through ${what} is answered as a deletion`, async () => {
      const answer = await target.call(method, path, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.deepEqual([answer.body.success, answer.body.status, answer.body[key]], [true, 'OK', record])
      for (const one of gone) assert.equal((await target.call('GET', one)).status, 404, one)
    })
  }

  it('and would link others to it is refused', async () => {
    for (const [path, body] of [
      ['/v1/nodes/1', { name: 'new', children: [3] }],
      ['/v1/nodes/1/children', [{ name: 'new' }]],
      ['/v1/owners/1', { card: {} }],
    ] as const) {
      const answer = await target.call('PUT', path, undefined, body)
      assert.deepEqual([answer.status, answer.body.code], [409, 'owner_required'], path)
    }
    assert.deepEqual((await target.call('GET', '/v1/nodes/1')).body['node'], { id: 1, name: 'self', parent: 1, children: [1] })
    assert.equal((await target.call('GET', '/v1/owners/1')).body['owner'].card, 1)
  })
})
