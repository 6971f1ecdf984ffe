/**
 * Runs the specs: `node --test` over the named files, or over all of `spec/`. The processes share V8's compile cache, so that each starts
 * in half the time. Where a PostgreSQL server answers, specs of both databases run on it, too; `SPEC_POSTGRES=0` leaves it out. Node strips the types of the specs itself. Options that begin with `--test-` are passed on. All specs together have the same seeds each time.
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dropLeft, findNoServer } from '../spec/postgres/server-database.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)
const patterns = args.filter(arg => !arg.startsWith('--'))
// Relative to the folder of the repository, where the specs run.
const HOOKS = './scripts/load-decorators.ts'
const options = ['--import', HOOKS, '--test', '--test-concurrency=2', ...args.filter(arg => arg.startsWith('--'))]

const seeds = patterns.length === 0 ? { FC_SEED: process.env['FC_SEED'] ?? 'usual' } : {}

/** Whether specs of both databases run on PostgreSQL, too. */
async function findPostgres(): Promise<'0' | '1'> {
  if (process.env['SPEC_POSTGRES'] === '0') return '0'
  const noServer = await findNoServer()
  if (noServer !== false) {
    console.log(`The specs run on SQLite alone: ${noServer}.`)
    return '0'
  }
  await dropLeft()
  return '1'
}

const { status, signal } = spawnSync(process.execPath, [...options, ...(patterns.length === 0 ? ['spec/**/*.spec.ts'] : patterns)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...seeds, SPEC_POSTGRES: await findPostgres(), NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled') },
})
process.exitCode = signal === null ? (status ?? 1) : 1
