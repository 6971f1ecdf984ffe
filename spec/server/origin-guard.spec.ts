/** Which requests a server takes, by where they come from: names of the server, pages of other sites, worlds without end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, before, after, beforeEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, createServer, hashPassword, RestEngine } from '../../lib/index.ts'
import { RawConnection, requestText } from '../helpers/raw-http.ts'
import type { RawAnswer } from '../helpers/raw-http.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string().nullable() } })

type Options = NonNullable<Parameters<typeof createServer>[1]>

let engine: RestEngine
let server: Server
const opened: RawConnection[] = []

async function start(options: Options = {}, host = '127.0.0.1'): Promise<string> {
  server = createServer(engine, options).listen(0, host)
  await once(server, 'listening')
  return `localhost:${(server.address() as AddressInfo).port}`
}

async function ask(line: string, headers: Record<string, string> = {}, body = ''): Promise<RawAnswer> {
  const connection = await RawConnection.open(server)
  opened.push(connection)
  return connection.send(requestText(line, headers, body)).answer({ head: line.startsWith('HEAD ') })
}

function codeOf({ status, body }: RawAnswer): string {
  return status < 400 ? String(status) : `${status} ${body.code}`
}

async function hosts(names: readonly string[]): Promise<Record<string, string>> {
  const codes: Record<string, string> = {}
  for (const host of names) codes[host] = codeOf(await ask('GET /v1/notes', { host }))
  return codes
}

const all = (names: readonly string[], code: string): Record<string, string> => Object.fromEntries(names.map(name => [name, code]))

const LOCAL = ['localhost', 'localhost:3000', 'LOCALHOST', 'localhost.', 'localhost.:80', 'app.localhost', '127.0.0.1:5', '127.8.8.8', '[::1]', '[::1]:3000', '[::ffff:127.0.0.1]', '[0:0:0:0:0:0:0:1]'] // prettier-ignore
const FOREIGN = ['evil.test', 'evil.test:3000', 'localhost.evil.test', '127.0.0.1.evil.test', 'notlocalhost', '10.0.0.1', '[::2]', '0.0.0.0', 'localhost:x', 'a@localhost', 'localhost/x', '[evil.test]', '::1'] // prettier-ignore

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ id: 1, text: 'one' }] } })
  })
  after(() => engine.close())
  beforeEach(() => engine.reset())
  afterEach(async () => {
    for (const connection of opened.splice(0)) connection.socket.destroy()
    await new Promise(resolve => {
      server.close(resolve)
    })
  })
}

describe('the name that a request is addressed to', () => {
  begin()

  it('is a local one where the server listens on a loopback address', async () => {
    await start()
    assert.deepEqual(await hosts(LOCAL), all(LOCAL, '200'))
    assert.deepEqual(await hosts(FOREIGN), all(FOREIGN, '403 host_not_allowed'))
    for (const line of ['OPTIONS /v1/notes', 'OPTIONS *', 'POST /v1/notes', 'DELETE /v1/notes/1', 'GET /v1/nothing'])
      assert.equal(codeOf(await ask(line, { host: 'evil.test' })), '403 host_not_allowed', line)
    const { body } = await ask('GET /v1/notes', { host: 'evil.test:3000' })
    assert.match(body.detail, /"evil\.test:3000".*local names.*allowedHosts.*--allow-host evil\.test\./)
  })

  it('counts in the absolute form of a target, too', async () => {
    await start()
    assert.equal(codeOf(await ask('GET http://localhost:9/v1/notes')), '200')
    assert.equal(codeOf(await ask('GET http://evil.test/v1/notes')), '403 host_not_allowed')
    assert.equal(codeOf(await ask('GET http://a@localhost/v1/notes')), '403 host_not_allowed')
  })

  it('may be one of allowedHosts', async () => {
    await start({ allowedHosts: ['api.test', '.Example.test', '10.0.0.1', '[fe80::1]'] })
    const allowed = [...LOCAL, 'api.test:80', 'API.test.', 'example.test', 'a.b.example.test', '10.0.0.1', '[fe80::1]:3']
    assert.deepEqual(await hosts(allowed), all(allowed, '200'))
    const others = ['sub.api.test', 'badexample.test', 'evil.test']
    assert.deepEqual(await hosts(others), all(others, '403 host_not_allowed'))
  })

  it('may be any where allowedHosts is true, and where the server listens on another address', async () => {
    await start({ allowedHosts: true })
    assert.equal(codeOf(await ask('DELETE /v1/notes/1', { origin: 'https://evil.test' })), '403 origin_not_allowed')
    assert.deepEqual(await hosts(['evil.test', 'localhost']), all(['evil.test', 'localhost'], '200'))
    await new Promise(resolve => {
      server.close(resolve)
    })
    await start({}, '0.0.0.0')
    assert.deepEqual(await hosts(['evil.test', 'localhost']), all(['evil.test', 'localhost'], '200'))
  })

  it('is looked at on every address once allowedHosts says so; the address of the connection is one', async () => {
    await start({ allowedHosts: 'api.test' }, '0.0.0.0')
    assert.deepEqual(await hosts(['api.test', 'localhost', 'evil.test']), {
      'api.test': '200',
      localhost: '200',
      'evil.test': '403 host_not_allowed',
    })
    const own = Object.values(networkInterfaces())
      .flatMap(list => list ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)
    if (own === undefined) return
    const answer = await fetch(`http://${own.address}:${(server.address() as AddressInfo).port}/v1/notes`)
    assert.equal(answer.status, 200)
  })

  it('is said once, and may be missing before HTTP/1.1', async () => {
    await start()
    const raw = async (text: string): Promise<RawAnswer> => {
      const connection = await RawConnection.open(server)
      opened.push(connection)
      return connection.send(text).answer()
    }
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n')), '400 request_malformed')
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.1\r\nHost: localhost\r\nhost: evil.test\r\n\r\n')), '400 request_malformed')
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.1\r\n\r\n')), '400 request_malformed')
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.1\r\nHost:\r\n\r\n')), '403 host_not_allowed')
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.0\r\n\r\n')), '200')
    assert.equal(codeOf(await raw('GET /v1/notes HTTP/1.0\r\nHost: evil.test\r\n\r\n')), '403 host_not_allowed')
  })

  it('does not matter over a socket of the file system, which no page reaches', async () => {
    server = createServer(engine).listen(`/tmp/mikro-rest-${process.pid}.sock`)
    await once(server, 'listening')
    const socket = connect(`/tmp/mikro-rest-${process.pid}.sock`)
    socket.end('GET /v1/notes HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n')
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    assert.match(chunk.toString(), /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('is refused as an option where it cannot be one', async () => {
    await start()
    for (const name of ['http://api.test', 'api.test:80', '*', '', '.', 'a b', 3])
      assert.throws(() => createServer(engine, { allowedHosts: [name as string] }), {
        name: 'TypeError',
        message: /allowedHosts.*not the name of a host/,
      })
  })
})

describe('the page that sends a request', () => {
  begin()

  const writes = ['POST /v1/notes', 'PUT /v1/notes/1', 'PATCH /v1/notes/1', 'DELETE /v1/notes/1']

  async function codes(lines: readonly string[], headers: Record<string, string>): Promise<string[]> {
    const found = new Set<string>()
    for (const line of lines) found.add(codeOf(await ask(line, headers, /^(POST|PUT|PATCH)/.test(line) ? '{"text":"x"}' : '')))
    return [...found]
  }

  it('may not write where it is of another site', async () => {
    const host = await start()
    for (const headers of [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'http://localhost:5173' },
      { origin: `http://${host}`, host: 'localhost:1' },
      { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      assert.deepEqual(await codes(writes, { host, ...headers }), ['403 origin_not_allowed'], JSON.stringify(headers))
    assert.equal(((await engine.handle('GET', '/v1/notes')).body as { count: number }).count, 1)
    assert.match(
      (await ask('DELETE /v1/notes/1', { origin: 'https://evil.test' })).body.detail,
      /"https:\/\/evil\.test".*cors.*--cors https:\/\/evil\.test\./,
    )
  })

  it('may write where it is of the server itself, as everything may that is not a page', async () => {
    const host = await start()
    for (const headers of [
      {},
      { origin: `http://${host}` },
      { origin: `https://${host}` },
      { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
      // Behind a proxy that gives the server its own name.
      { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ])
      assert.deepEqual(await codes(['POST /v1/notes', 'PUT /v1/notes/1'], { host, ...headers }), ['200'], JSON.stringify(headers))
  })

  it('may read wherever it is of: the browser keeps the answer from it', async () => {
    await start()
    assert.deepEqual(await codes(['GET /v1/notes', 'HEAD /v1/notes'], { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }), [
      '200',
    ])
  })

  it('may write where cors lists its origin', async () => {
    await start({ cors: 'https://app.test' })
    assert.deepEqual(await codes(['POST /v1/notes'], { origin: 'https://app.test', 'sec-fetch-site': 'cross-site' }), ['200'])
    assert.deepEqual(await codes(['POST /v1/notes'], { origin: 'https://evil.test' }), ['403 origin_not_allowed'])
    assert.deepEqual(await codes(['POST /v1/notes'], { 'sec-fetch-site': 'cross-site' }), ['403 origin_not_allowed'])
    await new Promise(resolve => {
      server.close(resolve)
    })
    await start({ cors: true })
    assert.deepEqual(await codes(['POST /v1/notes'], { origin: 'https://any.test', 'sec-fetch-site': 'cross-site' }), ['200'])
    assert.deepEqual(await codes(['POST /v1/notes'], { 'sec-fetch-site': 'cross-site' }), ['200'])
  })

  it('may not use test controls where it is of another site, whatever the address', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      await start({ testControls: true }, host)
      for (const line of ['POST /_test/reset', 'DELETE /_test/requests', 'GET /_test/requests', 'GET /_test'])
        assert.deepEqual(await codes([line], { origin: 'https://evil.test' }), ['403 origin_not_allowed'], line)
      assert.deepEqual(await codes(['GET /_test/requests'], { 'sec-fetch-site': 'cross-site' }), ['403 origin_not_allowed'])
      assert.deepEqual(await codes(['POST /_test/reset'], { 'sec-fetch-site': 'same-origin' }), ['200'])
      if (host === '127.0.0.1')
        await new Promise(resolve => {
          server.close(resolve)
        })
    }
  })

  it('may write to a server on another address, which may be behind a proxy', async () => {
    await start({}, '0.0.0.0')
    assert.deepEqual(await codes(['POST /v1/notes'], { origin: 'https://app.test' }), ['200'])
  })
})

describe('worlds', () => {
  begin()

  it('are as many as maxWorlds says', async () => {
    await start({ testControls: { maxWorlds: 2 } })
    for (const world of ['a', 'b', 'a', 'b']) assert.equal(codeOf(await ask('GET /v1/notes', { 'x-world': world })), '200')
    const refused = await ask('GET /v1/notes', { 'x-world': 'c' })
    assert.equal(codeOf(refused), '503 worlds_exhausted')
    assert.match(refused.body.detail, /world "c".*has 2 already.*DELETE \/_test\/world.*maxWorlds/)
    assert.equal(codeOf(await ask('DELETE /_test/world', { 'x-world': 'a' })), '200')
    assert.equal(codeOf(await ask('GET /v1/notes', { 'x-world': 'c' })), '200')
    assert.equal(codeOf(await ask('GET /v1/notes')), '200')
    for (const maxWorlds of [-1, 1.5, '3'])
      assert.throws(() => createServer(engine, { testControls: { maxWorlds: maxWorlds as number } }), {
        name: 'RangeError',
        message: /maxWorlds/,
      })
  })

  it('are not begun by closing one that is not there', async () => {
    await start({ testControls: { maxWorlds: 0 } })
    assert.equal(codeOf(await ask('GET /v1/notes', { 'x-world': 'a' })), '503 worlds_exhausted')
  })

  it('that are refused are no failure of the server for onError', async () => {
    const errors: unknown[] = []
    await engine.close()
    engine = await RestEngine.create({ entities: [Note], onError: error => errors.push(error) })
    await start({ testControls: { maxWorlds: 0 } })
    assert.equal(codeOf(await ask('GET /v1/notes', { 'x-world': 'a' })), '503 worlds_exhausted')
    assert.deepEqual(errors, [])
  })
})

describe('answers that hold a token', () => {
  begin()

  it('are kept by no cache', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
    })
    await using own = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User }),
      seed: { users: [{ id: 1, email: 'a@b.test', password: await hashPassword('secret') }] },
    })
    await start()
    const answer = await own.handle('POST', '/v1/login', undefined, { email: 'a@b.test', password: 'secret' })
    assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store'])
  })
})
