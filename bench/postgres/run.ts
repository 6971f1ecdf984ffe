/**
 * Bench of PostgreSQL: how long the engine takes for an answer on a server, beside hand-written `pg` code for the same answer in the same
 * form of transaction, and beside other ways to write it. All take turns in one process, on one database. Takes about three minutes.
 *
 *     npm run bench:postgres                              all trials
 *     npm run bench:postgres -- --rounds 5 record list    fewer rounds, and only trials whose name has one of the words
 *     npm run bench:postgres -- --docs                    writes the tables into docs/benchmarks.md, too
 *
 * The server is that of PGHOST, PGPORT, PGUSER and PGPASSWORD (default: postgres@127.0.0.1:5432). Answers are compared first.
 */
import { findNoServer } from '../../spec/postgres/server-database.ts'
import { measured } from '../measure.ts'
import { milliseconds } from '../paired.ts'
import { MISSED, Report } from '../report.ts'
import type { MemoryUse } from '../run-trial.ts'
import { LARGE_SIZE, SIZE } from '../seed.ts'
import { byRound, figure, inTurns } from '../summary.ts'
import { wordsOf } from '../words.ts'
import { CONTENDERS, compare, open, openEngine, withApart } from './contenders.ts'
import type { Contender, ContenderName } from './contenders.ts'
import { withDatabase } from './database.ts'
import { PROCESS, Processes } from './processes.ts'
import { Processor, named } from './processor.ts'
import { LARGE_READINGS, NOTED_WRITES, READINGS, WRITES } from './trials.ts'
import type { PostgresTrial } from './trials.ts'

/** More memory than on the small table: what the garbage collector had not taken yet. */
const MEMORY_SLACK = 32 * 2 ** 20

const COUNTS = [1, 2, 4] as const
const TIMES = { round: 400, warmUp: 1500 }

/** Writes last: contenders whose code cannot write have other rows then. */
const trials = [...READINGS, ...LARGE_READINGS, ...WRITES, ...NOTED_WRITES]
const { rounds, docs, isWanted } = wordsOf({ rounds: 15, names: [...trials.map(({ name }) => name), 'processes', 'memory'] })
const noServer = await findNoServer()
if (noServer !== false) {
  console.error(`bench:postgres: ${noServer}.`)
  process.exit(1)
}
/** Trials that answer no other question of a user. */
const PRINTED_ONLY = new Set(['of a million: by an index', 'of a million: sorted by an index'])

const report = new Report('bench:postgres', docs)

/** What a call of a contender takes, in microseconds: of the processor, and by the clock. */
interface Samples {
  readonly processor: number[]
  readonly clock: number[]
}

async function time(trial: PostgresTrial, contenders: readonly Contender[], processor: Processor): Promise<void> {
  // No two calls are the same, as those of writes must not be.
  let call = 0
  const able = contenders.filter(contender => contender.answers(trial))
  for (let warmUp = 0; warmUp < trial.warmUp; warmUp++) for (const contender of able) await contender.answer(trial, call++)
  const samples = new Map<ContenderName, Samples>(able.map(({ name }) => [name, { processor: [], clock: [] }]))
  for (let round = 0; round < rounds; round++)
    for (const contender of inTurns(able, round)) {
      const batch = async (): Promise<void> => {
        for (let index = 0; index < trial.calls; index++) await contender.answer(trial, call++)
      }
      const began = performance.now()
      const own = samples.get(contender.name)!
      const spent = await processor.measure(contender.name, async () => own.clock.push(((await milliseconds(batch)) * 1000) / trial.calls))
      own.processor.push((spent ?? (performance.now() - began) * 1000) / trial.calls)
    }
  show(trial, samples)
}

function show(trial: PostgresTrial, samples: ReadonlyMap<ContenderName, Samples>): void {
  const [base, own] = [samples.get('by hand')!, samples.get('engine')!]
  const ratio = (name: ContenderName, of: keyof Samples): string => {
    const other = samples.get(name)
    return other === undefined ? '' : byRound(base[of], other[of], (one, two) => two / one).toFixed(2)
  }
  const more = [ratio('engine', 'clock'), ...CONTENDERS.slice(2).map(name => ratio(name, 'processor'))]
  report.compare({
    name: trial.name,
    base: base.processor,
    own: own.processor,
    paired: true,
    more,
    aim: trial.aim,
    printedOnly: PRINTED_ONLY.has(trial.name),
  })
}

async function timeAll(wanted: readonly PostgresTrial[], url: string): Promise<void> {
  if (wanted.length > 0)
    await timeBeside(
      wanted,
      url,
      CONTENDERS.map(name => () => open(name, named(url, name))),
    )
}

