/**
 * Bench of writes: measures a write, and the part of it that is MikroORM's unit of work. The contenders: code by hand, MikroORM with its
 * own driver, its unit of work alone on the engine's driver, and requests to the engine. They take turns in one process. Times are CPU
 * times of the process: those of a thread are counted in steps of milliseconds. Each ratio is to the code by hand in the same round. Takes
 * about a minute.
 *
 *     npm run bench:writes
 *     npm run bench:writes -- --rounds 3 update    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:writes -- --docs               writes the table into docs/benchmarks.md, too
 */
import { MikroORM } from '@mikro-orm/sqlite'
import type { MikroORM as CoreMikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine } from '../lib/index.ts'
import { ByHand } from './by-hand.ts'
import type { NewUser } from './by-hand.ts'
import { spent } from './pace.ts'
import { samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { SIZE, Site, TABLES, User, entities, rowsOf } from './seed.ts'
import { byRound, figure, median } from './summary.ts'
import { wordsOf } from './words.ts'

const { rounds, docs, isWanted } = wordsOf({ rounds: 9, names: ['update', 'create', 'delete'] })
/** Calls that are timed together. */
const CALLS = 2000
const WARM_UP = 3

type Call = (call: number) => unknown

const database = new Database(':memory:')
for (const statement of [...TABLES, ...rowsOf(SIZE)]) database.exec(statement)
const byHand = new ByHand(database)

async function fill(orm: CoreMikroORM): Promise<void> {
  const connection = orm.em.getConnection() as unknown as { execute: (sql: string) => Promise<unknown> }
  for (const statement of rowsOf(SIZE)) await connection.execute(statement)
}

async function engineOf(journal?: number): Promise<RestEngine> {
  const engine = await RestEngine.create({ entities, ...(journal === undefined ? {} : { journal }) })
  await fill(engine.orm)
  return engine
}

const engine = await engineOf()
const silent = await engineOf(0)
const lent = await engineOf(0)
const stock = new MikroORM({ entities, dbName: ':memory:' })
await stock.schema.create()
await fill(stock)

const idOf = (call: number): number => 1 + ((call * 37) % 1000)
const nameOf = (call: number): string => `Name ${call}`
const newUser = (call: number): NewUser => ({
  name: `New ${call}`,
  email: `new${call}@example.test`,
  active: true,
  score: call,
  created_at: '2026-01-01T00:00:00.000Z',
})
const row = (id: number): object => ({ id, name: 'x', email: 'y', active: 1, score: 1, created_at: 1 })

const creating =
  (orm: CoreMikroORM): Call =>
  async call => {
    const em = orm.em.fork()
    em.create(User, { ...newUser(call), created_at: new Date(0) } as never)
    await em.flush()
  }
const removing =
  (orm: CoreMikroORM): Call =>
  async call => {
    const em = orm.em.fork()
    em.remove(em.getReference(Site, 1 + call))
    await em.flush()
  }
const asking =
  (asked: RestEngine, method: string, pathOf: (call: number) => string, bodyOf: (call: number) => unknown): Call =>
  async call =>
    JSON.stringify((await asked.handle(method, pathOf(call), undefined, bodyOf(call))).body)

const put = (asked: RestEngine): Call =>
  asking(
    asked,
    'PUT',
    call => `/v1/users/${idOf(call)}`,
    call => ({ name: nameOf(call) }),
  )
const post = (asked: RestEngine): Call => asking(asked, 'POST', () => '/v1/users', newUser)
const remove = (asked: RestEngine): Call =>
  asking(
    asked,
    'DELETE',
    call => `/v1/sites/${1 + call}`,
    () => undefined,
  )

/** Its unit of work alone, on the driver of the engine. */
const ON_OUR_DRIVER = 'MikroORM, on our driver'

const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  update: {
    'by hand': call => byHand.renameUser(idOf(call), nameOf(call)),
    // Finds, sets, and flushes.
    MikroORM: async call => {
      const em = stock.em.fork()
      ;(await em.findOneOrFail(User, idOf(call))).name = nameOf(call)
      await em.flush()
    },
    // Maps the row, sets, and flushes.
    [ON_OUR_DRIVER]: async call => {
      const em = lent.orm.em.fork()
      const user = em.map(User, row(idOf(call)) as never)
      user.name = nameOf(call)
      await em.flush()
    },
    engine: put(engine),
    'engine, journal: 0': put(silent),
  },
  create: {
    'by hand': call => byHand.createUser(newUser(call)),
    MikroORM: creating(stock),
    [ON_OUR_DRIVER]: creating(lent.orm),
    engine: post(engine),
    'engine, journal: 0': post(silent),
  },
  delete: {
    'by hand': call => byHand.deleteSite(1 + call),
    MikroORM: removing(stock),
    [ON_OUR_DRIVER]: removing(lent.orm),
    engine: remove(engine),
    'engine, journal: 0': remove(silent),
  },
}

/** Microseconds of the processor for one call. */
async function timed(work: Call, first: number): Promise<number> {
  const start = spent()
  for (let call = first; call < first + CALLS; call++) {
    const result = work(call)
    if (result instanceof Promise) await result
  }
  return (spent() - start) / CALLS
}

const report = new Report('bench:writes', docs)
report.say(`${SIZE.users.toLocaleString('en')} users with ${SIZE.sites.toLocaleString('en')} sites; medians of ${rounds} rounds.`)
const measured = Object.entries(OPERATIONS).filter(([operation]) => isWanted(operation))
const rows = new Map<string, string[]>()
for (const [, contenders] of measured) {
  // Every call of a contender has a number of its own: no site is deleted twice.
  const variants = Object.fromEntries(
    Object.entries(contenders).map(([contender, work]) => {
      let first = 0
      return [contender, () => timed(work, (first += CALLS) - CALLS)]
    }),
  )
  await samplesOf(variants, { rounds: WARM_UP })
  const samples = await samplesOf(variants, { rounds })
  for (const [contender, times] of Object.entries(samples)) {
    const ratio = byRound(samples['by hand']!, times, (base, own) => own / base)
    rows.set(contender, [...(rows.get(contender) ?? [contender]), figure(median(times)), ratio.toFixed(1)])
  }
}
report.table('microseconds', ...measured.flatMap(([name]) => [name, 'ratio']))
for (const [contender, cells] of rows) {
  if (contender === ON_OUR_DRIVER) report.printedRow(...cells)
  else report.row(...cells)
}
await engine.close()
await silent.close()
await lent.close()
await stock.close(true)
await report.end()
