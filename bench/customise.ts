/**
 * What customisation costs: `node --import tsx bench/customise.ts`. Compares, in one process and in turns, the same requests with and without rules,
 * and prints the medians and their ratio, or difference, beside the target. Answers are compared first: a bench of other answers says nothing.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, resource, RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'

const ROUNDS = 41
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

/** Medians of two variants that are run in turns, so that what slows the machine slows both. The order changes every round. */
async function compare(one: [RestEngine, Request], two: [RestEngine, Request], batch: number): Promise<[number, number]> {
  for (const [engine, request] of [one, two]) await timed(engine, request, batch * 5)
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[which].push(await timed(...(which === 0 ? one : two), batch))
    }
  }
  return [median(times[0]), median(times[1])]
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
const [listPlain, listRuled] = await compare([plain, list], [ruled, list], 20)
const ratio = listRuled / listPlain
console.log(`list of 100, plain:                         ${listPlain.toFixed(1)} µs`)
console.log(`list of 100, a scope and a rendered value:  ${listRuled.toFixed(1)} µs`)
console.log(`ratio: ${ratio.toFixed(2)}x (target: at most 1.30x) ${ratio <= 1.3 ? 'met' : 'MISSED'}`)

const record: Request = ['GET', '/v1/articles/5']
const known: Request = ['GET', '/v1/articles/5', { authorization: `Bearer ${guarded.token(1, { ttl: 1e6 })}` }]
assert.deepEqual(await body(plain, record), await body(guarded, known))
const [recordPlain, recordKnown] = await compare([plain, record], [guarded, known], 400)
const more = recordKnown - recordPlain
console.log(`a record, without auth:                     ${recordPlain.toFixed(1)} µs`)
console.log(`a record, with a known token:               ${recordKnown.toFixed(1)} µs`)
console.log(
  `more: ${more.toFixed(1)} µs, ${(recordKnown / recordPlain).toFixed(2)}x (target: at most 10 µs more) ${more <= 10 ? 'met' : 'MISSED'}`,
)
