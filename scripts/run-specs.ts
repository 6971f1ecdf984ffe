/**
 * Runs the specs: the named files, or all of `spec/`. One process more than there are processors, at most five, take file after file from
 * one queue: a third of the time is waiting, and a process a file costs twice the time. A file that does not come to its end fails, and its
 * process is replaced. Specs of both databases run on a PostgreSQL server, too, which the run starts where none is named; `SPEC_POSTGRES=0`
 * leaves it out. Node strips the types of the specs itself. Options that begin with `--test-` are passed on; `--quick` runs those of the
 * API, in memory alone; `--brief` prints a line a file where a single one is run, too, and `--times` those files at the end that cost a
 * processor most. All specs together have the same seeds each time.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findSpecServer } from './spec-server.ts'
import { buildCommand, COMMAND_HELPER } from './specs/build-command.ts'
import { findFiles } from './specs/find-files.ts'
import { ENDED, FILE, noCounts, READY, RESULTS, type Counts, type Message, type Order } from './specs/messages.ts'
import { processorTime } from './specs/processor-time.ts'
import { reaches } from './specs/reaches.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const REPORT = './scripts/specs/report.ts'
/** What specs import that use Chromium. */
const CHROMIUM_HELPER = 'spec/helpers/chromium.ts'
/** What a worker imports before all else. */
const PRELOADED = ['./scripts/specs/spare-promises.ts', './scripts/load-decorators.ts']
/** Options of this script. */
const OWN = ['--quick', '--brief', '--times']
/** Files that `--times` prints. */
const DEAREST = 40
/** Lines of a failing test at the end. */
const SHOWN = 25
const args = process.argv.slice(2)
const options = args.filter(arg => arg.startsWith('--') && !OWN.includes(arg))
const isQuick = args.includes('--quick')
const named = args.filter(arg => !arg.startsWith('--'))
const patterns = isQuick && named.length === 0 ? ['spec/api/*.spec.ts'] : named
const isFiltered = options.some(option => /^--test-(?:name-pattern|only)/.test(option))

const cache = join(root, 'node_modules/.cache')
const times = readTimes()
const began = performance.now()
const files = findFilesOrEnd()
/** For a single file node's own reporter says more. */
const isAlone = files.length === 1 && !args.includes('--brief')
const costs: { readonly file: string; readonly milliseconds: number; readonly processor: number }[] = []
const queue = [...files]
/** Files that use Chromium go to one process: a browser, and a page that it shows for the first time, cost as much as some visits. */
const inBrowser = new Set(files.filter(file => reaches(root, [file], CHROMIUM_HELPER)))
let browserWorker: ChildProcess | undefined
/** Files that have come to their end. */
const ended = new Set<string>()
const total = noCounts()
const failures: string[] = []
const workers = new Set<ChildProcess>()

// Compilers that this process and specs start end before they have much to collect.
process.env['GOGC'] ??= '400'
if (isQuick) Object.assign(process.env, { SPEC_TARGETS: 'memory', SPEC_POSTGRES: '0' })
const server = await findSpecServer(root, files)
const seeds = patterns.length === 0 ? { FC_SEED: process.env['FC_SEED'] ?? 'usual' } : {}
const command = reaches(root, files, COMMAND_HELPER) ? { SPEC_COMMAND: await buildCommand(root) } : {}
const environment = {
  ...process.env,
  ...seeds,
  ...server.environment,
  ...command,
  NODE_COMPILE_CACHE: join(cache, 'compiled'),
}

// Ctrl-C reaches the workers, too. The server is stopped when they have ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    queue.length = 0
    for (const worker of workers) worker.kill(signal)
  })
try {
  const count = Math.min(files.length, Math.min(availableParallelism(), 4) + 1)
  await Promise.all(Array.from({ length: count }, work))
} finally {
  await server.stop()
}
// A server of the run's own has ended, and counts.
finish()

/**
 * Runs workers, one after another, until the queue is empty. The files of one that ends early are those that it has not come to the end of.
 */
async function work(): Promise<void> {
  do {
    const given: string[] = []
    const [code, signal] = await runWorker(given)
    const lost = isFiltered ? [] : given.filter(file => !ended.has(file))
    for (const file of lost) fail(`✖ ${file}: its process ended (${signal ?? code}) before the file was at its end`)
    if (code !== 0 && lost.length === 0 && failures.length === 0)
      fail(`✖ a process of specs ended with ${signal ?? code}, behind ${given.at(-1)}`)
  } while (queue.some(isFree))
}

