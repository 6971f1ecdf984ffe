/**
 * Runs a script of an installed package that starts a program in Go, which then collects no garbage before it holds 2.6 GB: types and lint
 * end before that, and collecting would be a fifth of their work. A GOGC or GOMEMLIMIT of one's own is kept.
 *
 *     node scripts/collect-less.ts typescript/bin/tsc -p tsconfig.json
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../node_modules', import.meta.url))
const [script = '', ...args] = process.argv.slice(2)
const { status, error } = spawnSync(process.execPath, [join(packages, script), ...args], {
  stdio: 'inherit',
  env: { GOGC: 'off', GOMEMLIMIT: '2600MiB', ...process.env },
})
if (error !== undefined) throw error
process.exitCode = status ?? 1
