/**
 * Values in PostgreSQL: letters without case, finer times than are shown, values that no column can hold, keys of several parts, and what
 * statements say of NULL.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { escapeRegExp } from '../../lib/foundation/base/escape-reg-exp.ts'
import { listCaseClasses } from '../../lib/databases/postgres/sql/case-folding.ts'
import { describeUnstorable, storesAll } from '../../lib/databases/postgres/sql/storable.ts'
import { check } from '../helpers/check.ts'
import { findNoServer } from './server-database.ts'
import { openServerEngine } from './server.ts'
import type { ServerEngine } from './server.ts'

const Letter = defineEntity({ name: 'Letter', properties: { id: p.integer().primary(), text: p.string() } })
const Event = defineEntity({
  name: 'Event',
  properties: { id: p.integer().primary(), at: p.datetime(), note: p.string().nullable(), count: p.integer() },
})
const Row = defineEntity({
  name: 'Row',
  properties: { table: p.string().primary(), number: p.integer().primary(), cells: () => p.oneToMany(Cell).mappedBy('row') },
})
const Cell = defineEntity({ name: 'Cell', properties: { id: p.integer().primary(), row: () => p.manyToOne(Row) } })

const LETTERS = [...listCaseClasses().keys()]
const DAY = Date.UTC(2024, 1, 29)

describe('values in PostgreSQL', { skip: await findNoServer() }, () => {
  let server: ServerEngine
  before(async () => {
    server = await openServerEngine({
      entities: [Letter, Event, Row, Cell],
      seed: {
        letters: LETTERS.map((text, id) => ({ id, text: `<${text}>` })),
        events: Array.from({ length: 50 }, (_, id) => ({
          id,
          at: new Date(DAY + id).toISOString(),
          note: id % 2 === 0 ? null : `n${id}`,
          count: id,
        })),
        rows: [1, 2].flatMap(number => ['a', 'b'].map(table => ({ table, number }))),
        cells: [1, 2, 3, 4, 5].map(id => ({ id, row: `${id % 2 === 0 ? 'a' : 'b'}~${id < 3 ? 1 : 2}` })),
      },
    })
    await server.copy()
  })
  after(() => server?.[Symbol.asyncDispose]())

  async function ids(path: string, query: Record<string, string>): Promise<number[]> {
    const { status, body } = await server.engine.handle('GET', path, { depth: '0', limit: '1000', ...query })
    assert.equal(status, 200, JSON.stringify(body))
    const { resource } = body as { resource: string }
    return (body as Record<string, { id: number }[]>)[resource]!.map(({ id }) => id)
  }

  it('finds letters without case as RegExp does', () =>
    check(
      fc.asyncProperty(fc.constantFrom(...LETTERS), async letter => {
        const expected = LETTERS.flatMap((other, id) => (new RegExp(`^${escapeRegExp(letter)}$`, 'iu').test(other) ? [id] : []))
        assert.deepEqual(await ids('/v1/letters', { 'text~=': `<${letter}>` }), expected, letter)
        assert.deepEqual(await ids('/v1/letters', { 'text~=': `*${letter}>` }), expected, letter)
      }),
      { label: 'letters without case', runs: 60 },
    ))

  it('compares times as they are shown, though a column holds finer ones', async () => {
    await server.client.query(`update event set at = at + interval '0.4 milliseconds' where id = 7`)
    const { body } = await server.engine.handle('GET', '/v1/events/7?depth=0')
    const { at } = (body as { event: { at: string } }).event
    assert.equal(at, new Date(DAY + 7).toISOString())
    assert.deepEqual(await ids('/v1/events', { at }), [7])
    assert.ok((await ids('/v1/events', { at: Array.from({ length: 40 }, (_, n) => new Date(DAY + n).toISOString()).join() })).includes(7))
    const found = async (operator: string): Promise<boolean> => (await ids('/v1/events', { [`at${operator}`]: at })).includes(7)
    assert.deepEqual([await found('>'), await found('<'), await found('>='), await found('<=')], [false, false, true, true])
  })

  it('finds nothing by what no column can hold', async () => {
    assert.deepEqual(await ids('/v1/events', { count: '3000000000' }), [])
    assert.equal((await ids('/v1/events', { 'count<': '3000000000' })).length, 50)
  })

  it('says which values the server does not store', async () => {
    await server.client.query('create temp table probe (integer integer, text text, json jsonb)')
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '\\', '\0'), maxLength: 5 })
    const value = fc.oneof(
      fc.record({
        kind: fc.constant('integer' as const),
        value: fc.oneof(
          fc.integer({ min: 2 ** 31 - 3, max: 2 ** 31 + 3 }),
          fc.integer({ min: -(2 ** 31) - 3, max: 3 - 2 ** 31 }),
          fc.maxSafeInteger(),
        ),
      }),
      fc.record({ kind: fc.constant('text' as const), value: text }),
      fc.record({
        kind: fc.constant('json' as const),
        value: fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.dictionary(text, text, { maxKeys: 2 })),
      }),
    )
    const property = fc.asyncProperty(value, async ({ kind, value }) => {
      const parameter = kind === 'json' ? JSON.stringify(value) : value
      const isStored = await server.client.query(`insert into probe (${kind}) values ($1)`, [parameter]).then(
        () => true,
        () => false,
      )
      assert.equal(describeUnstorable(value, { kind }) === undefined, isStored, JSON.stringify(value))
      assert.ok(isStored || !storesAll({ kind }), `${kind} is asked about`)
    })
    await check(property, { label: 'values that PostgreSQL stores', runs: 300 })
  })

  it('finds what is linked by keys of several parts', async () => {
    const { body } = await server.engine.handle('GET', '/v1/rows')
    assert.deepEqual((body as { rows: unknown }).rows, [
      { table: 'a', number: 1, cells: [2] },
      { table: 'a', number: 2, cells: [4] },
      { table: 'b', number: 1, cells: [1] },
      { table: 'b', number: 2, cells: [3, 5] },
    ])
    const cells = await server.engine.handle('GET', '/v1/cells?depth=2&row=b~2,a~1')
    assert.deepEqual(
      (cells.body as { cells: { id: number; row: { table: string; number: number } }[] }).cells.map(({ id, row }) => [
        id,
        row.table,
        row.number,
      ]),
      [
        [2, 'a', 1],
        [3, 'b', 2],
        [5, 'b', 2],
      ],
    )
  })

  it('says where NULL stands only where it can be', async () => {
    const before = server.statements.length
    await ids('/v1/events', { sort: 'count' })
    await ids('/v1/events', { sort: 'note.desc' })
    const [byCount, byNote] = server.statements.slice(before).filter(sql => sql.includes('limit'))
    assert.match(byCount!, /order by t0\."count", t0\."id" limit/)
    assert.match(byNote!, /order by t0\."note" collate "C" desc nulls last, t0\."id" limit/)
  })
})
