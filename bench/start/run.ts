/**
 * Bench of the start: importing the published package, creating an API and answering once, beside bare MikroORM with the same entities; the
 * memory that stays; and the command with a JSON file, beside json-server. Each trial is a process of its own; the contenders take turns.
 * Builds the package first. Takes about three minutes.
 *
 *     npm run bench:start
 *     npm run bench:start -- --rounds 5 command    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:start -- --docs                writes the tables into docs/benchmarks.md, too
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { samplesOf } from '../paired.ts'
import { install } from '../peers/install.ts'
import { PEERS } from '../peers/peers.ts'
import { findFreePort } from '../peers/running.ts'
import { Report } from '../report.ts'
import { wordsOf } from '../words.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What one process measured. */
interface Measure {
  readonly imported: Stage
  readonly created: Stage
  readonly answered: Stage
  /** Bytes of memory, when garbage has been collected. */
  readonly resident: number
}

/** Time of the clock, and of the processor with all threads. */
interface Stage {
  readonly milliseconds: number
  readonly processor: number
}

type Contender = 'engine' | 'mikro-orm'

const IMPORT = 'import'
const ANSWER = 'import, create, first answer'
const CACHED = 'the same, with a warm compile cache'
const QUICK = 'the same, with mikro-rest/quick-start'
const MEMORY = 'memory'
const MANY = 'create 300 entities'
const COMMAND = 'command'

const AIMS = { [IMPORT]: 1, [ANSWER]: 0.9, [CACHED]: 0.9, [QUICK]: 0.9, [MEMORY]: 1.05, [MANY]: 1.05, [COMMAND]: 1.5 }

const { rounds, docs, isWanted } = wordsOf({ rounds: 15, names: Object.keys(AIMS) })
const report = new Report('bench:start', docs)

/** The package as npm installs it: without the source, beside the packages of this repository. */
function makePackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-start-'))
  for (const name of ['package.json', 'bin', 'dist']) cpSync(join(root, name), join(folder, name), { recursive: true })
  cpSync(fileURLToPath(new URL('trial.js', import.meta.url)), join(folder, 'trial.js'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  return folder
}

const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: __, ...plainEnv } = process.env

/** What the processes of a sample are started with. */
interface Start {
  readonly size: 'few' | 'many'
  readonly env?: NodeJS.ProcessEnv
  /** Whether the engine gets its quick start, which MikroORM does not have. */
  readonly quick?: boolean
}

function measure(folder: string, contender: Contender, { size, env = plainEnv, quick = false }: Start): Measure {
  const words = ['--expose-gc', join(folder, 'trial.js'), contender, size, ...(quick && contender === 'engine' ? ['quick'] : [])]
  return JSON.parse(execFileSync(process.execPath, words, { cwd: folder, env, encoding: 'utf8' })) as Measure
}

type Samples = Readonly<Record<'base' | 'own', readonly Measure[]>>

/** One process of each contender a round, after one that is not counted. */
function sample(folder: string, times: number, start: Start): Samples {
  const samples: Record<'base' | 'own', Measure[]> = { base: [], own: [] }
  for (let round = -1; round < times; round++) {
    const turns = [['base', 'mikro-orm'] as const, ['own', 'engine'] as const]
    for (const [side, contender] of round % 2 === 0 ? turns : turns.toReversed()) {
      const found = measure(folder, contender, start)
      if (round >= 0) samples[side].push(found)
    }
  }
  return samples
}

type Read = (measured: Measure) => number
const sum = (unit: keyof Stage, stages: readonly ('imported' | 'created' | 'answered')[]): Read => {
  return measured => stages.reduce((total, stage) => total + measured[stage][unit], 0)
}
const ALL = ['imported', 'created', 'answered'] as const

interface Row {
  readonly name: string
  readonly samples: Samples
  readonly read: Read
  /** Undefined: a part of another row, which the terminal alone shows. */
  readonly aim?: number
}

function compare({ name, samples, read, aim }: Row): void {
  const printedOnly = aim === undefined
  report.compare({ name, base: samples.base.map(read), own: samples.own.map(read), paired: true, aim, printedOnly })
}

type Sampled = Readonly<Record<'few' | 'cached' | 'quick' | 'many', Samples | undefined>>

