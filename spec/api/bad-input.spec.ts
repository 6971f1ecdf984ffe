/** Bad input: whatever a client sends is a clear 4xx of one shape, writes nothing, and leaves the engine going. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import library, { Genre } from '../../fixtures/library/index.ts'
import { COPY_1, librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { watchStatements } from '../helpers/statements.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer, Target } from '../helpers/targets.ts'
import type { Query } from '../helpers/encode-query.ts'

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', '__defineGetter__']

/** Errors that reached `onError`; nothing in this file but the last suites may cause one. */
const told: unknown[] = []
const options = { ...library, seed: librarySeed, onError: (error: unknown) => void told.push(error) }

const BODY_KEYS = ['success', 'timestamp', 'status', 'code', 'title', 'detail', 'errors']

/** That an answer is a refusal of this status, in the one shape of errors. */
function refused(answer: Answer, status: number | readonly number[], request: unknown): void {
  const shown = `${JSON.stringify(request)}: ${JSON.stringify(answer.body)}`.slice(0, 2000)
  assert.ok(([] as readonly number[]).concat(status).includes(answer.status), `${answer.status} to ${shown}`)
  assertSound(answer, request)
  assert.deepEqual(Object.keys(answer.body as object), BODY_KEYS.slice(0, 'errors' in answer.body ? 7 : 6), shown)
  assert.deepEqual(told, [], shown)
}

async function everything(target: Target): Promise<string> {
  const all: unknown[] = []
  for (const resource of Object.keys(librarySeed)) {
    const { body } = await target.call('GET', `/v1/${resource}`, { limit: 1000 })
    all.push(body[resource])
  }
  return JSON.stringify(all)
}

/** A text as JSON sees it: `{ "__proto__": 1 }` has a key of that name, which a literal has not. */
const json = (text: string): unknown => JSON.parse(text) as unknown

function nested(levels: number, key: string, end: string): unknown {
  return json(`{"${key}":`.repeat(levels) + end + '}'.repeat(levels))
}

