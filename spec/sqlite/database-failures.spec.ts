/**
 * Failures of the database at run time: locks of other processes, a full disk, a file that is damaged or taken away. Real ones, all of
 * them.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine, createServer } from '../../lib/index.ts'
import { ROOT } from '../helpers/command.ts'
import { pathOf, rowsOf } from './introspect/world.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

/** Another process that does what SQL it is told. */
class Other implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #answers: AsyncIterator<string>

  constructor(path: string) {
    const code = `
      const db = require(${JSON.stringify(join(ROOT, 'node_modules', 'better-sqlite3'))})(process.argv[1])
      require('node:readline').createInterface(process.stdin).on('line', sql => { db.exec(sql); console.log('done') })`
    this.#child = spawn(process.execPath, ['-e', code, path], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#answers = createInterface(this.#child.stdout!)[Symbol.asyncIterator]()
  }

  async run(sql: string): Promise<void> {
    this.#child.stdin!.write(`${sql}\n`)
    assert.equal((await this.#answers.next()).value, 'done', sql)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    await new Promise(resolve => this.#child.once('close', resolve))
  }
}

interface Told {
  readonly path: string
  readonly errors: unknown[]
  readonly engine: RestEngine
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Record<string, unknown> }>
}

async function start(mode: 'wal' | 'delete', path = pathOf()): Promise<Told> {
  const errors: unknown[] = []
  new Database(path).close()
  const db = new Database(path)
  db.pragma(`journal_mode = ${mode}`)
  db.exec('create table note (id integer primary key autoincrement, text text not null)')
  const insert = db.prepare("insert into note (text) values ('x' || hex(zeroblob(500)))")
  for (let count = 0; count < 100; count++) insert.run()
  db.close()
  const engine = await RestEngine.create({ entities: [Note], database: path, schema: 'keep', onError: error => errors.push(error) })
  return {
    path,
    errors,
    engine,
    ask: async (method, target, sent) => {
      const { body, ...answer } = await engine.handle(method, target, undefined, sent)
      return { ...answer, body: body as Record<string, unknown> }
    },
  }
}

const LIST = '/v1/notes?limit=1'

