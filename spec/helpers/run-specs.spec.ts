/** `npm run specs` runs every file to its end, and fails where one does not get there or changes the process for the next. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ROOT } from './command.ts'

const FILES = {
  'good.spec.ts': `describe('good', () => { it('holds', () => {}); it.skip('waits', () => {}) })`,
  'false.spec.ts': `describe('false', () => { it('fails', () => { throw new Error('so it is') }) })`,
  'late.spec.ts': `describe('late', () => { it('is cancelled', { timeout: 1 }, () => new Promise(() => setTimeout(() => {}, 50))) })`,
  'hook.spec.ts': `describe('hook', () => { before(() => { throw new Error('no') }); it('never runs', () => {}) })`,
  'end.spec.ts': `describe('end', () => { it('ends the process', () => process.exit(0)) })`,
  'unheard.spec.ts': `describe('unheard', () => { it('rejects', () => new Promise(() => setTimeout(() => Promise.reject(new Error('unheard of'))))) })`,
  'lost.spec.ts': `import './nothing.ts'`,
  'changes.spec.ts': `describe('changes', () => { it('changes the environment', () => { process.env['CHANGED'] = '1' }) })`,
  'top.spec.ts': `beforeEach(() => {})\ndescribe('top', () => {})`,
}

describe('a run of specs', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-specs-'))
    for (const [name, text] of Object.entries(FILES))
      writeFileSync(join(folder, name), `import { before, beforeEach, describe, it } from 'node:test'\n${text}\n`)
  })
  after(() => rmSync(folder, { recursive: true }))

  function run(...names: readonly string[]): { status: number | null; text: string } {
    // A run within a run would report to the outer one.
    const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...env } = process.env
    const parameters = ['scripts/run-specs.ts', ...names.map(name => (name.startsWith('--') ? name : join(folder, name)))]
    const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: ROOT, encoding: 'utf8', env })
    return { status, text: stdout + stderr }
  }

  it('fails with each kind of failure, and runs the other files to their end', () => {
    const { status, text } = run(
      'good.spec.ts',
      'false.spec.ts',
      'late.spec.ts',
      'hook.spec.ts',
      'end.spec.ts',
      'lost.spec.ts',
      'unheard.spec.ts',
      'changes.spec.ts',
    )
    assert.equal(status, 1)
    for (const line of [
      /^✖ false > fails \(.*\n +Error: so it is/m,
      /^✖ late > is cancelled/m,
      /^✖ hook \(.*\n +Error: no/m,
      /^✖ \S+end\.spec\.ts: its process ended \(0\) before the file was at its end$/m,
      /^✖ An error that nobody has awaited: Error: unheard of/m,
      /^✖ \S+unheard\.spec\.ts: its process ended \(1\) before the file was at its end$/m,
      /^✖ \S+lost\.spec\.ts .*\n +Error \[ERR_MODULE_NOT_FOUND\]/m,
      /^✖ \S+changes\.spec\.ts leaves the process as it was .*\n[^]*?process\.env\.CHANGED/m,
      /^✔ \S+good\.spec\.ts \(3 tests/m,
      /^✖ failing tests:\n[^]*^✖ false > fails \(.*\n +Error: so it is/m,
      /^ℹ skipped 1$/m,
      /^ℹ files 6$/m,
    ])
      assert.match(text, line)
  })

  it('ends with 0 and node’s own words where all is well, and with 1 where one file alone fails', () => {
    const good = run('good.spec.ts')
    assert.equal(good.status, 0)
    assert.match(good.text, /ℹ pass 2\nℹ fail 0\n/)
    for (const name of ['false.spec.ts', 'end.spec.ts']) assert.equal(run(name).status, 1, name)
  })

  it('refuses hooks at the top of a file, and a file that is not there', () => {
    const top = run('good.spec.ts', 'top.spec.ts')
    assert.equal(top.status, 1)
    assert.match(top.text, /hooks at the top of a file run for all files\. Move them into a describe:\n +\S+top\.spec\.ts:2 +beforeEach/)
    assert.match(run('none.spec.ts').text, /^There is no spec file \S+none\.spec\.ts\.\n$/)
  })

  it('chooses tests by name', () => {
    const { status, text } = run('--test-name-pattern=holds', 'good.spec.ts', 'false.spec.ts')
    assert.equal(status, 0, text)
    assert.match(text, /ℹ pass 1\n/)
  })
})
