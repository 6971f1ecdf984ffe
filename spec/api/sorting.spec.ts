/** Sorting: keys of every type, paths through relations, counts, NULLs, and what cannot be sorted by. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { COPY_1, COPY_2, COPY_3, librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

type Id = number | string

async function order(target: Target, path: string, sort: string): Promise<Id[]> {
  const { status, body } = await target.call('GET', `/v1/${path}`, { sort })
  assert.equal(status, 200, JSON.stringify(body))
  const records = body[body.resource] as Record<string, Id>[]
  assert.equal(body.count, records.length)
  return records.map(record => record['id'] ?? record['code'] ?? `${record['author'] ?? record['room']}~${record['number']}`)
}

const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    text: p.string().nullable(),
    integer: p.integer().nullable(),
    bigint: p.bigint().nullable(),
    double: p.double().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    boolean: p.boolean().nullable(),
    datetime: p.datetime().nullable(),
    date: p.date().nullable(),
    time: p.time().nullable(),
    uuid: p.uuid().nullable(),
    word: p.enum(['b', 'c', 'a']).nullable(),
    json: p.json<unknown>().nullable(),
    blob: p.blob().nullable(),
    parent: () => p.manyToOne(Thing).nullable(),
    children: () => p.oneToMany(Thing).mappedBy('parent'),
  },
})

/** Texts in the order of their code points; the last two are the other way round in UTF-16. */
const TEXTS = ['', ' ', '!', '1', '10', '9', 'A', 'Z', 'Zz', '_', 'a', 'a\0', 'a!', 'aa', 'z', 'É', 'é', '\uffee', '\u{1f98a}']

/** Values of each type in their order. */
const VALUES: Record<string, unknown[]> = {
  integer: [-9007199254740991, -10, -9, 0, 9, 10, 100, 9007199254740991],
  bigint: ['-9223372036854775808', '-1', '0', '9', '10', '9007199254740992', '9007199254740993', '9223372036854775807'],
  double: [-1e300, -1, -1e-300, 0, 1e-300, 0.1, 1, 10, 9e99],
  decimal: ['-10.00', '-9.99', '-0.01', '0.00', '0.10', '2.00', '10.00', '99999999.99'],
  boolean: [false, true],
  datetime: [
    '0999-12-31T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.001Z',
  ],
  date: ['0999-12-31', '1969-12-31', '2026-01-31', '2026-02-01'],
  time: ['00:00:00', '09:59:59', '10:00:00', '23:59:59'],
  uuid: [
    '0a000000-0000-4000-8000-000000000000',
    '90000000-0000-4000-8000-000000000000',
    'a0000000-0000-4000-8000-000000000000',
    'ff000000-0000-4000-8000-000000000000',
  ],
  word: ['a', 'b', 'c'],
  text: TEXTS,
}

/** What PostgreSQL stores too: no NUL, and integers of 32 bits. */
const isStorable = (value: unknown): boolean => !String(value).includes('\0') && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER

