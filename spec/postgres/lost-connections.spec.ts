/**
 * What PostgreSQL cannot answer is 503 with Retry-After: no connection is free, one is ended in mid-request, the server restarts. Nothing
 * acknowledged is lost.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { findNoPrograms, ownServer } from './own-server.ts'
import { APPLICATION, findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const Author = defineEntity({
  name: 'Author',
  properties: { id: p.integer().primary(), name: p.string(), books: () => p.oneToMany(Book).mappedBy('author') },
})
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    author: () => p.manyToOne(Author),
    late: p.string().nullable().formula("(select case when current_setting('mikro.slow', true) is null then pg_sleep(1)::text end)"),
  },
})
const entities = [Author, Book]

const open = (schema: OwnSchema, poolSize: number, options: Partial<EngineOptions> = {}): Promise<RestEngine> =>
  RestEngine.create({ entities, onError: () => {}, ...options, database: { ...schema.database, poolSize } })

function assertBusy({ status, body, headers }: Awaited<ReturnType<RestEngine['handle']>>): void {
  assert.deepEqual([status, body.code, headers['retry-after']], [503, 'database_busy', '1'])
}

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('a pool without a free connection', { skip: NO_SERVER }, () => {
  it('is 503 for readings and writes, and serves again when one is free', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, 1)
    const em = engine.orm.em.fork()
    await em.begin()
    await em.count(Author)
    const begun = performance.now()
    const answers = await Promise.all([
      engine.handle('GET', '/v1/authors'),
      engine.handle('GET', '/v1/authors/1'),
      engine.handle('POST', '/v1/authors', undefined, { name: 'Ann' }),
    ])
    assert.ok(performance.now() - begun >= 4_900)
    for (const answer of answers) assertBusy(answer)
    await em.rollback()
    assert.equal((await engine.handle('GET', '/v1/authors')).body.count, 0)
    assert.equal((await engine.handle('POST', '/v1/authors', undefined, { name: 'Ann' })).status, 200)
  })

  it('is none for code of a write that asks the engine: it has the connection of the write', async () => {
    await using schema = ownSchema()
    const seen: unknown[] = []
    await using engine = await open(schema, 2, {
      routes: [
        {
          method: 'POST',
          path: '/{version}/twice',
          handler: ctx =>
            ctx.em.transactional(async () => {
              seen.push((await engine.handle('POST', '/v1/authors', undefined, { name: 'inside' })).status)
              seen.push((await engine.handle('GET', '/v1/authors')).status)
              return { body: {} }
            }),
        },
      ],
    })
    const answers = await Promise.all(Array.from({ length: 8 }, () => engine.handle('POST', '/v1/twice')))
    assert.deepEqual(new Set([...answers.map(({ status }) => status), ...seen]), new Set([200]))
    assert.equal((await engine.handle('GET', '/v1/authors')).body.count, 8)
  })
})

describe('a connection that is ended in mid-request', { skip: NO_SERVER }, () => {
  /** Ends the connections that run a statement which waits. */
  async function endSlow(schema: OwnSchema): Promise<void> {
    for (let ended = 0; ended === 0;) {
      await sleep(20)
      const rows = await schema.run(
        'select pg_terminate_backend(pid) from pg_stat_activity ' +
          "where application_name = $1 and state = 'active' and query like '%pg_sleep%' and wait_event = 'PgSleep'",
        [APPLICATION],
      )
      ended = rows.length
    }
  }

  it('is 503 or answered from the beginning, also behind the first statement', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, 4, { seed: { authors: [{ id: 1, name: 'Ann' }], books: [{ author: 1 }] } })
    // The first statement waits, or that of the books of an author.
    const paths = { '/v1/books': [200], '/v1/authors?depth=2': [200, 503] }
    for (const [path, expected] of Object.entries(paths)) {
      const asked = engine.handle('GET', path)
      await endSlow(schema)
      const answer = await asked
      assert.ok(expected.includes(answer.status), `${path}: ${answer.status}`)
      if (answer.status === 503) assertBusy(answer)
    }
    const writing = engine.handle('POST', '/v1/books', { depth: 1 }, { author: 1 })
    await endSlow(schema)
    const answer = await writing
    if (answer.status !== 200) assertBusy(answer)
    await schema.run('select 1')
    const [{ n } = {}] = await schema.run('select count(*)::int as n from book')
    assert.equal(n, answer.status === 200 ? 2 : 1)
  })
})

describe('a server that restarts', { skip: findNoPrograms() }, () => {
  it('is waited for with 503, and has kept all that was acknowledged', { timeout: 120_000 }, async () => {
    await using server = await ownServer()
    await using engine = await RestEngine.create({ entities, onError: () => {}, database: { url: server.url, poolSize: 4 } })
    const acknowledged: string[] = []
    const state = { isOver: false, busy: 0, again: 0 }
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let turn = 0; !state.isOver; turn++) {
          const name = `${client} ${turn}`
          const reading = await engine.handle('GET', '/v1/authors?limit=1')
          const answer = await engine.handle('POST', '/v1/authors', undefined, { name })
          for (const each of [reading, answer]) if (each.status !== 200) assertBusy(each)
          if (answer.status === 200) acknowledged.push(name)
          else state.busy++
          if (answer.status === 200 && state.busy > 0) state.again++
          if (answer.status !== 200) await sleep(20)
        }
      }),
    )
    for (const mode of ['fast', 'immediate'] as const) {
      await sleep(200)
      const { again } = state
      await server.stop(mode)
      await sleep(100)
      await server.start()
      for (let waited = 0; state.again <= again + 20 && waited < 20_000; waited += 20) await sleep(20)
      assert.ok(state.again > again + 20, 'the engine does not come back')
    }
    state.isOver = true
    await load
    assert.ok(state.busy > 0)
    const { body } = await engine.handle('GET', '/v1/authors', { limit: 1000, attributes: 'name', depth: 0 })
    const kept = new Set((await engine.orm.em.fork().find(Author, {})).map(({ name }) => name))
    assert.ok(body.count >= acknowledged.length)
    assert.deepEqual(
      acknowledged.filter(name => !kept.has(name)),
      [],
    )
  })
})
