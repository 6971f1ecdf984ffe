/**
 * An engine on PostgreSQL: it opens, creates what is missing, reads one state, writes beside others, and outlives the connections that it
 * loses.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { APPLICATION, SERVER_URL, findNoServer, ownDatabase, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    mail: p.string().unique().nullable(),
    age: p.integer().nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), pages: p.integer().default(0), author: () => p.manyToOne(Author) },
})
const Slow = defineEntity({
  name: 'Slow',
  properties: { id: p.integer().primary(), late: p.string().formula("(select 'late' from pg_sleep(30))") },
})
const entities = [Author, Book]

async function open(schema: OwnSchema, options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities, ...options, database: { ...schema.database, ...(options.database as object | undefined) } })
}

/** Runs work outside of the transaction of the caller. */
const runOutside = AsyncLocalStorage.snapshot() as (work: () => void) => void

async function endConnections(schema: OwnSchema): Promise<void> {
  await schema.run(
    'select pg_terminate_backend(pid) from pg_stat_activity ' +
      'where application_name = $1 and pid <> pg_backend_pid() and datname = current_database()',
    [APPLICATION],
  )
}

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('a database on a PostgreSQL server', { skip: NO_SERVER }, () => {
  it('gets the tables that it lacks, and keeps those that are there', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(`create table author (id serial primary key, name varchar(255) not null, extra int default 7)`)
    await schema.run('create table other (a int)')
    await schema.run("insert into author (name) values ('Ann')")
    {
      await using engine = await open(schema)
      assert.deepEqual((await engine.handle('GET', '/v1/authors')).body.authors, [{ id: 1, name: 'Ann', mail: null, age: null, books: [] }])
      const created = await engine.handle('POST', '/v1/authors', undefined, { name: 'Bob', books: [{ title: 'x' }] })
      assert.deepEqual([created.status, created.body.author], [200, { id: 2, name: 'Bob', mail: null, age: null, books: [1] }])
    }
    const tables = await schema.run(
      'select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = $1 order by 1',
      ['r'],
    )
    assert.deepEqual(
      tables.map(({ relname }) => relname),
      ['author', 'book', 'other'],
    )
    assert.deepEqual(
      await schema.run("select tgname from pg_trigger where not tgisinternal and tgrelid in (to_regclass('author'), to_regclass('book'))"),
      [],
    )
    assert.deepEqual(await schema.run('select extra from author order by id'), [{ extra: 7 }, { extra: 7 }])
  })

  it('gets all that it lacks or nothing', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run('create table book (id serial primary key, title varchar(255) not null, pages int not null)')
    await schema.run("insert into book (title, pages) values ('old', 1)")
    // A book needs an author, and the one that is there has none.
    await assert.rejects(
      open(schema),
      /^Error: The database does not fit the entities, and nothing in it was changed: [^\n]*author_id[^\n]*$/,
    )
    assert.deepEqual(await schema.run("select to_regclass('author') as author"), [{ author: null }])
  })

  it('is left as it is by "keep", and only read with "readOnly"', async () => {
    await using schema = ownSchema()
    await (await open(schema)).close()
    await schema.run("insert into author (name) values ('Ann')")
    await using kept = await open(schema, { schema: 'keep', entities })
    assert.equal((await kept.handle('POST', '/v1/authors', undefined, { name: 'Bob' })).status, 200)
    await using reading = await open(schema, { readOnly: true })
    assert.equal((await reading.handle('GET', '/v1/authors')).body.count, 2)
    assert.equal((await reading.handle('POST', '/v1/authors', undefined, { name: 'Cy' })).status, 405)
    await assert.rejects(async () => reading.orm.em.fork().insert(Author, { name: 'Cy' }), /read-only transaction/)
    await using empty = ownSchema()
    await empty.run(`create schema ${empty.database.schema}`)
    await assert.rejects(open(empty, { readOnly: true }), /^Error: The database lacks the tables "author", "book", which cannot be created/)
  })

  it('answers 503 to writes where the server takes none, and says which option is for reading alone', async () => {
    await using own = await ownDatabase()
    await (await RestEngine.create({ entities, database: own.database })).close()
    const { pathname } = new URL(own.database.url)
    await own.run(`alter database ${pathname.slice(1)} set default_transaction_read_only = on`)
    const Hooked = defineEntity({
      name: 'Author',
      properties: { id: p.integer().primary(), name: p.string() },
      hooks: { beforeCreate: [() => {}] },
    })
    for (const written of [entities, [Hooked]]) {
      const causes: unknown[] = []
      await using engine = await RestEngine.create({
        database: own.database,
        entities: written,
        schema: 'keep',
        onError: error => void causes.push(error),
      })
      const { status, headers, body } = await engine.handle('POST', '/v1/authors', undefined, { name: 'Ann' })
      assert.deepEqual([status, body.code, headers['retry-after']], [503, 'database_busy', '1'], JSON.stringify(body))
      assert.match(body.detail as string, /takes no writes: .* the option "readOnly"/)
      assert.match(String(causes[0]), /read-only transaction/)
      assert.equal((await engine.handle('GET', '/v1/authors')).status, 200)
    }
  })

  it('is refused in one line where it cannot be reached, without its password', async () => {
    const refused = (url: string, text: RegExp): Promise<void> => assert.rejects(RestEngine.create({ entities, database: url }), text)
    await refused(
      'postgres://ann:secret@127.0.0.1:1/shop',
      /^Error: The PostgreSQL database postgres:\/\/ann@127\.0\.0\.1:1\/shop cannot be opened: [^\n]*ECONNREFUSED[^\n]*$/,
    )
    await refused(`${SERVER_URL}_that_is_not`, /cannot be opened: database "postgres_that_is_not" does not exist\.$/)
  })

  it('has options of its own, each of which is checked', async () => {
    const refused = (database: unknown, text: RegExp): Promise<void> =>
      assert.rejects(RestEngine.create({ entities, database: database as string }), text)
    await refused({ url: SERVER_URL, pool: 3 }, /unknown option "pool"/)
    for (const hosts of ['one,two', 'ann:a@one:5432,two:5432'])
      await refused({ url: `postgres://${hosts}/shop` }, /^TypeError: [^\n]* URL with several hosts: give one/)
    await refused({ url: 'mysql://a/b' }, /"database\.url" must be a URL of PostgreSQL/)
    await refused({ url: SERVER_URL, poolSize: 0 }, /"database\.poolSize" must be an integer of 1 or more, got 0/)
    await refused({ url: SERVER_URL, prepare: 'no' }, /"database\.prepare" must be true or false/)
    await refused(`${SERVER_URL}?prepare=no`, /"prepare" in the URL of "database" must be true or false/)
    await refused({ url: SERVER_URL, statementTimeout: -1 }, /"database\.statementTimeout" must be an integer of 0 or more/)
    await refused({ url: SERVER_URL, schema: '' }, /"database\.schema" must be the name of a schema, or a list of such names/)
    await refused({ url: SERVER_URL, schema: ['a', 'b'] }, /"database\.schema" must be one schema where "entities" are given/)
  })

  it('gives keys behind those that were given', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: { authors: [{ id: 41, name: 'Ann' }] } })
    const { body } = await engine.handle('POST', '/v1/authors', undefined, { name: 'Bob' })
    assert.equal(body.author.id, 42)
  })

  it('does not take a link for changed where a subscriber listens: a date-time in a key of several parts', async () => {
    const Round = defineEntity({ name: 'Round', properties: { at: p.datetime(3).primary(), number: p.integer().primary() } })
    const Note = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), round: () => p.manyToOne(Round), version: p.integer().version() },
    })
    await using schema = ownSchema()
    await using engine = await RestEngine.create({
      entities: [Round, Note],
      database: schema.database,
      seed: { rounds: [{ at: '2024-02-29T23:59:59.999Z', number: 1 }] },
      orm: { subscribers: [{ async afterFlush() {} }] },
    })
    const round = '2024-02-29T23%3A59%3A59.999Z~1'
    assert.equal((await engine.handle('POST', '/v1/notes', {}, { id: 1, round })).status, 200)
    for (const body of [{}, { round }]) assert.equal((await engine.handle('PATCH', '/v1/notes/1', {}, body)).body.note.version, 1)
  })
})

