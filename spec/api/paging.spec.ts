/** Paging: limit and offset, the count, and the links to other pages. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import library from '../../fixtures/library/index.ts'
import { encodeQuery } from '../helpers/encode-query.ts'
import { librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'

const ids = (records: { id: number }[]): number[] => records.map(({ id }) => id)
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index)

const genres = range(1, 25).map(id => ({ id, name: `genre ${id}`, ...(id > 20 ? { parent: 1 } : {}) }))

/** The query of a link as a client reads it: decoded pairs, in order. */
function pairsOf(link: string): string[] {
  return [...new URLSearchParams(link.slice(link.indexOf('?') + 1))].map(pair => pair.join('\0'))
}

describeTargets('paging', { ...library, seed: { genres }, fresh: 'suite' }, target => {
  const pages: [query: string, page: number[], previous: string | null, next: string | null][] = [
    ['', range(1, 25), null, null],
    ['limit=10', range(1, 10), null, '/v1/genres?limit=10&offset=10'],
    ['limit=10&offset=0', range(1, 10), null, '/v1/genres?limit=10&offset=10'],
    ['limit=10&offset=10', range(11, 20), '/v1/genres?limit=10&offset=0', '/v1/genres?limit=10&offset=20'],
    ['limit=10&offset=20', range(21, 25), '/v1/genres?limit=10&offset=10', null],
    ['limit=10&offset=15', range(16, 25), '/v1/genres?limit=10&offset=5', null],
    ['limit=10&offset=3', range(4, 13), '/v1/genres?limit=10&offset=0', '/v1/genres?limit=10&offset=13'],
    ['limit=10&offset=1', range(2, 11), '/v1/genres?limit=10&offset=0', '/v1/genres?limit=10&offset=11'],
    ['limit=25', range(1, 25), null, null],
    ['limit=24', range(1, 24), null, '/v1/genres?limit=24&offset=24'],
    ['limit=1&offset=24', [25], '/v1/genres?limit=1&offset=23', null],
    ['limit=10&offset=25', [], '/v1/genres?limit=10&offset=15', null],
    ['limit=10&offset=1000', [], '/v1/genres?limit=10&offset=990', null],
    ['offset=5', range(6, 25), '/v1/genres?offset=0', null],
    ['offset=24', [25], '/v1/genres?offset=0', null],
    ['limit=100&offset=5', range(6, 25), '/v1/genres?limit=100&offset=0', null],
    ['limit=0', [], null, null],
    ['limit=0&offset=5', [], null, null],
    ['offset=10&limit=10', range(11, 20), '/v1/genres?offset=0&limit=10', '/v1/genres?offset=20&limit=10'],
    ['limit=2&sort=id.desc', [25, 24], null, '/v1/genres?limit=2&sort=id.desc&offset=2'],
    ['depth=0&limit=2&attributes=id', [1, 2], null, '/v1/genres?depth=0&limit=2&attributes=id&offset=2'],
  ]
  for (const [query, page, previous, next] of pages) {
    it(`gives the page of ?${query} with its links`, async () => {
      const { status, body } = await target.call('GET', '/v1/genres', query)
      assert.equal(status, 200)
      assert.deepEqual(ids(body.genres), page)
      assert.equal(body.count, 25)
      assert.equal(body.previous, previous)
      assert.equal(body.next, next)
      const given = new URLSearchParams(query)
      assert.equal(body.limit, Number(given.get('limit') ?? 100))
      assert.equal(body.offset, Number(given.get('offset') ?? 0))
    })
  }

  it('counts what the filters leave, whatever the page', async () => {
    for (const page of [
      '',
      '&limit=0',
      '&limit=2',
      '&limit=2&offset=4',
      '&offset=100',
      '&limit=5',
      '&limit=5&offset=0',
      '&limit=1&offset=4',
    ]) {
      assert.equal((await target.call('GET', `/v1/genres?parent=1${page}`)).body.count, 5, page)
      assert.equal((await target.call('GET', `/v1/genres?parent=99${page}`)).body.count, 0, page)
    }
  })

  it('gives no links where a list is empty or fits the page', async () => {
    for (const query of ['name=none', 'name=none&limit=1', 'parent=1&limit=5', 'parent=1']) {
      const { body } = await target.call('GET', '/v1/genres', query)
      assert.deepEqual([body.previous, body.next], [null, null])
    }
  })

  for (const [path, query] of [
    ['/v1/genres', { limit: 4 }],
    ['/v1/genres', { limit: 4, sort: 'children.desc,name' }],
    ['/v1/genre', { limit: 7, offset: 3 }],
    ['/v1/genres/1/children', { limit: 2 }],
    ['/v1/genre/1/children/', { limit: 2, sort: 'name.desc', offset: 1 }],
  ] as const) {
    it(`walks all pages of ${path} by its links, there and back (${JSON.stringify(query)})`, async () => {
      const { limit, ...rest } = { offset: 0, ...query }
      const whole = (await target.call('GET', path, { ...rest, limit: 1000 })).body
      const segments = path.replace(/\/$/, '')
      const there: number[] = []
      let last = ''
      let link: string | null = `${path}?${encodeQuery(query)}`
      while (link !== null) {
        const { status, body } = await target.call('GET', link)
        assert.equal(status, 200)
        assert.equal(body.limit, limit)
        there.push(...ids(body.genres))
        last = link
        link = body.next as string | null
        if (link !== null) assert.equal(link.split('?')[0], segments)
      }
      assert.deepEqual(there, ids(whole.genres))
      const back: number[] = []
      const every = ids((await target.call('GET', path, { ...rest, offset: 0, limit: 1000 })).body.genres)
      link = last
      while (link !== null) {
        const { body } = await target.call('GET', link)
        back.unshift(...ids(body.genres))
        link = body.previous as string | null
      }
      // The page before the first full one starts at 0 again, so that it may overlap.
      assert.deepEqual(
        [...new Set(back)].toSorted((a, b) => every.indexOf(a) - every.indexOf(b)),
        every,
      )
    })
  }

  const kept = [
    '!name=genre+1',
    'name!=genre%201',
    'name~=GENRE*',
    'id>=3',
    'id>3',
    'id<=23',
    'id<23',
    'id%3E3',
    'id%3E=3',
    'name|name=genre*',
    '!name|name=x,y',
    'name=*e*&name=*g*',
    'name=%2A',
    '!name=a%2Cb',
    '!name=a%5C%2Cb',
    '!name=a%26b%3Dc',
    '!name=a%23b',
    '!name=a%2Bb',
    '!name=a%25b',
    '!name=a%3Fb%2Fc',
    "!name='%22",
    '!name=%C3%A9%F0%9F%98%8A',
    '!name=',
    '!name=%5C%5C',
    '!name=null',
    '!name=a%0Ab',
    '!name=;',
    '!name=%20x%20',
    'id>=3&id<20&!id=7&name~=*E*',
    'sort=name.desc,id&attributes=id,!name&depth=2&expand=parent,children',
    'attributes=&sort=&id>2',
  ]
  for (const query of kept) {
    it(`keeps ?${query} in its links`, async () => {
      const first = await target.call('GET', `/v1/genres?${query}&limit=3`)
      assert.equal(first.status, 200, JSON.stringify(first.body))
      assert.match(first.body.next as string, /^\/v1\/genres\?[\x21-\x7e]+$/)
      assert.deepEqual(pairsOf(first.body.next as string), pairsOf(`?${query}&limit=3&offset=3`))
      const second = await target.call('GET', first.body.next as string)
      assert.equal(second.status, 200)
      assert.deepEqual(second.body.filter, first.body.filter)
      assert.equal(second.body.sort, first.body.sort)
      assert.deepEqual(Object.keys(second.body.genres[0] as object), Object.keys(first.body.genres[0] as object))
      assert.deepEqual(pairsOf(second.body.previous as string), pairsOf(`?${query}&limit=3&offset=0`))
      const whole = await target.call('GET', `/v1/genres?${query}`)
      assert.equal(second.body.count, whole.body.count)
      assert.deepEqual([...first.body.genres, ...second.body.genres], (whole.body.genres as unknown[]).slice(0, 6))
    })
  }

  it('links to the pages of an object query as to those of its text', async () => {
    const query = { 'id>=': 3, 'id<': 20, 'name!=': 'a,b', 'name~=': 'g*', '!name': ['x&y', 'z=1'], limit: 2, offset: 2, sort: 'name' }
    const { body } = await target.call('GET', '/v1/genres', query)
    const [previous, next] = [await target.call('GET', body.previous as string), await target.call('GET', body.next as string)]
    const whole = (await target.call('GET', '/v1/genres', { ...query, limit: 6, offset: 0 })).body
    assert.deepEqual([...previous.body.genres, ...body.genres, ...next.body.genres], whole.genres)
    for (const page of [previous, next]) assert.deepEqual(page.body.filter, body.filter)
  })

  it('joins the query in the path and that of the call in its links', async () => {
    const { body } = await target.call('GET', '/v1/genres?id>3', { limit: 2 })
    assert.deepEqual(pairsOf(body.next as string), pairsOf('?id>3&limit=2&offset=2'))
  })

  for (const name of ['limit', 'offset']) {
    for (const value of [
      '-1',
      '-0',
      '1.5',
      '1.0',
      '1e3',
      '+5',
      ' 5',
      '5 ',
      '01',
      '0x10',
      '',
      'abc',
      'null',
      'NaN',
      'Infinity',
      '1,2',
      '*',
      '٣',
      'true',
    ]) {
      it(`refuses ${name}=${JSON.stringify(value)}`, async () => {
        for (const path of ['/v1/genres', '/v1/genres/1/children']) {
          const answer = await target.call('GET', path, { [name]: value })
          assert.equal(answer.status, 400, JSON.stringify(answer.body))
          assertSound(answer, value)
          assert.equal(answer.body.errors[0].parameter, name)
        }
      })
    }

    it(`refuses ${name} twice`, async () => {
      assert.equal((await target.call('GET', `/v1/genres?${name}=1&${name}=1`)).body.errors[0].parameter, name)
      assert.equal((await target.call('GET', '/v1/genres', { [name]: [1, 2] })).status, 400)
    })
  }

  it('takes numbers however large', async () => {
    for (const value of ['9007199254740991', '9007199254740993', '18446744073709551616', '9'.repeat(400)]) {
      const limited = await target.call('GET', '/v1/genres', { limit: value })
      assert.equal(limited.status, 200, value)
      assert.equal(limited.body.limit, 1000)
      assert.equal(limited.body.genres.length, 25)
      const skipped = await target.call('GET', '/v1/genres', { offset: value })
      assert.equal(skipped.status, 200, value)
      assert.deepEqual([skipped.body.genres, skipped.body.count, skipped.body.next], [[], 25, null])
    }
  })

  it('clamps a limit above the maximum, and says so', async () => {
    for (const [limit, effect] of [
      [999, 999],
      [1000, 1000],
      [1001, 1000],
      [5000, 1000],
    ] as const) {
      assert.equal((await target.call('GET', '/v1/genres', { limit })).body.limit, effect)
    }
  })
})

