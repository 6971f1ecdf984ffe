/**
 * Behind pgbouncer in transaction mode, with `prepare: false`: each transaction may have another connection, and shares it with other
 * clients.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { Client } from 'pg'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { Note, PASSWORD, User, bearer, world } from '../auth/world.ts'
import { RUN_AS, findPort, findProgram, makeFolder } from './own-server.ts'
import { SERVER_URL, findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** What the slow statement of this process is found by. */
const LATE = `late ${process.pid}`

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    born: p.datetime().nullable(),
    data: p.json().nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), pages: p.integer().default(0), author: () => p.manyToOne(Author) },
})
const Slow = defineEntity({
  name: 'Slow',
  properties: { id: p.integer().primary(), late: p.string().formula(`(select '${LATE}' from pg_sleep(30))`) },
})

const skip =
  (await findNoServer()) || (findProgram('pgbouncer') === undefined && 'no pgbouncer: install it (Debian: apt install pgbouncer)')

describe('behind pgbouncer in transaction mode', { skip }, () => {
  let stop = async (): Promise<void> => {}
  let pooler = ''

  before(async () => {
    const folder = await makeFolder()
    const port = await findPort()
    const { hostname, port: serverPort, username } = new URL(SERVER_URL)
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      `[databases]
* = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`,
    )
    const child = spawn(findProgram('pgbouncer')!, ['-q', join(folder, 'pgbouncer.ini')], { ...RUN_AS, cwd: folder, stdio: 'ignore' })
    const ended = once(child, 'exit')
    const url = new URL(SERVER_URL)
    url.port = String(port)
    pooler = url.href
    stop = async () => {
      child.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    }
    for (let waited = 0; waited < 10_000; waited += 50) {
      const client = new Client({ connectionString: pooler })
      client.on('error', () => {})
      try {
        await client.connect()
        return
      } catch {
        await sleep(50)
      } finally {
        await client.end().catch(() => {})
      }
    }
    assert.fail('pgbouncer does not answer')
  })
  after(() => stop())

  const open = (schema: OwnSchema, options: Partial<EngineOptions> = {}, database: object = {}): Promise<RestEngine> =>
    RestEngine.create({
      entities: [Author, Book],
      ...options,
      database: { url: pooler, schema: schema.database.schema, poolSize: 8, prepare: false, ...database },
    })

  it('reads and writes, many at a time, with the settings of each engine', async () => {
    await using one = ownSchema()
    await using two = ownSchema()
    await using first = await open(one)
    await using second = await open(two, {}, { statementTimeout: 5_000 })
    const born = '2026-05-01T12:00:00.000Z'
    // Other clients of the same connections have other settings, and keep them.
    const other = new Client({ connectionString: pooler })
    await other.connect()
    await other.query("set timezone = 'Asia/Tokyo'")
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const engine = index % 2 === 0 ? first : second
        const body = { name: `n${index}`, born, data: { a: index }, books: [{ title: 'x' }, { title: 'y' }] }
        const { status, body: created } = await engine.handle('POST', '/v1/authors', undefined, body)
        const path = `/v1/authors/${created.author.id}`
        const changed = await engine.handle('PUT', path, undefined, { name: `m${index}` })
        const list = await engine.handle('GET', '/v1/authors', { depth: 2, name: `m${index}`, 'data.a': index, born })
        const em = engine.orm.em.fork()
        const found = await em.findOneOrFail(Author, { name: `m${index}` }, { populate: ['books'] })
        return [status, changed.status, list.body.count, list.body.authors[0].books.length, list.body.authors[0].born, found.books.length]
      }),
    )
    for (const answer of answers) assert.deepEqual(answer, [200, 200, 1, 2, born, 2])
    assert.deepEqual((await other.query('show timezone')).rows, [{ TimeZone: 'Asia/Tokyo' }])
    await other.end()
    for (const [engine, schema] of [
      [first, one],
      [second, two],
    ] as const) {
      assert.equal((await engine.handle('GET', '/v1/authors')).body.count, 20)
      assert.deepEqual(await schema.run('select count(*)::int as n from book'), [{ n: 40 }])
      assert.equal((await engine.handle('DELETE', '/v1/books', { title: 'x' }, undefined)).status, 405)
    }
    const twice = await Promise.all(Array.from({ length: 8 }, () => first.handle('POST', '/v1/authors', undefined, { name: 'once' })))
    assert.deepEqual(
      twice.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409, 409, 409, 409, 409, 409],
    )
    const explained = await first.explain('GET', '/v1/authors', { name: 'once' })
    assert.ok(explained.statements.length > 0)
  })

  it('ends statements that take too long, and those whose caller has gone', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { entities: [Slow], onError: () => {} }, { statementTimeout: 300 })
    await schema.run('insert into slow default values')
    const answer = await engine.handle('GET', '/v1/slows')
    assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1'])
    await using patient = await open(schema, { entities: [Slow] })
    const caller = new AbortController()
    const asked = patient.handle('GET', '/v1/slows', undefined, undefined, { signal: caller.signal })
    setTimeout(() => caller.abort(new Error('gone')), 300)
    await assert.rejects(async () => asked, /gone/)
    for (let waited = 0; ; waited += 50) {
      const running = await schema.run(
        `select 1 from pg_stat_activity where state = 'active' and query like '%${LATE}%' and pid <> pg_backend_pid()`,
      )
      if (running.length === 0) break
      assert.ok(waited < 5_000, 'the statement goes on')
      await sleep(50)
    }
  })

  it('tells who has not given "prepare: false" to do so, and runs no statement of another engine', async () => {
    await using schema = ownSchema()
    await (await open(schema, {}, { url: SERVER_URL, prepare: true })).close()
    const causes: unknown[] = []
    const options: EngineOptions = { entities: [Author, Book], schema: 'keep', onError: error => void causes.push(error) }
    const url = new URL(pooler)
    const database = { url: url.href, schema: schema.database.schema, poolSize: 8 }
    await using one = await RestEngine.create({ ...options, database })
    await using two = await RestEngine.create({ ...options, database })
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const [engine, path] = index % 2 === 0 ? [one, '/v1/authors'] : [two, '/v1/books']
        return index % 3 === 0 ? engine.handle('POST', '/v1/authors', undefined, { name: `n${index}` }) : engine.handle('GET', path)
      }),
    )
    const failed = answers.filter(({ status }) => status !== 200)
    assert.ok(failed.length > 0, 'the pooler has lent each its own connection')
    for (const { status, body } of failed) {
      assert.deepEqual([status, body.code], [500, 'database_failed'], String(causes[0]))
      assert.match(body.detail as string, /pooler .* give "prepare: false"/)
    }
  })

  it('has log-in, the database as it is, reading alone, and what the test kit can do there', async () => {
    await using schema = ownSchema()
    const { seed, ...options } = world()
    await using engine = await open(schema, { ...options, seed: seed! })
    const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: PASSWORD })
    const headers = bearer(body.auth_token as string)
    const ask = async (): Promise<number> => (await engine.handle('GET', '/v1/notes', undefined, undefined, { headers })).status
    assert.equal(await ask(), 200)
    await engine.handle('POST', '/v1/logout', undefined, undefined, { headers })
    assert.equal(await ask(), 401)
    await engine.orm.em.fork().nativeUpdate(Note, { id: 1 }, { text: 'other' })
    await engine.reset()
    assert.equal(await ask(), 200)
    assert.equal((await engine.orm.em.fork().findOneOrFail(Note, 1)).text, 'first')
    assert.equal(await engine.orm.em.fork().count(User), 2)
    await assert.rejects(engine.fork(), /^[^\n]*a pooler stands between \("prepare: false"\)[^\n]*$/)
    await using served = await RestEngine.create({ database: `${pooler}?schema=${schema.database.schema}&prepare=false` })
    assert.equal((await served.handle('GET', '/v1/users')).body.count, 2)
    await using reading = await open(schema, { ...options, readOnly: true })
    await assert.rejects(async () => reading.orm.em.fork().insert(Note, { text: 'x' }), /read-only transaction/)
  })
})
