/** engine.seed and the seed option: records by resource name, in any order, in one transaction, validated. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { RestEngine, RestError } from '../../lib/index.ts'
import type { SeedData } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

/** An order for assertions. */
const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1)

const UUID = '00000000-0000-4000-8000-000000000001'

async function record(target: Target, path: string): Promise<Record<string, unknown>> {
  const { status, body } = await target.call('GET', path)
  assert.equal(status, 200, path)
  return body[body.resource] as Record<string, unknown>
}

async function count(engine: RestEngine, resource: string): Promise<number> {
  const { body } = await engine.handle('GET', `/v1/${resource}`, { limit: 0 })
  return (body as { count: number }).count
}

/** The refusal of a seed. */
async function refusal(engine: RestEngine, data: unknown): Promise<RestError> {
  try {
    await engine.seed(data as SeedData)
  } catch (error) {
    assert.ok(error instanceof RestError, String(error))
    return error
  }
  throw new assert.AssertionError({ message: 'the seed was taken' })
}

function faultsOf(error: RestError): string[] {
  return (error.errors ?? []).map(({ attribute, code }) => `${attribute} ${code}`).toSorted()
}

const world = {
  comments: [{ id: 1, text: 'yes', review: '2~1' }],
  reviews: [{ author: 2, number: 1, stars: 4, book: 2 }],
  copies: [{ id: UUID, book: 1, branch: 'N', shelf: 'A%7E1~4' }],
  books: [
    { id: 2, title: 'Two', author: 1, sequelOf: 1, genres: [1, 2], similar: [2, 1] },
    { id: 1, title: 'One', author: 2, genres: [2] },
  ],
  genres: [
    { id: 2, name: 'noir', parent: 1 },
    { id: 1, name: 'crime' },
  ],
  profiles: [{ id: 1, author: 1, website: 'w' }],
  authors: [
    { id: 1, name: 'Ann', email: 'ann@example.test', mentor: 2 },
    { id: 2, name: 'Bob', email: 'bob@example.test', mentor: 1 },
    { id: 3, name: 'Cid', email: 'cid@example.test', mentor: 3 },
  ],
  branches: [{ code: 'N', name: 'North' }],
  shelves: [{ room: 'A~1', number: 4 }],
}

async function assertWorld(target: Target): Promise<void> {
  const ann = await record(target, '/v1/authors/1')
  assert.deepEqual([ann['mentor'], ann['pupils'], ann['profile'], ann['books']], [2, [2], 1, [2]])
  assert.equal((await record(target, '/v1/authors/3'))['mentor'], 3)
  for (const id of [1, 2, 3]) assert.equal((await record(target, `/v1/authors/${id}`))['updatedAt'], null)
  const two = await record(target, '/v1/books/2')
  assert.deepEqual([two['sequelOf'], two['genres'], two['similar'], two['reviews'], two['author']], [1, [1, 2], [1, 2], ['2~1'], 1])
  assert.equal((await record(target, '/v1/books/1'))['sequel'], 2)
  assert.equal((await record(target, '/v1/genres/2'))['parent'], 1)
  assert.equal((await record(target, '/v1/comments/1'))['review'], '2~1')
  const copy = await record(target, `/v1/copies/${UUID}`)
  assert.deepEqual([copy['book'], copy['branch'], copy['shelf']], [1, 'N', 'A%7E1~4'])
}

