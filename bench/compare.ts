/**
 * Bench of two trees: the trials of `npm run bench` by the engine as it is here, uncommitted changes included, and as it is in another
 * commit. Takes about five minutes for all trials.
 *
 *     npm run bench:compare main                           all trials
 *     npm run bench:compare HEAD~3 record list             only trials whose name has one of the words
 *     npm run bench:compare -- HEAD --rounds 10 record     more rounds, which see smaller differences
 *
 * The other tree is written into a temporary folder, with the bench of this one. It runs on the packages that are installed here, when its
 * lock file is the same, else npm installs its own. Each trial and tree runs in a process of its own; every round begins with the other
 * tree. Times are brought to one pace of the machine (`pace.ts`). The spreads are those of whole processes. Faster and slower are said only
 * beyond the noise, which takes five rounds or more. What the other tree cannot answer is left out, with the reason.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { comparable } from './contenders.ts'
import { CONNECTIONS, measured, ofThisTree, roundsOfLoads, timesOf, withFiles } from './measure.ts'
import type { LoadSample, Side } from './measure.ts'
import type { AtPace } from './pace.ts'
import { Report } from './report.ts'
import type { FirstRequest } from './run-trial.ts'
import { LARGE_SIZE } from './seed.ts'
import { figure, median, summary, verdictOf } from './summary.ts'
import { HTTP, LARGE, TRIALS } from './trials.ts'
import { wordsOf } from './words.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const names = [...TRIALS, ...LARGE, ...HTTP].map(({ name }) => name)
const {
  rounds,
  given: [ref = ''],
  isWanted,
} = wordsOf({ rounds: 6, names: [...names, 'shapes', 'first'], before: ['REF'], docs: false })

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** A comparison that is not possible, with its reason in one line. It is not an error of the bench. */
class Refusal extends Error {}

/** @throws Refusal when there is no such commit. */
function commitOf(name: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  } catch {
    throw new Refusal(`"${name}" is not a commit, branch or tag of this repository.`)
  }
}

/**
 * Writes the files of a commit into a folder, with the bench of this tree and packages to run on.
 *
 * @throws Refusal when it has no library, or its packages cannot be installed.
 */
function checkOut(commit: string, folder: string): void {
  // A separate index, so that the repository and its list of worktrees stay unchanged.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, '.index') }
  execFileSync('git', ['read-tree', commit], { cwd: root, env })
  execFileSync('git', ['checkout-index', '--all', `--prefix=${folder}/`], { cwd: root, env })
  rmSync(join(folder, 'bench'), { recursive: true, force: true })
  cpSync(join(root, 'bench'), join(folder, 'bench'), { recursive: true })
  if (!existsSync(join(folder, 'lib', 'index.ts'))) throw new Refusal(`${ref} has no lib/index.ts yet.`)
  const lock = (tree: string): string => readFileSync(join(tree, 'package-lock.json'), 'utf8')
  if (lock(folder) === lock(root)) {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    return
  }
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
  if (npm.status !== 0) throw new Refusal(`the packages of ${ref} cannot be installed: npm ci has failed.`)
}

type Trees = readonly [other: Side, own: Side]

/** One row. */
interface Measurement {
  readonly name: string
  /** One figure of each process. */
  readonly sample: (trees: Trees) => Promise<readonly [number[], number[]]>
  /** The expected answers of the trial, as texts. Undefined: another trial has compared them already. */
  readonly answers?: (side: Side) => Promise<string[]>
}

const notes: string[] = []
let report: Report
/** The name of the other commit in tables. */
let short = ref

/** Prints a table of the wanted trials. `more`: larger figures are faster, as for requests a second. */
async function table(what: string, trees: Trees, measurements: readonly Measurement[], more = false): Promise<void> {
  const wanted = measurements.filter(({ name }) => isWanted(name))
  if (wanted.length === 0) return
  report.table(what, short, 'spread', 'this tree', 'spread', 'ratio', 'verdict')
  for (const { name, sample, answers } of wanted) {
    const reason = answers === undefined ? undefined : await reasonAgainst(trees, name, answers)
    if (reason !== undefined) {
      notes.push(`${name} is left out: ${reason}`)
      continue
    }
    const [before, now] = await sample(trees)
    const [one, two] = [summary(before), summary(now)]
    const spread = (percent: number): string => `±${percent.toFixed(1)}%`
    const verdict = more ? verdictOf(now, before) : verdictOf(before, now)
    const ratio = (two.median / one.median).toFixed(3)
    report.row(name, figure(one.median), spread(one.spread), figure(two.median), spread(two.spread), ratio, verdict)
  }
}

