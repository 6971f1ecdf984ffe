/** `MIKRO_REST_WORKBENCH`: the engines of a test process in a list, each with its workbench. Real processes, and a real browser. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { LIBRARY, ROOT } from '../helpers/command.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import { PHONE, visit } from '../workbench/browser.ts'

interface ListedEngine {
  readonly id: string
  readonly name: string
  readonly place: string
  readonly requests: number
  readonly waits: boolean
  readonly failure?: string
}

interface ListedProcess {
  readonly pid: number
  readonly name: string
  readonly engines: readonly ListedEngine[]
}

const BEGIN = `
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '${LIBRARY}'
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string().unique() } })
const options = { entities: [User], seed: { users: [{ name: 'Ann' }] } }
`
/** The same, noting which modules are loaded that show engines. */
const NOTED = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
${BEGIN.replaceAll(/import (\{.*\}) from ('.*')/g, 'const $1 = await import($2)')}
const shown = () => JSON.stringify(loaded.map(url => url.split('/').at(-1)).filter(name => /^(?:engines-of|shown-engine|host|node:http)/.test(name)))
`
/** Makes an engine and a fork, and ends when it is told to. */
const STAYS = `${BEGIN}
const engine = await RestEngine.create(options)
const fork = await engine.fork()
await fork.send('POST /v1/users', { body: { name: 'Bob' } })
console.log('made')
process.stdin.resume().on('end', async () => { await fork.close(); await engine.close() })
`

let folder: string
const running = new Set<ChildProcess>()

/** A process with engines. */
class TestRun {
  readonly child: ChildProcess
  output = ''
  readonly ended: Promise<number | null>

  constructor(script: string, env: NodeJS.ProcessEnv, ...args: string[]) {
    const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...others } = process.env
    this.child = spawn(process.execPath, [...args, script], { cwd: folder, env: { ...others, ...env }, stdio: 'pipe' })
    running.add(this.child)
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.on('data', chunk => (this.output += String(chunk)))
    this.ended = new Promise(resolve => {
      this.child.once('close', code => {
        running.delete(this.child)
        resolve(code)
      })
    })
  }

  /** Ends it as it ends by itself. */
  async finish(): Promise<number | null> {
    this.child.stdin?.end()
    return this.ended
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const NOBODY: ListedProcess = { pid: 0, name: '', engines: [] }

async function list(port: number): Promise<ListedProcess> {
  const answer = await fetch(`http://127.0.0.1:${port}/engines.json`).catch(() => undefined)
  return answer === undefined ? NOBODY : ((await answer.json()) as ListedProcess)
}

/** Waits until the list is as wanted. */
async function until(port: number, wanted: (engines: readonly ListedEngine[]) => boolean, run: TestRun): Promise<ListedProcess> {
  let found = NOBODY
  for (const end = Date.now() + 60_000; Date.now() < end; await wait(50)) {
    found = await list(port)
    if (wanted(found.engines)) return found
  }
  throw new Error(`waited in vain: ${JSON.stringify(found)} ${run.output}`)
}

