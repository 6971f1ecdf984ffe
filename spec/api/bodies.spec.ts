/** Bodies: the envelopes, the JSON form of every type, and the order of keys. Texts are compared, so that the order counts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { COPY_1, COPY_2, librarySeed, TOKEN } from '../helpers/library-seed.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'

const NOW = '2026-05-05T05:05:05.005Z'
const options = { ...library, seed: librarySeed, clock: () => new Date(NOW) }
const JSON_TYPE = 'application/json; charset=UTF-8'

/** That a body is exactly this one, keys in this order. */
function same(answer: Answer, expected: unknown): void {
  assert.equal(JSON.stringify(answer.body, null, 1), JSON.stringify(expected, null, 1))
}

const FICTION = { id: 1, name: 'fiction', parent: null, children: [2, 3], books: [1] }
const CRIME = { id: 2, name: 'crime', parent: 1, children: [], books: [1, 2] }

const ANN = {
  id: 1,
  name: 'Ann',
  email: 'ann@example.test',
  bio: 'Writes.',
  born: '1980-05-17',
  wakesAt: '07:30:00',
  active: true,
  rating: 4.5,
  royalties: '1234.50',
  followers: '9007199254740993',
  role: 'writer',
  pen_name: 'A. Nonymous',
  home: { street: 'High St 1', city: 'Haworth', zip: 'BD22' },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
  mentor: null,
  pupils: [2, 3],
  profile: 1,
  books: [2, 1, 4],
  reviews: ['1~1'],
}

const ONE = {
  id: 1,
  title: 'One',
  isbn: '9780000000001',
  pages: 100,
  weight: 0.5,
  price: '19.90',
  discount: 0.25,
  barcode: '9223372036854775807',
  views: 12,
  published: '2020-01-01T00:00:00.000Z',
  edition: 1,
  cover: 'AAEC/w==',
  meta: { z: [1, null, 'x'], a: true },
  size: { width: 10, height: 20.5, unit: 'mm', measuredOn: null },
  titleLength: 3,
  author: 1,
  sequelOf: null,
  sequel: 2,
  genres: [1, 2],
  similar: [2, 3],
  reviews: ['3~1', '2~2', '2~1'],
  copies: [COPY_1, COPY_2],
}

