/** What needs a token, what does not, and what hooks are told of who asks. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, createServer, resource } from '../../lib/index.ts'
import type { HookContext } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import { HASH, Note, PASSWORD, START, User, bearer, logIn, refusal, world } from './world.ts'

describeTargets('with the module on', world(), target => {
  it('every path needs a token, those that do not exist too', async () => {
    const token = target.engine.token(1)
    const statuses: [string, string, number][] = [
      ['GET', '/', 200],
      ['GET', '/v1', 200],
      ['GET', '/v1/notes', 200],
      ['HEAD', '/v1/notes', 200],
      ['GET', '/v1/notes/1/text', 200],
      ['GET', '/v1/nothing', 404],
      ['GET', '/v9/notes', 404],
      ['GET', '/v1/login', 405],
      ['GET', '/v1/notes?nme=x', 400],
      ['DELETE', '/v1/notes', 405],
      ['DELETE', '/v1/notes/1', 200],
    ]
    for (const [method, path, status] of statuses) {
      const refused = await target.call(method, path)
      assert.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'Bearer'], path)
      if (method !== 'HEAD') assert.equal(refused.body.code, 'token_missing')
      assert.equal((await target.call(method, path, undefined, undefined, bearer(token))).status, status, `${method} ${path}`)
    }
  })

  it('OPTIONS needs none', async () => {
    const answer = await target.call('OPTIONS', '/v1/notes')
    assert.deepEqual([answer.status, answer.headers['allow']], [204, 'GET, HEAD, QUERY, POST, OPTIONS'])
  })

  it('a write that is refused changes nothing', async () => {
    assert.equal((await target.call('POST', '/v1/notes', undefined, { text: 'x' })).status, 401)
    assert.equal((await target.call('PUT', '/v1/notes/1', undefined, { text: 'x' }, bearer('abc'))).status, 401)
    const [note] = await target.engine.orm.em.fork().find(Note, {})
    assert.equal(note?.text, 'first')
  })
})

const PUBLIC = ['GET /v1/notes*', 'POST /v1/notes', '* /v1/users/*/name']

describeTargets('public', world({ public: PUBLIC }), target => {
  it('opens what a pattern names, HEAD with GET, and nothing else', async () => {
    const open: [string, string][] = [
      ['GET', '/v1/notes'],
      ['GET', '/v1/notes?sort=text'],
      ['GET', '/v1/notes/'],
      ['HEAD', '/v1/notes'],
      ['GET', '/v1/notes/1'],
      ['GET', '/v1/notes/1/user'],
      ['GET', '/v1/users/1/name'],
      ['HEAD', '/v1/users/1/name'],
      ['GET', '/v1/%6eotes'],
      ['GET', '/v1/note'],
    ]
    for (const [method, path] of open) assert.equal((await target.call(method, path)).status, 200, `${method} ${path}`)
    const closed: [string, string][] = [
      ['GET', '/v1/users'],
      ['GET', '/v1/users/1'],
      ['GET', '/v1/users/1/name/x'],
      ['GET', '/v3/notes'],
      ['PUT', '/v1/notes/1'],
      ['DELETE', '/v1/notes/1'],
      ['POST', '/v1/notes/1'],
      ['GET', '/'],
    ]
    for (const [method, path] of closed) assert.equal((await target.call(method, path)).status, 401, `${method} ${path}`)
    assert.equal((await target.call('POST', '/v1/notes', undefined, { text: 'public' })).status, 200)
  })

  it('still refuses a token that is no good: the client means to be somebody', async () => {
    assert.equal((await target.call('GET', '/v1/notes', undefined, undefined, bearer('abc'))).body.code, 'token_malformed')
    const expired = target.engine.token(1, { ttl: -1 })
    assert.equal((await target.call('GET', '/v1/notes', undefined, undefined, bearer(expired))).body.code, 'token_expired')
  })
})

describe('public patterns', () => {
  it('hold nothing special but the star', async () => {
    await using engine = await RestEngine.create(world({ public: ['GET /v1/notes/.', 'GET /v1/notes/(1|2)*', 'GET /v1/users/[1]'] }))
    for (const path of ['/v1/notes/1', '/v1/users/1']) assert.equal((await engine.handle('GET', path)).status, 401, path)
  })
})

