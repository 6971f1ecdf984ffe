/**
 * Bench: how long the engine takes for an answer, beside hand-written better-sqlite3 code for the same answer, in one run. Takes about two minutes.
 *
 *     npm run bench                              all trials
 *     npm run bench -- --rounds 2 record list    fewer rounds, and only trials whose name holds one of the words
 *
 * The columns are a median and half the distance between the quartiles, in percent of it. Answers are compared first. Each trial and contender then runs in a process of its own; every round begins with the other contender.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import Database from 'better-sqlite3'
import { CONTENDERS, compare } from './contenders.ts'
import type { ContenderName } from './contenders.ts'
import { overAndOver, requestsPerSecond, textOf } from './load.ts'
import type { FirstRequest, MemoryUse, Timing } from './run-trial.ts'
import { LARGE_SIZE, SIZE, TABLES, rowsOf } from './seed.ts'
import type { Size } from './seed.ts'
import { figure, inTurns, roundsOf, summary } from './summary.ts'
import { HTTP, LARGE, MEMORY, SHAPES, TRIALS, targetOf } from './trials.ts'
import type { Trial } from './trials.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('run-trial.ts', import.meta.url))
/** A Node that reads TypeScript by itself starts faster without a loader. */
const loader = process.features.typescript ? [] : ['--import', 'tsx']

const { values, positionals } = parseArgs({ options: { rounds: { type: 'string', default: '3' } }, allowPositionals: true })
const rounds = roundsOf(values.rounds)
const isWanted = (name: string): boolean => positionals.length === 0 || positionals.some(word => name.includes(word))

async function child<T>(...words: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [...loader, script, ...words])
  return JSON.parse(stdout) as T
}

/** Where answers alone are compared. */
const SMALL_SIZE: Size = { users: 1000, sites: 5000 }

const WIDTHS = [28, 12, 9, 12, 9, 8, 8, 6]

function row(...cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(WIDTHS[0]!) : cell.padStart(WIDTHS[index]!))).join(''))
}

async function timeTrials(trials: readonly Trial[], file?: string): Promise<void> {
  for (const trial of trials.filter(({ name }) => isWanted(name))) {
    await compare(trial, { size: file === undefined ? SIZE : SMALL_SIZE }, 20)
    const samples: Record<ContenderName, number[]> = { 'by hand': [], engine: [] }
    for (let round = 0; round < rounds; round++) {
      for (const contender of inTurns(CONTENDERS, round)) {
        const words = file === undefined ? [] : [file]
        samples[contender].push(...(await child<Timing>(trial.name, contender, ...words)).microseconds)
      }
    }
    print(trial.name, samples['by hand'], samples.engine, trial.target, ratio => ratio)
  }
}

/** @param excess what is to be at most the target, as a function of the ratio of the second to the first */
function print(
  name: string,
  ones: readonly number[],
  twos: readonly number[],
  target: number | undefined,
  excess: (ratio: number) => number,
): void {
  const [one, two] = [summary(ones), summary(twos)]
  const ratio = two.median / one.median
  row(
    name,
    figure(one.median),
    `±${one.spread.toFixed(0)}%`,
    figure(two.median),
    `±${two.spread.toFixed(0)}%`,
    ratio.toFixed(2),
    target?.toFixed(2) ?? '-',
    target === undefined ? '-' : excess(ratio) <= excess(target) ? 'ok' : 'over',
  )
}

/** A thousand shapes of request: each time another one, against each several times in a row. */
async function timeShapes(): Promise<void> {
  const samples = { row: [] as number[], turn: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const order of inTurns(['row', 'turn'] as const, round))
      samples[order].push(...(await child<Timing>('shapes', order)).microseconds)
  }
  console.log()
  row('microseconds per call', 'in a row', 'spread', 'in turn', 'spread', 'ratio', 'target', '')
  print(`${SHAPES.toLocaleString('en')} shapes of request`, samples.row, samples.turn, 2, ratio => ratio)
}

async function timeFirst(): Promise<void> {
  const starts: FirstRequest[] = []
  for (let round = 0; round < rounds * 2; round++) starts.push(await child<FirstRequest>('first'))
  const [first, later] = [summary(starts.map(start => start.first)), summary(starts.map(start => start.later))]
  const more = first.median - later.median
  console.log()
  row('milliseconds', 'later ones', 'spread', 'first', 'spread', 'more', 'target', '')
  row(
    'first request after create',
    later.median.toFixed(2),
    `±${later.spread.toFixed(0)}%`,
    first.median.toFixed(2),
    `±${first.spread.toFixed(0)}%`,
    more.toFixed(2),
    '5.00',
    more <= 5 ? 'ok' : 'over',
  )
}

const CONNECTIONS = 10

