/**
 * What one write costs, and what of that is MikroORM's unit of work: `node bench/unit-of-work.ts [ROUNDS]`. In one process and in turns: by hand, MikroORM
 * with its own driver, its unit of work alone on the engine's driver, and requests to the engine. Prints medians of the time that the thread computes,
 * which hardly depends on what else the machine does, and the median ratio to the code by hand in the same round.
 */
import { MikroORM } from '@mikro-orm/sqlite'
import type { MikroORM as CoreMikroORM } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine } from '../lib/index.ts'
import { ByHand } from './by-hand.ts'
import type { NewUser } from './by-hand.ts'
import { SIZE, Site, TABLES, User, entities, rowsOf } from './seed.ts'

const rounds = Number(process.argv[2] ?? 9)
/** Calls that are timed together: the system counts the time of a thread in steps of milliseconds. */
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

const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  update: {
    'by hand': call => byHand.renameUser(idOf(call), nameOf(call)),
    'MikroORM: find, set, flush': async call => {
      const em = stock.em.fork()
      ;(await em.findOneOrFail(User, idOf(call))).name = nameOf(call)
      await em.flush()
    },
    'map, set, flush, on our driver': async call => {
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
    'MikroORM: create, flush': creating(stock),
    'the same on our driver': creating(lent.orm),
    engine: post(engine),
    'engine, journal: 0': post(silent),
  },
  delete: {
    'by hand': call => byHand.deleteSite(1 + call),
    'MikroORM: reference, remove, flush': removing(stock),
    'the same on our driver': removing(lent.orm),
    engine: remove(engine),
    'engine, journal: 0': remove(silent),
  },
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Microseconds of the thread for one call. */
async function timed(work: Call, first: number): Promise<number> {
  const start = process.threadCpuUsage()
  for (let call = first; call < first + CALLS; call++) {
    const result = work(call)
    if (result instanceof Promise) await result
  }
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / CALLS
}

for (const [name, contenders] of Object.entries(OPERATIONS)) {
  const times = new Map(Object.keys(contenders).map(contender => [contender, [] as number[]]))
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const order = round % 2 === 0 ? Object.entries(contenders) : Object.entries(contenders).toReversed()
    for (const [contender, work] of order) {
      const time = await timed(work, round * CALLS)
      if (round >= WARM_UP) times.get(contender)!.push(time)
    }
  }
  const base = times.get('by hand')!
  for (const [contender, taken] of times) {
    const ratio = median(taken.map((time, round) => time / base[round]!))
    console.log(`${name.padEnd(8)}${contender.padEnd(36)}${median(taken).toFixed(1).padStart(8)} µs${ratio.toFixed(1).padStart(8)}`)
  }
}
await engine.close()
await silent.close()
await lent.close()
await stock.close(true)
