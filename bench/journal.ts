/**
 * Bench of the journal: the same requests with the journal, and without. The journal is full from the start, so that each entry replaces
 * another. Both take turns in one process. Takes about ten seconds.
 *
 *     npm run bench:journal
 *     npm run bench:journal -- --rounds 21 record    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:journal -- --docs                writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { wordsOf } from './words.ts'

const RECORDS = 1000

const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    body: p.string(),
    status: p.string().index(),
    views: p.integer(),
    created_at: p.datetime(),
    tags: () => p.manyToMany(Tag),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })

const article = (index: number) => ({
  title: `Article ${index}`,
  body: 'Lorem ipsum dolor sit amet. '.repeat(4),
  status: 'published',
  views: index,
  created_at: '2026-01-01T00:00:00.000Z',
})
const options: EngineOptions = {
  entities: [Article, Tag],
  seed: {
    articles: Array.from({ length: RECORDS }, (_, index) => article(index)),
    tags: Array.from({ length: 10 }, (_, index) => ({ name: `tag ${index}` })),
  },
}

interface Trial {
  readonly name: string
  readonly work: (engine: RestEngine, call: number) => Promise<unknown>
  /** Calls that are timed together. */
  readonly batch: number
  readonly aim: number
}

const TRIALS: readonly Trial[] = [
  { name: 'a record', work: (engine, call) => engine.handle('GET', `/v1/articles/${(call % RECORDS) + 1}`), batch: 500, aim: 1.2 },
  { name: 'a list of 100', work: engine => engine.handle('GET', '/v1/articles?limit=100&sort=views.desc'), batch: 20, aim: 1.1 },
  {
    name: 'POST of a record',
    work: (engine, call) => engine.handle('POST', '/v1/articles', undefined, article(call)),
    batch: 50,
    aim: 1.2,
  },
  {
    name: 'PUT of an attribute',
    work: (engine, call) => engine.handle('PUT', '/v1/articles/5', undefined, { views: call }),
    batch: 50,
    aim: 1.2,
  },
  {
    name: 'PUT of a list',
    work: (engine, call) => engine.handle('PUT', '/v1/articles/5', undefined, { tags: [1, (call % 9) + 2] }),
    batch: 50,
    aim: 1.2,
  },
]

const { rounds, docs, isWanted } = wordsOf({ rounds: 61, names: TRIALS.map(({ name }) => name) })
const report = new Report('bench:journal', docs)
report.say(`Medians of ${rounds} rounds.`)
report.versus({ what: 'microseconds per call', base: 'without', own: 'with it' })
for (const { name, work, batch, aim } of TRIALS.filter(trial => isWanted(trial.name))) {
  await using without = await RestEngine.create({ ...options, journal: 0 })
  await using withJournal = await RestEngine.create(options)
  for (const engine of [without, withJournal]) await microseconds(Math.max(1100, batch * 5), call => work(engine, call))
  assert.equal(withJournal.requests.length, 1000)
  const time = (engine: RestEngine) => () => microseconds(batch, call => work(engine, call))
  const { base, own } = await samplesOf({ base: time(without), own: time(withJournal) }, { rounds })
  report.compare({ name, base, own, paired: true, aim })
}
await report.end()
