/** `--postgres`: the command serves from a PostgreSQL server of its own. The commands of docs/postgresql.md run as they are written. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Command, COMMAND, ROOT, runAll, send } from '../helpers/command.ts'

/** Where the server of the probe has its folder, and no other one. The server is another user where this is root. */
const place = mkdtempSync(join(tmpdir(), 'mikro-spec-'))
chmodSync(place, 0o755)
const [documented = ''] = listCommands('In two minutes').filter(args => args.includes('--postgres') && args.includes('--get'))
// What the environment says of other servers is not for this one.
const probe = spawnSync('sh', ['-c', `"$0" "$1" ${documented}`, process.execPath, COMMAND], {
  cwd: ROOT,
  encoding: 'utf8',
  env: { ...process.env, PGPORT: '1', TMPDIR: place },
})
const skip = /needs PostgreSQL|not for Windows|does not run as root/.test(probe.stderr) ? probe.stderr.trim() : false

/** The commands in a section of the docs that this repository can run. */
function listCommands(heading: string): string[] {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/postgresql.md'), 'utf8').split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^npx mikro-rest (.+?)(?: +#.*)?$/gm)].map(([, args = '']) => args)
}

describe('a PostgreSQL server of the command', { skip }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-spec-'))
    // The server is another user where this is root.
    await chmod(folder, 0o755)
  })
  after(async () => {
    await rm(folder, { recursive: true })
    await rm(place, { recursive: true })
  })

  it('serves the sample by the command of the docs, and is gone afterwards', () => {
    assert.equal(probe.status, 0, probe.stderr)
    assert.deepEqual(readdirSync(place), [])
    const { users } = JSON.parse(probe.stdout) as { users: { campaigns: object[] }[] }
    assert.equal(users.length, 2)
  })

  it('keeps data in a folder, for one command at a time, with the seed of the beginning, and ends when the command is killed', async () => {
    const data = join(folder, 'data')
    {
      await using command = new Command(ROOT, '--postgres', data, '--port', '0', '--quiet')
      const origin = await command.origin()
      assert.equal((await send(origin, 'PATCH', '/v1/users/1', { name: 'Kept' })).status, 200)
      assert.match(command.stdout, /serves the sample model from PostgreSQL \(psql postgres:\/\/postgres@\S+\/app\)/)
      const other = spawnSync(process.execPath, [COMMAND, '--get', '/v1', '--postgres', data], { cwd: ROOT, encoding: 'utf8' })
      assert.deepEqual([other.status, other.stdout], [1, ''])
      assert.match(other.stderr, /^mikro-rest: --postgres: the server does not start \(1\): lock file "postmaster\.pid" already exists\n$/)
      assert.equal(await command.stop(), 0)
    }
    assert.equal(existsSync(join(data, 'postmaster.pid')), false)
    await using again = new Command(ROOT, '--postgres', data, '--port', '0', '--quiet')
    const { body } = await send(await again.origin(), 'GET', '/v1/users/1?attributes=name')
    assert.deepEqual(body['user'], { name: 'Kept' })
    again.child.kill('SIGKILL')
    await again.until('the end of the server', () => !existsSync(join(data, 'postmaster.pid')))
  })

  it('takes a module alone, and a folder that is its own', () => {
    const cases: [string[], number, string][] = [
      [['x.json', '--postgres'], 2, '--postgres serves entities from a server of its own: x.json is not a module with entities.'],
      [['--postgres', join(ROOT, 'spec')], 1, `--postgres: ${join(ROOT, 'spec')} cannot be used: it holds something else.`],
      [['--postgres', join(ROOT, 'package.json')], 1, `--postgres: ${join(ROOT, 'package.json')} cannot be used: it is not a folder.`],
      [['--eject', 'x', '--postgres'], 2, '--eject writes a project and ends: it does not go with --postgres.'],
    ]
    const ended = runAll(
      ROOT,
      cases.map(([args]) => args),
    )
    for (const [index, [, code, message]] of cases.entries())
      assert.deepEqual([ended[index]!.code, ended[index]!.stderr], [code, `mikro-rest: ${message}\n`])
  })
})
