/** Refresh tokens: taken once for a new pair; a second time ends all tokens of the log-in, as log-out does. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import * as jose from 'jose'
import { RestEngine, auth, client, createServer } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { assertSound } from '../helpers/sound.ts'
import { createEngine, describeStores, newSchema, NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'
import { Note, PASSWORD, User, bearer, logIn, refusal, seed, world } from './world.ts'

const DAY = 24 * 3600
const CREDENTIALS = { email: 'ann@example.test', password: PASSWORD }
const REVOKED = [401, 'token_revoked', 'Bearer error="invalid_token"']
const refreshing = (more: Partial<AuthOptions> = {}) => world({ ttl: 600, refresh: { ttl: 30 * DAY }, ...more })

interface Pair {
  readonly auth_token: string
  readonly refreshToken: string
}

const refresh = (engine: RestEngine, refreshToken: unknown): Promise<Answer> => engine.send('POST /v1/refresh', { body: { refreshToken } })

/** What becomes of a request with the token. */
async function ask(engine: RestEngine, token: string): Promise<unknown> {
  const { status, body } = await engine.send('GET /v1/notes', { headers: bearer(token) })
  return status === 200 ? 200 : body.code
}

describeTargets('refresh tokens', refreshing(), target => {
  const begin = async (): Promise<Pair> => (await logIn(target)).body
  const renew = (refreshToken: unknown): Promise<Answer> => target.call('POST', '/v1/refresh', undefined, { refreshToken })

  it('come with a log-in, and give a new pair once', async () => {
    const first = await logIn(target)
    assertSound(first, 'log-in')
    assert.deepEqual(Object.keys(first.body), ['auth_token', 'refreshToken', 'message', 'success', 'timestamp', 'user'])
    const answer = await renew(first.body.refreshToken)
    assertSound(answer, 'refresh')
    assert.deepEqual([answer.status, answer.headers['cache-control'], answer.body.user.email], [200, 'no-store', 'ann@example.test'])
    assert.notEqual(answer.body.refreshToken, first.body.refreshToken)
    // The older token lives as long as it says.
    for (const token of [first.body.auth_token, answer.body.auth_token]) assert.equal(await ask(target.engine, token), 200)
    assert.equal((await renew(answer.body.refreshToken)).status, 200)
  })

  it('outlive the token', async () => {
    const { auth_token: token, refreshToken } = await begin()
    target.engine.clock.advance('11m')
    assert.equal(await ask(target.engine, token), 'token_expired')
    const { body } = await renew(refreshToken)
    assert.equal(await ask(target.engine, body.auth_token), 200)
    target.engine.clock.advance('29d')
    const later = await renew(body.refreshToken)
    assert.equal(later.status, 200)
    target.engine.clock.advance('31d')
    assert.equal((await renew(later.body.refreshToken)).body.code, 'token_expired')
  })

  it('end all tokens of their log-in where one comes a second time, and no others', async () => {
    const other = await begin()
    const first = await begin()
    const second: Pair = (await renew(first.refreshToken)).body
    const third: Pair = (await renew(second.refreshToken)).body
    assert.deepEqual(refusal(await renew(first.refreshToken)), REVOKED)
    for (const { auth_token: token, refreshToken } of [first, second, third]) {
      assert.equal(await ask(target.engine, token), 'token_revoked')
      assert.deepEqual(refusal(await renew(refreshToken)), REVOKED)
    }
    assert.deepEqual([await ask(target.engine, other.auth_token), (await renew(other.refreshToken)).status], [200, 200])
  })

  it('are taken once, however many ask at the same time', async () => {
    const { refreshToken } = await begin()
    const answers = await Promise.all(Array.from({ length: 8 }, () => renew(refreshToken)))
    const taken = answers.filter(({ status }) => status === 200)
    assert.ok(taken.length <= 1)
    for (const { body } of taken) {
      assert.equal(await ask(target.engine, body.auth_token), 'token_revoked')
      assert.deepEqual(refusal(await renew(body.refreshToken)), REVOKED)
    }
  })

  it('end with the log-out of any token of theirs', async () => {
    const first = await begin()
    const second: Pair = (await renew(first.refreshToken)).body
    assert.equal((await target.call('POST', '/v1/logout', undefined, undefined, bearer(first.auth_token))).status, 200)
    assert.equal(await ask(target.engine, second.auth_token), 'token_revoked')
    assert.deepEqual(refusal(await renew(second.refreshToken)), REVOKED)
  })

  it('end with the password and the user', async () => {
    const { auth_token: token, refreshToken } = await begin()
    await target.call('PUT', '/v1/users/1', undefined, { password: 'another' }, bearer(token))
    assert.deepEqual(refusal(await renew(refreshToken)), REVOKED)
    const bob: Pair = (await logIn(target, { email: 'bob@example.test', password: PASSWORD })).body
    await target.call('DELETE', '/v1/users/2', undefined, undefined, bearer(bob.auth_token))
    assert.equal((await renew(bob.refreshToken)).body.code, 'token_invalid')
  })

  it('are good for nothing else, and nothing else for them', async () => {
    const { auth_token: token, refreshToken } = await begin()
    assert.equal(await ask(target.engine, refreshToken), 'token_invalid')
    assert.equal((await renew(token)).body.code, 'token_invalid')
    assert.equal((await renew(target.engine.token(1))).body.code, 'token_invalid')
    assert.equal((await renew('nonsense')).body.code, 'token_malformed')
    assert.equal((await renew(5)).body.code, 'validation_failed')
    for (const body of [undefined, {}, [], null])
      assert.deepEqual(refusal(await target.call('POST', '/v1/refresh', undefined, body)), [401, 'token_missing', 'Bearer'])
    // What came before has ended nothing.
    assert.deepEqual([await ask(target.engine, token), (await renew(refreshToken)).status], [200, 200])
  })

  it('are in no entry of the journal', async () => {
    const { refreshToken } = await begin()
    await renew(refreshToken)
    assert.deepEqual(target.engine.requests.at(-1)!.body, { refreshToken: '[secret]' })
    assert.ok(!JSON.stringify(target.engine.requests).includes('eyJ'))
  })
})

