/** The backend that an engine is compared with is not trusted: it may lead elsewhere, never end, and send anything. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, checkAgainst } from '../../lib/index.ts'
import { Command, ROOT } from '../helpers/command.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })

const JOURNAL = [{ method: 'GET', path: '/v1/users', query: [], body: undefined, status: 200, response: undefined, nested: false }] as never

describe('a backend that is not trusted', () => {
  const servers: Server[] = []

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  })

  async function listen(handler: RequestListener, host = '127.0.0.1'): Promise<string> {
    const server = createServer(handler).listen(0, host)
    servers.push(server)
    await once(server, 'listening')
    return `http://${host}:${(server.address() as AddressInfo).port}`
  }

  const create = (): Promise<RestEngine> => RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
  const list = (users: unknown): string =>
    JSON.stringify({
      success: true,
      timestamp: '2026-01-01T00:00:00.000Z',
      resource: 'users',
      sort: 'id.asc',
      offset: 0,
      limit: 100,
      filter: [],
      count: 1,
      previous: null,
      next: null,
      users,
    })

  it('is not followed to a host that was not named, neither with headers nor with a body', async () => {
    await using engine = await create()
    const met: string[] = []
    const other = await listen((request, response) => {
      met.push(`${request.method} ${String(request.headers['x-key'])}`)
      response.end(list([]))
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const named = await listen((_, response) => response.writeHead(status, { location: `${other}/v1/users` }).end())
      const journal = [
        ...(JOURNAL as object[]),
        { method: 'POST', path: '/v1/users', query: [], body: { name: 'secret' }, status: 200, response: {}, nested: false },
      ]
      const report = await checkAgainst(named, engine, journal as never, { headers: { 'X-Key': '7' }, writes: true })
      assert.match(report.differences[0]!.message, /It redirects|it redirects to http:\/\/127\.0\.0\.1:\d+, which was not named/)
    }
    assert.deepEqual(met, [])
  })

  it('is followed on the host that was named, a bounded number of times, and not with what writes', async () => {
    await using engine = await create()
    const met: string[] = []
    const named = await listen((request, response) => {
      met.push(`${request.method} ${request.url}`)
      if (request.url === '/moved/v1/users') response.setHeader('content-type', 'application/json').end(list([{ id: 7, name: 'Bob' }]))
      else response.writeHead(308, { location: `/moved${request.url!.replace(/^\/loop/, '/loop')}` }).end()
    })
    const found = await checkAgainst(named, engine, JOURNAL)
    assert.equal(found.passed, true, String(found))
    assert.deepEqual([...new Set(met)], ['GET /v1/users', 'GET /moved/v1/users'])
    met.length = 0
    const loop = await checkAgainst(`${named}/loop`, engine, JOURNAL)
    assert.match(loop.differences[0]!.message, /redirects more than 5 times/)
    met.length = 0
    const post = [{ method: 'POST', path: '/v1/users', query: [], body: { name: 'x' }, status: 200, response: {}, nested: false }] as never
    const written = await checkAgainst(named, engine, post, { writes: true })
    assert.match(written.differences[0]!.message, /redirects POST, which is not sent on/)
    assert.deepEqual(
      met.filter(each => each.startsWith('POST')),
      ['POST /v1/users'],
    )
  })

  it('is read no further than its bound', async () => {
    await using engine = await create()
    let sent = 0
    const endless = await listen((_, response) => {
      const more = (): void => {
        while (!response.destroyed) {
          sent += 65_536
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', more)
        }
      }
      more()
    })
    const report = await checkAgainst(endless, engine, JOURNAL, { maxAnswerBytes: 1_000_000 })
    assert.match(report.differences[0]!.message, /more than 1000000 bytes/)
    assert.ok(sent < 64_000_000, `${sent} bytes`)
  })

  it('has a time for each answer, and one for all', async () => {
    await using engine = await create()
    const dripping = await listen((_, response) => {
      const timer = setInterval(() => response.write(' '), 5)
      response.once('close', () => {
        clearInterval(timer)
      })
    })
    const slow = await checkAgainst(dripping, engine, JOURNAL, { timeout: 50 })
    assert.match(slow.differences[0]!.message, /longer than 50 ms/)
    // A function knows nothing of signals.
    const deaf = await checkAgainst(() => new Promise<Response>(() => {}), engine, undefined, { timeout: 20, totalTimeout: 50 })
    assert.ok(deaf.requests <= 4, String(deaf.requests))
    assert.match(deaf.skipped.join(), /What was left after 50 ms: raise "totalTimeout"/)
    for (const name of ['timeout', 'totalTimeout', 'maxAnswerBytes'])
      await assert.rejects(checkAgainst('http://a.test', engine, [], { [name]: 0 }), new RegExp(`"${name}" must be an integer`))
  })

  it('sends nothing that a terminal would obey', async () => {
    await using engine = await create()
    const evil = `\u001b[2J\u009b31m\u202Eabc\r\n\u0007`
    const backend = (): Response => Response.json(JSON.parse(list([{ id: evil, name: 3, [evil]: evil }])))
    const text = String(await checkAgainst(backend, engine))
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
    assert.match(text, /\\u\{1b\}\[2J/)
    const refusing = (): Response => Response.json({ success: false, code: evil }, { status: 400 })
    assert.doesNotMatch(String(await checkAgainst(refusing, engine)).replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
    const failing = (): Response => {
      throw new Error(evil)
    }
    assert.doesNotMatch(String(await checkAgainst(failing, engine)).replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
  })

  it('names no more places than a person reads', async () => {
    await using engine = await create()
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 'x'.repeat(2000)]))
    const report = await checkAgainst(() => Response.json(JSON.parse(list([{ id: 1, name: 'a', ...wide }]))), engine, JOURNAL)
    assert.equal(report.differences.length, 1000)
    assert.ok(report.differences.every(({ message }) => message.length < 600))
  })

  it('gets the password of its address as a header, which is printed nowhere', async () => {
    await using engine = await create()
    const met: (string | undefined)[] = []
    const named = await listen((request, response) => {
      met.push(request.headers.authorization)
      response.setHeader('content-type', 'application/json').end(list([{ id: 7, name: 8 }]))
    })
    const address = named.replace('//', '//us%40er:s3cret@')
    const report = await checkAgainst(address, engine, JOURNAL)
    assert.deepEqual([...new Set(met)], [`Basic ${Buffer.from('us@er:s3cret').toString('base64')}`])
    assert.equal(report.passed, false)
    assert.doesNotMatch(String(report) + JSON.stringify(report), /s3cret|us%40er/)
    met.length = 0
    const given = await checkAgainst(address, engine, JOURNAL, { headers: { Authorization: 'Bearer 1' } })
    assert.deepEqual([given.passed, ...new Set(met)], [false, 'Bearer 1'])
    await assert.rejects(checkAgainst('ftp://user:s3cret@host', engine, JOURNAL), (error: Error) => !error.message.includes('s3cret'))
    await using command = new Command(ROOT, '--check', 'ftp://user:s3cret@host')
    assert.equal((await command.ended).code, 2)
    assert.match(command.stderr, /--check takes an address/)
    assert.doesNotMatch(command.stderr, /s3cret/)
  })
})
