/**
 * What interception promises, on whatever Node runs this file: `node on-this-node.ts UNDICI early|late`, with the entry file of an undici
 * package, loaded before the interception or after it. Uses what every Node of 22.17 and newer has; prints the versions when all holds.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { text as textOf } from 'node:stream/consumers'
import { defineEntity, p } from '@mikro-orm/core'
import type * as Undici from 'undici'
import { RestEngine } from '../../../lib/index.ts'

const [, , undiciFile = '', when] = process.argv
const early = globalThis.fetch
const load = (): typeof Undici => createRequire(import.meta.url)(undiciFile) as typeof Undici
const places = (): unknown[] =>
  ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map(
    name => (globalThis as unknown as Record<symbol, unknown>)[Symbol.for(name)],
  )

const loaded = when === 'early' ? load() : undefined
const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string().nullable() } })
const engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'one' }] } })
const elsewhere = createServer((request, response) => {
  request.resume().on('end', () => response.end(`{"real":"${request.url}"}`))
}).listen(0, '127.0.0.1')
await once(elsewhere, 'listening')
const real = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
// The first use of its fetch makes Node create its dispatcher; with undici loaded late, the interception comes before that.
if (loaded !== undefined) await (await fetch(real)).text()
const before = places()

const api = engine.intercept('https://api.test')
const undici = loaded ?? load()
const url = 'https://api.test/v1/notes'
const post = { method: 'POST', headers: { 'content-type': 'application/json' } } as const
type Record_ = { note: { id: number; text: string } }

for (const fetcher of [early, fetch, undici.fetch as unknown as typeof fetch]) {
  const list = await fetcher(url)
  assert.equal(list.headers.get('content-type'), 'application/json; charset=UTF-8')
  assert.equal(((await list.json()) as { count: number }).count, 1)
  for (const body of ['{"text":"é"}', Buffer.from('{"text":"é"}'), new Blob(['{"text":"é"}'])] as string[]) {
    const { note } = (await (await fetcher(url, { ...post, body })).json()) as Record_
    assert.equal(note.text, 'é')
    assert.equal((await fetcher(`${url}/${note.id}`, { method: 'DELETE' })).status, 200)
  }
  assert.equal((await fetcher(url, { method: 'HEAD' })).body, null)
  assert.equal((await fetcher(url, { method: 'OPTIONS' })).status, 204)
  const form = fetcher === early ? new FormData() : new undici.FormData()
  form.append('text', 'a')
  if (fetcher === early) assert.equal((await fetcher(url, { method: 'POST', body: form })).status, 415)
  const reason = new Error('enough')
  await assert.rejects(fetcher(url, { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(await (await fetcher(`${real}/a`)).text(), '{"real":"/a"}')
  // A dispatcher serves the fetch of its own generation, and ours serves both.
  const init = { dispatcher: api.dispatcher as unknown } as RequestInit
  assert.equal((await fetcher(url, init)).status, 200)
  assert.equal(await (await fetcher(`${real}/b`, init)).text(), '{"real":"/b"}')
}

const answer = await undici.request(url, { query: { limit: 1 } })
assert.ok(Number(answer.headers['content-length']) > 10)
assert.equal(((await answer.body.json()) as { limit: number }).limit, 1)
const form = new undici.FormData()
form.append('text', 'a')
assert.equal((await undici.request(url, { method: 'POST', body: form })).statusCode, 415)
assert.equal(await (await undici.request(`${real}/c`, { method: 'POST', body: 'x' })).body.text(), '{"real":"/c"}')
assert.equal(await (await undici.request(`${real}/d`, { dispatcher: api.dispatcher as Undici.Dispatcher })).body.text(), '{"real":"/d"}')
const pipeline = undici.pipeline(url, post, ({ body }) => body)
pipeline.end('{"text":"piped"}')
assert.equal((JSON.parse(await textOf(pipeline)) as Record_).note.text, 'piped')
await assert.rejects(undici.request(url, { headers: { 'x-one': 'a\nb' } }), undici.errors.InvalidArgumentError)
const strict = engine.intercept('https://strict.test', { strict: true })
await assert.rejects(undici.request(real), { code: 'ERR_NOT_INTERCEPTED' })
await assert.rejects(fetch(real), error => ((error as Error).cause as { code: string }).code === 'ERR_NOT_INTERCEPTED')
strict.dispose()

api.dispose()
assert.equal(await (await fetch(`${real}/e`)).text(), '{"real":"/e"}')
assert.equal(await (await undici.request(`${real}/f`)).body.text(), '{"real":"/f"}')
assert.equal(await (await undici.fetch(`${real}/g`)).text(), '{"real":"/g"}')
if (loaded !== undefined) assert.deepEqual(places(), before)

// Once more, on what the first one has left.
{
  using again = engine.intercept('https://api.test')
  assert.deepEqual(again.origins, ['https://api.test'])
  assert.equal((await undici.request(url)).statusCode, 200)
  assert.equal((await fetch(url)).status, 200)
}
assert.equal(await (await undici.request(`${real}/h`)).body.text(), '{"real":"/h"}')
elsewhere.close()
elsewhere.closeAllConnections()
await engine.close()
console.log(`Node ${process.version} holds`)