describeTargets('seed', library, target => {
  it('loads records that refer to each other forwards, backwards, in circles and to themselves', async () => {
    await target.engine.seed(world)
    await assertWorld(target)
  })

  it('loads them in any order', async () => {
    await target.engine.seed(
      Object.fromEntries(
        Object.entries(world)
          .toReversed()
          .map(([name, records]) => [name, records.toReversed()]),
      ),
    )
    await assertWorld(target)
  })

  it('takes records of earlier seeds and requests as known', async () => {
    await target.call('POST', '/v1/authors', undefined, { id: 7, name: 'Eve', email: 'eve@example.test' })
    await target.engine.seed({ books: [{ id: 1, title: 'One', author: 7 }] })
    await target.engine.seed({
      authors: [{ id: 8, name: 'Fay', email: 'fay@example.test', mentor: 7, books: [1] }],
      genres: [{ name: 'g', books: [1] }],
    })
    assert.equal((await record(target, '/v1/books/1'))['author'], 8)
    assert.deepEqual((await record(target, '/v1/genres/1'))['books'], [1])
    assert.deepEqual((await record(target, '/v1/authors/7'))['pupils'], [8])
  })

  it('moves records that are there, beside new ones of the same resource', async () => {
    await target.engine.seed({ authors: [{ id: 1, name: 'A', email: 'a', books: [{ id: 1, title: 'One' }] }] })
    await target.engine.seed({
      authors: [
        { id: 2, name: 'B', email: 'b', books: [1], pupils: [1], mentor: 3 },
        { id: 3, name: 'C', email: 'c' },
      ],
      books: [{ id: 2, title: 'Two', author: 2 }],
    })
    assert.deepEqual((await record(target, '/v1/authors/2'))['books'], [1, 2])
    assert.deepEqual((await record(target, '/v1/authors/1'))['mentor'], 2)
  })

  it('takes every name of a resource, defaults, and records without an ID', async () => {
    await target.engine.seed({ author: [{ name: 'Ann', email: 'a@example.test' }], genres: [{ name: 'x' }, { name: 'y' }] })
    assert.equal((await record(target, '/v1/authors/1'))['role'], 'writer')
    assert.deepEqual(
      (await target.call('GET', '/v1/genres')).body.genres.map(({ name }: { name: string }) => name),
      ['x', 'y'],
    )
    assert.equal((await target.call('POST', '/v1/genres', undefined, { name: 'z' })).body.genre.id, 3)
  })

  it('loads what is nested, and lets others refer to it', async () => {
    await target.engine.seed({
      copies: [{ id: UUID, book: 5 }],
      genres: [{ id: 1, name: 'a', children: [{ id: 2, name: 'b', children: [{ id: 3, name: 'c' }] }] }],
      comments: [{ text: 'hm', review: '4~1' }],
      authors: [
        {
          id: 4,
          name: 'Dee',
          email: 'dee@example.test',
          mentor: { id: 9, name: 'Old', email: 'old@example.test' },
          profile: { website: 'w' },
          books: [{ id: 5, title: 'Nested', author: 4, genres: [3, { name: 'd' }], reviews: [{ author: 9, number: 2, stars: 1 }] }],
          reviews: [{ number: 1, stars: 2, book: 5, comments: [{ text: 'x' }] }],
        },
        { id: 6, name: 'Pupil', email: 'p@example.test', mentor: 9 },
      ],
    })
    assert.deepEqual((await record(target, '/v1/authors/9'))['pupils'], [4, 6])
    const book = await record(target, '/v1/books/5')
    assert.deepEqual(
      [book['author'], book['genres'], (book['reviews'] as unknown[]).toSorted(byText), book['copies']],
      [4, [3, 4], ['4~1', '9~2'], [UUID]],
    )
    assert.equal((await record(target, '/v1/genres/3'))['parent'], 2)
    assert.equal(((await record(target, '/v1/reviews/4~1'))['comments'] as unknown[]).length, 2)
    assert.equal(((await record(target, '/v1/authors/4'))['profile'] as number) > 0, true)
  })

  it('runs what the model does to new records', async () => {
    await target.engine.seed({
      authors: [{ name: 'Ann', email: 'a@example.test' }],
      copies: [],
      books: [{ id: 1, title: 'x', author: { name: 'B', email: 'b' } }],
    })
    assert.match((await record(target, '/v1/authors/1'))['createdAt'] as string, /^\d{4}-/)
    await target.engine.seed({ copies: [{ book: 1 }] })
    assert.equal(await count(target.engine, 'copies'), 1)
  })

  it('loads nothing for nothing', async () => {
    await target.engine.seed({})
    await target.engine.seed({ authors: [] })
    assert.equal(await count(target.engine, 'authors'), 0)
  })

  it('may be called several times at once', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, index) => target.engine.seed({ genres: [{ name: `g${index}` }] })))
    assert.equal(await count(target.engine, 'genres'), 10)
  })

  it('loads many', async () => {
    const authors = Array.from({ length: 300 }, (_, index) => ({
      id: index + 1,
      name: `a${index}`,
      email: `e${index}`,
      mentor: ((index + 7) % 300) + 1,
    }))
    const books = Array.from({ length: 900 }, (_, index) => ({ title: `b${index}`, author: (index % 300) + 1 }))
    await target.engine.seed({ books, authors })
    assert.equal(await count(target.engine, 'books'), 900)
    assert.deepEqual((await record(target, '/v1/authors/8'))['pupils'], [1])
  })
})

