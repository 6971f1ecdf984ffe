/**
 * What customisation costs: `node --import tsx bench/customise.ts`. Compares, in one process and in turns, the same requests with and without rules,
 * and prints the medians and their ratio, or difference, beside the target. Answers are compared first: a bench of other answers says nothing.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, resource, RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'

const ROUNDS = 61
const RECORDS = 1000

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), password: p.string().hidden() },
})
const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    body: p.string(),
    status: p.string().index(),
    views: p.integer(),
    created_at: p.datetime(),
    author: () => p.manyToOne(User),
  },
})

type Request = readonly [method: string, path: string, headers?: Record<string, string>]

/** Microseconds that one request takes, as the mean of a batch. */
async function timed(engine: RestEngine, [method, path, headers = {}]: Request, batch: number): Promise<number> {
  const started = performance.now()
  for (let index = 0; index < batch; index++) await engine.handle(method, path, undefined, undefined, { headers })
  return ((performance.now() - started) / batch) * 1000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

interface Comparison {
  readonly one: number
  readonly two: number
  /** Medians over the rounds, of each of which both halves ran under the same load. */
  readonly ratio: number
  readonly more: number
}

/** Runs two variants in turns, so that what slows the machine slows both. The order changes every round. */
async function compare(one: [RestEngine, Request], two: [RestEngine, Request], batch: number): Promise<Comparison> {
  for (const [engine, request] of [one, two]) await timed(engine, request, batch * 5)
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[which].push(await timed(...(which === 0 ? one : two), batch))
    }
  }
  const [ones, twos] = times
  return {
    one: median(ones),
    two: median(twos),
    ratio: median(ones.map((time, round) => twos[round]! / time)),
    more: median(ones.map((time, round) => twos[round]! - time)),
  }
}

const password = await hashPassword('bench')
const options: EngineOptions = {
  entities: [User, Article],
  seed: {
    users: Array.from({ length: 10 }, (_, index) => ({
      id: index + 1,
      name: `User ${index}`,
      email: `user-${index}@example.test`,
      password,
    })),
    articles: Array.from({ length: RECORDS }, (_, index) => ({
      title: `Article ${index}`,
      body: 'Lorem ipsum dolor sit amet. '.repeat(4),
      status: 'published',
      views: index,
      created_at: '2026-01-01T00:00:00.000Z',
      author: (index % 10) + 1,
    })),
  },
}

await using plain = await RestEngine.create(options)
await using ruled = await RestEngine.create({
  ...options,
  resources: [
    resource(Article, {
      scope: () => ({ status: 'published' }),
      attributes: { title: { render: title => title } },
    }),
  ],
})
await using guarded = await RestEngine.create({ ...options, auth: auth({ entity: User }) })

async function body(engine: RestEngine, [method, path, headers = {}]: Request): Promise<unknown> {
  const answer = await engine.handle(method, path, undefined, undefined, { headers })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return { ...(answer.body as object), timestamp: undefined }
}

const list: Request = ['GET', '/v1/articles?limit=100&sort=views.desc']
assert.deepEqual(await body(plain, list), await body(ruled, list))
const lists = await compare([plain, list], [ruled, list], 10)
console.log(`list of 100, plain:                         ${lists.one.toFixed(1)} µs`)
console.log(`list of 100, a scope and a rendered value:  ${lists.two.toFixed(1)} µs`)
console.log(`ratio: ${lists.ratio.toFixed(2)}x (target: at most 1.30x) ${lists.ratio <= 1.3 ? 'met' : 'MISSED'}`)

const record: Request = ['GET', '/v1/articles/5']
const known: Request = ['GET', '/v1/articles/5', { authorization: `Bearer ${guarded.token(1, { ttl: 1e6 })}` }]
assert.deepEqual(await body(plain, record), await body(guarded, known))
const records = await compare([plain, record], [guarded, known], 200)
console.log(`a record, without auth:                     ${records.one.toFixed(1)} µs`)
console.log(`a record, with a known token:               ${records.two.toFixed(1)} µs`)
const verdict = records.more <= 10 ? 'met' : 'MISSED'
console.log(`more: ${records.more.toFixed(1)} µs, ${records.ratio.toFixed(2)}x (target: at most 10 µs more) ${verdict}`)
