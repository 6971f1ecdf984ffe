/**
 * Bench of interception: the built-in `fetch` with `json()`, answered by an engine, and by a MockAgent of undici that replies with the same
 * text, as a test with fixed answers would. One answer of the engine comes from a custom route, whose cost is that of the interception
 * alone. The others add the reading: a second MockAgent reads the same records by better-sqlite3 and writes them by `JSON.stringify`, which
 * is what an answer out of a database costs at least there; and the time of the engine without `fetch` is shown. The contenders take turns
 * in one process. Answers are compared first. Takes about ten seconds.
 *
 *     npm run bench:intercept
 *     npm run bench:intercept -- --rounds 21 list    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:intercept -- --docs              writes the tables into docs/benchmarks.md, too
 *
 * Not through tsx, which gives every closure its name at run time.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import { RestEngine } from '../lib/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { figure, median } from './summary.ts'
import { wordsOf } from './words.ts'

const ORIGIN = 'https://api.example.test'
const PATHS = {
  'a fixed answer': '/v1/fixed',
  'one record': '/v1/users/5',
  'a list of 20': '/v1/users?limit=20',
  'a list of 100': '/v1/users?limit=100',
} as const
const WARM_UP = 3000
const BATCH = 50
/** A list is read and written as JSON, which a MockAgent does not do. */
const AIMS: Readonly<Record<string, number>> = {
  'a fixed answer': 1.3,
  'one record': 1.3,
  'a list of 20': 1.5,
  'a list of 100': 1.8,
}
const FIXED = { success: true, user: { id: 5, name: 'User 4', email: 'user-4@example.test', city: 'Springfield' } }

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), city: p.string(), created_at: p.datetime() },
})

const USERS = Array.from({ length: 1000 }, (_, index) => ({
  name: `User ${index}`,
  email: `user-${index}@example.test`,
  city: 'Springfield',
  created_at: '2026-01-01T00:00:00.000Z',
}))

/** The fixed answer is an own route, of an engine of its own: where the application's code may run, requests are watched more closely. */
await using routed = await RestEngine.create({
  entities: [User],
  routes: [{ method: 'GET', path: '/{version}/fixed', handler: () => ({ body: FIXED }) }],
})
await using plain = await RestEngine.create({
  entities: [User],
  seed: { users: USERS },
})
const { rounds, docs, isWanted } = wordsOf({ rounds: 101, names: Object.keys(PATHS) })
const report = new Report('bench:intercept', docs)
report.say(`Medians of ${rounds} rounds.`)
report.versus({ what: 'microseconds of fetch and json()', base: 'MockAgent', own: 'engine', more: ['MockAgent that reads'] })
const alone: string[][] = []

const nobody = getGlobalDispatcher()
const [mock, readingMock] = [new MockAgent(), new MockAgent()]
for (const agent of [mock, readingMock]) agent.disableNetConnect()

interface Row {
  readonly id: number
  readonly created_at: number
}

const db = new Database(':memory:')
db.exec(
  'create table user (id integer not null primary key autoincrement, name text not null, ' +
    'email text not null unique, city text not null, created_at datetime not null)',
)
const insert = db.prepare('insert into user (name, email, city, created_at) values (?, ?, ?, ?)')
for (const { name, email, city, created_at } of USERS) insert.run(name, email, city, Date.parse(created_at))
const columns = 'id, name, email, city, created_at'
const one = db.prepare<[number], Row>(`select ${columns} from user where id = ?`)
const page = db.prepare<[number], Row>(`select ${columns} from user order by id limit ?`)
const count = db.prepare<[], number>('select count(*) from user').pluck()
const shown = (row: Row): object => ({ ...row, created_at: new Date(row.created_at).toISOString() })

/** The answer as a text, by hand. */
function read(path: string): string {
  const head = { success: true, timestamp: new Date().toISOString() }
  const { pathname, searchParams } = new URL(path, ORIGIN)
  if (pathname !== '/v1/users') return JSON.stringify({ ...head, resource: 'user', user: shown(one.get(Number(pathname.slice(10)))!) })
  const limit = Number(searchParams.get('limit'))
  const [users, all] = [page.all(limit).map(shown), count.get()!]
  const next = limit < all ? `/v1/users?limit=${limit}&offset=${limit}` : null
  const paging = { sort: 'id.asc', offset: 0, limit, filter: [], count: all, previous: null, next }
  return JSON.stringify({ ...head, resource: 'users', ...paging, users })
}

for (const [name, path] of Object.entries(PATHS).filter(([path]) => isWanted(path))) {
  const engine = path.endsWith('/fixed') ? routed : plain
  const { body, headers } = await engine.handle('GET', path)
  const text = JSON.stringify(body)
  mock.get(ORIGIN).intercept({ path }).reply(200, text, { headers }).persist()
  readingMock
    .get(ORIGIN)
    .intercept({ path })
    .reply(() => ({ statusCode: 200, data: read(path), responseOptions: { headers } }))
    .persist()
  const ask = async (): Promise<unknown> => (await fetch(ORIGIN + path)).json()
  const variants = {
    async engine(batch: number): Promise<number> {
      setGlobalDispatcher(nobody)
      using _ = engine.intercept(ORIGIN)
      return await microseconds(batch, ask)
    },
    async mock(batch: number): Promise<number> {
      setGlobalDispatcher(mock)
      return microseconds(batch, ask)
    },
    async byHand(batch: number): Promise<number> {
      setGlobalDispatcher(readingMock)
      return microseconds(batch, ask)
    },
    handle: (batch: number): Promise<number> => microseconds(batch, () => engine.handle('GET', path)),
  }
  const reads = !path.endsWith('/fixed')
  for (const dispatcher of reads ? [mock, readingMock] : [mock]) {
    setGlobalDispatcher(dispatcher)
    assert.deepEqual({ ...((await ask()) as object), timestamp: '' }, { ...(body as object), timestamp: '' })
  }
  const variantsInTurn: Readonly<Record<string, () => Promise<number>>> = {
    engine: () => variants.engine(BATCH),
    mock: () => variants.mock(BATCH),
    handle: () => variants.handle(BATCH),
    ...(reads ? { byHand: () => variants.byHand(BATCH) } : {}),
  }
  await samplesOf(variantsInTurn, { rounds: WARM_UP / BATCH })
  const { engine: own, mock: base, handle, byHand: reading } = await samplesOf(variantsInTurn, { rounds })
  const more = [reading === undefined ? '' : figure(median(reading))]
  report.compare({ name, base: base!, own: own!, paired: true, more, aim: AIMS[name] })
  alone.push([name, text.length.toLocaleString('en'), figure(median(handle!))])
}
setGlobalDispatcher(nobody)
db.close()
report.printedTable('of these, engine.handle alone', 'bytes', 'microseconds')
for (const row of alone) report.row(...row)
await report.end()
