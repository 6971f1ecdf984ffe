/** `--eject` of a PostgreSQL database: what is written serves the same. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eject } from '../../lib/doors/cli/eject.ts'
import { importModule } from '../../lib/doors/cli/modules.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { COMMAND } from '../helpers/command.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

const TABLES = `
  create type mood as enum ('sad', 'ok');
  create domain posint as int check (value > 0);
  create table author (id int generated always as identity primary key, name varchar(20) not null unique, born date, mentor_id int references author);
  create table book (code char(5) primary key, title text not null default 'new', author_id int not null references author on delete cascade, price numeric(10,2),
    exact numeric, m mood default 'ok', n posint, ip inet, iv interval, tags text[], counts int[], rates float8[], flags boolean[], j json, f real, at timestamp default now(),
    twice text generated always as (title || title) stored, state text check (state in ('a', 'b')));
  create table tag (id bigserial primary key, label text);
  create table book_tag (code char(5) references book, tag_id bigint references tag, primary key (code, tag_id));
  create table "Odd Name" (id uuid primary key default gen_random_uuid(), "select" smallint);
  create table log (what text);
  create view heading as select title, m from book;
  insert into author (name, born) values ('Ann', '1990-01-02');
  insert into book (code, author_id, price, exact, ip, iv, tags, counts, rates, flags, j, f, at) values ('ab', 1, 1.5, 2.50, '::1', '1 day', '{a,NULL}', '{{1,2},{3,NULL}}', '{1.5,NaN}', '{t}', '[1]', 0.1, '2020-01-02');
  insert into tag (label) values ('x'); insert into book_tag values ('ab', 1); insert into log values ('x')`

const REQUESTS: readonly (readonly [string, string, unknown?])[] = [
  ...['authors', 'books', 'tags', 'odd_names', 'logs', 'headings'].map(name => ['GET', `/v1/${name}?depth=2`] as const),
  ['GET', '/v1/books?ip=::1&m=ok&f=0.1&sort=iv'],
  ['PATCH', '/v1/books/ab', { ip: '::2', iv: '2 days', m: 'sad', counts: [[5]], flags: [false, null], tags: ['a,b'], n: 3, exact: '1.50' }],
  ['PATCH', '/v1/books/ab', { m: 'none' }],
  ['POST', '/v1/authors', { name: 'Ann' }],
  ['POST', '/v1/logs', {}],
  ['PUT', '/v1/tags/1', { books: [] }],
]

describe('--eject of a PostgreSQL database', { skip: await findNoServer() }, () => {
  it('writes entities that serve the same, and no password', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(TABLES)
    const folder = await mkdtemp(join(root, 'node_modules', '.mikro-rest-'))
    try {
      await mkdir(join(folder, 'node_modules'))
      const database = { ...schema.database, url: schema.database.url.replace(/\/\/(\w+)(?::[^@]*)?@/, '//$1:geheim@') }
      {
        await using engine = await RestEngine.create({ database, readOnly: true })
        const { notes } = await eject(engine, { options: { database }, running: {}, title: 'x', examples: undefined }, join(folder, 'out'))
        assert.deepEqual(notes, [])
      }
      const text = await readFile(join(folder, 'out', 'index.ts'), 'utf8')
      assert.ok(!text.includes('geheim') && text.includes("process.env['DATABASE_URL'] ?? 'postgres://"), text)
      assert.match(await readFile(join(folder, 'out', 'package.json'), 'utf8'), /"@mikro-orm\/postgresql".*"pg"/s)
      const book = await readFile(join(folder, 'out', 'entities', 'book.ts'), 'utf8')
      for (const line of [
        "ip: p.string().columnType('pg_catalog.inet').nullable(),",
        'counts: p.array(readNumber)',
        "m: p.enum(['sad', 'ok']).columnType('mood')",
      ])
        assert.ok(book.replaceAll(/\n\s*(?=\.)/g, '').includes(line), book)
      const options = (await importModule(join(folder, 'out', 'index.ts')))['default'] as EngineOptions
      await using served = await RestEngine.create({ database: schema.database })
      const expected = await ask(served)
      await schema.run("update author set name = 'Ann'; delete from book; delete from tag")
      await schema.run(
        TABLES.slice(TABLES.indexOf('insert into book '))
          .replace("insert into tag (label) values ('x')", "insert into tag values (1, 'x')")
          .replace(/insert into log.*/, ''),
      )
      await using written = await RestEngine.create({ ...options, database: schema.database })
      assert.deepEqual(await ask(written), expected)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is what the command does', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(TABLES)
    const folder = await mkdtemp(join(root, 'node_modules', '.mikro-rest-'))
    try {
      const { url, schema: name } = schema.database
      const run = spawnSync(process.execPath, [COMMAND, `${url}&schema=${name}`, '--eject', join(folder, 'out')], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.equal(run.status, 0, run.stderr)
      assert.match(await readFile(join(folder, 'out', 'index.ts'), 'utf8'), new RegExp(`schema: '${name}'`))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

async function ask(engine: RestEngine): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [method, path, given] of REQUESTS) {
    const { status, body } = await engine.handle(method, path, undefined, given)
    const { timestamp: _, ...others } = body as Record<string, unknown>
    answers.push([method, path, status, others])
  }
  return answers
}