describe('preflight', () => {
  it('needs no token, and pages may read why they are refused', async () => {
    await using engine = await RestEngine.create(world())
    const server = createServer(engine, { cors: 'http://localhost:5173' }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
      const { port } = server.address() as { port: number }
      const url = `http://127.0.0.1:${port}/v1/notes`
      const origin = { origin: 'http://localhost:5173' }
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: { ...origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' },
      })
      assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-headers')], [204, 'authorization'])
      const refused = await fetch(url, { headers: origin })
      assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [401, 'http://localhost:5173'])
      assert.match(refused.headers.get('access-control-expose-headers') ?? '', /www-authenticate/i)
      const allowed = await fetch(url, { headers: { ...origin, ...bearer(engine.token(1)) } })
      assert.equal(allowed.status, 200)
      await Promise.all([refused.text(), allowed.text()])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('fetch', () => {
  it('takes the token of a Request', async () => {
    await using engine = await RestEngine.create(world())
    assert.equal((await engine.fetch(new Request('http://api.test/v1/notes'))).status, 401)
    assert.equal((await engine.fetch(new Request('http://api.test/v1/notes', { headers: bearer(engine.token(1)) }))).status, 200)
  })
})

describe('hooks', () => {
  it('are told the user and the claims, the password left out', async () => {
    const seen: [string, unknown, unknown][] = []
    const note = (where: string, ctx: HookContext): void => void seen.push([where, ctx.user, ctx.claims?.sub])
    await using engine = await RestEngine.create({
      ...world({ public: ['GET /v1/notes'] }),
      resources: [
        resource(Note, {
          access: ctx => (note('access', ctx), true),
          scope: ctx => (note('scope', ctx), undefined),
          list: (ctx, next) => (note('list', ctx), next()),
          attributes: { text: { render: (value, _, ctx) => (note('render', ctx), value) } },
        }),
      ],
      routes: [{ method: 'GET', path: '/{version}/me', handler: ctx => (note('route', ctx), { body: ctx.user }) }],
    })
    const headers = bearer(engine.token(1))
    await engine.handle('GET', '/v1/notes', undefined, undefined, { headers })
    const me = await engine.handle('GET', '/v1/me', undefined, undefined, { headers })
    assert.deepEqual(new Set(seen.map(([where]) => where)), new Set(['access', 'scope', 'list', 'render', 'route']))
    for (const [where, user, sub] of seen) assert.deepEqual([user, sub], [{ id: 1, name: 'Ann', email: 'ann@example.test' }, '1'], where)
    assert.deepEqual(me.body, { id: 1, name: 'Ann', email: 'ann@example.test' })
    seen.length = 0
    await engine.handle('GET', '/v1/notes')
    assert.ok(seen.length > 0)
    for (const [where, user, sub] of seen) assert.deepEqual([user, sub], [undefined, undefined], where)
  })

  it('see the user as he is now, not as he was when he logged in', async () => {
    const names: unknown[] = []
    await using engine = await RestEngine.create({
      ...world(),
      resources: [resource(Note, { access: ctx => names.push(ctx.user?.['name']) > 0 })],
    })
    const headers = bearer(engine.token(1))
    await engine.handle('GET', '/v1/notes', undefined, undefined, { headers })
    await engine.handle('PUT', '/v1/users/1', undefined, { name: 'Anna' }, { headers })
    await engine.handle('GET', '/v1/notes', undefined, undefined, { headers })
    assert.deepEqual([names[0], names.at(-1)], ['Ann', 'Anna'])
  })

  it('that refuse nobody-in-particular ask for a log-in, and refuse somebody with 403', async () => {
    await using engine = await RestEngine.create({
      ...world({ public: ['GET /v1/notes'] }),
      resources: [resource(Note, { access: ctx => ctx.user?.['id'] === 1 })],
    })
    const ask = async (headers: Record<string, string>) =>
      refusal(await engine.handle('GET', '/v1/notes', undefined, undefined, { headers }))
    assert.deepEqual(await ask({}), [401, 'token_missing', 'Bearer'])
    assert.deepEqual(await ask(bearer(engine.token(2))), [403, 'forbidden', undefined])
    assert.equal((await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(engine.token(1)) })).status, 200)
  })

  it('show the user of a log-in what he may see of himself', async () => {
    await using engine = await RestEngine.create({
      ...world(),
      resources: [
        resource(User, { attributes: { email: { render: (value, _, ctx) => (ctx.user?.['id'] === 1 ? value : '***') } } }),
        resource(Note, { scope: ctx => ({ user: ctx.user?.['id'] ?? null }) }),
      ],
    })
    const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: PASSWORD })
    assert.deepEqual(body.user, { id: 1, name: 'Ann', email: 'ann@example.test', notes: [1] })
  })
})

