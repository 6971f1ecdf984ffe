/**
 * A process that answers the calls of a trial, several at a time; `run.ts` starts it. Prints what it measured as JSON.
 *
 *     node bench/postgres/process.ts answer CONTENDER URL    for each line `TRIAL MILLISECONDS` of its input: calls answered in that time
 *     node bench/postgres/process.ts memory CONTENDER URL    bytes of memory at most during lists, and before
 */
import { createInterface } from 'node:readline'
import type { MemoryUse } from '../run-trial.ts'
import { CONTENDERS, open } from './contenders.ts'
import type { Contender } from './contenders.ts'
import { LISTS, READINGS } from './trials.ts'
import type { PostgresTrial } from './trials.ts'

/** Requests that each process has open at a time. */
const AT_A_TIME = 4

/** Lists that are read before the size of the heap is stable, and then. */
const LISTS_READ = 300

async function answerFor(trial: PostgresTrial, contender: Contender, milliseconds: number): Promise<number> {
  const until = performance.now() + milliseconds
  let call = 0
  const converse = async (): Promise<void> => {
    while (performance.now() < until) await contender.answer(trial, call++)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, converse))
  return call
}

async function watch(contender: Contender): Promise<MemoryUse> {
  for (let call = 0; call < LISTS_READ; call++) await contender.answer(LISTS, call)
  let peak = process.memoryUsage.rss()
  for (let call = 0; call < LISTS_READ; call++) {
    await contender.answer(LISTS, call)
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  return { peak }
}

const [what, who, url] = process.argv.slice(2)
const contender = await open(
  CONTENDERS.find(name => name === who)!,
  url!,
)
if (what === 'memory') console.log(JSON.stringify(await watch(contender)))
else
  for await (const line of createInterface(process.stdin)) {
    const [name, milliseconds] = line.split('\t')
    console.log(
      await answerFor(
        READINGS.find(trial => trial.name === name)!,
        contender,
        Number(milliseconds),
      ),
    )
  }
await contender.close()
