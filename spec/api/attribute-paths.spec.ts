/** Attribute paths: every method on every kind of attribute. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

/** An order for assertions. */
const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1)

const COPY = '00000000-0000-4000-8000-000000000001'

const seed = {
  authors: [
    {
      id: 1,
      name: 'Ann',
      email: 'ann@example.test',
      passwordHash: 'x',
      pen_name: 'A.',
      followers: '9007199254740993',
      home: { street: 'High St', city: 'Haworth', zip: 'BD22' },
    },
    { id: 2, name: 'Bob', email: 'bob@example.test', mentor: 1 },
    { id: 3, name: 'Cid', email: 'cid@example.test', mentor: 1 },
  ],
  profiles: [{ id: 1, website: 'https://ann.test', author: 1 }],
  books: [
    { id: 1, title: 'One', author: 1, genres: [1, 2], similar: [3], meta: { a: [1] }, cover: 'AAE=', published: '2020-01-01' },
    { id: 2, title: 'Two', author: 1, sequelOf: 1, size: { width: 1, height: 2 }, published: '2021-01-01' },
    { id: 3, title: 'Three', author: 2 },
  ],
  genres: [
    { id: 1, name: 'crime' },
    { id: 2, name: 'satire', parent: 1 },
    { id: 3, name: 'drama', parent: 1 },
  ],
  reviews: [{ author: 2, number: 1, stars: 4, book: 3, comments: [{ id: 1, text: 'yes' }] }],
  branches: [{ code: 'N', name: 'North', address: { street: 'S', city: 'C' } }],
  shelves: [{ room: 'A~1', number: 4 }],
  copies: [
    { id: COPY, book: 1, branch: 'N', shelf: 'A%7E1~4' },
    { id: '00000000-0000-4000-8000-000000000002', book: 1 },
  ],
}

const PLAIN_ALLOW = 'GET, HEAD, PUT, PATCH, OPTIONS'
const ONE_ALLOW = 'GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS'
const LIST_ALLOW = 'GET, HEAD, QUERY, POST, PUT, PATCH, DELETE, OPTIONS'

async function shown(target: Target, path: string): Promise<Record<string, unknown>> {
  const { body } = await target.call('GET', path)
  return body[body.resource] as Record<string, unknown>
}

async function count(target: Target, resource: string): Promise<number> {
  return (await target.call('GET', `/v1/${resource}`, { limit: 0 })).body.count as number
}

