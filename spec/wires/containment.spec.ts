/** Lists and JSON that contain each other: `$contains`, `$contained` and `$overlap` of a wire, and `cs`, `cd`, `ov` of PostgREST. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, RestEngine, type Wire } from '../../lib/index.ts'
import { postgrest } from '../../lib/wires/postgrest/index.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'
import { fileOf } from '../sqlite/introspect/world.ts'

const Item = defineEntity({
  name: 'Item',
  tableName: 'items',
  properties: {
    id: p.integer().primary(),
    name: p.string().default('item'),
    tags: p.array().nullable(),
    sizes: p.array((text: string) => Number(text)).nullable(),
    meta: p.json<unknown>().nullable(),
  },
})
const LISTS = [['a', 'b'], ['a'], [], ['b', 'c', 'c'], null]
const META = [
  { color: 'red', sizes: [1, 2, 3], inner: { on: true, list: [{ id: 1, of: 'x' }, { id: 2 }] } },
  { color: 'blue', sizes: [] },
  ['a', 'b', 'b', 1],
  {},
  null,
]
const items = LISTS.map((tags, index) => ({
  id: index + 1,
  tags,
  sizes: tags?.map(tag => tag.codePointAt(0)! - 96) ?? null,
  meta: META[index],
}))
const options = { entities: [Item], seed: { items }, versions: [] }

async function ask(engine: RestEngine, query: string): Promise<unknown> {
  const response = await engine.fetch(`http://api.test/items?select=id&order=id&${query}`)
  const body = (await response.json()) as { id: number }[] & { code: string }
  return response.status === 200 ? body.map(({ id }) => id) : [response.status, body.code]
}

describeStores('containment', () => {
  const engineOf = suiteEngine({ ...options, wire: postgrest() })

  it('compares lists in one column', async () => {
    const asked = (query: string): Promise<unknown> => ask(engineOf(), query)
    assert.deepEqual(await asked('tags=cs.{a}'), [1, 2])
    assert.deepEqual(await asked('tags=cs.{b,a}'), [1])
    assert.deepEqual(await asked('tags=cs.{}'), [1, 2, 3, 4])
    assert.deepEqual(await asked('tags=cs.{a,NULL}'), [])
    assert.deepEqual(await asked('tags=cs.{"a"}'), [1, 2])
    assert.deepEqual(await asked('tags=cd.{a,b}'), [1, 2, 3])
    assert.deepEqual(await asked('tags=cd.{}'), [3])
    assert.deepEqual(await asked('tags=ov.{c,x}'), [4])
    assert.deepEqual(await asked('tags=ov.{}'), [])
    assert.deepEqual(await asked('tags=not.cs.{a}'), [3, 4], 'NULL contains nothing, and does not contain nothing')
    assert.deepEqual(await asked('sizes=cs.{2}'), [1, 4])
    assert.deepEqual(await asked('sizes=ov.{1,3}'), [1, 2, 4])
    assert.deepEqual(await asked('or=(tags.cs.{c},tags.cd.{a})'), [2, 3, 4])
    for (const text of ['{a', 'a', '{a,}', '{a}x', '{{a}}']) assert.deepEqual(await asked(`tags=cs.${text}`), [400, '22P02'], text)
  })

  it('is no equality, which compares whole values: an empty list or object, too', async () => {
    const byWhere: Wire = {
      answer: async ({ pairs }, api) => {
        const { records } = await api.list('items', { where: JSON.parse(pairs[0]![1]) as object, sort: ['id'] })
        return { status: 200, body: records.map(({ id }) => id) }
      },
      refuse: error => ({ status: error.status, body: error.code }),
    }
    await using engine = await createEngine({ ...options, wire: byWhere })
    const found = async (where: object): Promise<unknown> =>
      (await engine.fetch(`http://api.test/items?where=${encodeURIComponent(JSON.stringify(where))}`)).json()
    assert.deepEqual(await found({ meta: { $eq: {} } }), [4])
    assert.deepEqual(await found({ meta: { $eq: [] } }), [])
    assert.deepEqual(await found({ meta: [[], {}] }), [4])
    assert.deepEqual(await found({ meta: { $in: [['a', 'b', 'b', 1]] } }), [3])
  })

  it('compares texts with commas, quotes and backslashes, and empty ones', async () => {
    const tags = [['a,b', 'c'], [''], ['x"y', 'z'], [String.raw`a\b`, 'é'], ['a', 'b'], [], ['', 'a,b', '"']]
    const seed = { items: tags.map((each, index) => ({ id: index + 1, tags: each })) }
    await using engine = await createEngine({ ...options, seed, wire: postgrest() })
    const asked = (operator: string, list: string): Promise<unknown> => ask(engine, `tags=${operator}.${encodeURIComponent(list)}`)
    assert.deepEqual(await asked('cs', '{"a,b"}'), [1, 7])
    assert.deepEqual(await asked('cs', '{"a,b",c}'), [1])
    assert.deepEqual(await asked('cs', '{""}'), [2, 7])
    assert.deepEqual(await asked('cs', String.raw`{"x\"y"}`), [3])
    assert.deepEqual(await asked('cs', String.raw`{z,"x\"y"}`), [3])
    assert.deepEqual(await asked('cs', String.raw`{"a\\b"}`), [4])
    assert.deepEqual(await asked('cs', '{a}'), [5], 'no part of a text is an item')
    assert.deepEqual(await asked('ov', '{"a,b",é}'), [1, 4, 7])
    assert.deepEqual(await asked('ov', String.raw`{"","\""}`), [2, 7])
    assert.deepEqual(await asked('cd', String.raw`{"","a,b","\"",c}`), [1, 2, 6, 7])
    assert.deepEqual(await asked('not.ov', '{"a,b",""}'), [3, 4, 5, 6])
  })

  it('compares JSON with JSON, lists inside too', async () => {
    const asked = (query: string): Promise<unknown> => ask(engineOf(), query)
    const of = (operator: string, value: unknown, path = 'meta'): Promise<unknown> =>
      asked(`${encodeURIComponent(path)}=${operator}.${encodeURIComponent(JSON.stringify(value))}`)
    assert.deepEqual(await of('cs', { color: 'red' }), [1])
    assert.deepEqual(await of('cs', { sizes: [3, 1, 1] }), [1])
    assert.deepEqual(await of('cs', { sizes: [] }), [1, 2])
    assert.deepEqual(await of('cs', { inner: { list: [{ id: 1 }] } }), [1])
    assert.deepEqual(await of('cs', { inner: { list: [{ id: 1, of: 'y' }] } }), [])
    assert.deepEqual(await of('cs', {}), [1, 2, 4])
    assert.deepEqual(await of('cs', ['b', 'a']), [3])
    assert.deepEqual(await of('cs', 'a'), [3], 'a list contains a bare value')
    assert.deepEqual(await of('cs', [['a']]), [])
    assert.deepEqual(await of('cs', { sizes: 1 }), [], 'at the top alone')
    assert.deepEqual(await of('cs', [2], 'meta->sizes'), [1])
    assert.deepEqual(await of('cs', 2, 'meta->sizes'), [1])
    assert.deepEqual(await of('cs', { on: true }, 'meta->inner'), [1])
    assert.deepEqual(await of('cd', { color: 'blue', sizes: [1], more: 1 }), [2, 4])
    assert.deepEqual(await of('cd', ['a', 'b', 1, 'z']), [3])
    assert.deepEqual(await of('not.cs', { color: 'red' }), [2, 3, 4])
  })

  it('refuses what PostgreSQL cannot hold, and what has no list', async () => {
    const asked = (query: string): Promise<unknown> => ask(engineOf(), query)
    for (const text of [String.raw`"\u0000"`, String.raw`{"\ud800":1}`, String.raw`["a\uDC00"]`])
      assert.deepEqual(await asked(`meta=cs.${encodeURIComponent(text)}`), [400, '22P02'], text)
    assert.deepEqual(await asked(`meta=cs.${encodeURIComponent(String.raw`"\\u0000"`)}`), [])
    assert.deepEqual(await asked('meta=cs.{'), [400, '22P02'])
    assert.deepEqual(await asked(`meta=cs.${'['.repeat(200)}${']'.repeat(200)}`), [400, '54001'])
    assert.deepEqual(await asked(`tags=cs.{${'a,'.repeat(1500)}a}`), [400, '22P02'])
    assert.deepEqual(await asked('meta=ov.{a}'), [404, '42883'])
    assert.deepEqual(await asked('name=cs.{a}'), [404, '42883'])
    assert.deepEqual(await asked('name=cd.{a}'), [400, '42725'])
  })

  it('is a condition of every wire, and of scopes', async () => {
    const wire: Wire = {
      answer: async ({ pairs }, api) => ({
        status: 200,
        body: (await api.list('items', { where: JSON.parse(pairs[0]![1]) as object })).records.map(({ id }) => id),
      }),
      refuse: ({ status, code }) => ({ status, body: [code] }),
    }
    const scope = (): object => ({ tags: { $overlap: ['a'] } })
    await using engine = await createEngine({ ...options, wire, resources: [resource(Item, { scope })] })
    const list = async (where: object): Promise<unknown> =>
      (await engine.fetch(`http://api.test/?where=${encodeURIComponent(JSON.stringify(where))}`)).json()
    assert.deepEqual(await list({}), [1, 2])
    assert.deepEqual(await list({ tags: { $contained: ['a', 'z'] } }), [2])
    assert.deepEqual(await list({ meta: { $contains: { color: 'red' } } }), [1])
    for (const where of [
      { tags: { $contains: 'a' } },
      { tags: { $contains: [['a']] } },
      { name: { $contains: ['a'] } },
      { meta: { $overlap: ['a'] } },
    ])
      assert.deepEqual(await list(where), ['parameter_invalid'], JSON.stringify(where))
  })
})

describe('containment in a file', () => {
  it('reads lists with stray quotes, and finds no text that is no list', async () => {
    const database = fileOf(`create table items (id integer primary key, name text, tags text, sizes text, meta json);
      insert into items (id, name, tags) values (1, 'item', '5",a'), (2, 'item', '"a'), (3, 'item', 'a"b","c,d"'), (4, 'item', '"a,a');`)
    await using engine = await RestEngine.create({ entities: [Item], database, versions: [], wire: postgrest() })
    assert.deepEqual(await ask(engine, 'tags=cs.{a}'), [1])
    assert.deepEqual(await ask(engine, `tags=cs.${encodeURIComponent('{"c,d"}')}`), [3])
    assert.deepEqual(await ask(engine, 'tags=not.cs.{a}'), [2, 3, 4])
  })
})