/** Times writes in a database that an engine has made, beside the same hand-written ones in one without the log. */
async function timeNoted(wanted: readonly PostgresTrial[]): Promise<void> {
  if (wanted.length === 0) return
  await withDatabase(SIZE, url =>
    withDatabase(
      SIZE,
      own => timeBeside(wanted, url, [() => open('by hand', named(url, 'by hand')), () => openEngine(named(own, 'engine'), {})]),
      true,
    ),
  )
}

async function timeBeside(wanted: readonly PostgresTrial[], url: string, opening: readonly (() => Promise<Contender>)[]): Promise<void> {
  await using processor = await Processor.open(url)
  const contenders: Contender[] = []
  try {
    for (const openNext of opening) contenders.push(await openNext())
    for (const trial of wanted) await time(trial, contenders, processor)
  } finally {
    for (const contender of contenders) await contender.close()
  }
}

/** Several processes beside each other, each with four requests at a time: engines, and as many of hand-written code. */
async function timeProcesses(url: string): Promise<void> {
  const most = COUNTS.at(-1)!
  await using byHand = new Processes('by hand', url, most)
  await using engines = new Processes('engine', url, most)
  report.versus({ what: 'answers a second', base: 'by hand', own: 'engine', printedOnly: true })
  for (const trial of READINGS.filter(({ name }) => name === 'list of 100, depth 1' || name === 'one record, depth 1')) {
    for (const side of [byHand, engines]) await side.answer(trial, most, TIMES.warmUp)
    for (const count of COUNTS) {
      const samples: [number[], number[]] = [[], []]
      for (let round = 0; round < Math.min(rounds, 5); round++)
        for (const index of inTurns([0, 1] as const, round))
          samples[index].push(await [byHand, engines][index]!.answer(trial, count, TIMES.round))
      const name = `${trial.name}: ${count} ${count === 1 ? 'process' : 'processes'}`
      report.compare({ name, base: samples[0], own: samples[1], paired: true, aim: 1, isMoreBetter: true })
    }
  }
}

async function watchMemory(urls: readonly [string, string]): Promise<void> {
  report.table('peak megabytes during 300 lists', 'by hand', 'engine', MISSED)
  const peaks: number[] = []
  for (const [index, { users }] of [SIZE, LARGE_SIZE].entries()) {
    const uses: MemoryUse[] = []
    for (const name of CONTENDERS.slice(0, 2)) uses.push(await measured<MemoryUse>({ script: PROCESS }, 'memory', name, urls[index]!))
    const [one, two] = uses as [MemoryUse, MemoryUse]
    peaks.push(two.peak)
    const missed = two.peak - peaks[0]! > MEMORY_SLACK ? megabytes(peaks[0]! + MEMORY_SLACK) : ''
    report.row(`${users.toLocaleString('en')} users`, megabytes(one.peak), megabytes(two.peak), missed)
  }
}

function megabytes(bytes: number): string {
  return figure(Math.round(bytes / 2 ** 20))
}

const wanted = trials.filter(({ name }) => isWanted(name))
const ofGroup = (group: readonly PostgresTrial[]): PostgresTrial[] => group.filter(trial => wanted.includes(trial))
const [small, large, noted] = [ofGroup([...READINGS, ...WRITES]), ofGroup(LARGE_READINGS), ofGroup(NOTED_WRITES)]
if (small.length + large.length > 0)
  await withApart({ users: 1000, sites: 5000 }, async contenders => {
    for (const trial of ofGroup([...READINGS, ...LARGE_READINGS, ...WRITES])) await compare(trial, contenders, 10)
  })
report.say(`${SIZE.users.toLocaleString('en')} users with ${SIZE.sites.toLocaleString('en')} sites; medians of ${rounds} rounds.`)
await withDatabase(SIZE, async url => {
  const plot = (): void => report.plotRatios('Time of a call on PostgreSQL: engine to hand-written code', 'ratio, less is better')
  report.versus({ what: 'microseconds per call', base: 'by hand', own: 'engine', more: ['by clock', ...CONTENDERS.slice(2)] })
  await timeAll(small, url)
  await timeNoted(noted)
  if (large.length > 0 || isWanted('memory'))
    await withDatabase(LARGE_SIZE, async other => {
      await timeAll(large, other)
      plot()
      if (isWanted('memory')) await watchMemory([url, other])
    })
  else plot()
  if (isWanted('processes')) await timeProcesses(url)
})
await report.end()
