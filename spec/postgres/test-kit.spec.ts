/** The test kit on PostgreSQL: `reset`, snapshots, the changed rows of requests, and who gets none of it. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { Client } from 'pg'
import { RestEngine, createServer } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { SERVER_URL, findNoServer, ownDatabase, ownSchema } from './server-database.ts'
import type { OwnDatabase, OwnSchema } from './server-database.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    mail: p.string().unique().nullable(),
    data: p.json().nullable(),
    born: p.datetime().nullable(),
    worth: p.decimal().precision(20).scale(5).nullable(),
    weight: p.float().nullable(),
    photo: p.blob().nullable(),
    tags: () => p.manyToMany(Tag),
    books: () => p.oneToMany(Book).mappedBy('author'),
    favourite: () => p.manyToOne(Book).nullable().deleteRule('set null'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author).deleteRule('cascade') },
})
const Tag = defineEntity({ name: 'Tag', properties: { word: p.string().primary() } })
const entities = [Author, Book, Tag]
const seed = { tags: [{ word: 'a' }, { word: 'b' }], authors: [{ id: 1, name: 'Ann', tags: ['a'] }], books: [{ title: 'x', author: 1 }] }

const open = (schema: { readonly database: object }, options: Partial<EngineOptions> = {}): Promise<RestEngine> =>
  RestEngine.create({ entities, seed, ...options, database: { ...schema.database } as never })

const post = (engine: RestEngine, path: string, body: unknown): ReturnType<RestEngine['handle']> =>
  engine.handle('POST', path, undefined, body)

async function names(engine: RestEngine): Promise<string[]> {
  const { body } = await engine.handle('GET', '/v1/authors')
  return body.authors.map(({ id, name }: { id: number; name: string }) => `${id} ${name}`)
}

/** All rows of all tables, as PostgreSQL writes them. */
async function readAll(schema: OwnSchema): Promise<unknown> {
  const tables = ['author', 'book', 'tag', 'author_tags']
  return schema.run(tables.map(table => `select '${table}' as of, t::text as row from ${table} t`).join(' union all ') + ' order by 1, 2')
}

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('the data of an engine on PostgreSQL', { skip: NO_SERVER }, () => {
  for (const [title, change] of [
    ['a sequence that was restarted and has given nothing yet', 'alter sequence author_id_seq restart with 100'],
    ['one that has given a value', "select setval('author_id_seq', 99)"],
  ] as const)
    it(`is restored with what its sequences were, not what the engine had seen of them: ${title}`, async () => {
      await using schema = ownSchema()
      await using engine = await open(schema, { seed: {} })
      for (const id of [1, 2, 3]) await schema.run('insert into author (id, name) values ($1, $2)', [id, 'other'])
      await schema.run(change)
      const before = await engine.snapshot()
      const idOf = async (): Promise<number> => {
        const { status, body } = await post(engine, '/v1/authors', { name: 'new' })
        assert.equal(status, 200, JSON.stringify(body))
        return body.author.id as number
      }
      assert.equal(await idOf(), 100)
      await schema.run("select setval('author_id_seq', 1)")
      await engine.restore(before)
      assert.equal(await idOf(), 100)
      await engine.restore(before)
      // A row that brings a lower key does not lower it.
      assert.equal((await post(engine, '/v1/authors', { id: 50, name: 'given' })).status, 200)
      assert.equal(await idOf(), 100)
      // One with a higher key raises it.
      await engine.restore(before)
      assert.equal((await post(engine, '/v1/authors', { id: 100, name: 'given' })).status, 200)
      assert.equal(await idOf(), 101)
    })

  it('is reset to what it was after the seed, whoever has written, and IDs come again', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, {
      seed: {
        ...seed,
        authors: [
          {
            id: 1,
            name: 'Ann "\\ (1,2)\n',
            mail: '',
            data: { b: [1, null, 'ü"'], a: 1.1 },
            born: '2020-01-02T03:04:05.678Z',
            worth: '123456789012345.12345',
            weight: 0.1,
            photo: 'AP8=',
            tags: ['a', 'b'],
          },
        ],
      },
    })
    await schema.run('update author set favourite_id = 1')
    const before = await readAll(schema)
    const start = await engine.snapshot()
    for (let round = 0; round < 2; round++) {
      assert.equal((await post(engine, '/v1/authors', { name: 'Bob', tags: ['b'], books: [{ title: 'y' }] })).body.author.id, 2)
      await engine.handle('PATCH', '/v1/authors/1', undefined, { name: 'Anna', mail: 'b@example.test', tags: [] })
      await engine.orm.em.fork().nativeUpdate(Tag, { word: 'b' }, { word: 'c' })
      await schema.run("insert into tag (word) values ('b')")
      await engine.handle('DELETE', '/v1/authors/1')
      await schema.run('truncate book cascade')
      assert.notDeepEqual(await readAll(schema), before)
      await (round === 0 ? engine.restore(start) : engine.reset())
      if (round === 1) await schema.run('update author set favourite_id = 1')
      assert.deepEqual(await readAll(schema), before)
    }
  })

  it('goes back to any snapshot, in any order', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    const snapshots = [await engine.snapshot()]
    const states = [await names(engine)]
    for (const name of ['Bob', 'Cy', 'Dee', 'Eve']) {
      await post(engine, '/v1/authors', { name })
      if (name === 'Cy') await engine.handle('DELETE', '/v1/authors/2')
      if (name === 'Dee') await engine.handle('PUT', '/v1/authors/1', undefined, { name: 'Anna' })
      snapshots.push(await engine.snapshot())
      states.push(await names(engine))
    }
    for (const at of [1, 4, 0, 3, 3, 2, 4, 1]) {
      await engine.restore(snapshots[at]!)
      assert.deepEqual(await names(engine), states[at])
      if (at % 2 === 1) assert.equal((await post(engine, '/v1/authors', { name: 'more' })).body.author.id, at + 2)
    }
    assert.ok(snapshots[0]!.size > 0)
    await engine.reset()
    assert.deepEqual(await names(engine), ['1 Ann'])
  })

  it('is replaced while nobody writes, and not inside a write', async () => {
    await using schema = ownSchema()
    let inside: Promise<unknown> | undefined
    await using engine = await open(schema, {
      routes: [
        {
          method: 'POST',
          path: '/{version}/twice',
          handler: async ({ em }) => {
            await em.transactional(async inner => {
              await inner.insert(Author, { name: 'half' } as never)
              inside = engine.snapshot().catch((error: unknown) => error)
              await inside
              await inner.insert(Author, { name: 'whole' } as never)
            })
            return { body: {} }
          },
        },
      ],
    })
    const writes = Array.from({ length: 6 }, (_, index) =>
      post(engine, '/v1/authors', { name: `n${index}` }).catch((error: unknown) => error),
    )
    await engine.reset()
    await Promise.all(writes)
    await engine.reset()
    assert.deepEqual(await names(engine), ['1 Ann'])
    assert.equal((await post(engine, '/v1/twice', undefined)).status, 200)
    assert.match(String(await inside), /engine\.snapshot: not possible inside a write/)
    assert.deepEqual(await names(engine), ['1 Ann', '2 half', '3 whole'])
  })

  it('is found as it was by the next engine, which has nothing to note', async () => {
    await using schema = ownSchema()
    await (await open(schema)).close()
    await using engine = await open(schema, { seed: undefined as never })
    assert.deepEqual(engine.notes, [])
    await post(engine, '/v1/authors', { name: 'Bob' })
    await engine.reset()
    assert.deepEqual(await names(engine), ['1 Ann'])
    const triggers = await schema.run(
      'select count(*)::int as count from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal',
      ['author'],
    )
    assert.deepEqual(triggers, [{ count: 2 }])
  })
})

