/**
 * Run the trials of a growth: one contender at all sizes, in a process of its own; `run.ts` starts it. Prints what it measured as JSON.
 *
 *     node bench/growth/run-trial.ts GROWTH CONTENDER    microseconds per call: of each trial, of each size
 *     node bench/growth/run-trial.ts create CONTENDER    microseconds that creating takes: by the engine, or by MikroORM alone with its schema
 */
import { MikroORM } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { CONTENDERS } from '../contenders.ts'
import { median } from '../summary.ts'
import { open } from './contenders.ts'
import type { Answer } from './contenders.ts'
import { GROWTHS } from './growths.ts'
import type { Growth } from './growths.ts'
import { things } from './models.ts'

/** Points of each trial: sizes and microseconds. */
export type Points = Readonly<Record<string, readonly (readonly [size: number, microseconds: number])[]>>

/** Milliseconds: before timing, and of a batch. A call that takes longer is a batch. */
const WARM_UP = 200
const BATCH = 8
const BATCHES = 9

/** Of the processor, garbage collection included: what else the machine does counts for little. */
function spent(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function time(answer: Answer, size: number): Promise<number> {
  let call = 0
  const run = async (calls: number): Promise<number> => {
    const start = spent()
    for (let index = 0; index < calls; index++) {
      const text = answer(size, call++)
      if (typeof text !== 'string') await text
    }
    return (spent() - start) / calls
  }
  const until = performance.now() + WARM_UP
  let calls = 0
  do {
    await run(1)
    calls++
  } while (calls < 3 || performance.now() < until)
  const batch = Math.max(1, Math.round((calls * BATCH) / WARM_UP))
  const samples: number[] = []
  for (let index = 0; index < BATCHES; index++) samples.push(await run(batch))
  return median(samples)
}

async function timeTrials(growth: Growth, name: (typeof CONTENDERS)[number]): Promise<Points> {
  const points: Record<string, [number, number][]> = Object.fromEntries(growth.trials.map(trial => [trial.name, []]))
  // The first size comes twice: what is compiled meanwhile would count as its cost.
  for (const [index, size] of [growth.sizes[0]!, ...growth.sizes].entries()) {
    const opened = await open(name, growth.world(size))
    try {
      for (const trial of growth.trials.filter(({ from = 0 }) => size >= from)) {
        const microseconds = await time(opened.answerTo(trial), size)
        if (index > 0) points[trial.name]!.push([size, microseconds])
      }
    } finally {
      await opened.close()
    }
  }
  return points
}

async function timeCreate(growth: Growth, name: (typeof CONTENDERS)[number]): Promise<Points> {
  const points: [number, number][] = []
  for (const size of growth.sizes) {
    const samples: number[] = []
    for (let round = 0; round < 8; round++) {
      const entities = things(size).entities() as never
      const start = spent()
      const made = name === 'engine' ? await RestEngine.create({ entities }) : new MikroORM({ entities, dbName: ':memory:' })
      if (made instanceof MikroORM) await made.schema.create()
      const microseconds = spent() - start
      await made.close()
      // The first ones are compiled meanwhile.
      if (round >= 3) samples.push(microseconds)
    }
    points.push([size, median(samples)])
  }
  return { create: points }
}

const [wanted, who] = process.argv.slice(2)
const growth = GROWTHS.find(({ name }) => name === (wanted === 'create' ? 'entities' : wanted))
const name = CONTENDERS.find(contender => contender === who)
if (growth === undefined || name === undefined) throw new Error(`No such growth or contender: ${wanted} ${who}.`)
console.log(JSON.stringify(await (wanted === 'create' ? timeCreate(growth, name) : timeTrials(growth, name))))