/** Returns why the other tree cannot be compared; undefined: it can. Errors of this tree are thrown. */
async function reasonAgainst(trees: Trees, name: string, answers: (side: Side) => Promise<string[]>): Promise<string | undefined> {
  const now = (await answers(trees[1])).map(comparable)
  let before: string[]
  try {
    before = (await answers(trees[0])).map(comparable)
  } catch (error) {
    return `${short} fails. ${(error as Error).message}`
  }
  const call = before.findIndex((answer, index) => answer !== now[index])
  if (call >= 0) notes.push(`${name} is answered differently: ${excerpts(before[call]!, now[call]!)}`)
  return undefined
}

/** Returns the texts around their first difference. */
function excerpts(before: string, now: string): string {
  let at = 0
  while (before[at] === now[at]) at++
  const part = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40))
  return `${part(before)} in ${short}, ${part(now)} in this tree.`
}

/** The median of each process, at the pace of the run. */
async function timed(trees: Trees, ask: (side: Side) => Promise<AtPace>): Promise<readonly [number[], number[]]> {
  const [before, now] = await timesOf(trees, rounds, ask)
  return [before.map(median), now.map(median)]
}

function trial(name: string, file?: string): Measurement {
  const words = file === undefined ? [] : [file]
  return {
    name,
    sample: trees => timed(trees, side => measured<AtPace>(side, name, 'engine', ...words)),
    answers: side => measured<string[]>(side, 'answers', name, ...words),
  }
}

async function compareTrees(trees: Trees): Promise<void> {
  const small = TRIALS.map(({ name }) => trial(name))
  const shapes: Measurement = { name: 'shapes', sample: both => timed(both, side => measured<AtPace>(side, 'shapes', 'turn')) }
  await table('microseconds per call', trees, [...small, { ...shapes, answers: small[0]!.answers! }])
  if (LARGE.some(({ name }) => isWanted(name))) {
    await withFiles([LARGE_SIZE], files => {
      const large = LARGE.map(({ name }) => trial(name, files[0]))
      return table('microseconds, of a million rows', trees, large)
    })
  }
  const first = (both: Trees): Promise<readonly [number[], number[]]> =>
    timed(both, async side => {
      const { first: milliseconds, pace } = await measured<FirstRequest>(side, 'first')
      return { microseconds: [milliseconds], pace }
    })
  await table('milliseconds', trees, [{ name: 'first', sample: first, answers: small[1]!.answers! }])
  const http = HTTP.map(one => ({
    name: one.name,
    sample: async (both: Trees) => {
      const [before, now] = await roundsOfLoads(both, rounds, one)
      const middle = (loads: LoadSample[]): number => median(loads.map(({ perSecond }) => perSecond))
      return [before.map(middle), now.map(middle)] as const
    },
    answers: (side: Side) => measured<string[]>(side, 'answers', one.name),
  }))
  await table(`requests a second, by ${CONNECTIONS}`, trees, http, true)
  if (notes.length > 0) console.log()
  for (const note of notes) report.say(note)
}

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-compare-'))
try {
  const commit = commitOf(ref)
  short = git('rev-parse', '--short', commit)
  report = new Report('bench:compare', false)
  const isChanged = git('status', '--porcelain', '--untracked-files=all', '--', 'lib', 'package-lock.json') !== ''
  const own = `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with uncommitted changes' : ''}`
  report.say(`This tree, ${own}, beside ${ref}: ${git('log', '-1', '--format=%h %s', commit)}`)
  report.say(`Medians of ${rounds} processes each; a ratio below 1 is less in this tree.`)
  checkOut(commit, folder)
  await compareTrees([{ contender: 'engine', script: join(folder, 'bench', 'run-trial.ts') }, ofThisTree('engine')])
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(`bench:compare: ${error.message}`)
  process.exitCode = 2
} finally {
  rmSync(folder, { recursive: true, force: true })
}
