/** The files of a folder beside the API: what is answered with them, and that no path leads out of the folder. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { IncomingHttpHeaders, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, createServer, listener } from '../../lib/index.ts'
import type { ServerOptions } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const PAGE = '<!doctype html><title>Shop</title>'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

describe('static files', () => {
  let folder: string
  let dir: string
  let engine: RestEngine
  const servers: Server[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-static-'))
    dir = join(folder, 'front')
    for (const each of [
      'front/assets',
      'front/about',
      'front/v1',
      'front/empty',
      'front/.git',
      'front/.well-known',
      'front-secret',
      'away',
    ])
      await mkdir(join(folder, each), { recursive: true })
    const files: Record<string, string | Buffer> = {
      'front/index.html': PAGE,
      'front/about/index.html': 'about',
      'front/assets/app.js': 'export {}',
      'front/assets/größe 1.css': 'a{}',
      'front/assets/logo.png': Buffer.from([0x89, 0x50, 0, 0xff]),
      'front/assets/none': '',
      'front/assets/odd.xyz': 'x',
      'front/v1/users': 'a file in the place of the API',
      'front/.git/config': 'secret',
      'front/.env': 'secret',
      'front/.well-known/app.json': '{}',
      'front-secret/key.txt': 'secret',
      'away/secret.txt': 'secret',
    }
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    await symlink(join(folder, 'away/secret.txt'), join(dir, 'link.txt'))
    await symlink(join(folder, 'away'), join(dir, 'out'))
    await symlink(join(folder, 'front-secret'), join(dir, 'twin'))
    await symlink(join(dir, 'assets/app.js'), join(dir, 'inside.js'))
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
  })
  after(async () => {
    for (const server of servers) server.close()
    await engine.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function start(
    options: ServerOptions = {},
    on: RestEngine = engine,
  ): Promise<(line: string, headers?: Record<string, string>) => Promise<Answer>> {
    const server = createServer(on, { static: dir, ...options }).listen(0, '127.0.0.1')
    servers.push(server)
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    // fetch would take dots out of the path.
    return (line, headers = {}) =>
      new Promise((resolve, reject) => {
        const [method = '', path = ''] = line.split(/ (.*)/s)
        const sent = request({ host: '127.0.0.1', port, method, path, headers }, response => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }))
        })
        sent.on('error', reject).end()
      })
  }

  it('have the types that browsers need, and come as they are', async () => {
    const ask = await start()
    for (const [path, type, body] of [
      ['/', 'text/html; charset=utf-8', PAGE],
      ['/index.html?x=1', 'text/html; charset=utf-8', PAGE],
      ['/about/', 'text/html; charset=utf-8', 'about'],
      ['/assets/app.js', 'text/javascript; charset=utf-8', 'export {}'],
      ['/inside.js', 'text/javascript; charset=utf-8', 'export {}'],
      ['/assets/gr%C3%B6%C3%9Fe%201.css', 'text/css; charset=utf-8', 'a{}'],
      ['/assets/odd.xyz', 'application/octet-stream', 'x'],
      ['/assets/none', 'application/octet-stream', ''],
      ['/.well-known/app.json', 'application/json; charset=utf-8', '{}'],
    ] as const) {
      const answer = await ask(`GET ${path}`)
      assert.deepEqual([answer.status, answer.headers['content-type'], answer.body.toString()], [200, type, body], path)
      assert.equal(answer.headers['x-content-type-options'], 'nosniff')
      const head = await ask(`HEAD ${path}`)
      assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, String(Buffer.byteLength(body)), 0], path)
    }
    const { body, headers } = await ask('GET /assets/logo.png')
    assert.deepEqual([...body, headers['content-type']], [0x89, 0x50, 0, 0xff, 'image/png'])
  })

  it('lead from a folder to its page', async () => {
    const ask = await start()
    const { status, headers } = await ask('GET /about?a=b')
    assert.deepEqual([status, headers.location], [301, '/about/?a=b'])
    // One without a page is nothing that a client may list.
    for (const path of ['/empty', '/empty/', '/assets/']) assert.equal((await ask(`GET ${path}`)).status, 404)
  })

  it('are sent once, as long as they stay as they are', async () => {
    const ask = await start()
    const { headers } = await ask('GET /assets/app.js')
    const etag = headers.etag!
    const modified = headers['last-modified']!
    for (const asked of [
      { 'if-none-match': etag },
      { 'if-none-match': `"a", ${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': modified },
    ]) {
      const answer = await ask('GET /assets/app.js', asked)
      assert.deepEqual([answer.status, answer.headers.etag, answer.body.length], [304, etag, 0], JSON.stringify(asked))
    }
    assert.equal((await ask('GET /assets/app.js', { 'if-none-match': '"other"', 'if-modified-since': modified })).status, 200)
    await utimes(join(dir, 'assets/app.js'), new Date(), new Date(Date.now() + 5000))
    assert.equal((await ask('GET /assets/app.js', { 'if-none-match': etag })).status, 200)
  })

  it('come after the API', async () => {
    const ask = await start({ docs: true, testControls: true })
    const users = JSON.parse((await ask('GET /v1/users')).body.toString()) as { count: number }
    assert.equal(users.count, 1)
    assert.equal((await ask('GET /v1/nothing', { accept: 'text/html' })).status, 404)
    assert.match((await ask('GET /docs', { accept: 'text/html' })).body.toString(), /mikro-rest|<html/)
    assert.match((await ask('GET /_test')).headers['content-type']!, /json/)
    assert.equal((await ask('POST /assets/app.js')).status, 404)
    await using short = await RestEngine.create({ entities: [User], versions: [] })
    const bare = await start({}, short)
    assert.match((await bare('GET /users', { accept: 'text/html' })).headers['content-type']!, /json/)
    assert.equal((await bare('GET /assets/app.js')).status, 200)
    await using based = await RestEngine.create({ entities: [User], base: '/about' })
    const below = await start({}, based)
    assert.match((await below('GET /about/v1/users')).headers['content-type']!, /json/)
    assert.equal((await below('GET /about/index.html', { accept: 'text/html' })).status, 404)
    assert.equal((await below('GET /')).body.toString(), PAGE)
  })

  it('have the page at the top for the paths of a single-page app, where a browser opens one', async () => {
    const ask = await start()
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const path of ['/orders/3', '/orders/3/', '/deep/er?q=1']) {
      const page = await ask(`GET ${path}`, { accept })
      assert.deepEqual([page.status, page.body.toString()], [200, PAGE], path)
    }
    // What looks like a file, and what is no page to the client, is missing.
    assert.equal((await ask('GET /assets/old.js', { accept })).status, 404)
    for (const other of ['*/*', 'application/json', 'application/text/html+x'])
      assert.equal((await ask('GET /orders/3', { accept: other })).status, 404)
    assert.equal((await ask('POST /orders/3', { accept })).status, 404)
    const plain = await start({ static: join(dir, 'assets') })
    assert.equal((await plain('GET /orders/3', { accept })).status, 404)
    assert.match((await plain('GET /')).headers['content-type']!, /json/)
  })

  it('do not lead out of the folder', async () => {
    const ask = await start()
    const paths = [
      '/../away/secret.txt',
      '/..%2faway/secret.txt',
      '/%2e%2e/away/secret.txt',
      '/%2e%2e%2faway%2fsecret.txt',
      '/assets/../../away/secret.txt',
      '/assets/..%5c..%5caway/secret.txt',
      '/..\\away\\secret.txt',
      '/%252e%252e/away/secret.txt',
      '/../front-secret/key.txt',
      '/link.txt',
      '/out/secret.txt',
      '/out/',
      '/twin/key.txt',
      '/.git/config',
      '/.env',
      '/assets/%2e./../.env',
      '//away/secret.txt',
      '//etc/passwd',
      '/etc/passwd%00.html',
      '/assets/app.js/',
      '/assets/app.js/x',
      `/${'a'.repeat(5000)}`,
      '/%ff',
    ]
    for (const path of paths)
      for (const headers of [{}, { accept: 'text/html' }]) {
        const { status, body } = await ask(`GET ${path}`, headers)
        assert.doesNotMatch(body.toString(), /secret$|root:/, path)
        assert.ok(status >= 400 || body.toString() === PAGE, `${path} ${status}`)
        assert.ok(status < 500, path)
      }
  })

  it('are of a folder that is there, and of a server alone', () => {
    for (const [given, expected] of [
      [join(folder, 'none'), /"static" must be a folder, and .*none is none/],
      [join(dir, 'index.html'), /"static" must be a folder/],
      [3, /"static" must be the path of a folder/],
    ] as const)
      assert.throws(() => createServer(engine, { static: given as string }), expected)
    assert.throws(() => listener(engine, { static: dir } as never), /unknown option "static"/)
  })
})

describe('the address itself', () => {
  it('leads a browser to the docs page, and gives others the index', async t => {
    await using engine = await RestEngine.create({ entities: [User], base: '/api' })
    const server = createServer(engine, { docs: true }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise(resolve => server.once('listening', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const path of ['/', '/api', '/api/']) {
      const answer = await fetch(origin + path, { headers: { accept }, redirect: 'manual' })
      assert.deepEqual([answer.status, answer.headers.get('location'), answer.headers.get('vary')], [302, '/api/docs', 'Accept'], path)
    }
    for (const accepted of ['*/*', 'application/json']) {
      const answer = await fetch(`${origin}/api/`, { headers: { accept: accepted }, redirect: 'manual' })
      assert.equal(((await answer.json()) as { resources: unknown }).resources !== undefined, true)
    }
    assert.equal((await fetch(`${origin}/api/v1`, { headers: { accept }, redirect: 'manual' })).status, 200)
    const plain = createServer(engine).listen(0, '127.0.0.1')
    t.after(() => plain.close())
    await new Promise(resolve => plain.once('listening', resolve))
    const bare = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/api/`
    assert.equal((await fetch(bare, { headers: { accept }, redirect: 'manual' })).status, 200)
  })
})
