/** Examples of a description: a look at the first record of each table, which is kept; never at views, and never at all that there is. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })

describe('the examples of a description', () => {
  it('are read once, by one row of each table', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const examples = async (): Promise<unknown> =>
      ((await engine.openapi({ details: true })).components['schemas'] as Record<string, { examples?: unknown }>)['User']!.examples
    assert.equal(await examples(), undefined)
    await engine.seed({ users: Array.from({ length: 500 }, (_, index) => ({ name: `n${index}` })) })
    assert.deepEqual(await examples(), [{ id: 1, name: 'n0' }])
    await engine.handle('DELETE', '/v1/users/1')
    assert.deepEqual(await examples(), [{ id: 1, name: 'n0' }], 'the look is kept')
    assert.equal((await engine.handle('GET', '/v1/openapi.json')).status, 200)
  })

  it('read no view, whatever that raises or takes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-'))
    try {
      const file = join(folder, 'a.db')
      const db = new Database(file)
      db.exec(`create table user (id integer primary key, name text not null); insert into user (name) values ('Ann');
        create view broken as select id, abs(-9223372036854775808) as n from user;
        create view slow as with recursive c(x) as (select 1 union all select x + 1 from c) select x from c where x < 0;`)
      db.close()
      await using engine = await RestEngine.create({ database: file })
      const { status, body } = await engine.handle('GET', '/v1/openapi.json')
      assert.equal(status, 200)
      assert.ok(!JSON.stringify(body).includes('"Ann"'))
      const { schemas } = (await engine.openapi({ details: true })).components as { schemas: Record<string, { examples?: unknown }> }
      assert.deepEqual(schemas['User']!.examples, [{ id: 1, name: 'Ann' }])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('and what a body requires: nothing that a wrapper may give', async () => {
    const create = (_: unknown, next: () => unknown): unknown => next()
    await using engine = await RestEngine.create({ entities: [User], resources: [resource(User, { create: create as never })] })
    const { schemas } = (await engine.openapi({ details: true })).components as { schemas: Record<string, { required?: unknown }> }
    assert.equal(schemas['UserNew']!.required, undefined)
  })
})
