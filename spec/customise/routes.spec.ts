/** Custom routes, which come before the default ones. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { createServer, RestEngine, RestError } from '../../lib/index.ts'
import type { HookContext, Route } from '../../lib/index.ts'
import { entities, Shop, rows, start } from './world.ts'

const route = (method: string, path: string, handler: Route['handler'] = () => ({ body: {} })): Route => ({ method, path, handler })

describe('a custom route', () => {
  it('comes before the default ones, and gives status, headers and body', async () => {
    await using asked = await start({
      routes: [route('GET', '/{version}/items/best', () => ({ status: 203, headers: { 'X-Best': 'yes' }, body: { best: 1 } }))],
    })
    const { status, headers, body } = await asked.get('/v1/items/best')
    assert.deepEqual([status, headers['x-best'], body], [203, 'yes', { best: 1 }])
    assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
    assert.equal((await asked.get('/v1/items/1')).body.item.id, 1)
  })

  it('takes the place of a default one for its method alone', async () => {
    await using asked = await start({ routes: [route('POST', '/v1/items', () => ({ status: 200, body: { mine: true } }))] })
    assert.deepEqual((await asked.call('POST', '/v1/items', {}, { name: 'x' })).body, { mine: true })
    assert.equal((await asked.get('/v1/items')).body.count, 4)
  })

  it('has the decoded parts of its path, the query, the body and the headers in its context', async () => {
    const contexts: HookContext[] = []
    await using asked = await start({
      versions: ['v1', 'v3'],
      routes: [route('PUT', '/{version}/shops/{shop}/report/{name}', ctx => (contexts.push(ctx), { body: null }))],
    })
    await asked.call('PUT', '/v3/shops/a%2Fb/report/%C3%A9~1', 'from=1&to>=2&from=3', { x: [1] }, { 'x-a': 'b' })
    const [ctx] = contexts
    assert.deepEqual(ctx!.params, { version: 'v3', shop: 'a/b', name: 'é~1' })
    assert.deepEqual({ ...ctx!.query }, { from: ['1', '3'], 'to>=': '2' })
    assert.deepEqual(ctx!.data, { x: [1] })
    assert.deepEqual([ctx!.version, ctx!.method, ctx!.headers['x-a'], ctx!.action, ctx!.resource], ['v3', 'PUT', 'b', undefined, undefined])
  })

  it('may ask the engine, and answer with its answer', async () => {
    await using asked = await start({
      routes: [route('GET', '/{version}/shops/first', ctx => ctx.engine.handle('GET', `/${ctx.version}/shops/1`, ctx.query))],
    })
    const { status, body } = await asked.get('/v1/shops/first', { attributes: 'name' })
    assert.deepEqual([status, body.shop], [200, { name: 'north' }])
    assert.equal((await asked.get('/v1/shops/first', { nope: 1 })).status, 400)
  })

  it('may use the entity manager', async () => {
    await using asked = await start({
      routes: [
        route('POST', '/{version}/open', async ctx => {
          ctx.em.create(Shop, { id: 9, name: 'nine' })
          await ctx.em.flush()
          return { status: 201, body: { id: 9 } }
        }),
      ],
    })
    assert.equal((await asked.call('POST', '/v1/open')).status, 201)
    assert.equal((await rows(asked.engine, 'select name from shop where id = 9')).length, 1)
  })

  it('refuses by a RestError, and is a 500 without its text when it throws anything else', async () => {
    await using asked = await start({
      routes: [
        route('GET', '/v1/refuses', () => {
          throw new RestError(402, 'pay_first', 'Pay first.')
        }),
        route('GET', '/v1/throws', () => {
          throw new Error('secret')
        }),
        route('GET', '/v1/nothing', () => undefined as never),
        route('GET', '/v1/wrong', () => ({ boddy: 1 }) as never),
        route('GET', '/v1/empty', () => ({ status: 204 })),
      ],
    })
    const { status, body } = await asked.get('/v1/refuses')
    assert.deepEqual([status, body.code, body.success], [402, 'pay_first', false])
    for (const path of ['/v1/throws', '/v1/nothing', '/v1/wrong']) {
      const answer = await asked.get(path)
      assert.equal(answer.status, 500)
      assert.doesNotMatch(JSON.stringify(answer.body), /secret|boddy|handler/)
    }
    assert.match(String(asked.failures[1]), /the handler of GET \/v1\/nothing/)
    assert.match(String(asked.failures[2]), /the handler of GET \/v1\/wrong.*"boddy".*Did you mean "body"\?/)
    assert.deepEqual(await asked.get('/v1/empty'), { status: 204, headers: {}, body: undefined })
  })

  it('that gives a header that cannot be sent is a 500, and the server goes on', async () => {
    await using asked = await start({
      routes: [
        route('GET', '/v1/broken', () => ({ headers: { 'x-a': 'a\nb' }, body: 1 })),
        route('GET', '/v1/nameless', () => ({ headers: { 'x a': 'b' }, body: 1 })),
        route('GET', '/v1/number', () => ({ headers: { 'x-count': 5 as never }, body: 1 })),
        route('GET', '/v1/refuses', () => {
          throw new RestError(429, 'later', 'Later.', { headers: { 'retry-after': '1\r\nset-cookie: a=b' } })
        }),
      ],
    })
    const server = createServer(asked.engine).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
      for (const path of ['/v1/broken', '/v1/nameless', '/v1/refuses']) assert.equal((await get(path)).status, 500, path)
      assert.match(String(asked.failures[0]), /the handler of GET \/v1\/broken: the header "x-a" cannot be sent/)
      assert.match(String(asked.failures[2]), /RestError: the header "retry-after" cannot be sent/)
      assert.equal((await get('/v1/number')).headers.get('x-count'), '5')
    } finally {
      server.close()
    }
  })

  it('the earlier of two comes first', async () => {
    await using asked = await start({
      routes: [route('GET', '/v1/x/fixed', () => ({ body: 'fixed' })), route('GET', '/v1/x/{any}', ctx => ({ body: ctx.params['any'] }))],
    })
    assert.equal((await asked.get('/v1/x/fixed')).body, 'fixed')
    assert.equal((await asked.get('/v1/x/other')).body, 'other')
    assert.equal((await asked.get('/v1/x/fixed/')).body, 'fixed', 'one trailing slash is ignored')
  })

  it('does not answer to an unknown version', async () => {
    await using asked = await start({ routes: [route('GET', '/{version}/x')] })
    const { status, body } = await asked.get('/v7/x')
    assert.deepEqual([status, body.code], [404, 'version_unknown'])
  })

  it('is named in Allow', async () => {
    await using asked = await start({ routes: [route('DELETE', '/v1/items'), route('REPORT', '/v1/items')] })
    const { status, headers } = await asked.call('PUT', '/v1/items', {}, {})
    assert.equal(status, 405)
    assert.deepEqual(headers['allow']!.split(', ').toSorted(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'QUERY', 'REPORT'])
    assert.equal((await asked.call('REPORT', '/v1/items')).status, 200)
  })

  it('of a path that is no resource answers other methods with 405', async () => {
    await using asked = await start({ routes: [route('GET', '/{version}/health'), route('POST', '/{version}/health')] })
    const { status, headers } = await asked.call('DELETE', '/v1/health')
    assert.equal(status, 405)
    assert.match(headers['allow'] ?? '', /GET.*POST/)
  })

  it('of GET answers HEAD, without a body', async () => {
    await using asked = await start({
      routes: [route('GET', '/{version}/health', () => ({ headers: { 'x-up': '1' }, body: { up: true } }))],
    })
    const { status, headers, body } = await asked.call('HEAD', '/v1/health')
    assert.deepEqual([status, headers['x-up'], body], [200, '1', undefined])
  })

  const WRONG: [string, unknown, RegExp][] = [
    [
      'shadowed by an equal one',
      [route('GET', '/v1/x'), route('GET', '/v1/x')],
      /GET \/v1\/x can never be reached, since GET \/v1\/x comes before/,
    ],
    ['shadowed by a wider one', [route('GET', '/{version}/{a}'), route('GET', '/v1/x')], /GET \/v1\/x can never be reached/],
    ['shadowed by one of other names', [route('GET', '/v1/{a}/{b}'), route('GET', '/v1/{c}/x')], /can never be reached/],
    ['without a version', [route('GET', '/health')], /GET \/health must begin with "\/\{version\}" or one of the versions v1/],
    ['of an unknown version', [route('GET', '/v2/health')], /must begin with/],
    ['with another name for the version', [route('GET', '/{any}/health')], /must begin with/],
    ['without a slash', [route('GET', 'v1/x')], /must begin with "\/"/],
    ['with an empty segment', [route('GET', '/v1//x')], /no empty segment/],
    ['with a slash at the end', [route('GET', '/v1/x/')], /no empty segment/],
    ['with a query', [route('GET', '/v1/x?a=1')], /no query/],
    ['with half a name', [route('GET', '/v1/x{a}')], /"x\{a\}" must be a whole segment/],
    ['with a name that is none', [route('GET', '/v1/{a-b}')], /must be a whole segment/],
    ['with two parts of one name', [route('GET', '/v1/{a}/{a}')], /two parts "\{a\}"/],
    ['with a method in lower case', [route('get', '/v1/x')], /"method" must be an upper-case/],
    ['without a method', [{ path: '/v1/x', handler: () => ({}) }], /"method"/],
    ['without a path', [{ method: 'GET', handler: () => ({}) }], /path/],
    ['without a handler', [{ method: 'GET', path: '/v1/x' }], /GET \/v1\/x has no handler function/],
    ['with an unknown option', [{ ...route('GET', '/v1/x'), handlr: 1 }], /routes: unknown option "handlr"\. Did you mean "handler"\?/],
    ['that is nothing', [undefined], /routes: each must be/],
    ['that is not in a list', { method: 'GET' }, /"routes" must be an array/],
  ]
  for (const [what, routes, message] of WRONG) {
    it(`is refused when the engine is created: ${what}`, () =>
      assert.rejects(RestEngine.create({ entities, routes: routes as Route[] }), message))
  }
})