describeTargets('sorting by a value', { entities: [Thing] }, target => {
  for (const [name, all] of Object.entries(VALUES)) {
    const values = target.store === 'postgres' ? all.filter(isStorable) : all
    it(`orders ${name}, NULLs smallest and ties by the key`, async () => {
      // Written backwards, so that the order of the key is not the one asked for; the first value and NULL come twice.
      const expected = [null, ...values]
      const things = [...expected.toReversed(), values[0], null].map((value, index) => ({ id: index + 1, [name]: value }))
      await target.engine.seed({ things })
      const total = expected.length
      // IDs: the value at position i of `expected` is total - i; the second smallest is total + 1, the second NULL is total + 2.
      const ascending = [total, total + 2, total - 1, total + 1, ...Array.from({ length: total - 2 }, (_, index) => total - 2 - index)]
      const descending = [...Array.from({ length: total - 2 }, (_, index) => index + 1), total - 1, total + 1, total, total + 2]
      assert.deepEqual(await order(target, 'things', name), ascending)
      assert.deepEqual(await order(target, 'things', `${name}.asc`), ascending)
      assert.deepEqual(await order(target, 'things', `${name}.desc`), descending)
      assert.deepEqual(await order(target, 'things', `${name},id.desc`), [
        total + 2,
        total,
        total + 1,
        total - 1,
        ...Array.from({ length: total - 2 }, (_, index) => total - 2 - index),
      ])
    })
  }

  it('gives a relation to one record the count of 0 or 1', async () => {
    await target.engine.seed({ things: [{ id: 1, parent: 2 }, { id: 2 }, { id: 3, parent: 3 }] })
    assert.deepEqual(await order(target, 'things', 'parent'), [2, 1, 3])
    assert.deepEqual(await order(target, 'things', 'parent.desc'), [1, 3, 2])
    assert.deepEqual(await order(target, 'things', 'parent.parent'), [1, 2, 3])
    assert.deepEqual(await order(target, 'things', 'parent.parent.desc'), [3, 1, 2])
  })

  it('counts each record that a path through lists reaches once', async () => {
    // 1 has the children 2 and 3, which have 4, 5 and 6; 7 has the child 8, which has none.
    await target.engine.seed({
      things: [
        { id: 1 },
        { id: 2, parent: 1 },
        { id: 3, parent: 1 },
        { id: 4, parent: 2 },
        { id: 5, parent: 2 },
        { id: 6, parent: 3 },
        { id: 7 },
        { id: 8, parent: 7 },
      ],
    })
    assert.deepEqual(await order(target, 'things', 'children.desc'), [1, 2, 3, 7, 4, 5, 6, 8])
    assert.deepEqual(await order(target, 'things', 'children'), [4, 5, 6, 8, 3, 7, 1, 2])
    assert.deepEqual(await order(target, 'things', 'children.children.desc'), [1, 2, 3, 4, 5, 6, 7, 8])
    // All children reach one and the same parent.
    assert.deepEqual(await order(target, 'things', 'children.parent.desc'), [1, 2, 3, 7, 4, 5, 6, 8])
    // The children of the own parent: 2 for 2 to 5, 1 for 6 and 8, none for the roots.
    assert.deepEqual(await order(target, 'things', 'parent.children.desc'), [2, 3, 4, 5, 6, 8, 1, 7])
    assert.deepEqual(await order(target, 'things', 'parent.children'), [1, 7, 6, 8, 2, 3, 4, 5])
  })

  it('sorts by the smallest value behind a list upwards and by the largest downwards, NULLs aside', async () => {
    await target.engine.seed({
      things: [
        { id: 1 },
        { id: 2 },
        { id: 3 },
        { id: 4 },
        { id: 11, parent: 1, integer: 5 },
        { id: 12, parent: 1, integer: 1 },
        { id: 13, parent: 1 },
        { id: 21, parent: 2, integer: 2 },
        { id: 22, parent: 2, integer: 9 },
        { id: 31, parent: 3 },
      ],
    })
    const roots = async (sort: string): Promise<Id[]> => (await order(target, 'things', sort)).filter(id => Number(id) < 10)
    assert.deepEqual(await roots('children.integer'), [3, 4, 1, 2])
    assert.deepEqual(await roots('children.integer.desc'), [2, 1, 3, 4])
    assert.deepEqual(await roots('children.parent.children.integer'), [3, 4, 1, 2])
    assert.deepEqual(await roots('children.parent.children.integer.desc'), [2, 1, 3, 4])
  })
})

