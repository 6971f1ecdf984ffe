/** SQLite files as they lie there: never changed in their schema, refused in one clear line when they cannot be served. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { RestEngine } from '../../../lib/index.ts'
import { COMMAND, ROOT } from '../../helpers/command.ts'
import { fileOf, pathOf, rowsOf, serve } from './world.ts'

const SQL = `
  create table author (id integer primary key, name text);
  create table book (id integer primary key, title text, author_id integer references author);
  create index by_title on book (title);
  create view titles as select title from book;
  create trigger t after insert on book begin update author set name = name where id = new.author_id; end;
  insert into author values (1, 'Ann');
  insert into book values (1, 'Emma', 1);
  pragma user_version = 7;
`

/** A file of several pages. */
function pagesOf(): Buffer {
  return readFileSync(fileOf(`${SQL} create table filler (x blob); insert into filler values (zeroblob(100000));`))
}

function changed(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  change(bytes)
  return bytes
}

function command(args: readonly string[]) {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8', timeout: 30_000 })
}

describe('files', () => {
  it('keep their schema and settings, byte by byte, through reads and writes', async () => {
    const path = fileOf(SQL)
    const state = () => [
      rowsOf(path, 'select * from sqlite_schema'),
      ...['user_version', 'journal_mode', 'encoding', 'page_size', 'application_id', 'auto_vacuum', 'schema_version'].map(name =>
        rowsOf(path, `pragma ${name}`),
      ),
    ]
    const before = state()
    {
      await using file = await serve({ path })
      await file.get('books?sort=author.name&title~=*e*&depth=2')
      await file.write('POST', 'books', { title: 'New', author: { name: 'Bob' } })
      await file.write('PUT', 'authors/1', { name: 'Anna', books: [] })
      await file.write('DELETE', 'books/1')
      const snapshot = await file.engine.snapshot()
      await file.write('POST', 'authors', {})
      await file.engine.restore(snapshot)
      await file.engine.reset()
      await file.write('POST', 'authors', { name: 'Last' })
      const fork = await file.engine.fork()
      assert.equal((await fork.handle('GET', '/v1/authors/2')).status, 200)
      await fork.close()
    }
    // A restored file has another count of changes of its schema, which says nothing of the schema itself.
    assert.deepEqual(state().slice(0, -1), before.slice(0, -1))
    assert.deepEqual(rowsOf(path, 'select name from author order by id'), [{ name: 'Ann' }, { name: 'Last' }])
  })

  it('are seen as other processes change them', async () => {
    const path = fileOf(SQL)
    await using file = await serve({ path })
    const other = new Database(path)
    other.exec("insert into author values (5, 'Other')")
    assert.deepEqual((await file.get('authors/5')).name, 'Other')
    assert.equal((await file.write('POST', 'authors', {})).id, 6)
    other.close()
  })

  const refused: readonly (readonly [string, () => string, RegExp])[] = [
    ['missing', () => pathOf('missing.sqlite'), /does not exist/],
    ['empty', () => written(Buffer.alloc(0)), /is empty/],
    ['a text', () => written(Buffer.from('hello, this is not a database')), /is not a SQLite database/],
    ['random bytes, as an encrypted one is', () => written(randomBytes(8192)), /not a SQLite database, or an encrypted one/],
    ['cut short', () => written(pagesOf().subarray(0, 9000)), /is cut short: \d+ of its \d+ bytes are missing/],
    ['cut inside its header', () => written(pagesOf().subarray(0, 50)), /is cut short/],
    ['of a newer format to read', () => written(changed(pagesOf(), bytes => bytes.writeUInt8(3, 19))), /newer format/],
    ['of a newer format to write', () => written(changed(pagesOf(), bytes => bytes.writeUInt8(3, 18))), /newer format/],
    ['of a newer schema format', () => written(changed(pagesOf(), bytes => bytes.writeUInt32BE(5, 44))), /newer format/],
    ['damaged', () => written(changed(pagesOf(), bytes => bytes.fill(0xff, 100, 4096))), /is damaged/],
    ['without tables', () => fileOf('create table t (a); drop table t;'), /has no tables/],
    ['a folder', () => folderOf(), /is not a file/],
  ]

  function written(bytes: Buffer): string {
    const path = pathOf()
    writeFileSync(path, bytes)
    return path
  }

  function folderOf(): string {
    const path = pathOf()
    mkdirSync(path)
    return path
  }

  for (const [what, make, message] of refused) {
    it(`that are ${what} are refused in one line`, async () => {
      const path = make()
      await assert.rejects(RestEngine.create({ database: path }), (error: Error) => {
        assert.match(error.message, message)
        assert.ok(error.message.includes(path))
        assert.doesNotMatch(error.message, /\n/)
        return true
      })
    })
  }

  it('that a process killed amid a commit has left are as before the commit', async () => {
    const path = fileOf(SQL)
    const { size } = statSync(path)
    const writer = new Database(path)
    // A cache of one page makes SQLite write the journal before the commit.
    writer.exec('pragma cache_size = 1; begin; create table filler (x blob); insert into filler values (zeroblob(100000))')
    const journal = readFileSync(`${path}-journal`)
    writer.exec('commit')
    writer.close()
    writeFileSync(`${path}-journal`, journal)
    truncateSync(path, size)
    await using file = await serve({ path })
    assert.equal((await file.get('authors/1')).name, 'Ann')
    assert.deepEqual(rowsOf(path, "select name from sqlite_schema where name = 'filler'"), [])
    assert.ok(!existsSync(`${path}-journal`))
  })

  it('that another process has locked are refused in one line', async () => {
    const path = fileOf(SQL)
    const lock =
      `const db = require(${JSON.stringify(join(ROOT, 'node_modules', 'better-sqlite3'))})(process.argv[1]); ` +
      "db.exec('begin exclusive'); console.log('locked'); setInterval(() => {}, 1000)"
    const holder = spawn(process.execPath, ['-e', lock, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await new Promise(resolve => holder.stdout.once('data', resolve))
      await assert.rejects(RestEngine.create({ database: path }), { message: `${path} is locked by another process.` })
    } finally {
      holder.kill()
    }
  })

  it('go without entities only when they are files', async () => {
    await assert.rejects(RestEngine.create({}), /"entities" must be given, or "database"/)
    await assert.rejects(RestEngine.create({ database: ':memory:' }), /"entities" must be given, or "database"/)
    await assert.rejects(RestEngine.create({ database: fileOf(SQL), schema: 'update' }), /"schema" must be "keep"/)
    await assert.rejects(RestEngine.create({ entities: [], database: fileOf(SQL) }), /"entities" must be an array/)
  })

  it('are served by the command, without a model', () => {
    const path = fileOf(SQL)
    const answer = command([path, '--get', '/v1/books?expand=author'])
    assert.equal(answer.status, 0, answer.stderr)
    const body = JSON.parse(answer.stdout) as { books: unknown }
    assert.deepEqual(body.books, [{ id: 1, title: 'Emma', author: { id: 1, name: 'Ann', books: [1] } }])
    const failed = command([written(Buffer.from('SQLite format 3\0')), '--get', '/v1'])
    assert.match(failed.stderr, /^mikro-rest: [^\n]+ is cut short[^\n]+\n$/)
    assert.equal(failed.status, 1)
    assert.match(command([written(randomBytes(4096)), '--get', '/v1']).stderr, /^mikro-rest: [^\n]+\n$/)
  })
})
