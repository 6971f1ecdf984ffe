/** The options `base` and `versions`: what is refused, what is told apart without a version, and all that lists or matches paths. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { defineEntity, p } from '@mikro-orm/core'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { auth, createServer, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { Author, Book, create, entities, serve } from './world.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() },
})

/** What is refused, and where. */
async function refusal(engine: RestEngine, method: string, path: string): Promise<[status: number, code: string, detail: string]> {
  const { status, body } = await engine.handle(method, path)
  const { code, detail } = body as { code: string; detail: string }
  return [status, code, detail]
}

describe('the option base', () => {
  it('is a path, and nothing else', async () => {
    for (const [base, message] of [
      ['api', /"base" must be the path before the version, such as "\/api": "api" does not begin with "\/"\. Did you mean "\/api"\?/],
      ['https://api.example.test/api', /does not begin with "\/"\. Did you mean "\/api"\?/],
      ['/api?x=1', /has more than a path\. Did you mean "\/api"\?/],
      ['/api#x', /has more than a path\. Did you mean "\/api"\?/],
      ['//api', /has an empty segment\. Did you mean "\/api"\?/],
      ['/a/../b', /is not as clients send it\. Did you mean "\/b"\?/],
      ['/ä b', /is not as clients send it\. Did you mean "\/%C3%A4%20b"\?/],
      ['/api/v1', /ends with the version "v1", which follows the base anyway\. Did you mean "\/api"\?/],
      ['/v1', /ends with the version "v1".*Did you mean "\/"\?/],
      [5, /5 is not a string/],
      [null, /null is not a string/],
    ] as const) {
      await assert.rejects(create({ base: base as string }), { name: 'TypeError', message })
    }
    for (const [base, kept] of [
      ['/', ''],
      ['', ''],
      ['/api/', '/api'],
      ['/api/v2', '/api/v2'],
    ] as const) {
      await using engine = await create({ base })
      assert.equal(engine.base, kept)
    }
  })

  it('must begin a path, as whole segments: else 404 says what was meant', async () => {
    await using engine = await create({ base: '/api' })
    assert.deepEqual(await refusal(engine, 'GET', '/v1/books'), [
      404,
      'path_unknown',
      'The path must begin with "/api", not "/v1/books". Did you mean "/api/v1/books"?',
    ])
    for (const path of ['/', '/apis/v1/books', '/API/v1/books', '/other']) {
      assert.deepEqual((await refusal(engine, 'GET', path)).slice(0, 2), [404, 'path_unknown'], path)
    }
    assert.match((await refusal(engine, 'GET', '/api/v2/books'))[2], /^After "\/api" the path must go on with a version \(v1\), not "v2"/)
    assert.match((await refusal(engine, 'GET', '/api/books'))[2], /Did you mean "\/api\/v1\/books"\?/)
    assert.match((await refusal(engine, 'GET', '/api/v1/books/1/author/2'))[2], /\/api\/\{version\}\/\{resource\}/)
    await using bare = await create({ base: '/api', versions: [] })
    assert.match((await refusal(bare, 'GET', '/books'))[2], /must begin with "\/api".*Did you mean "\/api\/books"\?/)
    assert.match(
      (await refusal(bare, 'GET', '/api/books/1/author/2'))[2],
      /A path is at most \/api\/\{resource\}\/\{ID\}\/\{attribute\}, and/,
    )
    assert.match((await refusal(bare, 'GET', '/api/v1/books'))[2], /Paths have no version here, nor a resource "v1": write \/api\/books\./)
  })

  it('is of a request, in hooks and in functions of tests', async () => {
    const seen: unknown[] = []
    const routes = [
      { method: 'GET', path: '/{version}/where', handler: ctx => ({ body: [ctx.path, ctx.version, ctx.params] }) },
    ] satisfies EngineOptions['routes']
    await using engine = await create({ base: '/api', routes })
    assert.deepEqual((await engine.handle('GET', '/api/v1/where')).body, ['/api/v1/where', 'v1', { version: 'v1' }])
    using _ = engine.delay(({ path, base }) => {
      seen.push([path, base])
      return false
    }, 1)
    await engine.handle('GET', '/api/v1/books')
    assert.deepEqual(seen, [['/api/v1/books', '/api']])
  })

  it('may be left out of patterns of faults, and of public paths it must', async () => {
    await using engine = await create({ base: '/api', versions: [] })
    for (const match of ['GET /books', '/api/books', '*books', 'GET /api/*']) {
      using _ = engine.fail(match, { status: 503, code: 'down' })
      assert.equal((await engine.handle('GET', '/api/books')).status, 503, match)
      assert.equal((await engine.handle('GET', '/api')).status, 200, match)
    }
    using _ = engine.fail('GET /', { status: 503, code: 'down' })
    assert.equal((await engine.handle('GET', '/api')).status, 503)
    assert.equal((await engine.handle('GET', '/api/books')).status, 200)
  })

  it('stands in the journal and in explanations, as the path was sent', async () => {
    await using engine = await create({ base: '/api', versions: [] })
    await engine.handle('POST', '/api/books', undefined, { title: 'x', author: 1 })
    const [{ path, changes }] = engine.requests as [(typeof engine.requests)[0]]
    assert.deepEqual([path, changes?.[0]?.resource], ['/api/books', 'books'])
    assert.equal((await engine.explain('GET', '/api/books?limit=1')).path, '/api/books?limit=1')
  })
})

