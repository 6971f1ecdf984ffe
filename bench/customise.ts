/**
 * Bench of customisation: the same requests with rules, and without. Their answers are compared first. Both take turns in one process. Takes a few seconds.
 *
 *     npm run bench:customise
 *     npm run bench:customise -- --rounds 21 token    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:customise -- --docs               writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, resource, RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { wordsOf } from './words.ts'

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

interface Asked {
  readonly engine: RestEngine
  readonly headers?: Record<string, string>
}

interface Trial {
  readonly name: string
  readonly path: string
  readonly base: Asked
  readonly own: Asked
  /** Calls that are timed together. */
  readonly batch: number
  readonly aim?: number
  /** Microseconds that it may take more. */
  readonly excess?: number
}

const TRIALS: readonly Trial[] = [
  {
    name: 'list of 100, a scope, a rendered value',
    path: '/v1/articles?limit=100&sort=views.desc',
    base: { engine: plain },
    own: { engine: ruled },
    batch: 10,
    aim: 1.3,
  },
  {
    name: 'one record, with a known token',
    path: '/v1/articles/5',
    base: { engine: plain },
    own: { engine: guarded, headers: { authorization: `Bearer ${guarded.token(1, { ttl: 1e6 })}` } },
    batch: 200,
    excess: 10,
  },
]

const { rounds, docs, isWanted } = wordsOf({ rounds: 61, names: TRIALS.map(({ name }) => name) })
const report = new Report('bench:customise', docs)
report.say(`Medians of ${rounds} rounds in one process.`)
report.versus({ what: 'microseconds per call', base: 'without', own: 'with it' })
for (const { path, batch, ...trial } of TRIALS.filter(({ name }) => isWanted(name))) {
  const ask = ({ engine, headers = {} }: Asked) => engine.handle('GET', path, undefined, undefined, { headers })
  const bodies = [await ask(trial.base), await ask(trial.own)].map(({ status, body }) => {
    assert.equal(status, 200, JSON.stringify(body))
    return { ...(body as object), timestamp: undefined }
  })
  assert.deepEqual(bodies[1], bodies[0])
  const time = (asked: Asked, calls: number) => () => microseconds(calls, () => ask(asked))
  for (const asked of [trial.base, trial.own]) await time(asked, batch * 5)()
  const { base, own } = await samplesOf({ base: time(trial.base, batch), own: time(trial.own, batch) }, { rounds })
  report.compare({ ...trial, base, own, paired: true })
}
await report.end()
