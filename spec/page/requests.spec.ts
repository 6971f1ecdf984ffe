/** XMLHttpRequest of a page gets from an intercepting engine what it gets from a real server. */
import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { RestEngine, createServer } from '../../lib/index.ts'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { makeOdd } from './odd-answers.ts'
import { openPage, type OpenedPage } from './open-page.ts'
import type { Asked, InPage } from './requests-in-page.ts'

declare const inPage: InPage

const API = 'https://api.example.test'

const TYPES = ['', 'text', 'json', 'arraybuffer', 'blob', 'document']

const ASKED: Readonly<Record<string, readonly Asked[]>> = {
  'answers in each form': ['/notes', '/bytes', '/html', '/xml', '/nothing'].flatMap(path => TYPES.map(type => ({ path, type }))),
  'other answers': [
    ...['/latin', '/no-xml', '/refused', '/missing?a=%20b#part'].map(path => ({ path })),
    { path: '/latin', mediaType: 'text/plain; charset=utf-8' },
    { path: '/html', mediaType: 'application/xml' },
    { path: '/notes', method: 'HEAD', body: 'text' },
  ],
  'headers and bodies': [
    { path: '/echo', headers: [['x-twice', 'a'], ['X-Twice', 'b'], ['accept', 'application/json']] }, // prettier-ignore
    ...(['text', 'form', 'bytes', 'blob', 'large'] as const).map(body => ({ path: '/echo', method: 'POST', body })),
    { path: '/echo', method: 'put', body: 'json', headers: [['content-type', 'application/json']] },
  ],
  'timeouts and lost connections': [
    { path: '/slow', timeout: 40 },
    { path: '/slow', timeout: 5_000 },
    { path: '/lost' },
    { path: '/lost', method: 'POST', body: 'text' },
  ],
  'ends by the page': [
    ...['readystatechange 1', 'loadstart', 'readystatechange 2', 'readystatechange 4', 'load'].map(abortOn => ({
      path: '/notes',
      abortOn,
    })),
    ...['upload loadstart', 'upload load ', 'upload loadend'].map(abortOn => ({
      path: '/slow',
      method: 'POST',
      body: 'text' as const,
      abortOn,
    })),
  ],
}

describe('XMLHttpRequest in a page', { skip: NO_BROWSER }, () => {
  let opened: OpenedPage
  let server: Server
  let real: string
  let engine: RestEngine
  before(
    async () => {
      engine = await makeOdd(RestEngine)
      server = createServer(engine, { cors: true })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      real = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      opened = await openPage('spec/page/requests-in-page.ts')
      await opened.page.evaluate(async api => {
        await inPage.loadSqlite('/sqlite3.wasm')
        inPage.standing = await inPage.makeOdd(inPage.RestEngine)
        inPage.standing.intercept(api)
      }, API)
    },
    { timeout: 120_000 },
  )
  after(async () => {
    await opened?.close()
    server?.closeAllConnections()
    await new Promise(resolve => server?.close(resolve))
    await engine?.close()
  })

  for (const [what, asked] of Object.entries(ASKED))
    it(`has the events and the answers of a real server: ${what}`, async () => {
      const [wanted, found] = await opened.page.evaluate(
        ([origins, requests]) => Promise.all(origins.map(origin => inPage.sendAll(origin, requests))),
        [[real, API], asked] as const,
      )
      for (const [index, seen] of wanted!.entries()) assert.deepEqual(found![index], seen, JSON.stringify(asked[index]))
      assert.equal(wanted!.length, asked.length)
    })

  it('tells the length of a form with files once the browser knows the length', async () => {
    const [seen] = await opened.page.evaluate(api => inPage.sendAll(api, [{ path: '/echo', method: 'POST', body: 'files' }]), API)
    const uploads = seen!.filter(step => String(step).startsWith('upload')).map(step => String(step).replaceAll(/\d{3}/g, 'n'))
    assert.deepEqual(uploads, ['upload loadstart 1 0 0 n', 'upload progress 1 0 n n', 'upload load 1 0 n n', 'upload loadend 1 0 n n'])
  })

  it('lets axios work unchanged: answers, uploads, refusals, timeouts, lost connections, signals', async () => {
    const [wanted, found] = await opened.page.evaluate(
      origins => Promise.all(origins.map(origin => inPage.askByAxios(origin))),
      [real, API],
    )
    assert.deepEqual(found, wanted)
    assert.deepEqual(found!.slice(-5), ['ERR_BAD_REQUEST', 300, 'ECONNABORTED', 'ERR_NETWORK', 'ERR_CANCELED'])
  })

  it('refuses what an engine cannot answer, and what a strict interception leaves out; other origins have their server', async () => {
    const seen = await opened.page.evaluate(
      async ([api, other]) => {
        const ask = (url: string, isAsync?: boolean, body?: unknown): unknown =>
          inPage.failure(() => {
            const request = new (globalThis as unknown as { XMLHttpRequest: typeof inPage.own }).XMLHttpRequest()
            request.open('POST', url, isAsync)
            request.send(body)
            return request.status
          })
        const document = (globalThis as unknown as { document: unknown }).document
        const results = [ask(api, false), ask(api, true, document), ask('http://', true), ask(other, false)]
        const strict = inPage.standing!.intercept('https://b.example.test', { strict: true })
        results.push(ask(other, true))
        strict.dispose()
        return [...results, ask(other, false)]
      },
      [API, `${real}/refused`] as const,
    )
    assert.deepEqual(seen, [
      `TypeError: XMLHttpRequest: ${API}/ is intercepted, and an engine answers asynchronously: open the request without "false".`,
      'TypeError: XMLHttpRequest: an engine takes no document as a body: send a text of it.',
      'SyntaxError',
      418,
      `TypeError: XMLHttpRequest: ${real} is not intercepted, and an interception is strict.`,
      418,
    ])
  })

  it('is itself after the end of the interception', async () => {
    const seen = await opened.page.evaluate(async () => {
      const page = globalThis as unknown as { XMLHttpRequest: unknown }
      const during = page.XMLHttpRequest === inPage.own
      await inPage.standing!.close()
      return [during, page.XMLHttpRequest === inPage.own]
    })
    assert.deepEqual(seen, [false, true])
  })
})
