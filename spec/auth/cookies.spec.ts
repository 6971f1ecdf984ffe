/** Log-in by cookie: what is set and removed, which requests it counts for, and which pages may write by it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { RestEngine, auth, createServer } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import { PASSWORD, User, bearer, logIn, refusal, world } from './world.ts'

const HOST = 'api.test'
const OWN = { host: HOST, origin: `http://${HOST}` }
const CREDENTIALS = { email: 'ann@example.test', password: PASSWORD }

/** The cookies that an answer sets, by name: the value, and the attributes. */
function cookiesOf(header: string | undefined): Map<string, [value: string, attributes: string]> {
  const each = (header ?? '').split(/,\s*(?=[^\s=;,]+=)/).filter(text => text !== '')
  return new Map(each.map(text => [text.split('=', 1)[0]!, [/=([^;]*)/.exec(text)![1]!, text.slice(text.indexOf(';') + 2)]]))
}

const cookie = (value: string, name = 'session'): Record<string, string> => ({ host: HOST, cookie: `theme=dark; ${name}=${value}; last=1` })

const options = world({ cookie: 'session', public: ['GET /v1/notes', 'POST /v1/notes'] }, { exceptHttp: 'fetch sends a Host of its own' })

describeTargets('a log-in by cookie', options, target => {
  const begin = async (): Promise<string> => cookiesOf((await logIn(target)).headers['set-cookie']).get('session')![0]

  it('sets a cookie for pages that scripts cannot read', async () => {
    const answer = await logIn(target)
    assertSound(answer, 'log-in')
    const cookies = cookiesOf(answer.headers['set-cookie'])
    assert.deepEqual([...cookies], [['session', [answer.body.auth_token, 'Path=/; Max-Age=3600; HttpOnly; SameSite=Lax']]])
  })

  it('counts where no header stands', async () => {
    const value = await begin()
    const { status, body } = await target.call('GET', '/v1/users/1', undefined, undefined, cookie(value))
    assert.deepEqual([status, body.user.email], [200, 'ann@example.test'])
    const both = { ...cookie(value), ...bearer(target.engine.token(2)) }
    assert.equal((await target.call('POST', '/v1/logout', undefined, undefined, both)).status, 200)
    assert.equal((await target.call('GET', '/v1/users/1', undefined, undefined, cookie(value))).status, 200)
    assert.equal(
      (await target.call('GET', '/v1/users/1', undefined, undefined, { cookie: 'session=; other=1' })).body.code,
      'token_missing',
    )
  })

  it('is removed by log-out', async () => {
    const value = await begin()
    const headers = { ...cookie(value), ...OWN }
    const answer = await target.call('POST', '/v1/logout', undefined, undefined, headers)
    assertSound(answer, 'log-out')
    assert.deepEqual([...cookiesOf(answer.headers['set-cookie'])], [['session', ['', 'Path=/; Max-Age=0; HttpOnly; SameSite=Lax']]])
    assert.deepEqual(refusal(await target.call('GET', '/v1/users', undefined, undefined, headers)), [
      401,
      'token_revoked',
      'Bearer error="invalid_token"',
    ])
  })

  it('writes for pages of the server alone', async () => {
    const value = await begin()
    const write = async (headers: Record<string, string>): Promise<[number, unknown]> => {
      const answer = await target.call('PATCH', '/v1/notes/1', undefined, { text: 'x' }, { ...cookie(value), ...headers })
      return [answer.status, answer.body.code]
    }
    for (const headers of [
      { origin: `http://${HOST}` },
      { origin: `https://${HOST}` },
      { referer: `http://${HOST}/app/page?x=1` },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' },
      { origin: `http://${HOST}`, referer: 'http://evil.test/' },
      // Neither header: no browser.
      {},
      { 'user-agent': 'node', 'sec-fetch-mode': 'cors' },
    ])
      assert.deepEqual(await write(headers), [200, undefined], JSON.stringify(headers))
    for (const headers of [
      { origin: 'null' },
      { origin: 'http://evil.test' },
      { origin: `http://${HOST}.evil.test` },
      { origin: `http://${HOST}:8080` },
      { origin: `http://sub.${HOST}` },
      { origin: 'nonsense' },
      { origin: '' },
      { referer: `http://evil.test/?${HOST}` },
      { referer: `http://${HOST}@evil.test/` },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: `http://${HOST}`, 'sec-fetch-site': 'cross-site' },
      { origin: `http://${HOST}`, 'sec-fetch-site': 'same-site' },
      { origin: 'http://evil.test', referer: `http://${HOST}/`, 'sec-fetch-site': 'same-origin' },
    ])
      assert.deepEqual(await write(headers), [403, 'origin_not_allowed'], JSON.stringify(headers))
    const [first] = (await target.call('GET', '/v1/notes', undefined, undefined, {})).body.notes
    assert.equal(first.text, 'x')
  })

  it('is no matter where the token comes in the header', async () => {
    const headers = { ...cookie(await begin()), ...bearer(target.engine.token(1)), origin: 'http://evil.test' }
    assert.equal((await target.call('PATCH', '/v1/notes/1', undefined, { text: 'x' }, headers)).status, 200)
  })

  it('is not begun by a page of another site, and is by what is no browser', async () => {
    const enter = (headers: Record<string, string>) => target.call('POST', '/v1/login', undefined, CREDENTIALS, { host: HOST, ...headers })
    assert.equal((await enter({ origin: 'http://evil.test' })).body.code, 'origin_not_allowed')
    assert.equal((await enter({ 'sec-fetch-site': 'cross-site' })).body.code, 'origin_not_allowed')
    assert.deepEqual([(await enter({})).status, (await enter({ origin: `http://${HOST}` })).status], [200, 200])
  })

  it('that is worth nothing any more is none on public paths, and refused on others', async () => {
    const headers = { ...cookie(target.engine.token(1, { ttl: -1 })), ...OWN }
    assert.equal((await target.call('GET', '/v1/notes', undefined, undefined, headers)).status, 200)
    assert.equal((await target.call('POST', '/v1/notes', undefined, { text: 'n' }, headers)).status, 200)
    assert.equal((await target.call('GET', '/v1/users', undefined, undefined, headers)).body.code, 'token_expired')
    const foreign = { ...headers, origin: 'http://evil.test' }
    assert.equal((await target.call('POST', '/v1/notes', undefined, { text: 'n' }, foreign)).body.code, 'origin_not_allowed')
  })

  it('leaves no token in the journal', async () => {
    const value = await begin()
    await target.call('GET', '/v1/users', undefined, undefined, cookie(value))
    const text = JSON.stringify(target.engine.requests)
    assert.ok(!text.includes(value) && !text.includes('eyJ'))
  })
})

