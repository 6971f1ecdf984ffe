/** Pages from far into a list, which are found by way of their keys: the same records in the same order as in the whole list. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import { RestEngine, resource } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

const SIZE = 3000

const Team = defineEntity({
  name: 'Team',
  properties: { id: p.integer().primary(), name: p.string(), members: () => p.oneToMany(Member).mappedBy('team') },
})
const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    rank: p.integer().nullable().index(),
    active: p.boolean(),
    meta: p.json().nullable(),
    team: () => p.manyToOne(Team).nullable(),
    boss: () => p.manyToOne(Member).nullable(),
    helpers: () => p.oneToMany(Member).mappedBy('boss'),
  },
})
const Note = defineEntity({ name: 'Note', properties: { id: p.uuid().primary(), rank: p.integer() } })

describe('deep pages', () => {
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({
      entities: [Team, Member, Note],
      limits: { maxLimit: SIZE },
      resources: [resource(Team, { scope: ctx => (ctx.headers['x-few'] === undefined ? {} : { id: { $lte: 3 } }) })],
    })
    const execute = (text: string): Promise<unknown> => engine.orm.em.fork().getConnection().execute(text)
    const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${SIZE})`
    await execute("insert into team values (1, 'b'), (2, 'a'), (3, 'c'), (4, 'a'), (5, 'd')")
    await execute(`insert into member (id, name, rank, active, meta, team_id, boss_id) ${numbers}
      select i, 'm' || (i * 7919 % 200), nullif(i * 31 % 40, 7), i % 3 > 0, json_object('k', i % 9), nullif(i % 6, 0), nullif(i * 13 % 100, 0) from n`)
    await execute(`insert into note ${numbers} select printf('%08x-0000-4000-8000-000000000000', i * 7919 % 3001), i % 10 from n`)
  })
  after(() => engine.close())

  const sortKey = fc.constantFrom(
    'id',
    'name',
    'rank',
    'active',
    'team',
    'team.name',
    'helpers',
    'helpers.rank',
    'boss.rank',
    'meta.k',
    'boss.team.name',
  )
  const sort = fc
    .uniqueArray(fc.tuple(sortKey, fc.constantFrom('', '.asc', '.desc')), { minLength: 1, maxLength: 3, selector: ([key]) => key })
    .map(keys => keys.map(key => key.join('')).join())
  const filter = fc.constantFrom('', '&active=true', '&!team=null', '&team.name=a,b,c', '&rank>=3', '&helpers.active=true', '&name=m1*')
  const few = fc.boolean()

  it('are what the whole list has there', () =>
    check(
      fc.asyncProperty(
        sort,
        filter,
        few,
        fc.integer({ min: 990, max: SIZE + 10 }),
        fc.integer({ min: 1, max: 60 }),
        async (by, filtered, isFew, offset, limit) => {
          const ask = async (query: string): Promise<{ members: { id: number }[]; count: number }> => {
            const { status, body } = await engine.handle('GET', `/v1/members?sort=${by}${filtered}&${query}`, undefined, undefined, {
              headers: isFew ? { 'x-few': '1' } : {},
            })
            assert.equal(status, 200, JSON.stringify(body))
            return body
          }
          const whole = await ask(`limit=${SIZE}`)
          const page = await ask(`limit=${limit}&offset=${offset}`)
          assert.deepEqual(page.members, whole.members.slice(offset, offset + limit))
          assert.equal(page.count, whole.count)
        },
      ),
      { label: 'deep pages', runs: 60 },
    ))

  it('of related records are what the list has there', async () => {
    await engine.orm.em.fork().getConnection().execute('update member set team_id = 5 where id > 400')
    const whole = (await engine.handle('GET', `/v1/teams/5/members?sort=rank.desc,name&limit=${SIZE}`)).body.members
    const page = (await engine.handle('GET', '/v1/teams/5/members?sort=rank.desc,name&limit=50&offset=1234')).body.members
    assert.equal(page.length, 50)
    assert.deepEqual(page, whole.slice(1234, 1284))
  })

  it('are found by their keys where that is faster, and only there', async () => {
    const isByKeys = async (path: string): Promise<boolean> => {
      const { statements, status } = await engine.explain('GET', path)
      assert.equal(status, 200)
      return / in \(select \w+\."id" from "\w+" as \w+ (?:where [^(]+ )?order by /.test(statements[0]!.sql)
    }
    assert.equal(await isByKeys('/v1/members?depth=0&sort=rank&offset=1000'), true)
    assert.equal(await isByKeys('/v1/members?depth=0&sort=rank&offset=999'), false)
    assert.equal(await isByKeys('/v1/members?depth=0&offset=2000'), false)
    assert.equal(await isByKeys('/v1/members?depth=0&sort=id.desc&offset=2000'), false)
    // A key that is no rowid may be NULL in a file of somebody else's.
    assert.equal(await isByKeys('/v1/notes?sort=rank&offset=2000'), false)
  })

  it('have hints of their own', async () => {
    await using fork = await engine.fork()
    const hinted = async (): Promise<unknown> =>
      (await fork.explain('GET', '/v1/members?depth=0&sort=name&offset=1500')).hints.map(({ attributes }) => attributes)
    assert.deepEqual(await hinted(), [['name']])
    await fork.orm.em.fork().getConnection().execute('create index names on member (name)')
    assert.deepEqual(await hinted(), [])
  })
})
