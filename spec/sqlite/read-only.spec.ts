/** Read-only: engines and files that nobody may write to. Files stay as they are, and so do the folders that they lie in. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine, auth, createServer, hashPassword } from '../../lib/index.ts'
import { LIBRARY, argumentsOfAll } from '../helpers/command.ts'
import type { Ended } from '../helpers/command.ts'
import { pathOf, rowsOf } from './introspect/world.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
})

/** A file alone in its folder. */
function fileOf(sql: string, mode: 'delete' | 'wal' = 'delete'): string {
  const folder = pathOf(crypto.randomUUID())
  mkdirSync(folder)
  const path = join(folder, 'data.sqlite')
  const db = new Database(path)
  db.pragma(`journal_mode = ${mode}`)
  db.exec(sql)
  db.close()
  return path
}

const NOTES = "create table note (id integer primary key, text text not null); insert into note values (1, 'a'), (2, 'b');"

/** What is in the folder, byte by byte. */
function stateOf(path: string): Record<string, unknown> {
  const folder = dirname(path)
  return Object.fromEntries(
    readdirSync(folder).map(name => [name, [readFileSync(join(folder, name)).toString('base64'), statSync(join(folder, name)).mtimeMs]]),
  )
}

async function countOf(engine: RestEngine): Promise<unknown> {
  return ((await engine.handle('GET', '/v1/notes')).body as { count?: unknown }).count
}

/** Runs code as a user who is not the superuser, who may write anything. Undefined where another user may not run Node here. */
function asNobody(args: readonly string[]): { status: number | null; stdout: string; stderr: string } | undefined {
  const isRoot = process.getuid?.() === 0
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 30_000,
    // A place where that user may keep what Node has compiled.
    env: { ...process.env, NODE_COMPILE_CACHE: pathOf('compiled') },
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  })
  return error !== undefined || /EACCES|cannot find module/i.test(stderr) ? undefined : { status, stdout, stderr }
}

