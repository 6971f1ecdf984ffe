/** PGlite in the place of a server: one session, in memory or in a folder. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { PASSWORD, bearer, world } from '../auth/world.ts'
import { COMMAND } from '../helpers/command.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** V8 compiles the WebAssembly once and plainly: to optimise it costs a processor a second, which so few requests never give back. */
const PLAIN = '--liftoff-only'
setFlagsFromString(PLAIN)

const PACKAGE: string = '@electric-sql/pglite'

const isInstalled = await import(PACKAGE).then(
  () => true,
  () => false,
)
const skip = isInstalled ? false : 'no PGlite: npm install @electric-sql/pglite'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    mail: p.string().unique().nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author) },
})
const entities = [Author, Book]
const seed = { authors: [{ id: 1, name: 'Ann' }], books: [{ title: 'x', author: 1 }] }

async function names(engine: RestEngine): Promise<string[]> {
  const { status, body } = await engine.handle('GET', '/v1/authors')
  assert.equal(status, 200, JSON.stringify(body))
  return body.authors.map(({ name }: { name: string }) => name)
}

const post = (engine: RestEngine, path: string, body: unknown): ReturnType<RestEngine['handle']> =>
  engine.handle('POST', path, undefined, body)

describe('PGlite', { skip }, () => {
  let engine: RestEngine
  let folder: string
  before(async () => {
    // One for all tests, log-in included: a PGlite takes seconds to make. It is in a folder; forks of it are in memory, as is the sample.
    folder = join(await mkdtemp(join(tmpdir(), 'mikro-rest-')), 'data')
    // As a process leaves it that is killed before it has made anything.
    await mkdir(folder)
    await writeFile(join(folder, 'mikro-rest.pid'), String(process.pid))
    const open = ['* /v1/authors', '* /v1/books', 'POST /v1/twice']
    const { entities: users = [], seed: rows, ...others } = world({ public: open })
    engine = await RestEngine.create({
      ...others,
      entities: [...users, ...entities],
      seed: { ...(rows as object), ...seed },
      database: `pglite:${folder}`,
      routes: [
        {
          method: 'POST',
          path: '/{version}/twice',
          handler: async ({ em, engine: own }) => {
            await em.transactional(async inner => {
              await inner.insert(Author, { name: 'inside' })
              assert.equal((await own.handle('GET', '/v1/authors?name=inside')).body.count, 1)
            })
            return { body: {} }
          },
        },
      ],
    })
  })
  after(async () => {
    await engine?.close()
    await rm(dirname(folder), { recursive: true })
  })

  it('answers and writes as a server does', async () => {
    assert.deepEqual(engine.notes, [])
    const { status, body } = await post(engine, '/v1/authors', { name: 'Bob', mail: 'b', books: [{ title: 'y' }] })
    assert.deepEqual([status, body.author], [200, { id: 2, name: 'Bob', mail: 'b', books: [2] }])
    assert.equal(engine.requests.at(-1)!.changes!.length, 2)
    assert.equal((await post(engine, '/v1/authors', { name: 'Bob', mail: 'b' })).body.code, 'unique_conflict')
    assert.equal((await post(engine, '/v1/authors', { name: 'a\0' })).status, 422)
    assert.deepEqual(
      (await engine.handle('GET', '/v1/books?author.name~=B*&expand=author&sort=author.books')).body.books[0].author.name,
      'Bob',
    )
    assert.equal((await post(engine, '/v1/twice', undefined)).status, 200)
    await engine.reset()
  })

  it('serves one request after another, whatever comes at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 3 === 0 ? post(engine, '/v1/authors', { name: `n${index}` }) : engine.handle('GET', '/v1/authors?expand=books'),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const rejected = engine.orm.em.fork().transactional(async em => {
      await em.insert(Author, { name: 'undone' })
      throw new Error('no')
    })
    await assert.rejects(rejected)
    assert.equal((await names(engine)).length, 5)
    await engine.reset()
    assert.deepEqual(await names(engine), ['Ann'])
  })

  it('has forks, and snapshots that outlive them', async () => {
    await post(engine, '/v1/authors', { name: 'Bob' })
    const fork = await engine.fork()
    await post(fork, '/v1/authors', { name: 'in the fork' })
    assert.deepEqual(
      [await names(fork), await names(engine)],
      [
        ['Ann', 'Bob', 'in the fork'],
        ['Ann', 'Bob'],
      ],
    )
    await fork.reset()
    const snapshot = await fork.snapshot()
    await fork.close()
    await engine.reset()
    assert.deepEqual(await names(engine), ['Ann'])
    await engine.restore(snapshot)
    assert.deepEqual(await names(engine), ['Ann', 'Bob'])
  })

  it('refuses what it cannot do in one line', async () => {
    for (const [database, message] of [
      [{ url: 'pglite:', poolSize: 2 }, /"database.poolSize" is for servers: PGlite has one connection\.$/],
      [{ url: 'pglite:', statementTimeout: 5 }, /"database.statementTimeout" is for servers: PGlite ends no statement before its end\.$/],
      [`pglite:${root}`, /cannot be opened: the folder holds something else\.$/],
      [`pglite:${join(root, 'package.json')}`, /cannot be opened: it is not a folder\.$/],
    ] as const)
      await assert.rejects(RestEngine.create({ entities, database }), message)
    await assert.rejects(RestEngine.create({ database: 'pglite:' }), /"entities" must be given/)
    await assert.rejects(RestEngine.create({ database: `pglite:${join(root, 'none')}` }), /does not exist\.$/)
  })

  it('makes tokens, ends them, counts failures, and forgets who is removed', async () => {
    const ask = async (token: string): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(token) })
      return status === 200 ? 200 : body.code
    }
    const logIn = async (password: string, email = 'ann@example.test'): Promise<[number, string]> => {
      const { status, body } = await post(engine, '/v1/login', { email, password })
      return [status, body.auth_token as string]
    }
    assert.equal((await engine.handle('GET', '/v1/notes')).status, 401)
    const [status, token] = await logIn(PASSWORD)
    assert.deepEqual([status, await ask(token)], [200, 200])
    const other = engine.token(1)
    const ended = await engine.handle('POST', '/v1/logout', undefined, undefined, { headers: bearer(token) })
    assert.deepEqual([ended.status, await ask(token), await ask(other)], [200, 'token_revoked', 200])
    const wrong = await Promise.all(Array.from({ length: 8 }, () => logIn('wrong')))
    assert.deepEqual(
      wrong.map(([each]) => each).toSorted((a, b) => a - b),
      [401, 401, 401, 401, 401, 429, 429, 429],
    )
    assert.deepEqual([(await logIn(PASSWORD))[0], (await logIn(PASSWORD, 'bob@example.test'))[0]], [429, 200])
    engine.clock.advance('60s')
    assert.equal((await logIn(PASSWORD))[0], 200)
    const removed = await engine.handle('DELETE', '/v1/users/1', undefined, undefined, { headers: bearer(other) })
    assert.deepEqual([removed.status, await ask(other)], [200, 'token_invalid'])
    await engine.reset()
    assert.deepEqual([await ask(token), (await logIn(PASSWORD))[0]], [200, 200])
  })

  it('is there again in its folder for the next engine, by itself and with its model, and serves one at a time', async () => {
    const database = `pglite:${folder}`
    await post(engine, '/v1/authors', { name: 'Bob' })
    await assert.rejects(RestEngine.create({ entities, database }), /is open already \(process \d+\): [^\n]+$/)
    await engine.close()
    await assert.rejects(readFile(join(folder, 'mikro-rest.pid')))
    // As a killed process leaves it.
    await writeFile(join(folder, 'mikro-rest.pid'), String(process.pid))
    engine = await RestEngine.create({ database })
    assert.deepEqual(await names(engine), ['Ann', 'Bob'])
    assert.equal((await post(engine, '/v1/books', { title: 'z', author: 2 })).status, 200)
    await engine.reset()
    assert.equal((await engine.handle('GET', '/v1/books')).body.count, 1)
  })

  it('is what the command serves the sample from, in memory', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [PLAIN, COMMAND, 'pglite:', '--get', '/v1/campaigns?limit=2&quickstats&sort=quickstats.today.clicks.desc'],
      { cwd: root, encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    const { campaigns } = JSON.parse(stdout) as { campaigns: { quickstats: { today: { clicks: number } } }[] }
    assert.ok(campaigns[0]!.quickstats.today.clicks >= campaigns[1]!.quickstats.today.clicks)
  })
})
