/**
 * Clients that others generate from the document: each is generated from that of the sample model, compiles with strict types, and its
 * calls work over HTTP. The generators are those of fixtures/generators, which has a TypeScript that they can call.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { build } from 'esbuild'
import { createServer, RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { ROOT } from '../helpers/command.ts'

const require = createRequire(join(ROOT, 'fixtures/generators/package.json'))

interface Generator {
  readonly name: string
  /** The package with the command, and its arguments; the document is `api.json`. */
  readonly command: readonly [packageName: string, script: string, ...args: string[]]
  /** A module that sets `list`, `created`, `expanded` and `failure` by calls of the client. */
  readonly calls: string
}

const FILTERS = `{ 'created_at>': '2000-01-01T00:00:00Z', 'name~': '*a*', 'role!': 'viewer', sort: 'name.desc', limit: 5 }`
const PUBLISHER =
  "{ name: 'New', email: 'new@example.com', user: { name: 'Zoe', email: 'zoe@example.com', password: 'secret' }, sites: " +
  "[{ name: 'Site', url: 'https://new.example.com', category: 1 }] }"
const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript and openapi-fetch',
    command: ['openapi-typescript', 'bin/cli.js', 'api.json', '-o', 'api.d.ts'],
    calls: `import createClient from 'openapi-fetch'
import type { paths } from './api.js'
const api = createClient<paths>({ baseUrl: ORIGIN })
const { data: page } = await api.GET('/v1/users', { params: { query: ${FILTERS} } })
const list: { count: number; names: string[] } = { count: page!.count, names: page!.users.map(({ name }) => name) }
const { data: made } = await api.POST('/v1/publishers', { body: ${PUBLISHER} })
const created: number = made!.publisher.id
const { data: read } = await api.GET('/v1/publishers/{id}', { params: { path: { id: created }, query: { expand: 'user' } } })
const { user } = read!.publisher
const expanded: string | undefined = typeof user === 'object' && user !== null ? user.name : undefined
const { error } = await api.GET('/v1/users/{id}', { params: { path: { id: 999999 } } })
const failure: 'record_not_found' | undefined = error?.code === 'record_not_found' ? error.code : undefined
// @ts-expect-error -- no such filter
await api.GET('/v1/users', { params: { query: { 'nme~': 'a' } } })
// @ts-expect-error -- no such path
await api.GET('/v1/usrs')
const { data: one } = await api.GET('/v1/users/{id}/{attribute}', { params: { path: { id: 1, attribute: 'email' } } })
const email: string | undefined = one?.attribute === 'email' ? one.value : undefined
if (email === undefined) throw new Error('email')
// @ts-expect-error -- no such attribute
await api.GET('/v1/users/{id}/{attribute}', { params: { path: { id: 1, attribute: 'password' } } })
// @ts-expect-error -- a new publisher needs a name
void (() => api.POST('/v1/publishers', { body: { email: 'a@example.com' } }))`,
  },
  {
    name: '@hey-api/openapi-ts',
    command: ['@hey-api/openapi-ts', 'bin/run.js', '-i', 'api.json', '-o', 'hey'],
    calls: `import { createPublisher, getPublisher, getUser, getUserAttribute, listUsers } from './hey/index.js'
import { client } from './hey/client.gen.js'
client.setConfig({ baseUrl: ORIGIN })
const { data: page } = await listUsers({ query: ${FILTERS} })
const list: { count: number; names: string[] } = { count: page!.count, names: page!.users.map(({ name }) => name) }
const { data: made } = await createPublisher({ body: ${PUBLISHER} })
const created: number = made!.publisher.id
const { data: read } = await getPublisher({ path: { id: created }, query: { expand: 'user' } })
const { user } = read!.publisher
const expanded: string | undefined = typeof user === 'object' && user !== null ? user.name : undefined
const { error } = await getUser({ path: { id: 999999 } })
const failure: 'record_not_found' | undefined = error?.code === 'record_not_found' ? error.code : undefined
// @ts-expect-error -- no such filter
await listUsers({ query: { 'nme~': 'a' } })
const { data: one } = await getUserAttribute({ path: { id: 1, attribute: 'email' } })
const email: string | undefined = one?.attribute === 'email' ? one.value : undefined
if (email === undefined) throw new Error('email')
// @ts-expect-error -- a new publisher needs a name
void (() => createPublisher({ body: { email: 'a@example.com' } }))`,
  },
  {
    name: 'orval',
    command: ['orval', 'dist/bin/orval.mjs', '--input', 'api.json', '--output', 'orval.ts', '--client', 'fetch'],
    calls: `import { createPublisher, getPublisher, getUser, getUserAttribute, listUsers } from './orval.js'
// Its calls have paths alone.
const { fetch } = globalThis
globalThis.fetch = (path, init) => fetch(new URL(String(path), ORIGIN), init)
const page = await listUsers(${FILTERS})
if (page.status !== 200) throw new Error('list')
const list: { count: number; names: string[] } = { count: page.data.count, names: page.data.users.map(({ name }) => name) }
const made = await createPublisher(${PUBLISHER})
if (made.status !== 200) throw new Error('create')
const created: number = made.data.publisher.id
const read = await getPublisher(created, { expand: 'user' })
if (read.status !== 200) throw new Error('read')
const { user } = read.data.publisher
const expanded: string | undefined = typeof user === 'object' && user !== null ? user.name : undefined
const refused = await getUser(999999)
const failure: 'record_not_found' | undefined = refused.status === 404 && refused.data.code === 'record_not_found' ? refused.data.code : undefined
// @ts-expect-error -- no such filter
await listUsers({ 'nme~': 'a' })
const one = await getUserAttribute(1, 'email')
const email: string | undefined = one.status === 200 && one.data.attribute === 'email' ? one.data.value : undefined
if (email === undefined) throw new Error('email')
// @ts-expect-error -- a new publisher needs a name
void (() => createPublisher({ email: 'a@example.com' }))`,
  },
]

