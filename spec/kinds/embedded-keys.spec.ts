/** Relations inside lists of embedded objects: the keys that they hold. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores, parseColumn } from '../helpers/stores.ts'

const Item = defineEntity({ name: 'Item', properties: { id: p.integer().primary(), name: p.string() } })
const Note = defineEntity({ name: 'Note', embeddable: true, properties: { about: () => p.manyToOne(Item).nullable() } })
const Line = defineEntity({
  name: 'Line',
  embeddable: true,
  properties: { item: () => p.manyToOne(Item).ref(), amount: p.integer(), note: () => p.embedded(Note).object().nullable() },
})
const Cart = defineEntity({ name: 'Cart', properties: { id: p.integer().primary(), lines: () => p.embedded(Line).array() } })

describeStores('relations inside lists of embedded objects', () => {
  it('are shown and taken as IDs, and are references for the code of the app', async () => {
    await using engine = await createEngine({
      entities: [Cart, Item],
      seed: { items: [1, 2].map(id => ({ id, name: `Item ${id}` })) },
    })
    const lines = [
      { item: 1, amount: 3, note: { about: 2 } },
      { item: 2, amount: 1, note: null },
    ]
    const made = await engine.handle('POST', '/v1/carts', undefined, { lines })
    assert.deepEqual((made.body as { cart: object }).cart, { id: 1, lines }, JSON.stringify(made.body))
    const stored = await engine.orm.em.getConnection().execute('select lines from cart')
    assert.deepEqual(parseColumn((stored as { lines: string }[])[0]!.lines), [
      { item_id: 1, amount: 3, note: { about_id: 2 } },
      { item_id: 2, amount: 1, note: null },
    ])
    const cart = await engine.orm.em.fork().findOneOrFail(Cart, 1)
    assert.equal(cart.lines[0]!.item.id, 1)
    const changed = await engine.handle('PUT', '/v1/carts/1', undefined, { lines: [lines[1]] })
    assert.deepEqual((changed.body as { cart: object }).cart, { id: 1, lines: [lines[1]] }, JSON.stringify(changed.body))
    const refused = await engine.handle('PUT', '/v1/carts/1', undefined, { lines: [{ item: 'x', amount: 1 }] })
    assert.equal(refused.status, 422)
    assert.deepEqual(
      (refused.body as { errors: { attribute: string }[] }).errors.map(({ attribute }) => attribute),
      ['lines.0.item'],
    )
  })
})
