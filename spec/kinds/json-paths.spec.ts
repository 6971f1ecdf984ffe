/** JSON attributes, filtered and sorted by what is inside of them. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { fromJson } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { fileOf, serve } from '../sqlite/introspect/world.ts'
import { CASES, MIXED, ROWS, WHOLE } from './json-paths.ts'
import { entities } from './plain.ts'

describeStores('paths into JSON values', { except: 'column types' }, () => {
  let engine: RestEngine
  before(async () => {
    engine = await createEngine({
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

describeStores('JSON values of several kinds', () => {
  let engine: RestEngine
  before(async () => {
    engine = await createEngine({ ...fromJson({ things: MIXED.map(code => ({ code })) }) })
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
        // In any order of its keys.
        body.things.some(found => isDeepStrictEqual(found.code, value)),
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
