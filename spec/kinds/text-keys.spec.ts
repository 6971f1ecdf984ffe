/** Keys that the code takes for texts, and SQLite numbers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const Shop = defineEntity({
  name: 'Shop',
  properties: { id: p.string().primary().autoincrement(), name: p.string(), items: () => p.oneToMany(Item).mappedBy('shop') },
})
// oxlint-disable-next-line typescript/no-explicit-any -- the two refer to each other
const Item: any = defineEntity({
  name: 'Item',
  properties: { id: p.string().primary().autoincrement(), name: p.string(), shop: () => p.manyToOne(Shop).ref().nullable() },
})

async function change(engine: RestEngine): Promise<void> {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
    const given = answer.body as Record<string, unknown>
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(given)}`)
    return given[given['resource'] as string]
  }
  assert.deepEqual(await ask('POST', 'shops', { name: 'a', items: [{ name: 'b' }] }), { id: '1', name: 'a', items: ['1'] })
  assert.deepEqual(await ask('PUT', 'items/1', { name: 'c' }), { id: '1', name: 'c', shop: '1' })
  assert.deepEqual(await ask('PUT', 'shops/1', { items: ['1', { name: 'd' }] }), { id: '1', name: 'a', items: ['1', '2'] })
  assert.deepEqual(await ask('GET', 'items?shop=1&shop.name=a&sort=id.desc&attributes=id'), [{ id: '2' }, { id: '1' }])
  assert.deepEqual(await ask('GET', 'shops?items=2&depth=0'), [{ id: '1', name: 'a' }])
  const shop = await engine.orm.em.fork().findOneOrFail(Shop, '1')
  assert.equal(shop.id, '1')
  await ask('DELETE', 'items/2')
  assert.equal(((await engine.given('items', { shop: {} })) as { shop: string }).shop, '2')
  assert.equal((await engine.handle('GET', '/v1/items/x')).status, 404)
}

describe('keys of text type that SQLite numbers', () => {
  it('are numbers in texts', async () => {
    const failures: unknown[] = []
    await using engine = await RestEngine.create({ entities: [Shop, Item], onError: error => failures.push(error) })
    await change(engine)
    assert.deepEqual(failures, [])
  })

  it('are so in a file that MikroORM has made, whose columns stay as they are', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'text-keys-'))
    try {
      const database = join(folder, 'data.db')
      const orm = await MikroORM.init({ entities: [Shop, Item], dbName: database })
      await orm.schema.create()
      const schema = (): Promise<unknown> => orm.em.getConnection().execute('select sql from sqlite_master order by name')
      const before = await schema()
      await using engine = await RestEngine.create({ entities: [Shop, Item], database })
      await change(engine)
      assert.deepEqual(await schema(), before)
      await orm.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