describe('the option cookie', () => {
  const refused: [unknown, RegExp][] = [
    [true, /"cookie" must be a name, or \{ name, sameSite \}/],
    ['', /"name" must be a name such as "session", got ""/],
    ['a b', /"name" must be a name/],
    [{ name: 's', sameSite: 'lazy' }, /"sameSite" must be one of "Lax", "Strict", "None", got "lazy"/],
    [{ name: 's', samSite: 'Lax' }, /unknown option "samSite"\. Did you mean "sameSite"\?/],
    [{ name: 's', secure: 1 }, /"secure" must be true or false/],
    [{ name: 's', sameSite: 'None', secure: false }, /sameSite "None" needs "secure"/],
    [{ name: '__Host-s', secure: false }, /the name "__Host-s" needs "secure"/],
  ]
  for (const [given, message] of refused)
    it(`refuses ${JSON.stringify(given)}`, () => assert.throws(() => auth({ entity: User, cookie: given } as never), message))

  async function setBy(option: AuthOptions['cookie'], url = 'http://api.test', base = ''): Promise<string> {
    await using engine = await RestEngine.create({ ...world({ cookie: option! }), base })
    const init = { method: 'POST', body: JSON.stringify(CREDENTIALS), headers: { 'content-type': 'application/json' } }
    const { headers } = await engine.fetch(`${url}${base}/v1/login`, init)
    const [set] = headers.getSetCookie()
    return set!.replace(/=eyJ[^;]*/, '=')
  }

  it('says where the cookie goes, and how', async () => {
    assert.equal(await setBy('s', 'http://api.test', '/api'), 's=; Path=/api; Max-Age=3600; HttpOnly; SameSite=Lax')
    assert.equal(await setBy('s', 'https://api.test'), 's=; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure')
    assert.equal(
      await setBy({ name: 's', sameSite: 'Strict', secure: true }),
      's=; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure',
    )
    assert.equal(await setBy({ name: 's', secure: false }, 'https://api.test'), 's=; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax')
    assert.equal(await setBy({ name: 's', sameSite: 'none' as never }), 's=; Path=/; Max-Age=3600; HttpOnly; SameSite=None; Secure')
    assert.equal(await setBy('__Host-s', 'http://api.test', '/api'), '__Host-s=; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure')
  })

  it('is for https alone behind a log-in by a form over https, too', async () => {
    await using engine = await RestEngine.create({ ...world({ cookie: 's' }), forms: true })
    const { headers } = await engine.fetch('https://api.test/v1/login', { method: 'POST', body: new URLSearchParams(CREDENTIALS) })
    assert.match(headers.getSetCookie()[0]!, /; Secure$/)
  })

  it('takes a page that came without https for another one', async () => {
    await using engine = await RestEngine.create(world({ cookie: 's' }))
    const send = async (url: string, origin: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', cookie: `s=${engine.token(1)}`, host: 'api.test', origin }
      return (await engine.fetch(url, { method: 'PATCH', body: '{"text":"y"}', headers })).status
    }
    assert.equal(await send('https://api.test/v1/notes/1', 'https://api.test'), 200)
    assert.equal(await send('https://api.test/v1/notes/1', 'http://api.test'), 403)
  })

  it('takes the URL of a Request for where it came to', async () => {
    await using engine = await RestEngine.create(world({ cookie: 's' }))
    const send = async (url: string, headers: Record<string, string>): Promise<number> => {
      const init = {
        method: 'PATCH',
        body: '{"text":"y"}',
        headers: { 'content-type': 'application/json', cookie: `s=${engine.token(1)}`, ...headers },
      }
      return (await engine.fetch(new Request(url, init))).status
    }
    const url = 'https://shop.test/v1/notes/1'
    assert.equal(await send(url, { origin: 'https://shop.test' }), 200)
    assert.equal(await send('https://shop.test:8443/v1/notes/1', { origin: 'https://shop.test:8443' }), 200)
    assert.equal(await send(url, {}), 200)
    // A server behind a proxy knows its own address, and the header says that of the client.
    assert.equal(await send('http://127.0.0.1:3000/v1/notes/1', { origin: 'https://shop.test', host: 'shop.test' }), 200)
    for (const origin of ['https://evil.test', 'http://shop.test', 'https://shop.test:8443', 'https://shop.test.evil.test', 'null', ''])
      assert.equal(await send(url, { origin }), 403, origin)
    assert.equal(await send(url, { origin: 'https://shop.test', 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await send(url, { 'sec-fetch-site': 'cross-site' }), 403)
  })

  it('goes over HTTP', async () => {
    await using engine = await RestEngine.create(world({ cookie: 'session' }))
    const server = createServer(engine, { allowedHosts: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const send = (method: string, path: string, body: object | undefined, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${origin}/v1/${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const [set] = (await send('POST', 'login', CREDENTIALS)).headers.getSetCookie()
    const headers = { cookie: set!.split(';', 1)[0]! }
    assert.equal((await send('GET', 'users', undefined, headers)).status, 200)
    assert.equal((await send('PATCH', 'notes/1', { text: 'y' }, headers)).status, 200, 'the fetch of a test is no browser')
    assert.equal((await send('PATCH', 'notes/1', { text: 'y' }, { ...headers, origin: 'http://evil.test' })).status, 403)
    assert.equal((await send('PATCH', 'notes/1', { text: 'y' }, { ...headers, origin })).status, 200)
    assert.equal((await send('PATCH', 'notes/1', { text: 'y' }, { ...headers, referer: `${origin}/app` })).status, 200)
    const left = await send('POST', 'logout', undefined, { ...headers, origin })
    assert.match(left.headers.getSetCookie().join(), /^session=; Path=\/; Max-Age=0/)
    assert.equal((await send('GET', 'users', undefined, headers)).status, 401)
    server.close()
    await once(server, 'close')
  })

  it('lets pages write of which the server takes cookies', async () => {
    await using engine = await RestEngine.create(world({ cookie: 's' }))
    for (const corsCredentials of [false, true]) {
      const server = createServer(engine, { cors: 'http://app.test', corsCredentials }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const headers = { 'content-type': 'application/json', cookie: `s=${engine.token(1)}`, origin: 'http://app.test' }
      const { status } = await fetch(`http://127.0.0.1:${port}/v1/notes/1`, { method: 'PATCH', body: '{"text":"y"}', headers })
      assert.equal(status, corsCredentials ? 200 : 403)
      server.close()
      await once(server, 'close')
    }
  })

  it('stands in the OpenAPI document', async () => {
    await using engine = await RestEngine.create(world({ cookie: 'session', public: ['GET /v1/notes'] }))
    const document = await engine.openapi({ details: true })
    assert.deepEqual(await new Validator().validate(structuredClone(document) as Record<string, unknown>), { valid: true })
    const { securitySchemes } = document.components as { securitySchemes: Record<string, { in: string; name: string; type: string }> }
    const { type, in: place, name } = securitySchemes['cookie']!
    assert.deepEqual([type, place, name, document['security']], ['apiKey', 'cookie', 'session', [{ bearer: [] }, { cookie: [] }]])
    const { get } = document.paths['/v1/notes'] as { get: { security: unknown } }
    assert.deepEqual(get.security, [{}, { bearer: [] }, { cookie: [] }])
  })

  it('costs an engine without it nothing: no cookie is looked at', async () => {
    await using engine = await RestEngine.create(world())
    const headers = { cookie: `session=${engine.token(1)}` }
    assert.equal((await engine.send('GET /v1/users', { headers })).body.code, 'token_missing')
    assert.equal((await engine.send('POST /v1/login', { body: CREDENTIALS })).headers['set-cookie'], undefined)
  })
})
