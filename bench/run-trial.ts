/**
 * Run a trial: one trial by one contender, in a process of its own; `run.ts` starts it. Prints what it measured as JSON.
 *
 *     node bench/run-trial.ts TRIAL CONTENDER [FILE]   microseconds per call, of each batch, at one pace
 *     node bench/run-trial.ts answers TRIAL [FILE]     what the engine answers to the first calls, as texts
 *     node bench/run-trial.ts memory CONTENDER FILE    bytes of memory at most, and before
 *     node bench/run-trial.ts shapes turn|row          microseconds per call, of each batch: each of another shape than the last, or few
 *     node bench/run-trial.ts first                    milliseconds of the first request, and of a later one
 *     node bench/run-trial.ts serve CONTENDER [FILE]   serves by HTTP until its input ends; prints the port. A FILE that is missing is made
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { CONTENDERS, open } from './contenders.ts'
import type { Contender, Source } from './contenders.ts'
import { atOnePace, pace, spent, steadySamples } from './pace.ts'
import type { AtPace } from './pace.ts'
import { SIZE } from './seed.ts'
import { HTTP, LARGE, MEMORY, SHAPES, TRIALS, shapeOf } from './trials.ts'
import type { Trial } from './trials.ts'
import { median } from './summary.ts'
import { warmUp } from './warm-up.ts'

export interface MemoryUse {
  readonly peak: number
}

export interface FirstRequest {
  /** Milliseconds. */
  readonly first: number
  readonly later: number
  readonly pace: number
}

const BATCHES = 15

async function time(trial: Trial, contender: Contender): Promise<AtPace> {
  let call = 0
  const batch = async (calls: number): Promise<void> => {
    for (let index = 0; index < calls; index++) {
      const answer = contender.answer(trial, call++)
      if (typeof answer !== 'string') await answer
    }
  }
  const { calls, warmUp: least, most = Infinity } = trial
  // What is timed, and timed again, comes after it.
  await warmUp({ calls: least, most: trial.isYoung === true ? least : most - calls * BATCHES * 2, batch: calls }, batch)
  const { microseconds, ...rest } = atOnePace(await steadySamples(BATCHES, () => batch(calls)))
  return { ...rest, microseconds: microseconds.map(each => each / calls) }
}

async function watch(trial: Trial, contender: Contender): Promise<MemoryUse> {
  for (let call = 0; call < trial.warmUp; call++) await contender.answer(trial, call)
  let peak = process.memoryUsage.rss()
  for (let call = 0; call < trial.calls; call++) {
    await contender.answer(trial, call)
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  return { peak }
}

/** Every shape four times a batch: one after another, or each four times in a row. */
async function timeShapes(inTurn: boolean): Promise<AtPace> {
  const repeats = 4
  const trial: Trial = {
    name: 'shapes',
    aim: undefined,
    warmUp: SHAPES * 2,
    calls: SHAPES * repeats,
    request: call => shapeOf(inTurn ? call % SHAPES : Math.floor(call / repeats) % SHAPES),
    byHand: () => '',
  }
  return withContender('engine', { size: SIZE }, contender => time(trial, contender))
}

/** The first answer of an engine on the smallest data, and the median of the next. */
async function timeFirst(): Promise<FirstRequest> {
  const contender = await open('engine', { size: { users: 10, sites: 50 } })
  const milliseconds: number[] = []
  const paces = [pace(), pace(), pace()]
  for (let call = 0; call < 21; call++) {
    const start = spent()
    await contender.answer(TRIALS[1]!, call)
    milliseconds.push((spent() - start) / 1000)
  }
  paces.push(pace(), pace(), pace())
  await contender.close()
  const [first, ...later] = milliseconds
  return { first: first!, later: median(later), pace: median(paces) }
}

async function withContender<T>(name: string | undefined, source: Source, work: (contender: Contender) => Promise<T>): Promise<T> {
  const known = [...CONTENDERS, 'floor' as const].find(other => other === name)
  if (known === undefined) throw new Error(`No such contender: ${name}.`)
  const contender = await open(known, source)
  try {
    return await work(contender)
  } finally {
    await contender.close()
  }
}

async function serve(contender: Contender): Promise<void> {
  console.log(JSON.stringify(await contender.serve()))
  process.stdin.resume()
  await once(process.stdin, 'end')
}

/** @throws Error when an answer is not a success. */
async function answersTo(trial: Trial, contender: Contender): Promise<string[]> {
  const answers: string[] = []
  for (let call = 0; call < 5; call++) {
    const answer = await contender.answer(trial, call)
    if (!answer.startsWith('{"success":true')) throw new Error(`it answers ${answer.slice(0, 300)}`)
    answers.push(answer)
  }
  return answers
}

/** @throws Error when there is none of that name. */
function trialOf(wanted: string | undefined): Trial {
  const trial = [...TRIALS, ...LARGE, ...HTTP.map(http => ({ ...http.trial, name: http.name }))].find(known => known.name === wanted)
  if (trial === undefined) throw new Error(`No such trial: ${wanted}.`)
  return trial
}

const [name, who, file] = process.argv.slice(2)
const source: Source = file === undefined ? { size: SIZE } : { file }
if (name === 'first') console.log(JSON.stringify(await timeFirst()))
else if (name === 'shapes') console.log(JSON.stringify(await timeShapes(who === 'turn')))
else if (name === 'serve') {
  const isNew = file !== undefined && !existsSync(file)
  await withContender(who, isNew ? { size: SIZE, file } : source, serve)
} else if (name === MEMORY.name) console.log(JSON.stringify(await withContender(who, source, contender => watch(MEMORY, contender))))
else if (name === 'answers') {
  const rows: Source = file === undefined ? { size: { users: 1000, sites: 5000 } } : { file }
  const trial = trialOf(who)
  const asked = { ...rows, journal: trial.journal === true }
  console.log(JSON.stringify(await withContender('engine', asked, contender => answersTo(trial, contender))))
} else {
  const trial = trialOf(name)
  const rows = file === undefined ? { size: trial.size ?? SIZE } : source
  console.log(JSON.stringify(await withContender(who, { ...rows, journal: trial.journal === true }, contender => time(trial, contender))))
}
