/**
 * The guide for Next.js of docs/mounting.md: its files as they stand there. Their handlers are called by Node; with SPEC_NEXT=1 Next.js
 * itself is installed (340 MB), builds an app of them with its type check, and serves it.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../helpers/command.ts'
import { markedBlocks } from '../helpers/markdown.ts'
import { userEnvironment } from '../helpers/user-environment.ts'

const MINUTES = 60_000
const ROUTE = 'app/api/[[...path]]/route.ts'
/** What an app of Next.js has beside the guide. */
const PAGES = {
  'app/layout.tsx':
    'export default function Layout({ children }: { children: React.ReactNode }) { return <html><body>{children}</body></html> }',
  'app/page.tsx': 'export default function Page() { return <p>the page</p> }',
}

describe('the guide for Next.js', { timeout: 5 * MINUTES }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-next-'))
    const guide = markedBlocks(await readFile(join(ROOT, 'docs/mounting.md'), 'utf8'))
    for (const { marker, text } of guide) if (marker.startsWith('file ')) await write(marker.slice('file '.length), text)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }

  const runIn = (command: string, args: readonly string[], cwd: string): string => {
    const env = { ...userEnvironment(), NEXT_TELEMETRY_DISABLED: '1', CI: '1' }
    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 4 * MINUTES })
  }

  it('has a handler that answers each method, with one engine', async () => {
    const installed = join(folder, 'node_modules/mikro-rest')
    await write('package.json', JSON.stringify({ private: true, type: 'module' }))
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'package.json'), JSON.stringify({ type: 'module', exports: './index.ts' }))
    await writeFile(join(installed, 'index.ts'), `export * from ${JSON.stringify(pathToFileURL(join(ROOT, 'lib/index.ts')).href)}\n`)
    await symlink(join(ROOT, 'node_modules/@mikro-orm'), join(folder, 'node_modules/@mikro-orm'), 'junction')
    const script = `const { GET, POST, PUT, DELETE } = await import('./${ROUTE}')
      const ask = async (handler, method, path, body) => {
        const init = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
        const response = await handler(new Request('http://localhost:3000/api' + path, init))
        return [response.status, response.headers.get('location'), await response.json()]
      }
      const made = await ask(POST, 'POST', '/v1/users', { name: 'Ann' })
      const put = await ask(PUT, 'PUT', '/v1/users/1', { name: 'Bob' })
      const read = await ask(GET, 'GET', '/v1/users/1')
      const index = await ask(GET, 'GET', '')
      const gone = await ask(DELETE, 'DELETE', '/v1/users/1')
      console.log(JSON.stringify([made[0], made[1], put[0], read[2].user, index[2].resources, gone[0], (await ask(GET, 'GET', '/v1/users'))[2].count]))
      process.exit()`
    const printed = runIn(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script], folder)
    assert.deepEqual(JSON.parse(printed), [200, '/api/v1/users/1', 200, { id: 1, name: 'Bob' }, { users: '/api/v1/users' }, 200, 0])
  })

  it('is built and served by Next.js', async t => {
    if (process.env['SPEC_NEXT'] !== '1') return t.skip('Next.js is installed with SPEC_NEXT=1')
    const packed = runIn('npm', ['pack', '--silent', '--pack-destination', folder], ROOT)
    await rm(join(folder, 'node_modules'), { recursive: true, force: true })
    await write('package.json', JSON.stringify({ private: true }))
    for (const [name, text] of Object.entries(PAGES)) await write(name, text)
    const packages = ['next@16', 'react', 'react-dom', 'typescript@5', '@types/react', '@types/node']
    runIn('npm', ['install', '--no-audit', '--no-fund', join(folder, packed.trim().split('\n').at(-1)!), ...packages], folder)
    const next = join(folder, 'node_modules/next/dist/bin/next')
    assert.match(runIn(process.execPath, [next, 'build'], folder), /\/api\/\[\[\.\.\.path\]\]/)
    const server = spawn(process.execPath, [next, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      await askServed(await findOrigin(server))
    } finally {
      server.kill()
      await once(server, 'exit')
    }
  })
})

async function findOrigin({ stdout }: ChildProcess): Promise<string> {
  let printed = ''
  for await (const chunk of stdout!) {
    printed += String(chunk)
    const [, origin] = /(http:\/\/127\.0\.0\.1:\d+)[^]*Ready/.exec(printed) ?? []
    if (origin !== undefined) return origin
  }
  throw new Error(printed)
}

async function askServed(origin: string): Promise<void> {
  const made = await fetch(`${origin}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ann' }),
  })
  assert.deepEqual([made.status, made.headers.get('location')], [200, '/api/v1/users/1'])
  for (const path of ['/api', '/api/v1', '/api/v1/users?name=Ann', '/api/v1/users/1', '/api/v1/openapi.json'])
    assert.equal((await fetch(origin + path)).status, 200, path)
  assert.equal(
    (await fetch(`${origin}/api/v1/users`, { headers: { accept: 'text/csv' } }).then(answer => answer.text())).trim(),
    'id,name\r\n1,Ann',
  )
  assert.equal((await fetch(`${origin}/api/v1/none`)).status, 404)
  assert.match(await (await fetch(origin)).text(), /the page/)
}