/** @param given gets the files that the worker is given */
function runWorker(given: string[]): Promise<[code: number | null, signal: NodeJS.Signals | null]> {
  const reporters = (isAlone ? ['spec', REPORT] : [REPORT]).flatMap(name => [
    `--test-reporter=${name}`,
    '--test-reporter-destination=stdout',
  ])
  const parameters = [...PRELOADED.flatMap(file => ['--import', file]), ...reporters, ...options, 'scripts/specs/worker.ts']
  const worker = spawn(process.execPath, parameters, { cwd: root, stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: environment })
  workers.add(worker)
  const next = (): void => {
    const file = nextFor(worker)
    if (file !== undefined) given.push(file)
    const order: Order = file === undefined ? { type: ENDED } : { type: FILE, file, isFiltered }
    worker.send(order, () => {})
  }
  worker.on('message', (message: Message) => {
    if (message.type === RESULTS) take(message)
    // What a spec itself sends, or a library in it, is none of ours.
    if (message.type === READY || (message.type === RESULTS && message.file !== '')) next()
  })
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    const disconnected = once(worker, 'disconnect')
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      if (browserWorker === worker) browserWorker = undefined
      // Its last messages come before.
      void disconnected.then(() => resolve([code, signal]))
    })
  })
}

/** Takes the next file for a process out of the queue. The one that has the browser takes all that use it before others. */
function nextFor(worker: ChildProcess): string | undefined {
  const own = browserWorker === worker ? queue.find(file => inBrowser.has(file)) : undefined
  const file = own ?? queue.find(isFree)
  if (file === undefined) return undefined
  queue.splice(queue.indexOf(file), 1)
  if (inBrowser.has(file)) browserWorker = worker
  return file
}

/** Whether a process that has no browser may take a file. */
function isFree(file: string): boolean {
  return browserWorker === undefined || !inBrowser.has(file)
}

function take({ file, counts, failures: found, milliseconds, processor }: Extract<Message, { type: typeof RESULTS }>): void {
  for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name]
  failures.push(...found)
  if (file === '') return
  ended.add(file)
  times[file] = Math.round(milliseconds)
  costs.push({ file, milliseconds, processor })
}

function fail(failure: string): void {
  total.fail++
  failures.push(failure)
  console.log(failure)
}

/** Prints what node's own runner prints at its end, as it has done for a single file. */
function finish(): void {
  const known = failures.join('')
  for (const file of isFiltered ? [] : files) if (!ended.has(file) && !known.includes(file)) fail(`✖ ${file} did not run`)
  // With their errors, once more: a log that is long keeps its end alone.
  if (!isAlone && failures.length > 0) console.log(`\n✖ failing tests:\n${failures.map(shorten).join('\n')}\n`)
  if (args.includes('--times')) printDearest()
  const [duration_ms, processor_ms] = [performance.now() - began, processorTime()].map(Math.round)
  const lines = Object.entries({ ...total, files: ended.size, duration_ms, processor_ms })
  if (!isAlone || ended.size === 0) for (const [name, count] of lines) console.log(`ℹ ${name} ${count}`)
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'spec-times.json'), JSON.stringify(times))
  process.exitCode = failures.length === 0 ? 0 : 1
}

/** The first lines of a failure: its name, its error, and where that comes from. */
function shorten(failure: string): string {
  const lines = failure.trimEnd().split('\n')
  return lines.length <= SHOWN
    ? lines.join('\n')
    : [...lines.slice(0, SHOWN), `    ... ${lines.length - SHOWN} more lines above`].join('\n')
}

function printDearest(): void {
  console.log('\nseconds of a processor, seconds, file')
  const inSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1).padStart(8)
  for (const { file, milliseconds, processor } of costs.toSorted((one, other) => other.processor - one.processor).slice(0, DEAREST))
    console.log(`${inSeconds(processor)} ${inSeconds(milliseconds)}  ${file}`)
}

function findFilesOrEnd(): string[] {
  try {
    return findFiles(root, patterns.length === 0 ? ['spec/**/*.spec.ts'] : patterns, times)
  } catch (error) {
    console.log((error as Error).message)
    process.exit(1)
  }
}

function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(join(cache, 'spec-times.json'), 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}
