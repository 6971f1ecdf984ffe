/** Paths: versions, names, IDs, methods, and everything that is no path. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library, { Author, Genre } from '../../fixtures/library/index.ts'
import { COPY_1, librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'

const BlogEntry = defineEntity({ name: 'BlogEntry', properties: { id: p.integer().primary(), title: p.string() } })

const RESOURCES = {
  authors: '/v1/authors',
  profiles: '/v1/profiles',
  books: '/v1/books',
  genres: '/v1/genres',
  reviews: '/v1/reviews',
  comments: '/v1/comments',
  branches: '/v1/branches',
  shelves: '/v1/shelves',
  copies: '/v1/copies',
}

function allowed(answer: Answer): string[] {
  return (answer.headers['allow'] ?? '').split(/, */).toSorted()
}

function refused(answer: Answer, status: number, request: unknown): void {
  assert.equal(answer.status, status, `${JSON.stringify(request)}: ${JSON.stringify(answer.body)}`)
  assertSound(answer, request)
}

describeTargets(
  'names of resources',
  { entities: [BlogEntry], seed: { blog_entries: [{ id: 1, title: 'x' }] }, fresh: 'suite' },
  target => {
    for (const name of ['blog_entries', 'blog_entry', 'blog-entries', 'blog-entry', 'blogEntries', 'blogEntry']) {
      it(`answers to ${name}, and names the resource canonically`, async () => {
        const list = await target.call('GET', `/v1/${name}`)
        assert.equal(list.status, 200)
        assert.equal(list.body.resource, 'blog_entries')
        assert.deepEqual(list.body.blog_entries, [{ id: 1, title: 'x' }])
        const one = await target.call('GET', `/v1/${name}/1`)
        assert.equal(one.body.resource, 'blog_entry')
        assert.deepEqual(one.body.blog_entry, { id: 1, title: 'x' })
      })
    }

    for (const name of [
      'BlogEntry',
      'BlogEntries',
      'blogentries',
      'BLOG_ENTRIES',
      'Blog_entries',
      'blog_entrie',
      'blog%20entries',
      'blog.entries',
    ]) {
      it(`does not answer to ${name}`, async () => {
        refused(await target.call('GET', `/v1/${name}`), 404, name)
      })
    }

    it('suggests the nearest resource', async () => {
      const answer = await target.call('GET', '/v1/blog_entrys')
      refused(answer, 404, 'blog_entrys')
      assert.match(answer.body.detail as string, /blog_entries/)
    })
  },
)

describeTargets('versions', { ...library, versions: ['v1', 'v3'], fresh: 'suite' }, target => {
  for (const version of ['v1', 'v3']) {
    it(`serves every resource under ${version}`, async () => {
      assert.equal((await target.call('GET', `/${version}/genres`)).status, 200)
    })

    it(`tells at /${version} where its resources are`, async () => {
      const { status, body } = await target.call('GET', `/${version}`)
      assert.equal(status, 200)
      assert.deepEqual(body.versions, ['v1', 'v3'])
      assert.equal(body.resources.authors, `/${version}/authors`)
    })
  }

  for (const version of ['v2', 'V1', 'v1.0', '1', 'v', 'genres', 'v1%20', '%20v1']) {
    it(`knows no version ${version}`, async () => {
      for (const rest of ['', '/genres', '/genres/1', '/genres/1/name']) refused(await target.call('GET', `/${version}${rest}`), 404, rest)
    })
  }

  it('hints at the version that is missing', async () => {
    const answer = await target.call('GET', '/genres')
    refused(answer, 404, '/genres')
    assert.match(answer.body.detail as string, /\/v1\/genres/)
  })
})

const lookup = (name: string, version: string): typeof Author | typeof Genre | undefined => {
  if (version === 'v1' && name === 'people') return Author
  return name === 'kinds' ? Genre : undefined
}

