/** POST of an array: all records or none. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { InferEntity } from '@mikro-orm/core'
import { RestEngine, RestError, resource } from '../../lib/index.ts'
import type { ResourceConfig } from '../../lib/index.ts'
import { Conformity } from '../openapi/conformity.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(10),
    email: p.string().unique().nullable(),
    password: p.string().hidden().nullable(),
    sites: () => p.oneToMany(Site).mappedBy('user'),
  },
})
const Site = defineEntity({
  name: 'Site',
  properties: { id: p.integer().primary(), url: p.string(), user: () => p.manyToOne(User).nullable() },
})
const entities = [User, Site]
const seed = { users: [{ id: 1, name: 'Ann', email: 'ann@example.test' }] }

describeTargets('POST of an array', { entities, seed, createdStatus: 201, limits: { maxBulk: 4, maxErrors: 3 } }, target => {
  const post = (body: unknown, path = '/v1/users', query?: Record<string, string>) => target.call('POST', path, query, body)
  const count = async (path = '/v1/users'): Promise<number> => (await target.call('GET', path)).body.count

  it('makes a record of each member, nested ones included, in their order', async () => {
    const { status, headers, body } = await post([
      { name: 'Bob', sites: [{ url: 'x' }, { url: 'y' }] },
      { name: 'Cid', id: 9 },
      { name: 'Dan' },
    ])
    assert.equal(status, 201)
    assert.equal(headers['location'], undefined)
    assert.equal(headers['etag'], undefined)
    assert.deepEqual(Object.keys(body), ['success', 'timestamp', 'resource', 'count', 'users', 'status'])
    assert.deepEqual([body.success, body.resource, body.count, body.status], [true, 'users', 3, 'OK'])
    assert.deepEqual(
      body.users.map(({ id, name, sites }: { id: number; name: string; sites: number[] }) => [id, name, sites.length]),
      [
        [2, 'Bob', 2],
        [9, 'Cid', 0],
        [10, 'Dan', 0],
      ],
    )
    assert.deepEqual(body.users, (await target.call('GET', '/v1/users', { 'id>': 1 })).body.users)
    assert.equal(await count('/v1/sites'), 2)
  })

  it('takes the parameters of the answer, and one member', async () => {
    const { body } = await post([{ name: 'Bob' }], '/v1/users', { attributes: 'name' })
    assert.deepEqual(body.users, [{ name: 'Bob' }])
    assert.equal((await post([{ name: 'Bob' }], '/v1/users', { limit: '1' })).status, 400)
  })

  it('appends each member to a list attribute', async () => {
    const { status, body } = await post([{ url: 'a' }, { url: 'b' }], '/v1/users/1/sites')
    assert.deepEqual([status, body.resource, body.count], [201, 'sites', 2])
    assert.deepEqual((await target.call('GET', '/v1/users/1')).body.user.sites, [1, 2])
    assert.equal((await post([{ url: 'a' }], '/v1/users/7/sites')).status, 404)
  })

  it('makes none where one is refused, and lists the errors of all by their index', async () => {
    const { status, body } = await post([
      { name: 'Bob', email: 'new@example.test' },
      { name: 'much too long a name' },
      {},
      { name: 'Eve', sites: [{ url: 5 }] },
    ])
    assert.equal(status, 422)
    assert.equal(body.code, 'validation_failed')
    assert.deepEqual(
      body.errors.map(({ code, attribute }: { code: string; attribute: string }) => [code, attribute]),
      [
        ['too_long', '1.name'],
        ['required', '2.name'],
        ['value_invalid', '3.sites.0.url'],
      ],
    )
    for (const [at, error] of body.errors.entries()) assert.ok(error.detail.startsWith(`[${at + 1}]: `), error.detail)
    assert.equal(await count(), 1)
    assert.equal(await count('/v1/sites'), 0)
    // The same again without the faults: nothing is left of it.
    assert.equal((await post([{ name: 'Bob', email: 'new@example.test' }])).status, 201)
  })

  it('counts the errors that are not listed', async () => {
    const { body } = await post([{}, {}, {}, {}])
    assert.equal(body.errors.length, 3)
    assert.match(body.detail, /And 1 more/)
  })

  it('finds what is not unique among the members, and among the records', async () => {
    const email = 'bob@example.test'
    const twice = await post([
      { name: 'Bob', email },
      { name: 'Eve', email },
    ])
    assert.deepEqual([twice.status, twice.body.code, twice.body.errors[0].attribute], [409, 'unique_conflict', '1.email'])
    const known = await post([
      { name: 'Bob', email },
      { name: 'Eve', email: 'ann@example.test' },
    ])
    assert.deepEqual([known.status, known.body.errors[0].attribute], [409, '1.email'])
    assert.equal(await count(), 1)
  })

  it('refuses what is no record, naming its index, and arrays that are empty or too long', async () => {
    for (const odd of [7, null, 'x', [{ name: 'Eve' }]]) {
      const { status, body } = await post([{ name: 'Bob' }, odd])
      assert.equal(status, 400)
      assert.equal(body.code, 'body_invalid')
      assert.match(body.detail, /^\[1\]: The body must be a JSON object/)
    }
    assert.match((await post([])).body.detail, /must have at least one record/)
    const long = await post(Array.from({ length: 5 }, (_each, index) => ({ name: `U${index}` })))
    assert.deepEqual([long.status, long.body.errors[0].code], [400, 'limit_exceeded'])
    assert.match(long.body.detail, /5 records; at most 4 are allowed \(limits\.maxBulk\)/)
    assert.equal(await count(), 1)
  })

  it('stays refused where no list is', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/users/1'],
      ['PATCH', '/v1/users/1'],
    ] as const)
      assert.equal((await target.call(method, path, undefined, [{ name: 'x' }])).status, 400)
    assert.equal((await post([{ name: 'x' }], '/v1/users/1')).status, 405)
    assert.equal((await post([{ name: 'x' }], '/v1/users/1/name')).status, 400)
  })

  it('is one request in the journal, without the secrets of its members', async () => {
    target.engine.clearRequests()
    await post([
      { name: 'Bob', password: 'sesame open' },
      { name: 'Eve', password: 'other secret' },
    ])
    const entries = target.engine.requests
    const entry = entries[0]!
    assert.equal(entries.length, 1)
    assert.equal(entry.changes?.length, 2)
    assert.doesNotMatch(JSON.stringify(entry), /sesame|other secret/)
    assert.deepEqual(
      (entry.body as { name: string }[]).map(({ name }) => name),
      ['Bob', 'Eve'],
    )
  })
})

describe('rules and POST of an array', () => {
  const headers = { 'x-user': '1' }
  const create = (config: ResourceConfig<InferEntity<typeof User>>) =>
    RestEngine.create({ entities, resources: [resource(User, config)], onError: () => {} })

  it('are asked for each member, which they see as the body', async () => {
    await using engine = await create({ access: { create: ctx => ctx.data.name !== 'root' } })
    const refused = await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'root' }], { headers })
    assert.equal(refused.status, 403)
    assert.match(refused.body.detail, /^\[1\]: /)
    assert.equal((await engine.handle('GET', '/v1/users')).body.count, 0)
    assert.equal((await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }])).status, 200)
  })

  it('wrap each member: what a wrapper sets is set in every record', async () => {
    const seen: unknown[] = []
    await using engine = await create({
      create: async (ctx, next) => {
        seen.push(ctx.data)
        ctx.data = { ...(ctx.data as object), email: `${(ctx.data as { name: string }).name}@example.test` }
        return next()
      },
    })
    const { body } = await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'Eve' }])
    assert.deepEqual(seen, [{ name: 'Bob' }, { name: 'Eve' }])
    assert.deepEqual(
      body.users.map(({ email }: { email: string }) => email),
      ['Bob@example.test', 'Eve@example.test'],
    )
  })

  it('that refuse or fail in a wrapper undo all', async () => {
    const answers = {
      throws: () => {
        throw new RestError(402, 'not_paid', 'Pay first.', { headers: { 'retry-after': '9' } })
      },
      answers: () => ({ status: 418, body: { tea: true } }),
      fails: () => {
        throw new Error('broken')
      },
    }
    const expected = {
      throws: [402, '[1]: Pay first.'],
      answers: [418, undefined],
      fails: [500, 'Something went wrong inside the server.'],
    }
    for (const name of ['throws', 'answers', 'fails'] as const) {
      await using engine = await create({
        create: async (ctx, next) => ((ctx.data as { name: string }).name === 'Eve' ? answers[name]() : next()),
      })
      const { status, body } = await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'Eve' }, { name: 'Fay' }])
      assert.deepEqual([status, body.detail], expected[name], name)
      assert.equal((await engine.handle('GET', '/v1/users')).body.count, 0)
    }
  })

  it('keep to the scope', async () => {
    await using engine = await create({ scope: () => ({ name: { $ne: 'root' } }) })
    const { status, body } = await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'root' }])
    assert.deepEqual([status, body.code], [403, 'outside_scope'])
    assert.equal((await engine.handle('GET', '/v1/users')).body.count, 0)
  })
})

describe('POST of an array elsewhere', () => {
  it('is described when that is asked for', async () => {
    await using engine = await RestEngine.create({ entities })
    const conformity = new Conformity(await engine.openapi({ bulk: true }))
    const bodies = [[{ name: 'Bob', sites: [{ url: 'x' }] }, { name: 'Eve' }], { name: 'Fay' }]
    for (const body of bodies) {
      assert.deepEqual(conformity.bodyFaultsOf('POST', '/v1/users', body), [])
      const answer = await engine.handle('POST', '/v1/users', undefined, body)
      assert.deepEqual(conformity.faultsOf('POST', '/v1/users', answer), [])
    }
    assert.notDeepEqual(conformity.bodyFaultsOf('POST', '/v1/users', []), [])
    assert.notDeepEqual(new Conformity(await engine.openapi()).bodyFaultsOf('POST', '/v1/users', bodies[0]), [])
    await assert.rejects(engine.openapi({ bulk: 1 as never }), /"bulk" must be true or false/)
  })

  it('ends with its signal, and then nothing is written', async () => {
    await using engine = await RestEngine.create({ entities, limits: { maxBulk: 100_000 } })
    const body = Array.from({ length: 50_000 }, (_each, index) => ({ name: `U${index}` }))
    const signal = AbortSignal.timeout(50)
    await assert.rejects(engine.handle('POST', '/v1/users', undefined, body, { signal }), { name: 'TimeoutError' })
    assert.equal((await engine.handle('GET', '/v1/users')).body.count, 0)
  })
})
