/**
 * The engine beside other tools that answer requests: MSW, servers that speak Request and Response, and Jest, whose tests have a realm of
 * their own.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import * as undici from 'undici'
import { RestEngine } from '../../../lib/index.ts'
import { LIBRARY } from '../../helpers/command.ts'
import { runJest } from './run-jest.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
const API = 'https://api.example.test'
const OTHER = 'https://other.example.test'
const post = (text: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text }),
})

let engine: RestEngine
async function works(origin: string): Promise<void> {
  const created = await fetch(`${origin}/v1/notes`, post('two'))
  assert.equal(created.headers.get('content-type'), 'application/json; charset=UTF-8')
  const { note } = (await created.json()) as { note: { id: number; text: string } }
  assert.equal(note.text, 'two')
  const answer = await fetch(`${origin}/v1/notes?text=t*&attributes=text`)
  assert.deepEqual(((await answer.json()) as { notes: unknown }).notes, [{ text: 'two' }])
  assert.equal((await fetch(`${origin}/v1/notes/${note.id}`, { method: 'DELETE' })).status, 200)
  const missing = await fetch(`${origin}/v1/notes/${note.id}`)
  assert.deepEqual([missing.status, ((await missing.json()) as { code: string }).code], [404, 'record_not_found'])
  assert.equal((await fetch(`${origin}/v1/notes`, { method: 'OPTIONS' })).status, 204)
  assert.equal(await (await fetch(`${origin}/v1/notes/1`, { method: 'HEAD' })).text(), '')
}

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'one' }] } })
  })
  after(() => engine.close())
}

describe('MSW', () => {
  begin()

  const server = setupServer(
    http.get(`${API}/v1/fixed`, () => HttpResponse.json({ fixed: true })),
    http.all(`${API}/*`, ({ request }) => engine.fetch(request)),
  )
  before(() => server.listen({ onUnhandledFrame: 'bypass' }))
  after(() => server.close())

  it('takes engine.fetch as a handler, beside its own', async () => {
    await works(API)
    assert.deepEqual(await (await fetch(`${API}/v1/fixed`)).json(), { fixed: true })
  })

  it('lets through what is intercepted', async () => {
    using _ = engine.intercept(OTHER)
    await works(OTHER)
    await works(API)
    assert.equal((await undici.request(`${OTHER}/v1/notes`)).statusCode, 200)
  })
})

describe('a server that speaks Request and Response', () => {
  begin()

  /** What frameworks for such handlers do between node:http and them. */
  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = incoming
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const response = await engine.fetch(
      new Request(`http://${headers.host}${incoming.url}`, {
        method,
        headers: headers as Record<string, string>,
        ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
      }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body === null) outgoing.end()
    else Readable.fromWeb(response.body).pipe(outgoing)
  }

  let server: Server
  before(async () => {
    server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  it('takes engine.fetch as its handler', () => works(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
})

describe('Jest', () => {
  begin()

  const lib = fileURLToPath(LIBRARY)

  it('runs tests that intercept, in realms of their own', async () => {
    const text = (when: string): string => `import { runInThisContext } from 'node:vm'
      import { defineEntity, p } from '@mikro-orm/core'
      import { RestEngine } from ${JSON.stringify(lib)}
      ${when === 'early' ? "import 'undici'" : ''}
      const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode('{"text":"a"}') }
      test('is answered by the engine', async () => {
        expect(runInThisContext('globalThis')).not.toBe(globalThis)
        const engine = await RestEngine.create({ entities: [Note] })
        const api = engine.intercept('${API}', { strict: true })
        const { request } = await import('undici')
        expect((await fetch('${API}/v1/notes', post)).status).toBe(200)
        expect((await request('${API}/v1/notes', post)).statusCode).toBe(200)
        expect((await (await fetch('${API}/v1/notes')).json()).count).toBe(2)
        await expect(request('${OTHER}')).rejects.toMatchObject({ code: 'ERR_NOT_INTERCEPTED' })
        await engine.close()
      })`
    assert.match(await runJest({ 'early.test.js': text('early'), 'late.test.js': text('late') }, 'module'), /Tests: +2 passed/)
  })

  it('runs tests that a compiler made CommonJS of', async () => {
    const text = `"use strict"
      const { defineEntity, p } = require('@mikro-orm/core')
      const { RestEngine } = require(${JSON.stringify(lib)})
      const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
      test('is answered by the engine', async () => {
        const engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'a' }] } })
        engine.intercept('${API}', { strict: true })
        expect((await (await fetch('${API}/v1/notes')).json()).count).toBe(1)
        await engine.close()
      })`
    assert.match(await runJest({ 'compiled.test.js': text }, 'commonjs'), /Tests: +1 passed/)
  })
})