describe('changed rows on PostgreSQL', { skip: NO_SERVER }, () => {
  it('are in the journal: of the request, its hooks and the database itself', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    const changesOf = async (...[method, path, body]: [string, string, unknown?]): Promise<unknown> => {
      const { status } = await engine.handle(method, path, undefined, body)
      assert.equal(status, 200)
      return engine.requests.at(-1)!.changes
    }
    const ann = { id: 1, name: 'Ann', mail: null, born: null, worth: null, weight: null, photo: null, favourite: null }
    const bob = { mail: null, data: null, born: null, worth: '1.50000', weight: 0.5, photo: null, favourite: null }
    assert.deepEqual(
      await changesOf('POST', '/v1/authors', { name: 'Bob', worth: '1.5', weight: 0.5, tags: ['b'], books: [{ title: 'y' }] }),
      [
        { type: 'insert', resource: 'authors', id: 2, before: null, after: { id: 2, name: 'Bob', ...bob, tags: ['b'] } },
        { type: 'insert', resource: 'books', id: 2, before: null, after: { id: 2, title: 'y', author: 2 } },
      ],
    )
    assert.deepEqual(await changesOf('PATCH', '/v1/authors/1', { tags: ['b', 'a'], data: { x: 1 } }), [
      {
        type: 'update',
        resource: 'authors',
        id: 1,
        before: { ...ann, data: null, tags: ['a'] },
        after: { ...ann, data: { x: 1 }, tags: ['a', 'b'] },
      },
    ])
    assert.deepEqual(await changesOf('DELETE', '/v1/authors/2'), [
      { type: 'delete', resource: 'authors', id: 2, before: { id: 2, name: 'Bob', ...bob, tags: ['b'] }, after: null },
      { type: 'delete', resource: 'books', id: 2, before: { id: 2, title: 'y', author: 2 }, after: null },
    ])
    assert.deepEqual(await changesOf('GET', '/v1/authors'), [])
    assert.equal((await post(engine, '/v1/tags', { word: 'a' })).status, 409)
    assert.deepEqual(engine.requests.at(-1)!.changes, [])
  })

  it('are those of every table that a request has changed, whichever the one before it has', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    const changesOf = async (...[method, path, body]: [string, string, unknown?]): Promise<unknown> => {
      const { status } = await engine.handle(method, path, undefined, body)
      assert.equal(status, 200)
      return engine.requests.at(-1)!.changes!.map(({ type, resource, id }) => `${type} ${resource} ${id}`)
    }
    for (const word of ['c', 'd']) {
      assert.deepEqual(await changesOf('POST', '/v1/tags', { word }), [`insert tags ${word}`])
      assert.deepEqual(await changesOf('PATCH', '/v1/books/1', { title: word }), ['update books 1'])
      assert.deepEqual(await changesOf('PATCH', '/v1/authors/1', { tags: [word] }), ['update authors 1'])
      assert.deepEqual(await changesOf('PATCH', '/v1/authors/1', { name: word }), ['update authors 1'])
    }
    await schema.run(`create function note() returns trigger language plpgsql as $$ begin
      insert into tag (word) values (new.title); update book set title = 'of a trigger' where id = new.id; return null; end $$;
      create trigger note after update on book for each row when (new.title <> 'of a trigger') execute function note()`)
    assert.deepEqual(await changesOf('PATCH', '/v1/authors/1', { name: 'e' }), ['update authors 1'])
    assert.deepEqual(await changesOf('PATCH', '/v1/books/1', { title: 'f' }), ['update books 1', 'insert tags f'])
    await schema.run('drop trigger note on book')
    // A write that is refused leaves nothing behind for the next one.
    assert.equal((await post(engine, '/v1/tags', { word: 'c' })).status, 409)
    assert.deepEqual(await changesOf('POST', '/v1/tags', { word: 'g' }), ['insert tags g'])
    // Neither does a table that goes.
    await schema.run('drop table tag cascade')
    const statuses: number[] = []
    for (let time = 0; time < 2; time++) statuses.push((await engine.handle('PATCH', '/v1/books/1', undefined, { title: 'h' })).status)
    assert.equal(statuses.at(-1), 200)
  })

  it('are found by the index of a log that has become long, without a new plan, by sessions that have seen it short, too', async () => {
    await using schema = ownSchema()
    await using engine = await open({ database: { ...schema.database, poolSize: 1 } })
    const patch = (title: string): ReturnType<RestEngine['handle']> => engine.handle('PATCH', '/v1/books/1', undefined, { title })
    for (let count = 0; count < 10; count++) await patch(`short ${count}`)
    await schema.run('analyze mikro_changes')
    for (let count = 0; count < 10; count++) await patch(`counted ${count}`)
    await engine.seed({ tags: Array.from({ length: 3_000 }, (_, index) => ({ word: `word ${index}` })) })
    await patch('long')
    const readByScan = async (): Promise<number> => {
      // What a session has read counts when it has been idle for a while, or has ended.
      await schema.run('select pg_stat_clear_snapshot()')
      const [row] = await schema.run("select seq_tup_read as rows from pg_stat_user_tables where relid = 'mikro_changes'::regclass")
      return Number(row!['rows'])
    }
    await sleep(1_500)
    await patch('counted')
    await sleep(1_500)
    const before = await readByScan()
    for (let count = 0; count < 10; count++) await patch(`again ${count}`)
    await sleep(1_500)
    await patch('counted')
    await sleep(1_500)
    assert.ok((await readByScan()) - before < 3_000, `${(await readByScan()) - before} rows`)
    // A session plans a statement anew five times before it decides.
    const plans: { count: number }[] = await engine.orm.em
      .getConnection()
      .execute("select custom_plans::int as count from pg_prepared_statements where statement like '%mikro_changes%'")
    assert.notEqual(plans.length, 0)
    assert.deepEqual(
      plans.filter(({ count }) => count > 5),
      [],
    )
  })

  it('are what engine.expect counts, by requests and by MikroORM', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    await engine.expect({ authors: { inserted: 1, updated: 1 } }, async () => {
      await post(engine, '/v1/authors', { name: 'Bob' })
      await engine.orm.em.fork().nativeUpdate(Author, { id: 1 }, { name: 'Anna' })
    })
    await engine.expect({ authors: 1 }, () => engine.orm.em.fork().insert(Author, { name: 'Cy' } as never))
    await assert.rejects(
      engine.expect({}, () => engine.handle('DELETE', '/v1/books/1')),
      /books/,
    )
    await engine.expect({}, async () => {
      await assert.rejects(
        engine.orm.em.fork().transactional(async em => {
          await em.insert(Author, { name: 'Dee' } as never)
          throw new Error('no')
        }),
      )
    })
  })
})

