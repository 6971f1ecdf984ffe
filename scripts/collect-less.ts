/**
 * Runs a script of an installed package that starts a program in Go, which then collects garbage at five times what it holds instead of
 * twice: types and lint end before they have much to collect, and collecting is a fifth of their work. A GOGC of one's own is kept.
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
  env: { ...process.env, GOGC: process.env['GOGC'] ?? '400' },
})
if (error !== undefined) throw error
process.exitCode = status ?? 1
