/** DELETE of a record: what it answers, what goes with the record, what is unlinked, and what keeps it from going. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { readTables } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

const COPY = '00000000-0000-4000-8000-000000000001'

const seed = {
  authors: [
    { id: 1, name: 'Ann', email: 'ann@example.test', books: [{ id: 1, title: 'One', genres: [1, 2], similar: [2] }] },
    { id: 2, name: 'Bob', email: 'bob@example.test', mentor: 3 },
    { id: 3, name: 'Cid', email: 'cid@example.test', mentor: 3 },
    { id: 4, name: 'Dee', email: 'dee@example.test' },
    { id: 5, name: 'Eve', email: 'eve@example.test' },
  ],
  profiles: [{ id: 1, author: 4 }],
  books: [
    { id: 2, title: 'Two', author: 1, sequelOf: 1, genres: [2] },
    { id: 3, title: 'Three', author: 2 },
  ],
  genres: [
    { id: 1, name: 'crime' },
    { id: 2, name: 'satire', parent: 1 },
  ],
  reviews: [
    { author: 5, number: 1, stars: 4, book: 3, comments: [{ id: 1, text: 'yes' }] },
    { author: 5, number: 2, stars: 2, book: 3 },
  ],
  branches: [{ code: 'a/b', name: 'North' }],
  shelves: [{ room: 'A~1', number: 4 }],
  copies: [{ id: COPY, book: 1, branch: 'a/b', shelf: 'A%7E1~4' }],
}

async function shown(target: Target, path: string): Promise<Record<string, unknown>> {
  const { body } = await target.call('GET', path)
  return body[body.resource] as Record<string, unknown>
}

describeTargets('deleting', { ...library, seed }, target => {
  const free = [
    '/v1/profiles/1',
    '/v1/genres/1',
    '/v1/reviews/5~2',
    '/v1/branches/a%2Fb',
    '/v1/shelves/A%7E1~4',
    `/v1/copies/${COPY}`,
    '/v1/comments/1',
  ]
  for (const path of free) {
    it(`DELETE ${path} answers with the record as it was, which is then gone`, async () => {
      const before = await target.call('GET', path)
      const { status, body } = await target.call('DELETE', path)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(body, { ...before.body, timestamp: body.timestamp as string, status: 'OK' })
      for (const method of ['GET', 'DELETE']) assert.equal((await target.call(method, path)).status, 404)
      assert.equal((await target.call('PUT', path, undefined, {})).status, 404)
    })
  }

  it('unlinks those that refer to the record and can do without', async () => {
    assert.equal((await target.call('DELETE', '/v1/genres/1')).status, 200)
    assert.equal((await shown(target, '/v1/genres/2'))['parent'], null)
    assert.deepEqual((await shown(target, '/v1/books/1'))['genres'], [2])
    assert.equal((await target.call('DELETE', '/v1/branches/a%2Fb')).status, 200)
    assert.equal((await target.call('DELETE', '/v1/shelves/A%7E1~4')).status, 200)
    const copy = await shown(target, `/v1/copies/${COPY}`)
    assert.deepEqual([copy['branch'], copy['shelf'], copy['book']], [null, null, 1])
  })

  it('deletes a record that refers to itself, and unlinks its pupils', async () => {
    assert.equal((await target.call('DELETE', '/v1/authors/3')).status, 200)
    assert.equal((await shown(target, '/v1/authors/2'))['mentor'], null)
  })

  it('removes with a book its copies, which the model makes orphans of, and its places in lists', async () => {
    const answer = await target.call('DELETE', '/v1/books/1')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(answer.body.book.copies, [COPY])
    assert.equal((await target.call('GET', `/v1/copies/${COPY}`)).status, 404)
    assert.equal((await shown(target, '/v1/books/2'))['sequelOf'], null)
    assert.deepEqual((await shown(target, '/v1/genres/2'))['books'], [2])
  })

  const kept: [path: string, needed: string, by: string][] = [
    ['/v1/authors/1', 'books by an author', 'author'],
    ['/v1/authors/4', 'a profile', 'author'],
    ['/v1/authors/5', 'reviews whose key holds the author', 'author'],
    ['/v1/books/3', 'reviews of the book', 'book'],
    ['/v1/reviews/5~1', 'comments, by a key of two parts', 'review'],
  ]
  for (const [path, needed, by] of kept) {
    it(`does not DELETE ${path}, which is needed: ${needed}`, async () => {
      const before = await readTables(target.engine)
      const answer = await target.call('DELETE', path)
      assert.equal(answer.status, 409, JSON.stringify(answer.body))
      assert.equal(answer.body.code, 'owner_required')
      assert.ok((answer.body.detail as string).includes(`"${by}"`), 'the detail names the attribute that refers to it')
      assert.deepEqual(await readTables(target.engine), before)
    })
  }

  it('renders the deleted record as depth, attributes and expand ask', async () => {
    const { body } = await target.call('DELETE', '/v1/genres/2', { attributes: 'name,parent.name', expand: 'parent' })
    assert.deepEqual(body.genre, { name: 'satire', parent: { name: 'crime' } })
    assert.equal((await target.call('DELETE', '/v1/genres/1', { depth: 0 })).body.genre.parent, undefined)
  })

  it('ignores a body', async () => {
    assert.equal((await target.call('DELETE', '/v1/genres/2', undefined, { name: 5 })).status, 200)
  })
})

describeTargets('refused deletions', { ...library, seed, fresh: 'suite' }, target => {
  for (const query of ['limit=5', 'offset=0', 'sort=id', 'name=x', 'depth=3', 'attributes=nope', 'expand=nope']) {
    it(`refuses ?${query} and deletes nothing`, async () => {
      const answer = await target.call('DELETE', '/v1/genres/2', query)
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assert.equal((await target.call('GET', '/v1/genres/2')).status, 200)
    })
  }

  for (const path of ['/v1/genres/99', '/v1/genres/abc', '/v1/genres/01', '/v1/reviews/5~9', '/v1/reviews/5', '/v1/reviews/5~1~1']) {
    it(`finds nothing at ${path}`, async () => {
      const answer = await target.call('DELETE', path)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.code, 'record_not_found')
    })
  }
})

const Site = defineEntity({
  name: 'Site',
  properties: { id: p.integer().primary(), name: p.string(), tags: () => p.manyToMany(Tag).inversedBy('sites') },
})
const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string(), sites: () => p.manyToMany(Site).mappedBy('tags') },
})

const listed = {
  sites: [
    { id: 1, name: 'a', tags: [1, 2] },
    { id: 2, name: 'b', tags: [1, 3] },
  ],
  tags: [1, 2, 3].map(id => ({ id, name: `t${id}` })),
}

describeTargets('deleting a record that no other one refers to by a key', { entities: [Site, Tag], seed: listed }, target => {
  for (const [path, query] of [
    ['/v1/tags/1', {}],
    ['/v1/tags/2', { depth: 2 }],
    ['/v1/tags/3', { expand: 'sites.tags' }],
    ['/v1/sites/1', { attributes: 'tags' }],
  ] as const)
    it(`DELETE ${path} ${JSON.stringify(query)} answers with the lists that go with it`, async () => {
      const before = await target.call('GET', path, query)
      const { status, body } = await target.call('DELETE', path, query)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(body[body.resource], before.body[body.resource])
      assert.equal((await target.call('GET', path)).status, 404)
    })
})
