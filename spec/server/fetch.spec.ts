/** The WHATWG door: Request in, Response out, with the same rule for bodies as over HTTP. */
import { gzipSync } from 'node:zlib'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string().nullable() } })
const MAX = 2_000

describe('fetch', () => {
  let engine: RestEngine

  before(async () => {
    engine = await RestEngine.create({ entities: [Note], limits: { maxBodyBytes: MAX }, seed: { notes: [{ id: 1, text: 'one' }] } })
  })
  after(() => engine.close())

  // oxlint-disable-next-line typescript/no-explicit-any -- specs assert on bodies freely
  async function ask(path: string, init: RequestInit = {}): Promise<{ response: Response; body: any }> {
    const response = await engine.fetch(new Request(`http://api.test${path}`, init))
    const text = await response.text()
    return { response, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  it('answers as handle does', async () => {
    const { response, body } = await ask('/v1/notes?text=o%6Ee#fragment')
    assert.ok(response instanceof Response)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=UTF-8')
    assert.deepEqual(body.notes, [{ id: 1, text: 'one' }])
    assert.equal((await ask('')).body.success, true)
    assert.equal((await ask('/v1/notes?text=%zz')).body.code, 'query_malformed')
  })

  it('needs no `this`, and takes what the global fetch takes', async () => {
    const { fetch: bare } = engine
    const url = 'http://api.test/v1/notes?attributes=text'
    for (const answer of [
      bare(new Request(url)),
      bare(url),
      bare(new URL(url)),
      bare('/v1/notes?attributes=text'),
      bare('v1/notes?attributes=text'),
    ])
      assert.deepEqual(((await (await answer).json()) as { notes: unknown }).notes, [{ text: 'one' }])
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":1}' }
    assert.equal((await bare('/v1/notes', init)).status, 422)
    assert.equal((await bare(new Request('http://api.test/v1/notes', init), { method: 'PATCH' })).status, 405)
    await assert.rejects(bare('/v1/notes', { signal: AbortSignal.abort(new Error('over')) }), /over/)
  })

  it('gives no body to HEAD and OPTIONS', async () => {
    for (const [method, status] of [
      ['HEAD', 200],
      ['OPTIONS', 204],
    ] as const) {
      const { response, body } = await ask('/v1/notes', { method })
      assert.equal(response.status, status)
      assert.equal(response.body, null)
      assert.equal(body, undefined)
    }
    const { response: head } = await ask('/v1/notes', { method: 'HEAD' })
    const text = await (await engine.fetch('/v1/notes')).text()
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(text)))
    assert.equal((await engine.handle('HEAD', '/v1/notes')).headers['content-length'], undefined)
  })

  it('takes compressed bodies', async () => {
    const send = (body: Uint8Array<ArrayBuffer>, coding: string): ReturnType<typeof ask> =>
      ask('/v1/notes', { method: 'POST', body, headers: { 'content-type': 'application/json', 'content-encoding': coding } })
    assert.equal((await send(new Uint8Array(gzipSync('{"text":"two"}')), 'gzip')).body.note.text, 'two')
    assert.equal((await send(new Uint8Array(gzipSync('x'.repeat(20 << 20))), 'gzip')).response.status, 413)
    const { response } = await send(new Uint8Array([1]), 'zstd')
    assert.deepEqual([response.status, response.headers.get('accept-encoding')], [415, 'gzip, deflate, br'])
  })

  it('writes, and gives Location', async () => {
    const { response, body } = await ask('/v1/notes', {
      method: 'POST',
      body: '{"text":"two"}',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(body.status, 'OK')
    assert.equal(response.headers.get('location'), `/v1/notes/${body.note.id}`)
    assert.equal(
      (await ask(`/v1/notes/${body.note.id}`, { method: 'PATCH', body: '{"text":null}', headers: { 'content-type': 'application/json' } }))
        .body.note.text,
      null,
    )
    assert.equal((await ask(`/v1/notes/${body.note.id}`, { method: 'DELETE' })).response.status, 200)
  })

  it('has the same rule for bodies as HTTP', async () => {
    const json = { 'content-type': 'application/json' }
    for (const [headers, body, status, code] of [
      [json, '{"text":', 400, 'json_malformed'],
      [json, Uint8Array.of(0xff), 400, 'json_malformed'],
      [{ 'content-type': 'text/plain' }, '{}', 415, 'media_type_unsupported'],
      [json, `{}${' '.repeat(MAX)}`, 413, 'body_too_large'],
      [json, '', 400, 'body_invalid'],
    ] as const) {
      const { response, body: answer } = await ask('/v1/notes', { method: 'POST', headers, body })
      assert.deepEqual([response.status, answer.code], [status, code])
    }
  })

  it('stops reading a stream at the limit', async () => {
    let produced = 0
    let cancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        produced += 100
        controller.enqueue(new Uint8Array(100).fill(32))
      },
      cancel() {
        cancelled = true
      },
    })
    const { response } = await ask('/v1/notes', { method: 'POST', body: stream, duplex: 'half' })
    assert.equal(response.status, 413)
    assert.ok(cancelled)
    assert.ok(produced < 2 * MAX)
  })

  it('rejects with the reason of an aborted signal', async () => {
    const reason = new Error('enough')
    await assert.rejects(ask('/v1/notes', { signal: AbortSignal.abort(reason) }), reason)
  })

  it('rejects when the engine is closed', async () => {
    const other = await RestEngine.create({ entities: [Note] })
    await other.close()
    await assert.rejects(other.fetch(new Request('http://api.test/v1/notes')), /closed/)
  })
})