describeStores('families of tokens', () => {
  it('go with snapshots, forks and resets', async () => {
    await using engine = await createEngine(refreshing())
    const first: Pair = (await engine.send('POST /v1/login', { body: CREDENTIALS })).body
    const before = await engine.snapshot()
    const second: Pair = (await refresh(engine, first.refreshToken)).body
    await using fork = await engine.fork()
    await refresh(engine, first.refreshToken)
    assert.equal(await ask(engine, second.auth_token), 'token_revoked')
    assert.deepEqual([await ask(fork, second.auth_token), (await refresh(fork, second.refreshToken)).status], [200, 200])
    assert.deepEqual(refusal(await refresh(fork, second.refreshToken)), REVOKED)
    await engine.restore(before)
    assert.deepEqual([await ask(engine, first.auth_token), (await refresh(engine, first.refreshToken)).status], [200, 200])
  })
})

describe('refresh tokens of several processes', { skip: WITH_POSTGRES ? NO_SERVER : 'needs PostgreSQL' }, () => {
  it('are taken once, by one of them, and end in all', async () => {
    await using schema = await newSchema()
    const options = { ...refreshing(), database: schema.database }
    await using one = await RestEngine.create(options)
    await using two = await RestEngine.create({ ...options, seed: {} })
    const first: Pair = (await one.send('POST /v1/login', { body: CREDENTIALS })).body
    const second: Pair = (await refresh(two, first.refreshToken)).body
    assert.deepEqual([await ask(one, second.auth_token), await ask(two, first.auth_token)], [200, 200])
    assert.deepEqual(refusal(await refresh(one, first.refreshToken)), REVOKED)
    for (const engine of [one, two]) {
      assert.equal(await ask(engine, second.auth_token), 'token_revoked')
      assert.deepEqual(refusal(await refresh(engine, second.refreshToken)), REVOKED)
    }
    const { refreshToken }: Pair = (await one.send('POST /v1/login', { body: CREDENTIALS })).body
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => refresh(index % 2 === 0 ? one : two, refreshToken)))
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1)
  })
})

