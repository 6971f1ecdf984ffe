/** Watching a server over HTTP: the journal in steps, event streams, snapshots, worlds, explanations. Real servers, real fetch. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine, createServer } from '../../lib/index.ts'
import { refuseImpossible } from '../../lib/doors/server/controls/worlds.ts'
import type { Har, JournalEntry, RequestSummary, ServerOptions } from '../../lib/index.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string().unique(), password: p.string().hidden().nullable() },
})

let engine: RestEngine
let server: ReturnType<typeof createServer>
let origin: string

async function start(options: ServerOptions = { testControls: true }): Promise<void> {
  server = createServer(engine, options).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function stop(): Promise<void> {
  server.close()
  await once(server, 'close')
}

type Body = Record<string, unknown> & { requests: (JournalEntry & RequestSummary)[]; detail: string; last: number; log: Har['log'] }

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<[number, Body]> {
  const response = await fetch(origin + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return [response.status, (await response.json()) as Body]
}

async function control(method: string, path: string, body?: unknown, world?: string): Promise<Body> {
  const [status, answer] = await ask(method, `/_test${path}`, body, world === undefined ? {} : { 'x-world': world })
  assert.equal(status, 200, JSON.stringify(answer))
  return answer
}

interface Told {
  readonly event: string
  readonly id: string | undefined
  readonly data: Record<string, never> & { request: RequestSummary }
}

/** The events of a stream, as an EventSource reads them. */
async function* listen(path = '', headers: Record<string, string> = {}, signal?: AbortSignal): AsyncGenerator<Told, void, undefined> {
  const response = await fetch(`${origin}/_test/events${path}`, { headers, ...(signal && { signal }) })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=UTF-8')
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map(line => /^(\w*): ?(.*)$/.exec(line) ?? [])
          .map(([, name = '', value = '']) => [name, value] as const),
      )
      text = text.slice(end + 2)
      const event = fields.get('event')
      if (event !== undefined) yield { event, id: fields.get('id'), data: JSON.parse(fields.get('data')!) as Told['data'] }
    }
  }
}

async function take(events: AsyncGenerator<Told, void, undefined>, count: number): Promise<Told[]> {
  const found: Told[] = []
  while (found.length < count) {
    const { value, done } = await events.next()
    if (done === true) break
    found.push(value)
  }
  return found
}

