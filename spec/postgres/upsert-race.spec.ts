/** Writes that meet on PostgreSQL: upserts of one new key, changes by filters, and the same through wires. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/postgresql'
import { RestEngine, resource, type Wire } from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { postgrest } from '../../lib/wires/postgrest/index.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: { id: p.integer().primary(), email: p.string().unique(), name: p.string(), pin: p.string().unique().nullable() },
})
const seed = { users: [1, 2].map(id => ({ id, email: `user-${id}`, name: '', pin: `${id}` })) }

async function withEngine(work: (engine: RestEngine) => Promise<void>, options: object = {}): Promise<void> {
  await using schema = ownSchema()
  await using engine = await RestEngine.create({ entities: [User], database: schema.database, seed, createdStatus: 201, ...options })
  await work(engine)
}

/** Statuses of three requests at once, in order. */
const together = async (request: (name: string) => Promise<{ readonly status: number }>): Promise<string> => {
  const answers = await Promise.all(['x', 'y', 'z'].map(request))
  return answers
    .map(({ status }) => status)
    .toSorted((one, other) => one - other)
    .join()
}
const ROUNDS = [1, 2, 3, 4, 5]
const each = async (request: (name: string, round: number) => Promise<{ readonly status: number }>): Promise<string[]> => {
  const found: string[] = []
  for (const round of ROUNDS) found.push(await together(name => request(name, round)))
  return [...new Set(found)]
}

const send = (engine: RestEngine, method: string, path: string, body: object, headers = {}): Promise<Response> =>
  engine.fetch(`http://api.test${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

describe('writes that meet', { skip: await findNoServer() }, () => {
  it('upserts of one new key create the record once, and change it otherwise', () =>
    withEngine(async engine => {
      const upsert = (body: unknown) => engine.handle('POST', '/v1/users', { upsert: 'email' }, body)
      assert.deepEqual(await each((name, round) => upsert({ email: `a${round}`, name })), ['200,200,201'])
      const two = (name: string, round: number) => [`b${round}`, `c${round}`].map(email => ({ email, name }))
      assert.deepEqual(await each((name, round) => upsert(two(name, round))), ['200,200,201'])
      assert.deepEqual(await each(name => upsert({ email: 'user-1', name })), ['200,200,200'])
      const { status } = await upsert({ email: 'new', name: '', pin: '1' })
      assert.equal(status, 409, 'another value that must be unique')
      const { body } = await engine.handle('GET', '/v1/users', { limit: 0 })
      assert.equal(body['count'], 2 + 3 * ROUNDS.length)
    }))

  it('changes by a filter begin anew, and wait for nothing that a wrapper does', async () => {
    const change = (engine: RestEngine) => (name: string) => engine.handle('PATCH', '/v1/users', { 'id<': 9, limit: 5 }, { name })
    await withEngine(async engine => assert.deepEqual(await each(change(engine)), ['200,200,200']))
    const wrapped = resource(User, { update: (_, next) => next() })
    await withEngine(
      async engine => {
        const statuses = await each(change(engine))
        assert.ok(statuses.some(text => text.includes('503')))
        assert.ok(statuses.every(text => text.startsWith('200')))
      },
      { resources: [wrapped], onError: () => {} },
    )
  })

  it('hold through the wires of PostgREST and json-server', async () => {
    await withEngine(
      async engine => {
        const prefer = { prefer: 'resolution=merge-duplicates,return=representation' }
        const upsert = (name: string, round: number) =>
          send(engine, 'POST', '/users?on_conflict=email', [{ email: `a${round}`, name }], prefer)
        assert.deepEqual(await each(upsert), ['200,200,201'])
        assert.deepEqual(await each(name => send(engine, 'PATCH', '/users?id=lt.3', { name })), ['204,204,204'])
        assert.deepEqual(await each((name, round) => send(engine, 'POST', '/users', { email: `b${round}`, name })), ['201,409,409'])
        const taken = await send(engine, 'POST', '/users?on_conflict=email', { email: 'new', name: '', pin: '1' }, prefer)
        assert.equal(((await taken.json()) as { code: string }).code, '23505')
      },
      { wire: postgrest() },
    )
    await withEngine(async engine => assert.deepEqual(await each(name => send(engine, 'PATCH', '/users/1', { name })), ['200,200,200']), {
      wire: jsonServer(),
    })
  })

  it('are asked again of a wire that says so', async () => {
    let times = 0
    const wire = (more: Partial<Wire>): Wire => ({
      async answer(_, api) {
        times++
        const { records } = await api.list('users', { where: { id: 1 } })
        await api.update('users', 1, { name: `${records[0]!['name'] as string}.` })
        return { status: 200 }
      },
      refuse: ({ status }) => ({ status }),
      ...more,
    })
    await withEngine(
      async engine => {
        assert.deepEqual(await each(() => send(engine, 'PATCH', '/', {})), ['200,200,200'])
        const { body } = await engine.handle('GET', '/v1/users/1')
        assert.equal((body['user'] as { name: string }).name.length, 3 * ROUNDS.length, 'no change is lost')
        assert.ok(times > 3 * ROUNDS.length)
      },
      { wire: wire({ repeatable: ({ method }) => method === 'PATCH' }) },
    )
    await withEngine(async engine => assert.ok((await each(() => send(engine, 'PATCH', '/', {}))).some(text => text.includes('503'))), {
      wire: wire({}),
      onError: () => {},
    })
  })
})
