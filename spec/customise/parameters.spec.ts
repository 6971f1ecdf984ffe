/** Parameters: reserved names under other names, and custom parameters that narrow what is read. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RestEngine, RestError, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { entities, Item, Shop, start } from './world.ts'
import type { Asked } from './world.ts'

const renamed = { limit: 'per_page', offset: 'skip', sort: 'order', depth: 'level', attributes: 'fields', expand: 'include' }

describe('a renamed parameter', () => {
  const world = (): Promise<Asked> => start({ parameters: renamed })

  it('does what the reserved one does', async () => {
    await using asked = await world()
    const { body } = await asked.get('/v1/shops', {
      per_page: 1,
      skip: 1,
      order: 'name.desc',
      level: 0,
      fields: 'id,items',
      include: 'items',
    })
    assert.deepEqual([body.limit, body.offset, body.sort, body.count], [1, 1, 'name.desc', 3])
    assert.equal(body.shops[0].id, 2)
    assert.equal(body.shops[0].items.length, 2)
  })

  it('is in the links', async () => {
    await using asked = await world()
    const { body } = await asked.get('/v1/items', { per_page: 1, skip: 1, order: 'id.desc', 'price>': 0 })
    const [path, query] = (body.next as string).split('?')
    assert.equal(path, '/v1/items')
    assert.deepEqual(query!.split('&').toSorted(), ['order=id.desc', 'per_page=1', 'price%3E0', 'skip=2'])
    assert.equal((await asked.get(body.next)).body.items[0].id, 2)
    assert.equal((await asked.get(body.previous)).body.items[0].id, 4)
    assert.match((await asked.get('/v1/items', { per_page: 2 })).body.next, /skip=2/)
  })

  it('leaves the old name to filters', async () => {
    await using asked = await world()
    for (const name of Object.keys(renamed)) {
      const { status, body } = await asked.get('/v1/items', { [name]: '1' })
      assert.deepEqual([status, body.errors[0].code, body.errors[0].parameter], [400, 'parameter_unknown', name])
    }
  })

  const FAULTS: [string, Record<string, string | string[]>][] = [
    ['per_page', { per_page: 'x' }],
    ['per_page', { per_page: '-1' }],
    ['skip', { skip: '1.5' }],
    ['level', { level: '3' }],
    ['order', { order: 'nope' }],
    ['order', { order: 'shop.nope' }],
    ['order', { order: 'size' }],
    ['fields', { fields: 'nope' }],
    ['fields', { fields: '!nope' }],
    ['include', { include: 'nope' }],
    ['include', { include: 'name' }],
    ['per_page', { per_page: ['1', '2'] }],
  ]
  for (const [parameter, query] of FAULTS) {
    it(`is named by errors as the client sent it: ${JSON.stringify(query)}`, async () => {
      await using asked = await world()
      const { status, body } = await asked.get('/v1/items', query)
      assert.equal(status, 400)
      assert.equal(body.errors[0].parameter, parameter)
    })
  }

  it('is what a record takes, and what is suggested', async () => {
    await using asked = await world()
    assert.equal((await asked.get('/v1/items/1', { level: 0 })).status, 200)
    const { body } = await asked.get('/v1/items/1', { depht: 0, per_page: 1 })
    assert.deepEqual(body.errors[0].allowed, ['level', 'fields', 'include'])
    assert.equal((await asked.get('/v1/items', { per_pag: 1 })).body.errors[0].suggestion, 'per_page')
  })

  it('that is the name of an attribute leaves the attribute an underscore', async () => {
    await using asked = await start({ parameters: { sort: 'name' } })
    assert.deepEqual(await asked.ids('/v1/items', { name: 'price.desc' }), [2, 4, 3, 1])
    assert.deepEqual(await asked.ids('/v1/items', { name_: 'apple' }), [1])
  })

  it('may swap two names', async () => {
    await using asked = await start({ parameters: { limit: 'offset', offset: 'limit' } })
    assert.deepEqual(await asked.ids('/v1/items', { limit: 1, offset: 2 }), [2, 3])
  })
})

describe('a custom parameter', () => {
  const world = (more: Partial<EngineOptions> = {}): Promise<Asked> =>
    start({
      parameters: {
        q: value => ({ name: { $like: `%${value}%` } }),
        cheap: async value => Promise.resolve(value === 'yes' ? { price: { $lt: 35 } } : undefined),
        near: (value, ctx) => {
          if (ctx.resource !== 'items') throw new RestError(400, 'not_here', `No ${value} in ${String(ctx.resource)}.`)
          return { shop: { name: value } }
        },
        broken: () => ({ nope: 1 }),
      },
      ...more,
    })

  it('narrows a list by the FilterQuery that it gives, together with filters and other ones', async () => {
    await using asked = await world()
    assert.deepEqual(await asked.ids('/v1/items', { q: 'an' }), [2])
    assert.deepEqual(await asked.ids('/v1/shops', { q: 'o' }), [1, 2])
    assert.deepEqual(await asked.ids('/v1/items', { q: 'e', cheap: 'yes' }), [1, 3])
    assert.deepEqual(await asked.ids('/v1/items', { q: 'e', 'price>': 10, sort: 'id.desc' }), [4, 3])
    assert.deepEqual(await asked.ids('/v1/items', { q: ['a', 'e'] }), [1, 4], 'a repeated one narrows each time')
    assert.deepEqual(await asked.ids('/v1/items', { cheap: 'no' }), [1, 2, 3, 4], 'nothing narrows nothing')
    assert.deepEqual(await asked.ids('/v1/items', { near: 'south' }), [3, 4])
    assert.deepEqual(await asked.ids('/v1/items', { q: '' }), [1, 2, 3, 4])
  })

  it('is counted, paged and kept in links, and is no filter of the envelope', async () => {
    await using asked = await world()
    const { body } = await asked.get('/v1/items', { q: 'e', limit: 1 })
    assert.deepEqual([body.count, body.filter], [3, []])
    assert.match(body.next, /q=e/)
    assert.deepEqual((await asked.get(body.next)).body.items[0].id, 3)
  })

  it('narrows the records of a list attribute, and those of it that are deleted', async () => {
    await using asked = await world()
    assert.deepEqual(await asked.ids('/v1/shops/1/items', { q: 'an' }), [2])
    assert.equal((await asked.call('DELETE', '/v1/shops/1/items', { q: 'an' })).body.count, 1)
    assert.deepEqual(await asked.ids('/v1/items'), [1, 3, 4])
  })

  it('binds its value', async () => {
    await using asked = await world()
    assert.deepEqual(await asked.ids('/v1/items', { q: `' or 1=1 --` }), [])
  })

  it('goes with a scope', async () => {
    await using asked = await world({ resources: [resource(Item, { scope: () => ({ id: { $ne: 2 } }) })] })
    assert.deepEqual(await asked.ids('/v1/items', { q: 'a' }), [1, 4])
  })

  it('is refused where there is no list', async () => {
    await using asked = await world()
    for (const [method, path] of [
      ['GET', '/v1/items/1'],
      ['GET', '/v1/items/1/name'],
      ['GET', '/v1/items/1/shop'],
      ['POST', '/v1/items'],
      ['PUT', '/v1/items/1'],
      ['DELETE', '/v1/items/1'],
      ['GET', '/v1'],
    ] as const) {
      const { status, body } = await asked.call(method, path, { q: 'a' }, method === 'GET' || method === 'DELETE' ? undefined : {})
      assert.deepEqual([status, body.errors?.[0].code], [400, 'parameter_not_allowed'], `${method} ${path}`)
    }
  })

  it('refuses by a RestError, and what else it throws or gives wrong is a 500', async () => {
    await using asked = await world()
    const { status, body } = await asked.get('/v1/shops', { near: 'x' })
    assert.deepEqual([status, body.code], [400, 'not_here'])
    const broken = await asked.get('/v1/items', { broken: 'x' })
    assert.equal(broken.status, 500)
    assert.doesNotMatch(JSON.stringify(broken.body), /nope/)
    assert.match(String(asked.failures[0]), /parameter "broken": there is no property "nope"/)
  })

  it('takes no operator, and is suggested for misspelt names', async () => {
    await using asked = await world()
    for (const query of [{ 'q!=': 'a' }, { '!q': 'a' }, { 'q~=': 'a' }, { 'q>': 'a' }]) {
      assert.equal((await asked.get('/v1/items', query as never)).status, 400)
    }
    assert.equal((await asked.get('/v1/items', { chep: 'a' })).body.errors[0].suggestion, 'cheap')
  })

  it('of the name of an attribute leaves the attribute an underscore', async () => {
    await using asked = await start({ parameters: { name: value => ({ name: { $like: `${value}%` } }) } })
    assert.deepEqual(await asked.ids('/v1/items', { name: 'a' }), [1])
    assert.deepEqual(await asked.ids('/v1/items', { name_: 'a' }), [])
    assert.deepEqual(await asked.ids('/v1/items', { name_: 'apple' }), [1])
  })
})

describe('a custom parameter of one resource', () => {
  const of = (more: Partial<EngineOptions> = {}): Promise<Asked> =>
    start({
      resources: [
        resource(Item, { parameters: { tagged: name => ({ tags: { name } }), cheap: async value => ({ price: { $lt: Number(value) } }) } }),
        resource(Shop, { parameters: { cheap: value => ({ items: { price: { $lt: Number(value) } } }) } }),
      ],
      ...more,
    })

  it('narrows lists of its resource, also those below other records', async () => {
    await using asked = await of()
    assert.deepEqual(await asked.ids('/v1/items', { tagged: 'red' }), await asked.ids('/v1/items', { 'tags.name': 'red' }))
    assert.deepEqual(
      await asked.ids('/v1/items', { tagged: 'red', cheap: '5' }),
      await asked.ids('/v1/items', { 'tags.name': 'red', 'price<': '5' }),
    )
    assert.deepEqual(await asked.ids('/v1/shops/1/items', { tagged: 'red' }), await asked.ids('/v1/shops/1/items', { 'tags.name': 'red' }))
    assert.deepEqual(await asked.ids('/v1/shops', { cheap: '5' }), await asked.ids('/v1/shops', { 'items.price<': '5' }))
  })

  it('is unknown to all others, which say what was meant', async () => {
    await using asked = await of()
    for (const path of ['/v1/shops', '/v1/tags', '/v1/shops/1/crates']) {
      const { status, body } = await asked.get(path, { tagged: 'red' })
      assert.deepEqual([status, body.errors[0].code], [400, 'parameter_unknown'], path)
    }
    const { body } = await asked.get('/v1/items', { taged: 'red' })
    assert.equal(body.errors[0].suggestion, 'tagged')
    assert.equal((await asked.get('/v1/items/1', { tagged: 'red' })).body.errors[0].code, 'parameter_not_allowed')
  })

  it('comes before one of the same name that all have, and leaves the attribute of its name an underscore', async () => {
    await using asked = await of({
      parameters: { cheap: () => ({ id: 1 }) },
      resources: [resource(Item, { parameters: { cheap: () => ({ id: 3 }), name: value => ({ name: { $like: `${value}%` } }) } })],
    })
    assert.deepEqual(await asked.ids('/v1/items', { cheap: '' }), [3])
    assert.deepEqual(await asked.ids('/v1/shops', { cheap: '' }), [1])
    assert.deepEqual(await asked.ids('/v1/items', { name: 'a' }), [1])
    assert.deepEqual(await asked.ids('/v1/items', { name_: 'apple' }), [1])
    assert.deepEqual(await asked.ids('/v1/shops', { name: 'north' }), [1])
  })

  it('is described where it is taken', async () => {
    await using asked = await of()
    const { paths, components } = (await asked.engine.openapi()) as unknown as {
      paths: Record<string, { get: { parameters: { $ref?: string; name: string }[] } }>
      components: { parameters: Record<string, { name: string }> }
    }
    const named = (path: string): string[] =>
      paths[path]!.get.parameters.map(({ $ref, name }) =>
        $ref === undefined ? name : components.parameters[$ref.split('/').at(-1)!]!.name,
      )
    assert.ok(named('/v1/items').includes('tagged'))
    assert.ok(!named('/v1/shops').includes('tagged'))
  })

  it('is refused at the start where it is not of its form', async () => {
    const refuse = (parameters: object, message: RegExp): Promise<void> =>
      assert.rejects(RestEngine.create({ entities, resources: [resource(Item, { parameters: parameters as never })] }), message)
    await refuse({ 'a>': () => ({}) }, /resource\(Item\): parameters: "a>" cannot be the name/)
    await refuse({ q: 'name' }, /resource\(Item\): parameters: "q" must be a function/)
    await refuse({ limit: () => ({}) }, /two parameters have one name/)
    await refuse([], /"parameters" must be an object/)
  })
})

describe('a custom parameter of all resources', () => {
  it('is unknown to a resource that cannot have its condition, and a failure where none can', async () => {
    await using asked = await start({ parameters: { cheap: value => ({ price: { $lt: Number(value) } }), odd: () => ({ nope: 1 }) } })
    assert.equal((await asked.get('/v1/items', { cheap: '5' })).status, 200)
    const { status, body } = await asked.get('/v1/shops', { cheap: '5' })
    assert.deepEqual([status, body.errors[0].code], [400, 'parameter_unknown'])
    assert.match(body.errors[0].detail, /There is no parameter "cheap" of shops; it is one of items/)
    assert.equal((await asked.get('/v1/shops', { odd: '5' })).status, 500)
  })
})

describe('parameters', () => {
  const WRONG: [string, unknown, RegExp][] = [
    ['another name for what is not reserved', { limits: 'per_page' }, /"limits" is not a reserved parameter\. Did you mean "limit"\?/],
    ['two under one name', { limit: 'page', offset: 'page' }, /two parameters have one name/],
    ['the name of another reserved one', { limit: 'offset' }, /two parameters have one name/],
    ['an own one of a reserved name', { limit: () => ({}) }, /two parameters have one name/],
    ['an own one of a new name of a reserved one', { limit: 'q', q: () => ({}) }, /two parameters have one name/],
    ['an empty name', { limit: '' }, /"limit" must be another name/],
    ['a name with an operator', { limit: 'a>' }, /"limit" must be another name/],
    ['an own one whose name has an operator', { 'a!': () => ({}) }, /"a!" cannot be the name of a parameter/],
    ['an own one without a name', { '': () => ({}) }, /cannot be the name/],
    ['a number', { limit: 5 }, /"limit" must be another name/],
    ['a list', ['q'], /parameters must be an object/],
  ]
  for (const [what, parameters, message] of WRONG) {
    it(`are refused when the engine is created: ${what}`, () =>
      assert.rejects(RestEngine.create({ entities, parameters: parameters as NonNullable<EngineOptions['parameters']> }), message))
  }

  it('are refused when one is the flag of a computed attribute', () =>
    assert.rejects(
      RestEngine.create({
        entities,
        parameters: { stats: () => ({}) },
        resources: [resource(Item, { computed: { group: { flag: 'stats', one: { type: 'integer', sql: () => '1' } } } })],
      }),
      /two parameters have one name/,
    ))
})