describeTargets('sorting the library', { ...library, seed: librarySeed, fresh: 'suite' }, target => {
  const orders: [path: string, sort: string, ids: Id[]][] = [
    ['authors', '', [1, 2, 3, 4]],
    ['authors', 'id', [1, 2, 3, 4]],
    ['authors', 'id.desc', [4, 3, 2, 1]],
    ['authors', 'name', [1, 2, 3, 4]],
    ['authors', 'name.desc', [4, 3, 2, 1]],
    ['authors', 'bio', [2, 4, 3, 1]],
    ['authors', 'bio.desc', [1, 3, 2, 4]],
    ['authors', 'born.desc', [4, 1, 3, 2]],
    ['authors', 'followers', [2, 4, 3, 1]],
    ['authors', 'royalties', [3, 2, 4, 1]],
    ['authors', 'active,name.desc', [2, 4, 3, 1]],
    ['authors', 'role.desc,name.desc', [3, 1, 4, 2]],
    ['authors', 'pen_name.desc', [1, 2, 3, 4]],
    ['authors', 'mentor.name', [1, 2, 3, 4]],
    ['authors', 'mentor.name.desc', [4, 2, 3, 1]],
    ['authors', 'mentor.mentor.name.desc', [4, 1, 2, 3]],
    ['authors', 'mentor', [1, 2, 3, 4]],
    ['authors', 'mentor.desc', [2, 3, 4, 1]],
    ['authors', 'mentor.id.desc', [4, 2, 3, 1]],
    ['authors', 'mentor.mentor.desc', [4, 1, 2, 3]],
    ['authors', 'home.city', [3, 4, 1, 2]],
    ['authors', 'home.city.desc', [2, 1, 3, 4]],
    ['authors', 'mentor.home.city.desc', [4, 2, 3, 1]],
    ['authors', 'books', [3, 4, 2, 1]],
    ['authors', 'books.desc', [1, 2, 3, 4]],
    ['authors', 'pupils.desc', [1, 2, 3, 4]],
    ['authors', 'profile.desc', [1, 2, 3, 4]],
    ['authors', 'profile.website', [2, 3, 4, 1]],
    ['authors', 'mentor.books.desc', [2, 3, 4, 1]],
    ['authors', 'mentor.pupils', [1, 4, 2, 3]],
    ['authors', 'books.genres.desc', [1, 2, 3, 4]],
    ['authors', 'books.title', [3, 4, 2, 1]],
    ['authors', 'books.title.desc', [1, 2, 3, 4]],
    ['authors', 'books.pages', [2, 3, 4, 1]],
    ['authors', 'books.reviews', [3, 4, 2, 1]],
    ['authors', 'books.reviews.stars', [3, 4, 1, 2]],
    ['authors', 'books.reviews.stars.desc', [1, 2, 3, 4]],
    ['books', 'price', [3, 4, 2, 1]],
    ['books', 'price.desc', [1, 2, 4, 3]],
    ['books', 'size.width.desc', [1, 4, 2, 3]],
    ['books', 'size.unit', [2, 3, 4, 1]],
    ['books', 'titleLength,id.desc', [2, 1, 4, 3]],
    ['books', 'genres.desc', [1, 2, 4, 3]],
    ['books', 'genres', [3, 2, 4, 1]],
    ['books', 'similar.desc', [1, 2, 3, 4]],
    ['books', 'genres.name', [3, 1, 2, 4]],
    ['books', 'genres.name.desc', [4, 1, 2, 3]],
    ['books', 'genres.parent.desc', [1, 2, 4, 3]],
    ['books', 'genres.parent.name.desc', [1, 2, 4, 3]],
    ['books', 'author.name.desc,title', [3, 4, 1, 2]],
    ['books', 'author.books.desc,pages', [4, 1, 2, 3]],
    ['books', 'sequel.desc', [1, 2, 3, 4]],
    ['books', 'sequelOf.title.desc', [2, 1, 3, 4]],
    ['books', 'copies.desc,id.desc', [1, 2, 4, 3]],
    ['books', 'reviews', [2, 4, 3, 1]],
    ['books', 'published.desc', [2, 1, 4, 3]],
    ['genres', 'books.author.books', [4, 1, 2, 3]],
    ['reviews', '', ['1~1', '2~1', '2~2', '3~1']],
    ['reviews', 'stars.desc', ['1~1', '3~1', '2~2', '2~1']],
    ['reviews', 'number.desc', ['2~2', '1~1', '2~1', '3~1']],
    ['reviews', 'author.name', ['1~1', '2~1', '2~2', '3~1']],
    ['reviews', 'comments.desc', ['2~1', '1~1', '2~2', '3~1']],
    ['branches', '', ['MAIN', 'a/b %~']],
    ['branches', 'code.desc', ['a/b %~', 'MAIN']],
    ['branches', 'copies', ['MAIN', 'a/b %~']],
    ['shelves', '', ['A~1~4', 'B~1', 'C/D~10']],
    ['shelves', 'number.desc', ['C/D~10', 'A~1~4', 'B~1']],
    ['shelves', 'copies', ['B~1', 'A~1~4', 'C/D~10']],
    ['copies', '', [COPY_1, COPY_2, COPY_3]],
    ['copies', 'id.desc', [COPY_3, COPY_2, COPY_1]],
    ['copies', 'shelf', [COPY_2, COPY_1, COPY_3]],
    ['copies', 'shelf.number.desc', [COPY_3, COPY_1, COPY_2]],
    ['authors/1/books', '', [2, 1, 4]],
    ['authors/1/books', 'title', [4, 1, 2]],
    ['authors/1/books', 'author.name', [1, 2, 4]],
    ['authors/1/books', 'genres.desc', [1, 2, 4]],
    ['authors/1/pupils', '', [2, 3]],
    ['authors/1/pupils', 'name.desc', [3, 2]],
    ['books/1/reviews', '', ['3~1', '2~2', '2~1']],
    ['books/1/reviews', 'stars', ['2~1', '2~2', '3~1']],
    ['books/1/genres', '', [1, 2]],
    ['books/1/genres', 'books.desc', [2, 1]],
    ['books/1/similar', '', [2, 3]],
    ['genres/2/books', 'title', [1, 2]],
  ]
  for (const [path, sort, ids] of orders) {
    it(`sorts ${path} by ${sort || 'nothing'} as ${ids.join(' ')}`, async () => assert.deepEqual(await order(target, path, sort), ids))
  }

  const shown: [path: string, sort: string | undefined, effect: string][] = [
    ['authors', undefined, 'id.asc'],
    ['authors', '', 'id.asc'],
    ['authors', 'id', 'id.asc'],
    ['authors', 'id.desc', 'id.desc'],
    ['authors', 'name', 'name.asc'],
    ['authors', 'name.desc,id', 'name.desc,id.asc'],
    ['authors', 'mentor.name,books.desc', 'mentor.name.asc,books.desc'],
    ['branches', undefined, 'code.asc'],
    ['authors/1/books', undefined, 'published.desc'],
    ['authors/1/pupils', undefined, 'id.asc'],
    ['authors/1/books', 'title', 'title.asc'],
  ]
  for (const [path, sort, effect] of shown) {
    it(`shows ${effect} as the sort in effect of ${path}?sort=${sort ?? '(absent)'}`, async () => {
      assert.equal((await target.call('GET', `/v1/${path}`, sort === undefined ? {} : { sort })).body.sort, effect)
    })
  }

  it('keeps records that are equal in every key in the order of the primary key, page by page', async () => {
    for (const sort of ['active', 'mentor', 'home.zip.desc', 'books.title', 'profile']) {
      const all = await order(target, 'authors', sort)
      const paged: Id[] = []
      for (let offset = 0; offset < 4; offset++) {
        const { body } = await target.call('GET', '/v1/authors', { sort, limit: 1, offset })
        paged.push(body.authors[0].id as Id)
      }
      assert.deepEqual(paged, all)
    }
  })

  it('sorts the same whatever is shown and filtered', async () => {
    for (const query of [
      'depth=0',
      'depth=2',
      'attributes=id',
      'expand=books&attributes=id,books',
      '!id=99',
      'name=*&books|pupils|mentor!=99',
    ]) {
      const { body } = await target.call('GET', `/v1/authors?${query}`, { sort: 'books.desc,mentor.name.desc' })
      assert.deepEqual(
        (body.authors as { id: number }[]).map(({ id }) => id),
        [1, 2, 4, 3],
      )
    }
  })

  const refused: [path: string, sort: string, suggestion?: string][] = [
    ['authors', 'nam', 'name'],
    ['authors', 'nam.desc', 'name'],
    ['authors', 'name,emial', 'email'],
    ['books', 'author.nam', 'name'],
    ['books', 'genres.nam.desc', 'name'],
    ['books', 'author.mentor.emial', 'email'],
    ['authors', 'home.cty', 'city'],
    ['authors', 'Name', 'name'],
    ['authors', 'penName', 'pen_name'],
    ['authors', 'name.up'],
    ['authors', 'name.DESC'],
    ['authors', 'name.desc.desc'],
    ['authors', 'name.asc.desc'],
    ['authors', 'name.x.desc'],
    ['authors', 'name.'],
    ['authors', '.name'],
    ['authors', '.'],
    ['authors', '.desc'],
    ['authors', 'desc'],
    ['authors', ','],
    ['authors', 'name,'],
    ['authors', ',name'],
    ['authors', 'name,,email'],
    ['authors', '-name'],
    ['authors', '!name'],
    ['authors', 'name desc'],
    ['authors', 'name, email'],
    ['authors', 'passwordHash'],
    ['authors', 'mentor.passwordHash'],
    ['books', 'author.passwordHash.desc'],
    ['books', 'draft'],
    ['books', 'cover'],
    ['books', 'cover.desc'],
    ['books', 'meta'],
    ['books', 'sequelOf.cover'],
    ['authors', 'books.cover'],
    ['authors', 'home'],
    ['books', 'size'],
    ['books', 'genres__inverse'],
    ['books', 'quickstats.lifetime.clicks'],
    ['authors', '__proto__'],
    ['authors', 'constructor.name'],
    ['authors', 'mentor.toString'],
    ['authors', 'mentor.mentor.mentor.mentor.mentor.mentor.name'],
    ['authors', 'mentor.mentor.mentor.mentor.mentor.books'],
    ['authors/1/books', 'name'],
    ['authors/1/books', 'email'],
  ]
  for (const [path, sort, suggestion] of refused) {
    it(`refuses to sort ${path} by ${sort}${suggestion === undefined ? '' : `, and suggests ${suggestion}`}`, async () => {
      const answer = await target.call('GET', `/v1/${path}`, { sort })
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assertSound(answer, sort)
      assert.equal(answer.body.errors[0].parameter, 'sort')
      if (suggestion !== undefined) assert.equal(answer.body.errors[0].suggestion, suggestion)
    })
  }

  it('takes sort given twice as one list, and keeps it in links', async () => {
    const whole = await target.call('GET', '/v1/authors', { sort: 'role,name.desc', limit: 2 })
    for (const query of ['sort=role&sort=name.desc', 'sort=role&sort&sort=name.desc', 'sort&sort=role,name.desc']) {
      const { body } = await target.call('GET', `/v1/authors?${query}&limit=2`)
      assert.deepEqual([body.sort, body.authors], [whole.body.sort, whole.body.authors])
      assert.equal(body.next, `/v1/authors?${query}&limit=2&offset=2`)
    }
    assert.equal((await target.call('GET', '/v1/authors', { sort: ['role', 'name.desc'] })).body.sort, 'role.asc,name.desc')
    assert.equal((await target.call('GET', '/v1/authors?sort=&sort=')).body.sort, 'id.asc')
  })

  it('takes a path of five relations', async () => {
    assert.equal((await target.call('GET', '/v1/authors', { sort: 'mentor.mentor.mentor.mentor.mentor.name' })).status, 200)
    assert.equal((await target.call('GET', '/v1/authors', { sort: 'mentor.mentor.mentor.mentor.books.desc' })).status, 200)
  })
})
