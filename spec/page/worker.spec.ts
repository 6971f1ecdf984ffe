/** An engine in a worker answers a page, which goes on meanwhile. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { openPage, type OpenedPage } from './open-page.ts'
import type { InPage } from './worker-in-page.ts'

declare const inPage: InPage

describe('an engine in a worker', { skip: NO_BROWSER }, () => {
  let opened: OpenedPage
  before(
    async () => {
      opened = await openPage('spec/page/worker-in-page.ts', { worker: 'spec/page/worker.ts' })
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  it('costs the page 10 KB of scripts', () => {
    const bytes = [...opened.loaded.values()].reduce((sum, content) => sum + gzipSync(content).length, 0)
    console.log(`# scripts of a page with a worker: ${bytes} bytes`)
    assert.ok(bytes < 10_000, `${bytes} bytes`)
  })

  it('is made, and answers a list of a large world, while the timers of the page go on', { timeout: 60_000 }, async () => {
    const { whole, longest, count, status } = await opened.page.evaluate(async () => {
      let answered: { status: number; count: number } | undefined
      const times = await inPage.measurePauses(async () => {
        inPage.worker = inPage.start('/worker.js')
        inPage.engine = await inPage.connect(inPage.worker)
        const response = await inPage.engine.fetch('/v1/notes?text=*7&sort=text.desc&limit=1')
        const { count } = (await response.json()) as { count: number }
        answered = { status: response.status, count }
      })
      return { ...times, ...answered! }
    })
    console.log(`# ${Math.round(whole)} ms in the worker, at most ${Math.round(longest)} ms without a turn of the page`)
    assert.deepEqual([status, count], [200, 2000])
    assert.ok(whole > 300 && longest < whole / 2, `${longest} of ${whole} ms`)
  })

  it('takes methods, headers and bodies, and gives status, headers and bodies', async () => {
    const seen = await opened.page.evaluate(async () => {
      const { fetch } = inPage.engine!
      const post = await fetch(
        new Request('/v1/notes', { method: 'POST', body: '{"text":"é"}', headers: { 'content-type': 'application/json' } }),
      )
      const refused = await fetch('/v1/notes', { method: 'POST', body: 'x' })
      const head = await fetch('/v1/notes/1', { method: 'HEAD' })
      const lines = await (await fetch('/v1/notes?limit=20000', { headers: { accept: 'application/x-ndjson' } })).text()
      return [
        [post.status, post.headers.get('location'), ((await post.json()) as { note: { text: string } }).note.text],
        [refused.status, ((await refused.json()) as { code: string }).code],
        [head.status, await head.text()],
        lines.trimEnd().split('\n').length,
      ]
    })
    assert.deepEqual(seen, [[200, '/v1/notes/20001', 'é'], [415, 'media_type_unsupported'], [200, ''], 20_000])
  })

  it('has the errors of fetch: of a lost connection, and of a signal, which ends the request in the worker, too', async () => {
    const [lost, early, late, cut, requests] = await opened.page.evaluate(async () => {
      const { failure, engine } = inPage
      const { fetch } = engine!
      const after = new AbortController()
      const reading = new AbortController()
      const list = await fetch('/v1/notes?limit=20000', { headers: { accept: 'application/x-ndjson' }, signal: reading.signal })
      const reader = list.body!.getReader()
      await reader.read()
      reading.abort(new Error('seen enough'))
      const errors = [
        await failure(() => fetch('/v1/notes/3')),
        await failure(() => fetch('/v1/notes/2', { signal: AbortSignal.abort(new Error('before')) })),
        await failure(() => (setTimeout(() => after.abort(), 50), fetch('/v1/notes/2', { signal: after.signal }))),
        await failure(async () => {
          while (!(await reader.read()).done);
        }),
      ]
      return [...errors, await (await fetch('/v1/seen')).text()] as const
    })
    assert.deepEqual([lost, early, cut], ['TypeError: fetch failed', 'Error: before', 'Error: seen enough'])
    assert.match(late!, /^AbortError/)
    assert.ok(requests!.includes('/v1/notes/2 undefined'), requests)
  })

  it('takes the place of an origin', async () => {
    const seen = await opened.page.evaluate(async () => {
      const api = inPage.engine!.intercept('https://api.example.test', { strict: true })
      const { status } = await fetch('https://api.example.test/v1/notes/1')
      const other = await inPage.failure(() => fetch('https://other.example.test'))
      api.dispose()
      return [status, other, api.origins]
    })
    assert.deepEqual(seen, [
      200,
      'TypeError: fetch: https://other.example.test is not intercepted, and an interception is strict.',
      ['https://api.example.test'],
    ])
  })

  it('may be in a shared worker, for several pages', async () => {
    const statuses = await opened.page.evaluate(async () => {
      const engines = [await inPage.connect(inPage.startShared('/worker.js')), await inPage.connect(inPage.startShared('/worker.js'))]
      return Promise.all(engines.map(async engine => (await engine.fetch('/v1/notes/1')).status))
    })
    assert.deepEqual(statuses, [200, 200])
  })

  it('leaves the messages of the application alone, greets a page that connects later, and says why there is no engine', async () => {
    const [heard, again, failed, missing] = await opened.page.evaluate(async () => {
      const { worker, connect, start, failure } = inPage
      const message = new Promise<unknown>(resolve => worker!.addEventListener('message', ({ data }) => resolve(data)))
      worker!.postMessage('hello', [])
      const heard = await message
      const { status } = await (await connect(worker!)).fetch('/v1/notes/1')
      return [heard, status, await failure(() => connect(start('/worker.js?fails'))), await failure(() => connect(start('/none.js')))]
    })
    assert.deepEqual([heard, again], ['hello from the worker', 200])
    assert.equal(failed, 'Error: connect: the worker could not make its engine: Error: no database')
    assert.match(missing, /^Error: connect: the worker has failed: is the address of the script right\?$/)
  })
})
