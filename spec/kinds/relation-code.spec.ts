/** Code of entities about relations: serializers of them, and getters that read them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Collection, EntitySchema } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

class Author {
  declare id: number
  declare name: string
  books = new Collection<Book>(this)
  get shelf(): string {
    return `${this.name} has ${this.books.length}`
  }
}
class Book {
  declare id: number
  declare author: Author | null
  declare editor: Author
  get byline(): string {
    return this.author === null ? 'anonymous' : `by ${this.author.id}`
  }
  get loud(): string {
    return this.editor.name.toUpperCase()
  }
}
const ID = { type: 'integer', primary: true } as const
const entities = [
  new EntitySchema<Author>({
    class: Author,
    properties: {
      id: ID,
      name: { type: 'string' },
      books: {
        kind: '1:m',
        entity: () => Book,
        mappedBy: 'author',
        serializer: (books: Collection<Book>) => books.getItems().map(({ id }) => `book ${id}`),
      },
      shelf: { type: 'string', persist: false, getter: true },
    },
  }),
  new EntitySchema<Book>({
    class: Book,
    properties: {
      id: ID,
      author: { kind: 'm:1', entity: () => Author, nullable: true, serializer: (author: Author | null) => author && `author ${author.id}` },
      editor: { kind: 'm:1', entity: () => Author, ref: true, serializer: (editor: { unwrap: () => Author }) => editor.unwrap().name },
      byline: { type: 'string', persist: false, getter: true },
      loud: { type: 'string', persist: false, getter: true },
    },
  }),
]

describeStores('code about relations', () => {
  it('serializers are given what the record shows: keys, or records', async () => {
    await using engine = await createEngine({
      entities,
      seed: {
        authors: [{ id: 1, name: 'Ann' }],
        books: [
          { id: 1, author: 1, editor: 1 },
          { id: 2, author: null, editor: 1 },
        ],
      },
    })
    const { books } = (await engine.handle('GET', '/v1/books', { expand: 'editor' })).body as { books: object[] }
    assert.deepEqual(books, [
      { id: 1, author: 'author 1', editor: 'Ann', byline: 'by 1' },
      { id: 2, author: null, editor: 'Ann', byline: 'anonymous' },
    ])
    const { author } = (await engine.handle('GET', '/v1/authors/1')).body as { author: object }
    assert.deepEqual(author, { id: 1, name: 'Ann', books: ['book 1'] })
    const changed = await engine.handle('PUT', '/v1/books/2', undefined, { author: 1 })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const bare = await engine.handle('GET', '/v1/books', { depth: 0 })
    assert.deepEqual((bare.body as { books: object[] }).books, [
      { id: 1, byline: 'by 1' },
      { id: 2, byline: 'by 1' },
    ])
  })

  it('getters that read what a record does not have loaded are left out, which a note says', async () => {
    await using engine = await createEngine({ entities })
    assert.deepEqual(
      engine.notes
        .filter(note => note.includes('getter'))
        .map(note => note.split(':')[0]!)
        .toSorted((a, b) => a.localeCompare(b)),
      ['Author.shelf', 'Book.loud'],
    )
    assert.equal((await engine.handle('GET', '/v1/books', { sort: 'loud' })).status, 400)
  })
})
