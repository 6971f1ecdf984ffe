/**
 * What worlds cost: `node --import tsx bench/worlds.ts`. Restores, resets and forks a database of 20 tables and 10,000 rows, beside the bare
 * `new Database(bytes)` of better-sqlite3 in the same process and in turns; and creates engines of 20 entities beside the bare MikroORM with its schema.
 * Prints medians in milliseconds and the median ratio beside the target.
 */
import assert from 'node:assert/strict'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine } from '../lib/index.ts'

const ROUNDS = 101
const TABLES = 20
const ROWS = 500

const OTHER = { name: p.string().length(60), note: p.string().nullable(), number: p.integer().nullable() }

/** Entities of their own, since MikroORM prepares the classes that it is given. */
function entities(): EntitySchema[] {
  const made: EntitySchema[] = []
  for (let index = 0; index < TABLES; index++) {
    const parent = made[index - 1]
    const relation = parent === undefined ? {} : { parent: () => p.manyToOne(parent).nullable() }
    made.push(defineEntity({ name: `Thing${index}`, properties: { id: p.integer().primary(), ...OTHER, ...relation } }) as never)
  }
  return made
}

const seed = Object.fromEntries(
  Array.from({ length: TABLES }, (_, table) => [
    `thing${table}s`,
    Array.from({ length: ROWS }, (_, row) => ({ name: `Thing ${row}`, note: 'x'.repeat(40), number: row })),
  ]),
)

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

interface Trial {
  readonly name: string
  /** Not timed. */
  readonly before?: () => Promise<unknown>
  readonly run: () => Promise<unknown>
  readonly bare: () => unknown
  /** Not timed. */
  readonly after?: () => Promise<unknown>
  readonly ratio: number
  /** Milliseconds. */
  readonly most?: number
}

async function measure({ name, before, run, bare, after, ratio, most }: Trial, rounds: number): Promise<void> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    await before?.()
    // The order changes every round, so that what slows the machine slows both.
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) times[which].push(await timed(which === 0 ? run : bare))
    await after?.()
  }
  const [ours, theirs] = times
  const ratios = ours.map((time, round) => time / theirs[round]!)
  const target = most === undefined ? `at most ${ratio}` : `at most ${ratio} and ${most} ms`
  console.log(
    `${name.padEnd(34)} ${median(ours).toFixed(3)} ms   bare ${median(theirs).toFixed(3)} ms   ratio ${median(ratios).toFixed(2)} (${target})`,
  )
}

const engine = await RestEngine.create({ entities: entities(), seed })
const snapshot = await engine.snapshot()
const write = async (): Promise<void> => {
  const { status } = await engine.handle('POST', '/v1/thing3s', undefined, { name: 'New' })
  assert.equal(status, 200)
}
const opened: (RestEngine | Database.Database)[] = []
const bare = (): unknown => opened.push(new Database(snapshot.image))
const clear = async (): Promise<void> => {
  for (const one of opened.splice(0)) await one.close()
}

for (let warm = 0; warm < 20; warm++) {
  await write()
  await engine.reset()
}
console.log(
  `${TABLES} tables, ${TABLES * ROWS} rows, ${(snapshot.size / 1e6).toFixed(2)} MB; Node ${process.version}; medians of ${ROUNDS}`,
)
const worlds: readonly Trial[] = [
  { name: 'restore after a write', before: write, run: () => engine.restore(snapshot), bare, after: clear, ratio: 3, most: 1 },
  { name: 'reset after a write', before: write, run: () => engine.reset(), bare, after: clear, ratio: 3, most: 1 },
  { name: 'fork', run: async () => opened.push(await engine.fork()), bare, after: clear, ratio: 3, most: 1 },
  {
    name: 'fork after a write',
    before: write,
    run: async () => opened.push(await engine.fork()),
    // What a fork must copy out first, by hand too.
    bare: () => opened.push(new Database(dirty.serialize())),
    after: clear,
    ratio: 3,
    most: 1,
  },
]
const dirty = new Database(snapshot.image)
for (const trial of worlds) await measure(trial, ROUNDS)
dirty.close()
await engine.close()

const made: { close: () => Promise<unknown> }[] = []
await measure(
  {
    name: `create an engine of ${TABLES} entities`,
    run: async () => made.push(await RestEngine.create({ entities: entities() })),
    bare: async () => {
      const orm = new MikroORM({ entities: entities(), dbName: ':memory:' })
      await orm.schema.create()
      made.push({ close: () => orm.close(true) })
    },
    after: async () => {
      for (const one of made.splice(0)) await one.close()
    },
    ratio: 1.5,
  },
  31,
)