describe('made-up records on PostgreSQL', { skip: NO_SERVER }, () => {
  it('are made from several callers at once, and made again where another one has taken a unique value', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema)
    const made = await Promise.all(Array.from({ length: 6 }, () => engine.given('tag', {}, { seed: 7 })))
    assert.equal(new Set(made.map(({ word }) => word)).size, 6)
    await engine.given.many('book', 3)
    assert.equal((await engine.handle('GET', '/v1/books')).body.count, 4)
  })
})

describe('a database that no engine has made', { skip: NO_SERVER }, () => {
  it('gets no table and no trigger, and refuses what would need them in one line', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run('create table other (a int)')
    await using engine = await open(schema)
    for (const method of ['snapshot', 'fork', 'reset'] as const)
      await assert.rejects(
        engine[method](),
        new RegExp(
          `^RestError: engine\\.${method === 'fork' ? 'snapshot' : method}: ` +
            `not possible for this PostgreSQL database: it held tables [^\\n]*$`,
        ),
      )
    await assert.rejects(
      engine.expect({}, () => {}),
      /^Error: engine\.expect: not possible for this PostgreSQL database[^\n]*$/,
    )
    await post(engine, '/v1/authors', { name: 'Bob' })
    assert.equal(engine.requests[0]!.changes, undefined)
    assert.deepEqual(
      await schema.run("select relname from pg_class where relname like 'mikro%' and relnamespace = current_schema()::regnamespace"),
      [],
    )
    const triggers = await schema.run(
      'select count(*)::int as count from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal',
      ['author'],
    )
    assert.deepEqual(triggers, [{ count: 0 }])
  })

  it('is one whose user may not undo changes, who sees them all the same', async () => {
    await using schema = ownSchema()
    const user = `mikro_rest_user_${process.pid}`
    await schema.run(`create role ${user} login`)
    try {
      await schema.run(`create schema ${schema.database.schema} authorization ${user}`)
      const url = new URL(schema.database.url)
      url.username = user
      await using engine = await open({ database: { ...schema.database, url: url.href } })
      await assert.rejects(
        engine.reset(),
        /^RestError: engine\.reset: not possible for this PostgreSQL database: the user may not undo changes[^\n]*$/,
      )
      await post(engine, '/v1/authors', { name: 'Bob' })
      assert.equal(engine.requests[0]!.changes!.length, 1)
    } finally {
      await schema.run(`drop owned by ${user} cascade; drop role ${user}`)
    }
  })
})

