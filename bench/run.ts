/**
 * Bench: how long the engine takes for an answer, beside hand-written better-sqlite3 code for the same answer, in one run. Takes about two minutes.
 *
 *     npm run bench                              all trials
 *     npm run bench -- --rounds 2 record list    fewer rounds, and only trials whose name holds one of the words
 *
 * Answers are compared first. Each trial and contender then runs in a process of its own; every round begins with the other contender.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import Database from 'better-sqlite3'
import { CONTENDERS, compare } from './contenders.ts'
import type { ContenderName } from './contenders.ts'
import type { MemoryUse, Timing } from './run-trial.ts'
import { SIZE, TABLES, rowsOf } from './seed.ts'
import type { Size } from './seed.ts'
import { MEMORY, TRIALS } from './trials.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('run-trial.ts', import.meta.url))
/** A Node that reads TypeScript by itself starts faster without a loader. */
const loader = process.features.typescript ? [] : ['--import', 'tsx']

const { values, positionals } = parseArgs({ options: { rounds: { type: 'string', default: '4' } }, allowPositionals: true })
const rounds = Number(values.rounds)
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new RangeError(`--rounds must be an integer of 1 or more, got "${values.rounds}".`)
const isWanted = (name: string): boolean => positionals.length === 0 || positionals.some(word => name.includes(word))

async function child<T>(...words: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [...loader, script, ...words])
  return JSON.parse(stdout) as T
}

function quantile(sorted: readonly number[], part: number): number {
  const at = (sorted.length - 1) * part
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at))
}

/** The median of all batches of all rounds, and half the distance between the quartiles in percent of it. */
function summary(samples: readonly number[]): { median: number; spread: number } {
  const sorted = [...samples].sort((a, b) => a - b)
  const median = quantile(sorted, 0.5)
  return { median, spread: ((quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / median) * 100 }
}

function figure(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}

const WIDTHS = [28, 12, 9, 12, 9, 8, 8, 6]

function row(...cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(WIDTHS[0]!) : cell.padStart(WIDTHS[index]!))).join(''))
}

async function timeTrials(): Promise<void> {
  row('microseconds per call', 'by hand', 'spread', 'engine', 'spread', 'ratio', 'target', '')
  for (const trial of TRIALS.filter(({ name }) => isWanted(name))) {
    await compare(trial, { size: SIZE }, 20)
    const samples: Record<ContenderName, number[]> = { 'by hand': [], engine: [] }
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? CONTENDERS : [...CONTENDERS].reverse()
      for (const contender of order) samples[contender].push(...(await child<Timing>(trial.name, contender)).microseconds)
    }
    const [byHand, engine] = [summary(samples['by hand']), summary(samples.engine)]
    const ratio = engine.median / byHand.median
    const { target } = trial
    row(
      trial.name,
      figure(byHand.median),
      `±${byHand.spread.toFixed(0)}%`,
      figure(engine.median),
      `±${engine.spread.toFixed(0)}%`,
      ratio.toFixed(2),
      target?.toFixed(2) ?? '-',
      target === undefined ? '-' : ratio <= target ? 'ok' : 'over',
    )
  }
}

/** More memory than for the small table: the page cache of SQLite, which is bounded, and what the garbage collector had not taken yet. */
const MEMORY_SLACK = 32

async function watchMemory(folder: string): Promise<void> {
  const sizes: Size[] = [SIZE, { users: 1_000_000, sites: 1_000_000 }]
  const files = sizes.map(({ users }) => join(folder, `${users}.sqlite`))
  for (const [index, size] of sizes.entries()) fill(files[index]!, size)
  await compare(MEMORY, { file: files[0]! }, 20)
  console.log()
  row('megabytes during 1,000 lists', 'users', '', 'by hand', 'growth', 'engine', 'growth', '')
  const peaks: number[] = []
  for (const [index, { users }] of sizes.entries()) {
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
await timeTrials()
if (isWanted(MEMORY.name)) {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-bench-'))
  try {
    await watchMemory(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