describe('the journal over HTTP', () => {
  beforeEach(async () => {
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
    await start()
  })

  afterEach(async () => {
    if (server.listening) await stop()
    await engine.close()
  })

  it('goes on behind an ID, in steps, with bodies or without', async () => {
    for (const name of ['Bob', 'Cid', 'Dora']) await ask('POST', '/v1/users', { name })
    const all = await control('GET', '/requests')
    assert.deepEqual(
      all.requests.map(({ id, path }) => [id, path]),
      [1, 2, 3].map(id => [id, '/v1/users']),
    )
    assert.ok(all.requests.every(({ at }) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at)))
    assert.equal(all.last, 3)
    const ids = async (query: string): Promise<number[]> => (await control('GET', `/requests${query}`)).requests.map(({ id }) => id)
    assert.deepEqual(await ids('?since=1'), [2, 3])
    assert.deepEqual(await ids('?since=0&limit=2'), [1, 2], 'the first ones behind it')
    assert.deepEqual(await ids('?limit=2'), [2, 3], 'else the newest')
    assert.deepEqual(await ids('?since=3'), [])
    assert.deepEqual([await ids('?record=users/4'), await ids('?record=users/99')], [[3], []], 'those that have changed a record')
    const [short] = (await control('GET', '/requests?bodies=false&limit=1')).requests
    assert.equal('body' in short! || 'response' in short!, false)
    assert.deepEqual([short!.changed, short!.changes], [1, [{ type: 'insert', resource: 'users', id: 4 }]])
  })

  it('keeps what requests run from when somebody looks, where the workbench alone is on', async () => {
    await stop()
    await engine.close()
    // Test controls have turned it on for the other one.
    engine = await RestEngine.create({ entities: [User] })
    await start({ workbench: true })
    const ran = async (): Promise<number | undefined> => {
      await ask('GET', '/v1/users')
      const { last } = await control('GET', '/requests')
      const { request } = (await control('GET', `/requests/${last}`)) as unknown as { request: { statements?: unknown[] } }
      return request.statements?.length
    }
    assert.equal(await ran(), undefined)
    assert.ok((await ran())! > 0)
  })

  it('has each request with all that it has run, without secrets', async () => {
    await ask('POST', '/v1/users', { name: 'Bob', password: 'hush-hush' }, { 'x-test': 'adds Bob' })
    const { request } = (await control('GET', '/requests/1')) as unknown as {
      request: JournalEntry & { statements: { sql: string; parameters: unknown[] }[]; writes: string[] }
    }
    assert.deepEqual([request.id, request.test, request.body], [1, 'adds Bob', { name: 'Bob', password: '[secret]' }])
    const insert = request.statements.find(({ sql }) => sql.startsWith('insert'))
    assert.deepEqual(insert!.parameters, ['Bob', '[secret]'])
    assert.deepEqual(request.writes, ['by statements of a plan'])
    assert.doesNotMatch(JSON.stringify(request), /hush/)
    for (const id of ['2', '0', 'x', '1.5', '99999999999999999999']) {
      const [status, { detail }] = await ask('GET', `/_test/requests/${id}`)
      assert.equal(status, 404)
      assert.match(detail, /has no request ".*": it has those from 1 to 1/)
    }
  })

  it('is an HTTP Archive where it is asked for', async () => {
    await ask('GET', '/v1/users?name!=Bob')
    const { log } = await control('GET', '/requests?format=har')
    assert.equal(log.version, '1.2')
    assert.equal(log.entries[0]!.request.url, `${origin}/v1/users?name!=Bob`)
  })

  it('refuses parameters that it does not know, or that are not of their form', async () => {
    for (const [query, detail] of [
      ['?sinc=1', /no parameter "sinc" here.*"since"/],
      ['?since=x', /"since" must be an integer/],
      ['?limit=0', /"limit" must be an integer from 1/],
      ['?since=1&since=2', /"since" comes twice/],
      ['?bodies=no', /"bodies" must be one of true, false/],
      ['?format=harr', /"format" must be one of har/],
    ] as const) {
      const [status, body] = await ask('GET', `/_test/requests${query}`)
      assert.equal(status, 400, query)
      assert.match(body.detail, detail)
    }
  })

  it('explains a request as somebody, and changes nothing', async () => {
    const { statements, response } = (await control('POST', '/explain', {
      method: 'GET',
      path: '/v1/users',
      query: { sort: 'name' },
    })) as unknown as { statements: { sql: string }[]; response: { status: number } }
    assert.match(statements[0]!.sql, /order by/)
    assert.equal(response.status, 200)
    await control('POST', '/explain', { method: 'POST', path: '/v1/users', body: { name: 'Bob' } })
    assert.deepEqual([(await control('GET', '/requests')).requests.length, (await ask('GET', '/v1/users'))[1]['count']], [0, 1])
    for (const [body, detail] of [
      [{ path: '/v1/users' }, /"method" and "path" must be strings/],
      [{ method: 'GET', path: '/v1/users', qurey: {} }, /"qurey"/],
      [{ method: 'GET', path: '/v1/users', headers: { a: 1 } }, /"headers" must be an object of strings/],
      [{ method: 'GET', path: '/v1/users', query: 7 }, /"query" must be a string or an object/],
      [7, /must be an object, such as/],
    ] as const) {
      const [status, answer] = await ask('POST', '/_test/explain', body)
      assert.equal(status, 400)
      assert.match(answer.detail, detail)
    }
  })

  it('says what is not possible here, and why', async () => {
    const { unavailable } = (await control('GET', '')) as unknown as { unavailable: Record<string, string> }
    assert.deepEqual(Object.keys(unavailable), ['scenario', 'token'])
    assert.match(unavailable['token']!, /authentication module is off.*\.$/)
  })
})

