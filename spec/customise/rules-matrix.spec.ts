/**
 * The matrix of rules: every kind of rule, in every place where it must hold. A row of a table is a place, a describe is a kind of rule, a
 * test is a cell. Item 2 (`banana`, of shop 1, with the tags 1 and 3 and the label 2) is the one that row rules hide.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resource } from '../../lib/index.ts'
import type { Action, EngineOptions, QueryInput, ResourceConfig } from '../../lib/index.ts'
import { data, Item, rows, start, startOnce } from './world.ts'
import type { Asked } from './world.ts'

type Cells = [place: string, test: (asked: Asked) => Promise<void>][]

function matrix(kinds: [string, Partial<EngineOptions>][], cells: Cells): void {
  for (const [kind, options] of kinds) {
    describe(kind, () => {
      const fork = startOnce(options)
      for (const [place, test] of cells) {
        it(place, async () => {
          await using asked = await fork()
          await test(asked)
        })
      }
    })
  }
}

function rules(config: ResourceConfig<Record<string, unknown>>): Partial<EngineOptions> {
  return { resources: [resource(Item, config as never)] }
}

const removed = { removed: { name: 'removed', cond: { removedOn: null }, default: true, entity: ['Item'] } }
/** A filter whose condition is a function is a scope for writes, too; from a fixed one a write may take a row out. */
const scoping = { removed: { ...removed.removed, cond: () => ({ removedOn: null }) } }

async function status(asked: Asked, expected: number, method: string, path: string, body?: unknown, query?: QueryInput): Promise<void> {
  const answer = await asked.call(method, path, query, body)
  assert.equal(answer.status, expected, `${method} ${path}: ${JSON.stringify(answer.body)}`)
}

/** Refused with the code, and nothing is changed. */
async function refused(asked: Asked, code: string, method: string, path: string, body?: unknown): Promise<void> {
  const state = (): Promise<unknown> =>
    Promise.all(['shop', 'item', 'tag', 'label', 'item_tags'].map(table => rows(asked.engine, `select * from ${table}`)))
  const before = await state()
  const answer = await asked.call(method, path, {}, body)
  assert.equal(answer.body.code, code, JSON.stringify(answer.body))
  assert.deepEqual(await state(), before)
}

