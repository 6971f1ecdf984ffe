/**
 * Pages of large tables that are read and counted by one statement: the same records in the same order as in the whole list, and the same
 * counts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import { RestEngine, resource } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { watchStatements } from '../helpers/statements.ts'

const SIZE = 6000

const Team = defineEntity({ name: 'Team', properties: { id: p.integer().primary(), name: p.string() } })
const MemberEntity = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    nick: p.string().columnType('text collate nocase').nullable(),
    rank: p.integer().nullable().index(),
    size: p.decimal('string').precision(12).scale(3),
    born: p.datetime().nullable(),
    active: p.boolean(),
    s0: p.integer(),
    double: p.integer().formula(columns => `${columns.rank} * 2`),
    meta: p.json().nullable(),
    team: () => p.manyToOne(Team).nullable(),
  },
})

type Records = readonly Record<string, unknown>[]
type Query = Readonly<Record<string, string | number>>

interface Member {
  readonly name: string
  readonly nick: string | null
  readonly active: boolean
  readonly s0: number
  readonly team: number | null
}

/** Filters that no index serves, and what they mean. */
const FILTERS: readonly (readonly [name: string, value: string, meets: (record: Member) => boolean])[] = [
  ['name', 'm1*', ({ name }) => name.startsWith('m1')],
  ['name', '*17*', ({ name }) => name.includes('17')],
  ['!name', '*1*', ({ name }) => !name.includes('1')],
  ['active', 'false', ({ active }) => !active],
  ['s0>=', '130', ({ s0 }) => s0 >= 130],
  ['s0', '3,5,7', ({ s0 }) => [3, 5, 7].includes(s0)],
  ['nick', 'null', ({ nick }) => nick === null],
  ['team.name', 'a', ({ team }) => team === 2 || team === 4],
  ['name', 'nobody', () => false],
]

const SORTS = ['name', 'nick', 'rank', 'size', 'born', 'active', 's0', 'double', 'meta.k', 'team', 'team.name']

const ask = async (engine: RestEngine, query: Query): Promise<{ members: Records; count: number }> => {
  const { status, body } = await engine.handle('GET', '/v1/members', query)
  assert.equal(status, 200, JSON.stringify(body))
  return body as never
}

