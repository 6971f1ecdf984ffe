/** Selection: depth, expand and attributes. Texts are compared, so that the order of keys counts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { COPY_1, COPY_2, librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'

const FICTION = { id: 1, name: 'fiction', parent: null, children: [2, 3], books: [1] }
const CRIME = { id: 2, name: 'crime', parent: 1, children: [], books: [1, 2] }
const SATIRE = { id: 3, name: 'satire', parent: 1, children: [], books: [4] }

const TWO_PLAIN = {
  id: 2,
  title: 'Two',
  isbn: null,
  pages: 200,
  weight: 1.25,
  price: '5.00',
  discount: null,
  barcode: null,
  views: 0,
  published: '2021-06-15T12:30:45.678Z',
  edition: 2,
  cover: null,
  meta: null,
  size: null,
  titleLength: 3,
}
const TWO = {
  ...TWO_PLAIN,
  author: 1,
  sequelOf: 1,
  sequel: null,
  genres: [2],
  similar: [],
  reviews: [],
  copies: ['3e9a44c8-5b21-4f7a-a0f3-cccccccccccc'],
}
const BOB = {
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
}
const ANN_PLAIN = {
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
}
const ANN = { ...ANN_PLAIN, mentor: null, pupils: [2, 3], profile: 1, books: [2, 1, 4], reviews: ['1~1'] }
const REVIEW = { author: 2, number: 1, stars: 3, text: '', book: 1, comments: [1, 2] }

describeTargets('selection', { ...library, seed: librarySeed, fresh: 'suite' }, target => {
  const table: [path: string, query: string, record: unknown][] = [
    // depth
    ['genres/2', 'depth=0', { id: 2, name: 'crime' }],
    ['genres/2', 'depth=1', CRIME],
    ['genres/2', '', CRIME],
    ['genres/3', 'depth=2&attributes=!books', { id: 3, name: 'satire', parent: FICTION, children: [] }],
    ['genres/1', 'depth=2&attributes=!books', { id: 1, name: 'fiction', parent: null, children: [CRIME, SATIRE] }],
    [
      'genres/2',
      'depth=2&attributes=books.title,books.genres',
      {
        books: [
          { title: 'One', genres: [1, 2] },
          { title: 'Two', genres: [2] },
        ],
      },
    ],
    ['authors/1', 'depth=0', ANN_PLAIN],
    ['authors/1', 'depth=1', ANN],
    ['books/2', 'depth=0', TWO_PLAIN],
    ['books/2', 'depth=1', TWO],
    ['reviews/2~1', 'depth=0', { number: 1, stars: 3, text: '' }],
    ['reviews/2~1', 'depth=1', REVIEW],
    ['comments/1', 'depth=2', { id: 1, text: 'true', review: REVIEW }],
    ['profiles/1', 'depth=2', { id: 1, website: 'https://ann.test', newsletter: true, author: ANN }],
    ['comments/1/review', 'depth=0', { number: 1, stars: 3, text: '' }],
    ['genres/2/parent', 'depth=2&attributes=id,children', { id: 1, children: [CRIME, SATIRE] }],
    [`copies/${COPY_2}`, 'depth=2&attributes=id,branch,shelf', { id: COPY_2, branch: null, shelf: null }],
    [
      `copies/${COPY_1}`,
      'depth=2&attributes=branch,shelf',
      {
        branch: { code: 'MAIN', name: 'Main', address: { street: 'Square 1', city: 'Leeds', zip: null }, sign: null, copies: [COPY_1] },
        shelf: { room: 'A~1', number: 4, label: 'Crime', copies: [COPY_1] },
      },
    ],
    [
      'authors/1',
      'depth=2&attributes=profile,reviews',
      {
        profile: { id: 1, website: 'https://ann.test', newsletter: true, author: 1 },
        reviews: [{ author: 1, number: 1, stars: 5, text: 'good', book: 3, comments: [] }],
      },
    ],
    ['authors/2', 'depth=2&attributes=profile', { profile: null }],

    // expand
    ['genres/2', 'expand=parent', { ...CRIME, parent: FICTION }],
    ['genres/2', 'expand=children', CRIME],
    ['genres/1', 'expand=parent', FICTION],
    ['genres/1', 'expand=children', { ...FICTION, children: [CRIME, SATIRE] }],
    ['genres/2', 'depth=0&expand=parent', { id: 2, name: 'crime', parent: { id: 1, name: 'fiction' } }],
    [
      'genres/1',
      'depth=0&expand=children',
      {
        id: 1,
        name: 'fiction',
        children: [
          { id: 2, name: 'crime' },
          { id: 3, name: 'satire' },
        ],
      },
    ],
    [
      'genres/2',
      'depth=0&expand=parent.children',
      {
        id: 2,
        name: 'crime',
        parent: {
          id: 1,
          name: 'fiction',
          children: [
            { id: 2, name: 'crime' },
            { id: 3, name: 'satire' },
          ],
        },
      },
    ],
    [
      'genres/2',
      'depth=0&expand=parent.children,parent',
      {
        id: 2,
        name: 'crime',
        parent: {
          id: 1,
          name: 'fiction',
          children: [
            { id: 2, name: 'crime' },
            { id: 3, name: 'satire' },
          ],
        },
      },
    ],
    [
      'genres/2',
      'depth=0&expand=parent,parent.children',
      {
        id: 2,
        name: 'crime',
        parent: {
          id: 1,
          name: 'fiction',
          children: [
            { id: 2, name: 'crime' },
            { id: 3, name: 'satire' },
          ],
        },
      },
    ],
    ['genres/2', 'depth=0&expand=parent,parent', { id: 2, name: 'crime', parent: { id: 1, name: 'fiction' } }],
    ['genres/2', 'depth=0&expand=parent.parent', { id: 2, name: 'crime', parent: { id: 1, name: 'fiction', parent: null } }],
    ['genres/2', 'expand=parent.children', { ...CRIME, parent: { ...FICTION, children: [CRIME, SATIRE] } }],
    [
      'genres/2',
      'expand=parent.children.parent',
      {
        ...CRIME,
        parent: {
          ...FICTION,
          children: [
            { ...CRIME, parent: FICTION },
            { ...SATIRE, parent: FICTION },
          ],
        },
      },
    ],
    // At depth 2 an expanded relation is at depth 2 itself: one level deeper.
    [
      'genres/2',
      'depth=2&expand=parent&attributes=!books,!parent.books',
      { id: 2, name: 'crime', parent: { id: 1, name: 'fiction', parent: null, children: [CRIME, SATIRE] }, children: [] },
    ],
    [
      'comments/1',
      'depth=0&expand=review.author&attributes=!review.author.updatedAt',
      { id: 1, text: 'true', review: { author: BOB, number: 1, stars: 3, text: '' } },
    ],
    [
      'books/2',
      'depth=0&expand=copies,reviews&attributes=id,copies.loanable,reviews',
      { id: 2, reviews: [], copies: [{ loanable: true }] },
    ],
    [
      'authors/2',
      'expand=books.reviews&attributes=books.title,books.reviews',
      { books: [{ title: '100% *true*, really', reviews: [{ author: 1, number: 1, stars: 5, text: 'good', book: 3, comments: [] }] }] },
    ],

    // The model's own order of lists
    ['authors/1', 'attributes=books', { books: [2, 1, 4] }],
    ['authors/1', 'depth=2&attributes=books.id', { books: [{ id: 2 }, { id: 1 }, { id: 4 }] }],
    ['authors/1', 'depth=0&expand=books&attributes=books.title', { books: [{ title: 'Two' }, { title: 'One' }, { title: 'Four' }] }],
    [
      'books/1',
      'attributes=reviews,genres,similar,copies',
      { genres: [1, 2], similar: [2, 3], reviews: ['3~1', '2~2', '2~1'], copies: [COPY_1, COPY_2] },
    ],
    ['books/1', 'depth=0&expand=reviews&attributes=reviews.stars', { reviews: [{ stars: 5 }, { stars: 4 }, { stars: 3 }] }],

    // attributes
    ['authors/1', 'attributes=id,name', { id: 1, name: 'Ann' }],
    ['authors/1', 'attributes=name,id', { id: 1, name: 'Ann' }],
    ['authors/1', 'attributes=name,name', { name: 'Ann' }],
    ['authors/1', 'attributes=pen_name,books', { pen_name: 'A. Nonymous', books: [2, 1, 4] }],
    ['authors/1', 'attributes=', ANN],
    [
      'authors/1',
      'attributes=!books,!reviews',
      Object.fromEntries(Object.entries(ANN).filter(([name]) => name !== 'books' && name !== 'reviews')),
    ],
    ['genres/2', 'attributes=!id', { name: 'crime', parent: 1, children: [], books: [1, 2] }],
    ['genres/2', 'attributes=id,name,!name', { id: 2 }],
    ['genres/2', 'attributes=!name,id,name', { id: 2 }],
    ['genres/2', 'attributes=!name,name', {}],
    ['genres/2', 'attributes=!id,!name,!parent,!children,!books', {}],
    ['genres/2', 'depth=0&attributes=id,parent', { id: 2 }],
    ['genres/2', 'depth=0&attributes=parent,books', {}],
    ['genres/2', 'depth=0&attributes=parent.name', {}],
    ['genres/2', 'attributes=id,parent.name', { id: 2, parent: 1 }],
    ['genres/1', 'attributes=id,parent.name,children.name', { id: 1, parent: null, children: [2, 3] }],
    ['genres/2', 'attributes=!parent.name,!books.title,!children', { id: 2, name: 'crime', parent: 1, books: [1, 2] }],
    ['genres/2', 'depth=2&attributes=id,parent.name', { id: 2, parent: { name: 'fiction' } }],
    ['genres/2', 'depth=2&attributes=parent,parent.name', { parent: FICTION }],
    ['genres/2', 'depth=2&attributes=parent.name,parent', { parent: FICTION }],
    ['genres/2', 'depth=2&attributes=parent.name,parent.id', { parent: { id: 1, name: 'fiction' } }],
    ['genres/2', 'depth=2&attributes=parent,!parent.books,!parent.children', { parent: { id: 1, name: 'fiction', parent: null } }],
    [
      'genres/2',
      'depth=2&attributes=!parent.books,!books,!parent.name',
      { id: 2, name: 'crime', parent: { id: 1, parent: null, children: [2, 3] }, children: [] },
    ],
    ['genres/2', 'depth=2&attributes=parent.name,!parent', {}],
    ['genres/2', 'depth=2&attributes=parent.name,!parent.name', { parent: {} }],
    ['genres/2', 'expand=parent&attributes=id,parent.name', { id: 2, parent: { name: 'fiction' } }],
    ['genres/2', 'expand=parent&attributes=id', { id: 2 }],
    [
      'genres/2',
      'expand=parent.children&attributes=parent.children.name',
      { parent: { children: [{ name: 'crime' }, { name: 'satire' }] } },
    ],
    ['genres/2', 'expand=parent&attributes=parent.children.name', { parent: { children: [2, 3] } }],
    ['authors/1', 'attributes=home', { home: ANN_PLAIN.home }],
    ['authors/1', 'attributes=home.city', { home: { city: 'Haworth' } }],
    ['authors/1', 'attributes=home.zip,home.street', { home: { street: 'High St 1', zip: 'BD22' } }],
    ['authors/1', 'attributes=home,home.city', { home: ANN_PLAIN.home }],
    ['authors/1', 'attributes=home,!home.zip', { home: { street: 'High St 1', city: 'Haworth' } }],
    ['authors/3', 'attributes=id,home.city', { id: 3, home: null }],
    ['books/1', 'attributes=size.width,size.unit', { size: { width: 10, unit: 'mm' } }],
    ['books/1', 'attributes=size,!size.measuredOn,!size.unit', { size: { width: 10, height: 20.5 } }],
    ['books/2', 'attributes=size.width', { size: null }],
    ['books/1', 'attributes=titleLength,meta', { meta: { z: [1, null, 'x'], a: true }, titleLength: 3 }],
    ['books/2/author', 'attributes=id,home.city', { id: 1, home: { city: 'Haworth' } }],
    ['profiles/1', 'depth=2&attributes=author.home.city,author.books', { author: { home: { city: 'Haworth' }, books: [2, 1, 4] } }],
    [
      'profiles/1',
      'depth=2&expand=author&attributes=author.books.title',
      { author: { books: [{ title: 'Two' }, { title: 'One' }, { title: 'Four' }] } },
    ],
  ]
  for (const [path, query, record] of table) {
    it(`shows ${path}?${query} as asked`, target.except(query.includes('titleLength,meta') && 'jsonb'), async () => {
      const { status, body } = await target.call('GET', `/v1/${path}`, query)
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(JSON.stringify(body[body.resource], null, 1), JSON.stringify(record, null, 1))
    })
  }

  it('shows records in a list the way it shows one', async () => {
    for (const query of [
      'depth=0',
      'depth=1',
      'depth=2',
      'expand=parent',
      'depth=2&expand=children.books',
      'attributes=id,parent.name&depth=2',
      'attributes=!id',
    ]) {
      const { body } = await target.call('GET', '/v1/genres', query)
      for (const [index, id] of [1, 2, 3, 4].entries()) {
        assert.deepEqual(body.genres[index], (await target.call('GET', `/v1/genres/${id}`, query)).body.genre)
      }
      const children = (await target.call('GET', '/v1/genres/1/children', query)).body.genres as unknown[]
      assert.deepEqual(children, body.genres.slice(1, 3))
    }
  })

  it('expands one level deeper than depth 2', async () => {
    const plain = (await target.call('GET', '/v1/comments/1', 'depth=2')).body.comment
    assert.equal(plain.review.author, 2)
    const deeper = (await target.call('GET', '/v1/comments/1', 'depth=2&expand=review')).body.comment
    assert.equal(deeper.review.author.name, 'Bob')
    assert.equal(deeper.review.author.mentor, 1)
    const deepest = (await target.call('GET', '/v1/comments/1', 'depth=2&expand=review.author')).body.comment
    assert.equal(deepest.review.author.mentor.name, 'Ann')
    assert.deepEqual(deepest.review.author.mentor.pupils, [2, 3])
    for (const [name, value] of Object.entries(BOB)) assert.deepEqual(deepest.review.author[name], value)
  })

  it('has the answers to writes take the same parameters', async () => {
    const made = await target.call('POST', '/v1/genres?depth=2&attributes=name,parent.name', undefined, {
      name: `new ${target.name}`,
      parent: 1,
    })
    assert.deepEqual(made.body.genre, { name: `new ${target.name}`, parent: { name: 'fiction' } })
    const place = made.headers['location']!
    const changed = await target.call('PUT', `${place}?depth=0&expand=parent&attributes=!id,!name`, undefined, { name: 'newer' })
    assert.deepEqual(changed.body.genre, { parent: { id: 1, name: 'fiction' } })
    const renamed = await target.call('PUT', `${place}/name?depth=0&attributes=name`, undefined, 'newest')
    assert.deepEqual(renamed.body.genre, { name: 'newest' })
    const gone = await target.call('DELETE', `${place}?attributes=name,parent`)
    assert.deepEqual(gone.body.genre, { name: 'newest', parent: 1 })
  })

  const refused: [parameter: string, value: string, suggestion?: string][] = [
    ...['3', '-1', '01', '1.0', '+1', ' 1', '', 'abc', 'null', '1,2', '1e0', 'NaN', '*'].map((value): [string, string] => ['depth', value]),
    ['expand', 'auther', 'author'],
    ['expand', 'author.mentr', 'mentor'],
    ['expand', 'author,genrs', 'genres'],
    ['expand', 'Author', 'author'],
    ['expand', 'title'],
    ['expand', 'author.name'],
    ['expand', 'size'],
    ['expand', 'meta'],
    ['expand', 'titleLength'],
    ['expand', 'author.home'],
    ['expand', 'author.passwordHash'],
    ['expand', 'draft'],
    ['expand', '!author'],
    ['expand', '*'],
    ['expand', ','],
    ['expand', 'author,'],
    ['expand', 'author.'],
    ['expand', '.author'],
    ['expand', 'author..mentor'],
    ['expand', 'author, genres'],
    ['expand', 'genres__inverse'],
    ['expand', '__proto__'],
    ['expand', 'author.constructor'],
    ['expand', 'author.mentor.mentor.mentor.mentor.mentor'],
    ['attributes', 'titel', 'title'],
    ['attributes', '!titel', 'title'],
    ['attributes', 'id,titel', 'title'],
    ['attributes', 'author.nam', 'name'],
    ['attributes', '!author.nam', 'name'],
    ['attributes', 'size.widht', 'width'],
    ['attributes', 'author.home.cty', 'city'],
    ['attributes', 'Title', 'title'],
    ['attributes', '*'],
    ['attributes', '!'],
    ['attributes', '!!title'],
    ['attributes', ','],
    ['attributes', 'title,'],
    ['attributes', 'title.x'],
    ['attributes', 'meta.z'],
    ['attributes', 'author.'],
    ['attributes', '.title'],
    ['attributes', 'title, id'],
    ['attributes', 'draft'],
    ['attributes', '!draft'],
    ['attributes', 'author.passwordHash'],
    ['attributes', '!author.passwordHash'],
    ['attributes', 'author.penName', 'pen_name'],
    ['attributes', 'author_id'],
    ['attributes', '__proto__'],
    ['attributes', 'author.constructor'],
    ['attributes', 'author.mentor.mentor.mentor.mentor.mentor.name'],
  ]
  for (const [parameter, value, suggestion] of refused) {
    it(`refuses ${parameter}=${value}${suggestion === undefined ? '' : `, and suggests ${suggestion}`}`, async () => {
      for (const path of ['/v1/books', '/v1/books/1', '/v1/books/2/sequelOf', '/v1/authors/1/books']) {
        const answer = await target.call('GET', path, { [parameter]: value })
        assert.equal(answer.status, 400, JSON.stringify(answer.body))
        assertSound(answer, [parameter, value])
        assert.equal(answer.body.errors[0].parameter, parameter)
        if (suggestion !== undefined) assert.equal(answer.body.errors[0].suggestion, suggestion)
      }
    })
  }

  for (const parameter of ['depth', 'expand', 'attributes']) {
    it(`refuses ${parameter} twice, and takes an empty one ${parameter === 'depth' ? 'not at all' : 'as none'}`, async () => {
      for (const path of ['/v1/books', '/v1/books/1']) {
        const twice = await target.call('GET', `${path}?${parameter}=1&${parameter}=1`)
        assert.equal(twice.status, 400)
        assert.equal(twice.body.errors[0].parameter, parameter)
        assert.equal((await target.call('GET', `${path}?${parameter}=`)).status, parameter === 'depth' ? 400 : 200)
      }
    })
  }

  it('takes paths of five relations in expand and attributes', async () => {
    const path = 'author.mentor.mentor.mentor.mentor'
    assert.equal((await target.call('GET', '/v1/books', { depth: 0, expand: path })).status, 200)
    assert.equal((await target.call('GET', '/v1/books', { depth: 0, attributes: `${path}.name` })).status, 200)
  })

  it('takes expand and attributes given twice as one list', async () => {
    const whole = await target.call('GET', '/v1/books/2?expand=author,genres&attributes=title,author.name,genres')
    const parts = await target.call('GET', '/v1/books/2?expand=author&expand=genres&attributes=title,author.name&attributes=genres')
    assert.deepEqual(parts.body.book, whole.body.book)
    assert.equal(typeof parts.body.book.author, 'object')
    for (const query of ['depth=1&depth=1', 'depth=0&depth=2']) {
      const { body } = await target.call('GET', `/v1/books/2?${query}`)
      assert.equal(body.errors[0].code, 'parameter_repeated')
    }
  })
})
