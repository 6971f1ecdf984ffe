/** Requests that an app sends elsewhere, answered by an engine on PostgreSQL. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { APPLICATION, findNoServer, ownSchema } from './server-database.ts'

const ORIGIN = 'http://api.example.test'
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string().unique() } })

interface Answer {
  readonly user: object
  readonly count: number
}

const asJson = (method: string, body: unknown): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

const send = async (path: string, init?: RequestInit): Promise<Answer & { readonly status: number }> => {
  const response = await fetch(`${ORIGIN}/v1/users${path}`, init)
  return { ...((await response.json()) as Answer), status: response.status }
}

describe('interception by an engine on PostgreSQL', { skip: await findNoServer() }, () => {
  it('reads and writes, by fetch and node:http', async () => {
    await using schema = ownSchema()
    await using engine = await RestEngine.create({ entities: [User], database: schema.database })
    using _ = engine.intercept(ORIGIN)
    assert.deepEqual((await send('', asJson('POST', { name: 'Ann' }))).user, { id: 1, name: 'Ann' })
    assert.deepEqual((await send('/1', asJson('PUT', { name: 'Bob' }))).user, { id: 1, name: 'Bob' })
    const taken = await send('', asJson('POST', { name: 'Bob' }))
    assert.equal(taken.status, 409)
    assert.deepEqual(await schema.run('select * from "user"'), [{ id: 1, name: 'Bob' }])
    const body = await new Promise<string>((resolve, reject) => {
      request(`${ORIGIN}/v1/users/1`, response => void text(response).then(resolve, reject))
        .on('error', reject)
        .end()
    })
    assert.deepEqual((JSON.parse(body) as Answer).user, { id: 1, name: 'Bob' })
    assert.equal((await send('/1', { method: 'DELETE' })).status, 200)
    assert.equal((await send('')).count, 0)
  })

  it('answers requests at the same time, more than there are connections', async () => {
    await using schema = ownSchema()
    await using engine = await RestEngine.create({ entities: [User], database: { ...schema.database, poolSize: 2 } })
    using _ = engine.intercept(ORIGIN)
    const answers = await Promise.all(Array.from({ length: 20 }, (_each, index) => send('', asJson('POST', { name: `User ${index}` }))))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const lists = await Promise.all(Array.from({ length: 20 }, () => send('?limit=5')))
    assert.deepEqual(new Set(lists.map(({ count }) => count)), new Set([20]))
  })

  it('ends the statement of a request that is aborted', async () => {
    await using schema = ownSchema()
    const Slow = defineEntity({
      name: 'Slow',
      properties: { id: p.integer().primary(), late: p.string().formula("(select 'late' from pg_sleep(30))") },
    })
    await using engine = await RestEngine.create({ entities: [Slow], database: schema.database })
    await schema.run('insert into slow default values')
    using _ = engine.intercept(ORIGIN)
    await assert.rejects(fetch(`${ORIGIN}/v1/slows`, { signal: AbortSignal.timeout(300) }), { name: 'TimeoutError' })
    const text = "select 1 from pg_stat_activity where state = 'active' and application_name = $1"
    const running = async (): Promise<number> => (await schema.run(text, [APPLICATION])).length
    for (let turn = 0; turn < 50 && (await running()) > 0; turn++) await new Promise(resolve => setTimeout(resolve, 50))
    assert.equal(await running(), 0)
  })
})