describe('a page that is counted with its rows', () => {
  let engine: RestEngine
  const whole = new Map<string, Promise<Records>>()
  /** The whole list in an order, without a filter: nothing is counted then. */
  const sorted = (sort: string): Promise<Records> => {
    let list = whole.get(sort)
    if (list === undefined) whole.set(sort, (list = ask(engine, { sort, limit: SIZE, depth: 1 }).then(({ members }) => members)))
    return list
  }
  const expected = async (filters: readonly number[], sort: string): Promise<Records> =>
    (await sorted(sort)).filter(record => filters.every(filter => FILTERS[filter]![2](record as unknown as Member)))

  before(async () => {
    engine = await RestEngine.create({
      entities: [Team, MemberEntity],
      limits: { maxLimit: SIZE },
      resources: [resource(MemberEntity, { scope: ctx => (ctx.headers['x-few'] === undefined ? {} : { s0: { $lte: 3 } }) })],
    })
    const execute = (text: string): Promise<unknown> => engine.orm.em.fork().getConnection().execute(text)
    await execute("insert into team values (1, 'b'), (2, 'a'), (3, 'c'), (4, 'a'), (5, 'd')")
    await execute(`insert into member (id, name, nick, rank, size, born, active, s0, meta, team_id)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${SIZE})
      select i, 'm' || (i * 7919 % 2000), nullif(char(65 + i % 26 + 32 * (i % 2)), 'A'), nullif(i * 31 % 40, 7), printf('%.3f', i * 13 % 700 / 8.0),
        nullif(1735689600000 + i * 7919 % 5003 * 1000, 1735689600000), i % 9 > 0, i * 101 % 151, json_object('k', i % 9), nullif(i % 6, 0) from n`)
  })
  after(() => engine.close())

  const queryArb = fc.record({
    filters: fc.uniqueArray(fc.nat(FILTERS.length - 1), { minLength: 1, maxLength: 2, selector: filter => FILTERS[filter]![0] }),
    sort: fc
      .uniqueArray(fc.constantFrom(...SORTS), { minLength: 1, maxLength: 2 })
      .chain(keys => fc.tuple(...keys.map(key => fc.constantFrom(key, `${key}.desc`))))
      .map(keys => keys.join()),
    limit: fc.constantFrom(1, 7, 100, 400),
    offset: fc.constantFrom(0, 0, 0, 3, 90, 600, 999),
  })
  const toQuery = (filters: readonly number[]): Query =>
    Object.fromEntries(filters.map(filter => [FILTERS[filter]![0], FILTERS[filter]![1]]))

  it('has the records of the whole list, and their number', async () => {
    let counted = 0
    await check(
      fc.asyncProperty(queryArb, async ({ filters, sort, limit, offset }) => {
        const all = await expected(filters, sort)
        const { result, sql } = await watchStatements(() => ask(engine, { ...toQuery(filters), sort, limit, offset, depth: 1 }))
        if (sql.some(text => text.includes('mikro_found'))) counted++
        assert.deepEqual(result.members, all.slice(offset, offset + limit))
        assert.equal(result.count, all.length)
      }),
      { label: 'counted pages', runs: 150 },
    )
    assert.ok(counted > 10, `${counted} pages were counted`)
  })

  it('shows records of which nothing is shown', async () => {
    const query = { s0: 3, sort: 'name', attributes: 'team', depth: 0, limit: 2 }
    const { result, sql } = await watchStatements(() => ask(engine, query))
    assert.ok(sql.some(text => text.includes('mikro_found')))
    assert.deepEqual(result.members, [{}, {}])
    assert.equal(result.count, (await ask(engine, { s0: 3, limit: 0 })).count)
  })

  const statementsOf = async (query: Query, headers = {}): Promise<readonly string[]> => {
    const { sql } = await watchStatements(() => engine.handle('GET', '/v1/members', query, undefined, { headers }))
    return sql.filter(text => text.startsWith('select t') || text.startsWith('select count') || text.startsWith('with'))
  }

  it('is one statement where few match, also of those that exist for the caller', async () => {
    assert.equal((await statementsOf({ name: '*17*', sort: 'size', limit: 5, depth: 0 })).length, 1)
    assert.equal((await statementsOf({ sort: 'size', limit: 5, depth: 0 }, { 'x-few': '1' })).length, 1)
    const { body } = await engine.handle('GET', '/v1/members', { sort: 'size', limit: 5, depth: 0 }, undefined, {
      headers: { 'x-few': '1' },
    })
    const all = (await sorted('size')).filter(({ s0 }) => (s0 as number) <= 3)
    assert.equal((body as { count: number }).count, all.length)
  })

  it('is two statements as ever where many have matched, until few have matched some times', async () => {
    const many = { '!name': 'm1*', sort: 'born.desc', limit: 5, depth: 0 }
    const few = { ...many, '!name': 'm*' }
    assert.equal((await statementsOf(many)).length, 3)
    for (let time = 0; time < 3; time++) {
      assert.equal((await statementsOf(many)).length, 2)
      assert.equal((await statementsOf(few)).length, 1)
    }
    assert.match((await statementsOf(many))[0]!, /^select/)
    for (let time = 0; time < 3; time++) assert.match((await statementsOf(few))[0]!, /^select/)
    assert.match((await statementsOf(few))[0]!, /^with/)
  })

  it('is not tried where an index finds the rows, where the order is that of the key, or where the table is small', async () => {
    const isTried = async (query: Query): Promise<boolean> => (await statementsOf(query)).some(text => text.startsWith('with'))
    assert.equal(await isTried({ name: '*17*', sort: 'size,name', limit: 5 }), true)
    assert.equal(await isTried({ rank: 5, sort: 'size', limit: 5 }), false)
    assert.equal(await isTried({ name: '*17*', sort: 'id.desc', limit: 5 }), false)
    const { sql } = await watchStatements(() => engine.handle('GET', '/v1/teams', { name: 'a', sort: 'name', limit: 1 }))
    assert.ok(!sql.some(text => text.startsWith('with')))
  })

  it('is explained as it runs', async () => {
    const { statements, hints } = await engine.explain('GET', '/v1/members?name=m17&sort=born,name&limit=2&depth=0')
    assert.deepEqual(
      statements.map(({ sql, rows }) => [sql.slice(0, 18), rows]),
      [['with "mikro_found"', 2]],
    )
    const [coroutine] = statements[0]!.plan
    const [materialize] = coroutine!.children
    assert.deepEqual(materialize!.children, [{ detail: 'SCAN t1', table: 'member', rows: SIZE, isCostly: true, children: [] }])
    assert.deepEqual(
      hints.map(({ sql }) => sql),
      ['create index "member_name_index" on "member" ("name")'],
    )
  })
})
