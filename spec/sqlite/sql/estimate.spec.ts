/**
 * The estimate of a statement's work: ordinary requests run without looks at the clock, and with them where tables are gone through for
 * each other.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../../lib/index.ts'
import { sharedLists } from '../../helpers/shared-lists.ts'
import { watchStatements } from '../../helpers/statements.ts'

type Query = Record<string, string | number | string[]>

async function isLookedAt(engine: RestEngine, path: string, query: Query = {}): Promise<boolean> {
  const { result, sql } = await watchStatements(() => engine.handle('GET', path, query))
  assert.ok(result.status === 200 || result.status === 503, JSON.stringify(result.body))
  return sql.some(text => text.includes('mikro_tick'))
}

const run = async (engine: RestEngine, sql: string): Promise<unknown> => engine.orm.em.getConnection().execute(sql)

const ORDINARY: readonly (readonly [path: string, query: Query])[] = [
  ['/v1/users', { limit: 100, depth: 0 }],
  ['/v1/users', { limit: 100, depth: 1 }],
  ['/v1/users', { limit: 100, depth: 2 }],
  ['/v1/users/7', {}],
  ['/v1/sites', { title: 'site 1*', sort: 'title.desc' }],
  ['/v1/users', { sort: 'sites.desc' }],
  ['/v1/users', { sort: 'sites.title' }],
  ['/v1/users', { sort: 'sites.tags.desc' }],
  ['/v1/sites', { sort: 'tags.name,user.name' }],
  ['/v1/users', { 'sites.title': 'site 5*', sort: 'name' }],
  ['/v1/users', { 'sites.title': 'site 5*', name: 'user 1*' }],
  ['/v1/users', { '!sites.tags.name': 'tag 7', name: 'user 1*' }],
  ['/v1/users/7/sites', { sort: 'tags.desc', title: '*1*' }],
]

describe('an estimate of ordinary requests', () => {
  let engine: RestEngine
  before(async () => (engine = await sharedLists(2000, 10_000, 300, { limits: { timeout: 5000 } })))
  after(() => engine.close())

  for (const [path, query] of ORDINARY)
    it(`lets ${path}?${new URLSearchParams(query as never).toString()} run as it is`, async () =>
      assert.equal(await isLookedAt(engine, path, query), false))
})

describe('an estimate', () => {
  let engine: RestEngine
  before(async () => (engine = await sharedLists(700, 2500, 100, { limits: { timeout: 5000 } })))
  after(() => engine.close())

  it('calls lists of lists costly that are met again and again', async () => {
    assert.equal(await isLookedAt(engine, '/v1/users', { sort: 'sites.tags.sites.desc', limit: 1 }), true)
    assert.equal(await isLookedAt(engine, '/v1/users', { 'sites.tags.sites.title': 'site 1', name: 'user 1*', limit: 1 }), true)
    assert.equal(await isLookedAt(engine, '/v1/tags', { sort: 'sites.user.name', limit: 1 }), false)
  })

  it('knows which indexes there are', async () => {
    await run(engine, 'drop index site_user_id_index')
    assert.equal(await isLookedAt(engine, '/v1/users', { sort: 'sites.desc', limit: 1 }), true)
    await run(engine, 'create index some_index on site (user_id) where id > 0')
    assert.equal(await isLookedAt(engine, '/v1/users', { sort: 'sites.desc', limit: 1 }), true)
    await run(engine, 'create index other_index on site (user_id, title)')
    assert.equal(await isLookedAt(engine, '/v1/users', { sort: 'sites.desc', limit: 1 }), false)
  })

  it('does not trust the index on a link where SQLite may take another one', async () => {
    const query = { 'sites.title': 'site 1', name: 'user 1*', limit: 1 }
    assert.equal(await isLookedAt(engine, '/v1/users', query), false)
    await run(engine, 'create index title_index on site (title)')
    assert.equal(await isLookedAt(engine, '/v1/users', query), true)
    assert.equal(await isLookedAt(engine, '/v1/users', { sort: 'sites.desc', limit: 1 }), false)
  })
})

describe('an estimate of the rows of a table', () => {
  const Note = defineEntity({ name: 'Note', properties: { id: p.bigint('number').primary(), text: p.string() } })

  it('is no more than the database has room for', async () => {
    const notes = Array.from({ length: 100 }, (_, index) => ({ id: 7_000_000_000_000 + index, text: `note ${index}` }))
    await using engine = await RestEngine.create({ entities: [Note], seed: { notes }, limits: { timeout: 5000 } })
    assert.equal(await isLookedAt(engine, '/v1/notes', { sort: 'text' }), false)
  })
})