const reading: Cells = [
  ['a list', async asked => assert.deepEqual(await asked.ids('/v1/items'), [1, 3, 4])],
  ['a count', async asked => assert.equal((await asked.get('/v1/items', { limit: 0 })).body.count, 3)],
  ['a page', async asked => assert.deepEqual(await asked.ids('/v1/items', { limit: 1, offset: 1 }), [3])],
  ['a record', asked => status(asked, 404, 'GET', '/v1/items/2')],
  ['a record by HEAD', asked => status(asked, 404, 'HEAD', '/v1/items/2')],
  ['a plain attribute by path', asked => status(asked, 404, 'GET', '/v1/items/2/name')],
  ['a to-one of it by path', asked => status(asked, 404, 'GET', '/v1/items/2/shop')],
  ['a list of it by path', asked => status(asked, 404, 'GET', '/v1/items/2/tags')],
  [
    'a to-one to it by path',
    async asked => {
      const { status: code, body } = await asked.get('/v1/labels/2/item')
      assert.deepEqual([code, body.item], [200, null])
    },
  ],
  ['a list with it by path', async asked => assert.deepEqual(await asked.ids('/v1/shops/1/items'), [1])],
  ['the count of a list with it', async asked => assert.equal((await asked.get('/v1/tags/1/items', { limit: 0 })).body.count, 1)],
  [
    'IDs at depth 1',
    async asked => {
      assert.deepEqual((await asked.get('/v1/shops/1')).body.shop.items, [1])
      assert.deepEqual((await asked.get('/v1/tags/3')).body.tag.items, [])
      assert.equal((await asked.get('/v1/labels/2')).body.label.item, null)
    },
  ],
  [
    'objects at depth 2',
    async asked => {
      const shop = (await asked.get('/v1/shops/1', { depth: 2 })).body.shop
      assert.deepEqual(
        shop.items.map(({ name }: { name: string }) => name),
        ['apple'],
      )
      assert.equal((await asked.get('/v1/labels/2', { depth: 2 })).body.label.item, null)
    },
  ],
  [
    'expand',
    async asked => {
      const shop = (await asked.get('/v1/shops/1', { depth: 0, expand: 'items' })).body.shop
      assert.equal(shop.items.length, 1)
      const tag = (await asked.get('/v1/tags/1', { expand: 'items.shop.items' })).body.tag
      assert.deepEqual(tag.items[0].shop.items, [tag.items[0].shop.items[0]])
    },
  ],
  ['a sort by a path', async asked => assert.deepEqual(await asked.ids('/v1/labels', { sort: 'item.name.desc' }), [3, 1, 2, 4])],
  ['a sort by whether there is one', async asked => assert.deepEqual(await asked.ids('/v1/labels', { sort: 'item' }), [2, 4, 1, 3])],
  ['a sort by a count', async asked => assert.deepEqual(await asked.ids('/v1/shops', { sort: 'items.desc' }), [2, 1, 3])],
  ['a sort by a count in a pivot', async asked => assert.deepEqual(await asked.ids('/v1/tags', { sort: 'items' }), [3, 1, 2])],
  ['a sort by a value in a list', async asked => assert.deepEqual(await asked.ids('/v1/shops', { sort: 'items.price.desc' }), [2, 1, 3])],
  ['a sort beyond it', async asked => assert.deepEqual(await asked.ids('/v1/labels', { sort: 'item.shop.name.desc' }), [3, 1, 2, 4])],
  ['a count beyond it', async asked => assert.deepEqual(await asked.ids('/v1/labels', { sort: 'item.tags.desc' }), [1, 3, 2, 4])],
  ['a filter by a path', async asked => assert.deepEqual(await asked.ids('/v1/labels', { 'item.name': 'banana' }), [])],
  ['a filter by null behind it', async asked => assert.deepEqual(await asked.ids('/v1/labels', { 'item.name': null }), [2, 4])],
  ['a filter by ID', async asked => assert.deepEqual(await asked.ids('/v1/labels', { item: 2 }), [])],
  ['a negated filter by ID', async asked => assert.deepEqual(await asked.ids('/v1/labels', { '!item': 2 }), [1, 2, 3, 4])],
  ['a filter by an empty to-one', async asked => assert.deepEqual(await asked.ids('/v1/labels', { item: null }), [2, 4])],
  ['a filter beyond it', async asked => assert.deepEqual(await asked.ids('/v1/labels', { 'item.shop': 1 }), [1])],
  ['a filter by a list beyond it', async asked => assert.deepEqual(await asked.ids('/v1/labels', { 'item.tags': 3 }), [])],
  ['a filter of a list', async asked => assert.deepEqual(await asked.ids('/v1/shops', { 'items.name': 'banana' }), [])],
  ['a filter of a list by ID', async asked => assert.deepEqual(await asked.ids('/v1/tags', { items: 2 }), [])],
  ['a filter of a list in a pivot', async asked => assert.deepEqual(await asked.ids('/v1/tags', { 'items.name': 'b*' }), [])],
  ['a filter by an empty list', async asked => assert.deepEqual(await asked.ids('/v1/tags', { items: null }), [3])],
  ['a negated filter of a list', async asked => assert.deepEqual(await asked.ids('/v1/shops', { '!items.name': 'banana' }), [1, 2, 3])],
  ['its owners, which do not vanish', async asked => assert.deepEqual(await asked.ids('/v1/labels'), [1, 2, 3, 4])],
]

