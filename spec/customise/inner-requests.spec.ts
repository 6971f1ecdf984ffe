/** Inner requests: `ctx.ask` in routes, wrappers and rules, and routes that write as one transaction. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { auth, createServer, resource, RestEngine, RestError } from '../../lib/index.ts'
import type { EngineOptions, HookContext, ResourceDefinition, Route } from '../../lib/index.ts'
import { describeStores, createEngine } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import { Note, User, world, logIn, bearer, HASH, PASSWORD } from '../auth/world.ts'
import { Item, Shop, data, entities, start } from './world.ts'

type Handler = (ctx: HookContext) => unknown

/** A route that answers with what its function returns. */
const route = (method: string, path: string, ask: Handler, more: Partial<Route> = {}): Route => ({
  method,
  path,
  handler: async ctx => ({ body: (await ask(ctx)) ?? null }),
  ...more,
})

describe('ctx.ask', () => {
  it('gives the records, the record or the value that the answer carries', async () => {
    await using asked = await start({
      routes: [
        route('GET', '/{version}/report', async ctx => ({
          list: await ctx.ask('GET', '/items', { sort: 'id.desc', limit: 2, attributes: 'name' }),
          one: await ctx.ask('GET', '/shops/1?attributes=name'),
          value: await ctx.ask('GET', '/shops/2/name'),
          linked: await ctx.ask('GET', '/items/1/shop', { attributes: 'id' }),
          own: await ctx.ask('GET', '/plain'),
          nothing: (await ctx.ask('OPTIONS', '/items')) ?? 'nothing',
        })),
        route('GET', '/{version}/plain', () => ['of', 'the', 'route']),
      ],
    })
    const { status, body } = await asked.get('/v1/report')
    assert.equal(status, 200, String(asked.failures))
    assert.deepEqual(body.list.length, 2)
    assert.deepEqual([body.one, body.value, body.own, body.nothing], [{ name: 'north' }, 'south', ['of', 'the', 'route'], 'nothing'])
    assert.deepEqual(Object.keys(body.linked), ['id'])
  })

  it('creates, changes and deletes', async () => {
    await using asked = await start({
      routes: [
        route('POST', '/{version}/round', async ctx => {
          const created = await ctx.ask('POST', '/shops', { attributes: 'id,name' }, ctx.data)
          const changed = await ctx.ask('PUT', `/shops/${created.id}`, { attributes: 'name' }, { name: 'changed' })
          const deleted = await ctx.ask('DELETE', `/shops/${created.id}`, { attributes: 'name' })
          return { created, changed, deleted }
        }),
      ],
    })
    const { body } = await asked.call('POST', '/v1/round', undefined, { id: 9, name: 'new' })
    assert.deepEqual(body, { created: { id: 9, name: 'new' }, changed: { name: 'changed' }, deleted: { name: 'changed' } })
    assert.equal((await asked.get('/v1/shops/9')).status, 404)
  })

  it('stands below the base and the version of the request', async () => {
    const routes = [route('GET', '/{version}/mine', ctx => ctx.ask('GET', '/shops/1/name'))]
    await using based = await start({ base: '/api', versions: ['v1', 'v2'], routes })
    assert.equal((await based.get('/api/v2/mine')).body, 'north')
    await using bare = await start({ versions: [], routes: [route('GET', '/mine', ctx => ctx.ask('GET', '/shops/1/name'))] })
    assert.equal((await bare.get('/mine')).body, 'north')
  })

  it('throws what the answer says, which the request is answered with', async () => {
    const caught: unknown[] = []
    await using asked = await start({
      routes: [
        route('GET', '/{version}/missing', ctx => ctx.ask('GET', '/shops/99')),
        route('POST', '/{version}/wrong', ctx => ctx.ask('POST', '/shops', {}, { id: 'x', nam: 1 })),
        route('GET', '/{version}/paid', ctx => ctx.ask('GET', '/payment')),
        { method: 'GET', path: '/{version}/payment', handler: () => ({ status: 402, body: { pay: 'first' } }) },
        route('GET', '/{version}/caught', ctx => ctx.ask('GET', '/shops/99').catch(error => (caught.push(error), { none: true }))),
        route('GET', '/{version}/broken', ctx => ctx.ask('GET', '/breaks')),
        route('GET', '/{version}/breaks', () => {
          throw new Error('secret')
        }),
      ],
    })
    const direct = await asked.get('/v1/shops/99')
    const missing = await asked.get('/v1/missing')
    assert.deepEqual([missing.status, { ...missing.body, timestamp: 0 }], [404, { ...direct.body, timestamp: 0 }])
    const refused = await asked.call('POST', '/v1/shops', {}, { id: 'x', nam: 1 })
    const wrong = await asked.call('POST', '/v1/wrong', {}, {})
    assert.deepEqual([wrong.status, wrong.body.errors], [422, refused.body.errors])
    const paid = await asked.get('/v1/paid')
    assert.deepEqual([paid.status, paid.body], [402, { pay: 'first' }])
    assert.deepEqual((await asked.get('/v1/caught')).body, { none: true })
    assert.ok(caught[0] instanceof RestError && caught[0].status === 404 && caught[0].code === 'record_not_found')
    assert.deepEqual([(await asked.get('/v1/broken')).status, asked.failures.length], [500, 1], 'reported once')
  })

  it('refuses arguments that are not of their form', async () => {
    const wrong: [Handler, RegExp][] = [
      [ctx => ctx.ask('GET', 'shops'), /ctx\.ask: the path must begin with "\/"/],
      [ctx => ctx.ask('GET', '/v1/shops'), /ctx\.ask: paths stand below "\/v1".*write "\/shops"/],
      [ctx => ctx.ask('GET', '/shops', {}, undefined, { as: 'root' as 'engine' }), /"as" must be "engine", got "root"/],
      [ctx => ctx.ask('GET', '/shops', {}, undefined, { is: 'engine' } as never), /ctx\.ask: unknown option "is"/],
      [ctx => ctx.ask('POST', '/shops', {}, { name: 1n }), /handle: body/],
    ]
    await using asked = await start({ routes: wrong.map(([ask], index) => route('GET', `/{version}/wrong-${index}`, ask)) })
    for (const [index, [, message]] of wrong.entries()) {
      assert.equal((await asked.get(`/v1/wrong-${index}`)).status, 500)
      assert.match(String(asked.failures[index]), message)
    }
  })

  it('gets the resource behind a route that asks for its own path', async () => {
    await using asked = await start({
      routes: [
        route('GET', '/{version}/shops', async ctx => ({ own: await ctx.ask('GET', '/shops', { attributes: 'id' }) })),
        route('GET', '/{version}/here', ctx => ctx.ask('GET', '/there')),
        route('GET', '/{version}/there', ctx => ctx.ask('GET', '/here')),
      ],
    })
    assert.deepEqual((await asked.get('/v1/shops')).body, { own: [{ id: 1 }, { id: 2 }, { id: 3 }] })
    assert.equal((await asked.get('/v1/here')).status, 404, 'two routes that ask for each other come to an end')
  })

  it('is what an error names where code asks itself without end', async () => {
    for (const journal of [undefined, 0])
      for (const [line, options] of Object.entries<Partial<EngineOptions>>({
        'GET /v1/latest': { routes: [{ method: 'GET', path: '/v1/latest', handler: ctx => ctx.engine.handle('GET', '/v1/latest') }] },
        'POST /v1/latest': { routes: [{ method: 'POST', path: '/v1/latest', handler: ctx => ctx.engine.handle('POST', '/v1/latest') }] },
        'GET /v1/shops': { resources: [resource(Shop, { list: ctx => ctx.engine.handle('GET', '/v1/shops') as never })] },
        'GET /v1/items': {
          resources: [resource(Item, { access: async ctx => (await ctx.engine.handle('GET', '/v1/items')).status === 200 })],
        },
      })) {
        const failures: unknown[] = []
        await using engine = await RestEngine.create({
          entities,
          seed: data,
          ...(journal === undefined ? {} : { journal }),
          ...options,
          onError: error => failures.push(error),
        })
        const { status } = await engine.send(line)
        assert.equal(status, line === 'GET /v1/items' ? 403 : 500, line)
        assert.match(String(failures[0]), /stands inside of 100 requests, .*asks itself, without end\. "ctx\.ask" gives what/, line)
        // Requests that have ended are not around those that they have left behind.
        assert.equal((await engine.send('GET /v1')).status, 200)
      }
  })

  it('may stand in a route that asks for others over and over, one after another', async () => {
    let begun = 0
    const statuses: number[] = []
    const { promise: done, resolve: end } = Promise.withResolvers<void>()
    const tick = async (ctx: HookContext): Promise<void> => {
      statuses.push((await ctx.engine.handle('GET', '/v1/tick')).status)
      if (statuses.length === 300) end()
    }
    await using engine = await RestEngine.create({
      entities,
      seed: data,
      routes: [
        {
          method: 'GET',
          path: '/v1/tick',
          handler: ctx => {
            if (begun++ < 300) setImmediate(() => void tick(ctx))
            return { body: 1 }
          },
        },
      ],
    })
    await engine.send('GET /v1/tick')
    await done
    assert.deepEqual(new Set(statuses), new Set([200]))
  })

  it('hands on headers of the caller, and none that is about another message', async () => {
    const seen: Readonly<Record<string, string>>[] = []
    await using asked = await start({
      resources: [resource(Shop, { get: (ctx, next) => (seen.push(ctx.headers), next()) })],
      routes: [route('GET', '/{version}/first', ctx => ctx.ask('GET', '/shops/1'))],
    })
    await asked.call('GET', '/v1/first', {}, undefined, {
      'X-Tenant': 'a',
      accept: 'text/csv',
      'if-none-match': '*',
      'content-type': 'a/b',
    })
    assert.deepEqual(seen, [{ 'x-tenant': 'a' }])
  })

  it('writes nothing for a caller that may only read', async () => {
    await using asked = await start({
      readOnly: true,
      routes: [route('GET', '/{version}/sly', ctx => ctx.ask('POST', '/shops', {}, { name: 'x' }, { as: 'engine' }))],
    })
    assert.equal((await asked.get('/v1/sly')).status, 405)
  })

  it('writes nothing by a way in that is read-only, while the engine takes writes', async () => {
    await using asked = await start({
      routes: [route('GET', '/{version}/sly', ctx => ctx.ask('POST', '/shops', {}, { name: 'x' }, { as: 'engine' }))],
    })
    const server = createServer(asked.engine, { readOnly: true }).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      assert.equal((await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/sly`)).status, 405)
      assert.equal((await asked.get('/v1/sly')).status, 200)
    } finally {
      server.close()
    }
  })
})

const ruled: ResourceDefinition[] = [
  resource(Item, {
    access: { list: true, get: true, create: false, update: false, delete: false },
    scope: () => ({ name: { $ne: 'banana' } }),
  }),
]

describe('ctx.ask as the engine', () => {
  it('asks past access rules and scopes, and the caller does not', async () => {
    const options = { as: 'engine' } as const
    await using asked = await start({
      resources: ruled,
      parameters: { q: value => ({ name: { $like: `%${value}%` } }) },
      routes: [
        route('GET', '/{version}/counts', async ctx => ({
          caller: (await ctx.ask('GET', '/items')).length,
          engine: (await ctx.ask('GET', '/items', {}, undefined, options)).length,
          found: (await ctx.ask('GET', '/items', { q: 'banana', attributes: 'name' }, undefined, options)).length,
          hidden: (await ctx.ask('GET', '/items', { q: 'banana', attributes: 'name' })).length,
        })),
        route('POST', '/{version}/made', ctx => ctx.ask('POST', '/items', { attributes: 'name' }, { name: 'pear' }, options)),
        route('POST', '/{version}/refused', ctx => ctx.ask('POST', '/items', {}, { name: 'pear' })),
      ],
    })
    assert.deepEqual((await asked.get('/v1/counts')).body, { caller: 3, engine: 4, found: 1, hidden: 0 })
    assert.deepEqual((await asked.call('POST', '/v1/made')).body, { name: 'pear' })
    assert.equal((await asked.call('POST', '/v1/refused')).status, 403)
    assert.equal((await asked.call('POST', '/v1/items', {}, { name: 'pear' })).status, 403, 'nothing of it stays')
  })

  it('answers a rule that asks for what it decides about', async () => {
    await using asked = await start({
      resources: [
        resource(Shop, {
          access: async ctx => (await ctx.ask('GET', '/shops', { name: 'north' }, undefined, { as: 'engine' })).length === 1,
          scope: async ctx => ({ id: (await ctx.ask('GET', '/shops', { sort: 'id.desc' }, undefined, { as: 'engine' }))[0].id }),
        }),
      ],
    })
    assert.deepEqual(await asked.ids('/v1/shops'), [3])
  })
})

const notes = resource(Note, {
  scope: ctx => ({ user: ctx.user?.['id'] ?? null }),
  create: async (ctx, next) => {
    const answer = await next()
    if (ctx.data.text === 'twice') await ctx.ask('POST', '/notes', {}, { text: 'the other', user: 1 })
    if (ctx.data.text === 'broken') throw new RestError(409, 'too_bad', 'Too bad.')
    return answer
  },
})

describeTargets(
  'inner requests of a caller',
  world(
    {},
    {
      resources: [notes],
      routes: [route('GET', '/{version}/mine', ctx => ctx.ask('GET', '/notes', { attributes: 'text' }))],
    },
  ),
  target => {
    it('see what the caller sees, without its headers', async () => {
      const { body } = await logIn(target, { email: 'bob@example.test', password: PASSWORD })
      const ann = await logIn(target)
      const ask = async (token: string): Promise<unknown> =>
        (await target.call('GET', '/v1/mine', undefined, undefined, bearer(token))).body
      assert.deepEqual(await ask(ann.body.auth_token), [{ text: 'first' }])
      assert.deepEqual(await ask(body.auth_token), [])
      assert.equal((await target.call('GET', '/v1/mine')).body.code, 'token_missing')
    })

    it('join the transaction of a wrapper', async () => {
      const ann = bearer((await logIn(target)).body.auth_token)
      const count = async (): Promise<unknown> => (await target.call('GET', '/v1/notes', undefined, undefined, ann)).body.count
      const post = (text: string): ReturnType<typeof target.call> => target.call('POST', '/v1/notes', undefined, { text, user: 1 }, ann)
      assert.equal((await post('twice')).status, 200)
      assert.equal(await count(), 3)
      assert.equal((await post('broken')).body.code, 'too_bad')
      assert.equal(await count(), 3)
    })
  },
)

describeStores('a route that writes', () => {
  const engines: RestEngine[] = []
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close()
  })

  async function served(...routes: Route[]): Promise<(path: string, body?: unknown) => Promise<[number, unknown, string[]]>> {
    const failures: unknown[] = []
    const engine = await createEngine({ entities, seed: { shops: data.shops }, routes, onError: error => failures.push(error) })
    engines.push(engine)
    return async (path, body) => {
      const answer = await engine.handle('POST', path, undefined, body)
      const { body: list } = await engine.handle('GET', '/v1/shops', { 'id>': 3 })
      return [answer.status, answer.body?.code ?? answer.body, list.shops.map(({ name }: { name: string }) => name)]
    }
  }

  const create = (ctx: HookContext, name: string): Promise<unknown> => ctx.ask('POST', '/shops', {}, { name })

  it('is one transaction, which an error and an answer of 400 take back', async () => {
    const post = await served(
      route('POST', '/v1/throws', async ctx => {
        await create(ctx, 'throws')
        throw new RestError(409, 'too_late', 'Too late.')
      }),
      {
        method: 'POST',
        path: '/v1/answers',
        handler: async ctx => {
          await create(ctx, 'answers')
          ctx.em.create(Shop, { id: 77, name: 'by hand' })
          await ctx.em.flush()
          return { status: 418, body: 'teapot' }
        },
      },
      route('POST', '/v1/asks', async ctx => {
        await create(ctx, 'asks')
        await ctx.ask('GET', '/shops/99')
      }),
      route('POST', '/v1/goes', async ctx => {
        await create(ctx, 'goes')
        // What is refused takes back itself alone.
        await ctx.ask('POST', '/shops', {}, { nam: 'x' }).catch(() => undefined)
        await create(ctx, 'on')
        return 'done'
      }),
    )
    assert.deepEqual(await post('/v1/throws'), [409, 'too_late', []])
    assert.deepEqual(await post('/v1/answers'), [418, 'teapot', []])
    assert.deepEqual(await post('/v1/asks'), [404, 'record_not_found', []])
    assert.deepEqual(await post('/v1/goes'), [200, 'done', ['goes', 'on']])
  })

  it('keeps what it has written where it says that it is no transaction', async () => {
    const post = await served(
      route(
        'POST',
        '/v1/throws',
        async ctx => {
          await create(ctx, 'stays')
          throw new RestError(409, 'too_late', 'Too late.')
        },
        { transaction: false },
      ),
    )
    assert.deepEqual(await post('/v1/throws'), [409, 'too_late', ['stays']])
  })

  it('that breaks a uniqueness by hand is a 409 that names the attribute', async () => {
    const engine = await createEngine({
      entities: [User, Note],
      auth: auth({ entity: User, secret: 's', public: ['* /*'] }),
      seed: { users: [{ id: 1, name: 'Ann', email: 'a@x.test', password: HASH }] },
      routes: [
        route('POST', '/v1/register', async ctx => {
          ctx.em.create(User, ctx.data)
          await ctx.em.flush()
        }),
      ],
    })
    engines.push(engine)
    const ann = { name: 'Eve', email: 'a@x.test', password: HASH }
    const { status, body } = await engine.handle('POST', '/v1/register', undefined, ann)
    assert.deepEqual([status, body.code, body.errors?.[0]?.attribute], [409, 'unique_conflict', 'email'])
  })

  it('that is not true or false is refused', async () => {
    await assert.rejects(
      createEngine({ entities, routes: [route('POST', '/v1/x', () => 1, { transaction: 'no' as never })] }),
      /routes: "transaction" of POST \/v1\/x must be true or false/,
    )
  })
})
