/**
 * What an intercepted request costs: `node --import tsx bench/intercept.ts`. Compares the built-in `fetch` with `json()`, answered by an engine and by a
 * MockAgent of undici that replies with the same text, which is what a test would use for one fixed answer. One process for each trial, in
 * turns; prints the medians and their ratio beside the target.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import { MockAgent, setGlobalDispatcher } from 'undici'
import { RestEngine } from '../lib/index.ts'

const ORIGIN = 'https://api.example.test'
const PATHS = { record: '/v1/users/5', 'list of 20': '/v1/users?limit=20', 'list of 100': '/v1/users?limit=100' } as const
const TRIALS = 5
const ROUNDS = 41
const BATCH = 50
const TARGET = 1.3

type Case = keyof typeof PATHS
const CASES = Object.keys(PATHS) as Case[]
type Medians = Record<Case, number>

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), city: p.string(), created_at: p.datetime() },
})

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function ask(path: string): Promise<unknown> {
  return (await fetch(ORIGIN + path)).json()
}

/** Microseconds of a request, for each case: the median of the means of batches. */
async function trial(who: string): Promise<Medians> {
  await using engine = await RestEngine.create({
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
  const answers = new Map<string, unknown>()
  for (const path of Object.values(PATHS)) answers.set(path, (await engine.handle('GET', path)).body)
  if (who === 'engine') engine.intercept(ORIGIN)
  else {
    const agent = new MockAgent()
    agent.disableNetConnect()
    const headers = { 'content-type': 'application/json; charset=UTF-8' }
    for (const path of Object.values(PATHS)) {
      agent
        .get(ORIGIN)
        .intercept({ path })
        .reply(200, JSON.stringify(answers.get(path)), { headers })
        .persist()
    }
    setGlobalDispatcher(agent)
  }
  const medians: Partial<Medians> = {}
  for (const name of CASES) {
    const path = PATHS[name]
    const answer = (await ask(path)) as object
    assert.deepEqual({ ...answer, timestamp: 0 }, { ...(answers.get(path) as object), timestamp: 0 })
    const means: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const started = performance.now()
      for (let index = 0; index < BATCH; index++) await ask(path)
      means.push(((performance.now() - started) / BATCH) * 1000)
    }
    medians[name] = median(means.slice(5))
  }
  return medians as Medians
}

function inProcess(who: string): Medians {
  const file = fileURLToPath(import.meta.url)
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, file, who], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as Medians
}

const [, , who] = process.argv
if (who !== undefined) console.log(JSON.stringify(await trial(who)))
else {
  const trials: { engine: Medians; mock: Medians }[] = []
  for (let index = 0; index < TRIALS; index++) {
    if (index % 2 === 0) trials.push({ engine: inProcess('engine'), mock: inProcess('mock') })
    else {
      const mock = inProcess('mock')
      trials.push({ engine: inProcess('engine'), mock })
    }
  }
  for (const name of CASES) {
    const engine = median(trials.map(each => each.engine[name]))
    const mock = median(trials.map(each => each.mock[name]))
    const ratio = median(trials.map(each => each.engine[name] / each.mock[name]))
    const verdict = ratio <= TARGET ? 'met' : 'MISSED'
    console.log(`${name}: engine ${engine.toFixed(0)} µs, MockAgent ${mock.toFixed(0)} µs, ratio ${ratio.toFixed(2)}x`)
    console.log(`  (target: at most ${TARGET.toFixed(2)}x) ${verdict}`)
  }
}