const writing: Cells = [
  ['a change of it', asked => refused(asked, 'record_not_found', 'PUT', '/v1/items/2', { price: 1 })],
  ['a change of an attribute of it', asked => refused(asked, 'record_not_found', 'PATCH', '/v1/items/2/price', 1)],
  ['a replaced list of it', asked => refused(asked, 'record_not_found', 'PUT', '/v1/items/2/tags', [])],
  ['a record appended to it', asked => refused(asked, 'record_not_found', 'POST', '/v1/items/2/tags', { name: 'x' })],
  ['a deletion of it', asked => refused(asked, 'record_not_found', 'DELETE', '/v1/items/2')],
  ['a deletion of a list of it', asked => refused(asked, 'record_not_found', 'DELETE', '/v1/items/2/tags')],
  ['a deletion of a to-one of it', asked => refused(asked, 'record_not_found', 'DELETE', '/v1/items/2/shop')],
  ['a deletion through a to-one', asked => refused(asked, 'record_not_found', 'DELETE', '/v1/labels/2/item')],
  ['a link in a new record', asked => refused(asked, 'validation_failed', 'POST', '/v1/labels', { text: 'x', item: 2 })],
  ['a link in a change', asked => refused(asked, 'validation_failed', 'PUT', '/v1/labels/4', { item: 2 })],
  ['a link by path', asked => refused(asked, 'validation_failed', 'PUT', '/v1/labels/4/item', 2)],
  ['a link in a list', asked => refused(asked, 'validation_failed', 'PUT', '/v1/shops/2', { items: [2, 3] })],
  ['a link in a list of a pivot', asked => refused(asked, 'validation_failed', 'PUT', '/v1/tags/2/items', [2])],
  ['a link in a nested record', asked => refused(asked, 'validation_failed', 'PUT', '/v1/items/1', { label: { text: 'x', item: 2 } })],
  [
    'a replaced list, which leaves it alone',
    async asked => {
      await status(asked, 200, 'PUT', '/v1/shops/1/items', [3])
      assert.deepEqual(await rows(asked.engine, 'select id from item where shop_id = 1 order by id'), [{ id: 2 }, { id: 3 }])
    },
  ],
  [
    'a replaced list of a pivot, which leaves it alone',
    async asked => {
      await status(asked, 200, 'PUT', '/v1/tags/1', { items: [] })
      assert.deepEqual(await rows(asked.engine, 'select item_id as id from item_tags where tag_id = 1'), [{ id: 2 }])
    },
  ],
  [
    'a deleted list, which leaves it alone',
    async asked => {
      const { body } = await asked.call('DELETE', '/v1/shops/1/items')
      assert.equal(body.count, 1)
      assert.deepEqual(await rows(asked.engine, 'select id from item order by id'), [{ id: 2 }, { id: 3 }, { id: 4 }])
    },
  ],
  [
    'a new record in the place of the empty link',
    async asked => {
      await status(asked, 200, 'PUT', '/v1/labels/2/item', { name: 'new' })
      assert.equal((await rows(asked.engine, 'select name from item where id = 2'))[0]!['name'], 'banana')
    },
  ],
]

/** Writes that would lead out of the scope; the bodies say how. */
const entering = (out: object): Cells => [
  ['a new record outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/items', { name: 'x', ...out })],
  ['an appended record outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/shops/1/items', { name: 'x', ...out })],
  ['an appended record of a pivot outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/tags/1/items', { name: 'x', ...out })],
  ['a nested record outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/labels', { text: 'x', item: { name: 'x', ...out } })],
  ['a nested list outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/shops', { name: 'x', items: [{ name: 'x', ...out }] })],
  ['a member of a replaced list outside', asked => refused(asked, 'outside_scope', 'PUT', '/v1/shops/1/items', [1, { name: 'x', ...out }])],
]

const leaving = (out: object): Cells => [
  ...entering(out),
  ['a change to outside', asked => refused(asked, 'outside_scope', 'PUT', '/v1/items/1', out)],
  [
    'a change by path to outside',
    asked => refused(asked, 'outside_scope', 'PUT', `/v1/items/1/${Object.keys(out)[0]}`, Object.values(out)[0]),
  ],
  ['a change of a linked record to outside', asked => refused(asked, 'outside_scope', 'PUT', '/v1/labels/1/item', out)],
]

