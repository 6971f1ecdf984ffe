/** Named seeds: in the process, by test controls, and by the header X-Scenario. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, createServer, resource } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string().unique(), vip: p.boolean().default(false) },
})
const entities = [User]
const seed = { users: [{ id: 5, name: 'Ann' }] }
const scenarios = {
  empty: {},
  vip: {
    users: [
      { name: 'Eve', vip: true },
      { name: 'Fay', vip: true },
    ],
  },
  broken: { users: [{ nme: 'x' }] },
}

const readNames = ({ body }: { body: { users: { name: string }[] } }): string[] => body.users.map(({ name }) => name)

describeTargets('a scenario', { entities, seed, scenarios }, target => {
  const names = async (): Promise<string[]> => readNames(await target.call('GET', '/v1/users'))

  it('is the named seed in the place of the seed, as often as it is begun', async () => {
    const { engine } = target
    assert.deepEqual(engine.scenarios, ['empty', 'vip', 'broken'])
    assert.deepEqual(await names(), ['Ann'])
    for (let round = 0; round < 2; round++) {
      await engine.scenario('vip')
      assert.deepEqual(await names(), ['Eve', 'Fay'])
      const { body } = await target.call('POST', '/v1/users', undefined, { name: 'Gus' })
      assert.equal(body.user.id, 3)
      await engine.scenario('empty')
      assert.deepEqual(await names(), [])
    }
    await engine.reset()
    assert.deepEqual(await names(), ['Ann'])
  })

  it('begins with an empty journal, the clock of the start, and without faults', async () => {
    const { engine } = target
    engine.clock.set('2020-01-01T00:00:00Z')
    engine.fail('*', { status: 503 })
    await target.call('GET', '/v1/users')
    await engine.scenario('vip')
    assert.deepEqual(engine.requests, [])
    assert.equal((await target.call('GET', '/v1/users')).status, 200)
    assert.notEqual(engine.clock.now().getUTCFullYear(), 2020)
  })

  it('is refused by an unknown name, and for records that the model refuses; then nothing has changed', async () => {
    const { engine } = target
    await assert.rejects(engine.scenario('vpi'), /there is no scenario "vpi"\. Did you mean "vip"\? Known are empty, vip, broken\./)
    await assert.rejects(engine.scenario(undefined as never), RangeError)
    await assert.rejects(engine.scenario('__proto__'), RangeError)
    for (let round = 0; round < 2; round++) await assert.rejects(engine.scenario('broken'), { code: 'validation_failed' })
    assert.deepEqual(await names(), ['Ann'])
  })

  it('aborts the requests that run, in its own name', async () => {
    const entered = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    await using engine = await RestEngine.create({
      entities,
      seed,
      scenarios,
      resources: [
        resource(User, {
          access: async () => {
            entered.resolve()
            await go.promise
            return true
          },
        }),
      ],
    })
    const rejected = assert.rejects(engine.handle('POST', '/v1/users', undefined, { name: 'Late' }), {
      code: 'ECONNRESET',
      message: /engine\.scenario\(\) has replaced the data/,
    })
    await entered.promise
    await engine.scenario('vip')
    go.resolve()
    await rejected
    assert.deepEqual(readNames((await engine.handle('GET', '/v1/users')) as never), ['Eve', 'Fay'])
  })

  it('is known to forks, and leaves others alone', async () => {
    const { engine } = target
    await using world = await engine.fork()
    await world.scenario('vip')
    assert.deepEqual(readNames(await world.handle('GET', '/v1/users')), ['Eve', 'Fay'])
    assert.deepEqual(await names(), ['Ann'])
  })
})

describe('scenarios', () => {
  it('keep the rows that a file had before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
    try {
      const database = join(folder, 'data.sqlite')
      await using first = await RestEngine.create({ entities, database, seed: { users: [{ name: 'Old' }] } })
      await first.close()
      await using engine = await RestEngine.create({ entities, database, seed: { users: [{ name: 'New' }] }, scenarios })
      await engine.scenario('vip')
      assert.deepEqual(readNames(await engine.handle('GET', '/v1/users')), ['Old', 'Eve', 'Fay'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('are refused when they are not of their form', async () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [[], /"scenarios" must be an object of seeds/],
      [null, /"scenarios" must be an object of seeds/],
      [{ 'a b': {} }, /scenarios: "a b" must be a name/],
      [{ vip: [] }, /"scenarios\.vip" must be an object of lists/],
    ]
    for (const [given, error] of cases) await assert.rejects(RestEngine.create({ entities, scenarios: given as never }), error)
    await using engine = await RestEngine.create({ entities })
    await assert.rejects(engine.scenario('vip'), /The option "scenarios" names none/)
  })

  it('are begun over HTTP, and worlds begin with them', async () => {
    await using engine = await RestEngine.create({ entities, seed, scenarios })
    const server = createServer(engine, { testControls: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
      const init =
        body === undefined
          ? { method, headers }
          : { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const response = await fetch(origin + path, init)
      return {
        status: response.status,
        body: (await response.json()) as { users: { name: string }[]; detail: string; scenarios: string[]; scenario: string },
      }
    }
    const names = async (headers: Record<string, string> = {}) => readNames(await ask('GET', '/v1/users', headers))
    try {
      assert.deepEqual((await ask('GET', '/_test')).body.scenarios, ['empty', 'vip', 'broken'])
      assert.equal((await ask('POST', '/_test/scenario', {}, { name: 'vip' })).body.scenario, 'vip')
      assert.deepEqual(await names(), ['Eve', 'Fay'])
      const refused = await ask('POST', '/_test/scenario', {}, { name: 'vpi' })
      assert.equal(refused.status, 400)
      assert.match(refused.body.detail, /Did you mean "vip"/)
      for (const body of [{}, { name: 'vip', more: 1 }, 'vip']) assert.equal((await ask('POST', '/_test/scenario', {}, body)).status, 400)
      assert.equal((await ask('POST', '/_test/scenario', {}, { name: 'broken' })).status, 422)

      const a = { 'x-world': 'a', 'x-scenario': 'empty' }
      assert.deepEqual(await names(a), [])
      await ask('POST', '/v1/users', a, { name: 'Hal' })
      assert.deepEqual(await names(a), ['Hal'])
      assert.deepEqual(await names({ 'x-world': 'a' }), ['Hal'])
      assert.deepEqual(await names({ cookie: 'x-world=a; x-scenario=empty' }), ['Hal'])
      // It goes back to what it has begun with.
      assert.equal((await ask('POST', '/_test/reset', a, {})).status, 200)
      assert.deepEqual(await names(a), [])
      assert.equal((await ask('POST', '/_test/scenario', a, { name: 'vip' })).status, 200)
      assert.deepEqual(await names(a), ['Eve', 'Fay'])
      assert.deepEqual(await names({ 'x-world': 'b' }), ['Ann'])
      for (const [headers, detail] of [
        [{ 'x-world': 'a', 'x-scenario': 'vip' }, /The world "a" has begun with the scenario "empty", not with "vip"/],
        [{ 'x-world': 'b', 'x-scenario': 'vip' }, /The world "b" has begun without a scenario/],
        [{ 'x-scenario': 'vip' }, /name the world in X-World/],
        [{ 'x-world': 'c', 'x-scenario': 'vpi' }, /there is no scenario "vpi"\. Did you mean "vip"/],
      ] as const) {
        const { status, body } = await ask('GET', '/v1/users', headers)
        assert.deepEqual([status, detail.test(body.detail)], [400, true], body.detail)
      }
      assert.deepEqual(await names({ 'x-world': 'c', 'x-scenario': 'vip' }), ['Eve', 'Fay'])
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