describe('requests at the same time on PostgreSQL', { skip: NO_SERVER }, () => {
  it('all change the same record, one after another', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: { authors: [{ name: 'Ann' }] } })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, age) => engine.handle('PATCH', '/v1/authors/1', undefined, { age })))
    const ends = answers.map(({ status }) => status)
    // A write that has met others too often says so; no other error comes.
    assert.deepEqual(
      ends.filter(status => status !== 200 && status !== 503),
      [],
    )
    assert.ok(ends.filter(status => status === 200).length >= 4, String(ends))
  })

  it('repeat a change of a record that another transaction has changed meanwhile', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: { authors: [{ name: 'Ann' }] } })
    let changing: ReturnType<RestEngine['handle']> | undefined
    await engine.orm.em.fork().transactional(async em => {
      await em.getConnection().execute('update author set age = 7 where id = 1', [], 'run', em.getTransactionContext())
      // Outside of the transaction, as any client.
      changing = new Promise((resolve, reject) =>
        runOutside(() => void engine.handle('PATCH', '/v1/authors/1', undefined, { name: 'Eve' }).then(resolve, reject)),
      )
      // The change has loaded the record, and waits for the row.
      const waiting =
        'select 1 from pg_stat_activity ' +
        `where wait_event_type = 'Lock' and application_name = '${APPLICATION}' and query like 'update %author%'`
      for (let look = 0; look < 100 && (await schema.run(waiting)).length === 0; look++) await sleep(20)
    })
    const { status, body } = await changing!
    assert.deepEqual([status, body.author.name, body.author.age], [200, 'Eve', 7])
  })

  it('keep a unique value unique, and name it', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => engine.handle('POST', '/v1/authors', undefined, { name: 'Ann', mail: 'a@example.org' })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409, 409, 409, 409],
    )
    for (const { body } of answers.filter(({ status }) => status === 409)) {
      assert.equal(body.code, 'unique_conflict')
      assert.deepEqual([body.errors[0].code, body.errors[0].attribute], ['not_unique', 'mail'])
    }
  })

  it('read one state: a page, its count and what it links', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: { authors: [{ name: 'Ann', books: [{ title: 'a' }] }] } })
    const state = { isDone: false }
    const writing = (async () => {
      for (let round = 0; round < 60; round++) {
        // The number of books stands in the author, too.
        await engine.orm.em.fork().transactional(async em => {
          const author = await em.findOneOrFail(Author, 1)
          author.age = round + 1
          em.create(Book, { title: 'b', author })
        })
      }
      state.isDone = true
    })()
    let seen = 0
    while (!state.isDone) {
      const { body } = await engine.handle('GET', '/v1/authors', { limit: '1', depth: '2' })
      const [author] = body.authors as [{ age: number | null; books: unknown[] }]
      assert.equal(author.books.length, (author.age ?? 0) + 1)
      seen++
    }
    await writing
    assert.ok(seen > 3)
  })

  it('end their statement when the caller has gone', async () => {
    await using schema = ownSchema()
    await using engine = await RestEngine.create({ entities: [Slow], database: schema.database })
    await schema.run('insert into slow default values')
    const caller = new AbortController()
    const asked = engine.handle('GET', '/v1/slows', undefined, undefined, { signal: caller.signal })
    setTimeout(() => caller.abort(new Error('gone')), 200)
    await assert.rejects(async () => asked, /gone/)
    await sleep(300)
    const running = await schema.run(
      `select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep%' and application_name = '${APPLICATION}'`,
    )
    assert.deepEqual(running, [])
  })

  it('have the time that a statement may take, and that of their limit', async () => {
    await using schema = ownSchema()
    await using short = await RestEngine.create({
      entities: [Slow],
      database: { ...schema.database, statementTimeout: 200 },
      onError: () => {},
    })
    await schema.run('insert into slow default values')
    const answer = await short.handle('GET', '/v1/slows')
    assert.deepEqual([answer.status, answer.body.code, answer.headers['retry-after']], [503, 'database_busy', '1'])
    assert.match(answer.body.detail as string, /^The database ended a statement that took too long/)
    await using limited = await RestEngine.create({
      entities: [Slow],
      database: schema.database,
      limits: { timeout: 200 },
      onError: () => {},
    })
    const late = await limited.handle('GET', '/v1/slows')
    assert.deepEqual([late.status, late.body.code], [503, 'timeout'])
  })
})

