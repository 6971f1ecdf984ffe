/** Measure: trials by two sides, each in a process of its own and in turns: two contenders of this tree, or the engines of two trees. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import type { ContenderName } from './contenders.ts'
import { overAndOver, requestsPerSecond, textOf } from './load.ts'
import { TABLES, rowsOf } from './seed.ts'
import type { Size } from './seed.ts'
import { inTurns } from './summary.ts'
import { targetOf } from './trials.ts'
import type { HttpTrial } from './trials.ts'

const run = promisify(execFile)
/** A Node that reads TypeScript by itself starts faster without a loader. */
const loader = process.features.typescript ? [] : ['--import', import.meta.resolve('tsx')]

/** Who is measured. */
export interface Side {
  readonly contender: ContenderName
  /** The bench/run-trial.ts that measures it: that of its tree. */
  readonly script: string
}

const ownScript = fileURLToPath(new URL('run-trial.ts', import.meta.url))

/** A contender of this tree. */
export function ofThisTree(contender: ContenderName): Side {
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
export async function roundsOfBoth<T>(
  sides: readonly [Side, Side],
  rounds: number,
  ask: (side: Side) => Promise<T>,
): Promise<readonly [T[], T[]]> {
  const given = [[], []] as [T[], T[]]
  for (let round = 0; round < rounds; round++) {
    for (const index of inTurns([0, 1] as const, round)) given[index].push(await ask(sides[index]))
  }
  return given
}

export const CONNECTIONS = 10

export interface LoadSample {
  /** Requests. */
  readonly perSecond: number
  /** Of the processor, that the server has used for a request: what else the machine does counts for little. */
  readonly microseconds: number
}

/** Milliseconds: as in the process itself, until it does not get faster, also by connections that have been closed meanwhile. */
const WARM_UPS = [700, 700, 700]

/** What a server in a process of its own answers once it is warm, a few times over. */
export async function loadOf({ script, contender }: Side, { trial }: HttpTrial): Promise<LoadSample[]> {
  const texts = Array.from({ length: 500 }, (_, call) => textOf({ method: 'GET', target: targetOf(trial, call) }))
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
    const first = await Promise.race([once(server.stdout!, 'data') as Promise<[Buffer]>, closed.then(() => undefined)])
    if (first === undefined) throw new Error('The server has not started.')
    const next = overAndOver(texts)
    const ask = async (milliseconds: number): Promise<LoadSample> => {
      const [started, before] = [performance.now(), await spent()]
      const perSecond = await requestsPerSecond({ port: Number(first[0].toString()), next, connections: CONNECTIONS, milliseconds })
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

/** Writes files with as many rows into a folder, which is gone when `work` is done. */
export async function withFiles<T>(sizes: readonly Size[], work: (files: readonly string[]) => Promise<T>): Promise<T> {
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
    return await work(files)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
