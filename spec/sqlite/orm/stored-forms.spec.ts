/** Values of a file in other forms than entities write: they are shown, compared as they are shown, and never make a write fail. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../../lib/index.ts'

const Reading = defineEntity({
  name: 'Reading',
  tableName: 'reading',
  properties: {
    id: p.integer().primary(),
    at: p.datetime().nullable(),
    price: p.decimal().precision(10).scale(2).nullable(),
    age: p.integer().nullable(),
    isOpen: p.boolean().nullable(),
    label: p.string().nullable(),
  },
})

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-stored-'))
const path = join(folder, 'readings.sqlite')
let engine: RestEngine

async function ids(query: Record<string, string>): Promise<number[]> {
  const { status, body } = await engine.handle('GET', '/v1/readings', { ...query, attributes: 'id' })
  assert.equal(status, 200, JSON.stringify(body))
  return (body['readings'] as { id: number }[]).map(({ id }) => id)
}

describe('stored forms', () => {
  before(async () => {
    const db = new Database(path)
    db.exec(`create table reading (id integer primary key, at datetime, price numeric(10, 2), age integer, is_open boolean, label text);
      insert into reading (id, at) values (1, '2024-01-01 10:00:00 UTC'), (2, '2024-01-01T12:00:00+02:00'), (3, 1704103200000), (4, 1704103200000.75),
        (5, '2024-01-02'), (6, 1704189600000), (7, 'n/a'), (8, 'Mon, 01 Jan 2024 10:00:00 GMT');
      insert into reading (id, price) values (11, 1.005), (12, 2.675), (13, 10.504999), (14, -0.001), (15, 5), (16, 'n/a');
      insert into reading (id, age) values (21, 'n/a'), (22, 1.5), (23, x'ff');
      insert into reading (id, is_open) values (31, 2), (32, 'true'), (33, 1), (34, 'yes');
      insert into reading (id, label) values (41, x'00ff');`)
    db.close()
    engine = await RestEngine.create({ entities: [Reading], schema: 'keep', database: path })
  })
  after(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('compares date-times of all forms as they are shown', async () => {
    const at = '2024-01-01T10:00:00.000Z'
    assert.deepEqual(await ids({ at }), [1, 2, 3, 4])
    assert.deepEqual(await ids({ 'at>=': at }), [1, 2, 3, 4, 5, 6])
    assert.deepEqual(await ids({ 'at>': at }), [5, 6])
    assert.deepEqual(await ids({ 'at<=': at }), [1, 2, 3, 4])
    assert.deepEqual(await ids({ 'at<': '2024-01-02' }), [1, 2, 3, 4])
    assert.deepEqual(await ids({ 'at<': at }), [])
  })

  it('compares date-times of all forms with many', async () => {
    const many = Array.from({ length: 40 }, (_, index) => new Date(Date.UTC(2024, 0, 1, 10, index)).toISOString())
    assert.deepEqual(await ids({ at: many.join() }), [1, 2, 3])
  })

  it('compares decimals as they are shown, rounded', async () => {
    assert.deepEqual(await ids({ price: '1.00' }), [11])
    assert.deepEqual(await ids({ price: '2.67' }), [12])
    assert.deepEqual(await ids({ price: '10.50,0.00' }), [13, 14])
    assert.deepEqual(await ids({ 'price>': '1.00', 'price<': '100' }), [12, 13, 15])
    assert.deepEqual(await ids({ 'price>=': '1.00', 'price<=': '2.67' }), [11, 12])
    assert.deepEqual(await ids({ 'price<': '1.001' }), [11, 14])
    assert.deepEqual(await ids({ 'price>': '2.669', 'price<': '10.505' }), [12, 13, 15])
    assert.deepEqual(await ids({ 'price<': '9'.repeat(350) }), [11, 12, 13, 14, 15])
    assert.deepEqual(await ids({ 'price<': `-${'9'.repeat(390)}` }), [])
    const many = Array.from({ length: 40 }, (_, index) => (index / 2).toFixed(2))
    assert.deepEqual(await ids({ price: many.join() }), [11, 13, 14, 15])
  })

  it('finds what does not fit its column, and refuses a value that no record holds', async () => {
    assert.deepEqual(await ids({ age: 'n/a' }), [21])
    assert.deepEqual(await ids({ age: '1.5' }), [22])
    assert.deepEqual(await ids({ at: 'n/a' }), [7])
    assert.deepEqual(await ids({ price: 'n/a' }), [16])
    assert.deepEqual(await ids({ isOpen: '2' }), [31])
    assert.deepEqual(await ids({ isOpen: 'true' }), [32, 33])
    assert.deepEqual(await ids({ isOpen: 'yes' }), [34])
    for (const query of [{ age: 'x' }, { age: '1,n/a' }, { '!age': 'n/a' }, { 'age>': 'n/a' }, { at: 'yesterday' }]) {
      const { status, body } = await engine.handle('GET', '/v1/readings', query)
      assert.equal(status, 400, JSON.stringify(query))
      assert.equal((body as unknown as { code: string }).code, 'parameter_invalid')
    }
  })

  it('compares a boolean in one form in memory, where nobody else writes, and in two in a file', async () => {
    const parametersOf = async (asked: RestEngine): Promise<readonly unknown[]> =>
      (await asked.explain('GET', '/v1/readings', { isOpen: true })).statements[0]!.parameters.slice(0, -2)
    await using memory = await RestEngine.create({
      entities: [Reading],
      seed: {
        readings: [
          { id: 1, isOpen: true },
          { id: 2, isOpen: false },
        ],
      },
    })
    assert.deepEqual(await parametersOf(memory), [1])
    assert.deepEqual(await parametersOf(engine), [1, 'true'])
    const { body } = await memory.handle('GET', '/v1/readings', { isOpen: 'true', attributes: 'id' })
    assert.deepEqual(body['readings'], [{ id: 1 }])
  })

  it('shows bytes as base64, whatever the column is declared to be', async () => {
    assert.equal((await engine.handle('GET', '/v1/readings/23')).body['reading'].age, '/w==')
    assert.equal((await engine.handle('GET', '/v1/readings/41')).body['reading'].label, 'AP8=')
  })

  it('writes beside a value that MikroORM cannot read, and leaves it as it is', async () => {
    for (const id of [1, 7, 8, 16, 21, 23, 34]) {
      assert.equal((await engine.handle('PUT', `/v1/readings/${id}`, {}, { label: 'seen' })).status, 200)
    }
    const db = new Database(path, { readonly: true })
    const rows = db
      .prepare("select coalesce(at, price, nullif(hex(age), ''), is_open) from reading where label = ? order by id")
      .pluck()
      .all('seen')
    db.close()
    assert.deepEqual(rows, ['2024-01-01 10:00:00 UTC', 'n/a', 'Mon, 01 Jan 2024 10:00:00 GMT', 'n/a', '6E2F61', 'FF', 'yes'])
  })
})
