/**
 * Bench of interception: the built-in `fetch` with `json()`, answered by an engine, and by a MockAgent of undici that replies with the same text, as a test with
 * fixed answers would. One answer of the engine comes from a custom route, whose cost is that of the interception alone. The others add the reading, whose time
 * without `fetch` is shown, too. The contenders take turns in one process. Answers are compared first. Takes about ten seconds.
 *
 *     npm run bench:intercept
 *     npm run bench:intercept -- --rounds 21 list    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:intercept -- --docs              writes the tables into docs/benchmarks.md, too
 *
 * Not through tsx, which gives every closure its name at run time.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
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

/** The fixed answer is an own route, of an engine of its own: where the application's code may run, requests are watched more closely. */
await using routed = await RestEngine.create({
  entities: [User],
  routes: [{ method: 'GET', path: '/{version}/fixed', handler: () => ({ body: FIXED }) }],
})
await using plain = await RestEngine.create({
  entities: [User],
  seed: {
    users: Array.from({ length: 1000 }, (_, index) => ({
      name: `User ${index}`,
      email: `user-${index}@example.test`,
      city: 'Springfield',
      created_at: '2026-01-01T00:00:00.000Z',
    })),
  },
})
const { rounds, docs, isWanted } = wordsOf({ rounds: 101, names: Object.keys(PATHS) })
const report = new Report('bench:intercept', docs)
report.say(`Medians of ${rounds} rounds in one process.`)
report.versus({ what: 'microseconds of fetch and json()', base: 'MockAgent', own: 'engine' })
const alone: string[][] = []

const nobody = getGlobalDispatcher()
const mock = new MockAgent()
mock.disableNetConnect()

for (const [name, path] of Object.entries(PATHS).filter(([path]) => isWanted(path))) {
  const engine = path.endsWith('/fixed') ? routed : plain
  const { body, headers } = await engine.handle('GET', path)
  const text = JSON.stringify(body)
  mock.get(ORIGIN).intercept({ path }).reply(200, text, { headers }).persist()
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
    handle: (batch: number): Promise<number> => microseconds(batch, () => engine.handle('GET', path)),
  }
  setGlobalDispatcher(mock)
  assert.deepEqual({ ...((await ask()) as object), timestamp: '' }, { ...(body as object), timestamp: '' })
  for (let calls = 0; calls < WARM_UP; calls += BATCH) for (const variant of Object.values(variants)) await variant(BATCH)
  const variantsInTurn = {
    engine: () => variants.engine(BATCH),
    mock: () => variants.mock(BATCH),
    handle: () => variants.handle(BATCH),
  }
  const samples = await samplesOf(variantsInTurn, { rounds })
  report.compare({ name, base: samples.mock, own: samples.engine, paired: true, aim: AIMS[name] })
  alone.push([name, text.length.toLocaleString('en'), figure(median(samples.handle))])
}
setGlobalDispatcher(nobody)
report.table('of these, engine.handle alone', 'bytes', 'microseconds')
for (const row of alone) report.row(...row)
await report.end()
