/**
 * Run a trial: one trial by one contender, in a process of its own; `run.ts` starts it. Prints what it measured as JSON.
 *
 *     node bench/run-trial.ts TRIAL CONTENDER          microseconds per call, of each batch
 *     node bench/run-trial.ts memory CONTENDER FILE    bytes of memory at most, and before
 */
import { CONTENDERS, open } from './contenders.ts'
import type { Contender } from './contenders.ts'
import { SIZE } from './seed.ts'
import { MEMORY, TRIALS } from './trials.ts'
import type { Trial } from './trials.ts'

/** What a process measured. */
export interface Timing {
  readonly microseconds: readonly number[]
}

export interface MemoryUse {
  readonly before: number
  readonly peak: number
}

const BATCHES = 15

async function time(trial: Trial, contender: Contender): Promise<Timing> {
  let call = 0
  const batch = async (calls: number): Promise<number> => {
    const start = process.hrtime.bigint()
    for (let index = 0; index < calls; index++) {
      const answer = contender.answer(trial, call++)
      if (typeof answer !== 'string') await answer
    }
    return Number(process.hrtime.bigint() - start) / 1000
  }
  await batch(trial.warmUp)
  const microseconds: number[] = []
  for (let index = 0; index < BATCHES; index++) microseconds.push((await batch(trial.calls)) / trial.calls)
  return { microseconds }
}

async function watch(trial: Trial, contender: Contender): Promise<MemoryUse> {
  for (let call = 0; call < trial.warmUp; call++) await contender.answer(trial, call)
  const before = process.memoryUsage.rss()
  let peak = before
  for (let call = 0; call < trial.calls; call++) {
    await contender.answer(trial, call)
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  return { before, peak }
}

const [trialName, contenderName, file] = process.argv.slice(2)
const name = CONTENDERS.find(known => known === contenderName)
const trial = trialName === MEMORY.name ? MEMORY : TRIALS.find(known => known.name === trialName)
if (name === undefined || trial === undefined) throw new Error(`No such trial or contender: ${trialName}, ${contenderName}.`)
const contender = await open(name, file === undefined ? { size: SIZE } : { file })
console.log(JSON.stringify(trial === MEMORY ? await watch(trial, contender) : await time(trial, contender)))
await contender.close()
