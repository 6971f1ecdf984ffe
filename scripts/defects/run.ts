/**
 * Run defects: plants one at a time in a copy of the repository, runs the specs that should find it until the first fails, and prints
 * which. What they do not find on fewer targets is tried on every one: the suite then needs them. `npm run defects` takes words that select
 * by name. Exit code 1 where a defect is not found on fewer targets, or can be planted no more.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { DEFECTS, type Defect } from './list.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const PARTS = ['bin', 'docs', 'fixtures', 'lib', 'scripts', 'spec', 'package.json', 'tsconfig.json', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'] // prettier-ignore

/** Milliseconds after which a run that does not end is a failure, too. */
const PATIENCE = 300_000

const words = process.argv.slice(2)
const chosen = DEFECTS.filter(({ name }) => words.length === 0 || words.some(word => name.includes(word)))
const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-defects-'))
try {
  for (const part of PARTS) cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  let found = 0
  for (const defect of chosen) if (await isFound(defect)) found++
  console.log(`${found} of ${chosen.length} defects were found.`)
  process.exitCode = found === chosen.length ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function isFound({ name, file, find, replace, specs }: Defect): Promise<boolean> {
  const path = join(folder, 'lib', file)
  const text = readFileSync(path, 'utf8')
  if (text.split(find).length !== 2) {
    console.log(`-  ${name}: lib/${file} has not one ${JSON.stringify(find)} any more`)
    return false
  }
  writeFileSync(
    path,
    text.replace(find, () => replace),
  )
  const fewer = await firstFailure(specs, 'fewer')
  const other = fewer ?? (await firstFailure(specs, 'every'))
  writeFileSync(path, text)
  console.log(`${fewer === undefined ? (other === undefined ? '-' : '!') : '+'}  ${name}: ${other ?? 'not found'}`)
  return fewer !== undefined
}

/** Returns the first test that fails; undefined when all hold. */
async function firstFailure(specs: readonly string[], targets: 'fewer' | 'every'): Promise<string | undefined> {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const env = { ...inherited, SPEC_TARGETS: targets, FC_SEED: 'usual', FC_SHRINK: '0' }
  const files = specs.map(spec => `spec/${spec}.spec.ts`)
  const run = spawn(process.execPath, ['scripts/run-specs.ts', '--brief', ...files], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(run, 'exit')
  let failure: string | undefined
  const timer = setTimeout(() => {
    failure ??= `no end after ${PATIENCE / 60_000} minutes`
    run.kill()
  }, PATIENCE)
  for await (const line of createInterface(run.stdout)) {
    if (failure !== undefined || !/^✖ .*(?: > |its process ended|\.spec\.ts )/.test(line)) continue
    failure = line.slice(2)
    run.kill()
  }
  clearTimeout(timer)
  const [code] = (await ended) as [number | null]
  return failure ?? (code === 0 ? undefined : `the run ended with ${code}`)
}
