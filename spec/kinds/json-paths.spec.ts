/** JSON attributes, filtered and sorted by what is inside of them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RestEngine, fromJson } from '../../lib/index.ts'
import { fileOf, serve } from '../sqlite/introspect/world.ts'
import { entities } from './plain.ts'

const ROWS: unknown[] = [
  { color: 'red', size: 5, on: true, list: ['a', { deep: 1 }], at: '2020-01-01', big: '9007199254740993', 'a b': 1 },
  { color: 'Red', size: '5', on: false, list: [], at: '2021-01-01', o: { 0: 'zero' } },
  { color: null, size: 5.5, on: null, list: { 0: 'a' } },
  null,
  'red',
  [1, [2, 3]],
  { color: ['red'], size: -1, on: 'true' },
]

const CASES: [query: Record<string, string>, ids: number[]][] = [
  [{ 'json.color': 'red' }, [1]],
  [{ 'json.color': 'r*' }, [1]],
  [{ 'json.color~=': 'RED' }, [1, 2]],
  [{ 'json.color': '*' }, [1, 2]],
  [{ '!json.color': 'red' }, [2, 3, 4, 5, 6, 7]],
  [{ 'json.color': 'null' }, [3, 4, 5, 6]],
  [{ 'json.color!=': 'null' }, [1, 2, 7]],
  [{ 'json.size': '5' }, [1, 2]],
  [{ 'json.size': '5,-1' }, [1, 2, 7]],
  [{ 'json.size': '5', id: '2' }, [2]],
  [{ 'json.size': '-1,5', id: '2,7' }, [2, 7]],
  [{ 'json.size>=': '5' }, [1, 3]],
  [{ 'json.size<': '5.5' }, [1, 7]],
  [{ 'json.size': '5*' }, [2]],
  [{ 'json.on': 'true' }, [1, 7]],
  [{ 'json.on': 'false' }, [2]],
  [{ 'json.on': '1' }, []],
  [{ 'json.at>=': '2020-06-01' }, [2]],
  [{ 'json.list.0': 'a' }, [1, 3]],
  [{ 'json.list.1.deep': '1' }, [1]],
  [{ 'json.list': 'null' }, [4, 5, 6, 7]],
  [{ 'json.list': 'a' }, []],
  [{ 'json.o.0': 'zero' }, [2]],
  [{ 'json.1.0': '2' }, [6]],
  [{ 'json.big': '9007199254740993' }, [1]],
  [{ 'json.a b': '1' }, [1]],
  [{ "json.it's": 'null' }, [1, 2, 3, 4, 5, 6, 7]],
  [{ 'json.color|json.at': 'red,2021-01-01' }, [1, 2]],
  [{ sort: 'json.size' }, [4, 5, 6, 7, 1, 3, 2]],
  [{ sort: 'json.size.desc' }, [2, 3, 1, 7, 4, 5, 6]],
  [{ 'partDoc.json.k.0': '7' }, [1]],
  [{ 'part.json.k.0>': '7' }, [1]],
  [{ 'json.list': '[]' }, [2]],
  [{ 'json.list': '[ "a"\\,{"deep":1e0} ]' }, [1]],
  [{ 'json.color': '"red"' }, [1]],
  [{ 'json.color!=': '["red"],red' }, [2, 3, 4, 5, 6]],
  // As a whole.
  [{ json: 'red' }, [5]],
  [{ json: '"red"' }, [5]],
  [{ json: 'r*' }, [5]],
  [{ 'json~=': 'RED' }, [5]],
  [{ json: '[1\\,[2\\,3]]' }, [6]],
  [{ json: '[1.0\\, [2\\,3]]' }, [6]],
  [{ json: '[1\\,[3\\,2]]' }, []],
  [{ json: '{"on":"true"\\,"size":-1\\,"color":["red"]}' }, [7]],
  [{ json: '{"on":"true"\\,"size":-1\\,"color":["red"]},red,null' }, [4, 5, 7]],
  [{ 'json!=': '{"on":"true"\\,"size":-1\\,"color":["red"]},red,null' }, [1, 2, 3, 6]],
  [{ '!json': 'red' }, [1, 2, 3, 4, 6, 7]],
  [{ json: 'null' }, [4]],
  [{ 'json!=': 'null' }, [1, 2, 3, 5, 6, 7]],
  [{ json: '\\null' }, []],
  [{ json: '{' }, []],
  [{ json: '[' + '['.repeat(5000) + ']'.repeat(5000) + ']' }, []],
  [{ 'json>=': 'r' }, [5]],
  [{ 'json>=': '1' }, []],
  [{ 'partDoc.json': '{"k":[7]}' }, [1]],
  [{ 'part.json': '{"k":[8]}' }, [1]],
  [{ 'partDoc.json': 'null' }, [2, 3, 4, 5, 6, 7]],
]

const MIXED: readonly unknown[] = [5, '5', 5.5, true, 'true', null, '', '"a"', 'a', {}, [], { b: [1, { d: 1, c: 2 }], a: null }, '05']

const WHOLE: [query: Record<string, string>, values: unknown[]][] = [
  [{ code: '5' }, [5, '5']],
  [{ code: '5.0' }, [5]],
  [{ code: '"5"' }, ['5']],
  [{ code: '05' }, ['05']],
  [{ code: '5,5.5,a' }, [5, '5', 5.5, 'a']],
  [{ code: 'true' }, [true, 'true']],
  [{ code: 'false' }, []],
  [{ code: 'null' }, [null]],
  [{ code: '' }, ['']],
  [{ code: '"a"' }, ['"a"', 'a']],
  [{ code: '{}' }, [{}]],
  [{ code: '[]' }, [[]]],
  [{ code: '{"a":null\\,"b":[1\\,{"c":2\\,"d":1}]}' }, [{ b: [1, { d: 1, c: 2 }], a: null }]],
  [{ 'code!=': 'null,{},[],5,true,a*' }, [5.5, '', '"a"', { b: [1, { d: 1, c: 2 }], a: null }, '05']],
  [{ 'code>': '5' }, [5.5]],
  [{ 'code<=': '5' }, [5]],
]

describe('paths into JSON values', () => {
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({
      entities,
      seed: {
        plains: ROWS.map((json, index) => ({
          id: index + 1,
          json,
          partDoc: index === 0 ? { name: 'x', json: { k: [7] } } : null,
          part: index === 0 ? { name: 'x', json: { k: [8] } } : null,
        })),
      },
    })
    // Another program may write what is no JSON.
    await engine.orm.em.getConnection().execute(`insert into plain (id, json) values (8, '{"color":')`)
  })
  after(() => engine.close())

  for (const [query, expected] of CASES) {
    it(JSON.stringify(query), async () => {
      const { status, body } = (await engine.handle('GET', '/v1/plains', { ...query, 'id<': 8 })) as {
        status: number
        body: Record<string, unknown>
      }
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        (body['plains'] as { id: number }[]).map(({ id }) => id),
        expected,
      )
    })
  }

  it('finds nothing inside what is no JSON', async () => {
    const { body } = (await engine.handle('GET', '/v1/plains', { 'json.color': 'null', id: 8 })) as { body: Record<string, unknown> }
    assert.equal(body['count'], 1)
  })

  it('refuses paths that cannot be', async () => {
    for (const name of ['json.', 'json..a', 'json.a"b', 'json.a\\b', 'integer.a', 'tags.0', 'label.a']) {
      const { status, body } = (await engine.handle('GET', '/v1/plains', { [name]: 'x' })) as { status: number; body: unknown }
      assert.equal(status, 400, `${name}: ${JSON.stringify(body)}`)
    }
    const { status } = await engine.handle('GET', '/v1/plains', { attributes: 'json.color' })
    assert.equal(status, 400)
  })
})

describe('JSON values of several kinds', () => {
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({ ...fromJson({ things: MIXED.map(code => ({ code })) }) })
  })
  after(() => engine.close())

  for (const [query, expected] of WHOLE) {
    it(JSON.stringify(query), async () => {
      const { status, body } = (await engine.handle('GET', '/v1/things', query)) as { status: number; body: Record<string, unknown> }
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        (body['things'] as { code: unknown }[]).map(({ code }) => code),
        expected,
      )
    })
  }

  it('are found each by its own JSON text', async () => {
    for (const value of MIXED) {
      const code = JSON.stringify(value).replaceAll(/[\\,*]/g, String.raw`\$&`)
      const { body } = (await engine.handle('GET', '/v1/things', { code })) as { body: { things: { code: unknown }[] } }
      assert.ok(
        body.things.some(found => JSON.stringify(found.code) === JSON.stringify(value)),
        code,
      )
    }
  })

  it('are not sorted by', async () => {
    assert.equal((await engine.handle('GET', '/v1/things', { sort: 'code' })).status, 400)
  })

  it('in a file may be JSON null, a number, or no JSON', async () => {
    await using file = await serve({
      path: fileOf(
        "create table t (id integer primary key, j json); insert into t values (1, 'null'), (2, null), (3, 5), (4, '{oops'), (5, ' { } ');",
      ),
    })
    for (const [value, ids] of [
      ['null', [1, 2]],
      ['5', [3]],
      ['{oops', [4]],
      ['{}', [5]],
    ] as const) {
      assert.deepEqual(
        (await file.get(`ts?j=${encodeURIComponent(value)}&attributes=id`)).map(({ id }: { id: number }) => id),
        ids,
        value,
      )
    }
  })
})
