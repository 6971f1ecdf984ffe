/** `engine.send`: a request of one line is what `handle` answers for its parts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { createServer, RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })

describeStores('engine.send', () => {
  it('takes body, query and headers', async () => {
    await using engine = await createEngine({ entities: [User] })
    const created = await engine.send('POST /v1/users', { body: { name: 'Ann' } })
    assert.deepEqual([created.status, created.body.user], [200, { id: 1, name: 'Ann' }])
    await engine.send('POST /v1/users', { body: { name: 'Bob' } })
    assert.equal((await engine.send('GET /v1/users', { query: { name: 'B*' } })).body.users[0].name, 'Bob')
    assert.equal((await engine.send('GET /v1/users?name=A*')).body.count, 1)
    const table = await engine.send('GET /v1/users', { headers: { accept: 'text/csv' } })
    assert.match(table.headers['content-type']!, /^text\/csv/)
    assert.equal(engine.requests.length, 5)
  })

  it('rejects with the reason of an aborted signal, and commits nothing', async () => {
    await using engine = await createEngine({ entities: [User] })
    const reason = new Error('stopped')
    await assert.rejects(engine.send('POST /v1/users', { body: { name: 'Ann' }, signal: AbortSignal.abort(reason) }), reason)
    assert.equal((await engine.send('GET /v1/users')).body.count, 0)
  })

  it('refuses what is no line, and unknown options', async () => {
    await using engine = await createEngine({ entities: [User] })
    for (const line of ['/v1/users', 'GET', 'GET v1/users', '', 3, undefined])
      await assert.rejects(
        engine.send(line as never),
        /TypeError: send: the request must be a method and a path, such as "POST \/v1\/users", got /,
      )
    await assert.rejects(engine.send('GET /v1/users', { querry: {} } as never), /send: unknown option "querry"\. Did you mean "query"\?/)
    await assert.rejects(engine.send('GET /v1/users', null as never), /send: the options must be an object/)
  })
})

describe('createServer', () => {
  it('refuses what is not an engine', async () => {
    for (const given of [undefined, null, {}, User, RestEngine])
      assert.throws(() => createServer(given as never), /^TypeError: createServer: the first argument must be an engine/)
  })
})