describe('an engine that is read-only', () => {
  it('answers writes with 405, on every path, and reads as ever', async () => {
    await using engine = await RestEngine.create({
      entities: [Note],
      seed: { notes: [{ text: 'a' }] },
      readOnly: true,
      routes: [
        { method: 'POST', path: '/{version}/find', handler: () => ({ body: {} }) },
        {
          method: 'GET',
          path: '/{version}/find',
          handler: async ctx => ({ body: (await ctx.engine.handle('POST', '/v1/notes', {}, {})).status }),
        },
      ],
    })
    for (const [method, path] of [
      ['POST', '/v1/notes'],
      ['PUT', '/v1/notes/1'],
      ['PATCH', '/v1/notes/1/text'],
      ['DELETE', '/v1/notes/1'],
      ['POST', '/v1/find'],
      ['POST', '/v1/login'],
    ] as const) {
      const answer = await engine.handle(method, path, undefined, method === 'DELETE' ? undefined : {})
      const allow = ['/v1/notes/1/text', '/v1/find'].includes(path) ? 'GET, HEAD, OPTIONS' : 'GET, HEAD, QUERY, OPTIONS'
      assert.deepEqual([answer.status, answer.headers['allow']], [405, allow], `${method} ${path}`)
      assert.deepEqual((answer.body as { code?: unknown }).code, 'method_not_allowed')
    }
    for (const path of ['/v1/notes', '/v1/notes/1', '/v1/find', '/v1'])
      assert.doesNotMatch(
        (await engine.handle('OPTIONS', path)).headers['allow'] ?? '',
        /P|DEL/.exec(path) ? /^$/ : /POST|PUT|PATCH|DELETE/,
      )
    assert.equal((await engine.handle('PURGE', '/v1/notes')).headers['allow'], 'GET, HEAD, QUERY, OPTIONS')
    assert.equal((await engine.handle('GET', '/v1/find')).body, 405)
    assert.equal(await countOf(engine), 1)
    // Those who have made the engine are no clients.
    await engine.seed({ notes: [{ text: 'b' }] })
    assert.equal(await countOf(engine), 2)
    await using fork = await engine.fork()
    assert.equal((await fork.handle('DELETE', '/v1/notes/1')).status, 405)
  })

  it('lets users log in and out, as a read-only server does', async () => {
    const users = [{ email: 'ann@example.test', password: await hashPassword('secret') }]
    const world = { entities: [User, Note], auth: auth({ entity: User }), seed: { users } }
    await using reading = await RestEngine.create({ ...world, readOnly: true })
    await using engine = await RestEngine.create(world)
    const server = createServer(engine, { readOnly: true }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const overHttp = async (method: string, path: string, body?: object, token?: string) => {
      const headers = { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: (text === '' ? undefined : JSON.parse(text)) as unknown,
      }
    }
    const inProcess: typeof overHttp = async (method, path, body, token) =>
      reading.handle(method, path, undefined, body, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
    try {
      for (const ask of [overHttp, inProcess]) {
        const answer = await ask('POST', '/v1/login', { email: 'ann@example.test', password: 'secret' })
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        const { auth_token: token } = answer.body as { auth_token: string }
        assert.equal((await ask('GET', '/v1/notes', undefined, token)).status, 200)
        assert.equal((await ask('POST', '/v1/notes', { text: 'x' }, token)).status, 405)
        assert.match((await ask('OPTIONS', '/v1/login')).headers['allow'] ?? '', /POST/)
        assert.match((await ask('PURGE', '/v1/login', undefined, token)).headers['allow'] ?? '', /POST/)
        assert.equal((await ask('POST', '/v1/logout', {}, token)).status, 200)
        assert.equal((await ask('GET', '/v1/notes', undefined, token)).status, 401)
      }
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('takes true or false, and no seed for a file', async () => {
    await assert.rejects(RestEngine.create({ entities: [Note], readOnly: 1 as never }), {
      name: 'TypeError',
      message: /"readOnly" must be true or false/,
    })
    await assert.rejects(
      RestEngine.create({ entities: [Note], database: fileOf(NOTES), readOnly: true, seed: {} }),
      /"seed" would write to the file/,
    )
  })
})

describe('a file that is opened for reading only', () => {
  for (const mode of ['delete', 'wal'] as const) {
    it(`stays as it is, and so does its folder (journal_mode ${mode})`, async () => {
      const path = fileOf(NOTES, mode)
      const before = stateOf(path)
      for (const options of [{ database: path }, { database: path, entities: [Note] }]) {
        const engine = await RestEngine.create({ ...options, readOnly: true })
        assert.equal(await countOf(engine), 2)
        await assert.rejects(engine.seed({ notes: [{ text: 'c' }] }), /open for reading only/)
        await assert.rejects(engine.given('note'), /open for reading only/)
        await assert.rejects(engine.orm.em.fork().getConnection().execute('delete from note'), /readonly database/)
        assert.equal(await engine.orm.em.fork().transactional(async em => (await em.getConnection().execute('select 1')).length), 1)
        const snapshot = await engine.snapshot()
        await assert.rejects(engine.restore(snapshot), /open for reading only/)
        await engine.reset()
        await using fork = await engine.fork()
        await fork.seed({ notes: [{ text: 'c' }] })
        assert.equal(await countOf(fork), 3)
        await engine.close()
      }
      assert.deepEqual(stateOf(path), before)
    })

    it(`shows what others write meanwhile (journal_mode ${mode})`, async () => {
      const path = fileOf(NOTES, mode)
      await using engine = await RestEngine.create({ database: path, readOnly: true })
      const other = new Database(path)
      other.exec("insert into note values (3, 'c')")
      assert.equal(await countOf(engine), 3)
      other.close()
      assert.equal(await countOf(engine), 3)
    })
  }

  it('is read with what is in its write-ahead log, beside whoever writes, and after a crash', async () => {
    const path = fileOf(NOTES, 'wal')
    const other = new Database(path)
    other.exec("insert into note values (3, 'c')")
    const besideIt = await RestEngine.create({ database: path, readOnly: true })
    assert.equal(await countOf(besideIt), 3)
    other.exec("insert into note values (4, 'd')")
    assert.equal(await countOf(besideIt), 4)
    // As a process that was killed leaves them on another machine: the log, without its index.
    const crashed = pathOf(crypto.randomUUID())
    mkdirSync(crashed)
    for (const suffix of ['', '-wal']) cpSync(path + suffix, join(crashed, `data.sqlite${suffix}`))
    await besideIt.close()
    other.close()
    const copy = join(crashed, 'data.sqlite')
    const before = stateOf(copy)
    assert.ok('data.sqlite-wal' in before)
    const engine = await RestEngine.create({ database: copy, readOnly: true })
    assert.equal(await countOf(engine), 4)
    await engine.close()
    assert.deepEqual(stateOf(copy), before)
  })

  it('must be there, and have what the entities need', async () => {
    const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary(), notes: () => p.manyToMany(Note) } })
    const Longer = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), text: p.string(), author: p.string().nullable() },
    })
    const missing = pathOf()
    await assert.rejects(RestEngine.create({ entities: [Note], database: missing, readOnly: true }), {
      message: `${missing} does not exist: there must be a file to read.`,
    })
    const path = fileOf(NOTES)
    await assert.rejects(RestEngine.create({ entities: [Note, Other], database: path, readOnly: true }), {
      message: `${path} lacks what the entities need, and is opened for reading only, so that it cannot be made: "other", "other_notes".`,
    })
    await assert.rejects(RestEngine.create({ entities: [Longer], database: path, readOnly: true }), {
      message: `${path} lacks what the entities need, and is opened for reading only, so that it cannot be made: "note"."author".`,
    })
    assert.deepEqual(
      rowsOf(path, 'select name from sqlite_schema').map(({ name }: { name: string }) => name),
      ['note'],
    )
  })

  it('is refused when half a change is in it', async () => {
    const path = fileOf(NOTES)
    const db = new Database(path)
    db.pragma('cache_size = 1')
    db.exec(
      `begin; create table filler (x blob); insert into filler select randomblob(3000) from (${'select 1 union all '.repeat(99)}select 1)`,
    )
    const folder = pathOf(crypto.randomUUID())
    cpSync(dirname(path), folder, { recursive: true })
    db.exec('rollback')
    db.close()
    const copy = join(folder, 'data.sqlite')
    await assert.rejects(RestEngine.create({ database: copy, readOnly: true }), /holds half of a change that was cut off/)
  })
})

