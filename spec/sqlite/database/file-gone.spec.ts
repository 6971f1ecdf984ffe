/** A file that is removed, replaced or written over while it is served: no write is answered as done that nobody finds again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { FileIdentity } from '../../../lib/databases/sqlite/database/file-identity.ts'
import { RestEngine, createServer, resource } from '../../../lib/index.ts'
import { Command, send } from '../../helpers/command.ts'
import { pathOf, rowsOf } from '../introspect/world.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

type Mode = 'wal' | 'delete'

function noteFile(mode: Mode, text = 'first'): string {
  const path = pathOf()
  const db = new Database(path)
  db.pragma(`journal_mode = ${mode}`)
  db.exec(`create table note (id integer primary key autoincrement, text text not null); insert into note (text) values ('${text}')`)
  db.close()
  return path
}

/** What happens to a file, by what other programs do. */
const GONE: Record<string, (path: string) => void> = {
  'was removed': path => rmSync(path),
  'was moved away': path => renameSync(path, `${path}.old`),
  'was replaced by another one': path => {
    const other = noteFile('delete', 'other')
    renameSync(other, path)
  },
  'was replaced by a copy of it': path => {
    copyFileSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
  },
  'was emptied': path => truncateSync(path),
}

const WRITES = [
  ['POST', '/v1/notes', { text: 'lost' }],
  ['PUT', '/v1/notes/1', { text: 'lost' }],
  ['DELETE', '/v1/notes/1', undefined],
] as const