describe('rows that do not exist', () => {
  matrix(
    [
      ['by a scope', rules({ scope: () => ({ name: { $ne: 'banana' } }) })],
      ['by an asynchronous scope', rules({ scope: () => Promise.resolve({ $or: [{ price: { $lt: 99 } }, { secret: null }] }) })],
      ['by a scope through a to-one', rules({ scope: () => ({ $or: [{ label: null }, { label: { text: { $ne: 'two' } } }] }) })],
      ['by a scope through a list', rules({ scope: () => ({ tags: { $none: { name: 'rotten' } } }) })],
      ['by an entity filter of MikroORM', { orm: { filters: removed } as never }],
      ['by a scope and a filter together', { orm: { filters: removed } as never, ...rules({ scope: () => ({ id: { $gt: 0 } }) }) }],
    ],
    reading,
  )
  matrix(
    [
      ['by a scope', rules({ scope: () => ({ name: { $ne: 'banana' } }) })],
      ['by an entity filter of MikroORM', { orm: { filters: scoping } as never }],
    ],
    writing,
  )
  matrix([['by a scope', rules({ scope: () => ({ name: { $ne: 'banana' } }) })]], leaving({ name: 'banana' }))
  matrix(
    [
      ['by an entity filter of MikroORM', { orm: { filters: scoping } as never }],
      ['by a filter, beside a scope that is kept', { orm: { filters: scoping } as never, ...rules({ scope: () => ({ id: { $gt: 0 } }) }) }],
      ['by a scope, beside a filter', { orm: { filters: scoping } as never, ...rules({ scope: () => ({ name: { $ne: 'gone' } }) }) }],
    ],
    [
      ...leaving({ removedOn: '2026-02-02' }),
      ['a record that is removed already', asked => refused(asked, 'record_not_found', 'PUT', '/v1/items/2', { removedOn: null })],
    ],
  )
  matrix(
    [['by a scope through a to-one', rules({ scope: () => ({ shop: { name: { $ne: 'west' } } }) })]],
    [
      ['a new record outside', asked => refused(asked, 'outside_scope', 'POST', '/v1/items', { name: 'x', shop: 3 })],
      ['a change to outside', asked => refused(asked, 'outside_scope', 'PUT', '/v1/items/1', { shop: 3 })],
      ['a link by path to outside', asked => refused(asked, 'outside_scope', 'PUT', '/v1/items/1/shop', 3)],
      ['an empty link by path', asked => refused(asked, 'outside_scope', 'PUT', '/v1/items/1/shop', null)],
      ['a record taken into another list', asked => refused(asked, 'outside_scope', 'PUT', '/v1/shops/3/items', [1])],
      ['a record taken out of a list', asked => refused(asked, 'outside_scope', 'PUT', '/v1/shops/1', { items: [2] })],
      ['a changed owner', asked => refused(asked, 'outside_scope', 'PUT', '/v1/items/1/shop', { name: 'west' })],
    ],
  )
  matrix(
    [['of an owner', { resources: [resource(Item, { scope: () => ({ label: { $ne: null } }) })] }]],
    [['a deletion that leaves it outside', asked => refused(asked, 'outside_scope', 'DELETE', '/v1/items/1/label')]],
  )
})

const FORBIDDEN: Cells = [
  ['a list', asked => status(asked, 403, 'GET', '/v1/items')],
  ['a record', asked => status(asked, 403, 'GET', '/v1/items/1')],
  ['a record that is not there', asked => status(asked, 403, 'GET', '/v1/items/99')],
  ['a plain attribute by path', asked => status(asked, 403, 'GET', '/v1/items/1/name')],
  [
    'a relation to it by path',
    async asked => {
      for (const path of ['/v1/labels/1/item', '/v1/shops/1/items']) {
        const { status: code } = await asked.get(path)
        assert.ok(code === 403 || code === 404)
      }
    },
  ],
  ['IDs at depth 1', async asked => assert.deepEqual(Object.keys((await asked.get('/v1/shops/1')).body.shop), ['id', 'name', 'crates'])],
  [
    'objects at depth 2',
    async asked => assert.deepEqual(Object.keys((await asked.get('/v1/labels/1', { depth: 2 })).body.label), ['id', 'text']),
  ],
  ['expand', asked => status(asked, 400, 'GET', '/v1/shops', undefined, { expand: 'items' })],
  ['attributes', asked => status(asked, 400, 'GET', '/v1/shops', undefined, { attributes: 'items' })],
  ['a sort by a path', asked => status(asked, 400, 'GET', '/v1/labels', undefined, { sort: 'item.name' })],
  ['a sort by a count', asked => status(asked, 400, 'GET', '/v1/shops', undefined, { sort: 'items' })],
  ['a filter by a path', asked => status(asked, 400, 'GET', '/v1/labels', undefined, { 'item.name': 'a' })],
  ['a filter by ID', asked => status(asked, 400, 'GET', '/v1/labels', undefined, { item: 1 })],
  ['a filter of a list', asked => status(asked, 400, 'GET', '/v1/shops', undefined, { items: 1 })],
  ['a filter of a deletion', asked => status(asked, 400, 'DELETE', '/v1/shops/1/crates', undefined, { 'shop.items.name': 'a' })],
  ['a new record', asked => refused(asked, 'forbidden', 'POST', '/v1/items', { name: 'x' })],
  [
    'an appended record',
    async asked => {
      const { status: code } = await asked.call('POST', '/v1/shops/1/items', {}, { name: 'x' })
      assert.ok(code === 403 || code === 404)
      assert.equal((await rows(asked.engine, 'select id from item')).length, 4)
    },
  ],
  ['a nested record', asked => refused(asked, 'validation_failed', 'POST', '/v1/labels', { text: 'x', item: { name: 'x' } })],
  ['a nested list', asked => refused(asked, 'validation_failed', 'POST', '/v1/shops', { name: 'x', items: [{ name: 'x' }] })],
  ['a record in a replaced list', asked => refused(asked, 'validation_failed', 'PUT', '/v1/shops/1', { items: [{ name: 'x' }] })],
  ['a change', asked => refused(asked, 'forbidden', 'PUT', '/v1/items/1', { price: 1 })],
  ['a change of an attribute', asked => refused(asked, 'forbidden', 'PUT', '/v1/items/1/price', 1)],
  ['a change of a linked record', asked => refused(asked, 'attribute_not_found', 'PUT', '/v1/labels/1/item', { price: 1 })],
  ['a new linked record', asked => refused(asked, 'attribute_not_found', 'PUT', '/v1/labels/4/item', { name: 'x' })],
  ['a link by ID', asked => refused(asked, 'validation_failed', 'POST', '/v1/labels', { text: 'x', item: 4 })],
  ['a link by ID in a list', asked => refused(asked, 'validation_failed', 'PUT', '/v1/shops/1', { items: [4] })],
  ['a deletion', asked => refused(asked, 'forbidden', 'DELETE', '/v1/items/1')],
  [
    'a deletion through a relation',
    async asked => {
      for (const path of ['/v1/labels/1/item', '/v1/shops/1/items']) {
        const { status: code } = await asked.call('DELETE', path)
        assert.ok(code === 403 || code === 404)
      }
      assert.equal((await rows(asked.engine, 'select id from item')).length, 4)
    },
  ],
]

