/** Faults that a test asks for and no request meets: those that none can meet are refused, and the others are listed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const routes = [{ method: 'POST', path: '/{version}/report/today', handler: () => ({ body: {} }) }]

describe('a fault', () => {
  it('that can match no path is refused with the nearest name', async () => {
    await using engine = await RestEngine.create({ entities: [User], routes })
    for (const [match, meant] of [
      ['POST /v1/usres', 'POST /v1/users'],
      ['/v1/userz/*', '/v1/users/*'],
      ['GET /v1/userz*', 'GET /v1/users*'],
      ['POST /v2/users', 'POST /v1/users'],
      ['POST /users', 'POST /v1/users'],
      ['/v1/users/1/nmae', '/v1/users/1/name'],
      ['GET /v1/user/*/nmae', 'GET /v1/user/*/name'],
    ] as const) {
      const refused = { name: 'TypeError', message: new RegExp(`can meet no request: .* Did you mean "${meant.replace('*', '\\*')}"\\?$`) }
      for (const name of ['drop', 'hold'] as const) assert.throws(() => engine[name](match), refused)
      assert.throws(() => engine.fail(match, { status: 503 }), refused)
      assert.throws(() => engine.delay(match, 1), refused)
      assert.throws(() => engine.rateLimit(match, { requests: 1, per: 1 }), refused)
    }
    assert.deepEqual(engine.pending(), [])
    for (const match of [
      '*',
      '/',
      '/v1',
      '/v1/*',
      '/v1/user',
      '/v1/use*',
      '/v1/rep*',
      '/v1/op*',
      '/v1/users/1/name',
      '/*/usres',
      '/api/v1/users',
      'POST /v1/report/today',
      '/v1/openapi.json',
    ])
      engine.fail(match, { status: 503 }).dispose()
    await using bare = await RestEngine.create({ entities: [User], versions: [] })
    assert.throws(() => bare.drop('POST /usres'), /Did you mean "POST \/users"\?$/)
    assert.throws(() => bare.drop('/userz*'), /Did you mean "\/users\*"\?$/)
    for (const match of ['/users', '/us*', '/api*', '/api/users*']) bare.drop(match).dispose()
  })

  it('says how many requests it has met and still meets, and is pending until the first', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const fault = engine.fail('GET /v1/users', { status: 503, times: 2 })
    const gate = engine.hold('POST /v1/users')
    assert.deepEqual([fault.met, fault.left, gate.met, gate.left], [0, 2, 0, Infinity])
    assert.deepEqual(engine.pending(), [
      { kind: 'fail', match: 'GET /v1/users' },
      { kind: 'hold', match: 'POST /v1/users' },
    ])
    await engine.handle('GET', '/v1/users')
    assert.deepEqual([fault.met, fault.left, engine.pending().length], [1, 1, 1])
    const adding = engine.handle('POST', '/v1/users', undefined, { name: 'Ann' })
    await gate.arrived
    assert.deepEqual([gate.met, engine.pending()], [1, []])
    gate.release()
    await adding
    await engine.handle('GET', '/v1/users')
    assert.deepEqual([fault.met, fault.left, gate.left], [2, 0, 0])
    engine.drop('/v1/users')
    await engine.reset()
    assert.deepEqual(engine.pending(), [])
  })

  it('that no request has met makes reset, scenario and close throw, where the engine is asked to', async () => {
    const options = { entities: [User], unmetFaults: 'throw' as const, scenarios: { few: { users: [{ id: 7, name: 'Eve' }] } } }
    const engine = await RestEngine.create(options)
    engine.fail('POST /v1/users', { status: 503 })
    engine.hold('/v1/users/2').release()
    engine.delay('GET /v1/users', 1)
    await engine.handle('GET', '/v1/users')
    await engine.given('user')
    await assert.rejects(
      engine.reset(),
      /^RestError: engine\.reset: no request has met hold\("\/v1\/users\/2"\), fail\("POST \/v1\/users"\)\. /,
    )
    assert.equal((await engine.handle('GET', '/v1/users')).body.count, 0)
    await engine.reset()
    engine.drop('/v1/users/7')
    await assert.rejects(engine.scenario('few'), /engine\.scenario: no request has met drop\("\/v1\/users\/7"\)/)
    assert.equal((await engine.handle('GET', '/v1/users')).body.count, 1)
    const fork = await engine.fork()
    fork.rateLimit('/v1/users', { requests: 1, per: 1 })
    await assert.rejects(fork.close(), /engine\.close: no request has met rateLimit/)
    await engine.close()
    await assert.rejects(RestEngine.create({ ...options, unmetFaults: 'warn' as never }), /"unmetFaults" must be one of "ignore", "throw"/)
  })

  it('that is met does not, nor is it an error where nobody asks', async () => {
    await using quiet = await RestEngine.create({ entities: [User] })
    quiet.fail('/v1/users', { status: 503 })
    await quiet.reset()
    await using engine = await RestEngine.create({ entities: [User], unmetFaults: 'throw' })
    engine.fail('/v1/users', { status: 503, times: 1 })
    assert.equal((await engine.handle('GET', '/v1/users')).status, 503)
    await engine.reset()
  })
})

describe('a thousand faults and more', () => {
  it('lose those that are used up, the oldest first, and none in effect', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const ask = (): Promise<{ readonly status: number }> => engine.handle('GET', '/v1/users')
    const gate = engine.hold('/v1/users', { times: 1 })
    const held = ask()
    await gate.arrived
    const first = engine.fail('/v1/users', { status: 503 })
    for (let count = 0; count < 999; count++) engine.fail('/v1/users/1', { status: 503 })
    assert.deepEqual(
      engine.faults.slice(0, 2).map(({ id }) => id),
      [gate.id, first.id],
    )
    gate.release()
    first.dispose()
    assert.equal((await held).status, 200)
    const used = [1, 2, 3].map(() => engine.fail('/v1/users', { status: 503, times: 1 }))
    for (const { id } of used) {
      assert.equal(engine.faults.at(-1)!.left, 1, id)
      assert.equal((await ask()).status, 503)
    }
    const last = engine.fail('/v1/users', { status: 503, times: 1 })
    const left = engine.faults.map(({ id }) => id)
    assert.deepEqual([left.length, left.includes(used[0]!.id), left.at(-1)], [1000, false, last.id])
  })
})
