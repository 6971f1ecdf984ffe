/**
 * Bench of files without entities: opening one, beside `new MikroORM` over the same entities; and a list of it, beside a list of the same
 * model in code. In one process, in turns. Takes about ten seconds.
 *
 *     npm run bench:introspect
 *     npm run bench:introspect -- --rounds 200 list    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:introspect -- --docs               writes the tables into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine } from '../lib/index.ts'
import { buildFileEntities } from '../lib/databases/sqlite/introspect/entities.ts'
import { introspect } from '../lib/databases/sqlite/introspect/introspect.ts'
import { milliseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { wordsOf } from './words.ts'

// What one leaves behind is not to be swept up in the time of the other.
setFlagsFromString('--expose-gc')
const sweep = runInNewContext('gc') as () => void

const TABLES = 50
const ROWS = 10_000

const OPENING = `open ${TABLES} tables`
const QUERIES = ['limit=100', 'limit=100&sort=age.desc', 'age>=80&limit=20', 'name=User 99*&limit=100']
/** The others cost as much more. */
const IN_DOCS = QUERIES.slice(0, 2)
const listed = (query: string): string => `list: ${query}`
/** Rounds that are not counted, as a part of all. */
const WARM_UP = 1 / 4

const { rounds, docs, isWanted } = wordsOf({ rounds: 2000, names: [OPENING, ...QUERIES.map(listed)] })
const report = new Report('bench:introspect', docs)
report.say(`Medians of ${Math.ceil(rounds / 100)} openings and ${rounds.toLocaleString('en')} lists.`)

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
  const made: { close: () => Promise<unknown> }[] = []
  const variants = {
    base: async () => {
      const db = new Database(path)
      // MikroORM changes the schemas that it is given, so each round has its own.
      const { entities } = buildFileEntities(introspect(db), db)
      db.close()
      sweep()
      return milliseconds(() => made.push(new MikroORM({ entities: [...entities] as EntitySchema[], dbName: ':memory:' })))
    },
    own: async () => {
      sweep()
      return milliseconds(async () => made.push(await RestEngine.create({ database: path })))
    },
  }
  const after = async (): Promise<void> => {
    for (const one of made.splice(0)) await one.close()
  }
  await samplesOf(variants, { rounds: 5, after })
  const { base, own } = await samplesOf(variants, { rounds: Math.ceil(rounds / 100), after })
  report.versus({ what: 'milliseconds', base: 'MikroORM', own: 'engine' })
  report.compare({ name: OPENING, base, own, paired: true, aim: 3 })
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
    'create table user (id integer primary key autoincrement, name varchar(100) not null, ' +
      'email text, age integer, score real, active boolean not null default 1, city text, note text)',
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
  await using found = await RestEngine.create({ database: path, journal: 0 })
  await using coded = await RestEngine.create({ entities: [User], database: path, schema: 'keep', journal: 0 })
  report.versus({ what: 'microseconds', base: 'in code', own: 'as found' })
  for (const query of QUERIES.filter(text => isWanted(listed(text)))) {
    const ask = (engine: RestEngine) => engine.handle('GET', `/v1/users?${encodeURI(query)}`)
    const [wanted, given] = [await ask(coded), await ask(found)].map(({ body }) => (body as { users: unknown }).users)
    assert.deepEqual(given, wanted, query)
    const time = (engine: RestEngine) => async () => (await milliseconds(() => ask(engine))) * 1000
    const samples = await samplesOf({ own: time(found), base: time(coded) }, { rounds })
    const [base, own] = [samples.base, samples.own].map(all => all.slice(Math.floor(rounds * WARM_UP)))
    report.compare({ name: listed(query), base: base!, own: own!, paired: true, aim: 1.1, printedOnly: !IN_DOCS.includes(query) })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-bench-'))
try {
  const tables = join(folder, 'tables.sqlite')
  fillTables(tables)
  if (isWanted(OPENING)) await timeOpening(tables)
  const users = join(folder, 'users.sqlite')
  fillUsers(users)
  await timeLists(users)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
await report.end()
