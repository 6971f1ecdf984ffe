/** The playground in Chromium: a static folder below a path, with the workbench on an engine of the page, and data that travel in links. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { deflateRawSync, gzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import { bundlePlayground } from '../../scripts/bundle-playground.ts'
import { findViolations } from '../helpers/axe.ts'
import { NO_BROWSER, borrowBrowser, type BorrowedBrowser } from '../helpers/chromium.ts'
import { watchPage } from '../helpers/watched-page.ts'
import { servePage, type ServedPage } from './serve-page.ts'

/** MikroORM says so in each page. */
const ALLOWED = /^AsyncLocalStorage not available$/

const DATA = `{
  "posts": [
    { "id": 1, "title": "First", "views": 1 },
    { "id": 2, "title": "Second",  "views": 2 }
  ]
}
`

describe('the playground', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  let folder: string
  let served: ServedPage
  let browser: BorrowedBrowser
  let address: string
  const loaded = new Map<string, Buffer>()
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-playground-'))
    await bundlePlayground(folder)
    served = await servePage(folder, '/demo/play', (path, content) => loaded.set(path, content))
    address = `${served.address}demo/play/`
    browser = await borrowBrowser()
  })
  after(async () => {
    await Promise.all([browser?.close(), served?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  const visit = (fragment: string, use: (page: Page) => Promise<void>, allowed = ALLOWED): Promise<void> =>
    watchPage(browser, address + fragment, { allowed }, async page => {
      const elsewhere: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith(address) && !/^(?:blob|data):/.test(request.url())) elsewhere.push(request.url())
      })
      await page.getByRole('button', { name: 'Your db.json' }).waitFor()
      await use(page)
      assert.deepEqual(elsewhere, [])
    })

  it('has the sample and its workbench in a static folder below a path, live, and asks no other address', async () => {
    await visit('', async page => {
      await page.getByRole('link', { name: 'users 24', exact: true }).waitFor()
      const first = [...loaded.values()].reduce((sum, content) => sum + gzipSync(content).length, 0)
      assert.ok(first < 1_100_000, `${first} bytes at first`)
      await page.getByRole('link', { name: 'GET /v1/publishers?sort=sites.desc&limit=5' }).click()
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('As the OpenAPI document says').waitFor()
      await page.getByRole('button', { name: 'curl' }).click()
      await page.getByText(`curl 'http://127.0.0.1:3000/v1/publishers?sort=sites.desc&limit=5'`).waitFor()
      const sent = { method: 'POST', body: '{ "name": "Zoe", "email": "zoe@example.com", "password": "secret" }' }
      const headers = { 'content-type': 'application/json' }
      assert.equal(await page.evaluate(async init => (await fetch('/v1/users', init)).status, { ...sent, headers }), 200)
      await page.getByRole('link', { name: 'users 25', exact: true }).waitFor()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page.getByRole('link', { name: /POST \/v1\/users/ }).waitFor()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'HAR' }).click()])
      assert.match(await readFile(await download.path(), 'utf8'), /^{"log":{"version":"1.2"/)
      // The scripts of the workbench are the page's own, not those of a server.
      assert.equal(await page.evaluate(async () => (await fetch('/_ui')).status), 404)
      await page.setViewportSize({ width: 390, height: 844 })
      assert.deepEqual(await findViolations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    })
  })

  it('serves a file in the grammar of json-server, and links carry its present state and grammar', async () => {
    let link = ''
    await visit('', async page => {
      await page.getByRole('button', { name: 'Your db.json' }).click()
      await chooseFile(page, DATA)
      await page.getByLabel('Clients speak').selectOption('json-server')
      assert.deepEqual(await findViolations(page), [])
      await page.getByRole('button', { name: 'Serve', exact: true }).click()
      await page.getByRole('link', { name: 'posts 2', exact: true }).waitFor()
      await page.getByRole('link', { name: 'GET /posts' }).click()
      const target = page.getByRole('combobox', { name: 'Path and query' })
      await target.fill('/posts?_sort=-views&_page=1&_per_page=1')
      await target.press('Enter')
      await page.getByText('"Second"').waitFor()
      assert.equal(await page.getByText('"First"').count(), 0)
      assert.equal(await page.getByRole('tab', { name: 'Explain' }).count(), 0)
      await target.fill('/v1/posts?views<2')
      await target.press('Enter')
      await page.getByText('As the OpenAPI document says').waitFor()
      const post = (body: string): Promise<string> =>
        page.evaluate(async text => {
          const sent = { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }
          return (await fetch('/posts', sent)).text()
        }, body)
      assert.match(await post('{ "title": '), /^{"error":"json_malformed","message":/)
      // Firefox has no such body, and some browsers do not iterate streams.
      await page.evaluate('delete Request.prototype.body; delete ReadableStream.prototype[Symbol.asyncIterator]')
      assert.equal(await post('{ "title": "Third", "views": 3 }'), '{"id":3,"title":"Third","views":3}')
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()])
      const text = await readFile(await download.path(), 'utf8')
      assert.ok(text.startsWith(DATA.slice(0, DATA.indexOf('\n  ]'))), text)
      assert.deepEqual((JSON.parse(text) as { posts: object[] }).posts[2], { id: 3, title: 'Third', views: 3 })
      await page.getByRole('button', { name: 'Link' }).click()
      link = await page.getByLabel('Link', { exact: true }).inputValue()
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByText('Copied.').waitFor()
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), link)
      await page.reload()
      await page.getByRole('link', { name: 'posts 2', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Sample' }).click()
      await page.getByRole('link', { name: 'users 24', exact: true }).waitFor()
    })
    await visit(link.slice(address.length), async page => {
      await page.getByRole('link', { name: 'posts 3', exact: true }).waitFor()
      await page.getByText('db.json as json-server, in memory').waitFor()
      await page.reload()
      await page.getByRole('link', { name: 'posts 3', exact: true }).waitFor()
      assert.equal(new URL(page.url()).hash, '#/data')
      assert.equal(await page.evaluate(async () => (await fetch('/posts/3')).text()), '{"id":3,"title":"Third","views":3}')
    })
  })

  it('shows where a text is no JSON, and what a link cannot carry, and keeps the world before', async () => {
    await visit('', async page => {
      const text = page.getByRole('textbox', { name: 'db.json' })
      const serve = page.getByRole('button', { name: 'Serve', exact: true })
      await page.getByRole('button', { name: 'Your db.json' }).click()
      await text.fill('{\n  "posts": [1,]\n}')
      await serve.click()
      await page.getByText('db.json is not JSON: unexpected "]" at line 2, column 15 (position 16).').waitFor()
      await text.fill('7')
      await serve.click()
      await page.getByText('db.json: the top level must be an object of collections, got').waitFor()
      await chooseFile(page, ' '.repeat(4_000_001))
      await serve.click()
      await page.getByText('db.json has 4,000,001 characters, and a page takes at most 4,000,000').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.reload()
      await page.getByRole('link', { name: 'users 24', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Your db.json' }).click()
      await dropFile(page, JSON.stringify({ keys: Array.from({ length: 700 }, (_, id) => ({ id, key: hash(`${id}`) })) }))
      await serve.click()
      await page.getByRole('link', { name: 'keys 700', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Link' }).click()
      await page.getByText(/^The data would make a link of [\d,]+ characters, and more than 30,000 are cut on the way/).waitFor()
    })
  })

  it('takes a hostile link as data: no part of it is run, and none fills the memory', async () => {
    const markup = '<img src=x onerror="isRun=1">'
    const names = [markup, '");isRun=1//', '${isRun=1}', '__proto__', 'constructor']
    const record = `{${names.map(name => `${JSON.stringify(name)}: ${JSON.stringify(markup)}`).join(', ')}}`
    const hostile = `{${names.map(name => `${JSON.stringify(name)}: [${record}]`).join(', ')}}`
    await visit(`#db=${pack('{"posts": [{"title": "A"}')}`, async page => {
      await page.getByText('db.json is not JSON: the text ends too early').waitFor()
      assert.equal(await page.getByRole('textbox', { name: 'db.json' }).inputValue(), '{"posts": [{"title": "A"}')
      await page.goto(`${address}#db=${pack(DATA).slice(0, 20)}`)
      await page.getByText('The link carries no data that can be read').waitFor()
      await page.goto(`${address}#as=odata&db=${pack(DATA)}`)
      await page.getByText('--as takes json-server, postgrest, supabase, got "odata".').waitFor()
      await page.goto(`${address}#db=${pack(' '.repeat(8_000_000))}`)
      await page.getByText('The link carries more than the 4,000,000 characters that a page takes.').waitFor()
      await page.goto(`${address}#db=${pack(hostile)}`)
      await page.getByRole('link', { name: 'img_src_x_onerror_isRun_1 1', exact: true }).click()
      await page.getByText(markup).first().waitFor()
      assert.equal(await page.evaluate('globalThis.isRun'), undefined)
    })
  })
})

async function chooseFile(page: Page, text: string): Promise<void> {
  await page.getByLabel('A file').setInputFiles({ name: 'shop.json', mimeType: 'application/json', buffer: Buffer.from(text) })
}

async function dropFile(page: Page, content: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle<{ items: { add(file: File): void } }>('new DataTransfer()')
  await dataTransfer.evaluate((to, text) => to.items.add(new File([text], 'shop.json')), content)
  await page.getByRole('dialog').dispatchEvent('drop', { dataTransfer })
}

function pack(text: string): string {
  return deflateRawSync(text).toString('base64url')
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