const many = { genres: range(1, 1101).map(id => ({ id, name: `genre ${id}` })) }

describeTargets('paging of many records', { ...library, seed: many, fresh: 'suite' }, target => {
  it('gives a hundred when no limit is given, and links to the next hundred', async () => {
    const { body } = await target.call('GET', '/v1/genres')
    assert.deepEqual(ids(body.genres), range(1, 100))
    assert.deepEqual([body.limit, body.offset, body.count], [100, 0, 1101])
    assert.equal(body.next, '/v1/genres?offset=100')
    const next = await target.call('GET', body.next as string)
    assert.deepEqual(ids(next.body.genres), range(101, 200))
    assert.equal(next.body.previous, '/v1/genres?offset=0')
  })

  it('gives at most a thousand, and links to what is left', async () => {
    const { body } = await target.call('GET', '/v1/genres', { limit: 5000, depth: 0 })
    assert.deepEqual(ids(body.genres), range(1, 1000))
    assert.deepEqual([body.limit, body.count], [1000, 1101])
    const next = await target.call('GET', body.next as string)
    assert.deepEqual(ids(next.body.genres), range(1001, 1101))
    assert.deepEqual([next.body.offset, next.body.next], [1000, null])
  })
})

const limits = { defaultLimit: 2, maxLimit: 3 }

describeTargets('paging with other limits', { ...library, seed: librarySeed, limits, fresh: 'suite' }, target => {
  for (const [query, limit] of [
    ['', 2],
    ['limit=1', 1],
    ['limit=3', 3],
    ['limit=4', 3],
    ['limit=100', 3],
    ['limit=0', 0],
  ] as const) {
    it(`gives ${limit} records for ?${query}`, async () => {
      const { body } = await target.call('GET', `/v1/genres?${query}`)
      assert.equal(body.limit, limit)
      assert.equal(body.genres.length, limit)
      assert.equal(body.count, 4)
    })
  }
})
