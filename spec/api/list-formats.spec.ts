/** Lists as CSV and NDJSON: all pages, streamed, by every way in. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, RestError, createServer, resource } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    note: p.text().nullable(),
    vip: p.boolean().default(false),
    extra: p.json().nullable(),
    sites: () => p.oneToMany(Site).mappedBy('user'),
  },
})
const Site = defineEntity({ name: 'Site', properties: { id: p.integer().primary(), url: p.string(), user: () => p.manyToOne(User) } })
const entities = [User, Site]
const seed = {
  users: [
    { id: 1, name: 'Ann', note: 'a "b", c', vip: true, extra: { a: [1] } },
    { id: 2, name: '', note: null },
    { id: 3, name: 'two\r\nlines', note: '=1+1' },
  ],
  sites: [
    { id: 1, url: 'x', user: 1 },
    { id: 2, url: 'y', user: 1 },
  ],
}

const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

interface Sent {
  readonly status: number
  readonly type: string | null
  readonly vary: string | null
  readonly length: string | null
  readonly text: string
}
type Get = (path: string, accept: string, method?: string) => Promise<Sent>

async function read(response: Response): Promise<Sent> {
  const header = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    type: header('content-type'),
    vary: header('vary'),
    length: header('content-length'),
    text: await response.text(),
  }
}

/** The ways in, each with the same answers. */
const WAYS: readonly (readonly [string, (engine: RestEngine, work: (get: Get) => Promise<void>) => Promise<void>])[] = [
  [
    'handle',
    (engine, work) =>
      work(async (path, accept, method = 'GET') => {
        const { status, headers, body } = await engine.handle(method, path, undefined, undefined, { headers: { accept } })
        const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
        return { status, type: headers['content-type'] ?? null, vary: headers['vary'] ?? null, length: null, text }
      }),
  ],
  [
    'fetch',
    (engine, work) =>
      work(async (path, accept, method = 'GET') => read(await engine.fetch(`http://localhost${path}`, { method, headers: { accept } }))),
  ],
  [
    'intercept',
    async (engine, work) => {
      using _ = engine.intercept('https://api.example.test')
      await work(async (path, accept, method = 'GET') =>
        read(await fetch(`https://api.example.test${path}`, { method, headers: { accept } })),
      )
    },
  ],
  [
    'HTTP',
    async (engine, work) => {
      const server = createServer(engine, { testControls: true }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      try {
        await work(async (path, accept, method = 'GET') => read(await fetch(origin + path, { method, headers: { accept } })))
      } finally {
        server.close()
        server.closeAllConnections()
      }
    },
  ],
]

for (const [name, through] of WAYS) {
  describe(`lists as text by ${name}`, () => {
    const withEngine = async (work: (get: Get, engine: RestEngine) => Promise<void>, options: object = {}): Promise<void> => {
      await using engine = await RestEngine.create({ entities, seed, ...options })
      await through(engine, get => work(get, engine))
    }

    it('are CSV with a line of names, quoted where it must be, nested values as JSON', () =>
      withEngine(async get => {
        const { status, type, vary, length, text } = await get('/v1/users', 'text/csv')
        assert.deepEqual([status, type, vary, length], [200, CSV_TYPE, 'Accept', null])
        const lines = [
          'id,name,note,vip,extra,sites',
          '1,Ann,"a ""b"", c",true,"{""a"":[1]}","[1,2]"',
          '2,"",,false,,[]',
          '3,"two\r\nlines",=1+1,false,,[]',
          '',
        ]
        assert.equal(text, lines.join('\r\n'))
      }))

    it('are NDJSON: the records of the list, one a line', () =>
      withEngine(async get => {
        const { users } = JSON.parse((await get('/v1/users?depth=2', '*/*')).text) as { users: object[] }
        for (const accept of ['application/x-ndjson', 'application/ndjson', 'application/jsonl']) {
          const { type, text } = await get('/v1/users?depth=2', accept)
          assert.equal(type, accept)
          assert.deepEqual(
            text
              .trimEnd()
              .split('\n')
              .map(line => JSON.parse(line) as object),
            users,
          )
        }
      }))

    it('have all pages, and as many records as limit says', () =>
      withEngine(
        async (get, engine) => {
          await engine.given.many('user', 22, {}, { seed: 1 })
          const ids = async (query: string) =>
            (await get(`/v1/users?attributes=id&${query}`, 'text/csv')).text.split('\r\n').slice(1, -1).map(Number)
          const all = Array.from({ length: 25 }, (_each, index) => index + 1)
          assert.deepEqual(await ids(''), all)
          assert.deepEqual(await ids('sort=id.desc'), all.toReversed())
          assert.deepEqual(await ids('offset=3'), all.slice(3))
          assert.deepEqual(await ids('offset=3&limit=17'), all.slice(3, 20))
          assert.deepEqual(await ids('limit=10'), all.slice(0, 10))
          assert.deepEqual(await ids('limit=0'), [])
          assert.deepEqual(await ids('id>=24'), [24, 25])
          assert.equal((await get('/v1/users?id=0&attributes=name,id', 'text/csv')).text, 'id,name\r\n')
          assert.equal((await get('/v1/users?id=0', 'application/x-ndjson')).text, '')
        },
        { limits: { maxLimit: 10, defaultLimit: 4 } },
      ))

    it('are those of a list attribute, too; HEAD has no body', () =>
      withEngine(async get => {
        assert.equal((await get('/v1/users/1/sites', 'text/csv')).text, 'id,url,user\r\n1,x,1\r\n2,y,1\r\n')
        const { status, type, text } = await get('/v1/users', 'text/csv', 'HEAD')
        assert.deepEqual([status, type, text], [200, CSV_TYPE, ''])
      }))

    it('are JSON where JSON is wanted as much, and what is no list is JSON', () =>
      withEngine(async get => {
        for (const accept of [
          'application/json, text/csv',
          'text/csv;q=0',
          'text/*',
          'text/csv;q=0.5, application/json',
          'text/html, */*',
          'text/csv;q=0.2, */*;q=0.9',
        ])
          assert.equal((await get('/v1/users', accept)).type, 'application/json; charset=UTF-8', accept)
        for (const accept of [
          'text/csv, */*;q=0.1',
          'text/csv, */*',
          'text/csv, application/json;q=0.9',
          'application/x-ndjson;q=0.4, text/csv',
        ])
          assert.equal((await get('/v1/users', accept)).type, CSV_TYPE, accept)
        assert.equal((await get('/v1/users/1', 'text/csv')).type, 'application/json; charset=UTF-8')
        assert.equal((await get('/v1', 'text/csv')).type, 'application/json; charset=UTF-8')
        for (const [path, expected] of [
          ['/v1/users?nme=1', 400],
          ['/v1/users/9/sites', 404],
        ] as const) {
          const { status, type } = await get(path, 'text/csv')
          assert.deepEqual([status, type], [expected, 'application/json; charset=UTF-8'])
        }
      }))

    it('go through the rules and wrappers, page by page', () => {
      let pages = 0
      const config = resource(User, {
        attributes: { name: { render: (value: unknown) => `<${String(value)}>` }, note: { private: true } },
        scope: () => ({ id: { $ne: 2 } }),
        list: async (_ctx, next) => {
          pages++
          return next()
        },
      })
      return withEngine(
        async get => {
          pages = 0
          const { text } = await get('/v1/users?attributes=id,name', 'text/csv')
          assert.equal(text, 'id,name\r\n1,<Ann>\r\n3,"<two\r\nlines>"\r\n')
          assert.equal(pages, 3)
        },
        { resources: [config], limits: { maxLimit: 1 } },
      )
    })
  })
}

/** Reads CSV by the grammar of RFC 4180, apart from the code that writes it. Undefined is an empty field without quotes. */
function parseCsv(text: string): (string | undefined)[][] {
  const rows: (string | undefined)[][] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  let row: (string | undefined)[] = []
  while (field.lastIndex < text.length) {
    const match = field.exec(text)
    assert.ok(match, `not CSV at ${field.lastIndex}`)
    row.push(match[1] === undefined ? (match[2] === '' ? undefined : match[2]) : match[1].replaceAll('""', '"'))
    if (match[3] === '\r\n') {
      rows.push(row)
      row = []
    }
  }
  assert.deepEqual(row, [])
  return rows
}

describe('CSV', () => {
  it('can be read back, whatever the values are', async () => {
    await using engine = await RestEngine.create({ entities })
    const text = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\r', '\n', ' ', '=', '\u00e4', '\ud83d\ude00', ';', '\t'),
      maxLength: 8,
    })
    await check(
      fc.asyncProperty(
        fc.array(fc.record({ name: text, note: fc.option(text), vip: fc.boolean(), extra: fc.option(fc.array(text, { maxLength: 2 })) }), {
          maxLength: 5,
        }),
        async users => {
          await engine.reset()
          await engine.seed({ users })
          const query = { attributes: 'name,note,vip,extra', depth: 0 }
          const { body } = await engine.handle('GET', '/v1/users', query, undefined, { headers: { accept: 'text/csv' } })
          const [header, ...rows] = parseCsv(body as string)
          assert.deepEqual(header, ['name', 'note', 'vip', 'extra'])
          assert.deepEqual(
            rows,
            users.map(({ name, note, vip, extra }) => [
              name,
              note ?? undefined,
              String(vip),
              extra === null ? undefined : JSON.stringify(extra),
            ]),
          )
        },
      ),
      { label: 'CSV', runs: 60 },
    )
  })
})

