/** A process that is killed while it evolves leaves the old database or the new one, whole. `EVOLVE_KILLS=50` kills more often. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { LIBRARY } from '../helpers/command.ts'
import { NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'
import { ownSchema } from '../postgres/server-database.ts'

const SCRIPT = fileURLToPath(new URL('killed-process.ts', import.meta.url))
const ROWS = 5000
const KILLS = Number(process.env['EVOLVE_KILLS'] ?? 2)

/**
 * Runs the process, and kills it so many milliseconds after it has begun; undefined: never. Returns how long it took, and whether it was
 * done.
 */
async function run(database: unknown, killAfter?: number): Promise<{ took: number; isDone: boolean }> {
  const child = spawn(process.execPath, [SCRIPT, LIBRARY, JSON.stringify(database)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, errors] = ['', '']
  let began = 0
  child.stderr.on('data', chunk => (errors += String(chunk)))
  const ended = new Promise<void>(resolve => {
    child.once('close', () => resolve())
  })
  const begins = new Promise<void>(resolve => {
    child.stdout.on('data', chunk => {
      out += String(chunk)
      if (!out.includes('begins') || began > 0) return
      began = performance.now()
      resolve()
    })
  })
  await Promise.race([begins, ended])
  if (killAfter !== undefined) {
    await wait(killAfter)
    child.kill('SIGKILL')
  }
  await ended
  if (killAfter === undefined) assert.match(out, /done/, errors)
  return { took: performance.now() - began, isDone: out.includes('done') }
}

const TABLES = `create table owner (id integer primary key, name text not null); insert into owner values (1, 'Ann');
  create table label (id integer primary key, name text not null); insert into label values (1, 'new'), (2, 'old');
  create table tag (id integer primary key, name text not null); insert into tag values (1, 'red'), (2, 'blue');
  create table item (id integer primary key, title text not null, amount text not null, street text, owner_id integer not null,
    label_id integer references label (id));
  create table item_tags (item_id integer references item (id), tag_id integer references tag (id), primary key (item_id, tag_id));
  create table gone (x integer); insert into gone values (1);`

/** Kills at moments that are spread over the whole time. */
async function killAll(took: number, once: (killAfter: number) => Promise<'old' | 'new'>): Promise<Record<'old' | 'new', number>> {
  const found = { old: 0, new: 0 }
  for (let kill = 0; kill < KILLS; kill++) found[await once((took * (kill + Math.random())) / KILLS)]++
  return found
}

describe('a process that is killed while it evolves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-killed-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('leaves the old file or the new one', async () => {
    const path = join(folder, 'app.sqlite')
    const make = (): void => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
      const db = new Database(path)
      db.exec(`${TABLES} create index by_title on item (title);
        with n (i) as (values (1) union all select i + 1 from n where i < ${ROWS})
        insert into item select i, 'title ' || i, cast(i * 3 as text), 'street ' || i, 1, 1 + i % 2 from n;
        insert into item_tags select id, 1 + id % 2 from item;`)
      db.close()
    }
    const look = (at = path): string => {
      const db = new Database(at)
      try {
        assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
        assert.deepEqual(db.pragma('foreign_key_check'), [])
        const hash = createHash('sha256').update(
          JSON.stringify(db.prepare('select type, name, sql from sqlite_schema order by name').all()),
        )
        const tables = db.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all() as string[]
        for (const table of tables)
          for (const row of db.prepare(`select * from "${table}" order by 1`).raw().iterate()) hash.update(JSON.stringify(row))
        return hash.digest('hex')
      } finally {
        db.close()
      }
    }
    make()
    const old = look()
    const { took } = await run(path)
    const evolved = look()
    assert.notEqual(evolved, old)
    const db = new Database(path)
    for (const links of ['article_labels', 'article where tag_id is not null'])
      assert.equal(db.prepare(`select count(*) from ${links}`).pluck().get(), ROWS)
    db.close()
    const found = await killAll(took, async killAfter => {
      make()
      const { isDone } = await run(path, killAfter)
      const now = look()
      assert.ok(now === old || now === evolved, `killed after ${killAfter.toFixed(0)} ms of ${took.toFixed(0)}`)
      if (isDone) assert.equal(now, evolved)
      // A copy that bears its name is whole.
      const copies = `${path}.copies`
      for (const name of existsSync(copies) ? readdirSync(copies).filter(each => each.endsWith('.sqlite')) : [])
        assert.equal(look(join(copies, name)), old)
      // The next start does what this one has not.
      if (now === old && killAfter < took / KILLS) {
        await run(path)
        assert.equal(look(), evolved)
      }
      return now === old ? 'old' : 'new'
    })
    assert.ok(existsSync(path))
    console.log(`# killed ${KILLS} times while it evolved a file: ${found.old} old, ${found.new} new`)
  })

  it('leaves the old tables of a server or the new ones', { skip: WITH_POSTGRES ? NO_SERVER : 'without PostgreSQL' }, async () => {
    await using own = ownSchema()
    const make = async (): Promise<void> => {
      await own.run(`drop schema if exists ${own.database.schema} cascade`)
      await own.run(`create schema ${own.database.schema}`)
      await own.run(`${TABLES} create index by_title on item (title);
        insert into item select i, 'title ' || i, (i * 3)::text, 'street ' || i, 1, 1 + i % 2
          from generate_series(1, ${ROWS}) as n (i);
        insert into item_tags select id, 1 + id % 2 from item;`)
    }
    const look = async (): Promise<string> => {
      const columns = await own.run(
        'select table_name, column_name, data_type, is_nullable from information_schema.columns ' +
          "where table_schema = current_schema() and table_name not like 'mikro%' order by 1, 2",
      )
      const states: unknown[] = [columns]
      for (const table of new Set(columns.map(({ table_name }) => String(table_name))))
        states.push(await own.run(`select md5(string_agg(t::text, '|' order by t::text)) as hash from "${table}" as t`))
      return JSON.stringify(states)
    }
    /** The server takes back what a killed process has begun, once it hears of its end. */
    const settled = async (): Promise<void> => {
      const others =
        "select 1 from pg_stat_activity where application_name like 'mikro-rest %' and pid <> pg_backend_pid() and state <> 'idle'"
      for (let waited = 0; waited < 10_000 && (await own.run(others)).length > 0; waited += 20) await wait(20)
    }
    await make()
    const old = await look()
    const { took } = await run(own.database)
    const evolved = await look()
    for (const links of ['article_labels', 'article where tag_id is not null'])
      assert.deepEqual(await own.run(`select count(*)::int as n from ${links}`), [{ n: ROWS }])
    const found = await killAll(took, async killAfter => {
      await make()
      const { isDone } = await run(own.database, killAfter)
      await settled()
      const now = await look()
      assert.ok(now === old || now === evolved, `killed after ${killAfter.toFixed(0)} ms of ${took.toFixed(0)}`)
      if (isDone) assert.equal(now, evolved)
      return now === old ? 'old' : 'new'
    })
    console.log(`# killed ${KILLS} times while it evolved a server: ${found.old} old, ${found.new} new`)
  })
})
