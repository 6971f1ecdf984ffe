/**
 * Run the trials of a growth: one contender at all sizes, in a process of its own; `run.ts` starts it. Prints what it measured as JSON.
 *
 *     node bench/growth/run-trial.ts GROWTH CONTENDER    microseconds per call: of each trial, of each size
 *     node bench/growth/run-trial.ts TASK CONTENDER      the same of a task
 *     node bench/growth/run-trial.ts create CONTENDER    microseconds of creating: the engine, or MikroORM alone with its schema
 */
import { MikroORM } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { CONTENDERS } from '../contenders.ts'
import { paced, steadySamples } from '../pace.ts'
import { median } from '../summary.ts'
import { open } from './contenders.ts'
import { GROWTHS } from './growths.ts'
import type { Growth } from './growths.ts'
import { things } from './models.ts'
import { TASKS } from './tasks.ts'
import type { Task } from './tasks.ts'

/** Points of each trial: sizes and microseconds. */
export type Points = Readonly<Record<string, readonly (readonly [size: number, microseconds: number])[]>>

/** Milliseconds: before timing, and of a batch. A call that takes longer is a batch. */
const WARM_UP = 300
/** Before the first size, which is timed again. */
const FIRST_WARM_UP = 2000
/** Of tasks, before the first size: MikroORM's unit of work is compiled only after hundreds of calls. */
const LONG_WARM_UP = 3000
const BATCH = 8
const BATCHES = 9
/** A call of so many milliseconds needs no more than a few. */
const LONG_CALL = 1000

/** Times in units of the pace, and the paces: all sizes are brought to one of them in the end. */
const paces: number[] = []

async function time(answer: (size: number, call: number) => unknown, size: number, warmUp = WARM_UP): Promise<number> {
  let call = 0
  const run = async (calls: number): Promise<void> => {
    for (let index = 0; index < calls; index++) {
      const done = answer(size, call++)
      if (done instanceof Promise) await done
    }
  }
  const started = performance.now()
  let calls = 0
  do {
    await run(1)
    calls++
  } while ((calls < 3 && performance.now() - started < LONG_CALL) || performance.now() - started < warmUp)
  const isLong = (performance.now() - started) / calls > LONG_CALL
  const batch = Math.max(1, Math.round((calls * BATCH) / warmUp))
  const samples = await steadySamples(isLong ? 2 : BATCHES, () => run(batch))
  paces.push(...samples.map(({ pace }) => pace))
  return median(samples.map(({ microseconds, pace }) => microseconds / pace)) / batch
}

/** At the pace of the process. */
function scaled(points: Points): Points {
  const pace = median(paces)
  return Object.fromEntries(Object.entries(points).map(([trial, all]) => [trial, all.map(([size, time]) => [size, time * pace] as const)]))
}

async function timeTrials(growth: Growth, name: (typeof CONTENDERS)[number]): Promise<Points> {
  const points: Record<string, [number, number][]> = Object.fromEntries(growth.trials.map(trial => [trial.name, []]))
  // The first size comes twice: what is compiled meanwhile would count as its cost.
  for (const [index, size] of [growth.sizes[0]!, ...growth.sizes].entries()) {
    const opened = await open(name, growth.world(size))
    try {
      for (const trial of growth.trials.filter(({ from = 0 }) => size >= from)) {
        const microseconds = await time(opened.answerTo(trial), size, index === 0 ? FIRST_WARM_UP : WARM_UP)
        if (index > 0) points[trial.name]!.push([size, microseconds])
      }
    } finally {
      await opened.close()
    }
  }
  return points
}

async function timeTask({ trial, sizes, open: openTask }: Task, name: (typeof CONTENDERS)[number]): Promise<Points> {
  const points: [number, number][] = []
  // The first size comes twice, as above.
  for (const [index, size] of [sizes[0]!, ...sizes].entries()) {
    const task = await openTask[name](size)
    try {
      const microseconds = await time((_size, call) => task.run(call), size, index === 0 ? LONG_WARM_UP : WARM_UP)
      if (index > 0) points.push([size, microseconds])
    } finally {
      await task.close()
    }
  }
  return { [trial]: points }
}

async function timeCreate(growth: Growth, name: (typeof CONTENDERS)[number]): Promise<Points> {
  const points: [number, number][] = []
  for (const size of growth.sizes) {
    const samples: number[] = []
    for (let round = 0; round < 8; round++) {
      const entities = things(size).entities() as never
      const made: (RestEngine | MikroORM)[] = []
      const { microseconds, pace } = await paced(async () => {
        made.push(name === 'engine' ? await RestEngine.create({ entities }) : new MikroORM({ entities, dbName: ':memory:' }))
        if (made[0] instanceof MikroORM) await made[0].schema.create()
      })
      await made[0]!.close()
      // The first ones are compiled meanwhile.
      if (round < 3) continue
      samples.push(microseconds / pace)
      paces.push(pace)
    }
    points.push([size, median(samples)])
  }
  return { create: points }
}

const [wanted, who] = process.argv.slice(2)
const task = TASKS.find(({ name }) => name === wanted)
const growth = GROWTHS.find(({ name }) => name === (wanted === 'create' ? 'entities' : wanted))
const name = CONTENDERS.find(contender => contender === who)
if ((growth ?? task) === undefined || name === undefined) throw new Error(`No such growth or contender: ${wanted} ${who}.`)
const measuring = task !== undefined ? timeTask(task, name) : wanted === 'create' ? timeCreate(growth!, name) : timeTrials(growth!, name)
console.log(JSON.stringify(scaled(await measuring)))