/** The folder of a package of the generators; undefined where it is not installed. */
function findPackage(name: string): string | undefined {
  for (const folder of require.resolve.paths(name) ?? []) if (existsSync(join(folder, name, 'package.json'))) return join(folder, name)
  return undefined
}

function run(args: readonly string[], cwd: string): string {
  const env = { ...process.env, FORCE_COLOR: '0', DO_NOT_TRACK: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8', timeout: 120_000 })
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

describe('a client that is generated', { timeout: 300_000 }, () => {
  let engine: RestEngine
  let origin: string
  let server: ReturnType<typeof createServer>
  before(async () => {
    engine = await RestEngine.create(sample)
    server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(async () => {
    server?.close()
    server?.closeAllConnections()
    await engine?.close()
  })

  for (const { name, command, calls } of generators) {
    it(`compiles, and its calls work: ${name}`, async t => {
      const [packageName, script, ...args] = command
      const installed = findPackage(packageName)
      if (installed === undefined) return t.skip(`${packageName} is not installed in fixtures/generators`)
      const cache = join(ROOT, 'node_modules/.cache')
      await mkdir(cache, { recursive: true })
      // Inside the repository, so that packages are found, and outside of its sources.
      const folder = await mkdtemp(join(cache, 'generated-'))
      try {
        await writeFile(join(folder, 'api.json'), JSON.stringify(await engine.openapi()))
        run([join(installed, script), ...args], folder)
        await writeFile(
          join(folder, 'calls.ts'),
          `${calls.replaceAll('ORIGIN', JSON.stringify(origin))}\n` +
            `console.log(JSON.stringify({ list, created, expanded, failure }))\nexport {}\n`,
        )
        compile(folder)
        const { outputFiles } = await build({
          absWorkingDir: folder,
          entryPoints: ['calls.ts'],
          bundle: true,
          format: 'esm',
          platform: 'node',
          write: false,
          logLevel: 'silent',
        })
        await writeFile(join(folder, 'calls.mjs'), outputFiles[0]!.text)
        await assertCalls(folder)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }

  /** Checks the types of what was generated and of its use, as an app with a bundler does. */
  function compile(folder: string): void {
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2024', '--lib', 'es2024,dom,dom.iterable', '--types', 'node']
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
    run([tsc, '--ignoreConfig', ...options, '--module', 'preserve', '--moduleResolution', 'bundler', 'calls.ts'], folder)
  }

  async function assertCalls(folder: string): Promise<void> {
    // Not at once: the server is of this process.
    const child = spawn(process.execPath, ['calls.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', chunk => (stdout += String(chunk)))
    child.stderr.on('data', chunk => (stderr += String(chunk)))
    await once(child, 'close')
    assert.equal(stderr, '')
    const { list, created, ...others } = JSON.parse(stdout) as { list: { count: number; names: string[] }; created: number }
    const query = { 'created_at>=': '2000-01-01T00:00:00Z', 'name~=': '*a*', 'role!=': 'viewer', sort: 'name.desc', limit: 5 }
    const { body } = await engine.handle('GET', '/v1/users', query)
    const zoe = list.names.includes('Zoe') ? 1 : 0
    assert.ok(list.count > 3 && list.count - zoe <= (body as { count: number }).count)
    assert.deepEqual(others, { expanded: 'Zoe', failure: 'record_not_found' })
    const { body: made } = await engine.handle('GET', `/v1/publishers/${created}`, { expand: 'sites' })
    assert.equal((made as { publisher: { sites: [{ name: string }] } }).publisher.sites[0].name, 'Site')
    await engine.reset()
    const { body: before } = await engine.handle('GET', '/v1/users', query)
    assert.deepEqual(list, { count: before.count as number, names: (before.users as { name: string }[]).map(user => user.name) })
  }
})