describe('an engine without versions', () => {
  it('has one model, which seed, given, forks and expectations use', async () => {
    await using engine = await create({ versions: [] })
    assert.deepEqual(engine.versions, [])
    assert.equal(internalsOf(engine).modelOf(), internalsOf(engine).model)
    assert.equal(internalsOf(engine).modelOf('v1'), undefined)
    const book = await engine.given('book', { title: 'made' })
    assert.deepEqual(((await engine.handle('GET', `/books/${book['id'] as number}`)).body as { book: object }).book, book)
    await engine.expect({ books: 1 }, () => engine.handle('POST', '/books', undefined, { title: 'x', author: 1 }))
    await using fork = await engine.fork()
    assert.equal((await fork.handle('GET', '/books')).status, 200)
  })

  it('describes itself, validly, as it does with versions', async () => {
    await using plain = await create()
    const document = await plain.openapi()
    for (const base of ['', '/api']) {
      await using engine = await create({ base, versions: [] })
      const own = await engine.openapi()
      const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(own)))
      assert.ok(valid, JSON.stringify(errors ?? []).slice(0, 500))
      const paths = Object.keys(document.paths).filter(path => path !== '/')
      assert.deepEqual(
        Object.keys(own.paths),
        paths.map(path => path.replace('/v1', '') || '/'),
      )
      assert.equal(own.info['version'], '1')
      assert.deepEqual((own['servers'] as { url: string }[])[0]?.url, base || '/')
      assert.deepEqual((await engine.handle('GET', `${base}/openapi.json`)).body, own)
      await assert.rejects(engine.openapi({ version: 'v1' }), /there is no version "v1"/)
    }
    await using based = await create({ base: '/api' })
    assert.deepEqual(Object.keys((await based.openapi()).paths), Object.keys(document.paths))
    assert.deepEqual(((await based.openapi())['servers'] as { url: string }[])[0]?.url, '/api')
    // Whoever asks at another base gets that.
    await using server = await serve(createServer(based, { base: '/other' }))
    assert.equal((await server.ask('GET', '/other/v1/openapi.json')).body.servers[0].url, '/other')
  })

  it('refuses resources in the place of what stands beside them', async () => {
    const named = (name: string): Parameters<typeof create>[0] => ({ resources: [resource(Book, { name, singular: 'book' })] })
    for (const [name, message] of [
      [
        '_test',
        /resource\(Book\): without versions, "\/_test" is the path of the test controls of a server: give the resource another name, \{ name: "own_test" \}/,
      ],
      ['openapi.json', /"\/openapi\.json" is the path of the OpenAPI document/],
    ] as const) {
      await assert.rejects(RestEngine.create({ entities, versions: [], ...named(name) }), { name: 'TypeError', message })
      await using engine = await RestEngine.create({ entities, ...named(name) })
      assert.equal((await engine.handle('GET', `/v1/${name}`)).status, 200)
    }
    const Login = defineEntity({ name: 'Login', properties: { id: p.integer().primary() } })
    await assert.rejects(
      RestEngine.create({ entities: [Login, User], versions: [], auth: auth({ entity: User }) }),
      /resource\(Login\): without versions, "\/login" is the path of the log-in module/,
    )
    await using free = await RestEngine.create({ entities: [Login, User], versions: [] })
    assert.equal((await free.handle('GET', '/login')).status, 200)
    await assert.rejects(
      RestEngine.create({ entities, versions: [], resources: [resource(Author, { versions: ['v1'] })] }),
      /resource\(Author\): "versions" has no meaning where paths have no version/,
    )
  })

  it('has custom routes at any path but those of test controls', async () => {
    const handler = (name: string) => () => ({ body: name })
    const routes = [
      { method: 'GET', path: '/', handler: handler('root') },
      { method: 'GET', path: '/health', handler: handler('health') },
      { method: 'GET', path: '/books/new/{what}/really/far', handler: handler('far') },
      { method: 'GET', path: '/{tenant}/stats', handler: ctx => ({ body: [ctx.version, ctx.params['tenant']] }) },
    ] satisfies EngineOptions['routes']
    await using engine = await create({ base: '/api', versions: [], routes })
    for (const [path, body] of [
      ['/api', 'root'],
      ['/api/health', 'health'],
      ['/api/books/new/x/really/far', 'far'],
      ['/api/acme/stats', ['', 'acme']],
    ]) {
      assert.deepEqual((await engine.handle('GET', path as string)).body, body)
    }
    assert.equal((await engine.handle('GET', '/api/books')).status, 200)
    assert.equal((await engine.handle('OPTIONS', '/api/health')).headers['allow'], 'GET, HEAD, OPTIONS')
    const paths = Object.keys((await engine.openapi()).paths)
    for (const { path } of routes) assert.ok(paths.includes(path), path)
    const refused = (path: string, versions: string[] = []): Promise<RestEngine> =>
      create({ versions, routes: [{ method: 'GET', path, handler: handler('x') }] })
    await assert.rejects(refused('/{version}/health'), /paths have no version here \("versions" is empty\): write "\/health"/)
    await assert.rejects(refused('/_test/mine'), /the paths below "\/_test" are those of test controls/)
    await assert.rejects(refused('/', ['v1']), /the path "\/" must begin with "\/"/)
    await assert.rejects(refused('/health', ['v1']), /must begin with "\/\{version\}"/)
  })
})