describeTargets('bodies', { ...options, fresh: 'suite' }, target => {
  it('answers a list with what is in effect, and the records under the name of the resource', async () => {
    same(await target.call('GET', '/v1/genres', { limit: 2 }), {
      success: true,
      timestamp: NOW,
      resource: 'genres',
      sort: 'id.asc',
      offset: 0,
      limit: 2,
      filter: [],
      count: 4,
      previous: null,
      next: '/v1/genres?limit=2&offset=2',
      genres: [FICTION, CRIME],
    })
  })

  it('answers an empty list with an empty array', async () => {
    same(await target.call('GET', '/v1/genres', { name: 'none' }), {
      success: true,
      timestamp: NOW,
      resource: 'genres',
      sort: 'id.asc',
      offset: 0,
      limit: 100,
      filter: [['name', 'none']],
      count: 0,
      previous: null,
      next: null,
      genres: [],
    })
  })

  it('answers one record under its singular name', async () => {
    same(await target.call('GET', '/v1/genres/1'), { success: true, timestamp: NOW, resource: 'genre', genre: FICTION })
  })

  it('answers a to-one with the envelope of what it links', async () => {
    same(await target.call('GET', '/v1/genres/2/parent'), { success: true, timestamp: NOW, resource: 'genre', genre: FICTION })
    const author = await target.call('GET', '/v1/books/1/author')
    same(author, { success: true, timestamp: NOW, resource: 'author', author: ANN })
  })

  for (const [path, resource] of [
    ['/v1/genres/1/parent', 'genre'],
    ['/v1/authors/2/profile', 'profile'],
    ['/v1/books/2/sequel', 'book'],
    [`/v1/copies/${COPY_2}/shelf`, 'shelf'],
  ] as const) {
    it(`answers the empty to-one ${path} with null under its key`, async () => {
      const answer = await target.call('GET', path)
      assert.equal(answer.status, 200)
      same(answer, { success: true, timestamp: NOW, resource, [resource]: null })
    })
  }

  it('answers a list attribute with the envelope of a list', async () => {
    same(await target.call('GET', '/v1/books/2/genres'), {
      success: true,
      timestamp: NOW,
      resource: 'genres',
      sort: 'id.asc',
      offset: 0,
      limit: 100,
      filter: [],
      count: 1,
      previous: null,
      next: null,
      genres: [CRIME],
    })
  })

  const plain: [path: string, resource: string, attribute: string, value: unknown][] = [
    ['/v1/authors/1/email', 'author', 'email', 'ann@example.test'],
    ['/v1/authors/2/bio', 'author', 'bio', null],
    ['/v1/authors/1/pen_name', 'author', 'pen_name', 'A. Nonymous'],
    ['/v1/authors/1/home', 'author', 'home', ANN.home],
    ['/v1/authors/3/home', 'author', 'home', null],
    ['/v1/books/1/meta', 'book', 'meta', ONE.meta],
    ['/v1/books/2/meta', 'book', 'meta', null],
    ['/v1/books/1/size', 'book', 'size', ONE.size],
    ['/v1/books/1/titleLength', 'book', 'titleLength', 3],
    ['/v1/books/1/id', 'book', 'id', 1],
    ['/v1/branches/MAIN/code', 'branch', 'code', 'MAIN'],
  ]
  for (const [path, resource, attribute, value] of plain) {
    it(`answers ${path} with a value`, target.except(value === ONE.meta && 'jsonb'), async () => {
      const answer = await target.call('GET', path)
      assert.equal(answer.status, 200)
      same(answer, { success: true, timestamp: NOW, resource, attribute, value })
    })
  }

  const records: [path: string, record: unknown][] = [
    ['/v1/authors/1', ANN],
    [
      '/v1/authors/2',
      {
        id: 2,
        name: 'Bob',
        email: 'bob@example.test',
        bio: null,
        born: null,
        wakesAt: null,
        active: false,
        rating: null,
        royalties: '0.00',
        followers: '0',
        role: 'editor',
        pen_name: null,
        home: { street: 'Low Rd 2', city: 'York', zip: null },
        createdAt: '2026-01-02T03:04:05.678Z',
        updatedAt: null,
        mentor: 1,
        pupils: [4],
        profile: null,
        books: [3],
        reviews: ['2~1', '2~2'],
      },
    ],
    ['/v1/books/1', ONE],
    [
      '/v1/books/3',
      {
        id: 3,
        title: '100% *true*, really',
        isbn: null,
        pages: null,
        weight: null,
        price: null,
        discount: null,
        barcode: null,
        views: 0,
        published: null,
        edition: 1,
        cover: null,
        meta: null,
        size: null,
        titleLength: 19,
        author: 2,
        sequelOf: null,
        sequel: null,
        genres: [],
        similar: [],
        reviews: ['1~1'],
        copies: [],
      },
    ],
    ['/v1/profiles/1', { id: 1, website: 'https://ann.test', newsletter: true, author: 1 }],
    ['/v1/reviews/2~1', { author: 2, number: 1, stars: 3, text: '', book: 1, comments: [1, 2] }],
    ['/v1/comments/1', { id: 1, text: 'true', review: '2~1' }],
    [
      '/v1/branches/MAIN',
      { code: 'MAIN', name: 'Main', address: { street: 'Square 1', city: 'Leeds', zip: null }, sign: null, copies: [COPY_1] },
    ],
    ['/v1/shelves/A%7E1~4', { room: 'A~1', number: 4, label: 'Crime', copies: [COPY_1] }],
    [
      `/v1/copies/${COPY_1}`,
      { id: COPY_1, acquired: '2024-02-29', loanable: true, token: TOKEN, book: 1, branch: 'MAIN', shelf: 'A%7E1~4' },
    ],
    [`/v1/copies/${COPY_2}`, { id: COPY_2, acquired: null, loanable: false, token: null, book: 1, branch: null, shelf: null }],
  ]
  for (const [path, record] of records) {
    it(
      `renders ${path} in the order of its declaration, each type in its JSON form`,
      target.except(record === ONE && 'jsonb'),
      async () => {
        const { body } = await target.call('GET', path)
        assert.equal(JSON.stringify(body[body.resource], null, 1), JSON.stringify(record, null, 1))
      },
    )
  }

  it('renders a record alike alone, in a list, and inside another one', async () => {
    const alone = (await target.call('GET', '/v1/books/1')).body.book as unknown
    const found: unknown[] = [
      (await target.call('GET', '/v1/books', { id: 1 })).body.books[0],
      (await target.call('GET', '/v1/books/2/sequelOf')).body.book,
      (await target.call('GET', '/v1/books/2', { depth: 2 })).body.book.sequelOf,
      (await target.call('GET', '/v1/authors/1', { expand: 'books' })).body.author.books[1],
      (await target.call('GET', '/v1/genres/1/books')).body.books[0],
    ]
    for (const record of found) assert.equal(JSON.stringify(record), JSON.stringify(alone))
  })

  it('never shows what is hidden or not stored, however deep', async () => {
    for (const [path, query] of [
      ['/v1/authors', { depth: 2, expand: 'mentor.mentor,books.author' }],
      ['/v1/books', { depth: 2, expand: 'author.mentor' }],
      ['/v1/reviews/2~1', { depth: 2, expand: 'author' }],
      ['/v1/books/1/author', { depth: 2 }],
    ] as const) {
      const { status, body } = await target.call('GET', path, query)
      assert.equal(status, 200)
      assert.doesNotMatch(JSON.stringify(body), /passwordHash|secret-|penName|draft|__inverse/)
    }
  })

  const answers: [method: string, path: string, status: number][] = [
    ['GET', '/', 200],
    ['GET', '/v1/authors?depth=2&expand=books.reviews', 200],
    ['GET', '/v1/books?depth=2', 200],
    ['GET', '/v1/copies?limit=1&offset=1&loanable=true,false', 200],
    ['GET', '/v1/authors/1', 200],
    ['GET', '/v1/authors/1/home', 200],
    ['GET', '/v1/books/1/meta', 200],
    ['GET', '/v1/books/2/genres', 200],
    ['GET', '/v1/genres/1/parent', 200],
    ['GET', '/v1/nope', 404],
    ['GET', '/v1/genres/99', 404],
    ['GET', '/v1/genres?nope=1&limit=x', 400],
    ['GET', '/v1/genres?depth=7', 400],
    ['DELETE', '/v1/genres', 405],
    ['POST', '/v1/genres', 400],
  ]
  for (const [method, path, status] of answers) {
    it(`gives plain JSON, of one media type, to ${method} ${path}`, async () => {
      const answer = await target.call(method, path)
      assert.equal(answer.status, status)
      assert.equal(answer.headers['content-type'], JSON_TYPE)
      assert.equal(answer.body.timestamp, NOW)
      assert.equal(answer.body.success, status === 200)
      assert.deepEqual(JSON.parse(JSON.stringify(answer.body)), answer.body)
      if (typeof answer.body.resource === 'string' && !('attribute' in answer.body)) assert.ok(answer.body.resource in answer.body)
    })
  }

  it('gives no media type where there is no body', async () => {
    assert.equal((await target.call('OPTIONS', '/v1/genres')).headers['content-type'], undefined)
  })
})

