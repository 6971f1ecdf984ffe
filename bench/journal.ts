/**
 * What the journal costs: `node --import tsx bench/journal.ts`. Compares, in one process and in turns, the same requests with the journal and without
 * it, and prints the medians and their ratio beside the target. The journal is full throughout, so that what it keeps is paid for as well.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'

const ROUNDS = 61
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

type Work = (engine: RestEngine, call: number) => Promise<unknown>

async function timed(engine: RestEngine, work: Work, batch: number): Promise<number> {
  const started = performance.now()
  for (let call = 0; call < batch; call++) await work(engine, call)
  return ((performance.now() - started) / batch) * 1000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function compare(name: string, work: Work, batch: number, target: number): Promise<void> {
  await using without = await RestEngine.create({ ...options, journal: 0 })
  await using withJournal = await RestEngine.create(options)
  for (const engine of [without, withJournal]) await timed(engine, work, Math.max(1100, batch * 5))
  assert.equal(withJournal.requests.length, 1000)
  const ratios: number[] = []
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const pair = [0, 0]
    // The order changes every round, so that what slows the machine slows both.
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      pair[which] = await timed(which === 0 ? without : withJournal, work, batch)
      times[which].push(pair[which])
    }
    ratios.push(pair[1]! / pair[0]!)
  }
  const ratio = median(ratios)
  const verdict = ratio <= target ? 'met' : 'MISSED'
  const [off, on] = [median(times[0]).toFixed(2), median(times[1]).toFixed(2)]
  console.log(
    `${name.padEnd(28)} ${off.padStart(8)} µs without, ${on.padStart(8)} with: ${ratio.toFixed(3)}x (at most ${target}x) ${verdict}`,
  )
}

await compare('a record', (engine, call) => engine.handle('GET', `/v1/articles/${(call % RECORDS) + 1}`), 500, 1.03)
await compare('a list of 100', engine => engine.handle('GET', '/v1/articles?limit=100&sort=views.desc'), 20, 1.1)
await compare('POST of a record', (engine, call) => engine.handle('POST', '/v1/articles', undefined, article(call)), 50, 1.1)
await compare('PUT of an attribute', (engine, call) => engine.handle('PUT', '/v1/articles/5', undefined, { views: call }), 50, 1.1)
await compare('PUT of a list', (engine, call) => engine.handle('PUT', '/v1/articles/5', undefined, { tags: [1, (call % 9) + 2] }), 50, 1.1)
