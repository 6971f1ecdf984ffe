/**
 * What the workbench copies: each text is run as it stands, on data as they were before its request, and must do what the request has done.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, client, hashPassword, RestEngine } from '../../lib/index.ts'
import type { JournalEntry } from '../../lib/index.ts'
import { outlineResources } from '../../lib/description/outline/outline.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { asClient, asCurl, asFetch, asHandle, asTest, writeFault, writeTarget } from '../../lib/workbench/requests/copies.ts'
import type { CopiedRequest, CopyTarget } from '../../lib/workbench/requests/copies.ts'
import { code, inlineCode } from '../../lib/workbench/state/code.ts'
import { findDifferences } from '../../lib/workbench/requests/difference.ts'
import { matchEntry } from '../../lib/workbench/requests/match-entry.ts'
import { serveWorkbench } from './browser.ts'
import type { Served } from './browser.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    passwordHash: p.string().hidden(),
    name: p.string(),
    born: p.integer().nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    price: p.decimal().precision(8).scale(2).nullable(),
    author: () => p.manyToOne(Author).nullable(),
  },
})

/** Requests of each kind, with what is hard to quote. */
const REQUESTS: readonly (readonly [line: string, body?: unknown])[] = [
  ['GET /v1/authors'],
  ["GET /v1/authors?name~=*o'b*&born>=1800&born<1900&sort=name.desc"],
  ['GET /v1/authors?name|email=a*&!born=1775&books.title=Em%2Cma,Sense%20%26%20"Sensibility"'],
  ['GET /v1/authors?born>1775&born>1770&limit=1'],
  ['GET /v1/authors?nothing=1'],
  ['GET /v1/books/1'],
  ['GET /v1/books/99'],
  ['GET /v1/authors/1/books?sort=title'],
  ['GET /v1/books/1/title'],
  ['POST /v1/books', { title: `It's "new" \\ \`\${x}\`\n\u2028 $HOME !`, price: '12.50', author: 1 }],
  ['POST /v1/books', { title: 'Nested', author: { name: 'New', email: 'new@example.com', passwordHash: 'x' } }],
  ['POST /v1/books', { price: 'much' }],
  ['POST /v1/books', [{ title: 'One of two' }, { title: 'Two of two' }]],
  ['PATCH /v1/authors/1', { name: 'Jane', born: null }],
  ['PUT /v1/books/2/title', 'Renamed'],
  ['PUT /v1/authors/2/books', [1, 2]],
  ['DELETE /v1/books/1'],
]

/** Runs a command beside this process, which serves what it asks for. */
async function sh(command: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', command], { timeout: 20_000 })).stdout
}

type Run = (...values: unknown[]) => Promise<unknown>

/** Makes a function of a text, with names for what stands around it. */
function compile(text: string, ...names: string[]): Run {
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Run
  return new AsyncFunction(...names, text)
}

