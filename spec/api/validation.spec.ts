/**
 * Validation of bodies: every kind of value, all faults at once with their paths, keys, references, uniqueness, embedded objects, versions.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { RestEngine } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'

const UUID = '00000000-0000-4000-8000-000000000001'

const seed = {
  authors: [
    { id: 1, name: 'Ann', email: 'ann@example.test', home: { street: 'S', city: 'C' } },
    { id: 2, name: 'Bob', email: 'bob@example.test' },
  ],
  profiles: [{ id: 1, author: 1 }],
  books: [
    { id: 1, title: 'One', author: 1, isbn: '9780000000001', size: { width: 1, height: 2 } },
    { id: 2, title: 'Two', author: 1, sequelOf: 1 },
    { id: 3, title: 'Three', author: 1 },
  ],
  genres: [{ id: 1, name: 'crime' }],
  reviews: [{ author: 1, number: 1, stars: 5, book: 1 }],
  branches: [{ code: 'N', name: 'North' }],
  shelves: [{ room: 'A', number: 1 }],
  copies: [{ id: UUID, book: 1 }],
}

type Found = [attribute: string, code: string]

function faultsOf({ body }: Answer): Found[] {
  return (body.errors as { attribute: string; code: string; detail: string }[]).map(({ attribute, code }): Found => [attribute, code])
}

function sorted(faults: readonly Found[]): Found[] {
  return faults.toSorted((a, b) => (a.join() < b.join() ? -1 : 1))
}

/** A refusal: its status, its one shape, and its faults in any order. */
function assertRefused(answer: Answer, status: number, expected: readonly Found[]): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.deepEqual(sorted(faultsOf(answer)), sorted(expected))
  assert.equal(answer.body.success, false)
  assert.equal(answer.body.status, status)
  assert.equal(answer.body.code, status === 409 ? 'unique_conflict' : 'validation_failed')
  for (const { detail, attribute } of answer.body.errors as { detail: string; attribute: string }[]) {
    assert.ok(detail.length > 0 && detail.includes(attribute.split('.').at(-1)!), detail)
  }
}

const minimal: Readonly<Record<string, object>> = {
  authors: { name: 'New', email: 'new@example.test' },
  profiles: { author: 2 },
  books: { title: 'New', author: 1 },
  genres: { name: 'new' },
  reviews: { author: 2, number: 1, stars: 1, book: 1 },
  branches: { code: 'X', name: 'New' },
  shelves: { room: 'X', number: 1 },
  copies: { book: 1 },
}

const ids: Readonly<Record<string, string>> = {
  authors: '1',
  books: '1',
  branches: 'N',
  copies: UUID,
  reviews: '1~1',
  genres: '1',
  profiles: '1',
}

const NUMBERS = ['1', '', true, [1], { a: 1 }]
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  integer: [...NUMBERS, 1.5, 9007199254740992, 1e300],
  float: NUMBERS,
  bigint: [true, 1.5, [1], {}, '', 'x', '1.0', '01', '9223372036854775808', '-9223372036854775809'],
  decimal: [true, [1], {}, '', 'x', '1e3', '.5', '5.', '1.234', '12345678901.00'],
  text: [1, true, [], {}],
  boolean: [0, 1, 'true', '', [], {}],
  datetime: [0, true, '', 'yesterday', '2026-02-30', '2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01T12:00:00+25:00', [], {}],
  date: [0, true, '', '2026-02-29', '2026-1-1', '01.02.2026', '2026-01-01T00:00:00Z', [], {}],
  time: [0, true, '', '24:00', '12:60', '12', '1:00', [], {}],
  uuid: [0, true, '', 'x', '6ba7b810-9dad-11d1-80b4', '6ba7b8109dad11d180b400c04fd430c8', [], {}],
  blob: [0, true, 'é', 'A', 'AA', 'AA=', '!!!!', [], {}],
  enum: ['', 'WRITER', 'poet', 0, true, [], {}],
  numberEnum: [0, 4, '1', 1.5, true, [], {}],
  embedded: [0, '', 'x', true, []],
  toOne: [true, [], [1], 'x', 1.5, ''],
  toMany: [0, 'x', true, {}, { id: 1 }],
}