describe('event streams', () => {
  beforeEach(async () => {
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
    await start()
  })

  afterEach(async () => {
    if (server.listening) await stop()
    await engine.close()
  })

  it('tell several listeners what happens to a world, and end with the server', async () => {
    const streams = [listen(), listen()]
    const told = streams.map(stream => take(stream, 4))
    await setTimeout(50)
    await ask('POST', '/v1/users', { name: 'Bob' })
    await control('POST', '/marks', { text: 'Bob is there' })
    await control('POST', '/clock', { set: '2030-01-01T00:00:00Z' })
    await control('POST', '/faults', { kind: 'fail', match: 'GET *', status: 503 })
    for (const events of await Promise.all(told)) {
      assert.deepEqual(
        events.map(({ event, id }) => [event, id]),
        [
          ['request', '1'],
          ['mark', undefined],
          ['clock', undefined],
          ['faults', undefined],
        ],
      )
      assert.equal(events[0]!.data.request.path, '/v1/users')
    }
    const ends = streams.map(stream => stream.next())
    await stop()
    for (const end of ends) assert.equal((await end).done, true)
  })

  it('go on where a listener was: by the ID of the last event, or ?since', async () => {
    for (const name of ['Bob', 'Cid', 'Dora']) await ask('POST', '/v1/users', { name })
    for (const [path, headers] of [
      ['', { 'last-event-id': '1' }],
      ['?since=1', {}],
    ] as const) {
      const stream = listen(path, headers)
      assert.deepEqual(
        (await take(stream, 2)).map(({ id }) => id),
        ['2', '3'],
      )
      await stream.return()
    }
  })

  it('are of one world, also by ?world', async () => {
    await ask('GET', '/v1/users', undefined, { 'x-world': 'a' })
    const stream = listen('?world=a&since=0')
    await ask('GET', '/v1/users')
    const [first] = await take(stream, 1)
    assert.equal(first!.data.request.id, 1)
    const next = take(stream, 2)
    await ask('GET', '/v1/users/1', undefined, { 'x-world': 'b' })
    await ask('GET', '/v1/users/1', undefined, { 'x-world': 'a' })
    const [worlds, own] = await next
    assert.deepEqual([worlds!.event, worlds!.data['worlds']], ['worlds', ['a', 'b']])
    assert.deepEqual([own!.event, own!.data.request.path], ['request', '/v1/users/1'])
    await stream.return()
  })

  it('do not wait for a client that reads nothing', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET /_test/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
    await setTimeout(50)
    const text = 'x'.repeat(500)
    for (let count = 0; count < 20_000; count++) engine.mark(text)
    const [status] = await ask('GET', '/v1/users')
    assert.equal(status, 200)
    socket.destroy()
  })

  it('are 50 at most, and leave when their client does', async () => {
    const control = new AbortController()
    const streams = Array.from({ length: 50 }, () => listen('?since=0', {}, control.signal))
    await ask('GET', '/v1/users')
    await Promise.all(streams.map(stream => stream.next()))
    const [status, body] = await ask('GET', '/_test/events')
    assert.deepEqual([status, body['code']], [503, 'listeners_exhausted'])
    const ended = streams.map(stream => assert.rejects(stream.next(), { name: 'AbortError' }))
    control.abort()
    await Promise.all(ended)
    for (let waited = 0; ; waited += 10) {
      const response = await fetch(`${origin}/_test/events`)
      await response.body?.cancel()
      if (response.status === 200) break
      assert.ok(waited < 5000, 'the streams of clients that have gone are still counted')
      await setTimeout(10)
    }
  })

  it('are for pages of the server alone, as all controls', async () => {
    for (const headers of [{ origin: 'http://evil.test' }, { origin: 'http://localhost:1' }, { 'sec-fetch-site': 'cross-site' }])
      for (const path of ['/_test/events', '/_test/requests', '/_test/worlds', '/_test/snapshots'])
        assert.equal((await ask('GET', path, undefined, headers))[0], 403, path)
  })

  it('answer HEAD without beginning one', async () => {
    const response = await fetch(`${origin}/_test/events`, { method: 'HEAD' })
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream; charset=UTF-8'])
    assert.equal(await response.text(), '')
  })
})

describe('what an engine cannot do with its database', () => {
  it('is no failure of the server: who asks is told why', () => {
    const why = 'engine.fork: the database "shop" can be copied only while nobody else is connected to it, and "psql" is.'
    assert.throws(() => refuseImpossible(new Error(why)), { status: 405, code: 'method_not_allowed', message: why })
    for (const other of [new Error('no such table'), new TypeError('engine.fork: not a snapshot'), 'engine.fork: x'])
      assert.throws(
        () => refuseImpossible(other),
        (error: unknown) => error === other,
      )
  })
})

