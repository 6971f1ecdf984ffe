/** `engine.selfTest` finds nothing in APIs that keep their promises, and each of many faults that are planted. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p, Type } from '@mikro-orm/core'
import { tryPromises } from '../../lib/try-promises.ts'
import { RestEngine, auth, fromJson, resource } from '../../lib/index.ts'
import type { EngineOptions, SelfTestCheck, SelfTestReport } from '../../lib/index.ts'
import blog from '../../fixtures/blog.json' with { type: 'json' }
import { worlds } from '../openapi/worlds.ts'

const CHINOOK = fileURLToPath(new URL('../../../shared/data/chinook.sqlite', import.meta.url))

/** A custom type of texts, kept in another order. */
class Code extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    return [...value].toReversed().join('')
  }
  override convertToJSValue(value: string): string {
    return [...value].toReversed().join('')
  }
  override getColumnType(): string {
    return 'text'
  }
}

/** The same, which cuts long texts. */
class BrokenCode extends Code {
  override convertToJSValue(value: string): string {
    return super.convertToJSValue(value).slice(0, 8)
  }
}

interface Planted {
  readonly formula?: string
  readonly isCodeBroken?: boolean
  readonly options?: Partial<EngineOptions>
}

/** A small API, with a fault or without. */
async function createShelf({ formula = 'length(title)', isCodeBroken = false, options = {} }: Planted, rules = {}): Promise<RestEngine> {
  const Author = defineEntity({
    name: 'Author',
    properties: {
      id: p.integer().primary(),
      name: p.string().length(40),
      born: p.date().nullable(),
      books: () => p.oneToMany(Book).mappedBy('author'),
    },
  })
  const Book = defineEntity({
    name: 'Book',
    properties: {
      id: p.integer().primary(),
      title: p.string().length(60),
      isbn: p.string().length(20).unique(),
      pages: p.integer().nullable(),
      note: p.string().nullable(),
      code: p.type(isCodeBroken ? BrokenCode : Code),
      kind: p.enum(['novel', 'poem'] as const),
      letters: p
        .integer()
        .formula(alias => formula.replaceAll('title', `${String(alias)}.title`))
        .nullable(),
      author: () => p.manyToOne(Author),
    },
  })
  const books = Array.from({ length: 17 }, (_, index) => ({
    title: `Book ${(index * 7) % 17}`,
    isbn: `isbn-${index}`,
    pages: index % 4 === 0 ? null : (index * 31) % 11,
    note: index % 3 === 0 ? null : `note ${index % 5}`,
    code: `c${index}`,
    kind: index % 2 === 0 ? 'novel' : 'poem',
    author: (index % 3) + 1,
  }))
  const authors = ['Ann', 'Bob', 'Cleo'].map((name, index) => ({ id: index + 1, name, born: index === 0 ? null : '1980-01-01' }))
  return RestEngine.create({
    entities: [Author, Book],
    seed: { authors, books },
    resources: [resource(Book, rules)],
    onError: () => {},
    ...options,
  })
}

/** The records of a page, which an application may lose or mix up. */
const change =
  (edit: (records: Record<string, unknown>[]) => unknown) =>
  async (
    _ctx: unknown,
    next: () => Promise<{ status: number; headers: Record<string, string>; body: { books: Record<string, unknown>[] } }>,
  ) => {
    const answer = await next()
    return { ...answer, body: { ...answer.body, books: edit(answer.body.books) } }
  }

interface Plant {
  readonly fault: string
  readonly create: () => Promise<RestEngine>
  readonly check: SelfTestCheck
  readonly where: RegExp
  readonly says: RegExp
  /** Runs after which it is found; one, where nothing stands. */
  readonly runs?: number
}

