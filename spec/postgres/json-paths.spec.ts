/** What is inside JSON values is filtered and sorted by on PostgreSQL as on SQLite. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, fromJson } from '../../lib/index.ts'
import { CASES, MIXED, ROWS, WHOLE } from '../kinds/json-paths.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const Part = defineEntity({ name: 'Part', embeddable: true, properties: { name: p.string(), json: p.json().nullable() } })
const Plain = defineEntity({
  name: 'Plain',
  properties: {
    id: p.integer().primary(),
    json: p.json().nullable(),
    part: () => p.embedded(Part).nullable(),
    partDoc: () => p.embedded(Part).object().nullable(),
  },
})
const Owner = defineEntity({
  name: 'Owner',
  properties: { id: p.integer().primary(), things: () => p.oneToMany(Thing).mappedBy('owner') },
})
const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), data: p.json(), owner: () => p.manyToOne(Owner) } })

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('paths into JSON values on PostgreSQL', { skip: NO_SERVER }, () => {
  const schema = ownSchema()
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({
      entities: [Plain, Part],
      database: schema.database,
      seed: {
        plains: ROWS.map((json, index) => ({
          id: index + 1,
          json,
          partDoc: index === 0 ? { name: 'x', json: { k: [7] } } : null,
          part: index === 0 ? { name: 'x', json: { k: [8] } } : null,
        })),
      },
    })
  })
  after(async () => {
    await engine?.close()
    await schema[Symbol.asyncDispose]()
  })

  for (const [query, expected] of CASES) {
    it(JSON.stringify(query), async () => {
      const { status, body } = await engine.handle('GET', '/v1/plains', query)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        (body.plains as { id: number }[]).map(({ id }) => id),
        expected,
      )
    })
  }

  it('takes any text for a value', async () => {
    for (const value of [
      '1e999',
      '1e999999',
      String.raw`"\ud800"`,
      String.raw`"\\ud800"`,
      String.raw`"\u0000"`,
      String.raw`{"a":"\u0000"}`,
      '-0',
      '1e-400',
      '9'.repeat(400),
      `${'['.repeat(1500)}${']'.repeat(1500)}`,
    ]) {
      const { status } = await engine.handle('GET', '/v1/plains', { 'json.color': value.replaceAll(/[\\,*]/g, String.raw`\$&`) })
      assert.equal(status, 200, value)
    }
  })
})

describe('JSON values of several kinds on PostgreSQL', { skip: NO_SERVER }, () => {
  const schema = ownSchema()
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({ ...fromJson({ things: MIXED.map(code => ({ code })) }), database: schema.database })
  })
  after(async () => {
    await engine?.close()
    await schema[Symbol.asyncDispose]()
  })

  for (const [query, expected] of WHOLE) {
    it(JSON.stringify(query), async () => {
      const { status, body } = await engine.handle('GET', '/v1/things', query)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        (body.things as { code: unknown }[]).map(({ code }) => code),
        expected,
      )
    })
  }
})

describe('JSON values of related records on PostgreSQL', { skip: NO_SERVER }, () => {
  it('are sorted by: numbers before texts, nothing first', async () => {
    await using schema = ownSchema()
    const values = [['b', 2], ['a'], [], [10, 'z'], [null, {}]]
    await using engine = await RestEngine.create({
      entities: [Owner, Thing],
      database: schema.database,
      seed: {
        owners: values.map((_, index) => ({ id: index + 1 })),
        things: values.flatMap((each, index) => each.map(n => ({ data: { n }, owner: index + 1 }))),
      },
    })
    const sorted = async (sort: string): Promise<number[]> =>
      ((await engine.handle('GET', '/v1/owners', { sort })).body.owners as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(await sorted('things.data.n'), [3, 5, 1, 4, 2])
    assert.deepEqual(await sorted('things.data.n.desc'), [4, 1, 2, 3, 5])
  })
})