describeTargets('bodies of writes', { ...options, everyTarget: 'bodies come by transports' }, target => {
  const POETRY = { id: 4, name: 'poetry', parent: null, children: [], books: [] }

  it('answers a create with the record, a status text and its place', async () => {
    const answer = await target.call('POST', '/v1/genre', undefined, { name: 'drama', parent: 4 })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['location'], '/v1/genre/5')
    same(answer, {
      success: true,
      timestamp: NOW,
      resource: 'genre',
      genre: { id: 5, name: 'drama', parent: 4, children: [], books: [] },
      status: 'OK',
    })
  })

  it('answers an append with the created record, and the path of its own', async () => {
    const answer = await target.call('POST', '/v1/genre/4/children', undefined, { name: 'haiku' })
    assert.equal(answer.status, 200)
    const place = answer.headers['location']!
    assert.match(place, /^\/v1\/genres?\/5$/)
    assert.equal((await target.call('GET', place)).status, 200)
    same(answer, {
      success: true,
      timestamp: NOW,
      resource: 'genre',
      genre: { id: 5, name: 'haiku', parent: 4, children: [], books: [] },
      status: 'OK',
    })
  })

  for (const method of ['PUT', 'PATCH']) {
    it(`answers ${method} with the changed record`, async () => {
      same(await target.call(method, '/v1/genres/4', undefined, { name: 'verse' }), {
        success: true,
        timestamp: NOW,
        resource: 'genre',
        genre: { ...POETRY, name: 'verse' },
      })
    })
  }

  const attributes: [path: string, body: unknown, genre: object][] = [
    ['/v1/genres/4/name', 'verse', { ...POETRY, name: 'verse' }],
    ['/v1/genres/4/parent', 1, { ...POETRY, parent: 1 }],
    ['/v1/genres/2/parent', null, { ...CRIME, parent: null }],
    ['/v1/genres/4/children', [2, 3], { ...POETRY, children: [2, 3] }],
  ]
  for (const [path, body, genre] of attributes) {
    it(`answers PUT ${path} with the owner of the attribute`, async () => {
      same(await target.call('PUT', path, undefined, body), { success: true, timestamp: NOW, resource: 'genre', genre })
    })
  }

  it('answers a delete with the record as it was', async () => {
    const answer = await target.call('DELETE', '/v1/genres/4')
    assert.equal(answer.status, 200)
    same(answer, { success: true, timestamp: NOW, resource: 'genre', genre: POETRY, status: 'OK' })
    assert.equal((await target.call('GET', '/v1/genres/4')).status, 404)
  })

  it('answers the delete of a list with the records as they were, and their count', async () => {
    const { status, body } = await target.call('DELETE', '/v1/reviews/2~1/comments')
    assert.equal(status, 200)
    assert.deepEqual(body, {
      success: true,
      timestamp: NOW,
      resource: 'comments',
      count: 2,
      comments: [
        { id: 1, text: 'true', review: '2~1' },
        { id: 2, text: 'false', review: '2~1' },
      ],
      status: 'OK',
    })
  })

  it('answers the delete through a to-one with the record as it was', async () => {
    const { status, body } = await target.call('DELETE', '/v1/authors/1/profile')
    assert.equal(status, 200)
    assert.deepEqual(body.profile, { id: 1, website: 'https://ann.test', newsletter: true, author: 1 })
    assert.equal(body.status, 'OK')
  })

  it('never shows what is hidden in the answer to a write', async () => {
    const body = { name: 'Cid', email: 'cid@example.test', passwordHash: 'secret-9' }
    const answers = [
      await target.call('POST', '/v1/authors', { depth: 2 }, body),
      await target.call('PUT', '/v1/authors/4', { depth: 2 }, { passwordHash: 'secret-8' }),
      await target.call('PUT', '/v1/authors/4/passwordHash', undefined, 'secret-7'),
      await target.call('DELETE', '/v1/authors/5', { depth: 2 }),
    ]
    for (const answer of answers) {
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.doesNotMatch(JSON.stringify(answer.body), /passwordHash|secret-/)
    }
  })

  const stored: [column: string, sql: string, value: unknown, inPostgres?: string][] = [
    ['followers', '9223372036854775807', '9223372036854775807'],
    ['followers', '-9223372036854775808', '-9223372036854775808'],
    ['followers', '9007199254740992', '9007199254740992'],
    ['royalties', '5', '5.00'],
    ['royalties', '-0.1', '-0.10'],
    ['royalties', '1234567890.25', '1234567890.25'],
    ['rating', '5', 5],
    ['rating', '1e300', 1e300],
    ['rating', '-1e-7', -1e-7],
    ['active', '0', false, 'false'],
    ['active', '1', true, 'true'],
    ['born', "'0999-01-02'", '0999-01-02'],
    ['wakes_at', "'00:00:00'", '00:00:00'],
    ['created_at', '0', '1970-01-01T00:00:00.000Z', 'to_timestamp(0)'],
    ['created_at', '-1', '1969-12-31T23:59:59.999Z', 'to_timestamp(-0.001)'],
    ['created_at', '253402300799999', '9999-12-31T23:59:59.999Z', "'9999-12-31 23:59:59.999Z'"],
    ['bio', "''", ''],
    ['bio', "'null'", 'null'],
    ['bio', "'a' || char(0) || 'b'", 'a\0b'],
    ['bio', 'char(128522)', '😊', 'chr(128522)'],
  ]
  const names: Record<string, string> = { wakes_at: 'wakesAt', created_at: 'createdAt' }
  for (const [column, ofSqlite, value, inPostgres = ofSqlite] of stored) {
    const sql = target.store === 'postgres' ? inPostgres : ofSqlite
    it(`shows ${column} stored as ${sql} as ${JSON.stringify(value)}`, target.except(value === 'a\0b' && 'NUL'), async () => {
      await target.engine.orm.em.fork().getConnection().execute(`update author set ${column} = ${sql} where id = 1`)
      const name = names[column] ?? column
      assert.deepEqual((await target.call('GET', '/v1/authors/1')).body.author[name], value)
      assert.deepEqual((await target.call('GET', `/v1/authors/1/${name}`)).body.value, value)
      assert.deepEqual((await target.call('GET', '/v1/profiles/1', { expand: 'author' })).body.profile.author[name], value)
    })
  }

  it('leaves what is set by updates NULL on a new record, one that links a new record of its own kind included', async () => {
    const body = { name: 'Cid', email: 'cid@example.test', mentor: { name: 'Dee', email: 'dee@example.test', mentor: 1 } }
    const made = await target.call('POST', '/v1/authors', { expand: 'mentor', attributes: 'updatedAt,mentor.updatedAt' }, body)
    assert.deepEqual(made.body.author, { updatedAt: null, mentor: { updatedAt: null } })
  })

  it('tells the time of its clock', async () => {
    target.engine.clock.set(new Date('2030-01-01T00:00:00Z'))
    assert.equal((await target.call('GET', '/v1/genres/1')).body.timestamp, '2030-01-01T00:00:00.000Z')
    assert.equal((await target.call('GET', '/v1/nope')).body.timestamp, '2030-01-01T00:00:00.000Z')
  })
})