const PLANTS: readonly Plant[] = [
  {
    fault: 'a hook that loses a value',
    create: () =>
      createShelf({
        options: { orm: { subscribers: [{ beforeCreate: ({ entity }) => void ('note' in entity && (entity.note = undefined)) }] } },
      }),
    check: 'created',
    where: /^books\.note$/,
    says: /"note[^"]*" was sent, and the answer shows null/,
  },
  {
    fault: 'an access rule that lets the list show what may not be read',
    create: () =>
      createShelf(
        {},
        { access: { list: true, get: (ctx: { id?: string }) => ctx.id === undefined, create: true, update: true, delete: true } },
      ),
    check: 'read',
    where: /^books$/,
    says: /The list shows the record \/v1\/books\/\d+, and a GET of it is refused with 403/,
  },
  {
    fault: 'a custom route with a status that is not described',
    create: () =>
      createShelf({ options: { routes: [{ method: 'GET', path: '/{version}/odd', handler: () => ({ status: 299, body: {} }) }] } }),
    check: 'described',
    where: /^GET \/v1\/odd$/,
    says: /299: this status is not described/,
  },
  {
    fault: 'a computed attribute of another type',
    create: () => createShelf({}, { computed: { size: { type: 'integer', sql: () => "'large'" } } }),
    check: 'described',
    where: /^GET \/v1\/books/,
    says: /size is string \("large"\), not integer/,
  },
  {
    fault: 'a wrapper that drops a row of a page',
    create: () => createShelf({}, { list: change(records => records.filter(({ id }) => id !== 5)) }),
    check: 'counted',
    where: /^books$/,
    says: /17 records match, and its first page has 16/,
  },
  {
    fault: 'a wrapper that drops the last row of long pages',
    create: () => createShelf({}, { list: change(records => (records.length === 3 ? records.slice(0, 2) : records)) }),
    check: 'paged',
    where: /^books$/,
    says: /Pages of 3 from offset/,
    runs: 3,
  },
  {
    fault: 'a formula that throws',
    create: () => createShelf({ formula: "case when title = 'Book 3' then abs(-9223372036854775807 - 1) end" }),
    check: 'answer',
    where: /\/v1\/books/,
    says: /answered with 500/,
  },
  {
    fault: 'a custom type that cuts its value',
    create: () => createShelf({ isCodeBroken: true }),
    check: 'created',
    where: /^books\.code$/,
    says: /was sent, and (?:the answer|a GET) shows/,
  },
  {
    fault: 'a deletion that is not done',
    create: () =>
      createShelf({}, { delete: async (ctx: { id?: string; engine: RestEngine }) => ctx.engine.handle('GET', `/v1/books/${ctx.id}`) }),
    check: 'deleted',
    where: /^books$/,
    says: /a GET of it with 200, not 404/,
  },
  {
    fault: 'a filter that is taken for another one',
    create: () =>
      createShelf(
        {},
        {
          list: (ctx: { query: Record<string, string>; state: object; engine: RestEngine }, next: () => Promise<unknown>) => {
            const { pages, ...rest } = ctx.query
            return pages === undefined
              ? next()
              : ctx.engine.handle('GET', '/v1/books', { ...rest, 'pages>=': pages === 'null' ? 0 : pages })
          },
        },
      ),
    check: 'filtered',
    where: /^books\.pages$/,
    says: /together they must be all 17|found by pages=/,
    runs: 3,
  },
  {
    fault: 'a group that misses a record',
    create: () =>
      createShelf(
        {},
        {
          list: async (ctx: { query: object }, next: () => Promise<{ body: { count: number } }>) => {
            const answer = await next()
            const { count } = answer.body
            return Object.keys(ctx.query).some(name => name.startsWith('('))
              ? { ...answer, body: { ...answer.body, count: count - 1 } }
              : answer
          },
        },
      ),
    check: 'filtered',
    where: /^books\./,
    says: /records meet \(.*\|.*\), but/,
  },
  {
    fault: 'a list in another order',
    create: () => createShelf({}, { list: change(records => records.toReversed()) }),
    check: 'sorted',
    where: /^books\./,
    says: /comes before/,
  },
  {
    fault: 'a wrapper that takes unknown names',
    create: () =>
      createShelf(
        {},
        {
          create: (ctx: { data: Record<string, unknown> }, next: () => Promise<unknown>) => {
            delete ctx.data?.['no_such_name_7']
            return next()
          },
        },
      ),
    check: 'refused',
    where: /^books\.no_such_name_7$/,
    says: /A POST with an unknown attribute must be refused, and is answered with 200/,
  },
  {
    fault: 'a change that is lost',
    create: () =>
      createShelf(
        {},
        { update: async (ctx: { id?: string; engine: RestEngine }) => ctx.engine.handle('GET', `/v1/books/${ctx.id}?depth=1`) },
      ),
    check: 'changed',
    where: /^books\./,
    says: /was sent, and (?:the answer|a GET) shows/,
  },
]

