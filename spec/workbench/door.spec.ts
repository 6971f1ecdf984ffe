/** The workbench over HTTP: what it answers, to whom, what it loads, and how much. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, resource, RestEngine } from '../../lib/index.ts'
import { bundleWorkbench } from '../../scripts/bundle-workbench.ts'
import { servesWorkbench } from '../../lib/doors/cli/workbench-address.ts'
import { Command } from '../helpers/command.ts'
import { serveWorkbench } from './browser.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    secret: p.string().hidden(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    title: p.string().unique(),
    state: p.enum(['new', 'used'] as const).default('new'),
    author: () => p.manyToOne(Author).nullable(),
  },
})
const Diary = defineEntity({ name: 'Diary', properties: { id: p.integer().primary() } })

describe('the door of the workbench', () => {
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({
      entities: [Author, Book, Diary],
      resources: [resource(Diary, { access: false })],
      seed: {
        authors: [{ id: 1, name: 'Ann', secret: 'x' }],
        books: [
          { title: 'One', author: 1 },
          { title: 'Two', author: 1 },
        ],
      },
    })
  })
  after(() => engine.close())

  it('answers with a page that holds no script and no style, and loads from its own server alone', async () => {
    await using server = await serveWorkbench(engine)
    const answer = await fetch(`${server.origin}/_ui`)
    const html = await answer.text()
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type')!, /^text\/html/)
    const policy = answer.headers.get('content-security-policy')!
    for (const rule of [`default-src 'none'`, `script-src 'self'`, `style-src 'self'`, `connect-src 'self'`, `frame-ancestors 'none'`])
      assert.ok(policy.includes(rule), rule)
    assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin')
    assert.doesNotMatch(html, /<script[^>]*>[^<]|<style|style=|\son\w+=|https?:/)
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const file = await fetch(server.origin + path)
      assert.equal(file.status, 200, path)
      assert.match(file.headers.get('cache-control')!, /immutable/)
      await file.text()
    }
    assert.match(await (await fetch(`${server.origin}/_ui/licenses.txt`)).text(), /preact [\d.]+, MIT/)
  })

  it('exists with the option alone, which gives test controls, too', async () => {
    for (const options of [{}, { workbench: false, testControls: true }, { docs: true }]) {
      await using server = await serveWorkbench(engine, { workbench: false, ...options })
      assert.equal((await fetch(`${server.origin}/_ui`)).status, 404)
    }
    await using server = await serveWorkbench(engine)
    assert.equal((await fetch(`${server.origin}/_test`)).status, 200)
    const lost = await fetch(`${server.origin}/_ui/nothing`)
    assert.equal(lost.status, 404)
    assert.match(((await lost.json()) as { detail: string }).detail, /the workbench is \/_ui/)
    const posted = await fetch(`${server.origin}/_ui`, { method: 'POST' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
  })

  it('leads browsers that open the address itself, and others to the index', async () => {
    await using server = await serveWorkbench(engine, { docs: true })
    const opened = await fetch(`${server.origin}/`, { redirect: 'manual', headers: { accept: 'text/html,*/*' } })
    assert.deepEqual([opened.status, opened.headers.get('location')], [302, '/_ui'])
    assert.equal(((await (await fetch(`${server.origin}/`)).json()) as { success: boolean }).success, true)
  })

  it('is guarded as test controls are', async () => {
    await using server = await serveWorkbench(engine, { cors: 'http://app.test' })
    for (const path of ['/_ui', '/_ui/outline.json', '/_ui/licenses.txt']) {
      const foreign = await fetch(server.origin + path, { headers: { origin: 'http://evil.test' } })
      assert.equal(foreign.status, 403, path)
      const linked = await fetch(server.origin + path, { headers: { 'sec-fetch-site': 'cross-site' } })
      assert.equal(linked.status, 403, path)
      const own = await fetch(server.origin + path, { headers: { origin: server.origin } })
      assert.equal(own.status, 200, path)
    }
  })

  it('outlines what is served: nothing that is hidden, and nothing that is closed to all', async () => {
    await using server = await serveWorkbench(engine, { workbench: { title: 'my shop' } })
    const text = await (await fetch(`${server.origin}/_ui/outline.json`)).text()
    const { title, database, root, resources } = JSON.parse(text) as {
      title: string
      database: string
      root: string
      resources: {
        name: string
        label: string
        key: string[]
        writeOnly?: { name: string }[]
        whenDeleted?: { resource: string; by: string; rule: string }[]
        attributes: { name: string; type: string; items?: string[] }[]
      }[]
    }
    assert.deepEqual([title, database, root], ['my shop', 'SQLite', '/v1'])
    assert.equal((JSON.parse(text) as { docs: boolean }).docs, false)
    assert.doesNotMatch(text, /diar/)
    const [author, book] = resources
    assert.deepEqual([author!.name, author!.label, author!.key], ['authors', 'name', ['id']])
    // What is never shown may be written.
    assert.deepEqual(
      [author!.attributes.some(({ name }) => name === 'secret'), author!.writeOnly!.map(({ name }) => name)],
      [false, ['secret']],
    )
    assert.deepEqual([author!.whenDeleted, book!.whenDeleted], [[{ resource: 'books', by: 'author', rule: 'unlink' }], undefined])
    assert.deepEqual(
      book!.attributes.map(({ name, type }) => `${name} ${type}`),
      ['id integer', 'title text', 'state enum', 'author authors'],
    )
    assert.deepEqual(book!.attributes.find(({ name }) => name === 'state')!.items, ['new', 'used'])
    assert.equal((await fetch(`${server.origin}/_ui/outline.json?version=v9`)).status, 404)
    const diagram = await fetch(`${server.origin}/_ui/diagram.svg`)
    assert.equal(diagram.headers.get('content-type'), 'image/svg+xml')
    const svg = await diagram.text()
    assert.match(svg, /data-resource="books"/)
    assert.doesNotMatch(svg, /secret|diar|style/)
    assert.equal((await fetch(`${server.origin}/_ui/diagram.svg?version=v9`)).status, 404)
  })

  it('counts lists, and looks at data, without a trace in the journal and past faults', async () => {
    await using server = await serveWorkbench(engine)
    engine.clearRequests()
    const fault = engine.fail('GET *', { status: 503 })
    const post = (body: unknown) =>
      fetch(`${server.origin}/_ui/counts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const paths = ['/v1/books?limit=1', '/v1/books?title=One&limit=1', '/v1/diaries', '/v1/books?nothing=1']
    assert.deepEqual(await (await post({ paths })).json(), { counts: [2, 1, null, null] })
    for (const body of [{}, { paths: ['books'] }, { paths: Array.from({ length: 501 }, () => '/v1/books') }])
      assert.equal((await post(body)).status, 400)
    const looked = await fetch(`${server.origin}/v1/books`, { headers: { 'x-workbench': 'look' } })
    assert.equal(((await looked.json()) as { count: number }).count, 2)
    assert.deepEqual(engine.requests, [])
    // Without the workbench the header says nothing.
    await using other = await serveWorkbench(engine, { workbench: false })
    assert.equal((await fetch(`${other.origin}/v1/books`, { headers: { 'x-workbench': 'look' } })).status, 503)
    assert.equal(engine.requests.length, 1)
    fault.dispose()
  })

  it('stands below the base, and beside a model without versions', async () => {
    await using based = await RestEngine.create({ entities: [Author, Book, Diary], base: '/api', versions: [] })
    await using server = await serveWorkbench(based)
    assert.match(await (await fetch(`${server.origin}/api/_ui`)).text(), /src="\/api\/_ui\/main-\w+\.js"/)
    assert.equal(((await (await fetch(`${server.origin}/api/_ui/outline.json`)).json()) as { root: string }).root, '/api')
    await assert.rejects(
      RestEngine.create({ entities: [Author, Book, Diary], versions: [], resources: [resource(Diary, { name: '_ui' })] }),
      /the workbench of a server/,
    )
  })

  it('refuses options that contradict each other', () => {
    assert.throws(() => createServer(engine, { workbench: true, testControls: false }), /"workbench" works by test controls/)
    assert.throws(() => createServer(engine, { workbench: 'yes' as never }), /"workbench" must be true, false or an object/)
    assert.throws(() => createServer(engine, { workbench: { titel: 'x' } as never }), /Did you mean "title"/)
  })

  it('is part of the command as it is published, on addresses of this machine alone unless it is asked for', async () => {
    await using command = new Command('.', '--port', '0')
    const origin = await command.origin()
    assert.ok(command.stdout.includes(`Workbench: ${origin}/_ui\n`))
    const html = await (await fetch(`${origin}/_ui`)).text()
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) assert.equal((await fetch(origin + path)).status, 200, path)
    const { title } = (await (await fetch(`${origin}/_ui/outline.json`)).json()) as { title: string }
    assert.equal(title, 'the sample model, in memory')
    for (const host of ['127.0.0.1', '::1', 'localhost', '127.1.2.3'])
      assert.equal(await servesWorkbench({ host, workbench: undefined }), true, host)
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) assert.equal(await servesWorkbench({ host, workbench: undefined }), false, host)
    assert.equal(await servesWorkbench({ host: '0.0.0.0', workbench: true }), true)
    assert.equal(await servesWorkbench({ host: '127.0.0.1', workbench: false }), false)
  })

  it('loads little: 45 KB of script at first, 80 KB in all, 8 KB of style', async () => {
    const files = [...(await bundleWorkbench())]
    const size = (text: string): number => gzipSync(text, { level: 9 }).length
    const scripts = files.filter(([name]) => name.endsWith('.js'))
    const sizeOf = (form: RegExp): number => files.filter(([name]) => form.test(name)).reduce((sum, [, text]) => sum + size(text), 0)
    const all = scripts.reduce((sum, [, text]) => sum + size(text), 0)
    // What the first screen loads: the main file, what it shares with screens, and the largest screen.
    const largest = Math.max(...scripts.filter(([name]) => /-screen-/.test(name)).map(([, text]) => size(text)))
    const first = sizeOf(/^(?:main|chunk|jsx|\w+)-\w+\.js$/) - sizeOf(/-screen-/) + largest
    assert.ok(first <= 45_000, `first load: ${first} bytes`)
    assert.ok(all <= 80_000, `all screens: ${all} bytes`)
    assert.ok(sizeOf(/\.css$/) <= 8000, `style: ${sizeOf(/\.css$/)} bytes`)
  })

  it('is not loaded with the package', () => {
    const program = `
      import { registerHooks } from 'node:module'
      const names = []
      registerHooks({ load: (url, context, next) => { names.push(url); return next(url, context) } })
      const { RestEngine, createServer } = await import(${JSON.stringify(new URL('../../lib/index.ts', import.meta.url).href)})
      console.log(names.filter(name => /\\/lib\\/workbench\\/|bundle-workbench|esbuild|preact/.test(name)).join())`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    assert.equal(stdout.trim(), '', stderr)
    assert.equal(stderr, '')
  })
})
