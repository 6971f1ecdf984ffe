/** Arrays in a query that is an object: any of the values, by every way to ask, each literally but for `*`. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { client, resource } from '../../lib/index.ts'
import type { QueryInput, RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.text().nullable(), age: p.integer().nullable() },
})
const NAMES = ['Ann', 'Bob', 'Smith, B', 'null', '\\', '\\,', 'a\\b', '\\\\', '', 'A*', null]

describeStores('an array in a query object', () => {
  let engine: RestEngine
  let asked: unknown
  before(async () => {
    engine = await createEngine({
      entities: [User],
      resources: [
        resource(User, { computed: { doubled: { flag: 'doubled', age: { type: 'integer', sql: alias => `${alias}.age * 2` } } } }),
      ],
      parameters: {
        q: (value, ctx) => {
          asked = ctx.query['q']
          return { name: { $like: `${value}%` } }
        },
      },
      seed: { users: NAMES.map((name, index) => ({ name, age: index === 3 ? null : index })) },
    })
  })
  after(() => engine.close())

  async function byHandle(query: QueryInput): Promise<unknown[]> {
    const { status, body } = await engine.handle('GET', '/v1/users', query)
    assert.equal(status, 200, JSON.stringify(body))
    return (body as { users: { name: unknown }[] }).users.map(({ name }) => name)
  }

  async function byQuery(query: object): Promise<unknown[]> {
    const { body } = await engine.handle('QUERY', '/v1/users', undefined, query)
    return (body as { users: { name: unknown }[] }).users.map(({ name }) => name)
  }

  async function byClient(query: object): Promise<unknown[]> {
    const api = client(engine, { users: User }) as unknown as { users: { list(query: object): Promise<{ items: { name: unknown }[] }> } }
    return (await api.users.list(query)).items.map(({ name }) => name)
  }

  const all = async (query: Record<string, readonly (string | number | null)[]>): Promise<unknown[]> => {
    const names = await byHandle(query)
    assert.deepEqual(await byQuery(query), names)
    assert.deepEqual(await byClient(query), names)
    return names
  }

  it('is any of its values, also negated and for numbers', async () => {
    assert.deepEqual(await all({ name: ['Ann', 'Bob'] }), ['Ann', 'Bob'])
    assert.deepEqual(
      await all({ '!name': ['Ann', 'Bob'] }),
      NAMES.filter(name => name !== 'Ann' && name !== 'Bob'),
    )
    assert.deepEqual(
      await all({ 'name!=': ['Ann', 'Bob'] }),
      NAMES.filter(name => name !== 'Ann' && name !== 'Bob'),
    )
    assert.deepEqual(await all({ age: [1, 2, null] }), ['Bob', 'Smith, B', 'null'])
    assert.deepEqual(await all({ 'name~=': ['ANN', 's*'] }), ['Ann', 'Smith, B'])
    assert.deepEqual(await all({ name: ['Ann'], age: [0, 1] }), ['Ann'])
  })

  it('takes * as any run of characters, and \\* as a star', async () => {
    assert.deepEqual(await all({ name: ['A*', 'x'] }), ['Ann', 'A*'])
    assert.deepEqual(await all({ name: ['A\\*'] }), ['A*'])
    assert.deepEqual(await all({ name: ['*, B'] }), ['Smith, B'])
  })

  it('takes anything else literally, and null as NULL (property)', async () => {
    const text = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: fc.constantFrom('\\', ',', 'a', 'b', 'null', '*'), maxLength: 4 }))
    const item = text.filter(value => value === null || !value.includes('*'))
    await check(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 4 }), async items => {
        assert.deepEqual(
          await all({ name: items }),
          NAMES.filter(name => items.includes(name)),
        )
      }),
      { label: 'arrays are literal', runs: 60 },
    )
  })

  it('stays all of them in a text that repeats the parameter', async () => {
    assert.deepEqual(await byHandle('name=A*&name=*n'), ['Ann'])
    assert.deepEqual(await byHandle(new URLSearchParams([['name', 'Ann'], ['name', 'Bob']])), []) // prettier-ignore
  })

  it('is a list of sort, attributes and expand, and a repeated parameter of the application', async () => {
    const { body } = await engine.handle('GET', '/v1/users', {
      sort: ['age.desc', 'name'],
      attributes: ['!id'],
      limit: [1],
      doubled: [true],
    })
    const { sort, users } = body as { sort: string; users: object[] }
    assert.deepEqual([sort, users], ['age.desc,name.asc', [{ name: null, age: 10, doubled: { age: 20 } }]])
    assert.deepEqual(await byHandle({ q: ['A', 'An'] }), ['Ann'])
    assert.deepEqual(asked, ['A', 'An'])
    const { status } = await engine.handle('GET', '/v1/users', { limit: [1, 2] })
    assert.equal(status, 400)
  })

  it('goes on in the links to other pages', async () => {
    const first = await engine.handle('GET', '/v1/users', { name: ['Ann', 'Smith, B', 'null', null], limit: 2 })
    const { next, count } = first.body as { next: string; count: number }
    assert.equal(count, 4)
    const second = await engine.handle('GET', next)
    assert.deepEqual((second.body as { users: { name: unknown }[] }).users.map(({ name }) => name), ['null', null]) // prettier-ignore
  })

  it('is refused without values, and as the value of a comparison', async () => {
    for (const [query, detail] of [
      [{ name: [] }, /"name" has an array without values, which no record can equal/],
      [{ 'age>=': [1, 2] }, /">=" compares with one value: no list/],
    ] as const) {
      const { status, body } = await engine.handle('GET', '/v1/users', query)
      assert.equal(status, 400)
      assert.match((body as { detail: string }).detail, detail)
    }
  })
})