describe('a resource without access', () => {
  matrix(
    [
      ['by false', rules({ access: false })],
      ['by a function', rules({ access: () => false })],
      ['by an asynchronous function', rules({ access: () => Promise.resolve(false) })],
      [
        'by each action',
        rules({ access: { list: false, get: () => false, create: () => false, update: false, delete: () => Promise.resolve(false) } }),
      ],
    ],
    FORBIDDEN,
  )

  const ALLOWED: [Action, string, string, unknown?][] = [
    ['list', 'GET', '/v1/items'],
    ['get', 'GET', '/v1/items/1'],
    ['get', 'GET', '/v1/items/1/name'],
    ['create', 'POST', '/v1/items', { name: 'x' }],
    ['update', 'PUT', '/v1/items/1', { price: 1 }],
    ['update', 'PUT', '/v1/items/1/price', 1],
    ['update', 'PUT', '/v1/labels/1/item', { price: 1 }],
    ['create', 'POST', '/v1/labels', { text: 'x', item: { name: 'x' } }],
    ['create', 'PUT', '/v1/labels/4/item', { name: 'x' }],
    ['delete', 'DELETE', '/v1/items/4'],
    ['list', 'GET', '/v1/shops/1/items'],
    ['get', 'GET', '/v1/labels/1/item'],
    ['create', 'POST', '/v1/shops/1/items', { name: 'x' }],
    ['delete', 'DELETE', '/v1/shops/3/items'],
  ]
  describe('for one action', () => {
    for (const [needed, method, path, body] of ALLOWED) {
      it(`${method} ${path} ${JSON.stringify(body) ?? ''} needs ${needed}, and nothing else`, async () => {
        for (const action of ['list', 'get', 'create', 'update', 'delete'] as const) {
          for (const rule of [false, (): boolean => false]) {
            await using asked = await start(rules({ access: { [action]: rule } }))
            const answer = await asked.call(method, path, {}, body)
            if (action === needed) assert.ok(answer.status === 403 || answer.status === 404, `${action}: ${JSON.stringify(answer.body)}`)
            else if (action === 'list' && path.endsWith('/items') && path.startsWith('/v1/shops')) assert.ok(answer.status < 500)
            else if (action === 'get' && path.startsWith('/v1/labels')) assert.ok(answer.status < 500)
            else if (action === 'get' && path.endsWith('/items') && path.startsWith('/v1/shops')) assert.ok(answer.status < 500)
            else assert.equal(answer.status, 200, `without ${action}: ${JSON.stringify(answer.body)}`)
          }
        }
      })
    }

    it('tells the rule the action, and of the request', async () => {
      const told: unknown[] = []
      await using asked = await start(
        rules({
          access: (ctx, action) => {
            told.push([action, ctx.action, ctx.method, ctx.resource, ctx.id, ctx.attribute])
            return true
          },
        }),
      )
      await asked.call('PUT', '/v1/items/1/price', {}, 5)
      assert.ok(told.some(each => JSON.stringify(each) === JSON.stringify(['update', 'update', 'PUT', 'items', '1', 'price'])))
    })
  })
})