// Most of it is waiting: five seconds for each lock that stays.
describe('a lock of another process', { concurrency: true }, () => {
  for (const mode of ['wal', 'delete'] as const) {
    it(`is waited for, and holds up no reader (journal_mode ${mode})`, async () => {
      const { engine, ask, errors, path } = await start(mode)
      await using _ = engine
      // From the second one on, a write waits for nothing but locks.
      assert.equal((await ask('PUT', '/v1/notes/1', { text: 'early' })).status, 200)
      await using other = new Other(path)
      await other.run('begin immediate')
      const writing = ask('POST', '/v1/notes', { text: 'late' })
      const began = performance.now()
      for (let count = 0; count < 20; count++) {
        assert.equal((await ask('GET', LIST)).status, 200)
        await wait(5)
      }
      // A write waits for five seconds.
      assert.ok(performance.now() - began < 4500, 'reading went on')
      await other.run("insert into note (text) values ('theirs'); commit")
      const { status, body } = await writing
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(rowsOf(path, 'select text from note where id > 100'), [{ text: 'theirs' }, { text: 'late' }])
      assert.deepEqual(errors, [])
    })

    it(`that stays is 503 with Retry-After, and nothing is half written (journal_mode ${mode})`, async () => {
      const { engine, ask, errors, path } = await start(mode)
      await using _ = engine
      await using other = new Other(path)
      await other.run('begin immediate')
      const began = performance.now()
      const answers = await Promise.all([
        ask('POST', '/v1/notes', { text: 'a' }),
        ask('PUT', '/v1/notes/1', { text: 'b' }),
        ask('DELETE', '/v1/notes/2'),
        wait(2000).then(async () => ask('GET', LIST)),
      ])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [503, 503, 503, 200],
      )
      assert.ok(performance.now() - began < 14_000, 'those who wait in line do not wait longer together')
      const { headers, body } = answers[0]
      assert.equal(headers['retry-after'], '1')
      assert.deepEqual([body['code'], body['title']], ['database_busy', 'The database is locked'])
      assert.equal(errors.length, 3)
      assert.equal((errors[0] as { code: string }).code, 'SQLITE_BUSY')
      await other.run('rollback')
      assert.deepEqual(rowsOf(path, "select count(*) as n from note where text like 'x%'"), [{ n: 100 }])
      assert.equal((await ask('POST', '/v1/notes', { text: 'c' })).status, 200)
    })
  }

  it('that lets nobody read is waited for by readers', async () => {
    const { engine, ask, path } = await start('delete')
    await using _ = engine
    await using other = new Other(path)
    await other.run('begin exclusive')
    const reading = [ask('GET', LIST), ask('GET', '/v1/notes/7'), engine.orm.em.fork().count(Note)] as const
    await wait(100)
    await other.run("insert into note (text) values ('theirs'); commit")
    const [list, record, count] = await Promise.all(reading)
    assert.deepEqual([list.body['count'], record.status, count], [101, 200, 101])
    await other.run('begin exclusive')
    const refused = await ask('GET', LIST)
    assert.deepEqual([refused.status, refused.body['code'], refused.headers['retry-after']], [503, 'database_busy', '1'])
  })

  it('of one who reads is waited for before the commit', async () => {
    const { engine, ask, path } = await start('delete')
    await using _ = engine
    await using other = new Other(path)
    await other.run('begin; select count(*) from note')
    const writing = ask('POST', '/v1/notes', { text: 'late' })
    await wait(100)
    await other.run('commit')
    assert.equal((await writing).status, 200)
    await other.run('begin; select count(*) from note')
    assert.equal((await ask('POST', '/v1/notes', { text: 'never' })).status, 503)
    await other.run('commit')
    assert.equal((await ask('POST', '/v1/notes', { text: 'after' })).status, 200)
    assert.deepEqual(
      rowsOf(path, 'select text from note where id > 100').map(({ text }: { text: string }) => text),
      ['late', 'after'],
    )
  })

  it('is told over HTTP', async () => {
    const { engine, path } = await start('wal')
    await using _ = engine
    await using other = new Other(path)
    await other.run('begin immediate')
    const server = createServer(engine).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
      const { port } = server.address() as { port: number }
      const response = await fetch(`http://127.0.0.1:${port}/v1/notes/1`, { method: 'DELETE' })
      assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
      await response.text()
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('a database that fails', () => {
  /** Nothing of the cause is told, and the log has it. */
  function assertFailed({ status, body }: Awaited<ReturnType<Told['ask']>>, { errors, path }: Told, code: RegExp): void {
    assert.deepEqual([status, body['code'], body['title']], [500, 'database_failed', 'The database has failed'], JSON.stringify(body))
    assert.doesNotMatch(JSON.stringify(body), new RegExp(`SQLITE|disk|malformed|insert|select|${path}`, 'i'))
    assert.match((errors.at(-1) as { code: string }).code, code)
  }

  it('since the disk is full writes nothing, and goes on when there is room', async () => {
    const told = await start('delete')
    const { engine, ask, path } = told
    await using _ = engine
    const connection = engine.orm.em.getConnection()
    const size = statSync(path).size
    await connection.execute(`pragma max_page_count = ${size / 4096}`)
    assertFailed(await ask('POST', '/v1/notes', { text: 'y'.repeat(100_000) }), told, /SQLITE_FULL/)
    assert.equal((await ask('GET', LIST)).body['count'], 100)
    await connection.execute('pragma max_page_count = 100000')
    assert.equal((await ask('POST', '/v1/notes', { text: 'y'.repeat(100_000) })).status, 200)
    assert.deepEqual(rowsOf(path, 'select count(*) as n from note'), [{ n: 101 }])
  })

  it('since its file was moved away writes nothing', async () => {
    const told = await start('delete')
    await using _ = told.engine
    renameSync(told.path, `${told.path}.old`)
    assertFailed(await told.ask('POST', '/v1/notes', { text: 'y' }), told, /SQLITE_(?:READONLY|IOERR|CANTOPEN)/)
    assert.deepEqual(rowsOf(`${told.path}.old`, 'select count(*) as n from note'), [{ n: 100 }])
  })

  it('since a page is damaged says so of what is on it, and serves the rest', async () => {
    const told = await start('delete')
    await using _ = told.engine
    const file = openSync(told.path, 'r+')
    const { size } = statSync(told.path)
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, size - 4096)
    closeSync(file)
    assertFailed(await told.ask('GET', '/v1/notes/100'), told, /SQLITE_CORRUPT/)
    assertFailed(await told.ask('PUT', '/v1/notes/100', { text: 'y' }), told, /SQLITE_CORRUPT/)
    assert.equal((await told.ask('GET', '/v1/notes/1')).status, 200)
  })

  it('and has ended a transaction lets nothing else be written in it', async () => {
    const path = pathOf()
    const errors: unknown[] = []
    const { resource } = await import('../../lib/index.ts')
    await using engine = await RestEngine.create({
      entities: [Note],
      database: path,
      onError: error => errors.push(error),
      resources: [
        resource(Note, {
          create: async (ctx, next) => {
            // As the failure of a device does it.
            await ctx.em.execute('rollback')
            return next()
          },
        }),
      ],
    })
    const { status } = await engine.handle('POST', '/v1/notes', undefined, { text: 'y' })
    assert.equal(status, 500)
    assert.match(String(errors[0]), /has ended the transaction/)
    assert.deepEqual(rowsOf(path, 'select count(*) as n from note'), [{ n: 0 }])
    await engine.seed({ notes: [{ text: 'later' }] })
  })
})