describeTargets('GET of an attribute', { ...library, seed, fresh: 'suite' }, target => {
  const plain: [path: string, resource: string, attribute: string, value: unknown][] = [
    ['/v1/authors/1/id', 'author', 'id', 1],
    ['/v1/authors/1/name', 'author', 'name', 'Ann'],
    ['/v1/authors/1/bio', 'author', 'bio', null],
    ['/v1/authors/1/pen_name', 'author', 'pen_name', 'A.'],
    ['/v1/authors/1/active', 'author', 'active', true],
    ['/v1/authors/1/royalties', 'author', 'royalties', '0.00'],
    ['/v1/authors/1/followers', 'author', 'followers', '9007199254740993'],
    ['/v1/authors/1/home', 'author', 'home', { street: 'High St', city: 'Haworth', zip: 'BD22' }],
    ['/v1/authors/2/home', 'author', 'home', null],
    ['/v1/books/1/meta', 'book', 'meta', { a: [1] }],
    ['/v1/books/1/cover', 'book', 'cover', 'AAE='],
    ['/v1/books/1/published', 'book', 'published', '2020-01-01T00:00:00.000Z'],
    ['/v1/books/1/titleLength', 'book', 'titleLength', 3],
    ['/v1/books/2/size', 'book', 'size', { width: 1, height: 2, unit: 'mm', measuredOn: null }],
    ['/v1/reviews/2~1/stars', 'review', 'stars', 4],
    ['/v1/shelves/A%7E1~4/room', 'shelf', 'room', 'A~1'],
    [`/v1/copies/${COPY.toUpperCase()}/loanable`, 'copy', 'loanable', true],
  ]
  for (const [path, resource, attribute, value] of plain) {
    it(`GET ${path} gives the value ${JSON.stringify(value)}`, async () => {
      const { status, body } = await target.call('GET', path)
      assert.equal(status, 200)
      assert.deepEqual(body, { success: true, timestamp: body.timestamp as string, resource, attribute, value })
    })
  }

  const one: [path: string, resource: string, same: string | null][] = [
    ['/v1/books/1/author', 'author', '/v1/authors/1'],
    ['/v1/authors/1/profile', 'profile', '/v1/profiles/1'],
    ['/v1/authors/2/profile', 'profile', null],
    ['/v1/authors/2/mentor', 'author', '/v1/authors/1'],
    ['/v1/authors/1/mentor', 'author', null],
    ['/v1/books/2/sequelOf', 'book', '/v1/books/1'],
    ['/v1/books/1/sequel', 'book', '/v1/books/2'],
    ['/v1/books/3/sequel', 'book', null],
    ['/v1/reviews/2~1/author', 'author', '/v1/authors/2'],
    ['/v1/comments/1/review', 'review', '/v1/reviews/2~1'],
    [`/v1/copies/${COPY}/shelf`, 'shelf', '/v1/shelves/A%7E1~4'],
  ]
  for (const [path, resource, same] of one) {
    it(`GET ${path} gives ${same === null ? 'null, as it is empty' : `what GET ${same} does`}`, async () => {
      const { status, body } = await target.call('GET', path)
      assert.equal(status, 200)
      const record = same === null ? null : await shown(target, same)
      assert.deepEqual(body, { success: true, timestamp: body.timestamp as string, resource, [resource]: record })
    })
  }

  const many: [path: string, resource: string, ids: unknown[]][] = [
    ['/v1/authors/1/books', 'books', [1, 2]],
    ['/v1/authors/1/pupils', 'authors', [2, 3]],
    ['/v1/authors/2/pupils', 'authors', []],
    ['/v1/books/1/genres', 'genres', [1, 2]],
    ['/v1/genres/2/books', 'books', [1]],
    ['/v1/books/1/similar', 'books', [3]],
    ['/v1/genres/1/children', 'genres', [2, 3]],
    ['/v1/branches/N/copies', 'copies', [COPY]],
    ['/v1/shelves/A%7E1~4/copies', 'copies', [COPY]],
  ]
  for (const [path, resource, ids] of many) {
    it(`GET ${path} gives the list of ${resource} ${JSON.stringify(ids)}`, async () => {
      const { status, body } = await target.call('GET', path, { sort: 'id' })
      assert.equal(status, 200)
      assert.equal(body.resource, resource)
      assert.equal(body.count, ids.length)
      assert.deepEqual(
        (body[resource] as { id: unknown }[]).map(({ id }) => id),
        ids,
      )
    })
  }

  for (const path of [
    '/v1/authors/1/nope',
    '/v1/authors/1/passwordHash',
    '/v1/authors/1/penName',
    '/v1/books/1/draft',
    '/v1/authors/1/name/x',
  ]) {
    it(`knows nothing at ${path}`, async () => {
      const answer = await target.call('GET', path)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.success, false)
    })
  }

  for (const path of ['/v1/authors/99/name', '/v1/authors/99/books', '/v1/authors/99/mentor', '/v1/authors/x/home']) {
    it(`finds no record for ${path}`, async () => {
      for (const method of ['GET', 'PUT']) {
        const answer = await target.call(method, path, undefined, method === 'PUT' ? [] : undefined)
        assert.ok(answer.status === 404 || (method === 'PUT' && answer.status === 400), String(answer.status))
      }
      assert.equal((await target.call('GET', path)).body.code, 'record_not_found')
    })
  }

  const impossible: [method: string, path: string, body: unknown, allow: string][] = [
    ['POST', '/v1/authors/1/name', { name: 'x' }, PLAIN_ALLOW],
    ['POST', '/v1/authors/1/home', { city: 'x' }, PLAIN_ALLOW],
    ['POST', '/v1/books/1/meta', {}, PLAIN_ALLOW],
    ['POST', '/v1/books/1/author', { name: 'x' }, ONE_ALLOW],
    ['POST', '/v1/authors/1/profile', {}, ONE_ALLOW],
    ['POST', '/v1/authors/1/mentor', {}, ONE_ALLOW],
    ['DELETE', '/v1/authors/1/name', undefined, PLAIN_ALLOW],
    ['DELETE', '/v1/authors/1/home', undefined, PLAIN_ALLOW],
    ['DELETE', '/v1/books/1/meta', undefined, PLAIN_ALLOW],
  ]
  for (const [method, path, body, allow] of impossible) {
    it(`${method} ${path} is not possible for this kind of attribute`, async () => {
      const answer = await target.call(method, path, undefined, body)
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assert.equal(answer.body.code, 'action_not_possible')
      assert.equal(answer.headers['allow'], allow)
    })
  }

  for (const [path, allow] of [
    ['/v1/authors/1/name', PLAIN_ALLOW],
    ['/v1/authors/1/home', PLAIN_ALLOW],
    ['/v1/authors/1/profile', ONE_ALLOW],
    ['/v1/authors/1/books', LIST_ALLOW],
    ['/v1/books/1/genres', LIST_ALLOW],
  ] as const) {
    it(`OPTIONS ${path} tells what it takes`, async () => {
      const answer = await target.call('OPTIONS', path)
      assert.equal(answer.status, 204)
      assert.equal(answer.headers['allow'], allow)
    })
  }

  it('does not take parameters for a plain attribute, nor list parameters for one record', async () => {
    for (const [path, query] of [
      ['/v1/authors/1/name', 'depth=0'],
      ['/v1/authors/1/home', 'limit=1'],
      ['/v1/books/1/author', 'limit=1'],
      ['/v1/books/1/author', 'name=x'],
      ['/v1/books/1/author', 'sort=id'],
    ] as const) {
      assert.equal((await target.call('GET', path, query)).status, 400, `${path}?${query}`)
    }
  })
})