describe('snapshots and worlds over HTTP', () => {
  beforeEach(async () => {
    engine = await RestEngine.create({
      entities: [User],
      seed: { users: [{ name: 'Ann' }] },
      scenarios: { full: { users: [{ name: 'Ann' }, { name: 'Bob' }] } },
    })
    await start()
  })

  afterEach(async () => {
    if (server.listening) await stop()
    await engine.close()
  })

  it('have names, are listed, replaced and forgotten', async () => {
    assert.equal((await control('POST', '/snapshots', { name: 'before' }))['id'], 'before')
    await ask('POST', '/v1/users', { name: 'Bob' })
    assert.equal((await control('POST', '/snapshots'))['id'], 's1')
    const { snapshots } = (await control('GET', '/snapshots')) as unknown as { snapshots: { id: string; last: number; size: number }[] }
    assert.deepEqual(
      snapshots.map(({ id, last }) => [id, last]),
      [
        ['before', 0],
        ['s1', 1],
      ],
    )
    assert.ok(snapshots.every(({ size }) => size > 0))
    const stream = listen()
    const told = take(stream, 1)
    await setTimeout(50)
    await control('POST', '/snapshots/before/restore')
    assert.deepEqual([(await told)[0]!.event, (await told)[0]!.data['snapshot']], ['restore', 'before'])
    await stream.return()
    assert.equal((await ask('GET', '/v1/users'))[1]['count'], 1)
    await control('DELETE', '/snapshots/before')
    const [status, { detail }] = await ask('POST', '/_test/snapshots/before/restore')
    assert.deepEqual([status, /no snapshot "before"/.test(detail)], [404, true])
    await control('DELETE', '/snapshots')
    assert.deepEqual((await control('GET', '/snapshots'))['snapshots'], [])
    for (const body of [{ name: 'a b' }, { nam: 'x' }, { name: 7 }]) assert.equal((await ask('POST', '/_test/snapshots', body))[0], 400)
  })

  it('say what has become of the records since', async () => {
    await control('POST', '/snapshots', { name: 'before' })
    await ask('POST', '/v1/users', { name: 'Bob', password: 'hush-hush' })
    await control('POST', '/snapshots', { name: 'after' })
    await ask('DELETE', '/v1/users/1')
    const changes = async (path: string): Promise<unknown[]> =>
      ((await control('GET', `/snapshots/before/changes${path}`))['changes'] as { type: string; id: number }[]).map(({ type, id }) => [
        type,
        id,
      ])
    assert.deepEqual(await changes(''), [
      ['insert', 2],
      ['delete', 1],
    ])
    assert.deepEqual(await changes('?to=after'), [['insert', 2]])
    assert.equal((await ask('GET', '/_test/snapshots/before/changes?to=x'))[0], 404)
  })

  it('are 100 in a world at most', async () => {
    for (let count = 0; count < 100; count++) await control('POST', '/snapshots')
    const [status, { detail }] = await ask('POST', '/_test/snapshots')
    assert.deepEqual([status, /has 100 snapshots/.test(detail)], [400, true])
    await control('POST', '/snapshots', { name: 's7' })
  })

  it('say where a world comes from, how large it is, and when it was last used', async () => {
    await ask('POST', '/v1/users', { name: 'Cid' })
    await ask('GET', '/v1/users', undefined, { 'x-world': 'seeded' })
    await ask('GET', '/v1/users', undefined, { 'x-world': 'vip', 'x-scenario': 'full' })
    const made = await control('POST', '/worlds', { name: 'copy' })
    assert.equal((made['world'] as { name: string }).name, 'copy')
    await control('POST', '/worlds', { name: 'second', from: 'vip' })
    const { worlds } = (await control('GET', '/worlds')) as unknown as {
      worlds: { name: string | null; origin: object; size: number; requests: number; lastUse: string; idle: number }[]
    }
    assert.deepEqual(
      worlds.map(({ name, origin: from, requests }) => [name, from, requests]),
      [
        [null, { from: 'engine' }, 1],
        ['seeded', { from: 'start' }, 1],
        ['vip', { from: 'scenario', name: 'full' }, 1],
        ['copy', { from: 'world', name: null }, 0],
        ['second', { from: 'world', name: 'vip' }, 0],
      ],
    )
    assert.ok(worlds.every(({ size, idle, lastUse }) => size > 0 && idle >= 0 && Math.abs(Date.parse(lastUse) - Date.now()) < 60_000))
    const count = async (world: string): Promise<unknown> => (await ask('GET', '/v1/users', undefined, { 'x-world': world }))[1]['count']
    assert.deepEqual([await count('seeded'), await count('copy'), await count('second')], [1, 2, 2])
    await control('DELETE', '/worlds/second')
    assert.equal((await ask('DELETE', '/_test/worlds/second'))[0], 404)
    assert.equal((await ask('POST', '/_test/worlds', { name: 'copy' }))[0], 400)
    assert.equal((await ask('POST', '/_test/worlds', { name: 'x', from: 'nobody' }))[0], 404)
    assert.equal((await ask('POST', '/_test/worlds', { name: 'a b' }))[0], 400)
  })
})