function compareTimes(unit: keyof Stage, { few, cached, quick, many }: Sampled): void {
  if (few !== undefined) {
    compare({ name: IMPORT, samples: few, read: sum(unit, ['imported']), aim: AIMS[IMPORT] })
    compare({ name: ANSWER, samples: few, read: sum(unit, ALL), aim: AIMS[ANSWER] })
    compare({ name: 'of it, create', samples: few, read: sum(unit, ['created']) })
    compare({ name: 'of it, first answer', samples: few, read: sum(unit, ['answered']) })
  }
  if (cached !== undefined) compare({ name: CACHED, samples: cached, read: sum(unit, ALL), aim: AIMS[CACHED] })
  if (quick !== undefined) compare({ name: QUICK, samples: quick, read: sum(unit, ALL), aim: AIMS[QUICK] })
  if (many !== undefined) compare({ name: MANY, samples: many, read: sum(unit, ['created']), aim: AIMS[MANY] })
}

/** Runs a server until it has answered, and gives the time that it took. */
async function timeServer(cwd: string, words: (port: number) => readonly string[], path: string): Promise<number> {
  const port = await findFreePort()
  let status = 0
  const began = performance.now()
  const child = spawn(process.execPath, words(port), { cwd, env: { ...plainEnv, NODE_ENV: 'production' }, stdio: 'ignore' })
  try {
    while (status === 0) {
      if (child.exitCode !== null) throw new Error(`${words(port).join(' ')} has ended with exit code ${child.exitCode}.`)
      status = await fetch(`http://127.0.0.1:${port}${path}`).then(
        async response => {
          await response.text()
          return response.status
        },
        () => 0,
      )
      if (status === 0) await sleep(5)
    }
    if (status !== 200) throw new Error(`${words(port).join(' ')} answers ${path} with ${status}.`)
    return performance.now() - began
  } finally {
    child.kill()
  }
}

/** Collections of a few records, as one writes them by hand. */
const DATA = {
  posts: Array.from({ length: 20 }, (_each, index) => ({
    id: String(index + 1),
    title: `Post ${index}`,
    authorId: String((index % 5) + 1),
  })),
  authors: Array.from({ length: 5 }, (_each, index) => ({ id: String(index + 1), name: `Author ${index}` })),
}

async function timeCommand(folder: string): Promise<void> {
  const peer = PEERS.find(({ name }) => name === 'json-server 1.0 beta')!
  const file = await install(peer)
  const data = join(folder, 'data')
  // Which json-server serves, and does not start without.
  mkdirSync(join(data, 'public'), { recursive: true })
  writeFileSync(join(data, 'db.json'), JSON.stringify(DATA, undefined, 2))
  const variants = {
    base: () => timeServer(data, port => [file, '--host', '127.0.0.1', '--port', String(port), 'db.json'], '/posts'),
    own: () => timeServer(data, port => [join(folder, 'bin/serve.js'), 'db.json', '--port', String(port)], '/v1/posts'),
  }
  // The first start of each leaves in the cache what later ones find there.
  for (const variant of Object.values(variants)) await variant()
  const { base, own } = await samplesOf(variants, { rounds })
  report.versus({ what: 'milliseconds to the first answer', base: 'json-server', own: 'mikro-rest' })
  report.compare({ name: `${COMMAND}: db.json`, base, own, paired: true, aim: AIMS[COMMAND] })
}

execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
const folder = makePackage()
try {
  report.say(`The package as it is published, in new processes; medians of ${rounds} rounds. Time begins when Node has started.`)
  const few = [IMPORT, ANSWER, MEMORY].some(isWanted) ? sample(folder, rounds, { size: 'few' }) : undefined
  const env = { ...plainEnv, NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const cached = isWanted(CACHED) ? sample(folder, rounds, { size: 'few', env }) : undefined
  const cacheless = { ...plainEnv, NODE_DISABLE_COMPILE_CACHE: '1' }
  const quick = isWanted(QUICK) ? sample(folder, rounds, { size: 'few', env: cacheless, quick: true }) : undefined
  const many = isWanted(MANY) ? sample(folder, Math.ceil(rounds / 3), { size: 'many' }) : undefined
  const sampled = { few, cached, quick, many }
  if (Object.values(sampled).some(samples => samples !== undefined)) {
    report.versus({ what: 'milliseconds', base: 'MikroORM', own: 'engine' })
    compareTimes('milliseconds', sampled)
    report.versus({ what: 'milliseconds of the processor', base: 'MikroORM', own: 'engine', printedOnly: true })
    compareTimes('processor', sampled)
  }
  if (few !== undefined) {
    report.versus({ what: 'megabytes', base: 'MikroORM', own: 'engine' })
    compare({ name: MEMORY, samples: few, read: ({ resident }) => resident / 1e6, aim: AIMS[MEMORY] })
  }
  if (isWanted(COMMAND)) await timeCommand(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
await report.end()