describe('a seed that is refused', () => {
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({ ...library, seed: { genres: [{ id: 1, name: 'there' }] } })
  })
  beforeEach(() => engine.reset())
  after(() => engine.close())

  const cases: [what: string, data: unknown, faults: string[]][] = [
    [
      'tells all faults of all records, each with its path',
      {
        authors: [{ name: 'x'.repeat(61) }, { name: 'A', email: 5, nope: 1, books: [{ title: 5 }, { title: 'x', genres: [99] }] }],
        books: [{ title: 'x', author: 99 }],
        genres: [{ name: 'there' }],
      },
      [
        'authors.0.email required',
        'authors.0.name too_long',
        'authors.1.books.0.title value_invalid',
        'authors.1.books.1.genres.0 reference_not_found',
        'authors.1.email value_invalid',
        'authors.1.nope attribute_unknown',
        'books.0.author reference_not_found',
        'genres.0.name not_unique',
      ],
    ],
    ['tells of two records with one unique value', { genres: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] }, ['genres.2.name not_unique']],
    [
      'tells of two records with one ID',
      {
        genres: [
          { id: 5, name: 'a' },
          { id: 5, name: 'b' },
        ],
      },
      ['genres.1.id not_unique'],
    ],
    ['tells of an ID that is taken', { genres: [{ id: 1, name: 'a' }] }, ['genres.0.id not_unique']],
    [
      'tells of two that need one owner each',
      {
        authors: [{ id: 1, name: 'A', email: 'a' }],
        profiles: [{ author: 1 }, { author: 1 }],
      },
      ['profiles.1.author not_unique'],
    ],
    [
      'tells of a reference to another resource of that ID',
      { authors: [{ id: 1, name: 'A', email: 'a', mentor: 2 }], genres: [{ id: 2, name: 'x' }] },
      ['authors.0.mentor reference_not_found'],
    ],
    [
      'tells of computed attributes',
      { books: [{ title: 'x', author: { name: 'A', email: 'a' }, titleLength: 1 }] },
      ['books.0.titleLength read_only'],
    ],
  ]
  for (const [what, data, faults] of cases) {
    it(`${what}, and loads nothing`, async () => {
      const error = await refusal(engine, data)
      assert.deepEqual(faultsOf(error), faults)
      const isUnique = faults.every(fault => fault.endsWith('not_unique'))
      assert.deepEqual([error.status, error.code], isUnique ? [409, 'unique_conflict'] : [422, 'validation_failed'])
      assert.equal(await count(engine, 'authors'), 0)
      assert.equal(await count(engine, 'genres'), 1)
    })
  }

  it('names the resource that was meant', async () => {
    const error = await refusal(engine, { authers: [{ name: 'A' }], genres: [{ name: 'a' }] })
    assert.equal(error.code, 'resource_unknown')
    assert.match(error.message, /"authers".*authors/)
    assert.equal(await count(engine, 'genres'), 1)
  })

  it('names itself, and the record of each error', async () => {
    const author = { name: 'A', email: 'a@example.test' }
    const error = await refusal(engine, { authors: [author, author] })
    assert.equal(error.message, 'seed: "authors.1.email": Another author has this "email" already.')
    assert.equal((await refusal(engine, { genres: [{ name: 5 }] })).message, 'seed: "genres.0.name" must be a string.')
  })

  for (const data of [{ genres: { name: 'a' } }, { genres: 'a' }, { genres: [1] }, { genres: [null] }, { genres: [[]] }]) {
    it(`is one of the wrong form: ${JSON.stringify(data)}`, async () => {
      assert.equal((await refusal(engine, data)).code, 'body_invalid')
    })
  }

  it('leaves the engine as it was', async () => {
    await refusal(engine, { genres: [{ name: 'a' }, { name: 'there' }] })
    await engine.seed({ genres: [{ name: 'a' }] })
    assert.equal(await count(engine, 'genres'), 2)
  })

  it('is every seed once the engine is closed', async () => {
    await engine.close()
    await assert.rejects(engine.seed({ genres: [] }), /closed/)
  })
})