const KINDS: [collection: string, attribute: string, kind: string, code: string][] = [
  ['authors', 'name', 'text', 'value_invalid'],
  ['authors', 'bio', 'text', 'value_invalid'],
  ['authors', 'pen_name', 'text', 'value_invalid'],
  ['authors', 'passwordHash', 'text', 'value_invalid'],
  ['authors', 'born', 'date', 'value_invalid'],
  ['authors', 'wakesAt', 'time', 'value_invalid'],
  ['authors', 'active', 'boolean', 'value_invalid'],
  ['authors', 'rating', 'float', 'value_invalid'],
  ['authors', 'royalties', 'decimal', 'value_invalid'],
  ['authors', 'followers', 'bigint', 'value_invalid'],
  ['authors', 'role', 'enum', 'not_allowed'],
  ['authors', 'home', 'embedded', 'value_invalid'],
  ['authors', 'createdAt', 'datetime', 'value_invalid'],
  ['authors', 'mentor', 'toOne', 'value_invalid'],
  ['authors', 'profile', 'toOne', 'value_invalid'],
  ['authors', 'books', 'toMany', 'value_invalid'],
  ['books', 'pages', 'integer', 'value_invalid'],
  ['books', 'weight', 'float', 'value_invalid'],
  ['books', 'price', 'decimal', 'value_invalid'],
  ['books', 'barcode', 'bigint', 'value_invalid'],
  ['books', 'published', 'datetime', 'value_invalid'],
  ['books', 'edition', 'numberEnum', 'not_allowed'],
  ['books', 'cover', 'blob', 'value_invalid'],
  ['books', 'size', 'embedded', 'value_invalid'],
  ['books', 'author', 'toOne', 'value_invalid'],
  ['books', 'genres', 'toMany', 'value_invalid'],
  ['copies', 'token', 'uuid', 'value_invalid'],
]