function found({ failures }: SelfTestReport): string {
  return failures.map(({ check, where, message }) => `${check} ${where}: ${message}`).join('\n')
}

describe('a self-test', () => {
  // The sample is here as it is configured: without that it has no kind that the library has not.
  for (const { name, create } of worlds.filter(world => world.name !== 'sample')) {
    it(`finds nothing in the ${name}`, async () => {
      await using engine = await create()
      const report = await engine.selfTest({ runs: 1 })
      assert.equal(String(report).includes('Nothing failed'), true, String(report))
      assert.ok(report.passed && report.requests > 500)
      for (const [check, times] of Object.entries(report.checks)) assert.ok(times > 5, check)
    })
  }

  it('finds nothing in a JSON file', async () => {
    await using engine = await RestEngine.create(fromJson(blog))
    const report = await engine.selfTest({ runs: 1, seed: 4 })
    assert.ok(report.passed, String(report))
  })

  it('finds nothing in a SQLite file', { skip: existsSync(CHINOOK) ? false : 'there is no chinook.sqlite in ../shared/data' }, async () => {
    await using engine = await RestEngine.create({ database: CHINOOK, readOnly: true })
    // The fork of a file that is only read may be written to.
    const { report: written } = await tryPromises(engine, { runs: 1 }, false)
    assert.ok(written.passed && written.checks.created > 50, String(written))
  })

  it('writes nothing where nothing may be written', async () => {
    await using engine = await createShelf({ options: { readOnly: true } })
    const report = await engine.selfTest({ runs: 1 })
    assert.ok(report.passed && report.checks.read > 0, String(report))
    assert.equal(report.checks.created, 0)
  })

  it('finds nothing in the API that the faults are planted in', async () => {
    await using engine = await createShelf({})
    const report = await engine.selfTest({ runs: 3, seed: 3 })
    assert.ok(report.passed, String(report))
    assert.deepEqual(report.skipped, [])
  })

  for (const { fault, create, check, where, says, runs = 1 } of PLANTS) {
    it(`finds ${fault}`, async () => {
      await using engine = await create()
      const report = await engine.selfTest({ runs })
      const failure = report.failures.find(each => each.check === check && where.test(each.where) && says.test(each.message))
      assert.ok(failure !== undefined, `nothing of ${check} ${String(where)} in:\n${found(report)}`)
      assert.equal(report.passed, false)
      assert.match(String(report), /^1\. /)
      assert.ok(failure.curl.length > 0 && failure.curl.every(line => line.startsWith('curl ')))
    })
  }

  it('gives requests that repeat a failure', async () => {
    await using engine = await PLANTS[0]!.create()
    const { failures } = await engine.selfTest({ runs: 1 })
    const { requests } = failures.find(({ where }) => where === 'books.note')!
    await using world = await engine.fork()
    let shown: unknown
    for (const { method, path, body, status } of requests) {
      const answer = await world.handle(method, path, undefined, body)
      assert.equal(answer.status, status)
      shown = (answer.body as { book?: { note: unknown } }).book?.note
    }
    assert.equal(shown, null)
    const sent = requests.find(({ method }) => method === 'POST')!.body as { note: string }
    assert.match(sent.note, /^note/)
  })

  it('gives the creation of a record whose deletion fails, some requests before', async () => {
    await using engine = await PLANTS.find(({ check }) => check === 'deleted')!.create()
    const { failures } = await engine.selfTest({ runs: 1 })
    const { requests } = failures.find(({ check, where }) => check === 'deleted' && where === 'books')!
    assert.deepEqual([requests[0]!.method, requests.length > 6], ['POST', true])
  })

  it('leaves the data of the engine as they are, and its journal', async () => {
    await using engine = await createShelf({})
    const before = await engine.handle('GET', '/v1/books', { depth: 2 })
    engine.clearRequests()
    await engine.selfTest({ runs: 1 })
    assert.deepEqual(engine.requests, [])
    assert.deepEqual((await engine.handle('GET', '/v1/books', { depth: 2 })).body.books, before.body.books)
    const created = await engine.handle('POST', '/v1/authors', undefined, { name: 'Dan' })
    assert.equal(created.body.author.id, 4)
  })

  it('sends the same requests for the same seed', async () => {
    const clock = (): Date => new Date('2026-01-31T12:00:00Z')
    const run = async (seed: number): Promise<string> => {
      await using engine = await createShelf({ isCodeBroken: true, options: { clock } })
      const { duration: _, ...report } = await engine.selfTest({ seed, runs: 1 })
      return JSON.stringify(report)
    }
    const one = await run(5)
    assert.equal(await run(5), one)
    assert.notEqual(await run(6), one)
  })

  it('ends when its time is over, and says what was left', async () => {
    await using engine = await createShelf({})
    const report = await engine.selfTest({ runs: 1000, timeout: 300 })
    assert.match(report.skipped.join(), /The 300 ms of "timeout" were over: .*\/v1\//)
    assert.ok(report.duration < 15_000)
  })

  it('asks as the first user where there is a log-in, or with the given headers', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
    })
    // Passwords are not hashed: hundreds are sent, and nobody logs in.
    const options = {
      entities: [User],
      auth: auth({ entity: User, hash: false }),
      seed: { users: [{ email: 'ann@example.com', password: 'x' }] },
    }
    await using engine = await RestEngine.create(options)
    const report = await engine.selfTest({ runs: 1 })
    assert.ok(report.passed && report.checks.created > 0, String(report))
    const nobody = await engine.selfTest({ runs: 1, headers: { 'X-Other': 'secret-1' } })
    assert.match(nobody.skipped.join(), /the list cannot be read by this caller/)
    assert.equal(nobody.checks.created, 0)
    assert.ok(!JSON.stringify(nobody).includes('secret-1'))
  })

  it('leaves out attributes that the application changes on purpose', async () => {
    await using engine = await createShelf({ isCodeBroken: true })
    const report = await engine.selfTest({ runs: 2, ignore: ['books.code'] })
    assert.ok(report.passed, found(report))
    await assert.rejects(engine.selfTest({ ignore: ['books.cod'] }), /no attribute "books.cod"\. Did you mean "books.code"/)
  })

  it('refuses options that are not of their form', async () => {
    await using engine = await createShelf({})
    await assert.rejects(engine.selfTest({ sed: 1 } as object), /unknown option "sed"/)
    await assert.rejects(engine.selfTest({ runs: 0 }), /"runs" must be an integer from 1 to 1000, got 0/)
    await assert.rejects(engine.selfTest({ seed: 1.5 }), /"seed" must be an integer/)
    await assert.rejects(engine.selfTest({ timeout: -1 }), /"timeout"/)
    await assert.rejects(engine.selfTest({ headers: { a: 1 } as never }), /"headers"/)
    await assert.rejects(engine.selfTest({ ignore: ['code'] }), /"ignore"/)
  })
})
