/**
 * Runs all checks, `npm run check`: types and lint side by side, since types keep one processor busy, then the quick ones, then the specs.
 * Ends at the first that fails.
 */
import { spawn } from 'node:child_process'
import { freemem } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What types and lint may take together before they collect garbage (scripts/collect-less.ts), and the specs' own start. */
const MEMORY = 8 * 2 ** 30

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Runs scripts of package.json, and returns whether all passed. What each prints comes whole, when it ends, where there are several. */
async function pass(...names: readonly string[]): Promise<boolean> {
  const passed = await Promise.all(names.map(name => run(name, names.length === 1)))
  return passed.every(Boolean)
}

function run(name: string, isAlone: boolean): Promise<boolean> {
  const child = spawn(process.execPath, ['--run', name], { cwd: root, stdio: ['ignore', ...(isAlone ? INHERITED : PIPED)] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      console.log(`${code === 0 ? '✔' : '✖'} npm run ${name}`)
      if (printed !== '') process.stdout.write(printed)
      resolve(code === 0)
    })
  })
}

const INHERITED = ['inherit', 'inherit'] as const
const PIPED = ['pipe', 'pipe'] as const

const first = freemem() < MEMORY ? [['types'], ['lint']] : [['types', 'lint']]
for (const names of [...first, ['format'], ['imports'], ['specs']])
  if (!(await pass(...names))) {
    process.exitCode = 1
    break
  }
