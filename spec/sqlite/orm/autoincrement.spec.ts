/** Highest keys: the ID of a deleted record never comes again, whatever the tables of a file are like. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine } from '../../../lib/index.ts'
import type { EngineOptions } from '../../../lib/index.ts'
import { fileOf, rowsOf } from '../introspect/world.ts'

const Plain = defineEntity({ name: 'Plain', properties: { id: p.integer().primary(), name: p.string().nullable() } })
const Big = defineEntity({
  name: 'Big',
  tableName: 'bigs',
  properties: { key: p.bigint().primary().fieldName('id'), name: p.string().nullable() },
})
const Counted = defineEntity({ name: 'Counted', properties: { id: p.integer().primary(), name: p.string().nullable() } })
const Coded = defineEntity({ name: 'Coded', properties: { code: p.string().primary(), name: p.string().nullable() } })
const entities = [Plain, Big, Counted, Coded]

// In an order and spelling of their own, as others write tables.
const SQL = `
  create table plain (name text, id integer primary key);
  create table bigs (id integer not null, name text /* autoincrement */, constraint k primary key (id));
  create table counted (id integer primary key autoincrement, name text);
  create table coded (code text primary key, name text);
  insert into plain (id) values (1), (2);
  insert into bigs (id) values (1), (2);
  insert into counted (id) values (1), (2);
