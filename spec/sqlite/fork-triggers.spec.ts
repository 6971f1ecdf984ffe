/** Forks share what is found out about model and schema: a fork with another schema than its engine's is looked at again. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string(), color: p.string().nullable() } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })

describe('a fork that records its changes', () => {
  it('knows the columns of its own tables, where its engine and others have more or fewer', async () => {
    await using engine = await RestEngine.create({ entities: [Note, Tag], seed: { notes: [{ text: 'one' }], tags: [{ name: 'a' }] } })
    const write = async (on: RestEngine): Promise<unknown> => {
      assert.equal((await on.handle('PUT', '/v1/tags/1', undefined, { name: `${Math.random()}` })).status, 200)
      return on.requests.at(-1)!.changes?.map(({ resource }) => resource)
    }
    assert.deepEqual(await write(engine), ['tags'])
    await using same = await engine.fork()
    assert.deepEqual(await write(same), ['tags'])

    await using fewer = await engine.fork()
    const connection = fewer.orm.em.getConnection()
    await connection.execute('alter table note drop column color')
    assert.deepEqual(await write(fewer), ['tags'])
    // A trigger that names the column would refuse this.
    await connection.execute("insert into note (text) values ('two')")

    assert.deepEqual(await write(engine), ['tags'])
    await using again = await engine.fork()
    assert.equal((await again.handle('POST', '/v1/notes', undefined, { text: 'three', color: 'red' })).status, 200)
    assert.deepEqual(
      again.requests.at(-1)!.changes?.map(({ resource }) => resource),
      ['notes'],
    )
  })
})
