/**
 * Bench: how long the engine takes for an answer, beside hand-written better-sqlite3 code for the same answer, in one run. Takes about
 * eight minutes.
 *
 *     npm run bench                              all trials
 *     npm run bench -- --rounds 2 record list    fewer rounds, and only trials whose name has one of the words
 *     npm run bench -- --docs                    writes the tables into docs/benchmarks.md, too
 *
 * Answers are compared first. Each trial and contender then runs in a process of its own, until it does not get faster; every round begins
 * with the other contender. Times are brought to one pace of the machine (`pace.ts`). Over HTTP both servers run at once and are asked in
 * turns.
 */
import { CONTENDERS, compare } from './contenders.ts'
import { CONNECTIONS, measured, ofThisTree, roundsOfLoads, timesOf, withFiles } from './measure.ts'
import type { LoadSample } from './measure.ts'
import type { AtPace } from './pace.ts'
import { MISSED, Report } from './report.ts'
import type { Comparison } from './report.ts'
import type { FirstRequest, MemoryUse } from './run-trial.ts'
import { LARGE_SIZE, SIZE } from './seed.ts'
import type { Size } from './seed.ts'
import { HTTP, LARGE, MEMORY, SHAPES, TRIALS } from './trials.ts'
import type { Trial } from './trials.ts'
import { wordsOf } from './words.ts'

const names = [...TRIALS, ...LARGE, MEMORY, ...HTTP].map(({ name }) => name)
const { rounds, docs, isWanted } = wordsOf({ rounds: 3, names: [...names, 'shapes', 'first'] })
const SIDES = [ofThisTree('by hand'), ofThisTree('engine')] as const
const FLOOR = ofThisTree('floor')

/** Where answers alone are compared. */
const SMALL_SIZE: Size = { users: 1000, sites: 5000 }

/** Trials that answer no other question of a user: of the journal, `bench:journal` has more. */
const PRINTED_ONLY = new Set(['filter through it, and more', 'the same, with the journal', 'delete, young process'])

const report = new Report('bench', docs)

async function timeTrials(trials: readonly Trial[], file?: string): Promise<void> {
  for (const trial of trials.filter(({ name }) => isWanted(name))) {
    await compare(trial, { size: file === undefined ? SIZE : SMALL_SIZE }, 20)
    const words = file === undefined ? [] : [file]
    const sides = [...SIDES, ...(trial.floor === true ? [FLOOR] : [])]
    const times = await timesOf(sides, rounds, side => measured<AtPace>(side, trial.name, side.contender, ...words))
    const [base, own, floor] = times.map(samples => samples.flat())
    report.compare({ name: trial.name, base: base!, own: own!, floor, aim: trial.aim, printedOnly: PRINTED_ONLY.has(trial.name) })
  }
}

/** A thousand shapes of request: each time another one, against each several times in a row. */
async function timeShapes(): Promise<void> {
  const [row, turn] = await timesOf(['row', 'turn'], rounds, order => measured<AtPace>(SIDES[1], 'shapes', order))
  report.versus({ what: 'microseconds per call', base: 'in a row', own: 'in turn', printedOnly: true })
  report.compare({ name: `${SHAPES.toLocaleString('en')} shapes of request`, base: row.flat(), own: turn.flat(), aim: 2 })
}

async function timeFirst(): Promise<void> {
  const starts: FirstRequest[] = []
  for (let round = 0; round < rounds * 2; round++) starts.push(await measured<FirstRequest>(SIDES[1], 'first'))
  report.versus({ what: 'milliseconds', base: 'later ones', own: 'the first' })
  const [base, own] = [starts.map(({ later }) => later), starts.map(({ first }) => first)]
  report.compare({ name: 'first request after create', base, own, excess: 5 })
}

async function timeHttp(): Promise<void> {
  const wanted = HTTP.filter(({ name }) => isWanted(name))
  const spent: Comparison[] = []
  report.versus({ what: `requests a second, by ${CONNECTIONS}`, base: 'by hand', own: 'engine', floor: true })
  for (const http of wanted) {
    const sides = [...SIDES, ...(http.trial.floor === true ? [FLOOR] : [])]
    const [base, own, floor] = await roundsOfLoads(sides, rounds, http)
    const samples = (of: keyof LoadSample) => ({
      base: base!.flat().map(load => load[of]),
      own: own!.flat().map(load => load[of]),
      floor: floor?.flat().map(load => load[of]),
      paired: true,
    })
    report.compare({ name: http.name, ...samples('perSecond'), aim: http.aim, isMoreBetter: true })
    spent.push({ name: http.name, ...samples('microseconds') })
  }
  report.versus({ what: 'microseconds of the server for each', base: 'by hand', own: 'engine', floor: true, printedOnly: true })
  for (const comparison of spent) report.compare(comparison)
}

/** More memory than for the small table: the page cache of SQLite, which is bounded, and what the garbage collector had not taken yet. */
const MEMORY_SLACK = 32
/** The engine's peak beside that by hand. */
const MEMORY_AIM = 1.6

async function watchMemory(files: readonly string[]): Promise<void> {
  await compare(MEMORY, { file: files[0]! }, 20)
  report.table('peak megabytes during 1,000 lists', 'by hand', 'engine', 'ratio', MISSED)
  const peaks: number[] = []
  for (const [index, { users }] of [SIZE, LARGE_SIZE].entries()) {
    const uses: MemoryUse[] = []
    for (const contender of CONTENDERS) uses.push(await measured<MemoryUse>(SIDES[1], MEMORY.name, contender, files[index]!))
    peaks.push(uses[1]!.peak)
    const ratio = uses[1]!.peak / uses[0]!.peak
    const isReached = ratio <= MEMORY_AIM && peaks.at(-1)! - peaks[0]! <= MEMORY_SLACK * 2 ** 20
    const cells = [...uses.map(({ peak }) => megabytes(peak)), ratio.toFixed(2), isReached ? '' : MEMORY_AIM.toFixed(2)]
    report.row(`${users.toLocaleString('en')} users`, ...cells)
  }
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

report.say(`${SIZE.users.toLocaleString('en')} users with ${SIZE.sites.toLocaleString('en')} sites; medians of ${rounds} rounds.`)
report.versus({ what: 'microseconds per call', base: 'by hand', own: 'engine', floor: true })
await timeTrials(TRIALS)
if (LARGE.some(({ name }) => isWanted(name)) || isWanted(MEMORY.name)) {
  await withFiles([SIZE, LARGE_SIZE], async files => {
    await timeTrials(LARGE, files[1])
    report.plotRatios('Time of a call: engine to hand-written code', 'ratio, less is better')
    if (isWanted(MEMORY.name)) await watchMemory(files)
  })
}
if (isWanted('shapes')) await timeShapes()
if (isWanted('first')) await timeFirst()
if (HTTP.some(({ name }) => isWanted(name))) await timeHttp()
await report.end()
