/** Measure: trials by two sides, each in a process of its own and in turns: two contenders of this tree, or the engines of two trees. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import type { Answerer } from './contenders.ts'
import { overAndOver, requestsPerSecond, textOf } from './load.ts'
import { factors } from './pace.ts'
import type { AtPace } from './pace.ts'
import { SIZE, TABLES, rowsOf } from './seed.ts'
import type { Size } from './seed.ts'
import { inTurns } from './summary.ts'
import { sentBy } from './trials.ts'
import type { HttpTrial, Trial } from './trials.ts'
import { agree } from './warm-up.ts'

const run = promisify(execFile)
/** A Node that reads TypeScript by itself starts faster without a loader. */
const loader = process.features.typescript ? [] : ['--import', import.meta.resolve('tsx')]

/** Who is measured. */
export interface Side {
  readonly contender: Answerer
  /** The bench/run-trial.ts that measures it: that of its tree. */
  readonly script: string
}

const ownScript = fileURLToPath(new URL('run-trial.ts', import.meta.url))

/** A contender of this tree. */
export function ofThisTree(contender: Answerer): Side {
  return { contender, script: ownScript }
}

/**
 * What a process prints that runs `run-trial.ts` with these words.
 *
 * @throws Error with the message of the process when it fails.
 */
export async function measured<T>({ script }: Pick<Side, 'script'>, ...words: string[]): Promise<T> {
  try {
    const { stdout } = await run(process.execPath, [...loader, script, ...words], { maxBuffer: 2 ** 28 })
    return JSON.parse(stdout) as T
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const line = stderr.split('\n').find(text => /^\w*Error\b/.test(text))
    throw new Error(line ?? (error as Error).message, { cause: error })
  }
}

/** What each side gives in each round, the sides in turns. */
export async function roundsOf<const Sides extends readonly unknown[], T>(
  sides: Sides,
  rounds: number,
  ask: (side: Sides[number]) => Promise<T>,
): Promise<{ readonly [Index in keyof Sides]: T[] }> {
  const given = sides.map((): T[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const index of inTurns([...sides.keys()], round)) given[index]!.push(await ask(sides[index]))
  }
  return given as { readonly [Index in keyof Sides]: T[] }
}

/** Times of several sides, a process a round for each, at the pace of the run. */
export async function timesOf<const Sides extends readonly unknown[]>(
  sides: Sides,
  rounds: number,
  ask: (side: Sides[number]) => Promise<AtPace>,
): Promise<{ readonly [Index in keyof Sides]: number[][] }> {
  const given: readonly AtPace[][] = await roundsOf(sides, rounds, ask)
  const all = factors(given.flat())
  const scaled = given.map((times, side) =>
    times.map(({ microseconds }, round) => microseconds.map(each => each * all[side * rounds + round]!)),
  )
  return scaled as unknown as { readonly [Index in keyof Sides]: number[][] }
}

export const CONNECTIONS = 10

export interface LoadSample {
  /** Requests. */
  readonly perSecond: number
  /** Of the processor, that the server has used for a request: what else the machine does counts for little. */
  readonly microseconds: number
}

/** Milliseconds of a load, and how many there are at most before one counts. */
const LOAD = 300
const MOST_WARM_UPS = 20

/** A server in a process of its own. */
interface Served {
  ask(): Promise<LoadSample>
  end(): Promise<void>
}

async function serve({ script, contender }: Side, trial: Trial, file?: string): Promise<Served> {
  const metered = ['--import', new URL('peers/meter.js', import.meta.url).href]
  const words = [...loader, ...metered, script, 'serve', contender, ...(file === undefined ? [] : [file])]
  const server = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  const closed = once(server, 'close')
  const spent = async (): Promise<number> => {
    const answer = once(server, 'message')
    server.send('spent')
    const [microseconds] = (await answer) as [number]
    return microseconds
  }
  const first = await Promise.race([once(server.stdout!, 'data') as Promise<[Buffer]>, closed.then(() => undefined)])
  if (first === undefined) throw new Error('The server has not started.')
  const next = textsOf(trial)
  return {
    async ask() {
      const [started, before] = [performance.now(), await spent()]
      const port = Number(first[0].toString())
      const perSecond = await requestsPerSecond({ port, next, connections: CONNECTIONS, milliseconds: LOAD })
      const answered = (perSecond * (performance.now() - started)) / 1000
      return { perSecond, microseconds: ((await spent()) - before) / answered }
    },
    async end() {
      server.stdin!.end()
      await closed
    },
  }
}

/** The texts of the requests of a trial. What changes something is never sent twice: the second time it would change nothing. */
function textsOf(trial: Trial): () => string {
  const text = (call: number): string => textOf(sentBy(trial, call))
  if (trial.request(0).method === 'GET') return overAndOver(Array.from({ length: 500 }, (_, call) => text(call)))
  let call = 0
  return () => text(call++)
}

/**
 * What servers answer, each in a process of its own, once they are warm. They are asked in turns, a few times over, since the machine may
 * change its pace: a sample of one belongs to that of the other in the same place.
 */
async function loadsOf(sides: readonly Side[], trial: Trial, files: readonly string[]): Promise<readonly LoadSample[][]> {
  const servers: Served[] = []
  try {
    for (const [index, side] of sides.entries()) servers.push(await serve(side, trial, files[index]))
    for (const server of servers) {
      const costs: number[] = []
      // Also by connections that have been closed meanwhile.
      while (costs.length < MOST_WARM_UPS && !agree(costs)) costs.push((await server.ask()).microseconds)
    }
    const samples = sides.map((): LoadSample[] => [])
    for (let turn = 0; turn < 4; turn++)
      for (const index of inTurns([...sides.keys()], turn)) samples[index]!.push(await servers[index]!.ask())
    return samples
  } finally {
    for (const server of servers) await server.end()
  }
}

/** The same in new processes each round. */
export async function roundsOfLoads<const Sides extends readonly Side[]>(
  sides: Sides,
  rounds: number,
  { trial, place }: HttpTrial,
): Promise<{ readonly [Index in keyof Sides]: LoadSample[][] }> {
  const given = sides.map((): LoadSample[][] => [])
  const ask = async (files: readonly string[]): Promise<void> => {
    for (const [index, loads] of (await loadsOf(sides, trial, files)).entries()) given[index]!.push(loads)
  }
  for (let round = 0; round < rounds; round++) {
    if (place === undefined) await ask([])
    else
      await withFiles(place === 'own' ? [] : sides.map(() => SIZE), (files, folder) =>
        ask(place === 'own' ? sides.map((_, side) => join(folder, `own-${side}.sqlite`)) : files),
      )
  }
  return given as unknown as { readonly [Index in keyof Sides]: LoadSample[][] }
}

/** Writes files with as many rows into a folder, which is gone when `work` is done. */
export async function withFiles<T>(sizes: readonly Size[], work: (files: readonly string[], folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-bench-'))
  try {
    const files = sizes.map((size, index) => {
      const file = join(folder, `${index}.sqlite`)
      const db = new Database(file)
      db.pragma('journal_mode = wal')
      for (const statement of [...TABLES, ...rowsOf(size)]) db.exec(statement)
      db.close()
      return file
    })
    return await work(files, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