describeTargets('bad input', { ...options, fresh: 'suite' }, target => {
  let before: string | undefined
  // Reads everything: behind a group of requests that must write nothing.
  const untouched = async (): Promise<void> => {
    before ??= await everything(target)
    assert.equal(await everything(target), before)
  }

  it('begins with the library as it was seeded', untouched)

  for (const name of NAMES) {
    it(`takes ${name} for the unknown name it is, in every parameter`, async () => {
      const queries = [
        `${name}=1`,
        `!${name}=1`,
        `${name}>=1`,
        `${name}~=x`,
        `mentor.${name}=1`,
        `books.${name}=1`,
        `home.${name}=1`,
        `${name}.name=1`,
        `name|${name}=1`,
        `sort=${name}`,
        `sort=${name}.desc`,
        `sort=mentor.${name}`,
        `sort=books.${name}.asc`,
        `expand=${name}`,
        `expand=books.${name}`,
        `attributes=${name}`,
        `attributes=!${name}`,
        `attributes=home.${name}`,
        `attributes=mentor.${name}`,
        `limit=${name}`,
        `offset=${name}`,
        `depth=${name}`,
      ]
      for (const query of queries) refused(await target.call('GET', '/v1/authors', query), 400, query)
    })

    it(`takes ${name} for the unknown name it is, in paths`, async () => {
      for (const path of [
        `/${name}`,
        `/v1/${name}`,
        `/v1/authors/${name}`,
        `/v1/authors/1/${name}`,
        `/v1/${name}/1`,
        `/v1/branches/${name}`,
      ]) {
        for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
          const answer = await target.call(method, path, undefined, method === 'PUT' || method === 'POST' ? {} : undefined)
          refused(answer, method === 'POST' && path === `/v1/branches/${name}` ? [404, 405] : method === 'POST' ? [404, 405] : 404, [
            method,
            path,
          ])
        }
      }
    })

    it(`takes ${name} for an unknown attribute in bodies`, async () => {
      const bodies: [method: string, path: string, body: unknown, attribute: string][] = [
        ['POST', '/v1/genres', json(`{"name":"x","${name}":1}`), name],
        ['POST', '/v1/genres', json(`{"name":"x","${name}":{"name":"y"}}`), name],
        ['POST', '/v1/genres', json(`{"name":"x","parent":{"name":"y","${name}":{}}}`), `parent.${name}`],
        ['POST', '/v1/genres', json(`{"name":"x","children":[{"name":"y","${name}":[]}]}`), `children.0.${name}`],
        ['POST', '/v1/genres/1/children', json(`{"name":"x","${name}":null}`), name],
        ['PUT', '/v1/genres/1', json(`{"${name}":{"name":"polluted"}}`), name],
        ['PUT', '/v1/genres/2/parent', json(`{"${name}":1}`), name],
        ['PUT', '/v1/authors/1', json(`{"home":{"${name}":"x"}}`), `home.${name}`],
        ['PUT', '/v1/authors/1/home', json(`{"${name}":"x"}`), `home.${name}`],
        ['PUT', '/v1/books/1', json(`{"size":{"width":1,"height":1,"${name}":"x"}}`), `size.${name}`],
      ]
      for (const [method, path, body, attribute] of bodies) {
        const answer = await target.call(method, path, undefined, body)
        refused(answer, 422, [method, path, body])
        const attributes = (answer.body.errors as { attribute: string }[]).map(error => error.attribute)
        assert.ok(attributes.includes(attribute) || attributes.includes(name), `${attribute} in ${attributes.join()}`)
      }
      assert.equal(({} as Record<string, unknown>)['name'], undefined)
      await untouched()
    })
  }

  it('keeps such names as data in JSON values', async () => {
    const meta = json('{"toString":"x","__proto__":{"a":1},"constructor":{"prototype":{"b":2}}}')
    const made = await target.call('POST', '/v1/books', undefined, { title: 'T', author: 1, meta })
    assert.equal(made.status, 200)
    assert.equal(JSON.stringify(made.body.book.meta), JSON.stringify(meta))
    assert.equal((await target.call('DELETE', made.headers['location']!)).status, 200)
    assert.equal(({} as Record<string, unknown>)['a'], undefined)
    await untouched()
  })

  const shapes: [method: string, path: string, bodies: unknown[], status: number | readonly number[]][] = [
    ['POST', '/v1/genres', [[], [{ name: 'x' }, 1], [[]], 'x', '', 1, 0, true, false, null, undefined], 400],
    ['POST', '/v1/genres/1/children', [[], [{ name: 'x' }, 1], true, null, undefined], 400],
    ['POST', '/v1/genres/1/children', ['x', 99, 1.5], 422],
    ['PUT', '/v1/genres/1', [[], [{ name: 'x' }], 'x', 1, true, null, undefined], 400],
    ['PATCH', '/v1/genres/1', [[], 'x', 1, null], 400],
    ['PUT', '/v1/genres/1/name', [{}, [], { name: 'x' }, ['x'], 5, true, null], [400, 422]],
    ['PUT', '/v1/genres/2/parent', [[], [1], [{ name: 'x' }], 'x', true, 1.5, '1'], [400, 422]],
    ['PUT', '/v1/genres/1/children', [{}, { name: 'x' }, 'x', 2, true, null], [400, 422]],
    ['PUT', '/v1/authors/1/home', [[], 'x', 1, true], [400, 422]],
    ['PUT', '/v1/books/1/pages', [{}, [], '1', 1.5, true, 'x'], [400, 422]],
    ['PUT', '/v1/books/1/published', [{}, [], 0, true, 'x', ''], [400, 422]],
    ['POST', '/v1/genres', [{ name: {} }, { name: [] }, { name: ['x'] }, { name: 5 }, { name: true }, { name: null }, {}], 422],
    [
      'POST',
      '/v1/genres',
      [
        { name: 'x', parent: [] },
        { name: 'x', parent: [1] },
        { name: 'x', parent: true },
        { name: 'x', parent: 'x' },
      ],
      422,
    ],
    [
      'POST',
      '/v1/genres',
      [
        { name: 'x', children: {} },
        { name: 'x', children: 1 },
        { name: 'x', children: 'x' },
        { name: 'x', children: null },
      ],
      422,
    ],
    [
      'POST',
      '/v1/genres',
      [
        { name: 'x', children: [null] },
        { name: 'x', children: [[]] },
        { name: 'x', children: [[1]] },
        { name: 'x', children: [true] },
      ],
      422,
    ],
    [
      'PUT',
      '/v1/genres/1',
      [{ name: [] }, { name: null }, { parent: [] }, { children: {} }, { children: [{}] }, { id: 2 }, { id: '1' }],
      422,
    ],
    [
      'PUT',
      '/v1/authors/1',
      [{ home: [] }, { home: 'x' }, { home: { street: [] } }, { home: { city: {} } }, { pupils: 2 }, { mentor: {} }],
      422,
    ],
  ]
  for (const [method, path, bodies, status] of shapes) {
    for (const body of bodies) {
      it(`refuses ${method} ${path} with ${JSON.stringify(body) ?? 'no body'}`, async () => {
        const query = { depth: 0 }
        refused(await target.call(method, path, query, body), status, [method, path, body])
      })
    }
  }

  it('writes nothing by bodies of another shape', untouched)

  it('refuses bodies that are nested deeply, without a fault of its own', async () => {
    const bodies: [method: string, path: string, body: unknown][] = []
    for (const levels of [10, 100, 1000]) {
      bodies.push(
        ['POST', '/v1/genres', nested(levels, 'parent', '{"nme":1}')],
        ['POST', '/v1/genres', nested(levels, 'x', '1')],
        ['POST', '/v1/genres', json(`{"name":"x","children":${'['.repeat(levels)}${']'.repeat(levels)}}`)],
        ['POST', '/v1/genres', json('{"name":"x","children":['.repeat(levels) + '{"nme":1}' + ']}'.repeat(levels))],
        ['POST', '/v1/genres', json('['.repeat(levels) + ']'.repeat(levels))],
        ['PUT', '/v1/authors/1', nested(levels, 'home', '1')],
        ['PUT', '/v1/genres/1/name', nested(levels, 'name', '1')],
      )
    }
    for (const [method, path, body] of bodies)
      refused(await target.call(method, path, undefined, body), [400, 409, 413, 422], [method, path])
    await untouched()
  })

  it(
    'refuses what is nested a hundred thousand levels deep',
    { skip: target.door === 'http' && 'JSON.stringify cannot write it' },
    async () => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"x":', '}'],
        ['{"parent":', '}'],
        ['{"children":[', ']}'],
        ['{"name":', '}'],
      ] as const) {
        const body = json(`${open.repeat(100_000)}${open.endsWith('[') ? '' : '1'}${close.repeat(100_000)}`)
        for (const [method, path] of [
          ['POST', '/v1/genres'],
          ['PUT', '/v1/genres/1'],
          ['PUT', '/v1/genres/1/children'],
          ['PUT', '/v1/books/1/meta'],
        ] as const) {
          refused(await target.call(method, path, undefined, body), [400, 413, 422], [method, path, open])
        }
      }
      await untouched()
    },
  )

  it('refuses queries of any length, without a fault of its own', async () => {
    const queries = [
      `name=${'x'.repeat(7000)}*${'y'.repeat(7000)}*`.slice(0, 12_000),
      `${'mentor.'.repeat(1000)}name=x`,
      `sort=${'mentor.'.repeat(1000)}name`,
      `sort=${Array.from({ length: 1000 }, () => 'name').join()}`,
      `expand=${'mentor.'.repeat(1000)}mentor`,
      `expand=${Array.from({ length: 1000 }, () => 'mentor').join()}`,
      `attributes=${'mentor.'.repeat(1000)}name`,
      `attributes=${Array.from({ length: 1000 }, () => '!name').join()}`,
      `${'n'.repeat(10_000)}=1`,
      `${'!'.repeat(1000)}name=x`,
      `${Array.from({ length: 500 }, () => 'name').join('|')}=x`,
      `${'&'.repeat(5000)}name=x`,
      Array.from({ length: 1000 }, (_, index) => `id=${index}`).join('&'),
      `limit=${'9'.repeat(10_000)}`,
      `depth=${'1'.repeat(10_000)}`,
    ]
    for (const query of queries) {
      const answer = await target.call('GET', '/v1/authors', query)
      assert.ok(
        answer.status === 200 || answer.status === 400,
        `${answer.status} to ${query.slice(0, 60)}: ${JSON.stringify(answer.body).slice(0, 300)}`,
      )
      assertSound(answer, query.slice(0, 60))
      assert.deepEqual(told, [])
    }
  })

  const PAYLOADS = [
    `' or '1'='1`,
    `" or ""="`,
    `1; drop table genre; --`,
    `'); delete from author; --`,
    `1 union select password_hash from author`,
    `name"; drop table author; --`,
    `id) from author; --`,
    'x\\" or 1=1 --',
    '`id`',
    '[id]',
    '$1',
    '?1',
    ':name',
    '@name',
    '/* comment */',
    'id asc, (select password_hash from author)',
    'case when 1 then id end',
    `' || (select password_hash from author limit 1) || '`,
    `%' escape '`,
    `json_extract(size, '$.width')`,
    '\u2019 or 1=1',
    'genre.id',
    'rowid',
    '_rowid_',
    'a0.id',
  ]
  // MikroORM's unit of work writes values as quoted literals on PostgreSQL.
  const outside = (sql: string): string => (target.store === 'postgres' ? sql.replaceAll(/'(?:[^']|'')*'/g, "''") : sql)
  describe('injected SQL', () => {
    for (const payload of PAYLOADS) {
      it(`never becomes SQL: ${payload}`, async () => {
        const text = encodeURIComponent(payload)
        const { sql } = await watchStatements(async () => {
          for (const name of [payload, `!${payload}`, `mentor.${payload}`, `books.${payload}`, `home.${payload}`, `name|${payload}`]) {
            const query = `${encodeURIComponent(name)}=1`
            refused(await target.call('GET', '/v1/authors', query), 400, query)
          }
          for (const parameter of ['sort', 'expand', 'attributes', 'limit', 'offset', 'depth']) {
            for (const value of [payload, `id,${payload}.desc`, `mentor.${payload}`]) {
              refused(await target.call('GET', '/v1/authors', { [parameter]: value }), 400, [parameter, value])
            }
          }
          for (const operator of ['>', '<', '>=', '<=', '!=', '~=']) {
            // Behind an operator it is a value, of a type that it cannot have.
            refused(await target.call('GET', '/v1/authors', `id${operator}${text}`), 400, operator)
            assert.equal(
              (await target.call('GET', '/v1/authors', `name${operator}${text.replaceAll('%2C', '%5C%2C').replaceAll('*', '%5C*')}`))
                .status,
              200,
            )
          }
          for (const path of [
            `/v1/${text}`,
            `/v1/authors/${text}`,
            `/v1/authors/1/${text}`,
            `/v1/branches/${text}`,
            `/v1/shelves/${text}~1`,
            `/v1/copies/${text}`,
          ]) {
            refused(await target.call('GET', path), 404, path)
            refused(await target.call('DELETE', path), 404, path)
          }
          refused(await target.call('GET', '/v1/authors', { id: payload }), 400, payload)
          refused(await target.call('GET', '/v1/authors', { mentor: payload }), 400, payload)
          const literal = payload.replaceAll(/[\\,*]/g, String.raw`\$&`)
          for (const key of ['name', 'email', 'name~=', 'mentor.name', 'books.title', 'home.city', 'name|email']) {
            for (const value of key === 'name' ? [literal, `${literal}*`, `*${literal}*`, `x,${literal}`] : [literal, `*${literal}*`]) {
              const { status, body } = await target.call('GET', '/v1/authors', { [key]: value })
              assert.equal(status, 200, JSON.stringify(body))
              assert.deepEqual(body.authors, [])
            }
          }
          refused(await target.call('POST', '/v1/genres', undefined, json(`{"name":"x",${JSON.stringify(payload)}:1}`)), 422, payload)
          refused(await target.call('PUT', '/v1/genres/1', undefined, { parent: payload }), 422, payload)
          const made = await target.call('POST', '/v1/books', undefined, { title: payload, author: 1 })
          assert.equal(made.status, 200)
          assert.equal(made.body.book.title, payload)
          assert.deepEqual((await target.call('GET', '/v1/books', { title: literal })).body.books, [made.body.book])
          assert.equal((await target.call('DELETE', made.headers['location']!)).status, 200)
        })
        // What is short enough to occur in honest SQL proves nothing.
        if (payload.length > 10) for (const statement of sql) assert.ok(!outside(statement).includes(payload), statement)
      })
    }

    it('writes nothing', untouched)
  })

  const requests: [method: string, path: string, query: Query | undefined, body: unknown, status: number][] = [
    ['GET', '/', 'x=1', undefined, 400],
    ['GET', '/v9', undefined, undefined, 404],
    ['GET', '/v1/nope', undefined, undefined, 404],
    ['GET', '/v1/genres/nope', undefined, undefined, 404],
    ['GET', '/v1/genres/1/nope', undefined, undefined, 404],
    ['GET', '/v1/genres/1/name/x', undefined, undefined, 404],
    ['GET', '/v1//genres', undefined, undefined, 404],
    ['GET', '/v1/genres/%zz', undefined, undefined, 400],
    ['GET', '/v1/genres', 'a=%zz', undefined, 400],
    ['GET', '/v1/genres', 'nope=1', undefined, 400],
    ['GET', '/v1/genres', 'limit=-1', undefined, 400],
    ['GET', '/v1/genres', 'sort=nope', undefined, 400],
    ['GET', '/v1/genres', 'expand=name', undefined, 400],
    ['GET', '/v1/genres', 'attributes=nope', undefined, 400],
    ['GET', '/v1/genres', 'id=x', undefined, 400],
    ['GET', '/v1/genres', 'id~=1', undefined, 400],
    ['GET', '/v1/genres', 'name=x%5C', undefined, 400],
    ['GET', '/v1/genres', 'limit=1&limit=2', undefined, 400],
    ['PUT', '/v1/genres', undefined, {}, 405],
    ['POST', '/v1/genres/1', undefined, {}, 405],
    ['POST', '/v1/genres/1/name', undefined, {}, 400],
    ['DELETE', '/v1/genres/1/name', undefined, undefined, 400],
    ['POST', '/v1/genres', undefined, [], 400],
    ['POST', '/v1/genres', undefined, {}, 422],
    ['POST', '/v1/genres', undefined, { name: 'crime' }, 409],
    ['POST', '/v1/genres', undefined, { name: 'x', parent: 99 }, 422],
    ['POST', '/v1/genres', undefined, { id: 1, name: 'x' }, 409],
    ['POST', '/v1/genres', 'limit=1', { name: 'x' }, 400],
    ['PUT', '/v1/genres/1', undefined, { id: 9 }, 422],
    ['DELETE', '/v1/authors/1', undefined, undefined, 409],
    ['DELETE', '/v1/genres/1/parent', undefined, undefined, 404],
    ['DELETE', `/v1/copies/${COPY_1}/book`, undefined, undefined, 409],
  ]
  for (const [method, path, query, body, status] of requests) {
    it(`answers ${status} in the one shape to ${method} ${path}${query === undefined ? '' : `?${query as string}`} ${JSON.stringify(body) ?? ''}`, async () => {
      const answer = await target.call(method, path, query, body)
      refused(answer, status, [method, path, query, body])
      assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
      assert.equal(answer.body.success, false)
      assert.equal(answer.body.status, status)
      assert.doesNotMatch(JSON.stringify(answer.body), /SQLITE|select |insert |\.ts:|node_modules|Error:/i)
    })
  }

  it('writes nothing by any refused request', untouched)

  it('names the same fault by the same code every time', async () => {
    const codes = new Map<string, string>()
    for (const [method, path, query, body] of [...requests, ...requests]) {
      const key = JSON.stringify([method, path, query, body])
      const { code } = (await target.call(method, path, query, body)).body
      assert.equal(codes.get(key) ?? code, code)
      codes.set(key, code as string)
    }
  })
})