describe('the seed option', () => {
  it('is loaded before create resolves', async () => {
    await using engine = await RestEngine.create({ ...library, seed: world })
    assert.equal(await count(engine, 'authors'), 3)
  })

  it('makes create fail with all faults when it is refused', async () => {
    const creating = RestEngine.create({ ...library, seed: { genres: [{}, { name: 5 }] } })
    await assert.rejects(creating, (error: RestError) => {
      assert.deepEqual(faultsOf(error), ['genres.0.name required', 'genres.1.name value_invalid'])
      return true
    })
  })
})

const Country = defineEntity({ name: 'Country', properties: { code: p.string().primary(), capital: () => p.oneToOne(City).nullable() } })
const City = defineEntity({
  name: 'City',
  properties: {
    country: () => p.manyToOne(Country).primary(),
    name: p.string().primary(),
    streets: () => p.oneToMany(Street).mappedBy('city'),
  },
})
const Street = defineEntity({
  name: 'Street',
  properties: { city: () => p.manyToOne(City).primary(), name: p.string().primary(), houses: () => p.oneToMany(House).mappedBy('street') },
})
const House = defineEntity({ name: 'House', properties: { street: () => p.manyToOne(Street).primary(), number: p.integer().primary() } })

describeTargets('seed of keys within keys', { entities: [Country, City, Street, House] }, target => {
  it('finds the order, whatever the order of the records', async () => {
    await target.engine.seed({
      houses: [{ street: 'de~Bonn~High', number: 1 }],
      streets: [{ city: 'de~Bonn', name: 'High' }],
      cities: [{ country: 'de', name: 'Bonn' }],
      countries: [{ code: 'de', capital: 'de~Bonn' }],
    })
    assert.deepEqual(await record(target, '/v1/houses/de~Bonn~High~1'), { street: 'de~Bonn~High', number: 1 })
    assert.equal((await record(target, '/v1/countries/de'))['capital'], 'de~Bonn')
  })

  it('takes the key of nested records from where they stand', async () => {
    await target.engine.seed({
      houses: [{ street: 'fr~Lyon~Low', number: 2 }],
      cities: [{ country: { code: 'fr' }, name: 'Lyon', streets: [{ name: 'Low', houses: [{ number: 1 }] }] }],
    })
    assert.deepEqual((await record(target, '/v1/streets/fr~Lyon~Low'))['houses'], ['fr~Lyon~Low~1', 'fr~Lyon~Low~2'])
  })
})

describe('a seed with many faults', () => {
  it('names a hundred of them, and counts the others', async () => {
    const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), name: p.string() } })
    await using engine = await RestEngine.create({ entities: [Thing] })
    const { errors, message } = await refusal(engine, { things: Array.from({ length: 600 }, () => ({ nam: 'x', name: 'y' })) })
    assert.equal(errors?.length, 100)
    assert.match(message, /^seed: .*"things\.99\.nam".* And 500 more errors, which are not listed\.$/s)
    assert.ok(!message.includes('things.100'))
  })
})

const Writer = defineEntity({ name: 'Writer', properties: { id: p.integer().primary(), name: p.string() } })
const Topic = defineEntity({
  name: 'Topic',
  properties: { id: p.integer().primary(), name: p.string(), parent: () => p.manyToOne(Topic).nullable() },
})
const Novel = defineEntity({
  name: 'Novel',
  properties: { id: p.integer().primary(), title: p.string(), writer: () => p.manyToOne(Writer), topics: () => p.manyToMany(Topic) },
})

describeTargets('seed of records that link later ones', { entities: [Writer, Topic, Novel] }, target => {
  it('gives the keys that it gives in any other order', async () => {
    await target.engine.seed({
      novels: [
        { title: 'One', writer: 7, topics: [3, 4] },
        { title: 'Two', writer: 8, topics: [4] },
        { title: 'Three', writer: 7 },
      ],
      topics: [
        { id: 4, name: 'noir', parent: 3 },
        { id: 3, name: 'crime' },
      ],
      writers: [7, 8].map(id => ({ id, name: `n${id}` })),
    })
    const { body } = await target.call('GET', '/v1/novels', { attributes: 'id,title,topics', sort: 'id' })
    assert.deepEqual(body.novels, [
      { id: 1, title: 'One', topics: [3, 4] },
      { id: 2, title: 'Two', topics: [4] },
      { id: 3, title: 'Three', topics: [] },
    ])
  })
})
