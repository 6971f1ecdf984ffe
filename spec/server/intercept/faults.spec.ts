/** Faults and worlds through an intercepted fetch: what a test asks of the engine is what the code under test sees. */
import assert from 'node:assert/strict'
import { after, afterEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const ORIGIN = 'https://faults.example.test'

const engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
engine.intercept(ORIGIN)

function add(name: string, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${ORIGIN}/v1/users`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name }),
    ...(signal === undefined ? {} : { signal }),
  })
}

async function count(): Promise<number> {
  return ((await (await fetch(`${ORIGIN}/v1/users`)).json()) as { count: number }).count
}

function failedWith(code: string): (error: unknown) => boolean {
  return error => error instanceof TypeError && error.message === 'fetch failed' && (error.cause as NodeJS.ErrnoException).code === code
}

describe('an intercepted fetch', () => {
  afterEach(() => engine.reset())
  after(() => engine.close())

  it('fails as a lost connection does, before or after the work', async () => {
    engine.drop('POST /v1/users', { times: 1 })
    await assert.rejects(add('Bob'), failedWith('ECONNRESET'))
    assert.equal(await count(), 1)
    engine.drop('POST /v1/users', { times: 1, after: true })
    await assert.rejects(add('Bob'), failedWith('ECONNRESET'))
    assert.equal(await count(), 2)
  })

  it('waits at a gate, and goes on', async () => {
    const gate = engine.hold('POST /v1/users')
    const adding = add('Bob')
    assert.equal((await gate.arrived).path, '/v1/users')
    assert.equal(await count(), 1)
    gate.release()
    assert.equal((await adding).status, 200)
    assert.equal(await count(), 2)
  })

  it('can be aborted while it is held, and writes nothing then', async () => {
    const gate = engine.hold('POST /v1/users')
    const client = new AbortController()
    const adding = add('Bob', client.signal)
    await gate.arrived
    client.abort()
    await assert.rejects(adding, { name: 'AbortError' })
    gate.release()
    assert.equal(await count(), 1)
  })

  it('is answered with a failure, and late', async () => {
    engine.fail('/v1/users', { status: 503, times: 1, headers: { 'retry-after': '1' } })
    engine.delay('/v1/users', 30, { times: 1 })
    const started = performance.now()
    const response = await add('Bob')
    assert.ok(performance.now() - started >= 15)
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
  })

  it('is lost when the engine is reset under it', async () => {
    const gate = engine.hold('POST /v1/users')
    const adding = assert.rejects(add('Bob'), failedWith('ECONNRESET'))
    await gate.arrived
    await engine.reset()
    await adding
    assert.equal(await count(), 1)
  })
})