describe('refresh tokens in cookies', () => {
  const module = { cookie: 'session', refresh: { ttl: 30 * DAY }, ttl: 600 }

  it('go to their path alone, and not to scripts', async () => {
    await using engine = await RestEngine.create({ ...world(module), base: '/api' })
    const init = { method: 'POST', body: JSON.stringify(CREDENTIALS), headers: { 'content-type': 'application/json' } }
    const response = await engine.fetch('https://api.test/api/v1/login', init)
    const body = (await response.json()) as object
    assert.ok(!('refreshToken' in body))
    const cookies = response.headers.getSetCookie()
    const shown = cookies.map(each => each.replace(/=eyJ[^;]*/, '='))
    assert.deepEqual(shown, [
      'session=; Path=/api; Max-Age=600; HttpOnly; SameSite=Lax; Secure',
      'session_refresh=; Path=/api/v1/refresh; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure',
    ])
    const cookie = cookies[1]!.split(';', 1)[0]!
    const send = (headers: Record<string, string>) =>
      engine.fetch('https://api.test/api/v1/refresh', { method: 'POST', headers: { host: 'api.test', cookie, ...headers } })
    assert.equal((await send({ 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.equal((await send({ origin: 'https://evil.test' })).status, 403)
    const renewed = await send({ origin: 'https://api.test' })
    assert.deepEqual([renewed.status, renewed.headers.getSetCookie().length], [200, 2])
    assert.equal((await send({ origin: 'https://api.test' })).status, 401)
    const out = await engine.send('POST /api/v1/logout', { headers: bearer(engine.token(1)) })
    assert.equal(out.headers['set-cookie']!.match(/Max-Age=0/g)!.length, 2)
  })

  it('come each in a header of its own, by whatever way', async () => {
    await using engine = await RestEngine.create(world(module))
    const body = JSON.stringify(CREDENTIALS)
    const headers = { 'content-type': 'application/json' }
    const server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const answered = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/login`, { method: 'POST', body, headers })
    assert.equal(answered.headers.getSetCookie().length, 2)
    server.close()
    await once(server, 'close')
    using _ = engine.intercept('https://api.test')
    const intercepted = await fetch('https://api.test/v1/login', { method: 'POST', body, headers })
    assert.deepEqual(
      intercepted.headers.getSetCookie().map(each => each.endsWith('; Secure')),
      [true, true],
    )
  })
})

describe('the option refresh', () => {
  it('is refused where it is not of its form', () => {
    for (const [options, message] of [
      [{ refresh: 3600 }, /"refresh" must be \{ ttl \}/],
      [{ refresh: {} }, /refresh: "ttl" must be a number of seconds above 0/],
      [{ refresh: { ttl: 0 } }, /"ttl"/],
      [{ refresh: { tll: 5 } }, /unknown option "tll"\. Did you mean "ttl"\?/],
      [{ paths: { refresh: 'x' } }, /paths: "refresh" is for refresh tokens/],
    ] as const)
      assert.throws(() => auth({ entity: User, ...options } as never), message)
  })

  it('gives the token to the application’s own answer, and is used by the typed client', async () => {
    const answer = (user: object, token: string, _: unknown, refreshToken: string | undefined): object => ({
      data: { refreshToken, token, user },
    })
    for (const more of [{}, { answer }] as Partial<AuthOptions>[]) {
      await using engine = await RestEngine.create(refreshing({ ...more, paths: { refresh: 'token/refresh' } }))
      const paths = { refresh: 'token/refresh' }
      const api = await client(engine, { users: User, notes: Note }, { paths }).login(CREDENTIALS)
      engine.clock.advance('11m')
      await assert.rejects(api.notes.list(), { code: 'token_expired' })
      const next = await api.refresh()
      assert.equal((await next.notes.list()).count, seed.notes.length)
      assert.equal((await (await next.refresh()).notes.list()).count, seed.notes.length)
      await assert.rejects(api.refresh(), { code: 'token_revoked' })
    }
  })

  it('marks the tokens of a log-in by a claim, and leaves others as they are', async () => {
    await using engine = await RestEngine.create(refreshing())
    const { auth_token: token, refreshToken }: Pair = (await engine.send('POST /v1/login', { body: CREDENTIALS })).body
    const claims = [token, refreshToken, engine.token(1)].map(each => jose.decodeJwt(each))
    assert.deepEqual(
      claims.map(each => each['use']),
      [undefined, 'refresh', undefined],
    )
    assert.equal(claims[0]!['fam'], claims[1]!['fam'])
    assert.deepEqual(Object.keys(claims[2]!), ['sub', 'iat', 'exp', 'jti'])
  })
})