describeTargets('values that an attribute cannot hold', { ...library, seed, fresh: 'suite' }, target => {
  for (const [collection, attribute, kind, code] of KINDS) {
    it(`are refused for ${attribute}, which is ${kind}`, async () => {
      for (const value of WRONG[kind]!) {
        const made = await target.call('POST', `/v1/${collection}`, undefined, { ...minimal[collection], [attribute]: value })
        assertRefused(made, 422, [[attribute, code]])
        const changed = await target.call('PUT', `/v1/${collection}/${ids[collection]!}`, undefined, { [attribute]: value })
        assertRefused(changed, 422, [[attribute, code]])
        // What nobody may see is not repeated: it may be a password.
        assert.deepEqual(changed.body.errors[0].value, attribute === 'passwordHash' ? undefined : value)
      }
      assert.equal((await target.call('GET', `/v1/${collection}`, { limit: 0 })).body.count, seed[collection as keyof typeof seed].length)
    })
  }

  it('come with the values that are allowed, and the one that may be meant', async () => {
    const { body } = await target.call('PUT', '/v1/authors/1', undefined, { role: 'Editor' })
    assert.deepEqual(body.errors[0].allowed, ['writer', 'editor', 'translator'])
    assert.equal(body.errors[0].suggestion, 'editor')
    assert.deepEqual((await target.call('PUT', '/v1/books/1', undefined, { edition: 7 })).body.errors[0].allowed, [1, 2, 3])
  })

  const lengths: [collection: string, attribute: string, length: number][] = [
    ['authors', 'name', 60],
    ['authors', 'email', 120],
    ['books', 'isbn', 13],
    ['branches', 'name', 60],
  ]
  for (const [collection, attribute, length] of lengths) {
    it(`are texts of more than ${length} characters for ${attribute}, counted as code points`, async () => {
      const path = `/v1/${collection}/${ids[collection]!}`
      for (const character of ['x', 'é', '🦊']) {
        assertRefused(await target.call('PUT', path, undefined, { [attribute]: character.repeat(length + 1) }), 422, [
          [attribute, 'too_long'],
        ])
        const answer = await target.call('PUT', path, undefined, { [attribute]: character.repeat(length) })
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
      }
    })
  }

  const nulls: [collection: string, attributes: string[]][] = [
    ['authors', ['name', 'email', 'active', 'royalties', 'followers', 'role', 'createdAt']],
    ['books', ['title', 'views', 'edition', 'author']],
    ['profiles', ['newsletter', 'author']],
    ['reviews', ['stars', 'text', 'book']],
    ['copies', ['loanable', 'book']],
  ]
  for (const [collection, attributes] of nulls) {
    it(`are null for ${attributes.join(', ')} of ${collection}, also where there is a default`, async () => {
      const body = Object.fromEntries(attributes.map(name => [name, null]))
      const expected = attributes.map((name): Found => [name, 'null_not_allowed'])
      assertRefused(await target.call('PUT', `/v1/${collection}/${ids[collection]!}`, undefined, body), 422, expected)
      assertRefused(await target.call('POST', `/v1/${collection}`, undefined, { ...minimal[collection], ...body }), 422, expected)
    })
  }

  it('are null in place of a list or a member of one', async () => {
    assertRefused(await target.call('PUT', '/v1/books/1', undefined, { genres: null, similar: [null, 1] }), 422, [
      ['genres', 'value_invalid'],
      ['similar.0', 'value_invalid'],
    ])
  })

  const required: [collection: string, attributes: string[]][] = [
    ['authors', ['name', 'email']],
    ['profiles', ['author']],
    ['books', ['title', 'author']],
    ['genres', ['name']],
    ['reviews', ['author', 'number', 'stars', 'book']],
    ['comments', ['text', 'review']],
    ['branches', ['code', 'name']],
    ['shelves', ['room', 'number']],
    ['copies', ['book']],
  ]
  for (const [collection, attributes] of required) {
    it(`are missing: ${attributes.join(', ')} of a new record of ${collection}, and no others`, async () => {
      const answer = await target.call('POST', `/v1/${collection}`, undefined, {})
      assertRefused(
        answer,
        422,
        attributes.map((name): Found => [name, 'required']),
      )
    })
  }
})