describe('streams of lists', () => {
  const ROWS = 30_000
  const create = async (options: object = {}): Promise<RestEngine> => {
    const engine = await RestEngine.create({ entities, ...options })
    await engine.seed({
      users: Array.from({ length: ROWS }, (_each, index) => ({ id: index + 1, name: `user ${index}`, note: 'x'.repeat(200) })),
    })
    return engine
  }
  const listen = async (engine: RestEngine, options: object = {}) => {
    const server = createServer(engine, options).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  it('are explained with their text', async () => {
    await using engine = await RestEngine.create({ entities, seed })
    const { response } = await engine.explain('GET', '/v1/sites', undefined, undefined, { headers: { accept: 'text/csv' } })
    assert.equal(response.body, 'id,url,user\r\n1,x,1\r\n2,y,1\r\n')
  })

  it('read a page when the one before has been taken', { timeout: 120_000 }, async () => {
    let pages = 0
    const config = resource(User, {
      list: async (_ctx, next) => {
        pages++
        return next()
      },
    })
    await using engine = await create({ resources: [config] })
    const { server, origin } = await listen(engine)
    try {
      const gets: readonly (() => Promise<Response>)[] = [
        () => engine.fetch('http://localhost/v1/users', { headers: { accept: 'text/csv' } }),
        () => fetch(`${origin}/v1/users`, { headers: { accept: 'text/csv' } }),
      ]
      for (const get of gets) {
        pages = 0
        const response = await get()
        const reader = response.body!.getReader()
        await reader.read()
        await new Promise(resolve => setTimeout(resolve, 100))
        // Some are in the buffers of sockets and streams, by far not all of the 30.
        assert.ok(pages < 25, `${pages} pages`)
        let bytes = 0
        for (;;) {
          const { done, value } = await reader.read()
          if (done) break
          bytes += value.length
        }
        assert.ok(bytes > ROWS * 200 - 300_000)
        assert.equal(pages, ROWS / 1000 + 1)
      }
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('end with a client that hangs up, and break where a later page fails', { timeout: 120_000 }, async () => {
    let pages = 0
    let failAt = Infinity
    const config = resource(User, {
      list: async (_ctx, next) => {
        if (++pages >= failAt) throw new RestError(503, 'broken', 'No more.')
        return next()
      },
    })
    await using engine = await create({ resources: [config], onError: () => {} })
    const { server, origin } = await listen(engine)
    try {
      const controller = new AbortController()
      const response = await fetch(`${origin}/v1/users`, { headers: { accept: 'text/csv' }, signal: controller.signal })
      await response.body!.getReader().read()
      controller.abort()
      await new Promise(resolve => setTimeout(resolve, 100))
      const read = pages
      await new Promise(resolve => setTimeout(resolve, 100))
      assert.equal(pages, read)
      assert.ok(read < 25)

      failAt = 5
      for (const get of [engine.fetch, (url: string, init: object) => fetch(origin + new URL(url).pathname, init)]) {
        pages = 0
        const broken = await get('http://localhost/v1/users', { headers: { accept: 'text/csv' } })
        assert.equal(broken.status, 200)
        await assert.rejects(broken.text())
      }
      pages = 0
      await assert.rejects(engine.handle('GET', '/v1/users', undefined, undefined, { headers: { accept: 'text/csv' } }), /No more/)
      // The server goes on.
      pages = -10
      assert.equal((await fetch(`${origin}/v1/users?limit=1`)).status, 200)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('have the whole time budget for each page, and none of their text in the journal', async () => {
    await using engine = await create({ limits: { timeout: 2000, maxLimit: 5000 } })
    const response = await engine.fetch('http://localhost/v1/users?attributes=id', { headers: { accept: 'application/x-ndjson' } })
    const reader = response.body!.getReader()
    await reader.read()
    await new Promise(resolve => setTimeout(resolve, 2100))
    let lines = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) lines += Buffer.from(next.value).toString()
    assert.ok(lines.endsWith(`{"id":${ROWS}}\n`))
    assert.equal(engine.requests.at(-1)?.response, undefined)
  })
})
