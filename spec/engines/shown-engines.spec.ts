/** `MIKRO_REST_WORKBENCH`: the engines of test processes in one list, each with its workbench. Real processes, and a real browser. */
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
const shown = () => JSON.stringify(loaded.map(url => url.split('/').at(-1)).filter(name => /^(?:engines-of|shown-engine|host|guest|meeting|node:http)/.test(name)))
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

async function list(port: number): Promise<ListedProcess[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/engines.json`).catch(() => undefined)
  return answer === undefined ? [] : ((await answer.json()) as { processes: ListedProcess[] }).processes
}

/** Waits until the list is as wanted. */
async function until(port: number, wanted: (processes: readonly ListedProcess[]) => boolean, run?: TestRun): Promise<ListedProcess[]> {
  let found: ListedProcess[] = []
  for (const end = Date.now() + 60_000; Date.now() < end; await wait(50)) {
    found = await list(port)
    if (wanted(found)) return found
  }
  throw new Error(`waited in vain: ${JSON.stringify(found)} ${run?.output ?? ''}`)
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
  assert.deepEqual([await ask('/open/7.1', {}), await ask('/open/0.99', {}), await ask('/else', {})], [404, 404, 404])
}

const hasEngines = (count: number) => (processes: readonly ListedProcess[]) => processes.flatMap(({ engines }) => engines).length === count

describe('engines of test processes', { timeout: 300_000 }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-engines-'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, 'stays.mjs'), STAYS)
  })
  after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  it('are in one list, whichever process has the port, which is refused to other sites and names; each opens its workbench', async () => {
    const port = await freePort()
    const env = { MIKRO_REST_WORKBENCH: String(port) }
    const first = new TestRun('stays.mjs', env)
    await until(port, hasEngines(2), first)
    const second = new TestRun('stays.mjs', env)
    const processes = await until(port, hasEngines(4), second)
    assert.deepEqual(
      processes.map(({ name, engines }) => [name, engines.map(({ name: of, place, waits }) => [of, place, waits])]),
      [first, second].map(() => [
        'stays.mjs',
        [
          ['users', 'stays.mjs:7', false],
          ['fork of users', 'stays.mjs:8', false],
        ],
      ]),
    )
    await until(port, ([, guest]) => guest?.engines[1]?.requests === 1)
    assert.match(first.output, new RegExp(`mikro-rest: The engines of these tests are shown at http://127\\.0\\.0\\.1:${port}/\n`))
    assert.doesNotMatch(second.output, /shown/)

    for (const { engines } of processes) {
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
    }

    await assertRefusesOthers(port, processes[0]!.engines)

    assert.equal(await first.finish(), 0, first.output)
    const left = await until(port, hasEngines(2), second)
    assert.deepEqual(
      left.map(({ pid }) => pid),
      [second.child.pid],
      'the second process has taken the port',
    )
    assert.equal(await second.finish(), 0, second.output)
    assert.deepEqual(await list(port), [])
  })

  it('do not keep their process, also while somebody looks at them', async () => {
    const port = await freePort()
    const script = `${NOTED}
const engine = await RestEngine.create(options)
const found = await (await fetch('http://127.0.0.1:${port}/engines.json')).json()
const opened = await fetch('http://127.0.0.1:${port}/open/' + found.processes[0].engines[0].id)
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
    const waits = (number: number) => (processes: readonly ListedProcess[]) => processes[0]?.engines[number]?.waits === true
    const [first] = await until(port, waits(0), run)
    assert.equal(first!.engines[1]!.waits, false)
    const opened = await fetch(`http://127.0.0.1:${port}/open/${first!.engines[0]!.id}`)
    assert.equal((await fetch(`${new URL(opened.url).origin}/v1/users`)).status, 200, 'it answers as long as it waits')
    const go = async (id: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}/go/${id}`, { method: 'POST' })).status
    assert.equal(await go(first!.engines[0]!.id), 204)
    const [second] = await until(port, waits(0), run)
    assert.deepEqual(
      second!.engines.map(({ id }) => id),
      [first!.engines[1]!.id],
    )
    assert.match(run.output, /is closed/)
    assert.equal(await go(second!.engines[0]!.id), 204)
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
    const [found] = await until(port, ([first]) => first?.engines.some(({ waits }) => waits) === true, run)
    assert.deepEqual(
      found!.engines.map(({ name, place, requests }) => [name, place, requests]),
      [['fails', 'a.test.mjs', 1]],
    )
    assert.match(found!.engines[0]!.failure!, /^AssertionError: /)
    await fetch(`http://127.0.0.1:${port}/go/${found!.engines[0]!.id}`, { method: 'POST' })
    assert.equal(await run.ended, 1)
    assert.match(run.output, /pass 1\n[^]*fail 1\n/)
  })

  it('are not shown where something else has the port, and the tests run', async () => {
    const server = createServer(socket => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const run = new TestRun('stays.mjs', { MIKRO_REST_WORKBENCH: String(port) })
    for (const end = Date.now() + 60_000; !run.output.includes('not shown') && Date.now() < end;) await wait(50)
    assert.equal(await run.finish(), 0)
    assert.match(
      run.output,
      new RegExp(
        `The engines of this process are not shown: something else has the port\\. ` +
          `MIKRO_REST_WORKBENCH names the port ${port}: choose another one\\.`,
      ),
    )
    server.close()
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
      await page.getByText('No process answers').waitFor()
      assert.equal(await ended, 0)
    } finally {
      await browser.close()
    }
  })
})
