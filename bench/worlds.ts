/**
 * Bench of worlds: restoring, resetting and forking a database of 20 tables and 10,000 rows, beside the bare `new Database(bytes)` of
 * better-sqlite3; and creating engines of 20 entities, beside the bare MikroORM with its schema. All in one process, in turns. Takes about
 * ten seconds.
 *
 *     npm run bench:worlds
 *     npm run bench:worlds -- --rounds 21 fork    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:worlds -- --docs              writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import { contentsOf } from '../lib/engine/worlds/snapshot.ts'
import { RestEngine } from '../lib/index.ts'
import type { SqliteImage } from '../lib/databases/sqlite/content.ts'
import { openRaw } from '../lib/databases/sqlite/driver/open-raw.ts'
import type { RawDatabase } from '../lib/databases/sqlite/driver/raw-database.ts'
import { milliseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { wordsOf } from './words.ts'

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

const engine = await RestEngine.create({ entities: entities(), seed })
const snapshot = await engine.snapshot()
const write = async (): Promise<void> => {
  const { status } = await engine.handle('POST', '/v1/thing3s', undefined, { name: 'New' })
  assert.equal(status, 200)
}
const opened: (RestEngine | RawDatabase)[] = []
const bare = (): unknown => opened.push(openRaw((contentsOf(snapshot).image as SqliteImage).bytes))
const clear = async (): Promise<void> => {
  for (const one of opened.splice(0)) await one.close()
}

const dirty = openRaw((contentsOf(snapshot).image as SqliteImage).bytes)
const made: { close: () => Promise<unknown> }[] = []

const CREATE = `create an engine of ${TABLES} entities`
const TRIALS: readonly Trial[] = [
  { name: 'restore after a write', before: write, run: () => engine.restore(snapshot), bare, after: clear, ratio: 3, most: 1 },
  { name: 'reset after a write', before: write, run: () => engine.reset(), bare, after: clear, ratio: 3, most: 1 },
  { name: 'fork', run: async () => opened.push(await engine.fork()), bare, after: clear, ratio: 3, most: 1 },
  {
    name: 'fork after a write',
    before: write,
    run: async () => opened.push(await engine.fork()),
    // What a fork must copy out first, by hand too.
    bare: () => opened.push(openRaw(dirty.serialize())),
    after: clear,
    ratio: 2,
    most: 1,
  },
  {
    name: CREATE,
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
]

const { rounds, docs, isWanted } = wordsOf({ rounds: 101, names: TRIALS.map(({ name }) => name) })
const report = new Report('bench:worlds', docs)
report.say(
  `${TABLES} tables, ${(TABLES * ROWS).toLocaleString('en')} rows, ${(snapshot.size / 1e6).toFixed(2)} MB; ` +
    `medians of ${rounds} rounds.`,
)
for (let warm = 0; warm < 20; warm++) {
  await write()
  await engine.reset()
}
report.versus({ what: 'milliseconds', base: 'bare', own: 'engine' })
for (const { name, before, run, bare: bareOf, after, ratio, most } of TRIALS.filter(trial => isWanted(trial.name))) {
  const variants = { own: () => milliseconds(run), base: () => milliseconds(bareOf) }
  const { base, own } = await samplesOf(variants, { rounds: name === CREATE ? Math.ceil(rounds / 3) : rounds, before, after })
  report.compare({ name, base, own, paired: true, aim: ratio, ...(most === undefined ? {} : { most }) })
}
dirty.close()
await engine.close()
await report.end()
