/** The option `seed` fills empty tables: a file is started more than once, and has its records once. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'

const Publisher: EntitySchema = defineEntity({
  name: 'Publisher',
  properties: { id: p.integer().primary(), name: p.text().unique() },
})
const Site: EntitySchema = defineEntity({
  name: 'Site',
  properties: { id: p.integer().primary(), url: p.text(), publisher: () => p.manyToOne(Publisher) },
})
const seed = { publishers: [{ id: 1, name: 'Ann' }], sites: [{ url: 'a', publisher: 1 }] }

describe('the seed of a file', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-seed-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const start = (name: string, options: EngineOptions = {}): Promise<RestEngine> =>
    RestEngine.create({ entities: [Publisher, Site], seed, database: join(folder, name), ...options })
  const count = async (engine: RestEngine): Promise<unknown[]> =>
    Promise.all(['publishers', 'sites'].map(async name => (await engine.handle('GET', `/v1/${name}`)).body.count as unknown))

  it('goes in once, with a note at later starts', async () => {
    for (let times = 0; times < 3; times++) {
      await using engine = await start('once.sqlite')
      assert.deepEqual(await count(engine), [1, 1])
      const left = engine.notes.filter(note => note.includes('seed'))
      assert.equal(left.length, times === 0 ? 0 : 2, left.join('\n'))
      if (times > 0) assert.match(left[0]!, /^publishers: the seed is left out, because the table has a row already/)
      // What a reset goes back to is the file as it was at the start.
      await engine.seed({ sites: [{ url: 'b', publisher: 1 }] })
      assert.deepEqual(await count(engine), [1, 2])
      await engine.reset()
      assert.deepEqual(await count(engine), [1, 1])
    }
  })

  it('fills the tables that are empty, beside those that are not', async () => {
    await (await start('some.sqlite', { seed: { publishers: [{ id: 1, name: 'Other' }] } })).close()
    await using engine = await start('some.sqlite')
    assert.deepEqual(await count(engine), [1, 1])
    assert.deepEqual((await engine.handle('GET', '/v1/sites?expand=publisher')).body.sites, [
      { id: 1, url: 'a', publisher: { id: 1, name: 'Other' } },
    ])
    assert.deepEqual(
      engine.notes.filter(note => note.includes('seed')).map(note => note.split(':', 1)[0]),
      ['publishers'],
    )
  })

  it('that refers to a record without an ID says what lacks', async () => {
    const create = RestEngine.create({
      entities: [Publisher, Site],
      seed: { publishers: [{ name: 'x' }], sites: [{ url: 'a', publisher: 1 }] },
    })
    await assert.rejects(create, /"sites\.0\.publisher".* Give the publisher in the seed its "id", so that others can refer to it\./)
  })
})
