/** Events, marks, HAR and the state of faults: what an engine tells of itself while it is tested. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import type { EngineEvent, RestEngine } from '../../lib/index.ts'
import { auth } from '../../lib/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string().unique(), password: p.string().hidden().nullable() },
})

/** The events that wait for a listener. */
async function taken(events: AsyncIterableIterator<EngineEvent>, count: number): Promise<EngineEvent[]> {
  const found: EngineEvent[] = []
  while (found.length < count) {
    const { value, done } = await events.next()
    if (done === true) break
    found.push(value)
  }
  return found
}

describeStores('what an engine tells', () => {
  const start = (): Promise<RestEngine> => createEngine({ entities: [User], seed: { users: [{ name: 'Ann' }] } })

  it('numbers its requests, whatever is cleared or reset in between', async () => {
    await using engine = await start()
    engine.clock.set('2030-01-01T00:00:00Z')
    await engine.send('GET /v1/users')
    await engine.send('GET /v1/users/1')
    assert.deepEqual(
      engine.requests.map(({ id, at }) => [id, at]),
      [
        [1, '2030-01-01T00:00:00.000Z'],
        [2, '2030-01-01T00:00:00.000Z'],
      ],
    )
    engine.clearRequests()
    await engine.send('GET /v1/users')
    await engine.reset()
    await engine.send('GET /v1/users')
    assert.deepEqual(
      engine.requests.map(({ id }) => id),
      [4],
    )
  })

  it('keeps which test has sent a request', async () => {
    await using engine = await start()
    for (const test of ['plain', 'orders%20%C3%B6ften', '100 %', 'x'.repeat(300)])
      await engine.send('GET /v1/users', { headers: { 'x-test': test } })
    await engine.send('GET /v1/users')
    assert.deepEqual(
      engine.requests.map(({ test }) => test),
      ['plain', 'orders öften', '100 %', 'x'.repeat(200), undefined],
    )
  })

  it('tells of requests, faults, the clock, marks and the world, in their order', async () => {
    await using engine = await start()
    const events = engine.events()
    await engine.send('POST /v1/users', { body: { name: 'Bob', password: 'hush-hush' } })
    engine.mark('Bob is there')
    engine.clock.set('2030-01-01T00:00:00Z')
    const before = await engine.snapshot()
    await engine.restore(before)
    await engine.reset()
    const found = await taken(events, 5)
    assert.deepEqual(
      found.map(({ type, last }) => [type, last]),
      [
        ['request', 1],
        ['mark', 1],
        ['clock', 1],
        ['restore', 1],
        // The clock goes back before the engine says that it has been reset.
        ['clock', 1],
      ],
    )
    assert.deepEqual((await taken(events, 1)).at(0)?.type, 'reset')
    const [first] = found
    assert.ok(first?.type === 'request')
    const { id, method, path, status, changed, changes } = first.request
    assert.deepEqual(
      [id, method, path, status, changed, changes],
      [1, 'POST', '/v1/users', 200, 1, [{ type: 'insert', resource: 'users', id: 2 }]],
    )
    assert.equal('body' in first.request || 'response' in first.request, false)
    assert.doesNotMatch(JSON.stringify(found), /hush/)
    await events.return?.()
  })

  it('tells all worlds that a changed model is refused, first in its notes, and that the refusal is over', async () => {
    await using engine = await start()
    await using fork = await engine.fork()
    const listeners = [engine, fork].map(each => each.events())
    internalsOf(engine).refuseModel('model.ts is refused.')
    assert.equal(fork.notes[0], 'model.ts is refused.')
    const version = { version: 'v1', base: '', readOnly: false }
    assert.equal((await internalsOf(fork).outline(version)).refused, 'model.ts is refused.')
    internalsOf(engine).refuseModel(undefined)
    assert.equal('refused' in (await internalsOf(engine).outline(version)), false)
    assert.equal(engine.notes.includes('model.ts is refused.'), false)
    for (const events of listeners) {
      const found = await taken(events, 2)
      assert.deepEqual(
        found.map(event => (event.type === 'refused' ? event.reason : event.type)),
        ['model.ts is refused.', null],
      )
      await events.return?.()
    }
  })

  it('says which fault a request has met, and what a fault has met and has left', async () => {
    await using engine = await start()
    const busy = engine.fail('GET /v1/users', { status: 503, times: 2 })
    engine.delay('*', 1)
    assert.equal(busy.id, 'f1')
    await engine.send('GET /v1/users')
    await engine.send('GET /v1/users/1')
    assert.deepEqual(
      engine.requests.map(({ fault }) => fault),
      ['f1', 'f2'],
    )
    assert.deepEqual(engine.faults, [
      { id: 'f1', kind: 'fail', match: 'GET /v1/users', met: 1, left: 1, options: { status: 503, times: 2 } },
      { id: 'f2', kind: 'delay', match: '*', met: 2, left: null, options: { ms: 1 } },
    ])
    await engine.send('GET /v1/users')
    assert.deepEqual([engine.faults[0]!.met, engine.faults[0]!.left], [2, 0], 'one that is used up is still known')
    busy.dispose()
    assert.deepEqual(
      engine.faults.map(({ id }) => id),
      ['f2'],
    )
    await engine.reset()
    assert.deepEqual(engine.faults, [])
  })

  it('shows what a gate holds', async () => {
    await using engine = await start()
    const gate = engine.hold('POST /v1/users')
    const adding = engine.send('POST /v1/users?x=1', { body: { name: 'Bob' } })
    await gate.arrived
    assert.deepEqual(engine.faults[0]!.held, [{ method: 'POST', path: '/v1/users', query: [['x', '1']] }])
    gate.release()
    await adding
    assert.deepEqual(engine.faults, [])
  })

  it('never waits for a listener: the oldest events of one that takes none are lost, and counted', async () => {
    await using engine = await start()
    const events = engine.events({ capacity: 3 })
    for (let count = 0; count < 10; count++) engine.mark(`mark ${count}`)
    const found = await taken(events, 4)
    assert.deepEqual(
      found.map(event => (event.type === 'lost' ? event.count : event.type === 'mark' ? event.text : event.type)),
      [7, 'mark 7', 'mark 8', 'mark 9'],
    )
    await events.return?.()
  })

  it('tells each listener, until the signal, the loop or the engine ends', async () => {
    const engine = await start()
    const control = new AbortController()
    const [first, second] = [engine.events({ signal: control.signal }), engine.events()]
    engine.mark('both')
    assert.deepEqual([(await taken(first, 1)).length, (await taken(second, 1)).length], [1, 1])
    control.abort()
    engine.mark('one')
    assert.equal((await first.next()).done, true)
    assert.equal((await taken(second, 1)).length, 1)
    const waiting = second.next()
    await setImmediate()
    await engine.close()
    assert.equal((await waiting).done, true)
    assert.throws(() => engine.events(), /closed/)
  })

  it('hides secrets in marks, wherever they are shown', async () => {
    await using engine = await start()
    const events = engine.events()
    const token = `eyJhbGciOiJFZERTQSJ9.${'a'.repeat(20)}.b`
    const texts: [string, string][] = [
      [`sends ${token}`, 'sends [secret]'],
      ['logs in with {"name":"Ann","password":"hush \\" hush"}', 'logs in with {"name":"Ann","password":[secret]}'],
      ["logs in with { name: 'Ann', password: 'hush' }", "logs in with { name: 'Ann', password: [secret] }"],
      ['POST /v1/login?password=hush&name=Ann', 'POST /v1/login?password=[secret]&name=Ann'],
      ['authorization: Bearer hush, name: Ann', 'authorization: [secret], name: Ann'],
      ['the order: placed', 'the order: placed'],
    ]
    for (const [text] of texts) engine.mark(text)
    const found = await taken(events, texts.length)
    const shown = found.map(event => (event.type === 'mark' ? event.text : ''))
    assert.deepEqual(
      shown,
      texts.map(([, text]) => text),
    )
  })

  it('refuses marks and options that are not of their form', async () => {
    await using engine = await start()
    for (const text of ['', 'x'.repeat(501), 7 as never]) assert.throws(() => engine.mark(text), /1 to 500 characters/)
    assert.throws(() => engine.events({ capacity: 0 }), /"capacity" must be an integer from 1 to 10000/)
    assert.throws(() => engine.events({ capcity: 1 } as never), /"capcity".*"capacity"/)
    assert.throws(() => engine.har({ origin: 'localhost' }), /"origin" must be a scheme and a host/)
    assert.throws(() => engine.har({ orign: 'http://a.test' } as never), /"orign".*"origin"/)
  })

  it('writes its journal as an HTTP Archive, without secrets', async () => {
    await using engine = await start()
    await engine.send('POST /v1/users', { body: { name: 'Bob', password: 'hush-hush' }, headers: { authorization: 'Bearer abc' } })
    await engine.handle('GET', '/v1/users', { 'id>': 1, 'name!=': 'Ünn & Co', sort: 'name' })
    engine.drop('DELETE *')
    await assert.rejects(engine.send('DELETE /v1/users/1'))
    const { log } = engine.har({ origin: 'https://api.example.test' })
    assert.deepEqual([log.version, log.creator.name, log.entries.length], ['1.2', 'mikro-rest', 3])
    const [posted, listed, lost] = log.entries
    assert.deepEqual(JSON.parse(posted!.request.postData!.text), { name: 'Bob', password: '[secret]' })
    assert.equal(listed!.request.url, 'https://api.example.test/v1/users?id%3E1&name!=%C3%9Cnn+%26+Co&sort=name')
    // The URL asks for the same again.
    const again = await engine.handle('GET', listed!.request.url.replace('https://api.example.test', ''))
    assert.equal((again.body as { count: number }).count, (JSON.parse(listed!.response.content.text!) as { count: number }).count)
    const { status, _error: error } = lost!.response
    assert.deepEqual([status, error], [0, 'ECONNRESET'])
    assert.doesNotMatch(JSON.stringify(log), /hush|Bearer/)
    for (const { request, response, time, timings } of log.entries) {
      assert.ok(time >= 0 && timings.wait === time)
      assert.ok(URL.canParse(request.url))
      for (const { cookies, headersSize } of [request, response]) assert.deepEqual([cookies, headersSize], [[], -1])
    }
  })
})

describe('a request with a token', () => {
  it('says whose token it was, such that another one can be minted for it', async () => {
    const { RestEngine: Engine } = await import('../../lib/index.ts')
    await using engine = await Engine.create({
      entities: [User],
      auth: auth({ entity: User, identifier: 'name' }),
      seed: { users: [{ name: 'Ann', password: 'long enough' }] },
    })
    const headers = { authorization: `Bearer ${engine.token(1)}` }
    await engine.send('GET /v1/users', { headers })
    const [{ user } = {}] = engine.requests
    assert.equal(user, '1')
    assert.equal((await engine.send('GET /v1/users', { headers: { authorization: `Bearer ${engine.token(user)}` } })).status, 200)
  })
})
