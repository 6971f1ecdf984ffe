/**
 * Hunt: runs all specs with properties over and over, each round with a new seed and all runs, until the time is over: `npm run hunt --
 * --minutes 10`, ten by default. Prints the seed of each round, and what fails with its smallest counterexample. Words select files by
 * name; `--seed N` begins with that seed. Exit code 1 when something has failed.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** Files that run together: a hunt ends between two such runs. */
const TOGETHER = 6
/** Seconds that a failing property may look for a smaller counterexample. */
const SHRINK = '60'
/** Lines of a run that say nothing new here: what passed, its counts, stacks. */
const NOISE = /^(?:✔|ℹ|# |\s+at |\s*$)/

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
  allowPositionals: true,
})
const minutes = positive('minutes', values.minutes)
const first = values.seed === undefined ? undefined : positive('seed', values.seed)

const files = globSync('spec/**/*.spec.ts', { cwd: root })
  .filter(file => /from '[./]+\/helpers\/check\.ts'/.test(readFileSync(join(root, file), 'utf8')))
  .filter(file => positionals.length === 0 || positionals.some(word => file.includes(word)))
if (files.length === 0) throw new Error(`No spec with properties is called ${positionals.join(' or ')}.`)

const end = performance.now() + minutes * 60_000
const failed: string[] = []
let runs = 0
for (let round = 0; performance.now() < end; round++) {
  const seed = round === 0 && first !== undefined ? first : Math.trunc(Math.random() * 0x7fffffff)
  console.log(`FC_SEED=${seed}`)
  const left = shuffled()
  while (left.length > 0 && performance.now() < end) hunt(left.splice(0, TOGETHER), seed)
}
console.log(`${runs} files were run, ${failed.length} failed.${failed.map(each => `\n${each}`).join('')}`)
process.exitCode = failed.length === 0 ? 0 : 1

function hunt(together: readonly string[], seed: number): void {
  const env = { ...process.env, FC_SEED: String(seed), FC_SHRINK: SHRINK }
  const { status, stdout } = spawnSync(process.execPath, ['scripts/run-specs.ts', ...together], {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  runs += together.length
  if (status === 0) return
  const lines = stdout.split('\n')
  console.log(lines.filter(line => !NOISE.test(line)).join('\n'))
  const names = together.filter(file => lines.some(line => line.startsWith('✖') && line.includes(file)))
  for (const file of names) failed.push(`FC_SEED=${seed} npm run specs -- ${file}`)
  if (names.length === 0) failed.push(`FC_SEED=${seed} npm run specs -- ${together.join(' ')}`)
}

/** A short hunt does not begin with the same files each time. */
function shuffled(): string[] {
  const left = [...files]
  return Array.from(files, () => left.splice(Math.trunc(Math.random() * left.length), 1)[0]!)
}

function positive(name: string, text: string): number {
  const number = Number(text)
  if (number > 0) return number
  throw new Error(`--${name} takes a number above 0, got ${JSON.stringify(text)}.`)
}