describe('a file that may not be written', () => {
  interface Case {
    readonly name: string
    readonly path: string
    readonly folder: string
    readonly before: Record<string, unknown>
  }
  const cases: Case[] = []
  before(() => {
    for (const mode of ['delete', 'wal'] as const)
      for (const what of ['the file', 'the file and its folder', 'the folder'] as const) {
        const path = fileOf(NOTES, mode)
        const folder = dirname(path)
        chmodSync(dirname(folder), 0o755)
        chmodSync(path, what === 'the folder' ? 0o666 : 0o444)
        chmodSync(folder, what === 'the file' ? 0o777 : 0o555)
        cases.push({ name: `${what}, journal_mode ${mode}`, path, folder, before: stateOf(path) })
      }
  })
  after(() => {
    for (const { folder } of cases) chmodSync(folder, 0o777)
  })

  it('is served by the command, for which nothing has to be written to answer --get, and refused in one line for writing', context => {
    const lines = cases.flatMap(({ path }) => [
      [path, '--get', '/v1/notes'],
      [path, '--port', '0'],
    ])
    const ended = asNobody(argumentsOfAll(lines))
    if (ended === undefined) return context.skip('another user may not run Node here')
    assert.equal(ended.status, 0, ended.stderr)
    const results = JSON.parse(ended.stdout) as Ended[]
    for (const [index, { name, path, before }] of cases.entries()) {
      const [answer, refused] = results.slice(index * 2)
      assert.equal(answer!.code, 0, `${name}: ${answer!.stderr}`)
      assert.equal((JSON.parse(answer!.stdout) as { count: number }).count, 2, name)
      assert.equal(refused!.code, 1, name)
      assert.match(refused!.stderr, /^mikro-rest: [^\n]+ read-only[^\n]+\(--read-only\) serves it for reading\.\n$/, name)
      assert.deepEqual(stateOf(path), before, name)
    }
  })

  it('is served read-only by an engine', context => {
    const script = `
      import { RestEngine } from ${JSON.stringify(LIBRARY)}
      for (const database of ${JSON.stringify(cases.map(({ path }) => path))}) {
        const engine = await RestEngine.create({ database, readOnly: true })
        console.log((await engine.handle('GET', '/v1/notes')).body.count, (await engine.handle('DELETE', '/v1/notes/1')).status)
        await engine.close()
      }`
    const served = asNobody(['--input-type=module', '-e', script])
    if (served === undefined) return context.skip('another user may not run Node here')
    assert.deepEqual([served.stdout, served.stderr], ['2 405\n'.repeat(cases.length), ''])
    for (const { name, path, before } of cases) assert.deepEqual(stateOf(path), before, name)
  })
})
