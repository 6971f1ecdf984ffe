/** Statements: a page costs a fixed number of them, whatever its size and however many records it leads to. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { watchStatements } from '../helpers/statements.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Query } from '../helpers/encode-query.ts'
import type { Target } from '../helpers/targets.ts'

const ALL = 40
const each = <T>(make: (id: number) => T): T[] => Array.from({ length: ALL }, (_, index) => make(index + 1))
const next = (id: number, by = 1): number => ((id - 1 + by) % ALL) + 1

/** Records of which none has an empty relation, so that none is left out. */
const seed = {
  genres: each(id => ({ id, name: `genre ${id}`, parent: next(id) })),
  authors: each(id => ({
    id,
    name: `author ${id}`,
    email: `${id}@example.test`,
    mentor: next(id, 7),
    home: { street: 's', city: `${id % 5}` },
  })),
  profiles: each(id => ({ id, website: `w${id}`, author: id })),
  books: each(id => ({
    id,
    title: `book ${id}`,
    author: id,
    sequelOf: next(id),
    genres: [id, next(id), next(id, 2)],
    similar: [next(id, 3), next(id, 4)],
  })),
  reviews: each(id => ({ author: id, number: 1, stars: id % 5, book: next(id) })),
  comments: each(id => ({ id, text: `${id}`, review: `${id}~1` })),
  branches: each(id => ({ code: `B${id}`, name: `${id}` })),
  shelves: each(id => ({ room: `R${id}`, number: id })),
  copies: each(id => ({ book: id, branch: `B${id}`, shelf: `R${id}~${id}` })),
}

async function statementsOf(target: Target, path: string, query: Query, expected: number): Promise<number> {
  const { result, sql } = await watchStatements(() => target.call('GET', path, query))
  assert.equal(result.status, 200, JSON.stringify(result.body))
  const { body } = result
  if (Array.isArray(body[body.resource])) assert.equal(body[body.resource].length, expected)
  return sql.length
}

