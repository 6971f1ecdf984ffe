/**
 * The declarations of the library, as the package has them: the compiler writes them once for all specs that compile the code of users. They follow from the text of lib/ alone,
 * which names their folder in node_modules/.cache; that lib/ passes the checks `npm run types` says.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './command.ts'

const PREFIX = 'declared-types-'
/** Milliseconds after which declarations that no run has used are removed. */
const KEPT = 24 * 3_600_000

/** The compiler. */
export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** Returns the folder that stands for dist/ of the package. It is for all who ask: nobody changes it. */
export function declaredTypes(): string {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = join(cache, PREFIX + hashOfSources())
  if (!existsSync(folder)) write(folder, cache)
  utimesSync(folder, new Date(), new Date())
  removeOld(cache)
  return folder
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = ['tsconfig.json', 'tsconfig.build-types.json', 'package-lock.json', ...globSync('lib/**/*.ts', { cwd: ROOT }).toSorted()]
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}

function write(folder: string, cache: string): void {
  const made = mkdtempSync(join(cache, 'declaring-'))
  try {
    const args = [TSC, '-p', join(ROOT, 'tsconfig.build-types.json'), '--noCheck', '--outDir', made]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
    writeFileSync(join(made, 'package.json'), JSON.stringify({ type: 'module' }))
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name)
    if (name.startsWith(PREFIX) && Date.now() - statSync(folder).mtimeMs > KEPT) rmSync(folder, { recursive: true, force: true })
  }
}
