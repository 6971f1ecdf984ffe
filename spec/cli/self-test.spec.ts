/** `--self-test`: what is printed, the exit code, and that no file is changed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { COMMAND } from '../helpers/command.ts'

const ORM = import.meta.resolve('@mikro-orm/core')
const { FORCE_COLOR: _, ...ENV } = process.env

let folder: string
function run(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [COMMAND, ...args], { cwd: folder, env: ENV, encoding: 'utf8' })
}

describe('--self-test', { timeout: 120_000 }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-self-test-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('prints that nothing failed, and how to repeat it', async () => {
    await writeFile(
      join(folder, 'db.json'),
      JSON.stringify({ users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'Hi', userId: 1 }] }),
    )
    const { status, stdout } = run('db.json', '--self-test', '--runs', '1', '--seed', '7')
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^Nothing failed: \d+ requests, \d+ checks, [\d.]+ s; --seed 7 --runs 1\.\n$/)
  })

  it('prints what failed with a curl, and ends with exit code 1', async () => {
    const model = `
      import { defineEntity, p } from '${ORM}'
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
      const subscriber = { beforeCreate: ({ entity }) => { entity.name = 'other' } }
      export default { entities: [User], orm: { subscribers: [subscriber] } }
    `
    await writeFile(join(folder, 'model.mjs'), model)
    const { status, stdout } = run('model.mjs', '--self-test', '--header', 'X-Key: secret-1')
    assert.equal(status, 1)
    assert.match(stdout, /^1\. users\.name: "[^"]+" was sent, and the answer shows "other"\. \(\d+ times\)\n/)
    assert.match(stdout, /\n {3}curl -X POST 'http:\/\/127\.0\.0\.1:3000\/v1\/users\?depth=1' -H "x-key: \$X_KEY" /)
    assert.doesNotMatch(stdout, /secret-1/)
  })

  it('writes to a copy of a SQLite file alone, and takes its --read-only', async () => {
    const file = join(folder, 'app.sqlite')
    const db = new Sqlite(file)
    db.exec("create table users (id integer primary key, name text not null); insert into users (name) values ('Ann'), ('Bob')")
    db.close()
    const bytes = await readFile(file)
    const { status, stdout } = run('app.sqlite', '--self-test')
    assert.equal(status, 0, stdout)
    const [, requests] = /(\d+) requests/.exec(stdout)!
    assert.deepEqual(await readFile(file), bytes)
    const readOnly = run('app.sqlite', '--self-test', '--read-only')
    assert.equal(readOnly.status, 0, readOnly.stdout)
    assert.ok(Number(/(\d+) requests/.exec(readOnly.stdout)![1]) < Number(requests))
  })

  it('refuses what does not go together', () => {
    for (const [args, message] of [
      [['--runs', '2'], '--runs goes with --self-test.'],
      [['--header', 'a: b'], '--header goes with --self-test and --check.'],
      [['--self-test', '--runs', 'two'], '--runs takes an integer, got "two".'],
      [['--self-test', '--header', 'none'], `--header takes a line such as 'Name: value', got "none".`],
      [['--self-test', '--get', '/v1'], '--self-test tries the API and ends: it does not go with --get.'],
      [['--self-test', '--watch'], '--self-test tries the API and ends: it does not go with --watch.'],
    ] as const) {
      const { status, stderr } = run(...args)
      assert.equal(stderr, `mikro-rest: ${message}\n`)
      assert.equal(status, 2)
    }
  })
})
