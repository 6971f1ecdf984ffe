/** `npm run specs` starts a PostgreSQL server where none is named, or the named one does not answer, and where the files need one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { ROOT } from '../helpers/command.ts'
import { findNoPrograms } from './own-server.ts'

/** Nobody listens on port 1. */
const NOBODY = { PGHOST: '127.0.0.1', PGPORT: '1' }

/** Runs one spec file, as on a machine without a server unless it is told otherwise. */
function runSpec(file: string, more: NodeJS.ProcessEnv = NOBODY): { status: number | null; text: string } {
  // A run within a run would report to the outer one.
  const isOurs = (name: string): boolean => name !== 'NODE_TEST_CONTEXT' && name !== 'SPEC_POSTGRES' && !name.startsWith('PG')
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => isOurs(name)))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run-specs.ts', file], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...env, ...more },
  })
  return { status, text: stdout + stderr }
}

describe('the PostgreSQL server of a run of specs', () => {
  it('starts one of its own, or says in one line how to get one', () => {
    const { status, text } = runSpec('spec/postgres/left-databases.spec.ts')
    assert.equal(status, 0, text)
    const [line = ''] = text.split('\n')
    if (/run on SQLite alone/.test(line)) {
      assert.match(line, /: no PostgreSQL at 127\.0\.0\.1:1 \(.*\): start one, or set PGHOST.*\. Starting one: .*\.$/)
      assert.match(text, /pass 1\n/)
      return
    }
    assert.match(line, /^The specs start a PostgreSQL server of their own at 127\.0\.0\.1:\d+: no PostgreSQL at 127\.0\.0\.1:1 \(.*\)\.$/)
    assert.match(text, /pass 2\n/)
  })

  it('starts one of its own where none is named, whether one answers at the usual place or not', () => {
    const { status, text } = runSpec('spec/postgres/left-databases.spec.ts', {})
    assert.equal(status, 0, text)
    // Without programs to start one, it takes that at the usual place.
    const line =
      findNoPrograms() === false ? /^The specs start a PostgreSQL server of their own at .*: no other is named\.$/m : /pass [12]\n/
    assert.match(text, line)
  })

  it('starts none for specs that need none, nor where it is told not to', () => {
    for (const { status, text } of [
      runSpec('spec/base/accept.spec.ts'),
      runSpec('spec/postgres/left-databases.spec.ts', { ...NOBODY, SPEC_POSTGRES: '0' }),
    ]) {
      assert.equal(status, 0, text)
      assert.doesNotMatch(text, /The specs/)
    }
  })
})
