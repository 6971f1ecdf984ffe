/**
 * Interception of clients on `node:http` and `node:https`, as axios, got, happy-dom and others are. They all come to an agent for a
 * connection, and through Node's own parser: so what holds here holds for them.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { connectLocally } from '../../../lib/doors/server/intercept/local-socket.ts'
import { RestEngine, createServer } from '../../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
const API = 'https://api.example.test'
const PLAIN = 'http://api.example.test:8080'
const OTHER = 'http://other.example.test'

let engine: RestEngine
let real: RestEngine
let server: http.Server
let here: string
interface Answer {
  readonly status: number | undefined
  readonly headers: http.IncomingHttpHeaders
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions read it freely
  readonly body: any
}

async function ask(url: string, options: RequestOptions = {}, body?: string): Promise<Answer> {
  const request = (url.startsWith('https:') ? https : http).request(url, options)
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = await textOf(response)
  return { status: response.statusCode, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

const json = { 'content-type': 'application/json' }

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'engine' }] } })
    real = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'network' }] } })
    server = createServer(real).listen(0, '127.0.0.1')
    await once(server, 'listening')
    here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(async () => {
    server.close()
    await Promise.all([engine.close(), real.close()])
  })
}

describe('a client on node:http', () => {
  begin()

  it('is answered by the engine, over http and https, whatever agent it brings', async () => {
    using _ = engine.intercept([API, PLAIN])
    for (const origin of [API, PLAIN]) {
      const module = origin === API ? https : http
      for (const agent of [undefined, false, new module.Agent(), new module.Agent({ keepAlive: true, maxSockets: 1 })]) {
        for (let round = 0; round < 2; round++) {
          const { status, headers, body } = await ask(`${origin}/v1/notes?limit=1`, agent === undefined ? {} : { agent })
          assert.deepEqual([status, body.notes[0].text], [200, 'engine'])
          assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
        }
      }
    }
  })

  it('writes, is refused, and sends a megabyte', async () => {
    using _ = engine.intercept(API)
    const made = await ask(`${API}/v1/notes`, { method: 'POST', headers: json }, JSON.stringify({ text: 'x'.repeat(900_000) }))
    assert.deepEqual([made.status, made.body.note.text.length], [200, 900_000])
    const path = `${API}/v1/notes/${made.body.note.id}`
    assert.equal((await ask(path)).body.note.text.length, 900_000)
    assert.equal((await ask(path, { method: 'HEAD' })).body, undefined)
    assert.equal((await ask(path, { method: 'DELETE' })).status, 200)
    assert.equal((await ask(path)).body.code, 'record_not_found')
    const large = JSON.stringify({ text: 'x'.repeat(1_100_000) })
    assert.equal((await ask(`${API}/v1/notes`, { method: 'POST', headers: json }, large)).status, 413)
    assert.equal(
      (await ask(`${API}/v1/notes`, { method: 'POST', headers: { expect: '100-continue', ...json } }, '{"text":"later"}')).status,
      200,
    )
  })

  it('may be a page: it reads what other origins sent', async () => {
    using _ = engine.intercept(API)
    const { headers } = await ask(`${API}/v1/notes`, { headers: { origin: 'http://localhost:3000' } })
    assert.ok(['*', 'http://localhost:3000'].includes(String(headers['access-control-allow-origin'])))
  })

  it('reaches other origins as before', async () => {
    using _ = engine.intercept(API)
    assert.equal((await ask(`${here}/v1/notes`)).body.notes[0].text, 'network')
  })

  it('is refused other origins where an interception is strict', async () => {
    using _ = engine.intercept(API, { strict: true })
    await assert.rejects(ask(`${here}/v1/notes`), { code: 'ERR_NOT_INTERCEPTED' })
    await assert.rejects(ask(`${OTHER}/v1/notes`), /other\.example\.test is not intercepted.*https:\/\/api\.example\.test/)
    assert.throws(() => new http.Agent().createConnection({ host: 'other.example.test' }), { code: 'ERR_NOT_INTERCEPTED' })
    assert.equal((await ask(`${API}/v1/notes`)).status, 200)
  })

  it('does not get a connection that was kept from before or during an interception', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const who = async (): Promise<string> => (await ask(`${here}/v1/notes`, { agent })).body.notes[0].text
    assert.equal(await who(), 'network')
    {
      using _ = engine.intercept(here)
      assert.equal(await who(), 'engine')
      assert.equal(await who(), 'engine')
      await real.within(async () => {
        real.intercept(here)
        assert.equal(await who(), 'network')
        assert.equal(await who(), 'network')
      })
      assert.equal(await who(), 'engine')
    }
    assert.equal(await who(), 'network')
    assert.equal(Object.values(agent.freeSockets).flat().length, 1)
    agent.destroy()
  })

  it('times out, aborts, and loses its connection as for real', async () => {
    using _ = engine.intercept(API)
    {
      using gate = engine.hold('GET *')
      const request = https.get(`${API}/v1/notes`, { timeout: 20 })
      await once(request, 'timeout')
      request.destroy()
      await assert.rejects(once(request, 'response'), { code: 'ECONNRESET' })
      await assert.rejects(ask(`${API}/v1/notes`, { signal: AbortSignal.timeout(20) }), { name: 'AbortError' })
      gate.release()
    }
    engine.drop('GET *', { times: 1 })
    await assert.rejects(ask(`${API}/v1/notes`), { code: 'ECONNRESET' })
  })

  it('gets the answer that was on its way when the interception ended', async () => {
    const api = engine.intercept(API)
    using gate = engine.hold('GET *')
    const answering = ask(`${API}/v1/notes`)
    await gate.arrived
    api.dispose()
    gate.release()
    assert.equal((await answering).status, 200)
  })
})

describe('a connection inside the process', () => {
  begin()

  it('is by https where it is encrypted, and by http where it is not: a docs page says which', async () => {
    const documented = createServer(engine, { docs: true })
    for (const [isEncrypted, origin] of [
      [true, 'https://localhost'],
      [false, 'http://localhost'],
    ] as const) {
      const [client, end] = connectLocally(isEncrypted)
      documented.emit('connection', end)
      const createConnection = (): Duplex => client
      const request = http.get({ path: '/docs', headers: { host: 'localhost', accept: 'text/html' }, createConnection })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const page = await textOf(response)
      assert.ok(page.includes(`at <code>${origin}/v1</code>`), page.slice(0, 500))
    }
  })
})

describe('the agents of node:http', () => {
  begin()

  const methods = (): unknown[] =>
    [http.Agent.prototype, https.Agent.prototype].flatMap(prototype =>
      ['createConnection', 'getName'].map(name => Object.getOwnPropertyDescriptor(prototype, name)),
    )

  it('are as before when all interceptions have ended, in any order', () => {
    const before = methods()
    const [one, other] = [engine.intercept(API), real.intercept(PLAIN)]
    assert.notDeepEqual(methods(), before)
    one.dispose()
    assert.notDeepEqual(methods(), before)
    other.dispose()
    assert.deepEqual(methods(), before)
  })

  it('keep what somebody else has put over them, which passes on', async () => {
    const [original] = methods() as [PropertyDescriptor]
    const api = engine.intercept(here)
    const before = http.Agent.prototype.createConnection
    let calls = 0
    http.Agent.prototype.createConnection = function (...args) {
      calls++
      return before.apply(this, args)
    }
    assert.equal((await ask(`${here}/v1/notes`)).body.notes[0].text, 'engine')
    api.dispose()
    assert.equal((await ask(`${here}/v1/notes`, { agent: new http.Agent() })).body.notes[0].text, 'network')
    assert.equal(calls, 2)
    Object.defineProperty(http.Agent.prototype, 'createConnection', original)
    assert.equal((await ask(`${here}/v1/notes`, { agent: new http.Agent() })).body.notes[0].text, 'network')
  })
})
