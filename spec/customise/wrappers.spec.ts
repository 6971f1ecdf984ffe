/** Wrappers: own list, get, create, update and delete behaviour around the default one, or in its place. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RestError, resource } from '../../lib/index.ts'
import type { HookContext, QueryInput, ResourceConfig, Wrapper } from '../../lib/index.ts'
import { Item, Label, Shop, rows, start } from './world.ts'
import type { Asked } from './world.ts'

const REQUESTS = [
  ['list', 'GET', '/v1/items', undefined],
  ['get', 'GET', '/v1/items/1', undefined],
  ['create', 'POST', '/v1/items', { name: 'new' }],
  ['update', 'PUT', '/v1/items/1', { name: 'new' }],
  ['delete', 'DELETE', '/v1/items/4', undefined],
] as const

function wrapped(config: ResourceConfig<never>): Promise<Asked> {
  return start({ resources: [resource(Item, config as never)] })
}

async function itemsOf({ engine }: Asked): Promise<unknown> {
  return rows(engine, 'select * from item order by id')
}

describe('a wrapper', () => {
  it('runs SQL of its own in the transaction of a write', async () => {
    let counts: number[] = []
    await using asked = await wrapped({
      create: async (ctx, next) => {
        const count = async (): Promise<number> =>
          (await ctx.em.execute<{ n: number }[]>('select count(*) as n from item where name = ?', ['new']))[0]!.n
        const before = await count()
        await ctx.em.execute('insert into item (name) values (?)', ['new'], 'run')
        await next()
        counts = [before, await count()]
        throw new RestError(418, 'teapot', 'I am one.')
      },
    })
    assert.equal((await asked.call('POST', '/v1/items', {}, { name: 'new' })).status, 418)
    assert.deepEqual(counts, [0, 2])
    assert.deepEqual(await rows(asked.engine, `select * from item where name = 'new'`), [])
  })

  for (const [action, method, path, body] of REQUESTS) {
    describe(`of ${action}`, () => {
      it('goes round the default behaviour', async () => {
        await using asked = await wrapped({ [action]: (async (_ctx, next) => next()) satisfies Wrapper })
        await using plain = await start()
        const one = await asked.call(method, path, {}, body)
        const other = await plain.call(method, path, {}, body)
        for (const answer of [one, other]) delete answer.body.timestamp
        assert.deepEqual(one, other)
      })

      it('changes the answer: status, headers and body', async () => {
        await using asked = await wrapped({
          [action]: (async (_ctx, next) => {
            const { body: given } = await next()
            return { status: 202, headers: { 'X-Wrapped': 'yes' }, body: { wrapped: given } }
          }) satisfies Wrapper,
        })
        const answer = await asked.call(method, path, {}, body)
        assert.equal(answer.status, 202)
        assert.equal(answer.headers['x-wrapped'], 'yes')
        assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
        assert.equal(answer.body.wrapped.success, true)
      })

      it('replaces the behaviour, at once or later', async () => {
        await using asked = await wrapped({ [action]: () => ({ body: { mine: true } }) })
        const before = await itemsOf(asked)
        const answer = await asked.call(method, path, {}, body)
        assert.deepEqual([answer.status, answer.body], [200, { mine: true }])
        assert.deepEqual(await itemsOf(asked), before)
      })

      it('refuses by a RestError, before or after, and then nothing is written', async () => {
        for (const late of [false, true]) {
          await using asked = await wrapped({
            [action]: (async (_ctx, next) => {
              if (late) await next()
              throw new RestError(418, 'teapot', 'I am one.', { headers: { 'retry-after': '5' } })
            }) satisfies Wrapper,
          })
          const before = await itemsOf(asked)
          const answer = await asked.call(method, path, {}, body)
          assert.deepEqual(
            [answer.status, answer.body.code, answer.body.detail, answer.headers['retry-after']],
            [418, 'teapot', 'I am one.', '5'],
          )
          assert.equal(answer.body.success, false)
          assert.deepEqual(await itemsOf(asked), before)
          assert.deepEqual(asked.failures, [])
        }
      })

      for (const thrown of [
        new Error('secret text'),
        new TypeError('handle: secret text'),
        'secret text',
        undefined,
        null,
        { secret: 'text' },
      ]) {
        it(`that throws ${thrown instanceof Error ? `a ${thrown.name}` : JSON.stringify(thrown)} is a 500 without it, written back, and told to onError`, async () => {
          await using asked = await wrapped({
            [action]: (async (_ctx, next) => {
              await next()
              throw thrown
            }) satisfies Wrapper,
          })
          const before = await itemsOf(asked)
          const answer = await asked.call(method, path, {}, body)
          assert.equal(answer.status, 500)
          assert.equal(answer.body.code, 'internal_error')
          assert.doesNotMatch(JSON.stringify(answer.body), /secret/)
          assert.deepEqual(await itemsOf(asked), before)
          assert.equal(asked.failures.length, 1)
          assert.ok(Object.is(asked.failures[0], thrown))
        })
      }

      const WRONG: [string, unknown][] = [
        ['nothing', undefined],
        ['a text', 'ok'],
        ['an unknown name', { status: 200, boddy: {} }],
        ['a status that is none', { status: 99 }],
        ['a status as text', { status: '200' }],
        ['a body that is not JSON', { body: { a: 1n } }],
      ]
      it('that answers what is no response is a 500 that names the place to onError, written back', async () => {
        for (const [what, given] of WRONG) {
          await using asked = await wrapped({
            [action]: (async (_ctx, next) => {
              await next()
              return given as never
            }) satisfies Wrapper,
          })
          const before = await itemsOf(asked)
          assert.equal((await asked.call(method, path, {}, body)).status, 500, what)
          assert.match(String(asked.failures[0]), new RegExp(`the ${action} handler of items`), what)
          assert.deepEqual(await itemsOf(asked), before, what)
        }
      })

      it('may catch what the behaviour refuses', async () => {
        await using asked = await wrapped({
          [action]: (async (_ctx, next) => {
            try {
              return await next()
            } catch (error) {
              return { status: 299, body: { caught: (error as RestError).code } }
            }
          }) satisfies Wrapper,
        })
        const bad = method === 'GET' || method === 'DELETE' ? { nope: 'x' } : {}
        const wrong: [string, unknown, QueryInput?] =
          action === 'list' ? [path, undefined, bad] : action === 'create' ? [path, {}] : ['/v1/items/99', { name: 'x' }]
        const answer = await asked.call(method, wrong[0], wrong[2], wrong[1])
        assert.equal(answer.status, 299, JSON.stringify(answer.body))
        assert.match(answer.body.caught, /^(parameter_invalid|validation_failed|record_not_found)$/)
      })
    })
  }

  it('runs only when the action is allowed', async () => {
    let ran = 0
    const wrapper: Wrapper = async (_ctx, next) => (ran++, next())
    await using asked = await wrapped({ access: false, list: wrapper, get: wrapper, create: wrapper, update: wrapper, delete: wrapper })
    for (const [, method, path, body] of REQUESTS) assert.equal((await asked.call(method, path, {}, body)).status, 403)
    assert.equal(ran, 0)
  })

  it('is told of the request, and shares a state with other hooks', async () => {
    const seen: Record<string, unknown>[] = []
    await using asked = await start({
      resources: [
        resource(Item, {
          access: ctx => ((ctx.state['from'] = 'access'), true),
          attributes: { name: { render: (name, _, ctx) => `${name} ${String(ctx.state['note'])}` } },
          update: async (ctx, next) => {
            const {
              action,
              version,
              resource: called,
              id,
              attribute,
              method,
              path,
              query,
              user,
              claims,
              logsIn,
              headers,
              params,
              state,
            } = ctx
            seen.push({
              action,
              version,
              called,
              id,
              attribute,
              method,
              path,
              query,
              user,
              claims,
              logsIn,
              agent: headers['x-agent'],
              params,
              from: state['from'],
            })
            ctx.state['note'] = 'noted'
            return next()
          },
        }),
      ],
    })
    const { body } = await asked.call('PATCH', '/v1/items/1', 'depth=0&expand=tags', { price: 5 }, { 'x-agent': 'spec' })
    assert.equal(body.item.name, 'apple noted')
    assert.deepEqual(
      { ...seen[0], query: { ...(seen[0]!['query'] as object) } },
      {
        action: 'update',
        version: 'v1',
        called: 'items',
        id: '1',
        attribute: undefined,
        method: 'PATCH',
        path: '/v1/items/1',
        query: { depth: '0', expand: 'tags' },
        user: undefined,
        claims: undefined,
        logsIn: false,
        agent: 'spec',
        params: {},
        from: 'access',
      },
    )
  })

  it('is given query parameters by name with operator, repeated ones as arrays', async () => {
    let query: unknown
    await using asked = await wrapped({
      list: async (ctx: HookContext, next: () => never) => ((query = { ...ctx.query }), next()),
    } as never)
    await asked.get('/v1/items?price>=5&name=a*&name=*e&!id=9&code!=x&sort=name')
    assert.deepEqual(query, { 'price>=': '5', name: ['a*', '*e'], '!id': '9', 'code!=': 'x', sort: 'name' })
  })

  describe('changes the body', () => {
    it('by another value', async () => {
      await using asked = await wrapped({
        create: (async (ctx, next) => ((ctx.data = { ...(ctx.data as object), price: 7 }), next())) satisfies Wrapper,
      })
      assert.equal((await asked.call('POST', '/v1/items', {}, { name: 'x' })).body.item.price, 7)
    })

    it('in place, which leaves alone what the caller has handed in', async () => {
      await using asked = await wrapped({
        update: (async (ctx, next) => {
          ;(ctx.data as { price: number; tags: number[] }).price *= 2
          ;(ctx.data as { tags: number[] }).tags.push(3)
          return next()
        }) satisfies Wrapper,
      })
      const body = { price: 4, tags: [1] }
      const answer = await asked.call('PUT', '/v1/items/1', {}, body)
      assert.deepEqual([answer.body.item.price, answer.body.item.tags], [8, [1, 3]])
      assert.deepEqual(body, { price: 4, tags: [1] })
    })

    it('of an attribute path', async () => {
      await using asked = await wrapped({ update: (async (ctx, next) => ((ctx.data = Number(ctx.data) + 1), next())) satisfies Wrapper })
      assert.equal((await asked.call('PUT', '/v1/items/1/price', {}, 41)).body.item.price, 42)
    })

    it('and what it puts is held against the model, and must be JSON', async () => {
      await using asked = await wrapped({
        create: (async (ctx, next) => ((ctx.data = (ctx.data as { put: unknown }).put ?? 1n), next())) satisfies Wrapper,
      })
      assert.equal((await asked.call('POST', '/v1/items', {}, { put: { price: 'x' } })).status, 422)
      assert.equal((await asked.call('POST', '/v1/items', {}, { put: 'x' })).status, 400)
      assert.equal((await asked.call('POST', '/v1/items', {}, {})).status, 500)
      assert.match(String(asked.failures[0]), /body that a handler has put/)
    })
  })

  it('of a write takes part in its transaction: with its entity manager, and by asking the engine', async () => {
    const wrapper =
      (fail: boolean): Wrapper =>
      async (ctx, next) => {
        const response = await next()
        ctx.em.create(Shop, { id: 50, name: 'from the hook' })
        await ctx.em.flush()
        const made = await ctx.engine.handle('POST', '/v1/labels', {}, { text: 'from the hook' })
        assert.equal(made.status, 200)
        const read = await ctx.engine.handle('GET', '/v1/items', { name: 'x' })
        assert.equal((read.body as { count: number }).count, 1, 'sees what is not committed yet')
        if (fail) throw new Error('no')
        return response
      }
    for (const fail of [true, false]) {
      await using asked = await wrapped({ create: wrapper(fail) })
      assert.equal((await asked.call('POST', '/v1/items', {}, { name: 'x' })).status, fail ? 500 : 200, String(asked.failures))
      const left = [
        ...(await rows(asked.engine, `select id from item where name = 'x'`)),
        ...(await rows(asked.engine, 'select id from shop where id = 50')),
        ...(await rows(asked.engine, `select id from label where text = 'from the hook'`)),
      ]
      assert.equal(left.length, fail ? 0 : 3)
    }
  })

  it('may go on after a refused write, of which nothing stays', async () => {
    await using asked = await wrapped({
      create: (async (ctx, next) => {
        try {
          return await next()
        } catch {
          ctx.data = { ...(ctx.data as object), code: 'other' }
          return next()
        }
      }) satisfies Wrapper,
    })
    const answer = await asked.call('POST', '/v1/items', {}, { name: 'x', code: 'A', label: { text: 'y' } })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal((await rows(asked.engine, `select id from label where text = 'y'`)).length, 1)
  })

  it('of a reading may write, and ask the engine', async () => {
    await using asked = await wrapped({
      get: (async (ctx, next) => {
        await ctx.engine.handle('PUT', `/v1/items/${ctx.id}`, {}, { price: 1000 })
        return next()
      }) satisfies Wrapper,
    })
    assert.equal((await asked.get('/v1/items/1')).body.item.price, 1000)
  })

  it('runs for HEAD too, of which the body is left out', async () => {
    const methods: string[] = []
    await using asked = await wrapped({ get: (async (ctx, next) => (methods.push(ctx.method), next())) satisfies Wrapper })
    const answer = await asked.call('HEAD', '/v1/items/1')
    assert.deepEqual([answer.status, answer.body, methods], [200, undefined, ['HEAD']])
  })

  it('of two requests at once does not mix them up', async () => {
    await using asked = await wrapped({
      update: (async (ctx, next) => {
        ctx.state['mine'] = ctx.id
        await new Promise(resolve => setTimeout(resolve, 5))
        ctx.data = { secret: String(ctx.state['mine']) }
        return next()
      }) satisfies Wrapper,
    })
    const answers = await Promise.all([1, 2, 3, 4].map(id => asked.call('PUT', `/v1/items/${id}`, {}, {})))
    assert.deepEqual(
      answers.map(({ body }) => body.item.secret),
      ['1', '2', '3', '4'],
    )
  })

  describe('on the path of an attribute', () => {
    // The ID is that of a record of the resource that is told.
    const PATHS: [string, string, unknown, string][] = [
      ['GET', '/v1/items/1/name', undefined, 'items get 1 name'],
      ['PUT', '/v1/items/1/name', 'x', 'items update 1 name'],
      ['GET', '/v1/items/1/shop', undefined, 'shops get  shop'],
      ['GET', '/v1/shops/1/items', undefined, 'items list  items'],
      ['POST', '/v1/shops/1/items', { name: 'x' }, 'items create  items'],
      ['PUT', '/v1/shops/1/items', [1, 2], 'shops update 1 items'],
      ['DELETE', '/v1/shops/1/items', undefined, 'items delete  items'],
      ['PUT', '/v1/items/1/shop', 2, 'items update 1 shop'],
      ['DELETE', '/v1/items/1/label', undefined, 'labels delete  label'],
    ]
    for (const [method, path, body, expected] of PATHS) {
      it(`${method} ${path} runs the one of "${expected}"`, async () => {
        const ran: string[] = []
        const wrapper: Wrapper = async (ctx, next) => {
          ran.push([ctx.resource, ctx.action, ctx.id, ctx.attribute].join(' '))
          return next()
        }
        const all = { list: wrapper, get: wrapper, create: wrapper, update: wrapper, delete: wrapper }
        await using asked = await start({ resources: [resource(Item, all), resource(Shop, all), resource(Label, all)] })
        assert.equal((await asked.call(method, path, {}, body)).status, 200)
        assert.deepEqual(ran, [expected])
      })
    }
  })
})