describeTargets(
  'a look-up of the application',
  { ...library, seed: librarySeed, lookup, versions: ['v1', 'v2'], fresh: 'suite' },
  target => {
    it('takes the place of the default one', async () => {
      assert.equal((await target.call('GET', '/v1/people/1')).status, 200)
      assert.equal((await target.call('GET', '/v2/kinds/1/name')).body.value, 'fiction')
    })

    for (const path of ['/v2/people', '/v1/authors', '/v1/genres', '/v1/people_', '/v1/author/1']) {
      it(`makes ${path} unknown by returning nothing`, async () => refused(await target.call('GET', path), 404, path))
    }

    it('keeps links and locations as the client wrote them', async () => {
      assert.equal((await target.call('GET', '/v1/people?limit=2')).body.next, '/v1/people?limit=2&offset=2')
      const made = await target.call('POST', '/v2/kinds', undefined, { name: `from ${target.name}` })
      assert.match(made.headers['location']!, /^\/v2\/kinds\/\d+$/)
    })
  },
)

describeTargets('paths', { ...library, seed: librarySeed, fresh: 'suite', everyTarget: 'paths come by transports' }, target => {
  it('lists versions and resources at the root and at the version', async () => {
    for (const path of ['/', '/v1', '/v1/']) {
      const answer = await target.call('GET', path)
      assert.equal(answer.status, 200, path)
      assert.deepEqual(Object.keys(answer.body as object), ['success', 'timestamp', 'versions', 'resources'])
      assert.equal(answer.body.success, true)
      assert.deepEqual(answer.body.versions, ['v1'])
      assert.deepEqual(answer.body.resources, RESOURCES)
    }
  })

  for (const path of ['/v1/genres', '/v1/genres/1', '/v1/genres/1/name', '/v1/genres/2/parent', '/v1/genres/1/children']) {
    it(`ignores one slash after ${path}`, async () => {
      const plain = await target.call('GET', path)
      const slashed = await target.call('GET', `${path}/`)
      assert.equal(plain.status, 200)
      assert.deepEqual({ ...slashed.body, timestamp: '' }, { ...plain.body, timestamp: '' })
    })
  }

  for (const path of [
    '//',
    '//v1/genres',
    '/v1//',
    '/v1//genres',
    '/v1/genres//',
    '/v1/genres//1',
    '/v1/genres/1//',
    '/v1/genres/1//name',
  ]) {
    it(`finds nothing at ${path}`, async () => refused(await target.call('GET', path), 404, path))
  }

  it('names the resources in the order of the entities', async () => {
    const { body } = await target.call('GET', '/v1')
    assert.deepEqual(Object.keys(body.resources as object), Object.keys(RESOURCES))
  })

  for (const path of ['/v1/genres/1/name/x', '/v1/genres/1/children/2/name', '/v1/genres/1/name/x/y/z']) {
    it(`finds nothing below an attribute, at ${path}`, async () => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        refused(await target.call(method, path, undefined, method === 'GET' || method === 'DELETE' ? undefined : {}), 404, path)
      }
    })
  }

  for (const bad of ['%', '%z', '%zz', '%1', '%E0%A4%A', '%ff', '%C3%28', '%ED%A0%80', 'a%', '%00', 'a%00b']) {
    it(`refuses ${bad} anywhere in a path`, async () => {
      for (const path of [
        `/${bad}`,
        `/v1/${bad}`,
        `/v1/genres/${bad}`,
        `/v1/branches/${bad}`,
        `/v1/genres/1/${bad}`,
        `/v1/genres/${bad}/name`,
      ]) {
        refused(await target.call('GET', path), 400, path)
      }
    })

    it(`refuses ${bad} anywhere in a query`, async () => {
      for (const query of [`${bad}=1`, `name=${bad}`, `limit=${bad}`, `sort=${bad}`, `attributes=${bad}`, `x&${bad}`]) {
        refused(await target.call('GET', `/v1/genres?${query}`), 400, query)
      }
    })
  }

  const ids: [path: string, key: string, value: unknown][] = [
    ['/v1/genres/1', 'name', 'fiction'],
    ['/v1/branches/MAIN', 'name', 'Main'],
    ['/v1/branches/M%41IN', 'name', 'Main'],
    ['/v1/branches/a%2Fb%20%25~', 'name', 'Odd'],
    ['/v1/branches/a%2Fb%20%25%7E', 'name', 'Odd'],
    [`/v1/copies/${COPY_1}`, 'id', COPY_1],
    [`/v1/copies/${COPY_1.toUpperCase()}`, 'id', COPY_1],
    ['/v1/reviews/2~1', 'stars', 3],
    ['/v1/reviews/2~2', 'stars', 4],
    ['/v1/shelves/A%7E1~4', 'label', 'Crime'],
    ['/v1/shelves/A%7e1~4', 'label', 'Crime'],
    ['/v1/shelves/C%2FD~10', 'label', 'Maps'],
  ]
  for (const [path, key, value] of ids) {
    it(`reads the record at ${path}`, async () => {
      const { status, body } = await target.call('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(body[body.resource][key], value)
      assert.deepEqual((await target.call('GET', `${path}/${key}`)).body.value, value)
    })
  }

  const noIds: [resource: string, ids: string[]][] = [
    [
      'genres',
      [
        '0',
        '5',
        '-1',
        'abc',
        '01',
        '1e3',
        '1E0',
        '1180591620717411303424',
        '-1180591620717411303424',
        '9007199254740993',
        '-0',
        '1.0',
        '1.',
        '.1',
        '%201',
        '1%20',
        '+1',
        '%2B1',
        '0x1',
        '1n',
        '1_0',
        '1,2',
        '1~1',
        '%D9%A1',
        'null',
        'NaN',
        'Infinity',
        '1%2F1',
        "1'",
        '__proto__',
      ],
    ],
    ['branches', ['main', 'MAIN%20', '%20MAIN', 'MAIN~', 'a', '*', 'M*', '%25', 'null', 'constructor']],
    [
      'copies',
      ['1', 'abc', COPY_1.slice(1), COPY_1.replaceAll('-', ''), `{${COPY_1}}`, `${COPY_1}%20`, '00000000-0000-0000-0000-000000000000'],
    ],
    [
      'reviews',
      ['2', '2~', '~1', '~', '2~01', '02~1', '2~1~1', '2~x', 'x~1', '2~9', '9~1', '2%7E1', '2,1', '2~1.0', '2~1180591620717411303424'],
    ],
    ['shelves', ['B', 'B~', '~1', 'B~2', 'b~1', 'A~1~4', 'A%257E1~4', 'B%7E1', 'B~x', 'B~01', '1~B']],
  ]
  for (const [resource, texts] of noIds) {
    for (const id of texts) {
      it(`finds no record at /v1/${resource}/${id}`, async () => {
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await target.call(
            method,
            `/v1/${resource}/${id}`,
            undefined,
            method === 'PUT' || method === 'PATCH' ? {} : undefined,
          )
          assert.equal(answer.status, 404, `${method}: ${JSON.stringify(answer.body)}`)
        }
      })
    }
  }

  it('finds no attribute of a record that does not exist', async () => {
    for (const path of ['name', 'parent', 'children', 'books']) {
      for (const id of ['99', 'abc', '01']) refused(await target.call('GET', `/v1/genres/${id}/${path}`), 404, path)
    }
    for (const [method, path, body] of [
      ['POST', '/v1/genres/99/children', { name: 'x' }],
      ['PUT', '/v1/genres/99/name', 'x'],
      ['PUT', '/v1/genres/99/parent', 1],
      ['DELETE', '/v1/genres/99/parent', undefined],
      ['DELETE', '/v1/genres/99/children', undefined],
    ] as const) {
      refused(await target.call(method, path, undefined, body), 404, path)
    }
  })

  const unknown: [path: string, hint: RegExp][] = [
    ['/v1/genre_s', /genres/],
    ['/v1/Genres', /genres/],
    ['/v1/genres/1/nam', /"?name"?/],
    ['/v1/authors/1/penName', /pen_name/],
    ['/v1/authors/1/emial', /email/],
  ]
  for (const [path, hint] of unknown) {
    it(`finds nothing at ${path}, and says what is near`, async () => {
      const answer = await target.call('GET', path)
      refused(answer, 404, path)
      assert.match(answer.body.detail as string, hint)
    })
  }

  for (const path of [
    '/v1/authors/1/passwordHash',
    '/v1/books/1/draft',
    '/v1/genres/1/Name',
    '/v1/genres/1/name.x',
    '/v1/authors/1/home.city',
  ]) {
    it(`has no attribute to show at ${path}`, async () => refused(await target.call('GET', path), 404, path))
  }

  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf']) {
    it(`knows ${name} as no version, resource, ID or attribute`, async () => {
      for (const path of [
        `/${name}`,
        `/v1/${name}`,
        `/v1/${name}/1`,
        `/v1/genres/${name}`,
        `/v1/genres/1/${name}`,
        `/v1/branches/${name}`,
      ]) {
        refused(await target.call('GET', path), 404, path)
      }
    })
  }

  const longs: [path: string, what: string][] = [
    [`/${'v'.repeat(8000)}`, 'version'],
    [`/v1/${'g'.repeat(8000)}`, 'resource'],
    [`/v1/genres/${'1'.repeat(8000)}`, 'integer ID'],
    [`/v1/branches/${'x'.repeat(8000)}`, 'text ID'],
    [`/v1/reviews/${'1~'.repeat(4000)}`, 'composite ID'],
    [`/v1/genres/1/${'n'.repeat(8000)}`, 'attribute'],
    [`/v1${'/genres'.repeat(1000)}`, 'number of segments'],
  ]
  for (const [path, what] of longs) {
    it(`finds nothing at an over-long ${what}`, async () => refused(await target.call('GET', path), 404, what))
  }

  it(
    'finds nothing at a path of a million characters',
    { skip: target.door === 'http' && 'node:http limits the head of a request' },
    async () => {
      for (const path of [`/v1/genres/${'9'.repeat(1_000_000)}`, `/v1/${'%20'.repeat(300_000)}`, '/x'.repeat(500_000)]) {
        refused(await target.call('GET', path), 404, path.slice(0, 20))
      }
    },
  )

  it('begins every path with a slash', { skip: target.door === 'http' && 'fetch makes an absolute URL of it' }, async () => {
    for (const path of ['', 'v1/genres', 'genres', ' /v1/genres']) refused(await target.call('GET', path), 404, path)
  })

  it('takes the query in the path, beside that of the call', async () => {
    assert.equal((await target.call('GET', '/v1/genres?name=crime')).body.count, 1)
    assert.equal((await target.call('GET', '/v1/genres?parent=1', { name: 'crime' })).body.count, 1)
    assert.equal((await target.call('GET', '/v1/genres?name=satire', { name: 'crime' })).body.count, 0)
    refused(await target.call('GET', '/v1/genres?limit=1', { limit: 1 }), 400, 'limit twice')
  })

  const COLLECTION = ['GET', 'HEAD', 'OPTIONS', 'POST', 'QUERY']
  const RECORD = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT', 'QUERY']
  const PLAIN = ['GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT']
  const LIST = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY']
  const kinds: [path: string, what: string, methods: string[]][] = [
    ['/v1/genres', 'a collection', COLLECTION],
    ['/v1/genres/1', 'a record', RECORD],
    ['/v1/genres/1/name', 'a plain attribute', PLAIN],
    ['/v1/authors/1/home', 'an embedded object', PLAIN],
    ['/v1/genres/2/parent', 'a to-one', RECORD],
    ['/v1/authors/1/profile', 'the inverse side of a one-to-one', RECORD],
    ['/v1/genres/1/children', 'a list', LIST],
    ['/v1/books/1/genres', 'a many-to-many', LIST],
  ]
  for (const [path, what, methods] of kinds) {
    it(`answers OPTIONS of ${what} with what it takes`, async () => {
      const answer = await target.call('OPTIONS', path)
      assert.equal(answer.status, 204)
      assert.deepEqual(allowed(answer), methods)
      assert.equal(answer.body, undefined)
    })
  }

  it('answers OPTIONS of an unknown resource, attribute or version with 404', async () => {
    for (const path of ['/v2/genres', '/v1/nope', '/v1/genres/1/nope']) assert.equal((await target.call('OPTIONS', path)).status, 404)
  })

  const wrong: [method: string, path: string, methods: string[]][] = [
    ['PUT', '/v1/genres', COLLECTION],
    ['PATCH', '/v1/genres', COLLECTION],
    ['DELETE', '/v1/genres', COLLECTION],
    ['POST', '/v1/genres/1', RECORD],
    ['POST', '/', ['GET', 'HEAD', 'OPTIONS']],
    ['PUT', '/v1', ['GET', 'HEAD', 'OPTIONS']],
    ['DELETE', '/v1', ['GET', 'HEAD', 'OPTIONS']],
    ['PROPFIND', '/v1/genres', COLLECTION],
    ['PROPFIND', '/v1/genres/1', RECORD],
    ['PROPFIND', '/v1/genres/1/name', PLAIN],
    ['PROPFIND', '/v1/genres/1/children', LIST],
  ]
  for (const [method, path, methods] of wrong) {
    it(`does not allow ${method} of ${path}`, async () => {
      const answer = await target.call(method, path, undefined, method === 'DELETE' || method === 'PROPFIND' ? undefined : { name: 'x' })
      refused(answer, 405, path)
      assert.deepEqual(allowed(answer), methods)
    })
  }

  const ruledOut: [method: string, path: string][] = [
    ['POST', '/v1/genres/1/name'],
    ['POST', '/v1/genres/1/id'],
    ['POST', '/v1/authors/1/home'],
    ['POST', '/v1/books/1/meta'],
    ['POST', '/v1/genres/2/parent'],
    ['POST', '/v1/genres/1/parent'],
    ['POST', '/v1/authors/1/profile'],
    ['DELETE', '/v1/genres/1/name'],
    ['DELETE', '/v1/authors/1/home'],
    ['DELETE', '/v1/books/1/titleLength'],
  ]
  for (const [method, path] of ruledOut) {
    it(`refuses ${method} of ${path}, which is of another kind`, async () => {
      refused(await target.call(method, path, undefined, method === 'POST' ? { name: 'x' } : undefined), 400, path)
      assert.ok(!allowed(await target.call('OPTIONS', path)).includes(method))
    })
  }

  for (const method of ['get', 'Get', 'head']) {
    it(`takes ${method} for the method it spells`, { skip: target.door === 'http' && 'the client spells it right' }, async () => {
      assert.equal((await target.call(method, '/v1/genres')).status, 200)
    })
  }

  for (const path of ['/', '/v1/genres?limit=2', '/v1/genres/1', '/v1/genres/1/name', '/v1/genres/2/parent', '/v1/genres/1/children']) {
    it(`answers HEAD of ${path} as GET, without the body`, async () => {
      const get = await target.call('GET', path)
      const head = await target.call('HEAD', path)
      assert.equal(head.status, 200)
      assert.equal(head.headers['content-type'], get.headers['content-type'])
      assert.equal(head.body, undefined)
    })
  }

  it('answers HEAD with the status of GET where that is refused', async () => {
    for (const [path, status] of [
      ['/v1/nope', 404],
      ['/v1/genres/99', 404],
      ['/v1/genres?nope=1', 400],
      ['/v1/genres?limit=x', 400],
    ] as const) {
      assert.equal((await target.call('HEAD', path)).status, status)
    }
  })

  it('takes no list parameters for one record, and none for a plain attribute', async () => {
    for (const path of ['/v1/genres/1', '/v1/genres/2/parent']) {
      for (const query of ['limit=1', 'offset=0', 'sort=id', 'name=x', 'id=1', '!name=x', 'name>=a', 'nope=1']) {
        const answer = await target.call('GET', path, query)
        refused(answer, 400, [path, query])
        assert.equal(typeof answer.body.errors[0].parameter, 'string')
      }
      for (const query of ['depth=2', 'attributes=name', 'expand=children', 'depth=0&attributes=!id&expand=parent']) {
        assert.equal((await target.call('GET', path, query)).status, 200)
      }
    }
    for (const query of ['limit=1', 'name=x', 'sort=id', 'nope']) refused(await target.call('GET', '/v1/genres/1/name', query), 400, query)
    for (const path of ['/', '/v1']) refused(await target.call('GET', path, 'nope=1'), 400, path)
  })

  it('has written nothing by any of this', async () => {
    const { body } = await target.call('GET', '/v1/genres', { attributes: 'id,name', depth: 0 })
    assert.deepEqual(
      body.genres,
      librarySeed.genres.map(({ id, name }) => ({ id, name })),
    )
    for (const [resource, records] of Object.entries(librarySeed)) {
      assert.equal((await target.call('GET', `/v1/${resource}`, { limit: 0 })).body.count, records.length, resource)
    }
  })
})
