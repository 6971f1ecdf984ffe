/** The node:http door, over real sockets: bodies, methods, CORS, connections that are kept, dropped and broken. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, RestEngine } from '../../lib/index.ts'
import type { RequestLine } from '../../lib/doors/server/server-options.ts'
import { RawConnection, requestText } from '../helpers/raw-http.ts'
import type { RawAnswer } from '../helpers/raw-http.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string().nullable() } })
const MAX = 2_000

type Options = Parameters<typeof createServer>[1]

describe('http', () => {
  let engine: RestEngine
  let server: Server
  let errors: unknown[]
  /** Holds every creation until it resolves. */
  let gate: Promise<void>
  let arrived: () => void
  const opened: RawConnection[] = []

  beforeEach(async () => {
    errors = []
    gate = Promise.resolve()
    arrived = () => {}
    engine = await RestEngine.create({
      entities: [Note],
      limits: { maxBodyBytes: MAX },
      onError: error => errors.push(error),
      seed: { notes: [{ id: 1, text: 'one' }] },
      orm: {
        subscribers: [
          {
            async beforeCreate() {
              arrived()
              await gate
            },
          },
        ],
      },
    })
    await start()
  })

  afterEach(async () => {
    for (const connection of opened.splice(0)) connection.socket.destroy()
    if (server.listening) await close()
    await engine.close()
  })

  async function start(options?: Options): Promise<void> {
    server = createServer(engine, options)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }

  async function restart(options: Options): Promise<void> {
    await close()
    await start(options)
  }

  function close(): Promise<void> {
    return new Promise((resolve, reject) => {
      server.close(error => (error === undefined ? resolve() : reject(error)))
    })
  }

  async function connection(): Promise<RawConnection> {
    const made = await RawConnection.open(server)
    opened.push(made)
    return made
  }

  /** One request on a connection of its own. */
  async function ask(line: string, headers: Record<string, string> = {}, body: string | Uint8Array = ''): Promise<RawAnswer> {
    return (await connection()).send(requestText(line, headers, body)).answer({ head: line.startsWith('HEAD ') })
  }

  async function count(): Promise<number> {
    return ((await engine.handle('GET', '/v1/notes')).body as { count: number }).count
  }

  /** Makes the next creation wait inside the engine; `held` resolves when it has got there. */
  function hold(): { held: Promise<void>; release: () => void } {
    let release = (): void => {}
    gate = new Promise(resolve => {
      release = resolve
    })
    const held = new Promise<void>(resolve => {
      arrived = resolve
    })
    return { held, release }
  }

  function assertError(answer: RawAnswer, status: number, code: string): void {
    assert.equal(answer.status, status)
    assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
    assert.equal(answer.body.success, false)
    assert.equal(answer.body.status, status)
    assert.equal(answer.body.code, code)
    for (const member of ['timestamp', 'title', 'detail']) assert.equal(typeof answer.body[member], 'string', member)
  }

  describe('requests', () => {
    it('answers with a length, a date and the body of the engine', async () => {
      const answer = await ask('GET /v1/notes/1')
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-length'], String(Buffer.byteLength(JSON.stringify(answer.body))))
      assert.ok(!Number.isNaN(Date.parse(answer.headers['date'] ?? '')))
      assert.deepEqual(answer.body.note, { id: 1, text: 'one' })
    })

    it('hands the query to the engine as it came', async () => {
      assert.equal((await ask('GET /v1/notes?text=o%6Ee')).body.count, 1)
      assert.equal((await ask('GET /v1/notes?text=o*&text=*e')).body.count, 1)
      assert.deepEqual((await ask('GET /v1/notes?text=a%2Cb,c%3F?')).body.filter, [['text', 'a,b,c??']])
      assertError(await ask('GET /v1/notes?text=%zz'), 400, 'query_malformed')
      assertError(await ask('GET /v1/notes/%E0%A4'), 400, 'path_malformed')
      assertError(await ask('GET /v1/notes/%00'), 400, 'path_malformed')
    })

    it('takes a target in absolute form', async () => {
      assert.equal((await ask('GET http://localhost:80/v1/notes?text=one')).body.count, 1)
      assert.deepEqual((await ask('GET http://localhost')).body.versions, ['v1'])
      assertError(await ask('GET http://localhost?text=one'), 400, 'parameter_invalid')
    })

    it('answers HEAD without a body, and an error to HEAD too', async () => {
      const peer = await connection()
      const answer = await peer.send(requestText('HEAD /v1/notes')).answer({ head: true })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
      assert.equal((await peer.send(requestText('HEAD /v1/nope')).answer({ head: true })).status, 404)
      assert.equal((await peer.send(requestText('GET /v1/notes')).answer()).status, 200)
    })

    it('answers HEAD with the headers of GET, its length included, and goes on with the connection', async () => {
      const peer = await connection()
      for (const path of ['/v1/notes', '/v1/notes/1', '/v1/notes/1/text', '/v1', '/', '/v1/openapi.json', '/v1/nope', '/v1/notes?x=1']) {
        const head = await peer.send(requestText(`HEAD ${path}`)).answer({ head: true })
        const { status, headers } = await peer.send(requestText(`GET ${path}`)).answer()
        assert.deepEqual([head.status, { ...head.headers, date: '' }], [status, { ...headers, date: '' }], path)
        assert.ok(Number(head.headers['content-length']) > 0, path)
      }
    })

    it('answers OPTIONS with what is allowed', async () => {
      const answer = await ask('OPTIONS /v1/notes')
      assert.equal(answer.status, 204)
      assert.equal(answer.body, undefined)
      assert.match(answer.headers['allow'] ?? '', /GET.*POST/)
      assert.match((await ask('OPTIONS *')).headers['allow'] ?? '', /GET.*DELETE/)
    })

    it('gives Location after a creation, and Allow with 405', async () => {
      assert.equal((await ask('POST /v1/notes', {}, '{"text":"two"}')).headers['location'], '/v1/notes/2')
      const refused = await ask('DELETE /v1/notes')
      assertError(refused, 405, 'method_not_allowed')
      assert.match(refused.headers['allow'] ?? '', /GET/)
    })

    it('reports each answered request once', async () => {
      const lines: unknown[] = []
      await restart({ onRequest: ({ duration, ...line }) => lines.push({ ...line, duration: typeof duration }) })
      await ask('GET /v1/notes?text=%7E')
      await ask('PUT /v1/notes/9', {}, '{"text":1}')
      assert.deepEqual(lines, [
        { method: 'GET', path: '/v1/notes?text=%7E', status: 200, duration: 'number' },
        { method: 'PUT', path: '/v1/notes/9', status: 404, duration: 'number' },
      ])
    })
  })

  describe('bodies', () => {
    it('creates from a body that comes in pieces, split inside a character', async () => {
      const bytes = requestText('POST /v1/notes', {}, '{"text":"né 😀"}')
      const peer = await connection()
      for (const byte of bytes) {
        peer.send(Uint8Array.of(byte))
        await wait(0)
      }
      assert.equal((await peer.answer()).body.note.text, 'né 😀')
    })

    it('says where a body stops being JSON', async () => {
      const cases: [string, RegExp][] = [
        ['{"text":1,}', /"}" at line 1, column 11 \(position 10\)/],
        ['{\n  "text": one\n}', /"o" at line 2, column 11 \(position 12\)/],
        ['{"text": "one"', /ends too early, at line 1, column 15 \(position 14\)/],
        [' ', /ends too early/],
        ['{"text": "a\u0001"}', /position 11/],
        ['{"text": 01}', /"1" at line 1, column 11/],
        ["{'text': 1}", /"'" at line 1, column 2/],
        ['{} x', /"x" at line 1, column 4/],
        ['{"text": 1e999}', /too large, under "text"/],
      ]
      for (const [body, detail] of cases) {
        const answer = await ask('POST /v1/notes', {}, body)
        assertError(answer, 400, 'json_malformed')
        assert.match(answer.body.detail, detail, body)
      }
      assert.equal(await count(), 1)
    })

    it('refuses bytes that are not UTF-8, and tells which', async () => {
      const answer = await ask('POST /v1/notes', {}, Buffer.from('7b2278223a22ff227d', 'hex'))
      assertError(answer, 400, 'json_malformed')
      assert.match(answer.body.detail, /byte at position 6/)
      assert.match((await ask('POST /v1/notes', {}, Buffer.from('22c3', 'hex'))).body.detail, /ends within a character/)
    })

    it('drops a byte order mark', async () => {
      assert.equal((await ask('POST /v1/notes', {}, '\uFEFF{"text":"two"}')).body.note.text, 'two')
    })

    it('takes JSON media types', async () => {
      for (const type of [
        'application/json',
        'Application/JSON; charset=UTF-8',
        'application/json;charset="utf-8"',
        'application/json; profile=x',
        'application/merge-patch+json',
        'application/vnd.api+json; a=b; charset=utf8',
      ]) {
        assert.equal((await ask('POST /v1/notes', { 'content-type': type }, '{}')).status, 200, type)
      }
    })

    it('refuses a body without a media type, and says which header to send', async () => {
      const answer = await ask('POST /v1/notes', { 'content-type': '' }, '{}')
      assertError(answer, 415, 'media_type_unsupported')
      assert.match(answer.body.detail, /has no media type.*"Content-Type: application\/json"/)
      const form = await ask('POST /v1/notes', { 'content-type': 'application/x-www-form-urlencoded' }, '{}')
      assert.match(form.body.detail, /x-www-form-urlencoded.*curl: -H 'Content-Type: application\/json'/)
      assert.equal(await count(), 1)
    })

    it('refuses other media types, charsets and encodings', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/json; charset=latin1',
        'application/jsonx',
        'json',
        'text/html; x=application/json',
      ]) {
        assertError(await ask('POST /v1/notes', { 'content-type': type }, '{}'), 415, 'media_type_unsupported')
      }
      assert.equal(await count(), 1)
    })

    it('takes compressed bodies, within the limit of plain ones', async () => {
      const codings: [string, (bytes: Uint8Array) => Uint8Array][] = [
        ['gzip', gzipSync],
        ['GZIP', gzipSync],
        ['x-gzip', gzipSync],
        ['deflate', deflateSync],
        ['deflate', deflateRawSync],
        ['br', brotliCompressSync],
        ['identity', bytes => bytes],
      ]
      for (const [coding, pack] of codings) {
        const answer = await ask('POST /v1/notes', { 'content-encoding': coding }, pack(Buffer.from(`{"text":"by ${coding}"}`)))
        assert.deepEqual([answer.status, answer.body.note.text], [200, `by ${coding}`])
      }
      const before = await count()
      const bomb = Buffer.from(`{"text":"${'x'.repeat(50 << 20)}"}`)
      for (const [coding, pack] of [codings[0]!, codings[3]!, codings[4]!, codings[5]!]) {
        const packed = pack(bomb)
        const started = performance.now()
        assertError(await ask('POST /v1/notes', { 'content-encoding': coding }, packed), 413, 'body_too_large')
        assert.ok(performance.now() - started < 2000)
        for (const damaged of [packed.subarray(0, 20), Buffer.from('{"text":"x"}')])
          assertError(await ask('POST /v1/notes', { 'content-encoding': coding }, damaged), 400, 'body_invalid')
      }
      for (const coding of ['zstd', 'compress', 'gzip, gzip', '*', '__proto__', 'constructor', 'toString']) {
        const answer = await ask('POST /v1/notes', { 'content-encoding': coding }, '{"text":"x"}')
        assertError(answer, 415, 'media_type_unsupported')
        assert.equal(answer.headers['accept-encoding'], 'gzip, deflate, br')
      }
      assert.equal(await count(), before)
    })

    it('judges an empty body as the path does, whatever its media type', async () => {
      const answer = await ask('POST /v1/notes', { 'content-type': 'text/plain', 'content-length': '0' })
      assertError(answer, 400, 'body_invalid')
    })

    it('refuses a body over the limit while it is still being sent', async () => {
      const peer = await connection()
      peer.send('POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
      for (let sent = 0; sent <= MAX; sent += 500) {
        peer.send('1f4\r\n', ' '.repeat(500), '\r\n')
        await wait(5)
      }
      const answer = await peer.answer()
      assertError(answer, 413, 'body_too_large')
      assert.match(answer.body.detail, /2000 bytes/)
      assert.equal(answer.headers['connection'], 'close')
      await peer.closed
    })

    it('delivers the refusal to a client that sends on without reading', async () => {
      const peer = await connection()
      peer.socket.pause()
      peer.send('POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20000000\r\n\r\n')
      for (let round = 0; round < 20; round++) {
        peer.send(Buffer.alloc(100_000, 32))
        await wait(5)
      }
      peer.socket.resume()
      assertError(await peer.answer(), 413, 'body_too_large')
      await peer.closed
    })

    it('takes a body of exactly the limit', async () => {
      assert.equal((await ask('POST /v1/notes', {}, `{}${' '.repeat(MAX - 2)}`)).status, 200)
      assertError(await ask('POST /v1/notes', {}, `{}${' '.repeat(MAX - 1)}`), 413, 'body_too_large')
    })

    it('asks for a body that was announced, but not for one over the limit', async () => {
      const head = 'POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n'
      const peer = await connection()
      assert.equal((await peer.send(`${head}content-length: 2\r\n\r\n`).answer()).status, 100)
      assert.equal((await peer.send('{}').answer()).status, 200)
      assertError(await (await connection()).send(`${head}content-length: 9999999\r\n\r\n`).answer(), 413, 'body_too_large')
    })

    it('refuses a body that ends before its length', async () => {
      const peer = await connection()
      peer.send('POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{"text":"two"}')
      peer.socket.end()
      assertError(await peer.answer(), 400, 'request_malformed')
      await peer.closed
      assert.equal(await count(), 1)
    })

    it('ignores the body of a method that has no use for one, and goes on after it', async () => {
      const peer = await connection()
      assert.equal((await peer.send(requestText('GET /v1/notes', { 'content-type': 'text/plain' }, 'nonsense')).answer()).status, 200)
      assert.equal((await peer.send(requestText('DELETE /v1/notes/1', {}, 'x'.repeat(MAX + 1))).answer()).status, 200)
      assert.equal((await peer.send(requestText('GET /v1/notes')).answer()).body.count, 0)
    })
  })

  describe('what is not HTTP', () => {
    it('is answered in the shape of every error, and the connection closed', async () => {
      const cases: [string, number, string][] = [
        ['nonsense\r\n\r\n', 400, 'request_malformed'],
        ['GET /v1/notes HTTP/1.1\r\nhost x\r\n\r\n', 400, 'request_malformed'],
        ['GET /v1/notes?a=\u00ff HTTP/1.1\r\nhost: localhost\r\n\r\n', 400, 'request_malformed'],
        ['BREW /v1/notes HTTP/1.1\r\nhost: localhost\r\n\r\n', 400, 'request_malformed'],
        ['POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400, 'request_malformed'],
        ['POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n', 400, 'request_malformed'],
        [`GET /v1/notes?text=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 431, 'request_head_too_large'],
      ]
      for (const [text, status, code] of cases) {
        const peer = await connection()
        assertError(await peer.send(text).answer(), status, code)
        await peer.closed
      }
      assert.deepEqual(errors, [])
    })

    it('includes a request without Host, save in HTTP/1.0', async () => {
      assertError(await (await connection()).send('GET /v1/notes HTTP/1.1\r\n\r\n').answer(), 400, 'request_malformed')
      assert.equal((await (await connection()).send('GET /v1/notes HTTP/1.0\r\n\r\n').answer()).status, 200)
    })
  })

  describe('connections', () => {
    it('are kept for the next request, after refusals too', async () => {
      const peer = await connection()
      for (const [text, status] of [
        [requestText('GET /v1/notes'), 200],
        [requestText('GET /v1/nope'), 404],
        [requestText('POST /v1/notes', { 'content-type': 'text/plain' }, 'x'), 415],
        [requestText('POST /v1/notes', {}, '{'), 400],
        [requestText('POST /v1/notes', {}, '{}'), 200],
      ] as const) {
        assert.equal((await peer.send(text).answer()).status, status)
      }
      peer.send(requestText('GET /v1/notes/1'), requestText('GET /v1/notes/2'))
      assert.deepEqual([(await peer.answer()).body.note.id, (await peer.answer()).body.note.id], [1, 2])
    })

    it('of a client that hangs up abort the request: nothing is written, nothing is reported', async () => {
      const lines: unknown[] = []
      await restart({ onRequest: line => lines.push(line) })
      const { held, release } = hold()
      const peer = await connection()
      peer.send(requestText('POST /v1/notes', {}, '{"text":"two"}'))
      await held
      peer.socket.destroy()
      await wait(50)
      release()
      await wait(50)
      assert.equal(await count(), 1)
      assert.deepEqual([errors, lines], [[], []])
      assert.equal((await ask('POST /v1/notes', {}, '{"text":"three"}')).status, 200)
    })

    it('of a client that hangs up within its body leave nothing behind', async () => {
      const peer = await connection()
      peer.send('POST /v1/notes HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{"te')
      await wait(20)
      peer.socket.resetAndDestroy()
      await wait(50)
      assert.deepEqual(errors, [])
      assert.equal((await ask('GET /v1/notes')).body.count, 1)
    })

    it('finish what is in flight when the server closes, and idle ones are dropped', async () => {
      const { held, release } = hold()
      const [fresh, idle, busy] = [await connection(), await connection(), await connection()]
      await idle.send(requestText('GET /v1/notes')).answer()
      busy.send(requestText('POST /v1/notes', {}, '{"text":"two"}'))
      await held
      const closed = close()
      await Promise.all([fresh.closed, idle.closed])
      await assert.rejects(RawConnection.open(server))
      release()
      const answer = await busy.answer()
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['connection'], 'close')
      await Promise.all([closed, busy.closed])
      assert.equal(await count(), 2)
    })

    it('stay open for a client that is later than the header says', async () => {
      server.keepAliveTimeout = 100
      const peer = await connection()
      peer.send(requestText('GET /v1/notes/1'))
      assert.equal((await peer.answer()).status, 200)
      // By itself Node adds a second.
      await wait(1_500)
      peer.send(requestText('GET /v1/notes/1'))
      assert.equal((await peer.answer()).status, 200)
      peer.socket.destroy()
    })

    it('are closed with the server once an answer that was on its way has been read', async () => {
      // More than the socket's buffers take, so that the answer is still being written when the server closes.
      await engine.seed({ notes: [{ id: 2, text: 'x'.repeat(20_000_000) }] })
      const peer = await connection()
      peer.socket.pause()
      peer.send(requestText('GET /v1/notes/2'))
      await wait(200)
      // An idle connection would be closed after that time, too.
      server.keepAliveTimeout = 30_000
      const started = performance.now()
      const closed = close()
      await wait(50)
      peer.socket.resume()
      assert.equal((await peer.answer()).body.note.text.length, 20_000_000)
      await Promise.all([closed, peer.closed])
      assert.ok(performance.now() - started < 20_000, 'before the keep-alive timeout')
    })

    it('get 503 when the engine is closed under the server', async () => {
      await engine.close()
      assertError(await ask('GET /v1/notes'), 503, 'server_closed')
      assert.equal((await ask('HEAD /v1/notes')).status, 503)
    })
  })

  describe('CORS', () => {
    const PREFLIGHT = {
      origin: 'http://a.test',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type',
    }

    it('is off by default', async () => {
      const answer = await ask('GET /v1/notes', { origin: 'http://a.test' })
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
      assert.equal((await ask('OPTIONS /v1/notes', PREFLIGHT)).headers['access-control-allow-methods'], undefined)
    })

    it('lets the listed origins read, errors included, and keeps caches from mixing them up', async () => {
      await restart({ cors: ['http://a.test', 'https://b.test:8443'] })
      for (const origin of ['http://a.test', 'https://b.test:8443']) {
        for (const path of ['/v1/notes', '/v1/nope']) {
          const { headers } = await ask(`GET ${path}`, { origin })
          assert.equal(headers['access-control-allow-origin'], origin)
          assert.equal(headers['vary'], 'Origin')
          assert.match(headers['access-control-expose-headers'] ?? '', /Location.*Allow/)
        }
      }
      for (const headers of [{ origin: 'http://c.test' }, { origin: 'null' }, {}]) {
        const answer = await ask('GET /v1/notes', headers)
        assert.equal(answer.headers['access-control-allow-origin'], undefined)
        assert.equal(answer.headers['vary'], 'Origin')
      }
      assert.equal((await ask('POST /v1/notes', { origin: 'http://a.test' }, '{')).headers['access-control-allow-origin'], 'http://a.test')
    })

    it('answers a preflight without asking the engine', async () => {
      await restart({ cors: 'http://a.test' })
      await engine.close()
      const { status, headers } = await ask('OPTIONS /v1/notes/1', PREFLIGHT)
      assert.equal(status, 204)
      assert.equal(headers['access-control-allow-origin'], 'http://a.test')
      assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, QUERY, OPTIONS, POST, PUT, PATCH, DELETE')
      assert.equal(headers['access-control-allow-headers'], 'authorization,content-type')
      assert.ok(Number(headers['access-control-max-age']) > 0)
      assert.equal(headers['vary'], 'Origin, Access-Control-Request-Headers')
      const other = await ask('OPTIONS /v1/notes/1', { ...PREFLIGHT, origin: 'http://c.test' })
      assert.equal(other.status, 204)
      assert.deepEqual(
        Object.keys(other.headers).filter(name => name.startsWith('access-control')),
        [],
      )
    })

    it('lets pages of named origins send credentials where the server says so', async () => {
      await restart({ cors: ['http://a.test', 'http://b.test'], corsCredentials: true })
      for (const line of ['GET /v1/notes', 'GET /v1/nope', 'OPTIONS /v1/notes']) {
        const sent = line.startsWith('OPTIONS') ? PREFLIGHT : {}
        const { headers } = await ask(line, { ...sent, origin: 'http://b.test' })
        assert.equal(headers['access-control-allow-origin'], 'http://b.test')
        assert.equal(headers['access-control-allow-credentials'], 'true')
        assert.match(headers['vary'] ?? '', /^Origin/)
        const other = await ask(line, { ...sent, origin: 'http://c.test' })
        assert.equal(other.headers['access-control-allow-credentials'], undefined)
        assert.match(other.headers['vary'] ?? '', /^Origin/)
      }
      await restart({ cors: 'http://a.test' })
      assert.equal((await ask('GET /v1/notes', { origin: 'http://a.test' })).headers['access-control-allow-credentials'], undefined)
    })

    it('refuses credentials for every page', () => {
      for (const cors of [true, '*', ['http://a.test', '*'], 'null'] as const)
        assert.throws(
          () => createServer(engine, { cors, corsCredentials: true }),
          /"corsCredentials" lets pages .* name the origins that may/,
        )
      assert.throws(() => createServer(engine, { corsCredentials: true }), /goes with "cors"/)
      assert.throws(() => createServer(engine, { cors: 'http://a.test', corsCredentials: 'yes' as never }), /must be true or false/)
    })

    it('still gives Allow to an OPTIONS that is no preflight', async () => {
      await restart({ cors: true })
      const { headers } = await ask('OPTIONS /v1/notes', { origin: 'http://a.test' })
      assert.match(headers['allow'] ?? '', /POST/)
      assert.equal(headers['access-control-allow-origin'], '*')
    })

    it('opens to every origin with true or *', async () => {
      for (const cors of [true, '*'] as const) {
        await restart({ cors })
        const { headers } = await ask('GET /v1/notes', { origin: 'http://any.test' })
        assert.equal(headers['access-control-allow-origin'], '*')
        assert.equal((await ask('OPTIONS /v1/notes', PREFLIGHT)).headers['access-control-allow-origin'], '*')
      }
    })
  })

  describe('a read-only server', () => {
    beforeEach(() => restart({ readOnly: true, cors: true }))

    it('answers writes with 405 and reads as ever', async () => {
      for (const [line, body] of [
        ['POST /v1/notes', '{}'],
        ['PUT /v1/notes/1', '{'],
        ['PATCH /v1/notes/1', 'x'.repeat(MAX * 2)],
        ['DELETE /v1/notes/1', ''],
      ] as const) {
        const answer = await ask(line, {}, body)
        assertError(answer, 405, 'method_not_allowed')
        assert.equal(answer.headers['allow'], 'GET, HEAD, QUERY, OPTIONS')
      }
      assert.equal((await ask('GET /v1/notes')).body.count, 1)
      assert.equal((await ask('HEAD /v1/notes')).status, 200)
    })

    it('describes and offers reading alone, at each kind of path', async () => {
      const { body } = await ask('GET /v1/openapi.json')
      const methods = Object.values(body.paths as Record<string, object>).flatMap(item => Object.keys(item))
      assert.deepEqual([...new Set(methods)].sort(), ['get', 'parameters'])
      assert.match(body.info.description as string, /Nothing can be written here/)
      for (const path of ['/v1/notes', '/v1/notes/1', '/v1/notes/1/text', '/v1', '/v1/nobody', '/v1/openapi.json']) {
        for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
          const allowed = (await ask(`${method} ${path}`)).headers['allow'] ?? ''
          assert.ok(!/POST|PUT|PATCH|DELETE/.test(allowed), `${method} ${path}: ${allowed}`)
        }
      }
      // A QUERY reads.
      assert.equal((await ask('QUERY /v1/notes', { 'content-type': 'application/json' }, '{"limit":1}')).body.count, 1)
    })

    it('offers reading only in Allow and to preflights', async () => {
      for (const path of ['/v1/notes', '*']) {
        const allowed = ((await ask(`OPTIONS ${path}`)).headers['allow'] ?? '').split(', ')
        assert.deepEqual(allowed.sort(), ['GET', 'HEAD', 'OPTIONS', 'QUERY'], path)
      }
      const preflight = await ask('OPTIONS /v1/notes', { origin: 'http://a.test', 'access-control-request-method': 'PUT' })
      assert.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD, QUERY, OPTIONS')
    })
  })

  describe('a delay', () => {
    it('holds back every answer, and ends when the client hangs up or the server closes', async () => {
      await restart({ delay: 100 })
      for (const line of ['GET /v1/notes', 'OPTIONS *', 'GET /v1/nobody']) {
        const began = performance.now()
        await ask(line)
        assert.ok(performance.now() - began >= 50, line)
      }
      const lines: RequestLine[] = []
      await restart({ delay: 60_000, onRequest: line => lines.push(line) })
      const { port } = server.address() as AddressInfo
      const gone = new AbortController()
      const asking = fetch(`http://127.0.0.1:${port}/v1/notes`, { signal: gone.signal })
      const waiting = fetch(`http://127.0.0.1:${port}/v1/notes`)
      await wait(100)
      gone.abort()
      await assert.rejects(asking)
      await wait(50)
      const closed = new Promise(resolve => server.close(resolve))
      assert.equal(((await (await waiting).json()) as { count: number }).count, 1)
      await closed
      assert.deepEqual(
        lines.map(({ status }) => status),
        [200],
      )
    })

    it('is a number of milliseconds', () => {
      for (const delay of [-1, NaN, 2 ** 31, '5'])
        assert.throws(() => createServer(engine, { delay } as Options), {
          name: 'RangeError',
          message: /"delay" must be a number of milliseconds/,
        })
    })
  })

  describe('createServer', () => {
    it('refuses an unknown option with the nearest name', () => {
      assert.throws(() => createServer(engine, { readonly: true } as Options), /unknown option "readonly".*"readOnly"/)
      assert.throws(() => createServer(engine, { port: 3000 } as Options), /unknown option "port"\. A port is for listen\(port\)\.$/)
      assert.throws(() => createServer(engine, 3000 as Options), /the options must be an object; a port is for listen\(port\)\.$/)
    })

    it('refuses options of the wrong type', () => {
      assert.throws(() => createServer(engine, { readOnly: 1 } as object), /createServer: "readOnly" must be true or false, got 1\.$/)
      assert.throws(() => createServer(engine, { onRequest: true } as object), /createServer: "onRequest" must be a function\.$/)
    })

    it('refuses what is not an origin', () => {
      const cases: [unknown, RegExp][] = [
        ['http://a.test/', /Did you mean "http:\/\/a.test"\?/],
        ['HTTP://A.test', /Did you mean "http:\/\/a.test"\?/],
        ['a.test', /not an origin\. Did you mean "https:\/\/a\.test"\?/],
        ['localhost:5173', /not an origin\. Did you mean "http:\/\/localhost:5173"\?/],
        ['127.0.0.1', /Did you mean "http:\/\/127\.0\.0\.1"\?/],
        ['ws://localhost:5173', /Did you mean "http:\/\/localhost:5173"\?/],
        ['https://*.a.test', /An origin has no "\*" in it: list the origins/],
        [[], /"cors" must be/],
        [false, /"cors" must be/],
        [[1], /not an origin/],
      ]
      for (const [cors, message] of cases) assert.throws(() => createServer(engine, { cors } as Options), { name: 'TypeError', message })
      for (const cors of ['null', 'chrome-extension://abc', 'http://[::1]:3000']) createServer(engine, { cors })
    })
  })
})
