/** POST of a collection: what it answers, what it stores, nested records, and what it does not take. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

const seed = {
  authors: [
    { id: 1, name: 'Ann', email: 'ann@example.test' },
    { id: 2, name: 'Bob', email: 'bob@example.test' },
  ],
  profiles: [{ id: 1, website: 'https://ann.test', author: 1 }],
  books: [
    { id: 1, title: 'One', author: 1 },
    { id: 2, title: 'Two', author: 1 },
  ],
  genres: [
    { id: 1, name: 'crime' },
    { id: 2, name: 'satire' },
  ],
  shelves: [{ room: 'A~1', number: 4 }],
}

const AUTHOR_KEYS =
  'id name email bio born wakesAt active rating royalties followers role ' +
  'pen_name home createdAt updatedAt mentor pupils profile books reviews'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

async function count(target: Target, resource: string): Promise<number> {
  return (await target.call('GET', `/v1/${resource}`, { limit: 0 })).body.count as number
}

describeTargets('creating', { ...library, seed }, target => {
  it('answers with the envelope of the record, a status text and its path', async () => {
    const { status, headers, body } = await target.call('POST', '/v1/genres', undefined, { name: 'poetry' })
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
    assert.equal(headers['location'], '/v1/genres/3')
    assert.match(body.timestamp as string, TIMESTAMP)
    assert.deepEqual(body, {
      success: true,
      timestamp: body.timestamp,
      resource: 'genre',
      genre: { id: 3, name: 'poetry', parent: null, children: [], books: [] },
      status: 'OK',
    })
  })

  it('fills in defaults and what hooks of properties make, and leaves hidden attributes out', async () => {
    const { body } = await target.call('POST', '/v1/authors', undefined, { name: 'Cid', email: 'cid@example.test', passwordHash: 'x' })
    assert.match(body.author.createdAt as string, TIMESTAMP)
    assert.deepEqual(body.author, {
      id: 3,
      name: 'Cid',
      email: 'cid@example.test',
      bio: null,
      born: null,
      wakesAt: null,
      active: true,
      rating: null,
      royalties: '0.00',
      followers: '0',
      role: 'writer',
      pen_name: null,
      home: null,
      createdAt: body.author.createdAt as string,
      updatedAt: null,
      mentor: null,
      pupils: [],
      profile: null,
      books: [],
      reviews: [],
    })
    assert.equal(Object.keys(body.author as object).join(' '), AUTHOR_KEYS)
  })

  it('stores a hidden attribute', async () => {
    await target.call('POST', '/v1/authors', undefined, { id: 9, name: 'Cid', email: 'cid@example.test', passwordHash: 'secret' })
    const [row] = await target.engine.orm.em.fork().getConnection().execute('select password_hash as hash from author where id = 9')
    assert.deepEqual({ ...row }, { hash: 'secret' })
  })

  const locations: [path: string, body: object, location: string][] = [
    ['/v1/author', { id: 5, name: 'E', email: 'e@example.test' }, '/v1/author/5'],
    ['/v1/authors/', { id: 5, name: 'E', email: 'e@example.test' }, '/v1/authors/5'],
    ['/v1/branches', { code: 'a/b %~', name: 'Odd' }, '/v1/branches/a%2Fb%20%25%7E'],
    ['/v1/shelves', { room: 'B~/', number: 2 }, '/v1/shelves/B%7E%2F~2'],
    ['/v1/reviews', { author: 2, number: 7, stars: 3, book: 1 }, '/v1/reviews/2~7'],
  ]
  for (const [path, sent, location] of locations) {
    it(`names ${location} as the place of what POST ${path} made`, async () => {
      const made = await target.call('POST', path, undefined, sent)
      assert.equal(made.status, 200, JSON.stringify(made.body))
      assert.equal(made.headers['location'], location)
      assert.equal((await target.call('GET', location)).status, 200)
    })
  }

  it('makes a uuid key where none is given, and takes the one that is', async () => {
    const made = await target.call('POST', '/v1/copies', undefined, { book: 1 })
    assert.match(made.body.copy.id as string, UUID)
    assert.equal(made.headers['location'], `/v1/copies/${made.body.copy.id as string}`)
    const id = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
    assert.equal((await target.call('POST', '/v1/copies', undefined, { id, book: 1 })).body.copy.id, id)
  })

  it('creates what is nested, at any depth, and links IDs beside it', async () => {
    const made = await target.call(
      'POST',
      '/v1/authors',
      { expand: 'books.reviews.comments,books.genres,books.copies,profile,mentor', depth: 0 },
      {
        name: 'Cid',
        email: 'cid@example.test',
        mentor: { name: 'Dee', email: 'dee@example.test', mentor: 1 },
        profile: { website: 'https://cid.test' },
        books: [
          {
            title: 'Deep',
            genres: [2, { name: 'drama' }],
            reviews: [{ author: 1, number: 1, stars: 5, comments: [{ text: 'true' }, { text: 'false' }] }],
            copies: [{ branch: { code: 'X', name: 'New' } }, {}],
          },
          2,
        ],
      },
    )
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const { author } = made.body
    assert.equal(author.mentor.name, 'Dee')
    assert.equal(author.profile.website, 'https://cid.test')
    assert.deepEqual((author.books as { title: string }[]).map(({ title }) => title).toSorted(), ['Deep', 'Two'])
    const deep = (author.books as { title: string; [name: string]: unknown }[]).find(({ title }) => title === 'Deep')!
    assert.deepEqual(
      (deep['genres'] as { name: string }[]).map(({ name }) => name),
      ['satire', 'drama'],
    )
    assert.deepEqual(
      (deep['reviews'] as { stars: number; comments: { text: string }[] }[]).map(({ stars, comments }) => [
        stars,
        comments.map(c => c.text),
      ]),
      [[5, ['true', 'false']]],
    )
    assert.equal((deep['copies'] as unknown[]).length, 2)
    assert.deepEqual((await target.call('GET', '/v1/books/2/author')).body.author.name, 'Cid')
    assert.deepEqual((await target.call('GET', '/v1/branches/X')).body.branch.copies.length, 1)
    assert.equal((await target.call('GET', '/v1/authors', { name: 'Dee' })).body.authors[0].mentor, 1)
  })

  it('creates the other side of a key that holds a relation', async () => {
    const made = await target.call('POST', '/v1/reviews', undefined, {
      author: { id: 8, name: 'Eve', email: 'eve@example.test' },
      number: 2,
      stars: 1,
      book: { title: 'Bad', author: 1 },
    })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.equal(made.headers['location'], '/v1/reviews/8~2')
    assert.equal(made.body.review.author, 8)
  })

  it('creates an object under the inverse side of a one-to-one, and links an ID there', async () => {
    const made = await target.call('POST', '/v1/authors', { depth: 2 }, { name: 'C', email: 'c@example.test', profile: { website: 'w' } })
    assert.equal(made.body.author.profile.website, 'w')
    const moved = await target.call('POST', '/v1/authors', undefined, { name: 'D', email: 'd@example.test', profile: 1 })
    assert.equal(moved.body.author.profile, 1)
    assert.equal((await target.call('GET', '/v1/authors/1')).body.author.profile, null)
  })

  it('takes members with IDs of their own beside members without', async () => {
    const children = [{ name: 'a' }, { id: 9, name: 'b' }, { name: 'c', parent: 4 }, { id: 3, name: 'd' }]
    const made = await target.call('POST', '/v1/genres', undefined, { name: 'top', id: 4, children })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual(made.body.genre.children, [3, 9, 10, 11])
    const { body } = await target.call('GET', '/v1/genres', { parent: 4, attributes: 'id,name' })
    assert.deepEqual(body.genres, [
      { id: 3, name: 'd' },
      { id: 9, name: 'b' },
      { id: 10, name: 'a' },
      { id: 11, name: 'c' },
    ])
  })

  it('links each record of a list once, however often it is named', async () => {
    const made = await target.call('POST', '/v1/books', undefined, { title: 'T', author: 1, genres: [1, 1, 2, 1] })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual(made.body.book.genres, [1, 2])
  })

  it('takes an attribute that is not stored, for hooks to use, and never shows it', async () => {
    const made = await target.call('POST', '/v1/books', undefined, { title: 'T', author: 1, draft: true })
    assert.equal(made.status, 200)
    assert.ok(!('draft' in made.body.book))
  })

  it('renders the answer as depth, attributes and expand ask', async () => {
    const body = { title: 'Three', author: 1, genres: [1] }
    const cases: [query: Record<string, string | number>, book: object][] = [
      [{ attributes: 'title' }, { title: 'Three' }],
      [{ attributes: 'title,genres', depth: 0 }, { title: 'Three' }],
      [{ attributes: 'genres.name', depth: 2 }, { genres: [{ name: 'crime' }] }],
      [{ attributes: 'author.name', expand: 'author', depth: 0 }, { author: { name: 'Ann' } }],
    ]
    for (const [query, book] of cases) {
      assert.deepEqual((await target.call('POST', '/v1/books', query, body)).body.book, book)
    }
  })

  it('does not take POST for a record', async () => {
    const answer = await target.call('POST', '/v1/genres/1', undefined, { name: 'x' })
    assert.equal(answer.status, 405)
    assert.equal(answer.headers['allow'], 'GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS')
  })

  it('knows no resource but those of the model', async () => {
    const answer = await target.call('POST', '/v1/genre_s', undefined, { name: 'x' })
    assert.equal(answer.status, 404)
    assert.equal(answer.body.code, 'resource_unknown')
  })
})

describeTargets('values of a new record', { ...library, seed, fresh: 'suite' }, target => {
  const values: [resource: string, attribute: string, given: unknown, shown: unknown][] = [
    ['author', 'name', 'Zoë 🦊', 'Zoë 🦊'],
    ['author', 'bio', '', ''],
    ['author', 'born', '1815-12-10', '1815-12-10'],
    ['author', 'wakesAt', '07:30', '07:30:00'],
    ['author', 'wakesAt', '23:59:59', '23:59:59'],
    ['author', 'active', false, false],
    ['author', 'rating', 4.25, 4.25],
    ['author', 'rating', -0.5, -0.5],
    ['author', 'rating', 5, 5],
    ['author', 'royalties', '1234567890.1', '1234567890.10'],
    ['author', 'royalties', '-0.05', '-0.05'],
    ['author', 'followers', '9007199254740993', '9007199254740993'],
    ['author', 'followers', '-9223372036854775808', '-9223372036854775808'],
    ['author', 'role', 'editor', 'editor'],
    ['author', 'pen_name', 'Currer Bell', 'Currer Bell'],
    ['author', 'home', { street: 'High St 1', city: 'Haworth' }, { street: 'High St 1', city: 'Haworth', zip: null }],
    ['author', 'home', null, null],
    ['author', 'createdAt', '2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
    ['author', 'mentor', 2, 2],
    ['author', 'mentor', null, null],
    ['book', 'pages', 0, 0],
    ['book', 'pages', -5, -5],
    ['book', 'pages', 9007199254740991, 9007199254740991],
    ['book', 'weight', 1e300, 1e300],
    ['book', 'price', '19.9', '19.90'],
    ['book', 'discount', 0.25, 0.25],
    ['book', 'barcode', '9223372036854775807', '9223372036854775807'],
    ['book', 'views', 12, 12],
    ['book', 'published', '2026-02-28T23:59:59.999Z', '2026-02-28T23:59:59.999Z'],
    ['book', 'published', '1969-12-31', '1969-12-31T00:00:00.000Z'],
    ['book', 'edition', 3, 3],
    ['book', 'cover', 'AAEC/w==', 'AAEC/w=='],
    ['book', 'cover', '', ''],
    ['book', 'meta', { a: [1, null, { b: 'c' }], d: true }, { a: [1, null, { b: 'c' }], d: true }],
    ['book', 'meta', [], []],
    ['book', 'meta', 'text', 'text'],
    ['book', 'meta', '12', '12'],
    ['book', 'meta', 12.5, 12.5],
    ['book', 'meta', false, false],
    ['book', 'meta', 0, 0],
    ['book', 'meta', null, null],
    ['book', 'size', { width: 10, height: 20.5 }, { width: 10, height: 20.5, unit: 'mm', measuredOn: null }],
    [
      'book',
      'size',
      { width: 1, height: 2, unit: 'in', measuredOn: '2026-01-01' },
      { width: 1, height: 2, unit: 'in', measuredOn: '2026-01-01' },
    ],
    ['book', 'size', null, null],
    ['book', 'sequelOf', 2, 2],
    ['book', 'sequel', 1, 1],
    ['book', 'genres', [2, 1], [1, 2]],
    ['book', 'similar', [1], [1]],
    ['copy', 'acquired', '2024-02-29', '2024-02-29'],
    ['copy', 'token', '6BA7B810-9DAD-11D1-80B4-00C04FD430C8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
    ['copy', 'shelf', 'A%7E1~4', 'A%7E1~4'],
  ]
  let serial = 0
  const minimal: Record<string, object> = {
    author: { name: 'New' },
    book: { title: 'New', author: 2 },
    copy: { book: 1 },
  }
  for (const [resource, attribute, given, shown] of values) {
    it(
      `shows ${attribute} of a new ${resource} given as ${JSON.stringify(given)} the same in the answer and later`,
      target.except(given === Number.MAX_SAFE_INTEGER && attribute === 'pages' && '32 bits'),
      async () => {
        const own = resource === 'author' ? { email: `new-${++serial}@example.test` } : {}
        const { status, headers, body } = await target.call('POST', `/v1/${resource}`, undefined, {
          ...minimal[resource],
          ...own,
          [attribute]: given,
        })
        assert.equal(status, 200, JSON.stringify(body))
        assert.deepEqual(body[resource][attribute], shown)
        const read = await target.call('GET', headers['location']!)
        assert.deepEqual(read.body[resource], body[resource])
      },
    )
  }
})

describeTargets('refused creations', { ...library, seed, fresh: 'suite' }, target => {
  const refusedQueries = ['limit=5', 'offset=0', 'sort=id', 'name=x', 'depth=3', 'attributes=nope', 'expand=nope', 'expand=name']
  for (const query of refusedQueries) {
    it(`refuses ?${query} and writes nothing`, async () => {
      const answer = await target.call('POST', '/v1/genres', query, { name: 'poetry' })
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assert.equal(answer.body.errors[0].parameter, query.split('=')[0])
      assert.equal(await count(target, 'genres'), 2)
    })
  }

  for (const body of [undefined, null, [], [{ name: 'x' }, 1], 'text', 5, true]) {
    it(`refuses ${JSON.stringify(body) ?? 'no body'} in place of an object`, async () => {
      const answer = await target.call('POST', '/v1/genres', undefined, body)
      assert.equal(answer.status, 400)
      assert.equal(answer.body.code, 'body_invalid')
      assert.equal(await count(target, 'genres'), 2)
    })
  }

  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    it(`takes ${name} for the unknown attribute it is`, async () => {
      const answer = await target.call('POST', '/v1/genres', undefined, JSON.parse(`{ "name": "x", "${name}": { "name": "y" } }`))
      assert.equal(answer.status, 422)
      assert.deepEqual(
        (answer.body.errors as { code: string; attribute: string }[]).map(({ code, attribute }) => [code, attribute]),
        [['attribute_unknown', name]],
      )
    })
  }
})

describeTargets('creating with createdStatus 201', { ...library, createdStatus: 201 }, target => {
  it('answers 201 to what it created, and to that only', async () => {
    assert.equal((await target.call('POST', '/v1/genres', undefined, { name: 'a' })).status, 201)
    assert.equal((await target.call('POST', '/v1/genres/1/children', undefined, { name: 'b' })).status, 201)
    assert.equal((await target.call('PUT', '/v1/genres/1', undefined, { name: 'c' })).status, 200)
    assert.equal((await target.call('POST', '/v1/genres', undefined, {})).status, 422)
  })
})

const Part = defineEntity({
  name: 'Part',
  embeddable: true,
  properties: { size: p.integer().default(5), note: p.string().nullable() },
})
const Whole = defineEntity({
  name: 'Whole',
  embeddable: true,
  properties: { part: () => p.embedded(Part), weight: p.integer() },
})
const Machine = defineEntity({
  name: 'Machine',
  properties: {
    id: p.integer().primary(),
    inline: () => p.embedded(Part),
    object: () => p.embedded(Part).object(),
    whole: () => p.embedded(Whole).object().nullable(),
  },
})

describeTargets('creating with embedded objects', { entities: [Machine, Part, Whole] }, target => {
  const standard = { size: 5, note: null }

  it('makes those that all may be left out of', async () => {
    const { status, body } = await target.call('POST', '/v1/machines', undefined, {})
    assert.deepEqual([status, body.machine], [200, { id: 1, inline: standard, object: standard, whole: null }])
    const { body: other } = await target.call('POST', '/v1/machines', undefined, { whole: { weight: 1 }, inline: { size: 2 } })
    assert.deepEqual(
      [other.machine.whole, other.machine.inline],
      [
        { part: standard, weight: 1 },
        { size: 2, note: null },
      ],
    )
  })

  it('asks for what one within a document requires', async () => {
    const { status, body } = await target.call('POST', '/v1/machines', undefined, { whole: { part: null } })
    assert.equal(status, 422)
    assert.deepEqual(
      (body.errors as { code: string; attribute: string }[]).map(({ code, attribute }) => [code, attribute]),
      [
        ['null_not_allowed', 'whole.part'],
        ['required', 'whole.weight'],
      ],
    )
  })
})
