/** A library of books, and what is asked of it in three grammars: the same code runs in a page with a strict policy and on Node. */
import { defineEntity, p, type Options } from '@mikro-orm/core'
import type * as library from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { postgrest } from '../../lib/wires/postgrest/index.ts'

export type CompiledFunctions = NonNullable<Options['compiledFunctions']>

const Author = defineEntity({
  name: 'Author',
  properties: () => ({
    id: p.integer().primary(),
    name: p.string(),
    born: p.date().nullable(),
    isAlive: p.boolean(),
    home: () => p.embedded(Place).nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  }),
})
const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string().nullable(), country: p.string().nullable() } })
const Book = defineEntity({
  name: 'Book',
  properties: () => ({
    id: p.integer().primary(),
    title: p.string(),
    price: p.decimal().precision(8).scale(2).nullable(),
    printed: p.datetime().nullable(),
    details: p.json<Record<string, unknown>>().nullable(),
    author: () => p.manyToOne(Author),
    tags: () => p.manyToMany(Tag),
  }),
})
const Tag = defineEntity({
  name: 'Tag',
  properties: () => ({ id: p.integer().primary(), name: p.string(), books: () => p.manyToMany(Book).mappedBy('tags') }),
})

export const ENTITIES = [Author, Place, Book, Tag]

const OPTIONS = {
  entities: ENTITIES,
  clock: () => new Date('2026-01-02T03:04:05.678Z'),
  seed: {
    tags: [
      { id: 1, name: 'old' },
      { id: 2, name: '__proto__' },
    ],
    authors: [
      {
        id: 1,
        name: 'Ann',
        born: '1970-01-31',
        isAlive: true,
        home: { city: 'Rome' },
        books: [
          { title: 'First', price: '12.50', printed: '2020-01-01T00:00:00.000Z', details: { pages: [1, 2] }, tags: [1, 2] },
          { title: 'Second' },
        ],
      },
      { id: 2, name: 'Bob', isAlive: false },
    ],
  },
}

const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/v1/authors?expand=books.tags&sort=name.desc'],
  ['GET', '/v1/books?price>=10&depth=2'],
  ['GET', '/v1/authors/1/books?attributes=title,author.name'],
  ['POST', '/v1/authors', { name: 'Cy', isAlive: true, home: null, books: [{ title: 'Third', tags: [2] }] }],
  ['PATCH', '/v1/books/1', { tags: [2], price: '1.00', author: 2 }],
  ['PUT', '/v1/authors/2/books', [1, { title: 'Fourth' }]],
  ['POST', '/v1/tags', [{ name: 'a' }, { name: 'b' }]],
  ['POST', '/v1/books', { title: 1 }],
  ['DELETE', '/v1/books/2'],
]

const FOREIGN: readonly (readonly [wire: library.Wire, paths: readonly string[]])[] = [
  [jsonServer(), ['/authors?_embed=books&_sort=-name', '/books?_expand=author', '/books/1?_embed=author', '/db']],
  [
    postgrest(),
    ['/author?select=name,born,books:book(title,tag(name))', '/book?select=*,...author(writer:name)', '/book?select=count(),author_id'],
  ],
]

/** Gives the answers as texts, then what the unit of work says. */
export async function askLibrary({ RestEngine }: Pick<typeof library, 'RestEngine'>): Promise<string[]> {
  const answers: string[] = []
  const engine = await RestEngine.create(OPTIONS)
  for (const [method, path, body] of REQUESTS) {
    const answer = await engine.handle(method, path, undefined, body)
    answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  answers.push(JSON.stringify(engine.requests.map(({ changes }) => changes)))
  await engine.close()
  for (const [wire, paths] of FOREIGN) {
    const foreign = await RestEngine.create({ ...OPTIONS, wire })
    for (const path of paths) {
      const answer = await foreign.fetch(`http://library.test${path}`)
      answers.push(`${path} ${answer.status} ${await answer.text()}`)
    }
    await foreign.close()
  }
  return answers
}

/** Creates a record where somebody listens. Gives the status, and what was reported. */
export async function askUnitOfWork(
  { RestEngine }: Pick<typeof library, 'RestEngine'>,
  compiledFunctions?: CompiledFunctions,
): Promise<readonly [status: number, report: string]> {
  let report = ''
  const engine = await RestEngine.create({
    entities: ENTITIES,
    orm: { subscribers: [{ afterFlush: () => {} }], ...(compiledFunctions === undefined ? {} : { compiledFunctions }) },
    onError: error => {
      report = String(error)
    },
  })
  const author = { name: 'Dan', isAlive: true, home: { city: 'Oslo' }, books: [{ title: 'Fifth', price: '1.00', tags: [{ name: 'c' }] }] }
  const { status, body } = await engine.handle('POST', '/v1/authors', { depth: 2 }, author)
  await engine.close()
  return [status, report === '' ? JSON.stringify(body['author']) : report]
}