const SECRET = 'SELECT secret FROM vault'

/** What `onError` was told, with the request it belongs to. */
const failures: [error: unknown, request: unknown][] = []
const failing = {
  ...library,
  seed: librarySeed,
  lookup: (name: string) => {
    if (name === 'broken') throw new Error(SECRET)
    return name === 'genres' ? Genre : undefined
  },
  onError: (error: unknown, request: unknown) => void failures.push([error, request]),
}

describeTargets('unexpected errors', failing, target => {
  it('answers a 500 that tells nothing, and tells onError everything, once', async () => {
    failures.length = 0
    for (const [method, path] of [
      ['GET', '/v1/broken'],
      ['POST', '/v1/broken'],
      ['DELETE', '/v1/broken/1'],
    ] as const) {
      const answer = await target.call(method, path, undefined, method === 'POST' ? {} : undefined)
      assert.equal(answer.status, 500)
      assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
      assert.deepEqual(Object.keys(answer.body as object), BODY_KEYS.slice(0, 6))
      assert.equal(answer.body.success, false)
      assert.equal(answer.body.status, 500)
      assert.doesNotMatch(JSON.stringify(answer.body), /SELECT|secret|vault|broken/)
      assert.equal(failures.length, 1)
      const [[error, request]] = failures.splice(0) as [[Error, { method: string; path: string }]]
      assert.equal(error.message, SECRET)
      assert.deepEqual([request.method, request.path], [method, path])
    }
  })

  it('tells no SQL when a statement fails, and goes on', async () => {
    failures.length = 0
    await target.engine.orm.em.fork().getConnection().execute('alter table genre rename to elsewhere')
    for (const [method, path, body] of [
      ['GET', '/v1/genres', undefined],
      ['GET', '/v1/genres/1', undefined],
      ['POST', '/v1/genres', { name: 'x' }],
      ['PUT', '/v1/genres/1', { name: 'x' }],
      ['DELETE', '/v1/genres/1', undefined],
    ] as const) {
      const answer = await target.call(method, path, undefined, body)
      assert.equal(answer.status, 500, `${method} ${JSON.stringify(answer.body)}`)
      assert.doesNotMatch(JSON.stringify(answer.body), /genre\b|select|table|sqlite/i)
      assert.equal(failures.length, 1)
      failures.length = 0
    }
    await target.engine.orm.em.fork().getConnection().execute('alter table elsewhere rename to genre')
    assert.equal((await target.call('GET', '/v1/genres')).body.count, 4)
    assert.equal((await target.call('POST', '/v1/genres', undefined, { name: 'x' })).status, 200)
    assert.deepEqual(failures, [])
  })

  it('tells onError nothing of what clients do wrong', async () => {
    failures.length = 0
    for (const [method, path] of [
      ['GET', '/v1/nope'],
      ['GET', '/v1/genres?nope=1'],
      ['GET', '/v1/genres/abc'],
      ['PUT', '/v1/genres'],
      ['POST', '/v1/genres'],
      ['DELETE', '/v1/genres/1/name'],
    ] as const) {
      assert.ok((await target.call(method, path)).status < 500)
    }
    assert.deepEqual(failures, [])
  })
})
