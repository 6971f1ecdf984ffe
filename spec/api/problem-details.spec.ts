/** Errors as `application/problem+json` (RFC 9457), where `Accept` asks for them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, RestError, createServer, resource } from '../../lib/index.ts'
import { RawConnection } from '../helpers/raw-http.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const PROBLEM = 'application/problem+json'

/** Headers that ask for problem details, and headers that do not. */
const ASKING = [
  PROBLEM,
  `application/json, ${PROBLEM}`,
  `${PROBLEM};q=0.5, text/csv`,
  `${PROBLEM}, */*;q=0.1`,
  `application/json;q=0.5, ${PROBLEM};q=0.5`,
]
const OTHERS = [
  undefined,
  '*/*',
  'application/json',
  'application/*',
  `application/json, ${PROBLEM};q=0.9`,
  `${PROBLEM};q=0`,
  'text/html',
  '\u00e4',
]

describeTargets(
  'problem details',
  {
    entities: [User],
    resources: [
      resource(User, {
        create: () => {
          throw new RestError(402, 'not_paid', 'Pay first.', { headers: { 'retry-after': '5' } })
        },
      }),
    ],
    onError: () => {},
    seed: {},
  },
  target => {
    const get = (accept: string | undefined, path = '/v1/users/7') =>
      target.call('GET', path, undefined, undefined, accept === undefined ? undefined : { accept })

    it('are the body of an error for requests that name the media type', async () => {
      const { body: plain } = await get(undefined)
      for (const accept of ASKING) {
        const { status, headers, body } = await get(accept)
        assert.equal(status, 404, accept)
        assert.equal(headers['content-type'], PROBLEM, accept)
        assert.equal(headers['vary'], 'Accept', accept)
        const { type, timestamp, ...rest } = body as Record<string, unknown>
        assert.equal(type, 'urn:problem-type:mikro-rest:record_not_found')
        assert.ok(typeof timestamp === 'string')
        assert.deepEqual({ ...rest, timestamp: plain.timestamp }, { ...plain })
        assert.deepEqual(Object.keys(body)[0], 'type')
      }
    })

    it('are left to those that ask for them', async () => {
      for (const accept of OTHERS.filter(each => target.door === 'handle' || each !== '\u00e4')) {
        const { headers, body } = await get(accept)
        assert.equal(headers['content-type'], 'application/json; charset=UTF-8', accept)
        assert.equal('type' in body, false, accept)
        assert.equal('vary' in headers, false, accept)
      }
    })

    it('leave what succeeds as it is', async () => {
      const { status, headers } = await get(PROBLEM, '/v1/users')
      assert.equal(status, 200)
      assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
    })

    it('have no type of their own for a code of the application, which keeps its headers', async () => {
      const { status, headers, body } = await target.call('POST', '/v1/users', undefined, { name: 'Ann' }, { accept: PROBLEM })
      assert.equal(status, 402)
      assert.equal(headers['content-type'], PROBLEM)
      assert.equal(headers['retry-after'], '5')
      assert.deepEqual([body.type, body.title, body.code], ['about:blank', 'Payment Required', 'not_paid'])
    })

    it('are the form of injected failures, and of HEAD', async () => {
      using _ = target.engine.fail('GET /v1/users', { status: 503, times: 2 })
      const { headers, body } = await get(PROBLEM, '/v1/users')
      assert.equal(headers['content-type'], PROBLEM)
      assert.equal(body.type, 'urn:problem-type:mikro-rest:fault_injected')
      const head = await target.call('HEAD', '/v1/users/7', undefined, undefined, { accept: PROBLEM })
      assert.equal(head.headers['content-type'], PROBLEM)
      assert.equal(head.body, undefined)
    })

    it('take the header in any case', { skip: target.door === 'http' && 'the client sends names in lower case' }, async () => {
      const { headers } = await target.call('GET', '/v1/users/7', undefined, undefined, { Accept: PROBLEM })
      assert.equal(headers['content-type'], PROBLEM)
    })
  },
)

describe('problem details of what transports refuse', () => {
  it('are given for bodies that cannot be read, by fetch and intercepted fetch', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const init = { method: 'POST', body: '{', headers: { accept: PROBLEM, 'content-type': 'application/json' } }
    const direct = await engine.fetch('http://localhost/v1/users', init)
    using _ = engine.intercept('https://api.example.test')
    const intercepted = await fetch('https://api.example.test/v1/users', init)
    for (const response of [direct, intercepted]) {
      assert.equal(response.status, 400)
      assert.equal(response.headers.get('content-type'), PROBLEM)
      assert.equal(((await response.json()) as { type: string }).type, 'urn:problem-type:mikro-rest:json_malformed')
    }
  })

  it('are given by a server for what it refuses itself; repeated headers count together', async () => {
    const failures: object[] = []
    await using engine = await RestEngine.create({ entities: [User], onError: (_error, request) => failures.push(request) })
    const server = createServer(engine, { readOnly: true, cors: 'http://localhost:5173' }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      for (const [request, expected, code] of [
        ['DELETE /v1/users/1', 405, 'method_not_allowed'],
        ['GET /v1/users/1', 404, 'record_not_found'],
      ] as const) {
        const connection = await RawConnection.open(server)
        const lines = [`${request} HTTP/1.1`, 'Host: localhost', `accept: ${PROBLEM}`, 'Accept: application/json;q=0.2']
        const { status, headers, body } = await connection.send(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`).answer()
        assert.equal(status, expected)
        assert.equal(headers['content-type'], PROBLEM)
        assert.equal(headers['vary'], 'Accept, Origin')
        assert.equal(body.type, `urn:problem-type:mikro-rest:${code}`)
      }
    } finally {
      server.close()
    }
    assert.deepEqual(failures, [])
  })

  it('give onError the method and the path alone', async () => {
    const failures: object[] = []
    await using engine = await RestEngine.create({
      entities: [User],
      onError: (_error, request) => failures.push(request),
      routes: [
        { method: 'GET', path: '/{version}/odd', handler: () => ({ status: 299, body: { long: 'x' }, headers: { 'x-odd': '\u20ac' } }) },
      ],
    })
    const response = await engine.fetch('http://localhost/v1/odd', { headers: { accept: PROBLEM } })
    assert.equal(response.status, 500)
    assert.equal(response.headers.get('content-type'), PROBLEM)
    assert.deepEqual(failures, [{ method: 'GET', path: '/v1/odd' }])
  })
})