describe('a file that is gone', () => {
  for (const mode of ['wal', 'delete'] as const) {
    it(`lets a server acknowledge no write (journal_mode ${mode})`, async () => {
      const path = noteFile(mode)
      await using served = new Command(dirname(path), path, '--port', '0')
      const origin = await served.origin()
      assert.equal((await send(origin, 'POST', '/v1/notes', { text: 'kept' })).status, 200)
      renameSync(path, `${path}.old`)
      for (const [method, target, body] of WRITES) {
        const answer = await send(origin, method, target, body)
        assert.deepEqual([answer.status, answer.body['code']], [500, 'database_failed'], method)
        assert.doesNotMatch(JSON.stringify(answer.body), /sqlite|removed|moved/i)
      }
      assert.match(served.stderr, /was removed while it was open: writes are refused/)
      renameSync(`${path}.old`, path)
      assert.equal((await send(origin, 'POST', '/v1/notes', { text: 'late' })).status, 200, 'it may come back')
      await served.stop()
      assert.deepEqual(rowsOf(path, 'select text from note'), [{ text: 'first' }, { text: 'kept' }, { text: 'late' }])
    })

    for (const [what, happens] of Object.entries(GONE)) {
      it(`lets nothing be acknowledged when it ${what} (journal_mode ${mode})`, async () => {
        const path = noteFile(mode)
        const errors: unknown[] = []
        await using engine = await RestEngine.create({ entities: [Note], database: path, onError: error => errors.push(error) })
        assert.equal((await engine.handle('POST', '/v1/notes', undefined, { text: 'kept' })).status, 200)
        happens(path)
        for (const [method, target, sent] of WRITES) {
          const { status, body } = await engine.handle(method, target, undefined, sent)
          assert.deepEqual([status, (body as { code: string }).code], [500, 'database_failed'], `${what}: ${method}`)
        }
        assert.match(String(errors[0]), /was (?:removed|replaced|emptied)/)
      })
    }
  }

  it('is looked at once for the writes of sockets in one turn of the event loop, and at most every five milliseconds', async () => {
    const path = noteFile('wal')
    const db = new Database(path)
    const identity = new FileIdentity(db, path)
    identity.checkWrite(true)
    rmSync(path)
    identity.checkWrite(true)
    assert.throws(() => identity.checkWrite(false), /was removed/, 'a write that shares no check')
    const end = performance.now() + 6
    while (performance.now() < end);
    assert.throws(() => identity.checkWrite(true), /was removed/, 'after five milliseconds')
    writeFileSync(path, '')
    const other = new FileIdentity(db, path)
    other.checkWrite(true)
    rmSync(path)
    await turn()
    assert.throws(() => other.checkWrite(true), /was removed/, 'in the next turn')
    db.close()
  })

  it('is noticed by a write over HTTP in the same turn, where a hook has removed the file', async () => {
    const path = noteFile('wal')
    let removes = false
    await using engine = await RestEngine.create({
      entities: [Note],
      database: path,
      onError: () => {},
      resources: [
        resource(Note, {
          create: async (_, next) => {
            const created = await next()
            if (removes) rmSync(path)
            return created
          },
        }),
      ],
    })
    const server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const write = async (method: string, target: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`http://127.0.0.1:${port}/v1/notes${target}`, { method, headers, body: '{"text":"x"}' })).status
    }
    const writeAll = (): Promise<number[]> =>
      Promise.all([write('PUT', '/1'), write('PUT', '/1'), write('PUT', '/1'), write('PUT', '/1'), write('POST', '')])
    assert.deepEqual(await writeAll(), [200, 200, 200, 200, 200])
    removes = true
    assert.deepEqual((await writeAll()).at(-1), 500)
    server.closeAllConnections()
    server.close()
  })

  it('is noticed by a write over HTTP in the same turn, where a rule has removed the file', async () => {
    const path = noteFile('wal')
    let removes = false
    const rule = (): boolean => {
      if (removes) rmSync(path)
      return true
    }
    await using engine = await RestEngine.create({
      entities: [Note],
      database: path,
      onError: () => {},
      resources: [resource(Note, { access: { delete: rule } })],
    })
    const server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    // The server takes both requests of a chunk in one turn.
    const writeBoth = async (id: number): Promise<readonly string[]> => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      const head = 'host: localhost\r\ncontent-type: application/json\r\n'
      socket.write(
        `PUT /v1/notes/1 HTTP/1.1\r\n${head}content-length: 12\r\n\r\n{"text":"x"}` +
          `DELETE /v1/notes/${id} HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
      )
      return (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g)!
    }
    await engine.handle('POST', '/v1/notes', undefined, { text: 'second' })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'third' })
    assert.deepEqual(await writeBoth(2), ['200', '200'])
    removes = true
    assert.deepEqual(await writeBoth(3), ['200', '500'])
    server.close()
  })

  it('is left alone by a write to the file that was there before, which makes no journal at the path', async () => {
    const path = noteFile('delete')
    const db = new Database(path)
    db.function('look', () => 1)
    db.exec('drop table note; create table note (id integer primary key, text text not null check (look() > 0))')
    db.close()
    let looks = 0
    await using engine = await RestEngine.create({
      entities: [Note],
      database: path,
      functions: { look: () => ++looks },
      onError: () => {},
    })
    assert.equal((await engine.handle('POST', '/v1/notes', undefined, { text: 'kept' })).status, 200)
    assert.equal(looks, 1)
    renameSync(noteFile('delete', 'other'), path)
    assert.equal((await engine.handle('POST', '/v1/notes', undefined, { text: 'lost' })).status, 500)
    assert.equal(looks, 1, 'no row was written, and so no journal was made')
    assert.deepEqual(rowsOf(path, 'select text from note'), [{ text: 'other' }])
  })

  it('is named where SQLite finds a page of another file before the write ends', async () => {
    const path = noteFile('wal')
    const errors: unknown[] = []
    await using engine = await RestEngine.create({ entities: [Note], database: path, onError: error => errors.push(error) })
    // More than the pages that SQLite keeps in memory.
    await engine.seed({ notes: Array.from({ length: 5000 }, (_, index) => ({ text: `${index}`.repeat(300) })) })
    const db = new Database(path)
    db.pragma('wal_checkpoint(truncate)')
    db.close()
    writeFileSync(path, 'x'.repeat(statSync(path).size))
    assert.equal((await engine.handle('PUT', '/v1/notes/100', undefined, { text: 'x' })).status, 500)
    assert.match(String(errors[0]), /was written over/)
  })

  it('is noticed where a write takes its time, and by statements of the application outside of a transaction', async () => {
    const path = noteFile('wal')
    const errors: unknown[] = []
    await using engine = await RestEngine.create({
      entities: [Note],
      database: path,
      onError: error => errors.push(error),
      resources: [
        resource(Note, {
          create: async (_, next) => {
            const created = await next()
            rmSync(path)
            return created
          },
        }),
      ],
    })
    const { status, body } = await engine.handle('POST', '/v1/notes', undefined, { text: 'x' })
    assert.deepEqual([status, (body as { code: string }).code], [500, 'database_failed'])
    assert.match(String(errors[0]), /was removed while it was open: writes are refused/)
    await assert.rejects((engine.orm.em.fork() as EntityManager).execute("insert into note (text) values ('x')"), /was removed/)
    await assert.rejects(engine.reset(), /was removed/)
    // What has been opened can still be read.
    const list = await engine.handle('GET', '/v1/notes')
    assert.equal((list.body as { count: number }).count, 1)
  })

  for (const [what, write] of [
    ['another database', (path: string) => copyFileSync(otherFile(), path)],
    ['what is none', (path: string) => writeFileSync(path, 'x'.repeat(100_000))],
    ['a part of it', (path: string) => truncateSync(path, 8192)],
  ] as const) {
    it(`may have been written over with ${what}, which SQLite would not notice with a write-ahead log`, async () => {
      const path = noteFile('wal')
      const errors: unknown[] = []
      await using engine = await RestEngine.create({ entities: [Note], database: path, onError: error => errors.push(error) })
      await engine.seed({ notes: Array.from({ length: 1000 }, (_, index) => ({ text: `${index}`.repeat(50) })) })
      const db = new Database(path)
      db.pragma('wal_checkpoint(truncate)')
      db.close()
      assert.equal((await engine.handle('DELETE', '/v1/notes/1')).status, 200, 'a log that is written back is no failure')
      const again = new Database(path)
      again.pragma('wal_checkpoint(truncate)')
      again.close()
      write(path)
      const { status, body } = await engine.handle('POST', '/v1/notes', undefined, { text: 'x' })
      // Where SQLite has read the other database by itself, it has no such table.
      const code = /no such table/.test(String(errors[0])) ? 'internal_error' : 'database_failed'
      assert.deepEqual([status, (body as { code: string }).code], [500, code], String(errors[0]))
    })
  }

  it('is not one that others write to, whatever they do to it', async () => {
    for (const mode of ['wal', 'delete'] as const) {
      const path = noteFile(mode)
      await using engine = await RestEngine.create({ entities: [Note], database: path, onError: error => assert.fail(String(error)) })
      const other = new Database(path)
      for (const sql of [
        'insert into note (text) select hex(randomblob(2000)) from (select 1 union select 2 union select 3)',
        'create table more (a)',
        'pragma wal_checkpoint(truncate)',
        'delete from note where id > 2',
        'vacuum',
        'pragma wal_checkpoint(truncate)',
      ]) {
        other.exec(sql)
        const { status, body } = await engine.handle('POST', '/v1/notes', undefined, { text: 'y' })
        assert.equal(status, 200, `${mode} ${sql}: ${JSON.stringify(body)}`)
      }
      other.close()
    }
  })
})

function otherFile(): string {
  const path = pathOf()
  const db = new Database(path)
  db.exec('create table a (b); create table c (d); create table e (f)')
  db.close()
  return path
}
