/** Members that a list is to lose: which of them a refusal names does not depend on the order in which a database has them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Shelf = defineEntity({
  name: 'Shelf',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    books: () => p.oneToMany(Book).mappedBy('shelf'),
    cards: () => p.oneToMany(Card).mappedBy('shelf'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { isbn: p.string().primary(), shelf: () => p.manyToOne(Shelf) },
})
const Card = defineEntity({
  name: 'Card',
  properties: { id: p.bigint().primary(), shelf: () => p.manyToOne(Shelf) },
})

const seed = {
  shelves: [{ id: 1 }, { id: 2 }],
  books: [
    { isbn: 'm', shelf: 1 },
    { isbn: 'z', shelf: 1 },
    { isbn: 'a', shelf: 1 },
  ],
  cards: [
    { id: '30', shelf: 1 },
    { id: '9007199254740993', shelf: 1 },
    { id: '4', shelf: 1 },
  ],
}

describeStores('a list that may not lose its members', () => {
  it('is refused with the first of them by its key', async () => {
    await using engine = await createEngine({ entities: [Shelf, Book, Card], seed })
    const refused = async (path: string, body: unknown): Promise<string> => {
      const answer = await engine.handle('PUT', path, undefined, body)
      assert.equal(answer.status, 409, JSON.stringify(answer.body))
      return (answer.body as { detail: string }).detail
    }
    assert.match(await refused('/v1/shelves/1', { name: 'x', books: [] }), /the book a would be left/)
    assert.match(await refused('/v1/shelves/1', { name: 'x', books: ['a'] }), /the book m would be left/)
    assert.match(await refused('/v1/shelves/1/books', []), /the book a would be left/)
    assert.match(await refused('/v1/shelves/1/cards', []), /the card 4 would be left/)
    assert.match(await refused('/v1/shelves/1/cards', ['4']), /the card 30 would be left/)
    assert.match(await refused('/v1/shelves/1/cards', ['4', 30]), /the card 9007199254740993 would be left/)
  })
})