describeTargets('faults', { ...library, seed, fresh: 'suite' }, target => {
  it('are all told at once, each with the dotted path of its attribute', async () => {
    const answer = await target.call('POST', '/v1/authors', undefined, {
      name: 'x'.repeat(61),
      born: 'x',
      nope: 1,
      id: 1,
      home: { street: 5, zip: '12345678901', where: 'x' },
      mentor: 99,
      profile: { website: 5, nope: 1 },
      books: [
        { title: null, isbn: '9780000000001', genres: [1, 99, { name: 'crime' }, {}, 'x'] },
        99,
        { size: { width: 'x', unit: 'cm' }, reviews: [{ author: 99, number: 1.5 }], copies: [{ id: UUID, shelf: 'A' }] },
      ],
    })
    assertRefused(answer, 422, [
      ['name', 'too_long'],
      ['email', 'required'],
      ['born', 'value_invalid'],
      ['nope', 'attribute_unknown'],
      ['id', 'not_unique'],
      ['home.street', 'value_invalid'],
      ['home.city', 'required'],
      ['home.zip', 'too_long'],
      ['home.where', 'attribute_unknown'],
      ['mentor', 'reference_not_found'],
      ['profile.website', 'value_invalid'],
      ['profile.nope', 'attribute_unknown'],
      ['books.0.title', 'null_not_allowed'],
      ['books.0.isbn', 'not_unique'],
      ['books.0.genres.1', 'reference_not_found'],
      ['books.0.genres.2.name', 'not_unique'],
      ['books.0.genres.3.name', 'required'],
      ['books.0.genres.4', 'value_invalid'],
      ['books.1', 'reference_not_found'],
      ['books.2.title', 'required'],
      ['books.2.size.width', 'value_invalid'],
      ['books.2.size.height', 'required'],
      ['books.2.size.unit', 'not_allowed'],
      ['books.2.reviews.0.author', 'reference_not_found'],
      ['books.2.reviews.0.number', 'value_invalid'],
      ['books.2.reviews.0.stars', 'required'],
      ['books.2.copies.0.id', 'not_unique'],
      ['books.2.copies.0.shelf', 'value_invalid'],
    ])
    assert.equal((await target.call('GET', '/v1/authors', { limit: 0 })).body.count, 2)
  })

  it('are all told at once for a change, too', async () => {
    const answer = await target.call('PUT', '/v1/authors/2', undefined, {
      id: 1,
      name: null,
      email: 'ann@example.test',
      home: { zip: 5 },
      followers: 'x',
      pupils: [99, {}],
    })
    assertRefused(answer, 422, [
      ['id', 'key_fixed'],
      ['name', 'null_not_allowed'],
      ['email', 'not_unique'],
      ['home.street', 'required'],
      ['home.city', 'required'],
      ['home.zip', 'value_invalid'],
      ['followers', 'value_invalid'],
      ['pupils.0', 'reference_not_found'],
      ['pupils.1.name', 'required'],
      ['pupils.1.email', 'required'],
    ])
  })

  const unknown: [method: string, path: string, body: object, faults: Found[], suggestion: string | undefined][] = [
    ['POST', '/v1/genres', { name: 'x', nmae: 'y' }, [['nmae', 'attribute_unknown']], 'name'],
    ['PUT', '/v1/genres/1', { Name: 'y' }, [['Name', 'attribute_unknown']], 'name'],
    ['PUT', '/v1/authors/1', { penName: 'y' }, [['penName', 'attribute_unknown']], 'pen_name'],
    ['PUT', '/v1/authors/1', { pen_nam: 'y' }, [['pen_nam', 'attribute_unknown']], 'pen_name'],
    ['PUT', '/v1/authors/1', { home: { strete: 'y' } }, [['home.strete', 'attribute_unknown']], 'street'],
    ['PUT', '/v1/authors/1', { 'home.street': 'y' }, [['home.street', 'attribute_unknown']], undefined],
    ['PUT', '/v1/authors/1', { mentor_id: 1 }, [['mentor_id', 'attribute_unknown']], undefined],
    ['PUT', '/v1/books/1', { titleLength: 3 }, [['titleLength', 'read_only']], undefined],
    ['POST', '/v1/books', { title: 'x', author: 1, titleLength: 3 }, [['titleLength', 'read_only']], undefined],
  ]
  for (const [method, path, body, faults, suggestion] of unknown) {
    it(`${method} ${path} ${JSON.stringify(body)} is refused`, async () => {
      const answer = await target.call(method, path, undefined, body)
      assertRefused(answer, 422, faults)
      if (suggestion !== undefined) assert.equal(answer.body.errors[0].suggestion, suggestion)
    })
  }

  it('do not show what attributes there are that nobody may see', async () => {
    const answer = await target.call('PUT', '/v1/authors/1', undefined, { passwordHas: 'x' })
    assert.ok(!JSON.stringify(answer.body).includes('passwordHash"'))
  })
})

