/** A relation to one becomes a relation to many, and the other way round: the links move. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { describeEvolved } from './evolved.ts'

const id = () => p.integer().primary()
const Author = defineEntity({ name: 'Author', properties: { id: id(), name: p.string() } })
const AUTHORS = [
  { id: 1, name: 'Ann' },
  { id: 2, name: 'Bob' },
]
const One = defineEntity({ name: 'Book', properties: { id: id(), title: p.string(), author: () => p.manyToOne(Author).nullable() } })
const ONES = {
  authors: AUTHORS,
  books: [
    { id: 1, title: 'A', author: 1 },
    { id: 2, title: 'B', author: 2 },
    { id: 3, title: 'C' },
  ],
}
const Many = defineEntity({ name: 'Book', properties: { id: id(), title: p.string(), authors: () => p.manyToMany(Author) } })
const MANIES = {
  authors: AUTHORS,
  books: [
    { id: 1, title: 'A', authors: [2] },
    { id: 2, title: 'B', authors: [1] },
  ],
}

describeEvolved('links', make => {
  it('move from a column into a table of links, from either side; a second start moves nothing', async () => {
    await using own = make()
    await own.evolve([Author, One], { seed: ONES })
    await own.evolve([Author, Many])
    const links = 'select book_id, author_id from book_authors order by 1'
    assert.deepEqual(await own.rows(links), [
      { book_id: 1, author_id: 1 },
      { book_id: 2, author_id: 2 },
    ])
    await own.run('delete from book_authors')
    assert.deepEqual(await own.evolve([Author, Many]), [])
    assert.deepEqual(await own.rows(links), [])

    await using other = make()
    await other.evolve([Author, One], { seed: ONES })
    const Book = defineEntity({ name: 'Book', properties: { id: id(), title: p.string() } })
    const Writer = defineEntity({ name: 'Author', properties: { id: id(), name: p.string(), books: () => p.manyToMany(Book) } })
    await other.evolve([Book, Writer], { drop: ['book.author'] })
    assert.deepEqual(await other.rows('select author_id, book_id from author_books order by 1'), [
      { author_id: 1, book_id: 1 },
      { author_id: 2, book_id: 2 },
    ])
    assert.deepEqual(Object.keys((await other.rows('select * from book'))[0]), ['id', 'title'])
  })

  it('move from a table of links into a column, where nobody has two, else it is said who has', async () => {
    await using own = make()
    await own.evolve([Author, Many], { seed: MANIES })
    const Strict = defineEntity({ name: 'Book', properties: { id: id(), title: p.string(), author: () => p.manyToOne(Author) } })
    const notes = await own.evolve([Author, Strict])
    assert.ok(
      notes.some(note => note.includes('2 rows get the links of "book_authors".')),
      notes.join('\n'),
    )
    assert.deepEqual(await own.rows('select id, author_id from book order by id'), [
      { id: 1, author_id: 2 },
      { id: 2, author_id: 1 },
    ])
    assert.deepEqual(await own.evolve([Author, Strict]), [])

    await using several = make()
    await several.evolve([Author, Many], {
      seed: {
        authors: AUTHORS,
        books: [
          { id: 7, title: 'A', authors: [1, 2] },
          { id: 8, title: 'B', authors: [1] },
          { id: 9, title: 'C' },
        ],
      },
    })
    await several.refuse(
      [Author, One],
      {},
      'book.author_id takes one link, and "book_authors" has several for 1 row: 7 (1, 2)',
      'fill: { book: { author: row => ... } }',
    )
    await several.run('delete from book_authors where book_id = 7 and author_id = 2')
    await several.refuse([Author, Strict], {}, '"the links of book_authors" gives nothing in 1 row (id 9)')
    await several.evolve([Author, One])
    assert.deepEqual(await several.rows('select id, author_id from book order by id'), [
      { id: 7, author_id: 1 },
      { id: 8, author_id: 1 },
      { id: 9, author_id: null },
    ])
  })

  it('move with an entity that gets another name in the same step', async () => {
    await using own = make()
    await own.evolve([Author, Many], { seed: MANIES })
    const Novel = defineEntity({
      name: 'Novel',
      properties: { id: id(), title: p.string(), writer: () => p.manyToOne(Author).nullable() },
    })
    const entities = { Book: 'Novel' }
    await own.refuse(
      [Author, Novel],
      { renamed: { entities }, drop: true },
      'if "writer" takes the links of "book_authors", say renamed: { novel: { authors: \'writer\' } }',
    )
    await own.evolve([Author, Novel], { renamed: { entities, novels: { authors: 'writer' } } })
    assert.deepEqual(await own.rows('select id, writer_id from novel order by id'), [
      { id: 1, writer_id: 2 },
      { id: 2, writer_id: 1 },
    ])
  })

  it('do not move between names that are not alike, unless renamed says so', async () => {
    await using own = make()
    const Task = defineEntity({ name: 'Task', properties: { id: id(), assignee: () => p.manyToOne(Author).nullable() } })
    await own.evolve([Author, Task], { seed: { authors: AUTHORS, tasks: [{ id: 1, assignee: 2 }] } })
    const Watched = defineEntity({ name: 'Task', properties: { id: id(), watchers: () => p.manyToMany(Author) } })
    await own.refuse(
      [Author, Watched],
      { drop: true },
      'if "watchers" takes the links of task.assignee_id, say renamed: { task: { assignee: \'watchers\' } } (--rename task.assignee=watchers)',
    )
    const options = { renamed: { tasks: { assignee: 'watchers' } } }
    await own.evolve([Author, Watched], options)
    assert.deepEqual(await own.rows('select task_id, author_id from task_watchers'), [{ task_id: 1, author_id: 2 }])
    assert.deepEqual(await own.evolve([Author, Watched], options), [])

    await own.evolve([Author, Watched], { ...options, drop: ['task.assignee'] })
    const Back = defineEntity({ name: 'Task', properties: { id: id(), owner: () => p.manyToOne(Author).nullable() } })
    await own.refuse(
      [Author, Back],
      { drop: true },
      'if "owner" takes the links of "task_watchers", say renamed: { task: { watchers: \'owner\' } }',
    )
    await own.evolve([Author, Back], { renamed: { tasks: { watchers: 'owner' } } })
    assert.deepEqual(await own.rows('select id, owner_id from task'), [{ id: 1, owner_id: 2 }])
  })
})
