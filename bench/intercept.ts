/**
 * What an intercepted request costs: `node bench/intercept.ts` (not through tsx, which gives every closure its name at run time). Compares the built-in `fetch` with `json()`, answered by an engine and by a
 * MockAgent of undici that replies with the same text, which is what a test would use for one fixed answer. The fixed answer comes from an own
 * route: what it costs is the interception; of the others, reading comes on top, whose time without `fetch` is shown, too. In one process
 * and in turns, so that what slows the machine slows both; prints the medians and their ratio beside the target. Answers are compared first.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import { RestEngine } from '../lib/index.ts'

const ORIGIN = 'https://api.example.test'
const PATHS = {
  'fixed answer': '/v1/fixed',
  record: '/v1/users/5',
  'list of 20': '/v1/users?limit=20',
  'list of 100': '/v1/users?limit=100',
} as const
const WARM_UP = 3000
const ROUNDS = 101
const BATCH = 50
const TARGET = 1.3
const FIXED = { success: true, user: { id: 5, name: 'User 4', email: 'user-4@example.test', city: 'Springfield' } }

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), city: p.string(), created_at: p.datetime() },
})

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Microseconds of one call, as the mean of a batch. */
async function timed(ask: () => Promise<unknown>, batch: number): Promise<number> {
  const started = performance.now()
  for (let index = 0; index < batch; index++) await ask()
  return ((performance.now() - started) / batch) * 1000
}

/** The fixed answer is an own route, of an engine of its own: where the deployer's code may run, requests are watched more closely. */
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
const nobody = getGlobalDispatcher()
const mock = new MockAgent()
mock.disableNetConnect()

for (const [name, path] of Object.entries(PATHS)) {
  const engine = path.endsWith('/fixed') ? routed : plain
  const { body, headers } = await engine.handle('GET', path)
  const text = JSON.stringify(body)
  mock.get(ORIGIN).intercept({ path }).reply(200, text, { headers }).persist()
  const ask = async (): Promise<unknown> => (await fetch(ORIGIN + path)).json()
  const variants = {
    async engine(batch: number): Promise<number> {
      setGlobalDispatcher(nobody)
      using _ = engine.intercept(ORIGIN)
      return await timed(ask, batch)
    },
    async mock(batch: number): Promise<number> {
      setGlobalDispatcher(mock)
      return timed(ask, batch)
    },
    handle: (batch: number): Promise<number> => timed(() => engine.handle('GET', path), batch),
  }
  const times: Record<keyof typeof variants, number[]> = { engine: [], mock: [], handle: [] }
  setGlobalDispatcher(mock)
  assert.deepEqual({ ...((await ask()) as object), timestamp: '' }, { ...(body as object), timestamp: '' })
  for (const variant of Object.values(variants)) await variant(WARM_UP)
  for (let round = 0; round < ROUNDS; round++) {
    const order = ['engine', 'mock', 'handle'] as const
    for (const variant of round % 2 === 0 ? order : order.toReversed()) times[variant].push(await variants[variant](BATCH))
  }
  const ratio = median(times.engine.map((time, round) => time / times.mock[round]!))
  const figures = Object.entries(times).map(([variant, all]) => `${variant} ${median(all).toFixed(1)} µs`)
  const verdict = ratio <= TARGET ? 'met' : 'MISSED'
  console.log(`${name}, ${text.length} bytes: ${figures.join(', ')}`)
  console.log(`  engine / mock: ${ratio.toFixed(2)}x (target: at most ${TARGET.toFixed(2)}x) ${verdict}`)
}
setGlobalDispatcher(nobody)
