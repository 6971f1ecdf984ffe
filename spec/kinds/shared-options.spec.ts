/** Options of MikroORM that the application gives MikroORM itself, too. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

describe('Options that MikroORM.init was given', () => {
  it('can be given to the engine, and stay as they are', async () => {
    const orm = { discovery: { warnWhenNoEntities: false } }
    const own = await MikroORM.init({ ...orm, entities: [Note], dbName: ':memory:' })
    await own.close(true)
    const before = JSON.stringify(orm)
    await using engine = await RestEngine.create({ entities: [Note], orm, seed: { notes: [{ text: 'a' }] } })
    assert.deepEqual((await engine.handle('GET', '/v1/notes')).body.notes, [{ id: 1, text: 'a' }])
    assert.equal(JSON.stringify(orm), before)
  })
})
