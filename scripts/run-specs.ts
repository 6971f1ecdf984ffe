/**
 * Runs the specs: `node --test` over the named files, or over all of `spec/`. The processes share V8's compile cache, so that each starts
 * in half the time. Specs of both databases run on a PostgreSQL server, too, which is started where none answers; `SPEC_POSTGRES=0` leaves it out. Node strips the types of the specs itself. Options that begin with `--test-` are passed on. All specs together have the same seeds each time.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findSpecServer } from './spec-server.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)
const patterns = args.filter(arg => !arg.startsWith('--'))
// Relative to the folder of the repository, where the specs run.
const HOOKS = './scripts/load-decorators.ts'
const options = ['--import', HOOKS, '--test', '--test-concurrency=2', ...args.filter(arg => arg.startsWith('--'))]

const seeds = patterns.length === 0 ? { FC_SEED: process.env['FC_SEED'] ?? 'usual' } : {}

const files = patterns.length === 0 ? ['spec/**/*.spec.ts'] : patterns
const server = await findSpecServer(root, files)
const specs = spawn(process.execPath, [...options, ...files], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...seeds, ...server.environment, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled') },
})
// Ctrl-C reaches the specs, too. The server is stopped when they have ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => specs.kill(signal))
try {
  const [status] = (await once(specs, 'exit')) as [number | null]
  process.exitCode = status ?? 1
} finally {
  await server.stop()
}
