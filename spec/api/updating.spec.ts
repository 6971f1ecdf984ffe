/** PUT and PATCH of a record: what changes, what stays, links and lists, the key, and what is not taken. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

const seed = {
  authors: [
    {
      id: 1,
      name: 'Ann',
      email: 'ann@example.test',
      bio: 'old',
      born: '1900-01-01',
      home: { street: 'High St', city: 'Haworth', zip: 'BD22' },
    },
    { id: 2, name: 'Bob', email: 'bob@example.test', mentor: 1 },
    { id: 3, name: 'Cid', email: 'cid@example.test' },
  ],
  profiles: [
    { id: 1, website: 'https://ann.test', author: 1 },
    { id: 2, website: 'https://bob.test', author: 2 },
  ],
  books: [
    { id: 1, title: 'One', author: 1, genres: [1, 2], meta: { a: 1, b: { c: 2 } }, size: { width: 1, height: 2, unit: 'in' } },
    { id: 2, title: 'Two', author: 1, sequelOf: 1 },
    { id: 3, title: 'Three', author: 2 },
  ],
  genres: [
    { id: 1, name: 'crime' },
    { id: 2, name: 'satire', parent: 1 },
    { id: 3, name: 'drama' },
  ],
  reviews: [{ author: 2, number: 1, stars: 4, book: 1 }],
  branches: [{ code: 'N', name: 'North', sign: { width: 3, height: 4 } }],
  shelves: [{ room: 'A~1', number: 4 }],
  copies: [
    { id: '00000000-0000-4000-8000-000000000001', book: 1, branch: 'N', shelf: 'A%7E1~4' },
    { id: '00000000-0000-4000-8000-000000000002', book: 1 },
  ],
}

const COPY = '/v1/copies/00000000-0000-4000-8000-000000000001'

/** The attribute of a record as a new request shows it. */
async function shown(target: Target, path: string, attribute: string): Promise<unknown> {
  const { body } = await target.call('GET', path)
  return body[body.resource][attribute]
}

