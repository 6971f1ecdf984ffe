/** Log-in and log-out: what they take, answer and refuse. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import { RestEngine, RestError, auth, hashPassword, resource } from '../../lib/index.ts'
import { leastOf, timeOf } from '../helpers/least.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import { HASH, Note, PASSWORD, START, User, bearer, logIn, refusal, world } from './world.ts'

describeTargets('log-in', world(), target => {
  it('answers in the form of the seed, with the user’s record', async () => {
    const answer = await logIn(target)
    assertSound(answer, 'log-in')
    assert.equal(answer.status, 200)
    assert.deepEqual(Object.keys(answer.body), ['auth_token', 'message', 'success', 'timestamp', 'user'])
    const { auth_token: token, message, success, timestamp, user } = answer.body
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    assert.deepEqual([typeof message, success, timestamp], ['string', true, START.toISOString()])
    assert.deepEqual(user, { id: 1, name: 'Ann', email: 'ann@example.test', notes: [1] })
    const list = await target.call('GET', '/v1/notes', undefined, undefined, bearer(token))
    assert.deepEqual([list.status, list.body.count], [200, 1])
  })

  it('gives every log-in a token of its own', async () => {
    const [one, two] = await Promise.all([logIn(target), logIn(target)])
    assert.notEqual(one.body.auth_token, two.body.auth_token)
  })

  it('tells a wrong password and an unknown user apart to nobody', async () => {
    const wrong = await logIn(target, { email: 'ann@example.test', password: 'wrong' })
    const unknown = await logIn(target, { email: 'nobody@example.test', password: PASSWORD })
    assertSound(wrong, 'wrong password')
    assert.deepEqual(refusal(wrong), [401, 'login_failed', 'Bearer'])
    assert.deepEqual(wrong.body, unknown.body)
    assert.equal(wrong.headers['www-authenticate'], unknown.headers['www-authenticate'])
  })

  it('compares identifier and password with regard to case and space', async () => {
    for (const credentials of [
      { email: 'ANN@example.test', password: PASSWORD },
      { email: 'ann@example.test ', password: PASSWORD },
      { email: 'ann@example.test', password: PASSWORD.toUpperCase() },
      { email: 'ann@example.test', password: `${PASSWORD} ` },
    ])
      assert.deepEqual(refusal(await logIn(target, credentials)), [401, 'login_failed', 'Bearer'], JSON.stringify(credentials))
  })

  it('takes no empty password, no hash and no wildcard', async () => {
    for (const credentials of [
      { email: 'ann@example.test', password: '' },
      { email: 'ann@example.test', password: HASH },
      { email: 'ann@*', password: PASSWORD },
    ])
      assert.deepEqual(refusal(await logIn(target, credentials)), [401, 'login_failed', 'Bearer'], JSON.stringify(credentials))
  })

  it('names all missing and mistyped fields at once, without their values', async () => {
    const missing = await logIn(target, {})
    assertSound(missing, 'no fields')
    assert.deepEqual(
      [
        missing.status,
        missing.body.code,
        missing.body.errors.map((fault: { code: string; attribute: string }) => [fault.code, fault.attribute]),
      ],
      [
        422,
        'validation_failed',
        [
          ['required', 'email'],
          ['required', 'password'],
        ],
      ],
    )
    const typed = await logIn(target, { email: { $ne: null }, password: 13_579 })
    assert.deepEqual([typed.status, typed.body.errors.length], [422, 2])
    assert.ok(!JSON.stringify(typed.body).includes('13579'))
  })

  it('takes an object only', async () => {
    for (const credentials of [null, [], 'ann', 7]) {
      const answer = await logIn(target, credentials)
      assertSound(answer, credentials)
      assert.deepEqual([answer.status, answer.body.code], [400, 'body_invalid'], JSON.stringify(credentials))
    }
  })

  it('takes the fields beside them for nothing', async () => {
    assert.equal((await logIn(target, { email: 'ann@example.test', password: PASSWORD, remember: true })).status, 200)
  })

  it('does not look at a token: who has one that expired must be able to get another', async () => {
    const credentials = { email: 'ann@example.test', password: PASSWORD }
    const expired = target.engine.token(1, { ttl: -1 })
    for (const authorization of [`Bearer ${expired}`, 'nonsense']) {
      assert.equal((await target.call('POST', '/v1/login', undefined, credentials, { authorization })).status, 200)
    }
  })

  it('is there for known versions only', async () => {
    const answer = await target.call('POST', '/v9/login', undefined, { email: 'ann@example.test', password: PASSWORD })
    assert.deepEqual([answer.status, answer.body.code], [404, 'version_unknown'])
  })

  it('goes with a password that is written in another Unicode form', async () => {
    const em = target.engine.orm.em.fork()
    em.create(User, { id: 3, name: 'Zoë', email: 'zoe@example.test', password: await hashPassword('Zo\u00eb') })
    await em.flush()
    assert.equal((await logIn(target, { email: 'zoe@example.test', password: 'Zoe\u0308' })).status, 200)
  })
})

describeTargets('log-out', world(), target => {
  it('revokes the token, and no other', async () => {
    const first = (await logIn(target)).body.auth_token
    const second = (await logIn(target)).body.auth_token
    const answer = await target.call('POST', '/v1/logout', undefined, undefined, bearer(first))
    assertSound(answer, 'log-out')
    assert.deepEqual([answer.status, answer.body.success, answer.body.status], [200, true, 'OK'])
    const refused = await target.call('GET', '/v1/notes', undefined, undefined, bearer(first))
    assert.deepEqual(refusal(refused), [401, 'token_revoked', 'Bearer error="invalid_token"'])
    assert.equal((await target.call('GET', '/v1/notes', undefined, undefined, bearer(second))).status, 200)
    assert.equal((await target.call('POST', '/v1/logout', undefined, undefined, bearer(first))).body.code, 'token_revoked')
  })

  it('needs a token', async () => {
    assert.deepEqual(refusal(await target.call('POST', '/v1/logout')), [401, 'token_missing', 'Bearer'])
  })
})

describe('log-out that is public', () => {
  it('still needs a token', async () => {
    await using engine = await RestEngine.create(world({ public: ['* /v1/*'] }))
    const { status, body } = await engine.handle('POST', '/v1/logout')
    assert.deepEqual([status, body.code], [401, 'token_missing'])
  })
})

describe('identifier and password of other names', () => {
  it('are those of the body too', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: { code: p.string().primary(), nick: p.string().unique(), secretHash: p.string().hidden() },
    })
    await using engine = await RestEngine.create({
      entities: [Member],
      auth: auth({ entity: Member, identifier: 'nick', password: 'secretHash' }),
      seed: { members: [{ code: 'a~b/c', nick: 'ann', secretHash: HASH }] },
    })
    const { status, body } = await engine.handle('POST', '/v1/login', undefined, { nick: 'ann', secretHash: PASSWORD })
    assert.deepEqual([status, body.user], [200, { code: 'a~b/c', nick: 'ann' }])
    const mine = await engine.handle('GET', '/v1/members', undefined, undefined, { headers: bearer(body.auth_token) })
    assert.equal(mine.status, 200)
    const { body: faults } = await engine.handle('POST', '/v1/login', undefined, { email: 'x', password: 'y' })
    assert.deepEqual(
      faults.errors.map((fault: { attribute: string }) => fault.attribute),
      ['nick', 'secretHash'],
    )
  })
})

describe('authenticate', () => {
  const given: Record<string, (em: EntityManager) => unknown> = {
    'an entity': em => em.findOneOrFail(User, 2),
    'an ID': () => 2,
    'an ID as text': () => '2',
    'a promise of an ID': () => Promise.resolve(2),
    'an object that holds the key': () => ({ id: 2 }),
  }
  for (const [what, give] of Object.entries(given)) {
    it(`may give ${what}`, async () => {
      await using engine = await RestEngine.create(
        world({
          authenticate: (credentials, ctx) => {
            assert.deepEqual(credentials, { pin: 1234 })
            assert.deepEqual([ctx.method, ctx.path, ctx.version, ctx.user], ['POST', '/v1/login', 'v1', undefined])
            return give(ctx.em)
          },
        }),
      )
      const { status, body } = await engine.handle('POST', '/v1/login', undefined, { pin: 1234 })
      assert.deepEqual([status, body.user?.name], [200, 'Bob'])
    })
  }

  for (const [what, value] of Object.entries({
    undefined,
    null: null,
    false: false,
    'an ID of nobody': 99,
    'no ID': 'abc',
    'an empty object': {},
  })) {
    it(`refuses the log-in when it gives ${what}`, async () => {
      for (const answer of [value, Promise.resolve(value)]) {
        await using engine = await RestEngine.create(world({ authenticate: () => answer }))
        const { status, body } = await engine.handle('POST', '/v1/login', undefined, {})
        assert.deepEqual([status, body.code], [401, 'login_failed'])
      }
    })
  }

  it('may refuse with an error of its own', async () => {
    await using engine = await RestEngine.create(
      world({
        authenticate: () => {
          throw new RestError(403, 'locked', 'The account is locked.')
        },
      }),
    )
    const { status, body } = await engine.handle('POST', '/v1/login', undefined, {})
    assert.deepEqual([status, body.code], [403, 'locked'])
  })

  it('that throws, or gives an entity that is no user, is a 500 without its text', async () => {
    for (const authenticate of [
      () => {
        throw new Error('directory is down')
      },
      (_: unknown, ctx: { em: EntityManager }) => ctx.em.findOneOrFail(Note, 1),
    ]) {
      const errors: unknown[] = []
      await using engine = await RestEngine.create(world({ authenticate }, { onError: error => errors.push(error) }))
      const { status, body } = await engine.handle('POST', '/v1/login', undefined, {})
      assert.deepEqual([status, body.code, errors.length], [500, 'internal_error', 1])
      assert.doesNotMatch(JSON.stringify(body), /directory|Note/)
    }
  })

  it('takes any JSON value', async () => {
    const seen: unknown[] = []
    await using engine = await RestEngine.create(world({ authenticate: credentials => void seen.push(credentials) }))
    for (const body of ['token', 7, null, ['x']]) assert.equal((await engine.handle('POST', '/v1/login', undefined, body)).status, 401)
    assert.deepEqual(seen, ['token', 7, null, ['x']])
  })
})

describe('the time of a log-in', () => {
  it('is the same for an unknown user and a wrong password', async () => {
    // A hash of the full cost: where nobody has one, the time is as with such a one.
    const ann = { id: 1, name: 'Ann', email: 'ann@example.test', password: await hashPassword(PASSWORD) }
    await using engine = await RestEngine.create(world({}, { seed: { users: [ann] } }))
    const attempt = (email: string) => (): Promise<number> => {
      // An identifier may fail five times a minute.
      engine.clock.advance('1m')
      return timeOf(() => engine.handle('POST', '/v1/login', undefined, { email, password: 'wrong' }))
    }
    await attempt('warm@example.test')()
    // Hashing is nearly all of it.
    const isAlike = (known: number, unknown: number): boolean => unknown > 0.5 * known && unknown < 2 * known
    const [known, unknown] = await leastOf([attempt('ann@example.test'), attempt('nobody@example.test')], isAlike)
    assert.ok(isAlike(known, unknown), `${known} ms, and ${unknown} for an unknown one`)
  })
})

describe('a user whom no version shows alike', () => {
  it('logs in in each, and by a token of either', async () => {
    await using engine = await RestEngine.create({
      ...world({}, { seed: {} }),
      versions: ['v1', 'v3'],
      resources: [resource(User, { versions: ['v3'], attributes: { email: { private: true } } })],
    })
    const em = engine.orm.em.fork()
    em.create(User, { id: 1, name: 'Ann', email: 'ann@example.test', password: HASH })
    await em.flush()
    const credentials = { email: 'ann@example.test', password: PASSWORD }
    const one = await engine.handle('POST', '/v1/login', undefined, credentials)
    const three = await engine.handle('POST', '/v3/login', undefined, credentials)
    assert.deepEqual([one.status, three.status], [200, 200])
    assert.deepEqual(three.body.user, { id: 1, name: 'Ann', notes: [] })
    for (const token of [one.body.auth_token, three.body.auth_token, engine.token(1)]) {
      for (const version of ['v1', 'v3']) {
        assert.equal((await engine.handle('GET', `/${version}/notes`, undefined, undefined, { headers: bearer(token) })).status, 200)
      }
    }
    assert.equal((await engine.handle('GET', '/v1/users', undefined, undefined, { headers: bearer(engine.token(1)) })).status, 404)
  })
})
