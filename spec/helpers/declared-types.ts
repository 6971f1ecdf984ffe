/**
 * The declarations of the library, as the package has them: the compiler writes them once for all specs that compile the code of users.
 * They follow from the text of lib/ alone, which names their folder. `npm run types` says whether lib/ passes its checks.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashFiles, keep, use } from '../../scripts/specs/kept-folders.ts'
import { ROOT } from './command.ts'

const PREFIX = 'declared-types-'

/** The compiler. */
export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** Returns the folder that stands for dist/ of the package. It is for all who ask: nobody changes it. */
export function declaredTypes(): string {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const sources = ['tsconfig.json', 'tsconfig.build-types.json', 'package-lock.json', ...globSync('lib/**/*.ts', { cwd: ROOT }).toSorted()]
  const folder = join(cache, PREFIX + hashFiles(ROOT, sources))
  if (!existsSync(folder)) write(folder, cache)
  use(folder, cache, PREFIX)
  return folder
}

function write(folder: string, cache: string): void {
  const made = mkdtempSync(join(cache, 'declaring-'))
  try {
    const args = [TSC, '-p', join(ROOT, 'tsconfig.build-types.json'), '--noCheck', '--outDir', made]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
    writeFileSync(join(made, 'package.json'), JSON.stringify({ type: 'module' }))
    keep(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
