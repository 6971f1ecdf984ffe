/** Infinity, which a number column can hold and JSON cannot. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Ratio = defineEntity({ name: 'Ratio', properties: { id: p.integer().primary(), low: p.double().nullable(), high: p.double() } })

describeStores('an infinite number in a column', { except: 'SQL' }, () => {
  it('is shown as null, compared and sorted as the number that it is, and left alone by a body that repeats the null', async () => {
    const seed = { ratios: [{ high: 1 }, { high: 2 }, { low: 0, high: 3 }] }
    await using engine = await createEngine({ entities: [Ratio], seed })
    const { em } = engine.orm
    const execute = async (sql: string) => em.getConnection().execute(sql)
    await execute('update ratio set low = -9e999, high = 9e999 where id = 1')
    const list = async (query: string) =>
      (await engine.handle('GET', `/v1/ratios?${query}`)).body.ratios.map(({ id }: { id: number }) => id)
    assert.deepEqual((await engine.handle('GET', '/v1/ratios/1')).body.ratio, { id: 1, low: null, high: null })
    assert.deepEqual(await list('high>=100'), [1])
    assert.deepEqual(await list('low<0'), [1])
    assert.deepEqual(await list('low=null'), [2])
    assert.deepEqual(await list('sort=high.desc'), [1, 3, 2])
    const put = await engine.handle('PUT', '/v1/ratios/1', undefined, { id: 1, low: null, high: null })
    assert.deepEqual([put.status, put.body.ratio], [200, { id: 1, low: null, high: null }])
    assert.deepEqual(await execute('select low, high from ratio where id = 1'), [{ low: -Infinity, high: Infinity }])
    const other = await engine.handle('PUT', '/v1/ratios/2', undefined, { high: null })
    assert.equal(other.status, 422)
  })
})

describeStores('A list of numbers', { except: 'column types' }, () => {
  it('refuses what is no number, and leaves what a file holds instead as it is', async () => {
    const Row = defineEntity({
      name: 'Row',
      properties: { id: p.integer().primary(), list: p.array(Number).$type<number[]>().nullable() },
    })
    await using engine = await createEngine({ entities: [Row] })
    for (const list of [['x'], [null], [{}], 'x', [[1]]])
      assert.equal((await engine.handle('POST', '/v1/rows', '', { list })).status, 422, JSON.stringify(list))
    assert.equal((await engine.handle('POST', '/v1/rows', '', { list: [1.5, -2] })).status, 200)
    await engine.orm.em.getConnection().execute(`update row set list = 'x,1'`)
    const { status, body } = await engine.handle('GET', '/v1/rows')
    assert.deepEqual([status, body.rows], [200, [{ id: 1, list: 'x,1' }]])
  })
})

describeStores('a getter or serializer that gives a number that JSON does not have', () => {
  it('shows null in its place, as JSON.stringify does', async () => {
    class Average {
      declare id: number
      declare sum: number
      declare count: number
      get mean(): number {
        return this.sum / this.count
      }
      get stats(): object {
        return { mean: this.mean, parts: [this.sum, this.count / 0] }
      }
    }
    const AverageSchema = defineEntity({
      name: 'Average',
      class: Average,
      properties: {
        id: p.integer().primary(),
        sum: p.integer(),
        count: p.integer().serializer(count => 1 / count),
        mean: p.double().persist(false).getter(),
        stats: p.json().persist(false).getter(),
      },
    } as never)
    await using engine = await createEngine({ entities: [AverageSchema] })
    const made = await engine.handle('POST', '/v1/averages', undefined, { sum: 0, count: 0 })
    const average = { id: 1, sum: 0, count: null, mean: null, stats: { mean: null, parts: [0, null] } }
    assert.deepEqual([made.status, made.body.average], [200, average])
    assert.deepEqual((await engine.handle('GET', '/v1/averages')).body.averages, [average])
  })
})
