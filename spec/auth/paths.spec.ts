/** Paths of the log-in: where it answers, sign-up, and the record of the token's user. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, client, createServer, resource } from '../../lib/index.ts'
import type { AuthOptions, HookContext } from '../../lib/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { serveDocs } from '../docs-page/served.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { TargetOptions } from '../helpers/targets.ts'
import { bearer, refusal } from './world.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    bio: p.string().nullable(),
    role: p.string().default('member'),
    password: p.string().hidden(),
    version: p.integer().version().default(1),
    articles: () => p.oneToMany(Article).mappedBy('author'),
  },
})
const Article = defineEntity({
  name: 'Article',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User) },
})

const PATHS = { login: 'users/login', logout: '/users/logout', me: 'user', signUp: 'users' } as const

const isOwn = (ctx: HookContext): boolean => ctx.id === ctx.claims?.sub

function world(module: Partial<AuthOptions> = {}, others: Partial<TargetOptions> = {}): TargetOptions {
  return {
    entities: [User, Article],
    auth: auth({ entity: User, secret: 'of the specs', paths: PATHS, ...module }),
    resources: [resource(User, { access: { update: isOwn }, attributes: { role: { readOnly: true } } })],
    seed: {
      users: [
        { id: 1, email: 'ann@x.test', password: cheapHash('of ann') },
        { id: 2, email: 'bob@x.test', password: cheapHash('of bob') },
      ],
      articles: [{ id: 1, title: 'first', author: 1 }],
    },
    ...others,
  }
}

const ANN = { email: 'ann@x.test', password: 'of ann' }

describeTargets('log-in at paths of its own', world(), target => {
  it('logs in and out there, and nowhere else', async () => {
    const { status, body } = await target.call('POST', '/v1/users/login', undefined, ANN)
    assert.deepEqual([status, body.user.email], [200, 'ann@x.test'])
    const headers = bearer(body.auth_token)
    assert.equal((await target.call('POST', '/v1/login', undefined, ANN, headers)).status, 404)
    assert.equal((await target.call('POST', '/v1/users/logout', undefined, undefined, headers)).status, 200)
    assert.equal((await target.call('GET', '/v1/users', undefined, undefined, headers)).body.code, 'token_revoked')
  })

  it('takes no notice of a bad token in what gets one', async () => {
    const headers = { authorization: 'Bearer nonsense' }
    assert.equal((await target.call('POST', '/v1/users/login', undefined, ANN, headers)).status, 200)
    const body = { email: 'new@x.test', password: 'of new' }
    assert.equal((await target.call('POST', '/v1/users', undefined, body, headers)).status, 200)
  })

  it('keeps passwords and tokens out of the journal', async () => {
    await target.call('POST', '/v1/users/login', undefined, { email: 'ann@x.test', password: 'of ann', pin: 4711_0815 })
    await target.call('POST', '/v1/users', undefined, { email: 'new@x.test', password: 'secret of new' })
    const headers = bearer(target.engine.token(1))
    await target.call('PUT', '/v1/user', undefined, { password: 'another of ann' }, headers)
    const [logIn] = target.engine.requests
    assert.deepEqual(logIn!.body, { email: 'ann@x.test', password: '[secret]', pin: '[secret]' })
    const text = JSON.stringify(target.engine.requests)
    for (const secret of ['of ann', '47110815', 'secret of new', 'another of ann', 'scrypt$', 'eyJ'])
      assert.ok(!text.includes(secret), secret)
  })
})

describeTargets('sign-up', world(), target => {
  it('creates a user and answers as a log-in does', async () => {
    const answer = await target.call('POST', '/v1/users', undefined, { email: 'new@x.test', password: 'of new', bio: 'b' })
    assertSound(answer, 'sign-up')
    const { status, body, headers } = answer
    assert.deepEqual([status, headers['location'], headers['cache-control']], [200, '/v1/users/3', 'no-store'])
    assert.deepEqual(Object.keys(body), ['auth_token', 'message', 'success', 'timestamp', 'user'])
    assert.deepEqual([body.user.id, body.user.bio, 'password' in body.user], [3, 'b', false])
    assert.equal((await target.call('GET', '/v1/user', undefined, undefined, bearer(body.auth_token))).body.user.id, 3)
    const again = await target.call('POST', '/v1/users/login', undefined, { email: 'new@x.test', password: 'of new' })
    assert.equal(again.status, 200)
  })

  it('refuses what a POST of the resource refuses', async () => {
    const taken = await target.call('POST', '/v1/users', undefined, ANN)
    assert.deepEqual([taken.status, taken.body.code], [409, 'unique_conflict'])
    const role = await target.call('POST', '/v1/users', undefined, { email: 'n@x.test', password: 'x', role: 'admin' })
    assert.deepEqual([role.status, role.body.errors[0].code], [422, 'read_only'])
    assert.equal((await target.call('POST', '/v1/users', undefined, [])).status, 400)
    assert.equal((await target.call('POST', '/v1/users')).status, 400)
  })
})

describeTargets('the record of the token’s user', world(), target => {
  const ann = (): Record<string, string> => bearer(target.engine.token(1))

  it('is that of the resource, with its parameters', async () => {
    const own = await target.call('GET', '/v1/user', { attributes: 'id,email,articles', expand: 'articles' }, undefined, ann())
    const { body } = await target.call('GET', '/v1/users/1', { attributes: 'id,email,articles', expand: 'articles' }, undefined, ann())
    assertSound(own, 'me')
    assert.deepEqual({ ...own.body, timestamp: '' }, { ...body, timestamp: '' })
    assert.equal(own.body.user.articles[0].title, 'first')
    assert.equal((await target.call('HEAD', '/v1/user', undefined, undefined, ann())).status, 200)
    assert.equal((await target.call('GET', '/v1/user', { atributes: 'id' }, undefined, ann())).body.code, 'parameter_invalid')
  })

  it('needs a token', async () => {
    for (const method of ['GET', 'PUT', 'PATCH'])
      assert.deepEqual(refusal(await target.call(method, '/v1/user', undefined, method === 'GET' ? undefined : {})), [
        401,
        'token_missing',
        'Bearer',
      ])
  })

  it('is changed by the rules of the resource', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const { status, body } = await target.call(method, '/v1/user', undefined, { bio: method }, ann())
      assert.deepEqual([status, body.user.bio, 'auth_token' in body], [200, method, false])
    }
    const role = await target.call('PUT', '/v1/user', undefined, { role: 'admin' }, ann())
    assert.deepEqual([role.status, role.body.errors[0].code], [422, 'read_only'])
    assert.equal((await target.call('PUT', '/v1/users/2', undefined, { bio: 'x' }, ann())).status, 403)
    assert.equal((await target.call('DELETE', '/v1/user', undefined, undefined, ann())).status, 405)
  })

  it('answers a new password with a new token', async () => {
    const headers = ann()
    const { status, body } = await target.call('PUT', '/v1/user', undefined, { password: 'second of ann' }, headers)
    assert.equal(status, 200)
    assert.equal((await target.call('GET', '/v1/user', undefined, undefined, headers)).body.code, 'token_revoked')
    assert.equal((await target.call('GET', '/v1/user', undefined, undefined, bearer(body.auth_token))).status, 200)
  })

  it('keeps the conditions of the request', async () => {
    const query = { attributes: 'id,bio,version' }
    const { headers, body } = await target.call('GET', '/v1/user', query, undefined, ann())
    assert.equal(body.user.version, 1)
    const tag = headers['etag']!
    assert.equal((await target.call('GET', '/v1/user', query, undefined, { ...ann(), 'if-none-match': tag })).status, 304)
    assert.equal((await target.call('PUT', '/v1/user', undefined, { bio: 'new' }, { ...ann(), 'if-match': tag })).status, 200)
    const stale = await target.call('PUT', '/v1/user', undefined, { bio: 'old' }, { ...ann(), 'if-match': tag })
    assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed'])
  })
})

describe('paths of the log-in', () => {
  const refused: [string, unknown, RegExp][] = [
    ['no object', 'login', /"paths" must be an object of paths/],
    ['an unknown action', { signin: 'x' }, /unknown option "signin"\. .*"login"/],
    ['an action that is misspelt', { singUp: 'x' }, /unknown option "singUp"\. Did you mean "signUp"\?/],
    [
      'a method',
      { signUp: 'POST /users' },
      /"signUp" must be a path below the version, without a method, such as "users\/login", got "POST \/users"/,
    ],
    ['an empty path', { me: '/' }, /"me" must be a path/],
    ['a path with a query', { me: 'user?x' }, /"me" must be a path/],
    ['a path that goes up', { me: '../user' }, /"me" must be a path/],
    ['two actions at one place', { login: 'session', logout: '/session' }, /"login" and "logout" cannot have one path, "session"/],
  ]
  for (const [what, paths, message] of refused)
    it(`refuse ${what}`, () => assert.throws(() => auth({ entity: User, paths } as never), message))

  it('let a resource have the names that they leave free', async () => {
    const Login = defineEntity({ name: 'Login', properties: { id: p.integer().primary(), name: p.string() } })
    const entities = [User, Article, Login]
    const names = [resource(Login, { name: 'login', singular: 'one_login' })]
    await using engine = await RestEngine.create({ ...world(), entities, versions: [], resources: names })
    const headers = bearer(engine.token(1))
    assert.equal((await engine.send('POST /login', { body: { name: 'x' }, headers })).status, 200)
    const own = auth({ entity: User, secret: 's' })
    await assert.rejects(
      RestEngine.create({ ...world(), entities, versions: [], resources: names, auth: own }),
      /is the path of the log-in module/,
    )
    assert.ok(internalsOf(engine).owns('/user', false))
  })

  it('are where a server that is for reading alone logs in', async () => {
    await using engine = await RestEngine.create({ ...world(), base: '/api', versions: [] })
    await using server = createServer(engine, { readOnly: true })
    await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const post = async (path: string, body: unknown): Promise<number> => {
      const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      return (await fetch(`http://127.0.0.1:${port}${path}`, init)).status
    }
    assert.deepEqual([await post('/api/users/login', ANN), await post('/api/users', ANN)], [200, 405])
  })

  it('stand in the OpenAPI document, and on the docs page', async () => {
    await using engine = await RestEngine.create(world())
    const document = await engine.openapi()
    assert.deepEqual(await new Validator().validate(structuredClone(document) as Record<string, unknown>), { valid: true })
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { operationId?: string; tags?: string[] }>).flatMap(([method, { operationId, tags }]) =>
        tags?.[0] === 'session' ? [`${method} ${path} ${operationId}`] : [],
      ),
    )
    assert.deepEqual(operations.toSorted(), [
      'get /v1/user getMe',
      'patch /v1/user patchMe',
      'post /v1/users signUp',
      'post /v1/users/login logIn',
      'post /v1/users/logout logOut',
      'put /v1/user updateMe',
    ])
    assert.ok('get' in document.paths['/v1/users']!)
    await using server = await serveDocs(engine)
    const page = await fetch(`${server.origin}/docs`, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /data-action="\/v1\/users\/login"/)
  })

  it('answer as the document says', async () => {
    await using engine = await RestEngine.create(world())
    const headers = bearer(engine.token(1))
    for (const [method, path, body] of [
      ['POST', '/v1/users/login', ANN],
      ['POST', '/v1/users', { email: 'n@x.test', password: 'x' }],
      ['GET', '/v1/user'],
      ['PATCH', '/v1/user', { password: 'second' }],
    ] as const) {
      const answer = await engine.handle(method, path, undefined, body, { headers })
      assert.equal(answer.status, 200)
      assert.deepEqual(await engine.conforms({ method, path }, answer), [], `${method} ${path}`)
    }
  })
})

describe('a backend like that of RealWorld', () => {
  it('is there by the options alone', async () => {
    const module: Partial<AuthOptions> = {
      scheme: 'Token',
      credentials: (body: { user: unknown }) => body.user,
      answer: (user: object, token) => ({ user: { ...user, token } }),
    }
    await using engine = await RestEngine.create({ ...world(module), base: '/api', versions: [], createdStatus: 201 })
    const user = { email: 'new@x.test', password: 'of new' }
    const created = await engine.send('POST /api/users', { body: { user } })
    assert.deepEqual([created.status, created.body.user.email], [201, 'new@x.test'])
    const { body } = await engine.send('POST /api/users/login', { body: { user } })
    const headers = { authorization: `Token ${body.user.token}` }
    const me = await engine.send('GET /api/user', { headers })
    assert.deepEqual([me.body.user.email, me.body.user.token], ['new@x.test', body.user.token])
    const changed = await engine.send('PUT /api/user', { headers, body: { user: { bio: 'x' } } })
    assert.deepEqual([changed.body.user.bio, changed.body.user.token], ['x', body.user.token])
    const renewed = await engine.send('PUT /api/user', { headers, body: { user: { password: 'second' } } })
    assert.notEqual(renewed.body.user.token, body.user.token)
    assert.equal((await engine.send('GET /api/user', { headers: { authorization: `Token ${renewed.body.user.token}` } })).status, 200)
    assert.equal((await engine.send('PUT /api/user', { headers, body: {} })).status, 401)
    assert.equal((await engine.send('POST /api/users', { body: { user: [] } })).status, 400)
    assert.ok(!JSON.stringify(engine.requests).includes('of new'))
  })

  it('is reached by the typed client', async () => {
    await using engine = await RestEngine.create(world())
    const api = client(engine, { users: User, articles: Article }, { paths: PATHS })
    const own = await api.signUp({ email: 'new@x.test', password: 'of new' })
    assert.equal((await own.me())['email'], 'new@x.test')
    const { user, api: later } = await own.updateMe({ bio: 'b', password: 'second' })
    assert.deepEqual([user['bio'], 'auth_token' in user, (await later.me())['bio']], ['b', false, 'b'])
    await assert.rejects(own.me(), { code: 'token_revoked' })
    await (await api.login({ email: 'new@x.test', password: 'second' })).logout()
    await assert.rejects(client(engine, { users: User }).me(), /where "me" is must be said/)
    assert.throws(() => client(engine, { users: User }, { paths: { signup: 'x' } as never }), /unknown option "signup"/)
    assert.throws(() => client(engine, { users: User }, { paths: { me: '' } }), /"me" must be a path/)
  })
})