describeTargets('statements', { ...library, seed, fresh: 'suite' }, target => {
  // At most: the rows, the count, and one for each relation that is shown.
  const pages: [path: string, query: string, most: number][] = [
    ['authors', 'depth=0', 2],
    ['authors', 'depth=1', 2 + 5],
    ['authors', 'depth=2', 2 + 5 + 5 + 5 + 1 + 7 + 3],
    ['authors', 'depth=0&expand=books', 2 + 1],
    ['authors', 'depth=0&expand=books.reviews.comments,mentor.profile', 2 + 5],
    ['authors', 'depth=1&expand=books.genres', 2 + 5 + 7 + 3],
    ['authors', 'depth=2&expand=books', 2 + 5 + 5 + 5 + 1 + 3 + 7 + 5 + 7 + 7 + 3 + 7 + 3 + 3],
    ['authors', 'depth=0&attributes=id,name', 2],
    ['authors', 'attributes=id,name', 2],
    ['authors', 'attributes=id,mentor', 2],
    ['authors', 'attributes=id,books', 2 + 1],
    ['authors', 'depth=0&sort=books.reviews.stars.desc,mentor.name&books.genres.name=*&home.city!=9', 2],
    ['authors', 'depth=0&sort=books,pupils.desc&mentor.mentor.mentor.name=*&reviews.comments!=null', 2],
    ['books', 'depth=1', 2 + 7],
    ['books', 'depth=2', 2 + 7 + 5 + 7 + 7 + 3 + 7 + 3 + 3],
    ['genres', 'depth=2', 2 + 3 + 3 + 3 + 7],
    ['reviews', 'depth=2', 2 + 3 + 5 + 7 + 1],
    ['copies', 'depth=2', 2 + 3 + 7 + 1 + 1],
    ['copies', 'depth=1', 2],
  ]
  for (const [path, query, most] of pages) {
    it(`reads a page of ${path}?${query} with as many statements for 2 records as for ${ALL - 1}`, async () => {
      const few = await statementsOf(target, `/v1/${path}?${query}`, { limit: 2 }, 2)
      assert.ok(few <= most, `${few} statements, at most ${most} expected`)
      for (const limit of [3, 10, ALL - 1]) assert.equal(await statementsOf(target, `/v1/${path}?${query}`, { limit }, limit), few)
      assert.equal(await statementsOf(target, `/v1/${path}?${query}`, { limit: 10, offset: 10 }, 10), few)
      // A page that is the whole needs no more.
      assert.ok((await statementsOf(target, `/v1/${path}?${query}`, {}, ALL)) <= few)
      assert.ok((await statementsOf(target, `/v1/${path}?${query}`, { limit: 10, offset: ALL - 5 }, 5)) <= few)
    })
  }

  it('reads the list of an attribute with a fixed number of statements, too', async () => {
    for (const query of ['depth=0', 'depth=1', 'depth=2', 'depth=0&expand=books.reviews']) {
      const counts = new Set<number>()
      for (const id of [1, 20, ALL]) {
        for (const limit of [1, 2]) counts.add(await statementsOf(target, `/v1/books/${id}/genres?${query}`, { limit }, limit))
      }
      assert.equal(counts.size, 1, `${query}: ${[...counts].join()}`)
    }
  })

  it('reads one record with a fixed number of statements', async () => {
    for (const [path, most] of [
      ['/v1/authors/1?depth=0', 1],
      ['/v1/authors/1', 1 + 5],
      ['/v1/books/1/title', 1],
      ['/v1/books/1/author?depth=0', 2],
    ] as const) {
      const count = await statementsOf(target, path, {}, 1)
      assert.ok(count <= most, `${path}: ${count}`)
    }
  })

  const sqlOf = async (path: string): Promise<string[]> => {
    const { result, sql } = await watchStatements(() => target.call('GET', path))
    assert.equal(result.status, 200, JSON.stringify(result.body))
    return sql
  }

  it('reads the relations of one record by plain comparisons, those of several by a list of keys', target.except('SQL'), async () => {
    for (const path of ['/v1/authors/1?depth=2&expand=books', '/v1/books/1', '/v1/reviews/1~1?depth=2', '/v1/books?limit=1&depth=1']) {
      const [first] = (await sqlOf(path)).filter(text => text.includes('json_each'))
      // Further in there may be several records again.
      if (!path.includes('depth=2')) assert.equal(first, undefined)
      assert.ok(
        (await sqlOf(path)).some(text => /where t\d+\."\w+" = \?/.test(text)),
        path,
      )
    }
    assert.ok((await sqlOf('/v1/books?limit=2&depth=1')).some(text => text.includes('json_each')))
  })

  // Both ways give the same records; which one is fast depends on how many records are asked.
  const ways: [way: 'once' | 'each', path: string][] = [
    ['once', '/v1/authors?books.title=book*&depth=0'],
    ['once', '/v1/authors?!books.title=book*&depth=0'],
    ['once', '/v1/authors?books.genres.name=genre*&depth=0'],
    ['once', '/v1/books?genres.name=genre*&reviews.stars=3&depth=0'],
    ['once', '/v1/books?genres.name|title=genre*&depth=0'],
    ['once', '/v1/authors?name=author+1&books=1&depth=0'],
    ['each', '/v1/authors?name=author+1&books.title=book*&depth=0'],
    ['each', '/v1/authors?books.title=book*&id<=3&depth=0'],
    ['each', '/v1/genres/1/books?reviews.stars=3&depth=0'],
    ['each', '/v1/authors?books=null&depth=0'],
  ]
  for (const [way, path] of ways) {
    it(`${way === 'once' ? 'finds the owners of what meets a filter once for all' : 'looks for what meets a filter record by record'}: ${path}`, async () => {
      const text = (await sqlOf(path)).join('; ')
      assert.equal(/ in \(select t\d/.test(text), way === 'once' || path.includes('/genres/'), text)
      assert.equal(text.includes('exists ('), way === 'each', text)
    })
  }

  it('runs at most one statement for a page without records', async () => {
    // A page and its count go to a server at once.
    const most = target.store === 'postgres' ? 2 : 1
    assert.ok((await statementsOf(target, '/v1/authors', { limit: 0, depth: 2 }, 0)) <= 1)
    assert.ok((await statementsOf(target, '/v1/authors', { id: 99, depth: 2 }, 0)) <= most)
  })

  it('runs none for what it refuses', async () => {
    for (const query of [
      'nope=1',
      'sort=nope',
      'depth=3',
      'limit=x',
      'expand=name',
      'attributes=nope',
      'id=abc',
      'books=x',
      'mentor.nope=1',
    ]) {
      const { result, sql } = await watchStatements(() => target.call('GET', '/v1/authors', query))
      assert.equal(result.status, 400)
      assert.deepEqual(sql, [])
    }
  })

  it('never puts a value into the text of a statement', async () => {
    const { result, sql } = await watchStatements(() =>
      target.call('GET', '/v1/authors', {
        name: 'needle1,needle2*,*needle3',
        '!bio~=': '*needle4',
        'email>': 'needle5',
        'books.title': 'needle6',
        'followers<': 77777001,
        mentor: 77777002,
        limit: 778,
        offset: 779,
      }),
    )
    assert.equal(result.status, 200)
    assert.ok(sql.length > 0)
    for (const text of sql) assert.doesNotMatch(text, /needle|77777|778|779/)
  })

  it('runs the same statements for other values', async () => {
    const texts = async (query: Query): Promise<string[]> => (await watchStatements(() => target.call('GET', '/v1/authors', query))).sql
    const query = { name: 'a*', 'mentor.name': 'x', 'followers>=': 1, limit: 5 }
    // On a server the last page tells whether the next one is likely to need a count.
    await texts(query)
    const first = await texts(query)
    assert.deepEqual(await texts({ name: 'é*', 'mentor.name': '', 'followers>=': -5, limit: 50 }), first)
  })

  it('replaces the members of a list with as many statements for 2 as for 20', target.except('unit of work'), async () => {
    const count = async (path: string, body: unknown): Promise<number> => {
      const { result, sql } = await watchStatements(() => target.call('PUT', path, {}, body))
      assert.equal(result.status, 200, JSON.stringify(result.body))
      return sql.length
    }
    const ids = (from: number, to: number): number[] => each(id => id).slice(from - 1, to)
    for (const list of ['/v1/books/1/genres', '/v1/books/2/similar', '/v1/genres/3/children']) {
      // The first write of an engine makes triggers.
      await count(list, ids(7, 8))
      const few = await count(list, ids(21, 22))
      assert.equal(await count(list, ids(5, 24)), few, list)
      assert.equal(await count(list, ids(1, 40).slice(4)), few, list)
      assert.equal(await count(list, ids(31, 32)), few, list)
    }
  })

  it('deletes the records of a list with as many statements for 2 as for 20', target.except('unit of work'), async () => {
    const genres = each(id => id + 100).slice(0, 25)
    for (const id of genres) await target.call('POST', '/v1/genres', {}, { id, name: `further ${id}` })
    const count = async (book: number, of: readonly number[]): Promise<number> => {
      await target.call('PUT', `/v1/books/${book}/genres`, {}, of)
      const { result, sql } = await watchStatements(() => target.call('DELETE', `/v1/books/${book}/genres`, 'depth=0'))
      assert.equal(result.status, 200, JSON.stringify(result.body))
      assert.equal(result.body.count, of.length)
      return sql.length
    }
    await count(1, genres.slice(0, 2))
    assert.equal(await count(2, genres.slice(5)), await count(3, genres.slice(2, 4)))
  })

  it('reads the records of a list that it deletes once, where they show their keys', target.except('unit of work'), async () => {
    const count = async (query: string): Promise<number> => {
      const ids = [201, 202, 203]
      for (const id of ids) await target.call('POST', '/v1/genres', {}, { id, name: `passing ${id}` })
      await target.call('PUT', '/v1/books/5/genres', {}, ids)
      const { result, sql } = await watchStatements(() => target.call('DELETE', '/v1/books/5/genres', query))
      assert.equal(result.body.count, ids.length)
      for (const id of ids) assert.equal((await target.call('GET', `/v1/genres/${id}`)).status, 404)
      return sql.length
    }
    await count('depth=0')
    assert.equal(await count('depth=0&attributes=name'), (await count('depth=0')) + 1)
  })
})
