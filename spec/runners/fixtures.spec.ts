/** Fixtures for test runners: the real runners, each on a file with tests that pass and one that fails. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import { withEngine } from '../../lib/doors/runners/node-test.ts'
import { openRecording } from '../../lib/open-recording.ts'
import { scriptOf } from '../helpers/chromium-switches.ts'
import { LIBRARY, ROOT } from '../helpers/command.ts'

/** The module of a runner, of the library that belongs to the command: the runners would translate each file of the sources. */
const entry = (name: string): string => new URL(LIBRARY.replace(/index(\.[jt]s)$/, `doors/runners/${name}$1`)).href
const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

const BACKEND = `
import { defineEntity, p } from '@mikro-orm/core'
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string().unique(), password: p.string().hidden().nullable() } })
export default { entities: [User], seed: { users: [{ name: 'Ann', password: 'hush-hush' }] } }
export const add = async name => {
  const response = await fetch('https://api.example.test/v1/users', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name }) })
  return response.status
}
`
const OPTIONS = "{ intercept: 'https://api.example.test', recordings: 'out' }"

let folder: string

/** Runs a command in the folder, and returns what it prints. It is expected to fail. */
async function run(command: string, ...args: string[]): Promise<string> {
  // A runner that finds itself in another one behaves as a part of it.
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, NODE_OPTIONS: ___, ...env } = process.env
  const child = spawn(process.execPath, [command, ...args], {
    cwd: folder,
    env: { ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
  const code = await new Promise(resolve => child.once('close', resolve))
  assert.notEqual(code, 0, output)
  return output
}

/** Opens the one recording whose name has such a text. */
async function recordingOf(part: string): Promise<{ statuses: (number | undefined)[]; failure: string | undefined; users: number }> {
  const names = (await readdir(join(folder, 'out'))).filter(name => name.includes(part))
  assert.equal(names.length, 1, String(names))
  const { engine, facts } = await openRecording(join(folder, 'out', names[0]!), options => RestEngine.create(options))
  try {
    const statuses = engine.requests.map(({ status }) => status)
    const { count } = (await engine.send('GET /v1/users')).body as { count: number }
    return { statuses, failure: facts.failure, users: count }
  } finally {
    await engine.close()
  }
}

describe('fixtures for test runners', { timeout: 300_000 }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-runners-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, 'backend.mjs'), BACKEND)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('give each test of node:test an engine, also where tests run at the same time', async () => {
    const file = `
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { withEngine } from '${entry('node-test')}'
import backend, { add } from './backend.mjs'
const engineTest = withEngine(backend, ${OPTIONS})
describe('together', { concurrency: true }, () => {
  for (const count of [1, 2, 3])
    test('adds ' + count, engineTest(async ({ engine, t }) => {
      for (let each = 0; each < count; each++) {
        assert.equal(await add('user ' + each), 200)
        await setTimeout(5)
      }
      assert.equal(engine.requests.length, count)
      assert.ok(t.name.endsWith(count))
    }))
  test('fails', engineTest(async ({ engine }) => {
    engine.fail('DELETE /v1/users/1', { status: 503 })
    await add('Bob')
    assert.equal(await add('Bob'), 200)
  }))
})
const strict = withEngine(backend, { recordings: false, unmet: 'fail' })
test('expects its faults', strict(async ({ engine }) => { engine.drop('GET /v1/users') }))
`
    await writeFile(join(folder, 'a.node.mjs'), file)
    const output = await run('--test', '--test-reporter=spec', 'a.node.mjs')
    assert.match(output, /pass 3\n/)
    assert.match(output, /fail 2\n/)
    assert.match(output, /No request has met fail\("DELETE \/v1\/users\/1"\)/)
    assert.match(output, /The test is recorded: npx mikro-rest \S+fails\.mikro/)
    assert.match(output, /Error: No request has met drop\("GET \/v1\/users"\)\./)
    const { statuses, failure, users } = await recordingOf('a.node.mjs')
    assert.deepEqual([statuses, users], [[200, 409], 1], 'the data are those before the test')
    assert.match(failure!, /AssertionError: Expected values to be strictly equal/)
  })

  it('give each test of Vitest an engine', async () => {
    const file = `
import { describe, expect, test as base } from 'vitest'
import { withEngine } from '${entry('vitest')}'
import backend, { add } from './backend.mjs'
const test = withEngine(base, backend, ${OPTIONS})
for (const count of [1, 2])
  test('adds ' + count, async ({ engine }) => {
    for (let each = 0; each < count; each++) expect(await add('user ' + each)).toBe(200)
    expect(engine.requests.length).toBe(count)
  })
test('does not name it', async () => expect(await add('Bob')).toBe(200))
test('fails', async ({ engine }) => {
  engine.fail('DELETE /v1/users/1', { status: 503 })
  expect(await add('Ann')).toBe(200)
})
describe('whose making takes longer than a test may', () => {
  const slow = withEngine(base, () => new Promise(resolve => setTimeout(resolve, 2500, backend)), ${OPTIONS})
  slow('has all its time', { timeout: 2000 }, async ({ engine }) => expect(engine.requests).toEqual([]))
})
`
    await writeFile(join(folder, 'a.test.mjs'), file)
    const output = await run(
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      'a.test.mjs',
      '--testTimeout=60000',
      '--hookTimeout=60000',
    )
    assert.match(output, /1 failed \| 4 passed/)
    assert.match(output, /No request has met fail\("DELETE \/v1\/users\/1"\)/)
    const { statuses, failure, users } = await recordingOf('a.test.mjs')
    assert.deepEqual([statuses, users], [[409], 1])
    assert.match(failure!, /expected 409 to be 200/)
  })

  it('tell what a test of Vitest leaves behind from the next test', async () => {
    const file = `
import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test as base } from 'vitest'
import { withEngine } from '${entry('vitest')}'
import backend from './backend.mjs'
const API = 'https://api.example.test/v1/users'
const test = withEngine(base, backend, ${OPTIONS})
const count = async () => (await (await fetch(API)).json()).count
const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))
let server
beforeAll(async () => {
  server = createServer((request, response) => void count().then(found => response.end(String(found)), error => response.end(String(error.cause))))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => server.close())
const viaServer = async () => (await fetch('http://127.0.0.1:' + server.address().port)).text()
let late
let begin
test('leaves a request', async ({ engine }) => {
  const begun = new Promise(resolve => (begin = resolve))
  late = begun.then(() => count()).catch(error => error.cause.code + ' ' + error.cause.message)
  expect(await count()).toBe(1)
  expect(await viaServer()).toBe('1')
})
describe('afterwards', () => {
  beforeEach(async () => expect(await count()).toBe(1))
  test('has its own', async ({ engine }) => {
    await engine.given('user')
    begin()
    expect(await late).toMatch(/^ERR_WORLD_CLOSED A request of the test "leaves a request" to https:.*api.example.test came after its world was closed/)
    expect(await count()).toBe(2)
    expect(await viaServer()).toBe('2')
    expect(engine.requests.length).toBe(3)
  })
})
describe.concurrent('together', () => {
  for (const more of [1, 2, 3])
    test('adds ' + more, async ({ engine }) => {
      await engine.given.many('user', more)
      await wait(20)
      expect(await count()).toBe(1 + more)
    })
})
test('fails', () => expect(1).toBe(2))
`
    await writeFile(join(folder, 'late.test.mjs'), file)
    const output = await run(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'late.test.mjs', '--testTimeout=60000')
    assert.match(output, /1 failed \| 5 passed/, output)
  })

  it('give each test of Playwright an engine that its pages reach', { skip: BROWSER === undefined && 'no browser' }, async () => {
    const file = `
import { expect, test as base } from '@playwright/test'
import { withEngine } from '${entry('playwright')}'
import backend from './backend.mjs'
const test = withEngine(base, backend, ${OPTIONS})
const show = async page => {
  await page.setContent('<output></output>')
  await page.evaluate(async () => {
    const body = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Bob"}' }
    const text = await fetch('https://api.example.test/v1/users', body).then(answer => String(answer.status), String)
    document.querySelector('output').textContent = text
  })
}
test('adds', async ({ engine, page }) => {
  await show(page)
  await expect(page.locator('output')).toHaveText('200')
  expect(engine.requests.length).toBe(1)
})
test('fails', async ({ engine, page }) => {
  engine.fail('DELETE /v1/users/1', { status: 503 })
  engine.drop('POST /v1/users')
  await show(page)
  await expect(page.locator('output')).toHaveText('200', { timeout: 500 })
})
`
    await writeFile(join(folder, 'a.browser.mjs'), file)
    const config = {
      testMatch: '*.browser.mjs',
      workers: 1,
      timeout: 120_000,
      use: { launchOptions: { executablePath: await scriptOf(BROWSER!, folder) } },
    }
    await writeFile(join(folder, 'playwright.config.mjs'), `export default ${JSON.stringify(config)}`)
    const output = await run(join(ROOT, 'node_modules/@playwright/test/cli.js'), 'test')
    assert.match(output, /1 failed/)
    assert.match(output, /1 passed/)
    assert.match(output, /mikro-rest recording \(application\/octet-stream\)/)
    const { statuses, failure, users } = await recordingOf('a.browser.mjs')
    assert.deepEqual([statuses, users], [[undefined], 1])
    assert.match(failure!, /Failed to fetch/)
  })

  it('refuse options that they do not have', () => {
    assert.throws(() => withEngine(undefined as never), /give options of RestEngine\.create/)
    assert.throws(() => withEngine({}, { recording: 'x' } as never), /"recording".*"recordings"/)
    assert.throws(() => withEngine({}, { recordings: '' }), /"recordings" must be the path of a folder, or false/)
    assert.throws(() => withEngine({}, { unmet: 'warn' as never }), /"unmet" must be "report", "fail" or "ignore"/)
  })
})
