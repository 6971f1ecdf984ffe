/**
 * Bench of files without entities: what it costs to open one, beside `new MikroORM` over the same entities, and what a list of it costs, beside the same
 * model in code. Both in one process, in turns; medians. Takes about half a minute.
 *
 *     node --import tsx bench/introspect.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine } from '../lib/index.ts'
import { entitiesOf } from '../lib/sqlite/entities-of.ts'
import { introspect } from '../lib/sqlite/introspect.ts'

// What one leaves behind is not to be swept up in the time of the other.
setFlagsFromString('--expose-gc')
const sweep = runInNewContext('gc') as () => void

const TABLES = 50
const ROWS = 10_000

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]!
}

function report(what: string, base: number, own: number, unit: string, target: number): void {
  const ratio = own / base
  console.log(
    `${what.padEnd(44)}${base.toFixed(1).padStart(10)}${own.toFixed(1).padStart(10)} ${unit}  ratio ${ratio.toFixed(2)} (${ratio <= target ? 'ok' : 'over'}, target ${target})`,
  )
}

/** A file of many tables, each with ten columns, links to two others and some rows. */
function fillTables(path: string): void {
  const db = new Database(path)
  db.pragma('foreign_keys = off')
  db.exec('begin')
  for (let table = 0; table < TABLES; table++) {
    db.exec(
      `create table item_${table} (id integer primary key, name varchar(100) not null, code text unique, price numeric(10,2), active boolean not null default 1,
        created_at datetime default current_timestamp, born date, meta json, state text check (state in ('a', 'b')), parent_id integer references item_${Math.floor(table / 2)},
        other_id integer references item_${(table * 7) % TABLES} on delete set null)`,
    )
    const insert = db.prepare(`insert into item_${table} (name, code, price) values (?, ?, ?)`)
    for (let row = 0; row < 200; row++) insert.run(`name ${row}`, `code ${row}`, row / 4)
  }
  db.exec('commit')
  db.close()
}

async function timeOpening(path: string): Promise<void> {
  const opening: number[] = []
  const discovering: number[] = []
  for (let round = 0; round < 25; round++) {
    const db = new Database(path)
    // MikroORM changes the schemas that it is given, so each round has its own.
    const { entities } = entitiesOf(introspect(db), db)
    sweep()
    const before = performance.now()
    const orm = new MikroORM({ entities: [...entities] as EntitySchema[], dbName: ':memory:' })
    discovering.push(performance.now() - before)
    await orm.close()
    db.close()
    sweep()
    const started = performance.now()
    const engine = await RestEngine.create({ database: path })
    opening.push(performance.now() - started)
    await engine.close()
  }
  report(`${TABLES} tables: new MikroORM, RestEngine.create`, median(discovering.slice(5)), median(opening.slice(5)), 'ms', 3)
}

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(100),
    email: p.string().nullable(),
    age: p.integer().nullable(),
    score: p.float().nullable(),
    active: p.boolean().default(true),
    city: p.string().nullable(),
    note: p.text().nullable(),
  },
})

function fillUsers(path: string): void {
  const db = new Database(path)
  db.exec(
    'create table user (id integer primary key autoincrement, name varchar(100) not null, email text, age integer, score real, active boolean not null default 1, city text, note text)',
  )
  const insert = db.prepare('insert into user (name, email, age, score, active, city, note) values (?, ?, ?, ?, ?, ?, ?)')
  db.transaction(() => {
    for (let row = 0; row < ROWS; row++) {
      insert.run(
        `User ${row}`,
        `user${row}@example.test`,
        row % 90,
        row / 3,
        row % 2,
        `City ${row % 50}`,
        row % 3 === 0 ? null : `Note ${row}`,
      )
    }
  })()
  db.close()
}

async function timeLists(path: string): Promise<void> {
  const found = await RestEngine.create({ database: path, journal: 0 })
  const coded = await RestEngine.create({ entities: [User], database: path, schema: 'keep', journal: 0 })
  for (const query of ['limit=100', 'limit=100&sort=age.desc', 'age>=80&limit=20', 'name=User 99*&limit=100']) {
    const [own, base]: [number[], number[]] = [[], []]
    const once = async (engine: RestEngine, samples: number[]): Promise<unknown> => {
      const before = performance.now()
      const { body } = await engine.handle('GET', `/v1/users?${encodeURI(query)}`)
      samples.push((performance.now() - before) * 1000)
      return (body as { users: unknown }).users
    }
    const answers = [await once(found, []), await once(coded, [])]
    if (JSON.stringify(answers[0]) !== JSON.stringify(answers[1])) throw new Error(`The answers to ${query} differ.`)
    for (let round = 0; round < 2000; round++) {
      if (round % 2 === 0) {
        await once(found, own)
        await once(coded, base)
      } else {
        await once(coded, base)
        await once(found, own)
      }
    }
    report(`list: in code, as found: ${query}`, median(base.slice(500)), median(own.slice(500)), 'us', 1.1)
  }
  await found.close()
  await coded.close()
}

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-bench-'))
try {
  const tables = join(folder, 'tables.sqlite')
  fillTables(tables)
  await timeOpening(tables)
  const users = join(folder, 'users.sqlite')
  fillUsers(users)
  await timeLists(users)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