/** A scenario is made in a fork, whose snapshot outlives it. */
async function tryScenario(engine: RestEngine): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await engine.scenario('crowd')
    assert.deepEqual(await names(engine), ['1 Xi', '2 Yo'])
    await post(engine, '/v1/authors', { name: 'Zoe' })
    await engine.reset()
    assert.deepEqual(await names(engine), ['1 Ann'])
  }
}

async function tryWorlds(engine: RestEngine): Promise<void> {
  const server = createServer(engine, { testControls: true })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/authors`
  try {
    const ask = async (world: string, init: RequestInit = {}): Promise<unknown> => {
      const response = await fetch(url, {
        ...init,
        headers: { 'x-world': world, 'content-type': 'application/json' },
      })
      return ((await response.json()) as { count?: number }).count
    }
    await ask('one', { method: 'POST', body: '{"name":"Bob"}' })
    assert.deepEqual([await ask('one'), await ask('two')], [2, 1])
    assert.deepEqual(await names(engine), ['1 Ann'])
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

describe('forks on PostgreSQL', { skip: NO_SERVER }, () => {
  let own: OwnDatabase | undefined
  before(async () => {
    own = await ownDatabase()
  })
  after(() => own?.[Symbol.asyncDispose]())

  const countCopies = async (): Promise<number> => {
    const client = new Client({ connectionString: SERVER_URL })
    await client.connect()
    try {
      const { rows } = await client.query("select count(*)::int as count from pg_database where datname like 'mikro\\_fork\\_%'")
      return (rows as [{ count: number }])[0].count
    } finally {
      await client.end()
    }
  }

  it('are databases of their own, take snapshots from each other, serve scenarios and worlds, and go when they are closed', async () => {
    await using schema = ownSchema(own!.database.url)
    const engine = await open(schema, { scenarios: { crowd: { authors: [{ name: 'Xi' }, { name: 'Yo' }] } } })
    try {
      const start = await engine.snapshot()
      await post(engine, '/v1/authors', { name: 'Bob' })
      const fork = await engine.fork()
      await post(fork, '/v1/authors', { name: 'in the fork' })
      await post(engine, '/v1/authors', { name: 'in the engine' })
      assert.deepEqual(await names(fork), ['1 Ann', '2 Bob', '3 in the fork'])
      assert.deepEqual(await names(engine), ['1 Ann', '2 Bob', '3 in the engine'])
      assert.equal(fork.requests.at(-2)!.changes!.length, 1)
      const [ofFork, ofEngine] = [await fork.snapshot(), await engine.snapshot()]
      await post(fork, '/v1/authors', { name: 'later' })
      await fork.restore(ofEngine)
      assert.deepEqual(await names(fork), ['1 Ann', '2 Bob', '3 in the engine'])
      await fork.restore(start)
      assert.deepEqual(await names(fork), ['1 Ann'])
      assert.equal((await post(fork, '/v1/authors', { name: 'again' })).body.author.id, 2)
      await fork.reset()
      assert.deepEqual(await names(fork), ['1 Ann', '2 Bob'])
      const asCopied = await fork.snapshot()
      await engine.reset()
      {
        await using second = await engine.fork(ofFork)
        assert.deepEqual(await names(second), ['1 Ann', '2 Bob', '3 in the fork'])
        await fork.close()
        await engine.restore(asCopied)
        assert.deepEqual(await names(engine), ['1 Ann', '2 Bob'])
        await engine.restore(ofFork)
        assert.deepEqual(await names(engine), ['1 Ann', '2 Bob', '3 in the fork'])
        await engine.restore(ofEngine)
        await second.restore(ofEngine)
        for (const each of [engine, second]) assert.deepEqual(await names(each), ['1 Ann', '2 Bob', '3 in the engine'])
      }
      assert.ok((await countCopies()) > 0)
      await engine.reset()
      await tryScenario(engine)
      await tryWorlds(engine)
    } finally {
      await engine.close()
    }
    const left = await own!.run(
      'select datname from pg_database ' +
        `where datname like 'mikro\\_fork\\_%' and shobj_description(oid, 'pg_database') like '%"' || current_database() || '"%'`,
    )
    assert.deepEqual(left, [])
  })

  it('need the database for themselves for a moment, and drop what a killed process has left', async () => {
    await using schema = ownSchema(own!.database.url)
    await using engine = await open(schema)
    await own!.run('create database mikro_fork_1_1')
    const other = new Client({ connectionString: own!.database.url, application_name: 'psql' })
    await other.connect()
    try {
      await assert.rejects(
        engine.fork(),
        /^Error: engine\.fork: the database "[^"]+" can be copied only while nobody else is connected to it, and "psql" is\.$/,
      )
    } finally {
      await other.end()
    }
    assert.equal((await engine.handle('GET', '/v1/authors')).status, 200)
    await (await engine.fork()).close()
    assert.deepEqual(await own!.run("select from pg_database where datname = 'mikro_fork_1_1'"), [])
    await using another = ownSchema(SERVER_URL.replace(/[^/]+$/, 'postgres'))
    await using inMaintenance = await open(another)
    await assert.rejects(inMaintenance.fork(), /^Error: engine\.fork: not possible for the database "postgres"[^\n]*$/)
  })
})