`
const NAMES = ['plains', 'bigs', 'counteds']

async function post(engine: RestEngine, name: string, body: object = {}): Promise<number> {
  const answer = await engine.handle('POST', `/v1/${name}`, undefined, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const { resource, ...record } = answer.body as { resource: string } & Record<string, Record<string, unknown>>
  return Number(record[resource]!['id'] ?? record[resource]!['key'])
}

async function remove(engine: RestEngine, name: string, id: number): Promise<void> {
  assert.equal((await engine.handle('DELETE', `/v1/${name}/${id}`)).status, 200)
}

const KINDS: readonly (readonly [string, () => EngineOptions])[] = [
  ['entities on a file', () => ({ entities, database: fileOf(SQL) })],
  ['entities on a file that they keep', () => ({ entities, database: fileOf(SQL), schema: 'keep' })],
  ['a file without entities', () => ({ database: fileOf(SQL) })],
]

describe('IDs of deleted records', () => {
  for (const [what, options] of KINDS) {
    it(`do not come again: ${what}`, async () => {
      await using engine = await RestEngine.create(options())
      for (const name of NAMES) {
        await remove(engine, name, 2)
        assert.equal(await post(engine, name), 3, 'of a row that was there before')
        await remove(engine, name, 3)
        assert.equal(await post(engine, name), 4, 'of a row of its own')
      }
    })

    it(`do not come again in forks and after a restore, and do after a reset: ${what}`, async () => {
      await using engine = await RestEngine.create(options())
      for (const name of NAMES) {
        await post(engine, name)
        await remove(engine, name, 3)
      }
      const snapshot = await engine.snapshot()
      await using fork = await engine.fork()
      await using later = await engine.fork(snapshot)
      for (const name of NAMES) {
        for (const each of [engine, fork, later]) assert.equal(await post(each, name), 4)
        assert.equal(await post(fork, name), 5, 'each counts by itself')
      }
      await engine.restore(snapshot)
      for (const name of NAMES) assert.equal(await post(engine, name), 4)
      await engine.reset()
      for (const name of NAMES) assert.equal(await post(engine, name), 3, 'IDs go on as after the seed')
      await fork.reset()
      for (const name of NAMES) assert.equal(await post(fork, name), 4, 'a fork goes back to where it was forked')
    })
  }

  it('do not come again when they were given, also by the unit of work', async () => {
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      await using engine = await RestEngine.create({ entities, database: fileOf(SQL), orm: { subscribers } })
      await post(engine, 'plains', { id: 7 })
      await post(engine, 'bigs', { key: '7' })
      for (const name of ['plains', 'bigs']) {
        await remove(engine, name, 7)
        assert.equal(await post(engine, name), 8, name)
      }
    }
  })

  it('do not come again in tables of our own, which count by themselves', async () => {
    await using engine = await RestEngine.create({ entities, seed: { plains: [{}, {}], bigs: [{}, {}] } })
    for (const name of ['plains', 'bigs']) {
      await remove(engine, name, 2)
      assert.equal(await post(engine, name), 3)
    }
  })

  it('leave keys alone that are given, and those of other processes', async () => {
    const database = fileOf(SQL)
    await using engine = await RestEngine.create({ entities, database })
    assert.equal(await post(engine, 'plains', { id: 10 }), 10)
    await remove(engine, 'plains', 10)
    await engine.seed({ plains: [{ name: 'a' }, { id: 20, name: 'b' }, { name: 'c' }], codeds: [{ code: 'x' }] })
    assert.deepEqual(
      rowsOf(database, 'select id, name from plain where id > 2 order by id').map(row => Object.values(row as object)),
      [
        [20, 'b'],
        [21, 'a'],
        [22, 'c'],
      ],
    )
    const other = new Database(database)
    other.exec('insert into plain (id) values (50)')
    assert.equal(await post(engine, 'plains'), 51)
    other.close()
    const em = engine.orm.em.fork()
    const first = em.create(Plain, { name: 'entity' })
    await em.persist(first).flush()
    await em.remove(first).flush()
    const second = em.create(Plain, { name: 'entity' })
    await em.persist(second).flush()
    assert.deepEqual([first.id, second.id], [52, 53], 'the unit of work of the application counts, too')
  })

  it('are exact beyond 2^53 where SQLite counts on', async () => {
    const Huge = defineEntity({ name: 'Huge', properties: { id: p.bigint().primary().autoincrement(), name: p.string() } })
    await using engine = await RestEngine.create({ entities: [Huge] })
    assert.equal((await engine.handle('POST', '/v1/huges', undefined, { id: '9223372036854775803', name: 'a' })).status, 200)
    const { body, headers } = await engine.handle('POST', '/v1/huges', undefined, { name: 'b' })
    assert.deepEqual(body.huge, { id: '9223372036854775804', name: 'b' })
    assert.equal(headers['location'], '/v1/huges/9223372036854775804')
  })

  it('that have reached the last number are refused, not a failure', async () => {
    const Huge = defineEntity({ name: 'Huge', properties: { id: p.bigint().primary().autoincrement(), name: p.string() } })
    for (const orm of [{}, { subscribers: [{ afterFlush: () => {} }] }]) {
      await using engine = await RestEngine.create({ entities: [Huge], orm, seed: { huges: [{ id: '9223372036854775807', name: 'a' }] } })
      const refused = await engine.handle('POST', '/v1/huges', undefined, { name: 'b' })
      assert.deepEqual([refused.status, refused.body.code], [422, 'validation_failed'])
      assert.match(refused.body.detail, /^The keys of the table "huge" have reached the last number/)
      assert.equal((await engine.handle('POST', '/v1/huges', undefined, { id: '5', name: 'c' })).status, 200)
    }
  })

  it('that are shown as numbers are refused beyond 2^53, where two of them would look alike', async () => {
    const last = Number.MAX_SAFE_INTEGER
    const Number53 = defineEntity({
      name: 'Number53',
      tableName: 'numbers',
      properties: { id: p.bigint('number').primary(), name: p.string().nullable() },
    })
    const sql = `${SQL} create table numbers (id integer primary key, name text);`
    const listening = { subscribers: [{ afterFlush: () => {} }] }
    const ways = [{}, { orm: listening }, { database: fileOf(sql) }, { database: fileOf(sql), orm: listening }]
    for (const options of ways) {
      await using engine = await RestEngine.create({ entities: [...entities, Number53], ...options })
      for (const name of ['plains', 'counteds', 'number53s']) {
        await post(engine, name, { id: last - 1 })
        assert.equal(await post(engine, name), last, 'the last one')
        const count = async (): Promise<number> => (await engine.handle('GET', `/v1/${name}`)).body.count as number
        const before = await count()
        for (let time = 0; time < 2; time++) {
          const refused = await engine.handle('POST', `/v1/${name}`, undefined, { name: 'x' })
          assert.deepEqual([refused.status, refused.body.code], [422, 'validation_failed'])
          assert.match(refused.body.detail, /have reached the last number, 9007199254740991: give the record a key that is free\.$/)
        }
        await assert.rejects(engine.seed({ [name]: [{ name: 'x' }, { name: 'y' }] }), /have reached the last number, 9007199254740991/)
        assert.equal(await count(), before)
        assert.equal(await post(engine, name, { id: 70 }), 70)
      }
      await post(engine, 'bigs', { key: String(last) })
      const { body } = await engine.handle('POST', '/v1/bigs', undefined, {})
      assert.equal(body.big.key, '9007199254740992', 'is shown as a text')
    }
  })
})
