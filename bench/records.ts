/**
 * Bench of the records of rows: `node bench/records.ts`. Compares the function that is generated for a plan ([decision
 * 2](../docs/decisions/0002-generated-row-builders.md)) with a loop over the attributes, for 100 rows of each of 20 resources, and with
 * their JSON behind it, as an answer needs it. In turns, in one process. Takes a few seconds.
 */
import assert from 'node:assert/strict'
import { BuilderSource } from '../lib/databases/sql/builder-source.ts'
import { microseconds, samplesOf } from './paired.ts'
import { byRound, figure, median } from './summary.ts'

const RESOURCES = 20
const ATTRIBUTES = 10
const ROWS = 100
const ROUNDS = 41
const BATCH = 20

type Decode = (value: unknown) => unknown

const decodeBoolean: Decode = value => (value === null ? null : value !== 0)
const decodeTime: Decode = value => (value === null ? null : new Date(value as number).toISOString())
/** Most values are shown as they are stored. */
const decoders = Array.from({ length: ATTRIBUTES }, (_, at) => (at === 3 ? decodeBoolean : at === 7 ? decodeTime : undefined))

const resources = Array.from({ length: RESOURCES }, (_, resource) => {
  const names = Array.from({ length: ATTRIBUTES }, (_each, at) => `attribute${at}Of${resource}`)
  const rows = Array.from({ length: ROWS }, (_each, row) =>
    names.map((name, at) => (at === 3 ? row % 2 : at === 7 ? 1e12 + row : at % 2 === 0 ? row * at : `${name} ${row}`)),
  )
  const source = new BuilderSource()
  const entries = names.map((name, at) => {
    const decode = decoders[at]
    return [name, decode === undefined ? source.column(at) : source.call(decode, source.column(at))] as const
  })
  const looped = (row: readonly unknown[]): object => {
    const record: Record<string, unknown> = {}
    for (const [at, name] of names.entries()) {
      const decode = decoders[at]
      record[name] = decode === undefined ? row[at] : decode(row[at])
    }
    return record
  }
  return { rows, generated: source.finish(source.object(entries)) as (row: readonly unknown[]) => object, looped }
})

for (const { rows, generated, looped } of resources) assert.deepEqual(rows.map(generated), rows.map(looped))

async function compare(name: string, use: (records: object[]) => unknown): Promise<void> {
  const time = (way: 'generated' | 'looped') => () =>
    microseconds(BATCH, async () => {
      for (const resource of resources) use(resource.rows.map(row => resource[way](row)))
    })
  const samples = await samplesOf({ looped: time('looped'), generated: time('generated') }, { rounds: ROUNDS })
  const [loop, own] = [median(samples.looped), median(samples.generated)].map(each => each / RESOURCES)
  const ratio = byRound(samples.looped, samples.generated, (one, two) => two / one)
  console.log(`${name.padEnd(24)}${figure(loop!).padStart(12)}${figure(own!).padStart(12)}${ratio.toFixed(2).padStart(8)}`)
}

console.log(`${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, microseconds for ${ROWS} records\n`)
console.log(`${''.padEnd(24)}${'a loop'.padStart(12)}${'generated'.padStart(12)}${'ratio'.padStart(8)}`)
await compare('records', records => records.length)
await compare('records and their JSON', records => JSON.stringify(records))