describe('a PostgreSQL server that ends its connections', { skip: NO_SERVER }, () => {
  it('is connected to again by the next reading', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: { authors: [{ name: 'Ann' }] } })
    for (let round = 0; round < 3; round++) {
      // All connections of the pool are there, and lost.
      await Promise.all(Array.from({ length: 4 }, () => engine.handle('GET', '/v1/authors/1')))
      await endConnections(schema)
      assert.equal((await engine.handle('GET', '/v1/authors/1')).status, 200)
    }
  })

  it('loses no write that was acknowledged, and ends no process', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { onError: () => {} })
    let acknowledged = 0
    const state = { isDone: false }
    const killing = (async () => {
      while (!state.isDone) {
        await sleep(30)
        await endConnections(schema)
      }
    })()
    const ends = new Set<number>()
    for (let round = 0; round < 60; round++) {
      const { status, headers } = await engine.handle('POST', '/v1/authors', undefined, { name: `n${round}` })
      ends.add(status)
      if (status === 200) acknowledged++
      else assert.equal(headers['retry-after'], '1')
    }
    state.isDone = true
    await killing
    assert.deepEqual(
      [...ends].filter(status => status !== 200 && status !== 503),
      [],
    )
    const [row] = await schema.run('select count(*)::int as count from author')
    assert.ok((row!['count'] as number) >= acknowledged)
  })
})
