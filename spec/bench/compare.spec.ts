/**
 * Comparing this tree with a commit, as a process: it runs, answers for what it cannot do, and leaves nothing behind. What it measures is
 * noise here.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'mikro-rest-spec-'))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function compare(...words: string[]): Promise<Ended> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  // tsx would transform all sources again: it keeps its work in the folder for temporary files, which is new.
  const loader = process.features.typescript === false ? ['--import', import.meta.resolve('tsx')] : []
  const args = [...loader, 'bench/compare.ts', ...words]
  return new Promise(resolve => {
    execFile(process.execPath, args, { cwd: root, env: { ...env, TMPDIR: temporary, TEMP: temporary } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

/** Whose own files tsx keeps in the same folder. */
const left = (): string[] => readdirSync(temporary).filter(name => name.startsWith('mikro-rest'))

describe('comparing with a commit', { skip: !existsSync(join(root, '.git')) && 'not in a repository' }, () => {
  after(() => rmSync(temporary, { recursive: true, force: true }))

  it('measures both trees and says too little to tell of one round', { timeout: 600_000 }, async () => {
    // The trial that warms up for the shortest time.
    const { code, stdout, stderr } = await compare('HEAD', '--rounds', '1', 'update, young')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^This tree, \w+(?: with uncommitted changes)?, beside HEAD: /m)
    assert.match(stdout, /^update, young process +[\d,.]+ +±0\.0% +[\d,.]+ +±0\.0% +\d\.\d{3} +too few rounds$/m)
    assert.deepEqual(left(), [])
  })

  it('refuses a name that is no commit in one line', async () => {
    const { code, stdout, stderr } = await compare('no-such-branch')
    assert.deepEqual(
      [code, stdout, stderr],
      [2, '', 'bench:compare: "no-such-branch" is not a commit, branch or tag of this repository.\n'],
    )
    assert.deepEqual(left(), [])
  })
})