describeTargets('PUT of an attribute', { ...library, seed }, target => {
  const plain: [path: string, body: unknown, value: unknown][] = [
    ['/v1/authors/1/name', 'Anne', 'Anne'],
    ['/v1/authors/1/name', '', ''],
    ['/v1/authors/1/bio', null, null],
    ['/v1/authors/1/active', false, false],
    ['/v1/authors/1/rating', 0, 0],
    ['/v1/authors/1/royalties', '1.5', '1.50'],
    ['/v1/authors/1/born', '1999-12-31', '1999-12-31'],
    ['/v1/authors/1/pen_name', 'B.', 'B.'],
    ['/v1/authors/1/id', 1, 1],
    ['/v1/authors/1/home', { zip: '1' }, { street: 'High St', city: 'Haworth', zip: '1' }],
    ['/v1/authors/1/home', null, null],
    ['/v1/branches/N/address', { city: 'D' }, { street: 'S', city: 'D', zip: null }],
    ['/v1/books/2/size', { width: 7 }, { width: 7, height: 2, unit: 'mm', measuredOn: null }],
    ['/v1/books/1/meta', { b: 1 }, { b: 1 }],
    ['/v1/books/1/meta', [1, 2], [1, 2]],
    ['/v1/books/1/meta', 'text', 'text'],
    ['/v1/books/1/meta', null, null],
    ['/v1/books/1/cover', '', ''],
    ['/v1/reviews/2~1/text', 'x', 'x'],
  ]
  for (const [path, body, value] of plain) {
    it(`${path} takes ${JSON.stringify(body)} and answers with the record`, async () => {
      const attribute = path.split('/').at(-1)!
      for (const method of ['PUT', 'PATCH']) {
        const answer = await target.call(method, path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.deepEqual(Object.keys(answer.body as object), ['success', 'timestamp', 'resource', answer.body.resource as string])
        assert.deepEqual(answer.body[answer.body.resource][attribute], value)
        assert.deepEqual((await target.call('GET', path)).body.value, value)
      }
    })
  }

  it('writes a hidden attribute by its path, without showing it', async () => {
    const answer = await target.call('PUT', '/v1/authors/1/passwordHash', undefined, 'new')
    assert.equal(answer.status, 200)
    assert.ok(!JSON.stringify(answer.body).includes('"new"'))
    const [row] = await target.engine.orm.em.fork().getConnection().execute('select password_hash as hash from author where id = 1')
    assert.deepEqual({ ...row }, { hash: 'new' })
  })

  const refused: [path: string, body: unknown, status: number][] = [
    ['/v1/authors/1/name', undefined, 400],
    ['/v1/authors/1/name', null, 422],
    ['/v1/authors/1/name', 5, 422],
    ['/v1/authors/1/name', { name: 'x' }, 422],
    ['/v1/authors/1/name', 'x'.repeat(61), 422],
    ['/v1/authors/1/email', 'bob@example.test', 409],
    ['/v1/authors/1/role', 'poet', 422],
    ['/v1/authors/1/home', 'x', 422],
    ['/v1/authors/1/home', { street: null }, 422],
    ['/v1/authors/2/home', { street: 'only' }, 422],
    ['/v1/authors/1/id', 2, 422],
    ['/v1/books/1/titleLength', 4, 422],
    ['/v1/books/1/author', null, 422],
    ['/v1/books/1/author', 99, 422],
    ['/v1/books/1/author', 'x', 422],
    ['/v1/books/1/author', [1], 400],
    ['/v1/books/1/author', true, 400],
    ['/v1/books/1/author', undefined, 400],
    ['/v1/books/1/author', { nope: 1 }, 422],
    ['/v1/books/1/author', { id: 2 }, 422],
    ['/v1/books/1/genres', 1, 400],
    ['/v1/books/1/genres', null, 400],
    ['/v1/books/1/genres', { name: 'x' }, 400],
    ['/v1/books/1/genres', undefined, 400],
    ['/v1/books/1/genres', [1, 99], 422],
    ['/v1/books/1/genres', [{ name: 5 }], 422],
    ['/v1/books/1/genres', [{ name: 'drama' }], 409],
    ['/v1/books/1/genres', [null], 422],
    ['/v1/authors/1/profile', null, 409],
    ['/v1/authors/1/books', [], 409],
    ['/v1/authors/1/books', [1], 409],
    ['/v1/authors/1/reviews', ['2~1'], 422],
  ]
  describe('is refused', () => {
    for (const [path, body, status] of refused) {
      it(`${path} ${JSON.stringify(body) ?? 'without a body'}: ${status}, and nothing changes`, async () => {
        const before = [await target.call('GET', '/v1/authors', { depth: 1 }), await target.call('GET', '/v1/books', { depth: 1 })]
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, status, JSON.stringify(answer.body))
        if (status === 422 || (status === 409 && answer.body.code === 'unique_conflict')) {
          const [fault] = answer.body.errors as { attribute: string }[]
          const attribute = path.split('/').at(-1)!
          if (body === null || typeof body !== 'object') assert.equal(fault!.attribute, attribute)
        }
        const after = [await target.call('GET', '/v1/authors', { depth: 1 }), await target.call('GET', '/v1/books', { depth: 1 })]
        assert.deepEqual(
          after.map(({ body: list }) => ({ ...list, timestamp: '' })),
          before.map(({ body: list }) => ({ ...list, timestamp: '' })),
        )
      })
    }
  })

  describe('to-one', () => {
    const links: [path: string, body: unknown, id: unknown][] = [
      ['/v1/books/1/author', 2, 2],
      ['/v1/authors/2/mentor', 3, 3],
      ['/v1/authors/2/mentor', 2, 2],
      ['/v1/authors/2/mentor', null, null],
      ['/v1/authors/1/mentor', null, null],
      ['/v1/books/3/sequelOf', 2, 2],
      ['/v1/books/2/sequelOf', 3, 3],
      ['/v1/books/3/sequel', 1, 1],
      ['/v1/books/1/sequel', 3, 3],
      ['/v1/books/1/sequel', null, null],
      ['/v1/authors/2/profile', 1, 1],
      ['/v1/authors/1/profile', 1, 1],
      [`/v1/copies/${COPY}/branch`, null, null],
      ['/v1/copies/00000000-0000-4000-8000-000000000002/branch', 'N', 'N'],
      ['/v1/copies/00000000-0000-4000-8000-000000000002/shelf', 'A%7E1~4', 'A%7E1~4'],
    ]
    for (const [path, body, id] of links) {
      it(`${path} ${JSON.stringify(body)} links ${JSON.stringify(id)}, and answers with the owner`, async () => {
        const [, , collection, owner, attribute] = path.split('/')
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.deepEqual(answer.body[answer.body.resource][attribute!], id)
        assert.deepEqual((await shown(target, `/v1/${collection}/${owner}`))[attribute!], id)
      })
    }

    const changed: [path: string, body: object, owner: string, linked: string, values: object][] = [
      ['/v1/books/1/author', { name: 'Anne' }, '/v1/books/1', '/v1/authors/1', { id: 1, name: 'Anne', email: 'ann@example.test' }],
      ['/v1/books/1/author', { id: 1, name: 'Anne' }, '/v1/books/1', '/v1/authors/1', { id: 1, name: 'Anne' }],
      ['/v1/authors/1/profile', { newsletter: true }, '/v1/authors/1', '/v1/profiles/1', { website: 'https://ann.test', newsletter: true }],
      ['/v1/authors/2/mentor', { bio: 'wise' }, '/v1/authors/2', '/v1/authors/1', { name: 'Ann', bio: 'wise' }],
      ['/v1/books/1/sequel', { title: 'II' }, '/v1/books/1', '/v1/books/2', { title: 'II', sequelOf: 1, author: 1 }],
      ['/v1/comments/1/review', { stars: 1 }, '/v1/comments/1', '/v1/reviews/2~1', { stars: 1, author: 2, number: 1 }],
      ['/v1/authors/2/mentor', { pupils: [2] }, '/v1/authors/2', '/v1/authors/1', { pupils: [2] }],
    ]
    for (const [path, body, owner, linked, values] of changed) {
      it(`${path} ${JSON.stringify(body)} changes the record that is linked`, async () => {
        const before = await shown(target, owner)
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.deepEqual(await shown(target, owner), before)
        const after = await shown(target, linked)
        for (const [name, value] of Object.entries(values)) assert.deepEqual(after[name], value)
      })
    }

    const created: [path: string, body: object, collection: string, answer: object][] = [
      ['/v1/authors/1/mentor', { name: 'Dee', email: 'd@example.test' }, 'authors', { mentor: 4 }],
      ['/v1/authors/2/profile', { website: 'w' }, 'profiles', { profile: 2 }],
      ['/v1/authors/2/profile', { website: 'w', author: 2 }, 'profiles', { profile: 2 }],
      ['/v1/books/3/sequel', { title: 'IV', author: 2 }, 'books', { sequel: 4 }],
    ]
    for (const [path, body, collection, expected] of created) {
      it(`${path} ${JSON.stringify(body)} creates and links a record where there was none`, async () => {
        const before = await count(target, collection)
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        for (const [name, value] of Object.entries(expected)) assert.deepEqual(answer.body[answer.body.resource][name], value)
        assert.equal(await count(target, collection), before + 1)
      })
    }

    it('asks for what the new record needs', async () => {
      const answer = await target.call('PUT', '/v1/authors/1/mentor', undefined, { name: 'Dee' })
      assert.equal(answer.status, 422)
      assert.deepEqual(
        (answer.body.errors as { attribute: string; code: string }[]).map(({ attribute, code }) => [attribute, code]),
        [['email', 'required']],
      )
    })
  })

  describe('list', () => {
    const lists: [path: string, body: unknown[], ids: unknown[]][] = [
      ['/v1/books/1/genres', [3], [3]],
      ['/v1/books/1/genres', [], []],
      ['/v1/books/1/genres', [2, 2], [2]],
      ['/v1/genres/3/books', [1, 2], [1, 2]],
      ['/v1/books/1/similar', [1, 2], [1, 2]],
      ['/v1/authors/1/pupils', [3], [3]],
      ['/v1/authors/1/pupils', [], []],
      ['/v1/genres/1/children', [1, 2], [1, 2]],
      ['/v1/authors/2/books', [1, 3], [1, 3]],
      ['/v1/branches/N/copies', [], []],
      ['/v1/shelves/A%7E1~4/copies', ['00000000-0000-4000-8000-000000000002'], ['00000000-0000-4000-8000-000000000002']],
    ]
    for (const [path, body, ids] of lists) {
      it(`${path} ${JSON.stringify(body)} replaces the members, and answers with the owner`, async () => {
        const [, , collection, owner, attribute] = path.split('/')
        const answer = await target.call('PUT', path, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.deepEqual((answer.body[answer.body.resource][attribute!] as unknown[]).toSorted(byText), ids)
        assert.deepEqual(((await shown(target, `/v1/${collection}/${owner}`))[attribute!] as unknown[]).toSorted(byText), ids)
      })
    }

    it('takes IDs and objects together, and creates what the objects stand for', async () => {
      const answer = await target.call('PUT', '/v1/books/1/genres', { depth: 2, attributes: 'genres.name' }, [3, { name: 'new' }])
      assert.deepEqual(answer.body.book.genres, [{ name: 'drama' }, { name: 'new' }])
      const pupils = await target.call('PUT', '/v1/authors/1/pupils', { depth: 2, attributes: 'pupils.name' }, [
        2,
        { name: 'Dee', email: 'd@example.test', mentor: 1 },
      ])
      assert.deepEqual(pupils.body.author.pupils, [{ name: 'Bob' }, { name: 'Dee' }])
    })

    it('removes orphans where the model says so', async () => {
      const answer = await target.call('PUT', '/v1/books/1/copies', undefined, [COPY])
      assert.deepEqual(answer.body.book.copies, [COPY])
      assert.equal(await count(target, 'copies'), 1)
    })
  })
})

describeTargets('POST of an attribute', { ...library, seed }, target => {
  const appended: [path: string, body: object, location: string, list: string, ids: unknown[]][] = [
    ['/v1/authors/1/books', { title: 'New' }, '/v1/books/4', 'books', [1, 2, 4]],
    ['/v1/author/1/books/', { title: 'New', author: 1 }, '/v1/books/4', 'books', [1, 2, 4]],
    ['/v1/authors/1/pupils', { name: 'Dee', email: 'd@example.test' }, '/v1/authors/4', 'pupils', [2, 3, 4]],
    ['/v1/books/1/genres', { name: 'new' }, '/v1/genres/4', 'genres', [1, 2, 4]],
    ['/v1/genres/2/books', { title: 'New', author: 1 }, '/v1/books/4', 'books', [1, 4]],
    ['/v1/books/1/similar', { title: 'New', author: 1 }, '/v1/books/4', 'similar', [3, 4]],
    ['/v1/genres/1/children', { name: 'new', children: [3] }, '/v1/genres/4', 'children', [2, 4]],
    ['/v1/authors/1/reviews', { number: 9, stars: 1, book: 1 }, '/v1/reviews/1~9', 'reviews', ['1~9']],
    ['/v1/books/1/reviews', { author: 3, number: 9, stars: 1 }, '/v1/reviews/3~9', 'reviews', ['3~9']],
    ['/v1/reviews/2~1/comments', { text: 'no' }, '/v1/comments/2', 'comments', [1, 2]],
    [
      '/v1/shelves/A%7E1~4/copies',
      { id: '00000000-0000-4000-8000-000000000009', book: 2 },
      '/v1/copies/00000000-0000-4000-8000-000000000009',
      'copies',
      [COPY, '00000000-0000-4000-8000-000000000009'],
    ],
  ]
  for (const [path, body, location, list, ids] of appended) {
    it(`${path} ${JSON.stringify(body)} makes ${location} and appends it`, async () => {
      const answer = await target.call('POST', path, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.equal(answer.headers['location'], location)
      assert.equal(answer.body.status, 'OK')
      const made = await target.call('GET', location)
      assert.equal(answer.body.resource, made.body.resource)
      assert.deepEqual(answer.body[answer.body.resource], made.body[made.body.resource])
      const owner = await shown(target, path.split('/').slice(0, 4).join('/'))
      assert.deepEqual((owner[list] as unknown[]).toSorted(byText), ids)
    })
  }

  const refused: [path: string, body: unknown, status: number, attributes: string[]][] = [
    ['/v1/authors/1/books', {}, 422, ['title']],
    ['/v1/authors/1/books', { title: 'x', author: 2 }, 422, ['author']],
    ['/v1/authors/1/books', { title: 'x', author: null }, 422, ['author']],
    ['/v1/authors/1/books', { title: 'x', author: { name: 'n', email: 'e' } }, 422, ['author']],
    ['/v1/authors/1/books', [{ title: 'x' }, 1], 400, []],
    ['/v1/authors/1/books', true, 400, []],
    ['/v1/authors/1/books', 99, 422, ['books.connect.0']],
    ['/v1/authors/1/books', undefined, 400, []],
    ['/v1/authors/99/books', { title: 'x' }, 404, []],
    ['/v1/books/1/genres', { name: 'crime' }, 409, ['name']],
    ['/v1/authors/2/reviews', { number: 1, stars: 1, book: 1 }, 409, ['author', 'number']],
    ['/v1/authors/2/reviews', { number: 1, stars: 'x', book: 1 }, 422, ['stars', 'author', 'number']],
  ]
  for (const [path, body, status, attributes] of refused) {
    it(`${path} ${JSON.stringify(body) ?? 'without a body'} is refused with ${status}, and nothing is written`, async () => {
      const counts = async () => [
        await count(target, 'books'),
        await count(target, 'genres'),
        await count(target, 'reviews'),
        await count(target, 'authors'),
      ]
      const before = await counts()
      const answer = await target.call('POST', path, undefined, body)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assert.deepEqual(
        ((answer.body.errors ?? []) as { attribute: string }[]).map(({ attribute }) => attribute),
        attributes,
      )
      assert.deepEqual(await counts(), before)
    })
  }

  it('renders the created record as depth, attributes and expand ask', async () => {
    const answer = await target.call('POST', '/v1/authors/1/books', { attributes: 'title,author.name', expand: 'author' }, { title: 'New' })
    assert.deepEqual(answer.body.book, { title: 'New', author: { name: 'Ann' } })
    assert.equal((await target.call('POST', '/v1/authors/1/books', 'limit=1', { title: 'x' })).status, 400)
  })
})

describeTargets('DELETE of an attribute', { ...library, seed }, target => {
  const one: [path: string, linked: string, owner: string][] = [
    ['/v1/authors/1/profile', '/v1/profiles/1', '/v1/authors/1'],
    ['/v1/genres/2/parent', '/v1/genres/1', '/v1/genres/2'],
    ['/v1/books/1/sequel', '/v1/books/2', '/v1/books/1'],
    ['/v1/books/2/sequelOf', '/v1/books/1', '/v1/books/2'],
    [`/v1/copies/${COPY}/branch`, '/v1/branches/N', `/v1/copies/${COPY}`],
    [`/v1/copies/${COPY}/shelf`, '/v1/shelves/A%7E1~4', `/v1/copies/${COPY}`],
  ]
  for (const [path, linked, owner] of one) {
    it(`${path} deletes ${linked} and the reference to it, and answers with it as it was`, async () => {
      const before = await target.call('GET', linked)
      const answer = await target.call('DELETE', path)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.deepEqual(answer.body, { ...before.body, timestamp: answer.body.timestamp as string, status: 'OK' })
      assert.equal((await target.call('GET', linked)).status, 404)
      assert.equal((await shown(target, owner))[path.split('/').at(-1)!], null)
    })
  }

  for (const path of ['/v1/authors/1/mentor', '/v1/authors/2/profile', '/v1/books/3/sequel', '/v1/books/1/sequelOf']) {
    it(`${path} is empty: there is nothing to delete`, async () => {
      const answer = await target.call('DELETE', path)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.code, 'record_not_found')
    })
  }

  const needed: [path: string, linked: string][] = [
    ['/v1/books/1/author', '/v1/authors/1'],
    ['/v1/profiles/1/author', '/v1/authors/1'],
    ['/v1/comments/1/review', '/v1/reviews/2~1'],
    ['/v1/authors/2/mentor', '/v1/authors/1'],
  ]
  for (const [path, linked] of needed) {
    it(`${path} is needed, and stays with the reference to it`, async () => {
      const [before, owner] = [await shown(target, linked), await shown(target, path.split('/').slice(0, 4).join('/'))]
      const answer = await target.call('DELETE', path)
      assert.equal(answer.status, 409, JSON.stringify(answer.body))
      assert.equal(answer.body.code, 'owner_required')
      assert.deepEqual(await shown(target, linked), before)
      assert.deepEqual(await shown(target, path.split('/').slice(0, 4).join('/')), owner)
    })
  }

  const lists: [path: string, query: Record<string, string>, resource: string, gone: unknown[], left: unknown[]][] = [
    ['/v1/books/1/genres', {}, 'genres', [1, 2], []],
    ['/v1/books/1/genres', { name: 's*' }, 'genres', [2], [1]],
    ['/v1/books/1/genres', { '!name': 's*' }, 'genres', [1], [2]],
    ['/v1/books/1/genres', { name: 'drama' }, 'genres', [], [1, 2]],
    ['/v1/genres/1/children', { 'id>=': '3' }, 'genres', [3], [2]],
    ['/v1/books/1/copies', { branch: 'N' }, 'copies', [COPY], ['00000000-0000-4000-8000-000000000002']],
    ['/v1/authors/1/books', {}, 'books', [1, 2], []],
    ['/v1/reviews/2~1/comments', {}, 'comments', [1], []],
    ['/v1/authors/2/pupils', {}, 'authors', [], []],
  ]
  for (const [path, query, resource, gone, left] of lists) {
    it(`${path} with ${JSON.stringify(query)} deletes ${JSON.stringify(gone)} and leaves ${JSON.stringify(left)}`, async () => {
      const answer = await target.call('DELETE', path, query)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const records = answer.body[resource] as { id: unknown }[]
      assert.deepEqual(answer.body, {
        success: true,
        timestamp: answer.body.timestamp as string,
        resource,
        count: gone.length,
        [resource]: records,
        status: 'OK',
      })
      assert.deepEqual(records.map(({ id }) => id).toSorted(byText), gone)
      for (const id of gone) assert.equal((await target.call('GET', `/v1/${resource}/${String(id)}`)).status, 404)
      const [, , collection, owner, attribute] = path.split('/')
      assert.deepEqual(((await shown(target, `/v1/${collection}/${owner}`))[attribute!] as unknown[]).toSorted(byText), left)
    })
  }

  it('deletes all that match, however many there are', async () => {
    const children = Array.from({ length: 150 }, (_, index) => ({ name: `g${index}`, parent: 2 }))
    await target.engine.seed({ genres: children })
    const answer = await target.call('DELETE', '/v1/genres/2/children', { attributes: 'name', depth: 0 })
    assert.equal(answer.body.count, 150)
    assert.deepEqual(answer.body.genres[0], { name: 'g0' })
    assert.equal(await count(target, 'genres'), 3)
  })

  it('deletes none of a list when one of them is needed', async () => {
    const answer = await target.call('DELETE', '/v1/authors/1/pupils')
    assert.equal(answer.status, 409)
    assert.equal(answer.body.code, 'owner_required')
    assert.equal(await count(target, 'authors'), 3)
    assert.deepEqual((await shown(target, '/v1/authors/1'))['pupils'], [2, 3])
  })

  it('takes no paging or sorting for a list, and no filters for one record', async () => {
    for (const [path, query] of [
      ['/v1/books/1/genres', 'limit=1'],
      ['/v1/books/1/genres', 'offset=1'],
      ['/v1/books/1/genres', 'sort=name'],
      ['/v1/books/1/genres', 'nope=1'],
      ['/v1/genres/2/parent', 'name=x'],
    ] as const) {
      assert.equal((await target.call('DELETE', path, query)).status, 400, `${path}?${query}`)
    }
    assert.equal(await count(target, 'genres'), 3)
  })
})
