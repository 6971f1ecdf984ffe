/** Test controls: what another process does to a server over HTTP, and worlds by the header X-World. Real servers, real fetch. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine, auth, createServer } from '../../lib/index.ts'
import type { ServerOptions } from '../../lib/index.ts'
import { leastTime, timeOf } from '../helpers/least.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string().unique(), password: p.string().hidden().nullable() },
})

type Body = Record<string, unknown> & { users: { id: number; name: string }[]; count: number; code: string; detail: string }

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

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Body }> {
  const response = await fetch(origin + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body }
}

async function control(method: string, path: string, body?: unknown, world?: string): Promise<Body> {
  const answer = await ask(method, `/_test${path}`, body, world === undefined ? {} : { 'x-world': world })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(answer.body['success'], true)
  assert.equal(answer.body['status'], 'OK')
  return answer.body
}

async function names(world?: string): Promise<string[]> {
  const { body } = await ask('GET', '/v1/users', undefined, world === undefined ? {} : { 'x-world': world })
  return body.users.map(({ name }) => name)
}

async function add(name: string, world?: string): Promise<number> {
  return (await ask('POST', '/v1/users', { name }, world === undefined ? {} : { 'x-world': world })).status
}

describe('test controls', () => {
  beforeEach(async () => {
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
    await start()
  })

  afterEach(async () => {
    if (server.listening) await stop()
    await engine.close()
  })

  it('are there only when the server has been told so', async () => {
    await stop()
    await start({})
    assert.equal((await ask('POST', '/_test/reset')).status, 404)
    assert.equal(await add('Bob', 'w1'), 200)
    assert.deepEqual(await names(), ['Ann', 'Bob'], 'without them the header means nothing')
  })

  it('list themselves', async () => {
    const { controls, worlds } = (await control('GET', '')) as unknown as {
      controls: { method: string; path: string; does: string }[]
      worlds: string[]
    }
    assert.deepEqual(worlds, [])
    assert.ok(controls.some(({ method, path }) => method === 'POST' && path === '/_test/reset'))
    for (const { does } of controls) assert.ok(does.length > 5)
  })

  it('reset, seed, and go back to snapshots', async () => {
    await add('Bob')
    await control('POST', '/seed', { users: [{ name: 'Cid' }] })
    assert.deepEqual(await names(), ['Ann', 'Bob', 'Cid'])
    const { id } = await control('POST', '/snapshots')
    await add('Dora')
    await control('POST', `/snapshots/${String(id)}/restore`)
    assert.deepEqual(await names(), ['Ann', 'Bob', 'Cid'])
    await control('POST', '/reset')
    assert.deepEqual(await names(), ['Ann'])
  })

  it('say at a reset which faults no request has met, where the engine is asked to, and reset all the same', async () => {
    await stop()
    await engine.close()
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] }, unmetFaults: 'throw' })
    await start()
    await add('Bob')
    await control('POST', '/faults', { kind: 'fail', match: 'DELETE /v1/users/1', status: 503 })
    const refused = await ask('POST', '/_test/reset')
    const { code, detail } = refused.body as unknown as { code: string; detail: string }
    assert.deepEqual([refused.status, code], [409, 'faults_unmet'])
    assert.match(detail, /no request has met fail\("DELETE \/v1\/users\/1"\)/)
    assert.deepEqual(await names(), ['Ann'])
    await control('POST', '/reset')
  })

  it('make up records', async () => {
    const { user } = (await control('POST', '/given', { resource: 'user', overrides: { name: 'Made' } })) as unknown as {
      user: { id: number }
    }
    assert.deepEqual(user, { id: 2, name: 'Made' })
    const { users } = await control('POST', '/given', { resource: 'users', count: 3, seed: 7 })
    assert.equal(users.length, 3)
    const refused = await ask('POST', '/_test/given', { resource: 'user', sed: 1 })
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /"sed".*"seed"/)
    assert.equal((await ask('POST', '/_test/given', { resource: 'usr' })).status, 404)
    const before = await names()
    const started = performance.now()
    for (const body of [
      { resource: 'user', count: 1_000_000 },
      { resource: 'user', count: 10_001 },
      { resource: 'user', count: 2 ** 40 },
    ]) {
      const { status, body: answer } = await ask('POST', '/_test/given', body)
      assert.deepEqual([status, (answer as unknown as { code: string }).code], [400, 'body_invalid'], JSON.stringify([body, answer]))
      assert.match(answer.detail, /at most 10000 records, parents and lists included/)
    }
    assert.ok(performance.now() - started < 2000)
    assert.deepEqual(await names(), before)
  })

  it('fail, drop and delay requests, until told otherwise', async () => {
    const { fault } = (await control('POST', '/faults', { kind: 'fail', match: 'GET /v1/users', status: 503, times: 2 })) as unknown as {
      fault: { id: string }
    }
    const asked = { id: 'f1', kind: 'fail', match: 'GET /v1/users', options: { status: 503, times: 2 } }
    assert.deepEqual(fault, { ...asked, met: 0, left: 2 })
    assert.deepEqual(
      [await ask('GET', '/v1/users'), await ask('GET', '/v1/users'), await ask('GET', '/v1/users')].map(({ status }) => status),
      [503, 503, 200],
    )
    await control('POST', '/faults', { kind: 'drop', match: 'GET /v1/users' })
    await assert.rejects(ask('GET', '/v1/users'), (error: TypeError) => error.message === 'fetch failed')
    assert.deepEqual((await control('GET', '/faults'))['faults'], [
      { ...asked, met: 2, left: 0 },
      { id: 'f2', kind: 'drop', match: 'GET /v1/users', met: 1, left: null, options: {} },
    ])
    await control('DELETE', '/faults')
    assert.equal((await ask('GET', '/v1/users')).status, 200)
    const delay = (await control('POST', '/faults', { kind: 'delay', match: '*', ms: 60 })) as unknown as { fault: { id: string } }
    const started = performance.now()
    await ask('GET', '/v1/users')
    // A timer may be early by what the turn of the event loop has taken that it was set in.
    assert.ok(performance.now() - started >= 30)
    await control('DELETE', `/faults/${delay.fault.id}`)
    assert.deepEqual((await control('GET', '/faults'))['faults'], [])
  })

  it('limits requests, and delays them by a profile', async () => {
    const limit = (await control('POST', '/faults', { kind: 'rateLimit', match: 'GET /v1/users', requests: 1, per: '1h' })) as unknown as {
      fault: { id: string; kind: string }
    }
    assert.equal(limit.fault.kind, 'rateLimit')
    assert.equal((await ask('GET', '/v1/users')).status, 200)
    assert.equal((await ask('GET', '/v1/users')).status, 429)
    await control('POST', '/clock', { advance: '1h' })
    assert.equal((await ask('GET', '/v1/users')).status, 200)
    await control('DELETE', `/faults/${limit.fault.id}`)
    await control('POST', '/faults', { kind: 'delay', match: '*', p50: 40, p99: 40, seed: 3, times: 1 })
    const started = performance.now()
    assert.equal((await ask('GET', '/v1/users')).status, 200)
    assert.ok(performance.now() - started >= 20)
  })

  it('hold requests, tell of their arrival, and let them go', async () => {
    const { fault } = (await control('POST', '/faults', { kind: 'hold', match: 'POST /v1/users' })) as unknown as { fault: { id: string } }
    assert.deepEqual((await control('POST', `/faults/${fault.id}/arrived`, { timeout: 10 }))['arrived'], false)
    const adding = add('Bob')
    const arrived = await control('POST', `/faults/${fault.id}/arrived`)
    assert.deepEqual(arrived['request'], { method: 'POST', path: '/v1/users' })
    const { fault: held } = (await control('GET', `/faults/${fault.id}`)) as unknown as { fault: { held: unknown[] } }
    assert.deepEqual(held.held, [{ method: 'POST', path: '/v1/users', query: [] }])
    assert.deepEqual(await names(), ['Ann'])
    await control('POST', `/faults/${fault.id}/release`)
    assert.equal(await adding, 200)
    assert.deepEqual(await names(), ['Ann', 'Bob'])
    for (const [end, body] of [
      ['fail', { status: 502 }],
      ['drop', undefined],
    ] as const) {
      const gate = (await control('POST', '/faults', { kind: 'hold', match: 'POST /v1/users' })) as unknown as { fault: { id: string } }
      const waiting = add('Late').catch(() => 'lost')
      await control('POST', `/faults/${gate.fault.id}/arrived`)
      await control('POST', `/faults/${gate.fault.id}/${end}`, body)
      assert.equal(await waiting, end === 'fail' ? 502 : 'lost')
    }
  })

  it('show the journal of a world, and empty it', async () => {
    await add('Bob', 'a')
    await ask('GET', '/v1/user', undefined, { 'x-world': 'a' })
    const { requests } = (await control('GET', '/requests', undefined, 'a')) as unknown as {
      requests: { method: string; path: string; changes: object[] }[]
    }
    assert.deepEqual(
      requests.map(({ method, path }) => `${method} ${path}`),
      ['POST /v1/users', 'GET /v1/user'],
    )
    assert.deepEqual(requests[0]!.changes, [{ type: 'insert', resource: 'users', id: 2, before: null, after: { id: 2, name: 'Bob' } }])
    assert.deepEqual((await control('GET', '/requests'))['requests'], [])
    await control('DELETE', '/requests', undefined, 'a')
    assert.deepEqual((await control('GET', '/requests', undefined, 'a'))['requests'], [])
  })

  it('set the clock', async () => {
    await control('POST', '/clock', { set: '2030-01-01T00:00:00Z' })
    assert.equal((await control('POST', '/clock', { advance: '31d' }))['now'], '2030-02-01T00:00:00.000Z')
    assert.equal((await control('GET', '/clock'))['now'], '2030-02-01T00:00:00.000Z')
    assert.equal((await ask('GET', '/v1/users')).body['timestamp'], '2030-02-01T00:00:00.000Z')
    await control('POST', '/clock', { reset: true })
    assert.ok(Math.abs(Date.parse((await control('GET', '/clock'))['now'] as string) - Date.now()) < 10_000)
  })

  it('mint tokens', async () => {
    await stop()
    await engine.close()
    engine = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User, identifier: 'name' }),
      seed: { users: [{ name: 'Ann' }] },
    })
    await start()
    const { auth_token: token } = await control('POST', '/token', { user: 1, ttl: 60 })
    assert.equal((await ask('GET', '/v1/users')).status, 401)
    assert.equal((await ask('GET', '/v1/users', undefined, { authorization: `Bearer ${String(token)}` })).status, 200)
    assert.equal((await ask('GET', '/v1/users', undefined, { authorization: `Bearer ${String(token)}`, 'x-world': 'w' })).status, 200)
  })

  it('refuse what they do not understand, in clear words', async () => {
    const cases: [string, string, unknown, number, RegExp][] = [
      ['GET', '/rest', undefined, 404, /no test control \/_test\/rest: GET \/_test lists them.*"\/_test\/reset"/],
      ['GET', '/reset', undefined, 405, /does not take GET, but POST/],
      ['POST', '/seed', [1], 400, /must be an object, such as/],
      ['POST', '/seed', { user: [{}], usres: [] }, 404, /no resource "usres".*"users"/],
      ['POST', '/seed', { users: [{ nam: 'x' }] }, 422, /"nam"/],
      ['POST', '/snapshots/s9/restore', undefined, 404, /no snapshot "s9"/],
      [
        'POST',
        '/faults',
        { kind: 'limit', match: '*', requests: 1, per: '1h' },
        400,
        /"kind" must be one of .* Did you mean "rateLimit"\?/,
      ],
      ['POST', '/faults', { kind: 'fial', match: '*' }, 400, /"kind" must be one of delay, fail, drop, rateLimit, hold.*"fail"/],
      ['POST', '/faults', { kind: 'fail', match: '*', status: 200 }, 400, /status.*400 to 599/],
      ['POST', '/faults', { kind: 'fail', match: '*', status: 500, tims: 1 }, 400, /"tims".*"times"/],
      ['POST', '/faults', { kind: 'fail', match: 7, status: 500 }, 400, /"match" must be a string/],
      ['POST', '/faults', { kind: 'delay', match: '*' }, 400, /Give "ms", or "p50" and "p99"/],
      ['POST', '/faults', { kind: 'delay', match: '*', ms: 'x' }, 400, /number of milliseconds/],
      ['POST', '/faults', { kind: 'delay', match: '*', ms: 5, p50: 5 }, 400, /either "ms", or "p50" and "p99"/],
      ['POST', '/faults', { kind: 'delay', match: '*', p50: 5 }, 400, /"p99" must be/],
      ['POST', '/faults', { kind: 'rateLimit', match: '*', requests: 5 }, 400, /"per" must be/],
      ['DELETE', '/faults/f1', undefined, 404, /no fault "f1"/],
      ['POST', '/clock', { set: 'soon' }, 400, /not a date/],
      ['POST', '/clock', { advance: '1x' }, 400, /"31d"/],
      ['POST', '/clock', { forward: 1 }, 400, /"forward"/],
      ['POST', '/clock', {}, 400, /one of "set", "advance" and "reset"/],
      ['DELETE', '/world', undefined, 400, /X-World/],
    ]
    for (const [method, path, body, status, detail] of cases) {
      const answer = await ask(method, `/_test${path}`, body)
      assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
      assert.match(answer.body.detail, detail)
    }
    const options = await fetch(`${origin}/_test/faults`, { method: 'OPTIONS' })
    assert.equal(options.headers.get('allow'), 'GET, HEAD, POST, DELETE, OPTIONS')
    assert.deepEqual(await names(), ['Ann'])
  })

  it('reset no delay of the server, which reaches all worlds and no control', async () => {
    await stop()
    await start({ testControls: true, delay: 150 })
    assert.ok((await leastTime(async () => control('POST', '/reset'), 140)) < 140)
    for (const world of [undefined, 'w1']) {
      assert.ok((await timeOf(async () => add('Bob', world))) >= 140, 'after a reset, and in a world')
      await ask('POST', '/_test/reset', undefined, world === undefined ? {} : { 'x-world': world })
      assert.ok((await timeOf(async () => names(world))) >= 140)
    }
  })

  it('work on a server that is read-only, too', async () => {
    await stop()
    await start({ testControls: true, readOnly: true })
    assert.equal(await add('Bob'), 405)
    await control('POST', '/seed', { users: [{ name: 'Bob' }] })
    assert.deepEqual(await names(), ['Ann', 'Bob'])
  })
})

describe('worlds over HTTP', () => {
  beforeEach(async () => {
    engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
    await start()
  })

  afterEach(async () => {
    if (server.listening) await stop()
    await engine.close()
  })

  it('share a port and nothing else', async () => {
    await add('Main')
    const worlds = Array.from({ length: 20 }, (_, index) => `worker-${index}`)
    await Promise.all(worlds.flatMap(world => [add(`a ${world}`, world), add(`b ${world}`, world)]))
    for (const world of worlds) assert.deepEqual(new Set(await names(world)), new Set(['Ann', `a ${world}`, `b ${world}`]))
    assert.deepEqual(await names(), ['Ann', 'Main'], 'worlds begin with the seed, whatever has been done to the engine itself')
    assert.deepEqual((await control('GET', ''))['worlds'], worlds)
  })

  it('have their own clock, faults and reset', async () => {
    await add('Bob', 'a')
    await control('POST', '/clock', { set: '2030-01-01T00:00:00Z' }, 'a')
    await control('POST', '/faults', { kind: 'fail', match: '*', status: 503 }, 'a')
    assert.equal((await ask('GET', '/v1/users', undefined, { 'x-world': 'a' })).status, 503)
    assert.equal((await ask('GET', '/v1/users', undefined, { 'x-world': 'b' })).status, 200)
    await control('POST', '/reset', undefined, 'b')
    assert.equal((await ask('GET', '/v1/users', undefined, { 'x-world': 'a' })).status, 503)
    await control('POST', '/reset', undefined, 'a')
    assert.deepEqual(await names('a'), ['Ann'])
    assert.notEqual((await control('GET', '/clock', undefined, 'a'))['now'], '2030-01-01T00:00:00.000Z')
  })

  it('can be named by a cookie, and closed', async () => {
    assert.equal((await ask('POST', '/v1/users', { name: 'Bob' }, { cookie: 'theme=dark; X-World=tab1' })).status, 200)
    assert.deepEqual(await names('tab1'), ['Ann', 'Bob'])
    await control('DELETE', '/world', undefined, 'tab1')
    await control('DELETE', '/world', undefined, 'never')
    assert.deepEqual((await control('GET', ''))['worlds'], [])
    assert.deepEqual(await names('tab1'), ['Ann'])
  })

  it('refuse a name that is none', async () => {
    for (const name of ['a b', 'ä', 'x'.repeat(101)]) {
      const answer = await ask('GET', '/v1/users', undefined, { 'x-world': encodeURI(name) === name ? name : encodeURIComponent(name) })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /X-World must be a name/)
    }
  })

  it('are closed when nobody uses them, and with the server', async () => {
    await stop()
    await start({ testControls: { idle: 60 } })
    await add('Bob', 'idle')
    const { fault } = (await control('POST', '/faults', { kind: 'hold', match: 'GET *' }, 'busy')) as unknown as { fault: { id: string } }
    const busy = names('busy')
    await setTimeout(250)
    assert.deepEqual((await control('GET', ''))['worlds'], ['busy'], 'a world with a request on its way is in use')
    await control('POST', `/faults/${fault.id}/release`, undefined, 'busy')
    assert.deepEqual(await busy, ['Ann'])
    assert.deepEqual(await names('idle'), ['Ann'], 'it begins anew')
  })

  it('refuse options that they do not have', () => {
    assert.throws(() => createServer(engine, { testControls: { idel: 1 } as never }), /unknown option "idel".*"idle"/)
    for (const idle of [0, -1, NaN, '1'])
      assert.throws(() => createServer(engine, { testControls: { idle: idle as number } }), { name: 'RangeError' })
    assert.throws(() => createServer(engine, { testControls: 'yes' as never }), { name: 'TypeError' })
  })
})