describeTargets('keys', { ...library, seed }, target => {
  const given: [path: string, body: object, id: unknown][] = [
    ['/v1/authors', { id: 7, name: 'x', email: 'x' }, 7],
    ['/v1/authors', { id: Number.MAX_SAFE_INTEGER, name: 'x', email: 'x' }, Number.MAX_SAFE_INTEGER],
    ['/v1/branches', { code: 'X', name: 'x' }, 'X'],
    ['/v1/copies', { id: UUID.replace('1', '2'), book: 1 }, UUID.replace('1', '2')],
  ]
  for (const [path, body, id] of given) {
    it(`POST ${path} takes the key ${JSON.stringify(id)}`, target.except(id === Number.MAX_SAFE_INTEGER && '32 bits'), async () => {
      const answer = await target.call('POST', path, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const record = answer.body[answer.body.resource] as Record<string, unknown>
      assert.equal(record['id'] ?? record['code'], id)
    })
  }

  const taken: [path: string, body: object, attributes: string[]][] = [
    ['/v1/authors', { id: 1, name: 'x', email: 'x' }, ['id']],
    ['/v1/branches', { code: 'N', name: 'x' }, ['code']],
    ['/v1/copies', { id: UUID.toUpperCase(), book: 1 }, ['id']],
    ['/v1/reviews', { author: 1, number: 1, stars: 1, book: 1 }, ['author', 'number']],
    ['/v1/shelves', { room: 'A', number: 1 }, ['room', 'number']],
  ]
  for (const [path, body, attributes] of taken) {
    it(`POST ${path} ${JSON.stringify(body)} is refused, since the key is taken`, async () => {
      assertRefused(
        await target.call('POST', path, undefined, body),
        409,
        attributes.map((name): Found => [name, 'not_unique']),
      )
    })
  }

  const same: [path: string, body: object][] = [
    ['/v1/authors/1', { id: 1, bio: 'x' }],
    ['/v1/branches/N', { code: 'N' }],
    [`/v1/copies/${UUID}`, { id: UUID.toUpperCase() }],
    ['/v1/reviews/1~1', { author: 1, number: 1, stars: 2 }],
    ['/v1/shelves/A~1', { room: 'A', number: 1 }],
  ]
  for (const [path, body] of same) {
    it(`PUT ${path} may repeat the key`, async () => {
      const answer = await target.call('PUT', path, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    })
  }

  const other: [path: string, body: object, attributes: string[]][] = [
    ['/v1/authors/1', { id: 2 }, ['id']],
    ['/v1/authors/1', { id: 99 }, ['id']],
    ['/v1/authors/1', { id: '1' }, ['id']],
    ['/v1/authors/1', { id: null }, ['id']],
    ['/v1/branches/N', { code: 'n' }, ['code']],
    [`/v1/copies/${UUID}`, { id: UUID.replace('1', '2') }, ['id']],
    ['/v1/reviews/1~1', { author: 2, number: 2 }, ['author', 'number']],
    ['/v1/reviews/1~1', { author: { name: 'x', email: 'x' } }, ['author']],
    ['/v1/shelves/A~1', { number: 2 }, ['number']],
  ]
  for (const [path, body, attributes] of other) {
    it(`PUT ${path} ${JSON.stringify(body)} is refused, since the key stays`, async () => {
      assertRefused(
        await target.call('PUT', path, undefined, body),
        422,
        attributes.map((name): Found => [name, 'key_fixed']),
      )
      assert.equal((await target.call('GET', path)).status, 200)
    })
  }
})

describeTargets('references', { ...library, seed, fresh: 'suite' }, target => {
  const missing: [method: string, path: string, body: object, attributes: string[]][] = [
    ['POST', '/v1/books', { title: 'x', author: 99 }, ['author']],
    ['PUT', '/v1/books/1', { author: -1, sequelOf: 99, sequel: 98 }, ['author', 'sequelOf', 'sequel']],
    ['PUT', '/v1/books/1', { genres: [1, 99, 98] }, ['genres.1', 'genres.2']],
    ['PUT', '/v1/authors/1', { books: [1, 2, 99] }, ['books.2']],
    ['PUT', '/v1/authors/1', { profile: 99 }, ['profile']],
    ['POST', '/v1/copies', { book: 99, branch: 'n', shelf: 'A~2' }, ['book', 'branch', 'shelf']],
    ['POST', '/v1/comments', { text: 'x', review: '1~2' }, ['review']],
    ['POST', '/v1/reviews', { author: 99, number: 1, stars: 1, book: 1 }, ['author']],
    ['PUT', '/v1/books/1', { copies: [UUID.replace('1', '2')] }, ['copies.0']],
  ]
  for (const [method, path, body, attributes] of missing) {
    it(`${method} ${path} ${JSON.stringify(body)} names records that do not exist`, async () => {
      assertRefused(
        await target.call(method, path, undefined, body),
        422,
        attributes.map((name): Found => [name, 'reference_not_found']),
      )
    })
  }

  it('may not change the key of a member', async () => {
    assertRefused(await target.call('PUT', '/v1/authors/2', undefined, { reviews: ['1~1'] }), 422, [['reviews.0', 'key_fixed']])
    const answer = await target.call('POST', '/v1/authors', undefined, { name: 'x', email: 'x', reviews: ['1~1'] })
    assertRefused(answer, 422, [['reviews.0', 'key_fixed']])
    assert.equal((await target.call('PUT', '/v1/authors/1', undefined, { reviews: ['1~1'] })).status, 200)
  })
})

describeTargets('uniqueness', { ...library, seed }, target => {
  const conflicts: [method: string, path: string, body: object, attributes: string[]][] = [
    ['POST', '/v1/authors', { name: 'x', email: 'ann@example.test' }, ['email']],
    ['PUT', '/v1/authors/2', { email: 'ann@example.test' }, ['email']],
    ['POST', '/v1/books', { title: 'x', author: 1, isbn: '9780000000001' }, ['isbn']],
    ['POST', '/v1/profiles', { author: 1 }, ['author']],
    ['PUT', '/v1/books/3', { sequelOf: 1 }, ['sequelOf']],
    ['POST', '/v1/authors', { name: 'x', email: 'x', books: [{ title: 'x', isbn: '9780000000001' }] }, ['books.0.isbn']],
    [
      'POST',
      '/v1/authors',
      {
        name: 'x',
        email: 'x',
        books: [
          { title: 'x', isbn: '1' },
          { title: 'y', isbn: '1' },
        ],
      },
      ['books.1.isbn'],
    ],
    [
      'POST',
      '/v1/authors',
      {
        name: 'x',
        email: 'x',
        reviews: [
          { number: 1, stars: 1, book: 1 },
          { number: 1, stars: 2, book: 1 },
        ],
      },
      ['reviews.1.author', 'reviews.1.number'],
    ],
    ['POST', '/v1/genres', { name: 'a', children: [{ name: 'b' }, { name: 'a' }] }, ['children.1.name']],
  ]
  for (const [method, path, body, attributes] of conflicts) {
    it(`${method} ${path} ${JSON.stringify(body)} is a conflict, when that is all that is wrong`, async () => {
      assertRefused(
        await target.call(method, path, undefined, body),
        409,
        attributes.map((name): Found => [name, 'not_unique']),
      )
    })
    it(`${method} ${path} ${JSON.stringify(body)} is one of the faults, when there are others`, async () => {
      const answer = await target.call(method, path, undefined, { ...body, nope: 1 })
      assertRefused(answer, 422, [...attributes.map((name): Found => [name, 'not_unique']), ['nope', 'attribute_unknown']])
    })
  }

  it('is no matter for what stays as it is, nor for NULL', async () => {
    assert.equal((await target.call('PUT', '/v1/authors/1', undefined, { email: 'ann@example.test', name: 'Anne' })).status, 200)
    assert.equal((await target.call('PUT', '/v1/profiles/1', undefined, { author: 1 })).status, 200)
    for (const id of [2, 3])
      assert.equal((await target.call('PUT', `/v1/books/${id}`, undefined, { isbn: null, sequelOf: null })).status, 200)
  })

  it('is case-sensitive, as text is', async () => {
    assert.equal((await target.call('POST', '/v1/genres', undefined, { name: 'Crime' })).status, 200)
  })
})

describeTargets('embedded objects', { ...library, seed }, target => {
  const cases: [path: string, body: object, faults: Found[]][] = [
    ['/v1/authors/1', { home: { street: null } }, [['home.street', 'null_not_allowed']]],
    ['/v1/authors/1', { home: { city: 'x'.repeat(81) } }, [['home.city', 'too_long']]],
    [
      '/v1/authors/2',
      { home: {} },
      [
        ['home.street', 'required'],
        ['home.city', 'required'],
      ],
    ],
    ['/v1/authors/2', { home: { city: 'x' } }, [['home.street', 'required']]],
    [
      '/v1/authors/2',
      { home: { city: 5 } },
      [
        ['home.street', 'required'],
        ['home.city', 'value_invalid'],
      ],
    ],
    [
      '/v1/books/1',
      { size: { width: null, unit: null } },
      [
        ['size.width', 'null_not_allowed'],
        ['size.unit', 'null_not_allowed'],
      ],
    ],
    ['/v1/books/1', { size: { measuredOn: '2026-02-30' } }, [['size.measuredOn', 'value_invalid']]],
    [
      '/v1/books/2',
      { size: { unit: 'in' } },
      [
        ['size.width', 'required'],
        ['size.height', 'required'],
      ],
    ],
    ['/v1/books/2', { size: { width: 1, height: 1, depth: 1 } }, [['size.depth', 'attribute_unknown']]],
  ]
  for (const [path, body, faults] of cases) {
    it(`PUT ${path} ${JSON.stringify(body)} is refused`, async () => {
      const before = (await target.call('GET', path)).body as Record<string, unknown>
      assertRefused(await target.call('PUT', path, undefined, body), 422, faults)
      assert.deepEqual({ ...(await target.call('GET', path)).body, timestamp: 0 }, { ...before, timestamp: 0 })
    })
  }
})

/** Composite uniques, one of them by an embedded column and by a relation; a version; a check. */
const Place = defineEntity({ name: 'Place', embeddable: true, properties: { row: p.integer(), seat: p.integer() } })
const Hall = defineEntity({ name: 'Hall', properties: { id: p.integer().primary(), name: p.string().unique() } })
const Ticket = defineEntity({
  name: 'Ticket',
  uniques: [{ properties: ['hall', 'night', 'code'] }],
  properties: {
    id: p.integer().primary(),
    hall: () => p.manyToOne(Hall).nullable(),
    night: p.date().default('2026-01-01'),
    code: p.string().nullable(),
    place: () => p.embedded(Place).nullable(),
    version: p.integer().version(),
    next: () => p.oneToOne(Ticket).inversedBy('previous').nullable(),
    previous: () => p.oneToOne(Ticket).mappedBy('next').nullable(),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    text: p.string(),
    changed: p.datetime().version(),
    stars: p.integer().default(1).check('stars < 6'),
  },
})
const box = { entities: [Hall, Ticket, Note, Place] }
const boxSeed = {
  halls: [
    { id: 1, name: 'A' },
    { id: 2, name: 'B' },
  ],
  tickets: [
    { id: 1, hall: 1, night: '2026-05-01', code: 'x' },
    { id: 2, hall: 1, night: '2026-05-02', code: 'x' },
    { id: 3, hall: 2, code: 'y' },
    { id: 4, code: 'x' },
  ],
  notes: [{ id: 1, text: 'a' }],
}

describeTargets('composite uniques', { ...box, seed: boxSeed }, target => {
  const conflicts: [method: string, path: string, body: object][] = [
    ['POST', '/v1/tickets', { hall: 1, night: '2026-05-01', code: 'x' }],
    ['PUT', '/v1/tickets/2', { night: '2026-05-01' }],
    ['PUT', '/v1/tickets/3', { hall: 1, night: '2026-05-01', code: 'x' }],
  ]
  for (const [method, path, body] of conflicts) {
    it(`${method} ${path} ${JSON.stringify(body)} names all attributes of the set`, async () => {
      assertRefused(await target.call(method, path, undefined, body), 409, [
        ['hall', 'not_unique'],
        ['night', 'not_unique'],
        ['code', 'not_unique'],
      ])
    })
  }

  it('are told by the database where a default completes the set', async () => {
    const answer = await target.call('POST', '/v1/tickets', undefined, { hall: 2, code: 'y' })
    assert.equal(answer.status, 409)
    assert.deepEqual(
      sorted(faultsOf(answer)),
      sorted([
        ['hall', 'not_unique'],
        ['night', 'not_unique'],
        ['code', 'not_unique'],
      ]),
    )
  })

  for (const body of [
    { hall: 2, night: '2026-05-01', code: 'x' },
    { hall: 1, night: '2026-05-01', code: 'X' },
    { hall: 1, night: '2026-05-01' },
    { night: '2026-01-01', code: 'x' },
    { hall: { name: 'C' }, night: '2026-05-01', code: 'x' },
  ]) {
    it(`are not broken by ${JSON.stringify(body)}`, async () => {
      assert.equal((await target.call('POST', '/v1/tickets', undefined, body)).status, 200)
    })
  }
})

describeTargets('versions', { ...box, seed: boxSeed }, target => {
  it('count up with each change', async () => {
    assert.equal((await target.call('GET', '/v1/tickets/1')).body.ticket.version, 1)
    assert.equal((await target.call('PUT', '/v1/tickets/1', undefined, { code: 'z' })).body.ticket.version, 2)
    assert.equal((await target.call('PUT', '/v1/tickets/1', undefined, { code: 'w', version: 2 })).body.ticket.version, 3)
  })

  it('count up once, however much a request changes', async () => {
    const answer = await target.call('PUT', '/v1/tickets/1', undefined, { code: 'z', previous: 2, next: 3, hall: 2 })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { version, code, previous, next } = answer.body.ticket
    assert.deepEqual([version, code, previous, next], [2, 'z', 2, 3])
  })

  it('refuse a change by somebody who has seen an older one', async () => {
    await target.call('PUT', '/v1/tickets/1', undefined, { code: 'z' })
    const answer = await target.call('PUT', '/v1/tickets/1', undefined, { code: 'w', version: 1 })
    assert.equal(answer.status, 409)
    assert.equal(answer.body.code, 'version_conflict')
    assert.equal((await target.call('GET', '/v1/tickets/1')).body.ticket.code, 'z')
  })

  it('may be times', async () => {
    const { changed } = (await target.call('GET', '/v1/notes/1')).body.note as { changed: string }
    const answer = await target.call('PUT', '/v1/notes/1', undefined, { text: 'b', changed })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const old = await target.call('PUT', '/v1/notes/1', undefined, { text: 'c', changed: '2020-01-01T00:00:00.000Z' })
    assert.equal(old.status, 409)
    assert.equal(old.body.code, 'version_conflict')
  })

  it('are held against values of their type first', async () => {
    assertRefused(await target.call('PUT', '/v1/tickets/1', undefined, { version: 'x' }), 422, [['version', 'value_invalid']])
  })
})

describeTargets('checks of the model', { ...box, seed: boxSeed }, target => {
  it('are faults of the body', async () => {
    const answer = await target.call('PUT', '/v1/notes/1', undefined, { stars: 6 })
    assert.equal(answer.status, 422, JSON.stringify(answer.body))
    assert.equal((await target.call('GET', '/v1/notes/1')).body.note.stars, 1)
  })
})

describe('validationStatus 400', () => {
  it('replaces 422 and nothing else', async () => {
    await using engine = await RestEngine.create({ ...box, seed: boxSeed, validationStatus: 400 })
    const wrong = await engine.handle('PUT', '/v1/halls/1', undefined, { name: 5 })
    assert.equal(wrong.status, 400)
    assert.deepEqual(wrong.body.status, 400)
    assert.equal(wrong.body.code, 'validation_failed')
    assert.equal((await engine.handle('PUT', '/v1/halls/1', undefined, { name: 'B' })).status, 409)
  })
})