async function timeHttp(): Promise<void> {
  console.log()
  row(`requests a second, by ${CONNECTIONS}`, 'by hand', 'spread', 'engine', 'spread', 'ratio', 'target', '')
  for (const { name, target, trial } of HTTP.filter(http => isWanted(http.name))) {
    const targets = Array.from({ length: 500 }, (_, call) => targetOf(trial, call))
    const loads: Record<ContenderName, LoadSample[]> = { 'by hand': [], engine: [] }
    for (let round = 0; round < rounds; round++) {
      for (const contender of inTurns(CONTENDERS, round)) loads[contender].push(...(await loadOf(contender, targets)))
    }
    const samples = (of: keyof LoadSample): [number[], number[]] => [
      loads['by hand'].map(load => load[of]),
      loads.engine.map(load => load[of]),
    ]
    print(name, ...samples('perSecond'), target, ratio => -ratio)
    print('  its microseconds for each', ...samples('microseconds'), undefined, ratio => ratio)
  }
}

interface LoadSample {
  readonly perSecond: number
  /** Of the processor, that the server has used for a request: what else the machine does counts for little. */
  readonly microseconds: number
}

/** As in the process itself, until it does not get faster: also by connections that have been closed meanwhile. */
const WARM_UPS = [700, 700, 700]

/** What a server in a process of its own answers, a few times over, once it is warm. */
async function loadOf(contender: ContenderName, targets: readonly string[]): Promise<LoadSample[]> {
  const metered = ['--import', new URL('peers/meter.js', import.meta.url).href]
  const stdio = ['pipe', 'pipe', 'inherit', 'ipc'] as const
  const server = spawn(process.execPath, [...loader, ...metered, script, 'serve', contender], { stdio: [...stdio] })
  const closed = once(server, 'close')
  const spent = async (): Promise<number> => {
    const answer = once(server, 'message')
    server.send('spent')
    const [microseconds] = (await answer) as [number]
    return microseconds
  }
  try {
    const [line] = (await once(server.stdout!, 'data')) as [Buffer]
    const next = overAndOver(targets.map(target => textOf({ method: 'GET', target })))
    const ask = async (milliseconds: number): Promise<LoadSample> => {
      const [started, before] = [performance.now(), await spent()]
      const perSecond = await requestsPerSecond({ port: Number(line.toString()), next, connections: CONNECTIONS, milliseconds })
      const answered = (perSecond * (performance.now() - started)) / 1000
      return { perSecond, microseconds: ((await spent()) - before) / answered }
    }
    for (const milliseconds of WARM_UPS) await ask(milliseconds)
    return [await ask(300), await ask(300), await ask(300)]
  } finally {
    server.stdin!.end()
    await closed
  }
}

/** More memory than for the small table: the page cache of SQLite, which is bounded, and what the garbage collector had not taken yet. */
const MEMORY_SLACK = 32

async function watchMemory(files: readonly [small: string, large: string]): Promise<void> {
  await compare(MEMORY, { file: files[0] }, 20)
  console.log()
  row('megabytes during 1,000 lists', 'users', '', 'by hand', 'growth', 'engine', 'growth', '')
  const peaks: number[] = []
  for (const [index, { users }] of [SIZE, LARGE_SIZE].entries()) {
    const uses: MemoryUse[] = []
    for (const contender of CONTENDERS) uses.push(await child<MemoryUse>(MEMORY.name, contender, files[index]!))
    peaks.push(uses[1]!.peak)
    const [byHand, engine] = uses.map(({ peak, before }) => [megabytes(peak), `+${megabytes(peak - before)}`] as const)
    const verdict = index === 0 ? '' : peaks[1]! - peaks[0]! <= MEMORY_SLACK * 2 ** 20 ? 'ok' : 'over'
    row('peak', users.toLocaleString('en'), '', ...byHand!, ...engine!, verdict)
  }
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

function fill(file: string, size: Size): void {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  for (const statement of [...TABLES, ...rowsOf(size)]) db.exec(statement)
  db.close()
}

const [cpu] = cpus()
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpu?.model ?? 'unknown processor'} x ${cpus().length}`,
)
console.log(`${SIZE.users.toLocaleString('en')} users with ${SIZE.sites.toLocaleString('en')} sites; medians of ${rounds} rounds\n`)
row('microseconds per call', 'by hand', 'spread', 'engine', 'spread', 'ratio', 'target', '')
await timeTrials(TRIALS)
if (LARGE.some(({ name }) => isWanted(name)) || isWanted(MEMORY.name)) {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-bench-'))
  try {
    const files = [join(folder, 'small.sqlite'), join(folder, 'large.sqlite')] as const
    fill(files[0], SIZE)
    fill(files[1], LARGE_SIZE)
    await timeTrials(LARGE, files[1])
    if (isWanted(MEMORY.name)) await watchMemory(files)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
if (isWanted('shapes')) await timeShapes()
if (isWanted('first')) await timeFirst()
if (HTTP.some(({ name }) => isWanted(name))) await timeHttp()