const EVERYWHERE: [string, (asked: Asked) => Promise<Record<string, unknown>>][] = [
  ['a list', async asked => (await asked.get('/v1/items')).body.items[1]],
  ['a record', async asked => (await asked.get('/v1/items/2')).body.item],
  ['a to-one by path', async asked => (await asked.get('/v1/labels/2/item')).body.item],
  ['a list by path', async asked => (await asked.get('/v1/shops/1/items')).body.items[1]],
  ['depth 2, to-one', async asked => (await asked.get('/v1/labels/2', { depth: 2 })).body.label.item],
  ['depth 2, list', async asked => (await asked.get('/v1/shops/1', { depth: 2 })).body.shop.items[1]],
  ['expand', async asked => (await asked.get('/v1/tags/3', { expand: 'items' })).body.tag.items[0]],
  ['expand two levels', async asked => (await asked.get('/v1/crates/1', { expand: 'shop.items' })).body.crate.shop.items[1]],
  ['depth 0', async asked => (await asked.get('/v1/items/2', { depth: 0 })).body.item],
  ['the answer to a creation', async asked => (await asked.call('POST', '/v1/items', {}, { name: 'banana', secret: 'xb' })).body.item],
  [
    'the answer to an append',
    async asked => (await asked.call('POST', '/v1/shops/1/items', {}, { name: 'banana', secret: 'xb' })).body.item,
  ],
  [
    'the answer to a nested creation',
    async asked =>
      (await asked.call('POST', '/v1/labels', { depth: 2 }, { text: 'x', item: { name: 'banana', secret: 'xb' } })).body.label.item,
  ],
  ['the answer to a change', async asked => (await asked.call('PUT', '/v1/items/2', {}, { code: 'Z' })).body.item],
  ['the answer to a change by path', async asked => (await asked.call('PUT', '/v1/items/2/code', {}, 'Z')).body.item],
  ['the answer to a replaced list', async asked => (await asked.call('PUT', '/v1/tags/3/items', { depth: 2 }, [2])).body.tag.items[0]],
  ['the answer to a deletion', async asked => (await asked.call('DELETE', '/v1/items/2')).body.item],
  ['the answer to a deleted to-one', async asked => (await asked.call('DELETE', '/v1/labels/2/item')).body.item],
  ['the answer to a deleted list', async asked => (await asked.call('DELETE', '/v1/shops/1/items')).body.items[1]],
]

const QUERIES: [string, string, QueryInput][] = [
  ['a filter', '/v1/items', { secret: 'xb' }],
  ['a filter by a path', '/v1/labels', { 'item.secret': 'xb' }],
  ['a filter of a list', '/v1/shops', { 'items.secret': 'xb' }],
  ['a filter of a list by path', '/v1/shops/1/items', { secret: 'xb' }],
  ['a sort', '/v1/items', { sort: 'secret.desc' }],
  ['a sort by a path', '/v1/labels', { sort: 'item.secret.desc' }],
  ['a sort by a list', '/v1/shops', { sort: 'items.secret.desc' }],
]

