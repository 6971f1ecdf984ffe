/** `npm run specs` starts a PostgreSQL server where none answers, and where the named files need one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { ROOT } from '../helpers/command.ts'

/** Runs one spec file as on a machine without a server. */
function runSpec(file: string, more: NodeJS.ProcessEnv = {}): { status: number | null; text: string } {
  // Nobody listens on port 1. A run within a run would report to the outer one.
  const { NODE_TEST_CONTEXT: _, SPEC_POSTGRES: __, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/run-specs.ts', file], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...env, PGHOST: '127.0.0.1', PGPORT: '1', ...more },
  })
  return { status, text: stdout + stderr }
}

describe('a run of specs without a PostgreSQL server', () => {
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

  it('starts none for specs that need none, nor where it is told not to', () => {
    for (const { status, text } of [
      runSpec('spec/base/accept.spec.ts'),
      runSpec('spec/postgres/left-databases.spec.ts', { SPEC_POSTGRES: '0' }),
    ]) {
      assert.equal(status, 0, text)
      assert.doesNotMatch(text, /The specs/)
    }
  })
})