async function assertRefusesOthers(port: number, engines: readonly ListedEngine[]): Promise<void> {
  const ask = async (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> => {
    const sent = request({ port, host: '127.0.0.1', path, method, headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode!
  }
  assert.equal(await ask('/engines.json', { host: 'evil.example' }), 403)
  assert.equal(await ask(`/open/${engines[0]!.id}`, { 'sec-fetch-site': 'cross-site' }), 403)
  assert.equal(await ask(`/go/${engines[0]!.id}`, { origin: 'https://evil.example' }, 'POST'), 403)
  assert.equal(await ask(`/go/${engines[0]!.id}`, {}), 405)
  assert.deepEqual([await ask('/open/99', {}), await ask('/open/1.1', {}), await ask('/else', {})], [404, 404, 404])
}

const hasEngines = (count: number) => (engines: readonly ListedEngine[]) => engines.length === count

describe('engines of a test process', { timeout: 300_000 }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-engines-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, 'stays.mjs'), STAYS)
  })
  after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  it('are in a list, which is refused to other sites and names; each opens its workbench', async () => {
    const port = await freePort()
    const run = new TestRun('stays.mjs', { MIKRO_REST_WORKBENCH: String(port) })
    const { pid, name, engines } = await until(port, ([, fork]) => fork?.requests === 1, run)
    assert.deepEqual([pid, name], [run.child.pid, 'stays.mjs'])
    assert.deepEqual(
      engines.map(({ name: of, place, waits }) => [of, place, waits]),
      [
        ['users', 'stays.mjs:7', false],
        ['fork of users', 'stays.mjs:8', false],
      ],
    )
    assert.match(run.output, new RegExp(`mikro-rest: The engines of stays\\.mjs are shown at http://127\\.0\\.0\\.1:${port}/\n`))

    const opened = await fetch(`http://127.0.0.1:${port}/open/${engines[1]!.id}`)
    assert.match(opened.url, /^http:\/\/127\.0\.0\.1:\d+\/_ui$/)
    assert.notEqual(new URL(opened.url).port, String(port))
    assert.match(await opened.text(), /<title>Workbench/)
    const { origin } = new URL(opened.url)
    const outline = (await (await fetch(`${origin}/_ui/outline.json`)).json()) as { title: string; home: string }
    assert.deepEqual([outline.title, outline.home], ['fork of users', `http://127.0.0.1:${port}/`])
    const { requests } = (await (await fetch(`${origin}/_test/requests`)).json()) as { requests: { id: number; method: string }[] }
    assert.deepEqual(
      requests.map(({ method }) => method),
      ['POST'],
    )
    const { request: shown } = (await (await fetch(`${origin}/_test/requests/1`)).json()) as { request: { statements: unknown[] } }
    assert.ok(shown.statements.length > 0, 'what it has run is kept from its first request on')

    await assertRefusesOthers(port, engines)
    assert.equal(await run.finish(), 0, run.output)
    assert.deepEqual(await list(port), NOBODY)
  })

  it('are at the next free port where another program or process has the first', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const run = new TestRun('stays.mjs', { MIKRO_REST_WORKBENCH: String(port) })
    for (const end = Date.now() + 60_000; !run.output.includes('shown at') && Date.now() < end;) await wait(50)
    const [, next = ''] = /shown at http:\/\/127\.0\.0\.1:(\d+)\//.exec(run.output) ?? []
    assert.ok(Number(next) > port, run.output)
    assert.equal((await until(Number(next), hasEngines(2), run)).pid, run.child.pid)
    assert.equal(await run.finish(), 0, run.output)
    server.close()
  })

  it('do not keep their process, also while somebody looks at them', async () => {
    const port = await freePort()
    const script = `${NOTED}
const engine = await RestEngine.create(options)
const found = await (await fetch('http://127.0.0.1:${port}/engines.json')).json()
const opened = await fetch('http://127.0.0.1:${port}/open/' + found.engines[0].id)
process.stdin.unref?.()
console.log(new URL(opened.url).origin, shown())
setTimeout(() => {}, 3000)
`
    await writeFile(join(folder, 'ends.mjs'), script)
    const run = new TestRun('ends.mjs', { MIKRO_REST_WORKBENCH: String(port) })
    const [line] = (await once(run.child.stdout!, 'data')) as [Buffer]
    const [origin, loaded] = String(line).trim().split(' ')
    assert.match(loaded!, /"engines-of-process/, 'what costs nothing where engines are not shown')
    const events = request(`${origin}/_test/events`).end()
    events.on('error', () => {})
    const [answer] = (await once(events, 'response')) as [IncomingMessage]
    answer.on('error', () => {}).resume()
    assert.equal(await run.ended, 0, run.output)
  })

  it('wait at their end where that is asked for, and their process with them', async () => {
    const port = await freePort()
    await writeFile(
      join(folder, 'closes.mjs'),
      `${BEGIN}
const closed = await RestEngine.create(options)
const open = await RestEngine.create(options)
await closed.close()
await closed.send('GET /v1/users').then(() => console.log('answers'), () => console.log('is closed'))
`,
    )
    const run = new TestRun('closes.mjs', { MIKRO_REST_WORKBENCH: String(port), MIKRO_REST_WORKBENCH_WAIT: '1' })
    const waits = ([first]: readonly ListedEngine[]): boolean => first?.waits === true
    const { engines: both } = await until(port, waits, run)
    assert.equal(both[1]!.waits, false)
    const opened = await fetch(`http://127.0.0.1:${port}/open/${both[0]!.id}`)
    assert.equal((await fetch(`${new URL(opened.url).origin}/v1/users`)).status, 200, 'it answers as long as it waits')
    const go = async (id: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}/go/${id}`, { method: 'POST' })).status
    assert.equal(await go(both[0]!.id), 204)
    const { engines: left } = await until(port, ([first]) => first?.id === both[1]!.id && first.waits, run)
    assert.match(run.output, /is closed/)
    assert.equal(await go(left[0]!.id), 204)
    assert.equal(await run.ended, 0, run.output)
  })

  it('have the name of their test, and wait where it has failed', async () => {
    const port = await freePort()
    const entry = LIBRARY.replace(/index\.(\w+)$/, 'doors/runners/node-test.$1')
    await writeFile(
      join(folder, 'a.test.mjs'),
      `${BEGIN.replace(/import \{ RestEngine \}.*/, '')}
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEngine } from '${entry}'
const engineTest = withEngine(options, { recordings: false })
test('passes', engineTest(async ({ engine }) => engine.send('GET /v1/users')))
test('fails', engineTest(async ({ engine }) => assert.equal((await engine.send('GET /v1/users')).status, 201)))
`,
    )
    const env = { MIKRO_REST_WORKBENCH: String(port), MIKRO_REST_WORKBENCH_WAIT: 'failed' }
    const run = new TestRun('a.test.mjs', env, '--test')
    const { engines: found } = await until(port, engines => engines.some(({ waits }) => waits), run)
    assert.deepEqual(
      found.map(({ name, place, requests }) => [name, place, requests]),
      [['fails', 'a.test.mjs', 1]],
    )
    assert.match(found[0]!.failure!, /^AssertionError: /)
    await fetch(`http://127.0.0.1:${port}/go/${found[0]!.id}`, { method: 'POST' })
    assert.equal(await run.ended, 1)
    assert.match(run.output, /pass 1\n[^]*fail 1\n/)
  })

  it('are refused a port that is none, and cost nothing without one', async () => {
    const refused = new TestRun('stays.mjs', { MIKRO_REST_WORKBENCH: 'on' })
    assert.notEqual(await refused.finish(), 0)
    assert.match(refused.output, /RangeError: MIKRO_REST_WORKBENCH must be a port/)
    const script = `${NOTED}\nawait (await RestEngine.create(options)).close()\nconsole.log(shown())\n`
    await writeFile(join(folder, 'loads.mjs'), script)
    const plain = new TestRun('loads.mjs', { MIKRO_REST_WORKBENCH: '' })
    assert.equal(await plain.finish(), 0, plain.output)
    assert.equal(plain.output, '[]\n')
  })

  it('are a page, from which one comes to a workbench and back', { skip: NO_BROWSER }, async () => {
    const port = await freePort()
    const run = new TestRun('stays.mjs', { MIKRO_REST_WORKBENCH: String(port), MIKRO_REST_WORKBENCH_WAIT: '1' })
    await until(port, hasEngines(2), run)
    const browser = await borrowBrowser()
    try {
      for (const viewport of [undefined, PHONE])
        await visit(
          browser,
          `http://127.0.0.1:${port}/`,
          { ...(viewport && { viewport }), colorScheme: viewport ? 'dark' : 'light' },
          async page => {
            await page.getByText('1 request', { exact: true }).waitFor()
            await page.getByText('stays.mjs:8').waitFor()
          },
        )
      await using context = await browser.browser.newContext()
      const page = await context.newPage()
      await page.goto(`http://127.0.0.1:${port}/`)
      await page.getByRole('link', { name: 'fork of users' }).click()
      await page.getByRole('link', { name: 'Requests', exact: true }).click()
      await page.locator('.timeline a').filter({ hasText: 'POST' }).waitFor()
      await page.getByRole('link', { name: 'All engines' }).click()
      await page.getByRole('heading', { name: /^stays\.mjs, process \d+$/ }).waitFor()
      const ended = run.finish()
      await page.getByRole('button', { name: 'Let go: fork of users' }).click()
      await page.getByRole('button', { name: 'Let go: users', exact: true }).click()
      await page.getByText('The process does not answer').waitFor()
      assert.equal(await ended, 0)
    } finally {
      await browser.close()
    }
  })
})
