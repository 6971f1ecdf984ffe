/** `--check`: what is printed, and the exit code. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { RestEngine, createServer, fromJson } from '../../lib/index.ts'
import { COMMAND, runAll } from '../helpers/command.ts'

const { FORCE_COLOR: _, ...ENV } = process.env

describe('--check', { timeout: 120_000 }, () => {
  let folder: string
  let real: RestEngine
  let server: Server
  let address: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-check-'))
    await writeFile(join(folder, 'db.json'), JSON.stringify({ users: [{ id: 1, name: 'Ann', age: 7 }] }))
    real = await RestEngine.create({ ...fromJson({ users: [{ id: 12, name: 'Bob', age: '7' }] }) })
    server = createServer(real)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  after(async () => {
    server.close()
    await real.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function run(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env: ENV })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', chunk => (stdout += String(chunk)))
    child.stderr.on('data', chunk => (stderr += String(chunk)))
    const [status] = (await once(child, 'close')) as [number]
    return { status, stdout, stderr }
  }

  it('prints where the two differ, and ends with exit code 1', async () => {
    const { status, stdout } = await run('db.json', '--check', address)
    assert.equal(status, 1, stdout)
    assert.match(stdout, /^users\n/)
    assert.match(stdout, /\n {2}age: In the real backend it is string \("7"\), not integer or null\. \(\d+ requests\)\n {4}curl 'http:/)
    assert.match(stdout, /\d+ differences? in \d+ requests\.\n$/)
    assert.equal(real.requests.filter(({ method }) => method !== 'GET').length, 0)
  })

  it('replays a journal, with its writes if asked to', async () => {
    await using fake = await RestEngine.create({ ...fromJson({ users: [{ id: 1, name: 'Ann', age: 7 }] }) })
    await fake.handle('GET', '/v1/users', { attributes: 'name' })
    await fake.handle('POST', '/v1/users', undefined, { name: 'Cleo', age: 4 })
    await writeFile(join(folder, 'journal.json'), JSON.stringify({ requests: fake.requests }))
    const reading = await run('db.json', '--check', address, '--journal', 'journal.json', '--header', 'X-Key: 1')
    assert.deepEqual([reading.status, reading.stdout], [0, 'No difference in 2 requests.\n'])
    const writing = await run('db.json', '--check', address, '--journal', 'journal.json', '--writes')
    assert.equal(writing.status, 1)
    assert.match(writing.stdout, /The fake answers with 200, the real backend with 422 \(validation_failed\)\.\n {4}curl -X POST /)
  })

  it('refuses what does not go together, and files that are no journal', async () => {
    await writeFile(join(folder, 'other.json'), '{}')
    const cases = [
      [['--journal', 'a.json'], '--journal goes with --check.', 2],
      [['--writes'], '--writes goes with --check and --journal.', 2],
      [['--check', 'real.example'], '--check takes an address that begins with http:// or https://, got "real.example".', 2],
      [['--check', address, '--self-test'], '--self-test tries the API and ends: it does not go with --check.', 2],
      [['--check', address, '--get', '/'], '--check compares the API and ends: it does not go with --get.', 2],
      [
        ['--check', address, '--journal', 'other.json'],
        'other.json is not a journal: it must contain the list engine.requests, or the answer of GET /_test/requests.',
        1,
      ],
    ] as const
    const results = runAll(
      folder,
      cases.map(([args]) => args),
    )
    for (const [index, [, message, expected]] of cases.entries()) {
      const { code, stderr } = results[index]!
      assert.equal(stderr, `mikro-rest: ${message}\n`)
      assert.equal(code, expected)
    }
  })
})