describeTargets('updating', { ...library, seed }, target => {
  for (const method of ['PUT', 'PATCH']) {
    it(`${method} changes the given attributes, leaves the others, and answers with the record`, async () => {
      const before = (await target.call('GET', '/v1/authors/1')).body.author as Record<string, unknown>
      const { status, headers, body } = await target.call(method, '/v1/authors/1', undefined, { name: 'Anne', bio: null })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(headers['location'], undefined)
      assert.deepEqual(Object.keys(body as object), ['success', 'timestamp', 'resource', 'author'])
      assert.equal(body.resource, 'author')
      assert.deepEqual(body.author, { ...before, name: 'Anne', bio: null, updatedAt: body.author.updatedAt as string })
      assert.match(body.author.updatedAt as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual((await target.call('GET', '/v1/authors/1')).body.author, body.author)
    })
  }

  it('changes nothing for an empty object', async () => {
    const before = (await target.call('GET', '/v1/authors/1')).body.author as object
    const { status, body } = await target.call('PUT', '/v1/authors/1', undefined, {})
    assert.equal(status, 200)
    assert.deepEqual(body.author, before)
  })

  const changes: [path: string, body: object, attribute: string, value: unknown][] = [
    ['/v1/authors/1', { born: '2000-02-29' }, 'born', '2000-02-29'],
    ['/v1/authors/1', { born: null }, 'born', null],
    ['/v1/authors/1', { wakesAt: '06:00' }, 'wakesAt', '06:00:00'],
    ['/v1/authors/1', { active: false }, 'active', false],
    ['/v1/authors/1', { rating: 3 }, 'rating', 3],
    ['/v1/authors/1', { royalties: '10' }, 'royalties', '10.00'],
    ['/v1/authors/1', { followers: '9007199254740993' }, 'followers', '9007199254740993'],
    ['/v1/authors/1', { role: 'translator' }, 'role', 'translator'],
    ['/v1/authors/1', { pen_name: 'X' }, 'pen_name', 'X'],
    ['/v1/authors/1', { createdAt: '2020-01-01' }, 'createdAt', '2020-01-01T00:00:00.000Z'],
    ['/v1/authors/1', { home: { city: 'Leeds' } }, 'home', { street: 'High St', city: 'Leeds', zip: 'BD22' }],
    ['/v1/authors/1', { home: { zip: null } }, 'home', { street: 'High St', city: 'Haworth', zip: null }],
    ['/v1/authors/1', { home: {} }, 'home', { street: 'High St', city: 'Haworth', zip: 'BD22' }],
    ['/v1/authors/1', { home: null }, 'home', null],
    ['/v1/authors/3', { home: { street: 'A', city: 'B' } }, 'home', { street: 'A', city: 'B', zip: null }],
    ['/v1/books/1', { size: { height: 9 } }, 'size', { width: 1, height: 9, unit: 'in', measuredOn: null }],
    ['/v1/books/1', { size: null }, 'size', null],
    ['/v1/books/3', { size: { width: 1, height: 1 } }, 'size', { width: 1, height: 1, unit: 'mm', measuredOn: null }],
    ['/v1/branches/N', { sign: { unit: 'in' } }, 'sign', { width: 3, height: 4, unit: 'in', measuredOn: null }],
    ['/v1/books/1', { meta: { b: { d: 3 } } }, 'meta', { b: { d: 3 } }],
    ['/v1/books/1', { meta: [1] }, 'meta', [1]],
    ['/v1/books/1', { meta: null }, 'meta', null],
    ['/v1/books/1', { cover: '/+8=' }, 'cover', '/+8='],
    ['/v1/books/1', { edition: 2 }, 'edition', 2],
    ['/v1/books/1', { barcode: '-1' }, 'barcode', '-1'],
    ['/v1/books/1', { views: 7 }, 'views', 7],
    ['/v1/books/1', { title: 'Längst' }, 'titleLength', 6],
    ['/v1/books/1', { author: 3 }, 'author', 3],
    ['/v1/authors/2', { mentor: null }, 'mentor', null],
    ['/v1/authors/1', { mentor: 1 }, 'mentor', 1],
    ['/v1/authors/1', { pupils: [3] }, 'pupils', [3]],
    ['/v1/authors/1', { pupils: [] }, 'pupils', []],
    ['/v1/authors/1', { pupils: [1, 2, 3] }, 'pupils', [1, 2, 3]],
    ['/v1/books/1', { genres: [3, 2] }, 'genres', [2, 3]],
    ['/v1/books/1', { genres: [] }, 'genres', []],
    ['/v1/books/1', { genres: [1, 1, 1] }, 'genres', [1]],
    ['/v1/genres/3', { books: [1, 3] }, 'books', [1, 3]],
    ['/v1/books/1', { similar: [1, 2] }, 'similar', [1, 2]],
    ['/v1/books/1', { sequel: 3 }, 'sequel', 3],
    ['/v1/books/1', { sequel: 2 }, 'sequel', 2],
    ['/v1/books/1', { sequel: null }, 'sequel', null],
    ['/v1/books/2', { sequelOf: null }, 'sequelOf', null],
    ['/v1/books/2', { sequelOf: 3 }, 'sequelOf', 3],
    ['/v1/profiles/1', { author: 3 }, 'author', 3],
    ['/v1/authors/3', { profile: 2 }, 'profile', 2],
    ['/v1/reviews/2~1', { stars: 1, text: '' }, 'stars', 1],
    ['/v1/genres/1', { parent: 2 }, 'parent', 2],
    [COPY, { shelf: null }, 'shelf', null],
    [COPY, { branch: null, loanable: false }, 'branch', null],
    ['/v1/shelves/A%7E1~4', { label: 'L' }, 'label', 'L'],
  ]
  describe('of one attribute', () => {
    for (const [path, body, attribute, value] of changes) {
      it(`PUT ${path} ${JSON.stringify(body)} makes ${attribute} ${JSON.stringify(value)}`, async () => {
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.deepEqual(answer.body[answer.body.resource][attribute], value)
        assert.deepEqual(await shown(target, path, attribute), value)
      })
    }
  })

  it('shows a changed link on both sides', async () => {
    await target.call('PUT', '/v1/books/1', undefined, { sequel: 3 })
    assert.equal(await shown(target, '/v1/books/3', 'sequelOf'), 1)
    assert.equal(await shown(target, '/v1/books/2', 'sequelOf'), null)
    await target.call('PUT', '/v1/books/3', undefined, { author: 3 })
    assert.deepEqual(await shown(target, '/v1/authors/2', 'books'), [])
    assert.deepEqual(await shown(target, '/v1/authors/3', 'books'), [3])
    await target.call('PUT', '/v1/authors/3', undefined, { profile: 2 })
    assert.equal(await shown(target, '/v1/profiles/2', 'author'), 3)
    assert.equal(await shown(target, '/v1/authors/2', 'profile'), null)
  })

  it('creates what an object stands for, and leaves the record that was linked before', async () => {
    const answer = await target.call('PUT', '/v1/books/1', { depth: 2 }, { author: { name: 'Dee', email: 'dee@example.test' } })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(answer.body.book.author.name, 'Dee')
    assert.equal(answer.body.book.author.id, 4)
    assert.equal(await shown(target, '/v1/authors/1', 'name'), 'Ann')
  })

  it('replaces a list by IDs and objects together', async () => {
    const answer = await target.call('PUT', '/v1/books/1', { attributes: 'genres.name', depth: 2 }, { genres: [2, { name: 'new' }] })
    assert.deepEqual(answer.body.book.genres, [{ name: 'satire' }, { name: 'new' }])
    const pupils = await target.call(
      'PUT',
      '/v1/authors/1',
      { attributes: 'pupils.name', depth: 2 },
      {
        pupils: [3, { name: 'Dee', email: 'dee@example.test' }],
      },
    )
    assert.deepEqual(pupils.body.author.pupils, [{ name: 'Cid' }, { name: 'Dee' }])
    assert.equal(await shown(target, '/v1/authors/2', 'mentor'), null)
  })

  it('removes the orphans of a replaced list where the model says so', async () => {
    const answer = await target.call('PUT', '/v1/books/1', undefined, { copies: ['00000000-0000-4000-8000-000000000002'] })
    assert.deepEqual(answer.body.book.copies, ['00000000-0000-4000-8000-000000000002'])
    assert.equal((await target.call('GET', COPY)).status, 404)
  })

  it('takes a list as it is, in its own order, for no change', async () => {
    const before = (await target.call('GET', '/v1/authors/1')).body.author as Record<string, unknown>
    const sent = { books: before['books'], pupils: before['pupils'], profile: before['profile'] }
    const answer = await target.call('PUT', '/v1/authors/1', undefined, sent)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual({ ...answer.body.author, updatedAt: null }, before)
  })

  it('takes the whole record as it was read, without what is computed', async () => {
    for (const path of [
      '/v1/authors/1',
      '/v1/reviews/2~1',
      '/v1/genres/2',
      '/v1/profiles/1',
      COPY,
      '/v1/branches/N',
      '/v1/shelves/A%7E1~4',
    ]) {
      const { body: read } = await target.call('GET', path)
      const record = read[read.resource] as Record<string, unknown>
      const answer = await target.call('PUT', path, undefined, record)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const after = answer.body[answer.body.resource] as Record<string, unknown>
      assert.deepEqual('updatedAt' in after ? { ...after, updatedAt: null } : after, record)
    }
    const { titleLength: _, ...book } = (await target.call('GET', '/v1/books/1')).body.book as Record<string, unknown>
    const answer = await target.call('PUT', '/v1/books/1', undefined, book)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(answer.body.book, { ...book, titleLength: 3 })
  })

  it('swaps two unique values in two requests by way of a third', async () => {
    assert.equal((await target.call('PUT', '/v1/genres/1', undefined, { name: 'tmp' })).status, 200)
    assert.equal((await target.call('PUT', '/v1/genres/2', undefined, { name: 'crime' })).status, 200)
    assert.equal((await target.call('PUT', '/v1/genres/1', undefined, { name: 'satire' })).status, 200)
  })

  it('renders the answer as depth, attributes and expand ask', async () => {
    assert.deepEqual((await target.call('PUT', '/v1/books/1', { attributes: 'title', depth: 0 }, { title: 'X' })).body.book, { title: 'X' })
    const expanded = await target.call('PATCH', '/v1/books/1', { attributes: 'author.name', expand: 'author' }, { author: 2 })
    assert.deepEqual(expanded.body.book, { author: { name: 'Bob' } })
  })
})

describeTargets('refused updates', { ...library, seed, fresh: 'suite' }, target => {
  for (const query of ['limit=5', 'offset=0', 'sort=id', 'name=x', 'depth=3', 'attributes=nope', 'expand=nope']) {
    it(`refuses ?${query} and writes nothing`, async () => {
      const answer = await target.call('PUT', '/v1/genres/3', query, { name: 'poetry' })
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assert.equal(await shown(target, '/v1/genres/3', 'name'), 'drama')
    })
  }

  for (const body of [undefined, null, [], 'text', 5]) {
    it(`refuses ${JSON.stringify(body) ?? 'no body'} in place of an object`, async () => {
      for (const method of ['PUT', 'PATCH']) {
        const answer = await target.call(method, '/v1/genres/3', undefined, body)
        assert.equal(answer.status, 400)
        assert.equal(answer.body.code, 'body_invalid')
      }
    })
  }

  it('says what an ID is where one cannot be', async () => {
    const detail = async (path: string): Promise<string> => (await target.call('GET', path)).body.detail
    assert.equal(await detail('/v1/genres/abc'), 'There is no genre with the ID abc: an ID of a genre is an integer.')
    assert.equal(await detail('/v1/genres/99'), 'There is no genre with the ID 99.')
  })

  for (const id of ['99', 'abc', '01', '1e3', '1.0', '-0', '1180591620717411303424', '1~2', '%20', 'null']) {
    it(`knows no record with the ID ${id}`, async () => {
      const answer = await target.call('PUT', `/v1/genres/${id}`, undefined, { name: 'x' })
      assert.equal(answer.status, 404)
      assert.equal(answer.body.code, 'record_not_found')
    })
  }

  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    it(`does not take ${method} for a collection`, async () => {
      const answer = await target.call(method, '/v1/genres', undefined, method === 'DELETE' ? undefined : { name: 'x' })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers['allow'], 'GET, HEAD, QUERY, POST, OPTIONS')
    })
  }

  it('holds a body against the record only when there is one', async () => {
    assert.equal((await target.call('PUT', '/v1/genres/99', undefined, { name: 5, nope: 1 })).status, 404)
  })
})