describe('a private attribute', () => {
  const options = rules({ attributes: { secret: { private: true } } })
  matrix(
    [['is not in', options]],
    [
      ...EVERYWHERE.map(([place, read]): Cells[number] => [
        place,
        async asked => {
          const record = await read(asked)
          assert.equal(record['name'], 'banana')
          assert.ok(!('secret' in record))
        },
      ]),
      ['its own path', asked => status(asked, 404, 'GET', '/v1/items/2/secret')],
    ],
  )
  matrix(
    [['is unknown in', options]],
    QUERIES.map(([place, path, query]) => [place, asked => status(asked, 400, 'GET', path, undefined, query)]),
  )
  const stored = async (asked: Asked, name: string): Promise<unknown> =>
    (await rows(asked.engine, `select secret from item where name = '${name}'`))[0]!['secret']
  matrix(
    [['can be written in', options]],
    [
      [
        'a new record',
        async asked => {
          await status(asked, 200, 'POST', '/v1/items', { name: 'x', secret: 'new' })
          assert.equal(await stored(asked, 'x'), 'new')
        },
      ],
      [
        'a nested record',
        async asked => {
          await status(asked, 200, 'POST', '/v1/labels', { text: 'x', item: { name: 'x', secret: 'new' } })
          assert.equal(await stored(asked, 'x'), 'new')
        },
      ],
      [
        'a change',
        async asked => {
          await status(asked, 200, 'PUT', '/v1/items/2', { secret: 'new' })
          assert.equal(await stored(asked, 'banana'), 'new')
        },
      ],
      [
        'a change by its path',
        async asked => {
          await status(asked, 200, 'PUT', '/v1/items/2/secret', 'new')
          assert.equal(await stored(asked, 'banana'), 'new')
        },
      ],
    ],
  )
})

describe('a rendered attribute', () => {
  const options = rules({ attributes: { secret: { render: value => `<${String(value)}>` } } })
  matrix(
    [
      ['is rendered in', options],
      [
        'is rendered asynchronously in',
        rules({ attributes: { secret: { render: async value => Promise.resolve(`<${String(value)}>`) } } }),
      ],
    ],
    EVERYWHERE.map(([place, read]) => [place, async asked => assert.equal((await read(asked))['secret'], '<xb>')]),
  )
  matrix(
    [['is rendered in', options]],
    [['its own path', async asked => assert.equal((await asked.get('/v1/items/2/secret')).body.value, '<xb>')]],
  )
  matrix(
    [['is not told by', options]],
    QUERIES.map(([place, path, query]) => [place, asked => status(asked, 400, 'GET', path, undefined, query)]),
  )
  const open = rules({ attributes: { secret: { render: () => '*', filterable: true, sortable: true } } })
  const FOUND = [[2], [2], [1], [2], [4, 3, 2, 1], [3, 2, 1, 4], [2, 1, 3]]
  matrix(
    [['is filtered and sorted by its stored value, where it says so, in', open]],
    QUERIES.map(([place, path, query], index): Cells[number] => [
      place,
      async asked => assert.deepEqual(await asked.ids(path, query), FOUND[index]),
    ]),
  )
})

describe('a read-only attribute', () => {
  const items = data.items.map(item => Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'price')))
  const options = { ...rules({ attributes: { price: { readOnly: true } } }), seed: { ...data, items } }
  matrix(
    [['is refused in', options]],
    [
      ['a new record', asked => refused(asked, 'validation_failed', 'POST', '/v1/items', { name: 'x', price: 1 })],
      ['an appended record', asked => refused(asked, 'validation_failed', 'POST', '/v1/shops/1/items', { name: 'x', price: 1 })],
      ['a nested record', asked => refused(asked, 'validation_failed', 'POST', '/v1/labels', { text: 'x', item: { name: 'x', price: 1 } })],
      ['a record in a list', asked => refused(asked, 'validation_failed', 'PUT', '/v1/shops/1', { items: [{ name: 'x', price: 1 }] })],
      ['a change', asked => refused(asked, 'validation_failed', 'PUT', '/v1/items/1', { price: 1 })],
      ['a change by path', asked => refused(asked, 'validation_failed', 'PUT', '/v1/items/1/price', 1)],
      ['a change of a linked record', asked => refused(asked, 'validation_failed', 'PUT', '/v1/labels/1/item', { price: 1 })],
    ],
  )
  matrix(
    [['is shown in', options]],
    EVERYWHERE.map(([place, read]) => [place, async asked => assert.equal((await read(asked))['price'], 0)]),
  )
  matrix(
    [['is filtered and sorted by in', options]],
    [
      ['a list', async asked => assert.deepEqual(await asked.ids('/v1/items', { price: 0, sort: 'price' }), [1, 2, 3, 4])],
      ['a path', async asked => assert.deepEqual(await asked.ids('/v1/labels', { 'item.price': 0, sort: 'item.price' }), [1, 2, 3])],
    ],
  )
})
