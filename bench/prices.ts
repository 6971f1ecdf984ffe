/**
 * Bench of prices: what each condition of [decision 15](../docs/decisions/0015-planned-writes.md) costs a write beside a plain one, and by
 * which way it goes, as `engine.explain` says it. In one process, in turns. Takes about ten seconds.
 *
 *     npm run bench:prices
 *     npm run bench:prices -- --rounds 5 hook    fewer rounds, and only the conditions whose name has one of the words
 *     npm run bench:prices -- --docs             writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/core'
import { RestEngine } from '../lib/index.ts'
import type { EngineOptions } from '../lib/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { byRound, figure, median } from './summary.ts'
import { wordsOf } from './words.ts'

const ROWS = 100
const BATCH = 50

/** The properties that all have. */
const common = () => ({ id: p.integer().primary(), name: p.string(), count: p.integer() })
const Owner = defineEntity({ name: 'Owner', properties: { id: p.integer().primary(), code: p.string().unique() } })
const item = (properties: object, more: object = {}): EntitySchema =>
  defineEntity({ name: 'Item', properties: { ...common(), ...properties }, ...more } as never) as never

interface Condition {
  readonly name: string
  readonly entities: readonly EntitySchema[]
  readonly options?: Partial<EngineOptions>
  /** What a body has beside name and count. */
  readonly body?: object
}

const Part = defineEntity({ name: 'Part', properties: { id: p.integer().primary(), item: () => p.manyToOne('Item' as never) as never } })

const CONDITIONS: readonly Condition[] = [
  { name: 'a version', entities: [item({ version: p.integer().version() })] },
  {
    name: 'onCreate, onUpdate, no parameters',
    entities: [
      item({
        at: p
          .datetime()
          .onCreate(() => new Date(0))
          .onUpdate(() => new Date()),
      }),
    ],
  },
  {
    name: 'a check, a default, an index',
    entities: [item({ state: p.string().default('new').index() }, { checks: [{ expression: 'count >= 0' }] })],
  },
  { name: 'a JSON value', entities: [item({ extra: p.json() })], body: { extra: { a: [1, 2] } } },
  { name: 'a link', entities: [item({ owner: () => p.manyToOne(Owner) }), Owner as never], body: { owner: 1 } },
  {
    name: 'onUpdate that takes the entity',
    entities: [
      item({
        shown: p
          .string()
          .onCreate(one => (one as { name: string }).name)
          .onUpdate(one => (one as { name: string }).name),
      }),
    ],
  },
  { name: 'a hook', entities: [item({}, { hooks: { beforeUpdate: [() => {}], beforeCreate: [() => {}], beforeDelete: [() => {}] } })] },
  { name: 'a subscriber', entities: [item({})], options: { orm: { subscribers: [{ afterFlush: () => {} }] } } },
  {
    name: 'orphans of a list',
    entities: [
      item({
        parts: () =>
          p
            .oneToMany(Part as never)
            .mappedBy('item' as never)
            .orphanRemoval(),
      }),
      Part as never,
    ],
  },
  { name: 'a lazy property', entities: [item({ note: p.text().lazy().nullable() })], body: { note: 'a note' } },
  {
    name: 'a link by another key',
    entities: [item({ owner: () => p.manyToOne(Owner).targetKey('code') }), Owner as never],
    body: { owner: 1 },
  },
]

async function open({ entities, options }: Condition): Promise<RestEngine> {
  const owners = entities.includes(Owner as never) ? { owners: [{ id: 1, code: 'a' }] } : {}
  return RestEngine.create({ entities: entities as never, ...options, seed: owners })
}

async function write(engine: RestEngine, method: string, path: string, body?: object): Promise<{ readonly item: { readonly id: number } }> {
  const answer = await engine.handle(method, path, undefined, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body as { readonly item: { readonly id: number } }
}

const update =
  (engine: RestEngine) =>
  async (call: number): Promise<void> =>
    void (await write(engine, 'PATCH', `/v1/items/${1 + (call % ROWS)}`, { name: `name ${Math.random()}` }))

const createAndDelete =
  (engine: RestEngine, body: object) =>
  async (call: number): Promise<void> => {
    const { item: made } = await write(engine, 'POST', '/v1/items', { name: 'new', count: call, ...body })
    await write(engine, 'DELETE', `/v1/items/${made.id}`)
  }

async function isPlanned(engine: RestEngine, method: string, path: string, body?: object): Promise<boolean> {
  const { writes } = await engine.explain(method, path, undefined, body)
  return JSON.stringify(writes).includes('by statements')
}

type Work = (call: number) => Promise<void>

/** Microseconds of one write, and how many times that is of the plain one. */
async function timed(base: Work, own: Work): Promise<readonly [string, string]> {
  const time = (work: Work) => () => microseconds(BATCH, work)
  for (const work of [base, own]) await microseconds(BATCH * 10, work)
  const samples = await samplesOf({ base: time(base), own: time(own) }, { rounds })
  return [figure(median(samples.own)), byRound(samples.base, samples.own, (one, two) => two / one).toFixed(1)]
}

const { rounds, docs, isWanted } = wordsOf({ rounds: 21, names: CONDITIONS.map(({ name }) => name) })
const report = new Report('bench:prices', docs)
report.say(`Medians of ${rounds} rounds, microseconds.`)
report.table('condition', 'update', 'ratio', 'create and delete', 'ratio', 'by the unit of work')
const PLAIN: Condition = { name: 'none', entities: [item({})] }
for (const condition of [PLAIN, ...CONDITIONS.filter(({ name }) => isWanted(name))]) {
  await using plain = await open(PLAIN)
  await using engine = await open(condition)
  const { body = {} } = condition
  for (const [asked, more] of [
    [plain, {}],
    [engine, body],
  ] as const)
    for (let call = 0; call < ROWS; call++) await write(asked, 'POST', '/v1/items', { name: 'old', count: call, ...more })
  const planned = {
    update: await isPlanned(engine, 'PATCH', '/v1/items/1', { name: 'other' }),
    create: await isPlanned(engine, 'POST', '/v1/items', { name: 'new', count: 1, ...body }),
    delete: await isPlanned(engine, 'DELETE', `/v1/items/${ROWS + 1}`),
  }
  const slow = Object.entries(planned).flatMap(([operation, isFast]) => (isFast ? [] : [operation]))
  const cells = [
    condition.name,
    ...(await timed(update(plain), update(engine))),
    ...(await timed(createAndDelete(plain, {}), createAndDelete(engine, body))),
    slow.length === 3 ? 'all' : slow.join(', '),
  ]
  // What goes by statements costs as much as a write without conditions.
  if (condition === PLAIN || slow.length > 0) report.row(...cells)
  else report.printedRow(...cells)
}
await report.end()