describe('the log-in at another address', () => {
  for (const { base, versions, root } of [
    { base: '/api', versions: ['v1'], root: '/api/v1' },
    { base: '/api', versions: [], root: '/api' },
    { base: '', versions: [], root: '' },
  ]) {
    it(`is below ${root || '/'}, and keeps its secrets`, async () => {
      const module = auth({ entity: User, public: [`GET ${versions.length === 0 ? '' : '/v1'}/users/2`] })
      const password = cheapHash('sesame')
      await using engine = await RestEngine.create({ entities: [User], base, versions, auth: module })
      await engine.seed({ users: ['a', 'b'].map(email => ({ email, password })) })
      const login = await engine.handle('POST', `${root}/login`, undefined, { email: 'a', password: 'sesame', pin: 'hush' })
      const token = (login.body as { auth_token: string }).auth_token
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await engine.handle('GET', `${root}/users`)).status, 401)
      assert.equal((await engine.handle('GET', `${root}/users/2`)).status, 200)
      assert.equal((await engine.handle('GET', `${root}/users`, {}, undefined, { headers })).status, 200)
      assert.equal((await engine.handle('PUT', `${root}/users/2/password`, {}, 'open', { headers })).status, 200)
      // A path that leads nowhere holds its secret, too.
      assert.equal((await engine.handle('PUT', `${root}/usrs/2/password`, {}, 'mute', { headers })).status, 404)
      const minted = { authorization: `Bearer ${engine.token(2)}` }
      assert.equal((await engine.handle('GET', `${root}/users`, {}, undefined, { headers: minted })).status, 200)
      assert.deepEqual(engine.requests[0]?.path, `${root}/login`)
      for (const secret of ['sesame', 'hush', 'mute', 'open"', token]) assert.ok(!JSON.stringify(engine.requests).includes(secret), secret)
      const paths = (await engine.openapi()).paths
      assert.ok(paths[`${versions.length === 0 ? '' : '/v1'}/login`]?.['post'] !== undefined)
      assert.equal((await engine.handle('POST', `${root}/logout`, {}, undefined, { headers })).status, 200)
      assert.equal((await engine.handle('GET', `${root}/users`, {}, undefined, { headers })).status, 401)
      // Whoever may only read may log in.
      await using server = await serve(createServer(engine, { readOnly: true }))
      assert.equal((await server.ask('POST', `${root}/login`, { email: 'a', password: 'sesame' })).status, 200)
      assert.equal((await server.ask('POST', `${root}/users`, { email: 'c' }, minted)).status, 405)
    })
  }
})