describe('secrets', () => {
  it('appear in no answer and in no argument of onError', async () => {
    const told: unknown[] = []
    await using engine = await RestEngine.create({
      ...world({}, { onError: (...error) => told.push(error) }),
      resources: [
        resource(User, {
          list: () => {
            throw new Error('on purpose')
          },
        }),
      ],
    })
    const token = engine.token(1)
    const headers = bearer(token)
    const answers = [
      await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: PASSWORD }),
      await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: `${PASSWORD}?` }),
      await engine.handle('POST', '/v1/login', undefined, { email: 5, password: [PASSWORD] }),
      await engine.handle('GET', '/v1/users', undefined, undefined, { headers }),
      await engine.handle('GET', '/v1/users/1', undefined, undefined, { headers }),
      await engine.handle('GET', '/v1/users/1/password', undefined, undefined, { headers }),
      await engine.handle('GET', '/v1/notes?expand=user', undefined, undefined, { headers }),
      await engine.handle('GET', `/v1/notes?user.password=${HASH}`, undefined, undefined, { headers }),
      await engine.handle('POST', '/v1/users', undefined, { name: 'Z', email: 'z@example.test', password: PASSWORD }, { headers }),
      await engine.handle('PUT', '/v1/users/2', undefined, { password: PASSWORD }, { headers }),
      await engine.handle('POST', '/v1/users', undefined, { name: 'Z', email: 'ann@example.test', password: PASSWORD }, { headers }),
      await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(`${token}x`) }),
      await engine.handle('POST', '/v1/logout', undefined, undefined, { headers }),
    ]
    await engine.orm.em.getConnection().execute(`create trigger stop before insert on user begin select json('{'); end`)
    const again = bearer(engine.token(1))
    answers.push(
      await engine.handle('POST', '/v1/users', undefined, { name: 'Y', email: 'y@example.test', password: PASSWORD }, { headers: again }),
    )
    assert.equal(answers.at(-1)!.status, 500)
    assert.equal(told.length, 2)
    const shown = inspect(told, { depth: 10, showHidden: true })
    const bodies = answers.map(({ body }) => JSON.stringify(body)).join('\n')
    assert.ok(!shown.includes(token) && !bodies.includes(token), 'the token')
    for (const secret of [PASSWORD, HASH]) {
      assert.ok(!shown.includes(secret), `onError: ${shown}`)
      assert.ok(!bodies.includes(secret), bodies)
    }
  })
})

describe('a password that the model does not hide', () => {
  it('is in no log-in and in no context', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().serializedName('secret') },
    })
    await using engine = await RestEngine.create({
      entities: [Member],
      auth: auth({ entity: Member }),
      seed: { members: [{ email: 'ann@example.test', secret: HASH }] },
      routes: [{ method: 'GET', path: '/v1/me', handler: ctx => ({ body: ctx.user }) }],
    })
    const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: PASSWORD })
    assert.deepEqual(body.user, { id: 1, email: 'ann@example.test' })
    const me = await engine.handle('GET', '/v1/me', undefined, undefined, { headers: bearer(body.auth_token) })
    assert.deepEqual(me.body, { id: 1, email: 'ann@example.test' })
  })
})

describe('a body that is refused', () => {
  it('is told what is wrong with its password, and the password is not repeated', async () => {
    await using engine = await RestEngine.create(world())
    const headers = bearer(engine.token(1))
    const { status, body } = await engine.handle('PUT', '/v1/users/2', undefined, { password: [PASSWORD] }, { headers })
    assert.deepEqual([status, body.errors[0].attribute], [422, 'password'])
    assert.ok(!JSON.stringify(body).includes(PASSWORD))
  })
})

describe('a read-only server', () => {
  it('lets nobody write, with a token neither', async () => {
    await using engine = await RestEngine.create(world())
    const server = createServer(engine, { readOnly: true }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
      const { port } = server.address() as { port: number }
      const answer = await fetch(`http://127.0.0.1:${port}/v1/notes/1`, { method: 'DELETE', headers: bearer(engine.token(1)) })
      assert.equal(answer.status, 405)
      await answer.text()
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('time', () => {
  it('of tokens is the engine’s own, not the system’s', async () => {
    await using engine = await RestEngine.create(world({}, { clock: () => new Date('2001-01-01T00:00:00Z') }))
    const { body } = await logIn({
      call: async (method, path, query, data) => engine.handle(method, path, query, data),
    })
    assert.equal(body.timestamp, '2001-01-01T00:00:00.000Z')
    assert.equal((await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(body.auth_token) })).status, 200)
    assert.ok(START.getTime() > engine.clock.now().getTime())
  })
})