describe('what is copied of a request', { timeout: 60_000 }, () => {
  let engine: RestEngine
  let server: Served
  let target: CopyTarget
  let worlds = 0

  before(async () => {
    engine = await RestEngine.create({
      entities: [Author, Book],
      auth: auth({
        entity: Author,
        identifier: 'email',
        password: 'passwordHash',
        public: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map(method => `${method} /v1/*`),
      }),
      seed: {
        authors: [
          { id: 1, email: 'jane@example.com', name: 'Jane Austen', born: 1775, passwordHash: await hashPassword('secret') },
          { id: 2, email: 'flann@example.com', name: "Flann O'Brien", born: 1811, passwordHash: await hashPassword('secret') },
        ],
        books: [
          { id: 1, title: 'Em,ma', price: '9.99', author: 1 },
          { id: 2, title: 'Sense & "Sensibility"', author: 1 },
        ],
      },
    })
    server = await serveWorkbench(engine, { testControls: true })
    const resources = outlineResources(internalsOf(engine).model, false)
    target = { origin: server.origin, base: '', root: '/v1', version: 'v1', resources, world: '' }
  })
  after(async () => {
    await server?.[Symbol.asyncDispose]()
    await engine?.close()
  })

  /** Asks a fork, and returns what its journal says. */
  async function record(line: string, body: unknown, headers: Record<string, string> = {}): Promise<JournalEntry> {
    await using fork = await engine.fork()
    const [method = '', path = ''] = line.split(/ (.*)/s)
    const parsed = path.replaceAll(' ', '%20')
    await fork.handle(method, parsed, undefined, body, { headers }).catch(() => {})
    return fork.requests.at(-1)!
  }

  /** A world of its own, as the data were. */
  const fresh = (token?: string): CopyTarget => ({ ...target, world: `w${++worlds}`, token })

  /** What the last request in a world was, and did. */
  async function lastOf({ world }: CopyTarget): Promise<object> {
    const answer = await fetch(`${server.origin}/_test/requests`, { headers: { 'x-world': world } })
    const { requests } = (await answer.json()) as { requests: JournalEntry[] }
    return essence(requests.at(-1)!)
  }

  function essence({ method, path, query, body, status, changes, user }: CopiedRequest & { readonly body: unknown }): object {
    const rows = changes?.map(({ type, resource, id }) => `${type} ${resource} ${id}`)
    const all = { method: method === 'PUT' ? 'PATCH' : method, path, query: query.map(String).toSorted(), body, status, rows, user }
    // As it comes over HTTP.
    return JSON.parse(JSON.stringify(all)) as object
  }

  for (const [line, body] of REQUESTS) {
    it(`runs by itself: ${line}${body === undefined ? '' : ` ${JSON.stringify(body).slice(0, 40)}`}`, async () => {
      const entry = await record(line, body)
      const expected = essence(entry)

      const ofCurl = fresh()
      assert.equal(await sh(`${asCurl(entry, ofCurl)} -s -o /dev/null -w '%{http_code}'`), String(entry.status))
      assert.deepEqual(await lastOf(ofCurl), expected)

      const ofFetch = fresh()
      const printed: unknown[] = []
      await compile(asFetch(entry, ofFetch), 'console')({ log: (status: unknown) => printed.push(status) })
      assert.deepEqual(printed, [entry.status])
      assert.deepEqual(await lastOf(ofFetch), expected)

      const ofClient = fresh()
      const text = asClient(entry, ofClient)
      if (text !== undefined) {
        const call = compile(text.replace(/^import .*\n/, ''), 'client')(client)
        if (entry.status! < 400) await call
        else await assert.rejects(call, { status: entry.status })
        assert.deepEqual(await lastOf(ofClient), expected)
      } else assert.ok(Array.isArray(body), 'the typed client has a call for all but arrays')

      await using handled = await engine.fork()
      const { status } = (await compile(`${asHandle(entry)}\nreturn { status, body }`, 'engine')(handled)) as { status: number }
      assert.equal(status, entry.status)
      assert.deepEqual(essence(handled.requests.at(-1)!), expected)

      await passes(entry)
    })
  }

  /** Runs a test as it is pasted into a file where `engine` is one. */
  async function passes(request: CopiedRequest): Promise<void> {
    await using fork = await engine.fork()
    await runTest(request, fork)
  }

  async function runTest(request: CopiedRequest, fork: RestEngine): Promise<void> {
    const text = asTest(request)
    const [assertion, testing, ...rest] = text.split('\n')
    assert.deepEqual([assertion, testing], [`import assert from 'node:assert/strict'`, `import { test } from 'node:test'`])
    let running: Promise<void> | undefined
    const test = (name: string, work: () => Promise<void>): void => {
      assert.match(name, /^[A-Z]+ \//)
      running = work()
    }
    await compile(rest.join('\n'), 'assert', 'test', 'engine')(assert, test, fork)
    assert.ok(running)
    await running
  }

  it('makes a test that fails where the answer or the rows are others', async () => {
    const entry = await record('PATCH /v1/authors/1', { name: 'Jane' })
    for (const wrong of [
      { ...entry, status: 404 },
      { ...entry, changes: [] },
    ] as const) {
      await using fork = await engine.fork()
      await assert.rejects(runTest(wrong, fork), { name: 'AssertionError' })
    }
    await using without = await engine.fork()
    await without.handle('DELETE', '/v1/authors/1')
    await assert.rejects(runTest(entry, without), { name: 'AssertionError' })
  })

  it('is sent as the same user', async () => {
    const entry = await record('PATCH /v1/books/1', { title: 'Mine' }, { authorization: `Bearer ${engine.token(1)}` })
    assert.equal(entry.user, '1')
    const expected = essence(entry)
    const token = engine.token(1)
    const ofCurl = fresh(token)
    await sh(`${asCurl(entry, ofCurl)} -s -o /dev/null`)
    assert.deepEqual(await lastOf(ofCurl), expected)
    const ofFetch = fresh(token)
    await compile(asFetch(entry, ofFetch), 'console')({ log: () => {} })
    assert.deepEqual(await lastOf(ofFetch), expected)
    const ofClient = fresh(token)
    await compile(asClient(entry, ofClient)!.replace(/^import .*\n/, ''), 'client')(client)
    assert.deepEqual(await lastOf(ofClient), expected)
    await passes(entry)
    assert.ok(!asTest(entry).includes(token), 'a test holds no token')
  })

  it('meets the same fault, and a lost connection', async () => {
    for (const [kind, options] of [
      ['fail', { status: 503, headers: { 'retry-after': '1' }, times: 1 }],
      ['drop', { times: 1 }],
      ['delay', { ms: 5, times: 1 }],
    ] as const) {
      await using fork = await engine.fork()
      const fault = { id: 'f1', kind, match: 'POST /v1/books', met: 0, left: 1, options }
      compile(writeFault(fault), 'engine')(fork).catch(() => {})
      await fork.handle('POST', '/v1/books', undefined, { title: 'x' }).catch(() => {})
      const entry = fork.requests.at(-1)!
      assert.equal(entry.fault, 'f1')
      await passes({ ...entry, met: fault })
    }
  })

  it('says at which time the clock stood', async () => {
    const frozen = '2026-01-31T12:00:00.000Z'
    const entry = await record('GET /v1/books', undefined)
    assert.match(asTest({ ...entry, frozen }), /engine\.clock\.set\('2026-01-31T12:00:00\.000Z'\)/)
    await passes({ ...entry, frozen })
  })
})

describe('code', () => {
  it('is what it says, whatever the value holds', () => {
    const values = [
      null,
      true,
      0.5,
      '',
      `'"\\\n`,
      [],
      {},
      { a: [{ 'b-c': 1, __proto__x: '</script>' }], ['__proto__']: 1 },
      'x'.repeat(200),
      { long: ['x'.repeat(80), 'y'] },
    ]
    for (const value of values) {
      // oxlint-disable-next-line typescript/no-implied-eval -- what is written is code
      assert.deepEqual(new Function(`return (${inlineCode(value)})`)(), value)
      // oxlint-disable-next-line typescript/no-implied-eval -- as above
      assert.deepEqual(new Function(`return (${code(value, 4)})`)(), value)
    }
  })
})

describe('the target of a request', () => {
  it('has each operator as an app writes it', () => {
    const query = [
      ['name~=', '*a*'],
      ['id>=', '3'],
      ['id<', '9'],
      ['id>', '=1'],
      ['!status', 'a b'],
      ['a|b!=', '1,2'],
      ['sort', 'x.y'],
    ] as const
    assert.equal(writeTarget({ path: '/v1/x', query }), String.raw`/v1/x?name~=*a*&id>=3&id<9&id>%5C%3D1&!status=a%20b&a|b!=1,2&sort=x.y`)
  })
})

describe('the difference of two values', () => {
  it('names what has come, gone and changed, by its path', () => {
    assert.deepEqual(findDifferences({ a: 1, b: { c: [1, 2] }, d: null }, { a: 1, b: { c: [1, 3, 4] }, e: {} }), [
      { path: 'b.c.1', before: 2, after: 3 },
      { path: 'b.c.2', before: undefined, after: 4 },
      { path: 'd', before: null, after: undefined },
      { path: 'e', before: undefined, after: {} },
    ])
    assert.deepEqual(findDifferences([1], { 0: 1 }), [{ path: '', before: [1], after: { 0: 1 } }])
  })
})

describe('the requests that are shown', () => {
  const entry = {
    id: 1,
    at: '',
    method: 'POST',
    path: '/v1/campaigns',
    query: [],
    status: 503,
    duration: 1,
    nested: false,
    fault: 'f2',
    test: 'takes an order',
    changed: 1,
    changes: [{ type: 'insert', resource: 'campaigns', id: 7 }],
  } as const
  const shown = (words: string, more: object = {}): boolean => matchEntry(entry, { words, writes: false, failures: false, ...more })

  it('meet all words: methods, statuses, resources, records, faults, tests', () => {
    for (const words of ['', 'post', '503', '5xx', 'campaigns', 'campaigns/7', 'f2', 'order', 'POST 5xx campaigns/7', '/v1/camp'])
      assert.ok(shown(words), words)
    for (const words of ['get', '200', '4xx', 'campaigns/8', 'f1', 'POST 200', 'sites']) assert.ok(!shown(words), words)
  })

  it('are writes or failures alone', () => {
    assert.ok(shown('', { writes: true, failures: true }))
    assert.ok(!matchEntry({ ...entry, status: 200 }, { words: '', writes: false, failures: true }))
    assert.ok(!matchEntry({ ...entry, method: 'GET', changed: 0 }, { words: '', writes: true, failures: false }))
    assert.ok(matchEntry({ ...entry, status: undefined }, { words: '', writes: false, failures: true }))
  })
})
