/** Generated records of classes that share a table. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EntitySchema, defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'

describe('given of a class with classes below', () => {
  it('makes a record of the class itself, though its discriminator is an enum that names the others too', async () => {
    const Place = defineEntity({
      name: 'Place',
      discriminatorColumn: 'kind',
      discriminatorValue: 'plain',
      properties: { id: p.integer().primary(), kind: p.enum(['plain', 'shop', 'site']), name: p.string() },
    })
    const Shop = defineEntity({ name: 'Shop', extends: Place, discriminatorValue: 'shop', properties: { street: p.string() } })
    const Site = defineEntity({
      name: 'Site',
      extends: Place,
      discriminatorValue: 'site',
      properties: { url: p.string(), key: p.string() },
    })
    await using engine = await RestEngine.create({ entities: [Place, Shop, Site] })
    for (let seed = 1; seed <= 10; seed++) {
      assert.deepEqual(Object.keys(await engine.given('place', {}, { seed })), ['id', 'kind', 'name'])
      assert.equal((await engine.given('site', {}, { seed: seed + 100 }))['kind'], 'site')
    }
    const all = await engine.handle('GET', '/v1/places', { kind: 'plain' })
    assert.equal((all.body as { count: number }).count, 10)
    const shop = await engine.given('place', { kind: 'shop' })
    assert.deepEqual([shop['kind'], typeof shop['street']], ['shop', 'string'])
  })

  it('makes one of the first class below an abstract class in the middle, with what that needs', async () => {
    abstract class Base {
      declare id: number
      declare type: number
    }
    abstract class Middle extends Base {
      declare name: string
    }
    class Leaf extends Middle {
      declare foo: string
    }
    const BaseSchema = new EntitySchema<Base>({
      class: Base,
      abstract: true,
      discriminatorColumn: 'type',
      properties: { id: { type: 'integer', primary: true }, type: { type: 'integer' } },
    })
    const MiddleSchema = new EntitySchema<Middle, Base>({
      class: Middle,
      abstract: true,
      extends: BaseSchema,
      properties: { name: { type: 'string' } },
    })
    const LeafSchema = new EntitySchema<Leaf, Middle>({
      class: Leaf,
      extends: MiddleSchema,
      discriminatorValue: 1,
      properties: { foo: { type: 'string' } },
    })
    await using engine = await RestEngine.create({ entities: [BaseSchema, MiddleSchema, LeafSchema] })
    for (const name of ['base', 'middle', 'leaf']) {
      const record = await engine.given(name)
      assert.deepEqual([record['type'], typeof record['name'], typeof record['foo']], [1, 'string', 'string'], name)
    }
    const made = await engine.handle('POST', '/v1/middles', undefined, { type: 1, name: 'a', foo: 'b' })
    assert.equal(made.status, 200, JSON.stringify(made.body))
  })
})
