/** Log-in in the form that a backend has: `credentials`, `answer`, `scheme`, and `!` in `public`. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auth, RestEngine } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { client } from '../../lib/model/client/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import { PASSWORD, User, bearer, logIn, refusal, world } from './world.ts'

const wrapped = (email: string, password: string): object => ({ user: { email, password } })
const ANN = wrapped('ann@example.test', PASSWORD)

const forms = {
  scheme: 'Token',
  credentials: body => body.user,
  answer: (user, token, ctx) => ({ user: { name: user.name, token, of: ctx.version, secret: user.password ?? null } }),
  public: ['!GET /v1/notes/1', 'GET /v1/notes*'],
} satisfies Partial<AuthOptions>

describeTargets('log-in in the form of a backend', world(forms), target => {
  const asked = (path: string, authorization?: string): ReturnType<typeof target.call> =>
    target.call('GET', path, undefined, undefined, authorization === undefined ? {} : { authorization })

  it('takes the credentials where the body has them, and answers as the function says', async () => {
    const { status, body, headers } = await logIn(target, ANN)
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    const { token, ...others } = body.user
    assert.deepEqual([Object.keys(body), others], [['user'], { name: 'Ann', of: 'v1', secret: null }])
    assert.equal((await asked('/v1/users', `Bearer ${token}`)).status, 200)
  })

  it('refuses a body that has them elsewhere, and never fails on one', async () => {
    for (const body of [undefined, null, 1, 'x', [], {}, { user: null }, { user: 1 }, { user: {} }, { email: 'ann@example.test' }]) {
      const { status } = await logIn(target, body)
      assert.ok(status === 400 || status === 422, `${JSON.stringify(body)}: ${status}`)
    }
    assert.deepEqual((await logIn(target, null)).body.code, 'body_invalid')
    assert.deepEqual((await logIn(target, { user: { email: 'x' } })).body.errors[0].attribute, 'password')
    assert.deepEqual(refusal(await logIn(target, wrapped('ann@example.test', 'wrong'))), [401, 'login_failed', 'Bearer'])
  })

  it('counts failures by the identifier of the credentials', async () => {
    for (let tried = 0; tried < 5; tried++) await logIn(target, wrapped('ann@example.test', 'wrong'))
    assert.equal((await logIn(target, ANN)).status, 429)
    assert.equal((await logIn(target, wrapped('bob@example.test', PASSWORD))).status, 200)
  })

  it('takes a token by its scheme beside Bearer, and by no other', async () => {
    const token = (await logIn(target, ANN)).body.user.token as string
    for (const name of ['Token', 'token', 'Bearer', 'bearer'])
      assert.equal((await asked('/v1/users', `${name} ${token}`)).status, 200, name)
    for (const name of ['Basic', 'Tokens', 'XToken', ''])
      assert.deepEqual(refusal(await asked('/v1/users', `${name} ${token}`.trim()))[1], 'token_malformed', name)
    assert.match((await asked('/v1/users', 'Basic x')).body.detail, /"Bearer" or "Token"/)
  })

  it('opens what the list names, but for what "!" takes out', async () => {
    assert.equal((await asked('/v1/notes')).status, 200)
    assert.equal((await asked('/v1/notes/1/text')).status, 200)
    assert.equal((await target.call('HEAD', '/v1/notes/1')).status, 401)
    assert.equal((await asked('/v1/notes/1')).body.code, 'token_missing')
    assert.equal((await asked('/v1/notes/1/')).body.code, 'token_missing', 'one slash at the end says nothing')
  })

  it('hides credentials and token in the journal', async () => {
    const { body } = await logIn(target, ANN)
    const text = JSON.stringify(target.engine.requests)
    assert.ok(!text.includes(PASSWORD) && !text.includes(body.user.token))
  })

  it('is followed by the typed client and by the OpenAPI document', async () => {
    const api = await client(target.engine, { users: User }).login(ANN as Record<string, unknown>)
    assert.equal((await api.users.list()).count, 2)
    const text = JSON.stringify(await target.engine.openapi({ details: true }))
    assert.match(text, /The application decides where it stands\./)
    assert.match(text, /`Token` may stand for `Bearer`/)
    const answer = await target.engine.handle('POST', '/v1/login', undefined, ANN)
    assert.deepEqual(await target.engine.conforms({ method: 'POST', path: '/v1/login' }, answer), [])
  })
})

describe('the forms of a log-in', () => {
  const WRONG: [object, RegExp][] = [
    [{ credentials: 'user' }, /auth: "credentials" must be a function/],
    [{ answer: {} }, /auth: "answer" must be a function/],
    [{ scheme: 'To ken' }, /auth: "scheme" must be a name such as "Token", got "To ken"/],
    [{ scheme: '' }, /auth: "scheme" must be a name/],
    [{ scheme: 'basic' }, /auth: "scheme" cannot be "Basic"/],
    [{ public: ['!/v1/x'] }, /auth: public: "!\/v1\/x" must be like/],
    [{ public: ['!!GET /v1/x'] }, /must be like/],
  ]
  for (const [options, message] of WRONG) {
    it(`are refused when they are wrong: ${JSON.stringify(options)}`, () =>
      assert.throws(() => auth({ entity: User, ...options }), message))
  }

  it('are given to `authenticate`, and a scheme with signs of patterns is taken as it is written', async () => {
    const seen: unknown[] = []
    const options = world({
      scheme: 'a.b*',
      credentials: async body => body.login,
      authenticate: credentials => (seen.push(credentials), 1),
    })
    await using engine = await RestEngine.create(options)
    const { body } = await engine.handle('POST', '/v1/login', undefined, { login: 'card 7' })
    assert.deepEqual(seen, ['card 7'])
    const ask = async (authorization: string): Promise<number> =>
      (await engine.handle('GET', '/v1/users', undefined, undefined, { headers: { authorization } })).status
    assert.deepEqual([await ask(`a.b* ${body.auth_token}`), await ask(`axb ${body.auth_token}`)], [200, 401])
    assert.equal((await engine.handle('GET', '/v1/users', undefined, undefined, { headers: bearer(body.auth_token) })).status, 200)
  })
})
