/** Hashing: plain passwords of bodies, seeds and `given` are stored as hashes, and by nobody twice. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, hashPassword, resource } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { isPasswordHash, verifyPassword } from '../../lib/engine/auth/password.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import type { EngineOptions } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().length(100).hidden().nullable(),
    team: () => p.manyToOne(Team).nullable(),
  },
})
const Team = defineEntity({
  name: 'Team',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    members: () => p.oneToMany(User).mappedBy('team'),
    // Of the same name, and no password of a user.
    password: p.string().nullable(),
  },
})

const module = (more: Partial<AuthOptions> = {}): EngineOptions => ({
  entities: [User, Team],
  auth: auth({ entity: User, secret: 'of the specs', public: ['* /v1/*'], ...more }),
})

type Asked = Pick<RestEngine, 'send'>

async function logsIn(engine: Asked, email: string, password: string): Promise<boolean> {
  const { status } = await engine.send('POST /v1/login', { body: { email, password } })
  return status === 200
}

async function stored(engine: RestEngine, email: string): Promise<string | null | undefined> {
  const user = await engine.orm.em.fork().findOne(User, { email }, { fields: ['password'] })
  return user?.password
}

const seed = {
  users: [
    { id: 1, email: 'ann@x.test', password: 'of ann' },
    { id: 2, email: 'bob@x.test', password: 'of ann' },
    { id: 3, email: 'eve@x.test', password: null },
  ],
  teams: [{ id: 1, name: 'a', members: [{ id: 4, email: 'dan@x.test', password: 'of dan' }] }],
}

/** The same, but for hashes of its own: for tests that are about other passwords. */
const hashedSeed = { users: seed.users.map(user => ({ ...user, password: user.password === null ? null : cheapHash(user.password) })) }

describeTargets('hashed passwords', { ...module(), seed }, target => {
  /** In memory a log-in says it. A log-in costs as much as a hash; elsewhere the same hash is stored, and that it is one is enough. */
  const holds = async (email: string, password: string): Promise<boolean> =>
    target.store === 'memory' ? logsIn(target.engine, email, password) : isPasswordHash((await stored(target.engine, email)) ?? '')

  it('are those of a seed, nested ones too', async () => {
    assert.ok(await holds('ann@x.test', 'of ann'))
    assert.ok(await holds('dan@x.test', 'of dan'))
    if (target.store === 'memory') assert.ok(!(await logsIn(target.engine, 'ann@x.test', 'of dan')))
    assert.equal(await stored(target.engine, 'eve@x.test'), null)
  })

  it('are those of a POST: who signs up can log in', async () => {
    const { status, body } = await target.call('POST', '/v1/users', undefined, { email: 'new@x.test', password: 'of new' })
    assert.deepEqual([status, body.user.email, 'password' in body.user], [200, 'new@x.test', false])
    assert.ok(isPasswordHash((await stored(target.engine, 'new@x.test'))!))
    assert.ok(await holds('new@x.test', 'of new'))
  })

  it('are those of PUT and PATCH, of a record and of its attribute', async () => {
    let before = await stored(target.engine, 'ann@x.test')
    for (const [method, path, body, password] of [
      ['PUT', '/v1/users/1', { password: 'second' }, 'second'],
      ['PATCH', '/v1/users/1', { password: 'third', team: 1 }, 'third'],
      ['PUT', '/v1/users/1/password', 'fourth', 'fourth'],
    ] as const) {
      assert.equal((await target.call(method, path, undefined, body)).status, 200)
      const hash = await stored(target.engine, 'ann@x.test')
      assert.ok((await holds('ann@x.test', password)) && hash !== before, `${method} ${path}`)
      before = hash
    }
  })

  it('are those of nested records, and not what other resources call a password', async () => {
    const members = [{ email: 'm1@x.test', password: 'of m1' }, 1]
    assert.equal((await target.call('POST', '/v1/teams', undefined, { name: 'b', password: 'open', members })).status, 200)
    const added = { email: 'm2@x.test', password: 'of m2' }
    assert.equal((await target.call('POST', '/v1/teams/1/members', undefined, added)).status, 200)
    const team = { name: 'c', members: [{ email: 'm3@x.test', password: 'of m3' }] }
    assert.equal((await target.call('PUT', '/v1/users/2/team', undefined, team)).status, 200)
    for (const name of ['m1', 'm2', 'm3']) assert.ok(await holds(`${name}@x.test`, `of ${name}`), name)
    assert.equal((await target.call('GET', '/v1/teams', { name: 'b' })).body.teams[0].password, 'open')
  })

  it('are those of an array, each with a salt of its own', async () => {
    const users = ['n1@x.test', 'n2@x.test'].map(email => ({ email, password: 'same' }))
    assert.equal((await target.call('POST', '/v1/users', undefined, users)).status, 200)
    const [one, two] = [await stored(target.engine, 'n1@x.test'), await stored(target.engine, 'n2@x.test')]
    assert.ok(isPasswordHash(one!) && isPasswordHash(two!) && one !== two)
    assert.ok(await holds('n2@x.test', 'same'))
  })

  it('are those of given and of engine.seed', async () => {
    await target.engine.given('user', { email: 'g@x.test', password: 'of g' })
    await target.engine.given.many('team', 2, index => ({ members: [{ email: `g${index}@x.test`, password: 'of g' }] }))
    await target.engine.seed({ users: [{ email: 's@x.test', password: 'of s' }] })
    for (const name of ['g', 'g0', 'g1']) assert.ok(await holds(`${name}@x.test`, 'of g'), name)
    assert.ok(await holds('s@x.test', 'of s'))
  })

  it('stay what they are when they come hashed, and empty when they come empty', async () => {
    const hash = await hashPassword('by hand')
    await target.call('PUT', '/v1/users/1', undefined, { password: hash })
    await target.call('PUT', '/v1/users/2', undefined, { password: '' })
    await target.call('PUT', '/v1/users/4', undefined, { password: null })
    assert.deepEqual([await stored(target.engine, 'ann@x.test'), await stored(target.engine, 'bob@x.test')], [hash, ''])
    assert.equal(await stored(target.engine, 'dan@x.test'), null)
    assert.ok(await logsIn(target.engine, 'ann@x.test', 'by hand'))
    assert.ok(!(await logsIn(target.engine, 'bob@x.test', '')))
  })

  it('are refused where they are no text, or longer than the model has them, as before', async () => {
    const { status, body } = await target.call('POST', '/v1/users', undefined, { email: 'x@x.test', password: 12_345 })
    assert.deepEqual([status, body.errors[0].attribute], [422, 'password'])
    for (const password of ['\ud800', 'x'.repeat(101)])
      assert.equal((await target.call('POST', '/v1/users', undefined, { email: 'x@x.test', password })).status, 422)
    assert.equal((await target.call('POST', '/v1/users', undefined, { email: 'x@x.test', password: '🙂'.repeat(100) })).status, 200)
  })

  it('are in no answer and in no entry of the journal', async () => {
    await target.call('POST', '/v1/users', undefined, { email: 'new@x.test', password: 'a plain secret' })
    const [entry] = target.engine.requests.slice(-1)
    assert.ok(!JSON.stringify(entry).includes('a plain secret') && !JSON.stringify(entry).includes('scrypt$'))
  })

  it('are in no error, plain or hashed, wherever a record stands that cannot stand there', async () => {
    const user = { email: 'new@x.test', password: 'a plain secret' }
    for (const [path, body] of [
      ['teams', { name: 'x', members: user }],
      ['teams', { name: 'x', members: [[user]] }],
      ['teams', { name: 'x', members: { connect: [user] } }],
      ['teams', { name: user }],
      ['teams', { name: 'x', members: [{ ...user, team: user }] }],
      ['users', { ...user, email: [user] }],
      ['users', { ...user, team: [user] }],
      ['users', { ...user, team: { name: 'x', members: user } }],
      ['users', { ...user, password: user }],
    ] as const) {
      const { status, body: refusal } = await target.call('POST', `/v1/${path}`, undefined, body)
      assert.ok(status >= 400 && !/a plain secret|scrypt/.test(JSON.stringify(refusal)), JSON.stringify(refusal))
    }
  })
})

describeStores('hashing', () => {
  it('leaves the way of a write as it is: statements', async () => {
    await using engine = await createEngine({ ...module(), seed: hashedSeed })
    const ways = async (method: string, path: string, body: unknown): Promise<unknown> =>
      (await engine.explain(method, path, undefined, body)).writes
    assert.deepEqual(await ways('POST', '/v1/users', { email: 'n@x.test', password: 'x' }), ['by statements of a plan'])
    assert.deepEqual(await ways('PUT', '/v1/users/1', { password: 'x' }), ['by statements of a plan'])
  })

  it('takes what a wrapper has made of a password', async () => {
    const create = async (ctx: { data: unknown }, next: () => never): Promise<never> => {
      const { password, ...others } = ctx.data as { password: string }
      ctx.data = {
        ...others,
        password: others.constructor === Object && password === 'hash me' ? await hashPassword('hashed') : `${password}!`,
      }
      return next()
    }
    await using engine = await createEngine({ ...module(), resources: [resource(User, { create } as never)] })
    await engine.send('POST /v1/users', { body: { email: 'a@x.test', password: 'hash me' } })
    await engine.send('POST /v1/users', { body: { email: 'b@x.test', password: 'plain' } })
    assert.deepEqual([await logsIn(engine, 'a@x.test', 'hashed'), await logsIn(engine, 'b@x.test', 'plain!')], [true, true])
  })

  it('is over when the time of the request is', async () => {
    await using engine = await createEngine({ ...module(), limits: { timeout: 60 } })
    const users = Array.from({ length: 100 }, (_, index) => ({ email: `n${index}@x.test`, password: `p${index}` }))
    const begin = performance.now()
    const { status, body } = await engine.send('POST /v1/users', { body: users })
    assert.deepEqual([status, body.code], [503, 'timeout'])
    // All of them take four seconds.
    assert.ok(performance.now() - begin < 2000)
    assert.equal(await engine.orm.em.fork().count(User), 0)
  })

  it('holds in a scenario, a fork and after a reset', async () => {
    await using engine = await createEngine({
      ...module(),
      seed: hashedSeed,
      scenarios: { one: { users: [{ email: 'one@x.test', password: 'of one' }] } },
    })
    await engine.scenario('one')
    assert.ok(await logsIn(engine, 'one@x.test', 'of one'))
    await engine.reset()
    await using fork = await engine.fork()
    await fork.send('POST /v1/users', { body: { email: 'f@x.test', password: 'of f' } })
    assert.deepEqual([await logsIn(fork, 'f@x.test', 'of f'), await logsIn(engine, 'f@x.test', 'of f')], [true, false])
  })

  it('reaches classes of one table, and whom a link to one of several entities creates', async () => {
    const Person = defineEntity({
      name: 'Person',
      discriminatorColumn: 'type',
      discriminatorMap: { guest: 'Guest', member: 'Member' } as never,
      properties: {
        id: p.integer().primary(),
        type: p.enum(['guest', 'member']).$type<'guest' | 'member'>(),
        name: p.string().default('x'),
      },
    })
    const Guest = defineEntity({ name: 'Guest', extends: Person, properties: {} })
    const Member = defineEntity({ name: 'Member', extends: Person, properties: { email: p.string(), password: p.string().hidden() } })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), by: () => p.manyToOne(Person).nullable() } })
    await using engine = await createEngine({
      entities: [Person, Guest, Member, Note],
      auth: auth({ entity: Member, secret: 's', public: ['* /*'] }),
    })
    const bodies: [string, unknown][] = [
      ['people', { type: 'member', email: 'a@x.test', password: 'pw' }],
      ['members', { email: 'b@x.test', password: 'pw' }],
      ['notes', { by: { type: 'member', email: 'c@x.test', password: 'pw' } }],
    ]
    for (const [path, body] of bodies) assert.equal((await engine.send(`POST /v1/${path}`, { body })).status, 200, path)
    const rows = await engine.orm.em.fork().find(Member, {})
    assert.deepEqual(
      rows.map(({ password }) => isPasswordHash(password)),
      [true, true, true],
    )
    assert.ok(await logsIn(engine, 'c@x.test', 'pw'))
  })
})

// In memory alone: on a server writes have connections of their own, and none waits for the transaction of another.
describe('hashing is done before the transaction begins', () => {
  const users = Array.from({ length: 2 }, (_, index) => ({ email: `n${index}@x.test`, password: 'of many' }))
  const wrapper = async (_: unknown, next: () => never): Promise<never> => next()
  for (const [what, config, path, body] of [
    ['of an array', {}, 'users', users],
    ['of an array under rules', { access: { create: () => true } }, 'users', users],
    ['of an array with a wrapper', { create: wrapper }, 'users', users],
    ['of a wrapper', { create: wrapper }, 'teams', { name: 't', members: users }],
    ['of a nested body', {}, 'teams', { name: 't', members: users }],
  ] as const) {
    it(what, async () => {
      const resources = [User, Team].map(entity => resource(entity as typeof User, config as never))
      await using engine = await RestEngine.create({ ...module(), seed: { teams: [{ id: 1, name: 'a' }] }, resources })
      const order: string[] = []
      const many = engine.send(`POST /v1/${path}`, { body }).then(({ status }) => order.push(`many ${status}`))
      for (const name of ['a', 'b', 'c']) order.push(`one ${(await engine.send('PUT /v1/teams/1', { body: { name } })).status}`)
      await many
      assert.deepEqual(order, ['one 200', 'one 200', 'one 200', 'many 200'])
      assert.ok(isPasswordHash((await stored(engine, 'n1@x.test')) ?? ''))
    })
  }
})

describe('the option hash', () => {
  /** Makes an engine on an entity with this password, and returns what it stores of a plain one, and its notes. */
  async function tried(properties: object, more: Partial<AuthOptions> = {}, others: object = {}): Promise<[boolean, string[]]> {
    const { hooks, ...options } = others as { hooks?: object }
    const One = defineEntity({
      name: 'One',
      ...(hooks === undefined ? {} : { hooks }),
      properties: { id: p.integer().primary(), email: p.string(), ...properties },
    } as never) as unknown as typeof User
    await using engine = await RestEngine.create({ entities: [One], auth: auth({ entity: One, public: ['* /*'], ...more }), ...options })
    const { status } = await engine.send('POST /v1/ones', { body: { email: 'a', password: 'plain' } })
    assert.equal(status, 200)
    const [row] = await engine.orm.em.fork().getConnection().execute<{ password: string }[]>('select password from one')
    return [isPasswordHash(row!.password), engine.notes.filter(note => note.includes('One.password'))]
  }
  const hidden = { password: p.string().hidden() }
  const isNoted = /^One\.password: passwords of bodies are stored as they come, since .* may hash them/

  it('is off for passwords that are compared as they are: where nothing hides them, or by plain', async () => {
    const logIn = async (property: object, more: object, stored: string, sent = stored): Promise<number> => {
      const One = defineEntity({
        name: 'One',
        properties: { id: p.integer().primary(), email: p.string().unique(), password: property },
      } as never) as unknown as typeof User
      const seed = { ones: [{ email: 'a', password: stored }] }
      await using engine = await RestEngine.create({ entities: [One], auth: auth({ entity: One, ...more }), seed })
      return (await engine.send('POST /v1/login', { body: { email: 'a', password: sent } })).status
    }
    assert.equal(await logIn(p.string(), {}, 'secret'), 200)
    assert.equal(await logIn(p.string(), {}, 'secret', 'Secret'), 401)
    assert.equal(await logIn(p.string(), {}, await hashPassword('secret'), 'secret'), 200)
    assert.equal(await logIn(p.string().hidden(), { plain: true }, 'secret'), 200)
    for (const others of ['$2b$10$abcdefghijklmnopqrstuv', '{SSHA}abcdef', '5ebe2294ecd0e0f08eab7690d2a6ee69'])
      assert.equal(await logIn(p.string(), {}, others), 401, others)
    // Hashes alone were promised.
    assert.equal(await logIn(p.string(), { hash: false }, 'secret'), 401)
    assert.equal(await logIn(p.string(), { plain: false }, 'secret'), 401)
    assert.throws(() => auth({ entity: User, plain: true, hash: true }), /choose one of them/)
  })

  it('is on where the property is hidden, by the entity or by the resource', async () => {
    assert.deepEqual(await tried(hidden), [true, []])
    assert.deepEqual(await tried({ password: p.text().hidden() }), [true, []])
    const [isHashed, notes] = await tried({ password: p.string() })
    assert.equal(isHashed, false)
    assert.match(
      notes.join(),
      /^One\.password: passwords of bodies are stored as they come, since it is not hidden: declare it hidden, or say/,
    )
    assert.deepEqual(await tried({ password: p.string() }, { hash: false }), [false, []])
    assert.deepEqual(await tried({ password: p.string() }, { hash: true }), [true, []])
    assert.deepEqual(await tried(hidden, { hash: false }), [false, []])
    await using engine = await RestEngine.create({
      entities: [Team, User],
      resources: [resource(Team, { attributes: { password: { private: true } } })],
      auth: auth({ entity: Team, identifier: 'name', public: ['* /*'] }),
    })
    await engine.send('POST /v1/teams', { body: { name: 'a', password: 'pw' } })
    assert.equal((await engine.send('POST /v1/login', { body: { name: 'a', password: 'pw' } })).status, 200)
  })

  it('is off where a check of the application’s own reads the password', async () => {
    assert.deepEqual(await tried(hidden, { authenticate: () => 1 }), [false, []])
    assert.deepEqual(await tried(hidden, { authenticate: () => 1, hash: true }), [true, []])
  })

  it('is off, with a note, where something else may hash', async () => {
    const hooks = { beforeCreate: [() => {}] }
    const subscriber = { beforeCreate: () => {} }
    for (const [properties, others] of [
      [hidden, { hooks }],
      [hidden, { orm: { subscribers: [subscriber] } }],
      [
        {
          password: p
            .string()
            .hidden()
            .onUpdate((one: { password: string }) => one.password),
        },
        {},
      ],
    ] as const) {
      const [isHashed, notes] = await tried(properties, {}, others)
      assert.equal(isHashed, false)
      assert.match(notes.join(), isNoted)
      assert.deepEqual(await tried(properties, { hash: true }, others), [true, []])
      assert.deepEqual(await tried(properties, { hash: false }, others), [false, []])
    }
  })

  it('stays on beside hooks and subscribers that see nothing before it is stored, or other entities', async () => {
    assert.deepEqual(await tried(hidden, {}, { hooks: { afterCreate: [() => {}] } }), [true, []])
    const subscriber = { getSubscribedEntities: () => [Team], beforeCreate: () => {} }
    assert.deepEqual(await tried(hidden, {}, { orm: { subscribers: [subscriber] } }), [true, []])
  })

  it('refuses a column that cannot hold a hash, and what is no password', async () => {
    const short = { password: p.string().length(60).hidden() }
    await assert.rejects(tried(short, { hash: true }), /One\.password holds 60 characters at most, and a hash has 86/)
    const [isHashed, notes] = await tried(short)
    assert.equal(isHashed, false)
    assert.match(
      notes.join(),
      /are stored as they come, since it holds 60 characters at most, and a hash has 86: give it more, or say hash: false/,
    )
    assert.deepEqual(await tried({ password: p.string().length(60).hidden() }, { hash: false }), [false, []])
    assert.equal((await hashPassword('any')).length, 86)
    await assert.rejects(
      RestEngine.create({ ...module({ authenticate: () => 1, password: 'pin', hash: true }) }),
      /"hash" is for the property "password", and there is no User\.pin/,
    )
    assert.throws(() => auth({ entity: User, hash: 'yes' as never }), /auth: "hash" must be true or false/)
  })
})

describe('a hash', () => {
  it('is of a cost that can be borne', async () => {
    const end = `$${'A'.repeat(22)}==$${'B'.repeat(43)}=`
    for (const cost of ['16384$8$1', '2$1$1', '65536$8$2']) assert.ok(isPasswordHash(`scrypt$${cost}${end}`), cost)
    for (const cost of ['99999999$999$999', '1$8$1', '0$8$1', '1000$8$1', '16384$0$1', '16384$8$0', '131072$8$2']) {
      assert.ok(!isPasswordHash(`scrypt$${cost}${end}`), cost)
    }
    // Those take memory and time without end where they are tried.
    for (const cost of ['99999999$999$999', '131072$8$2']) assert.equal(await verifyPassword('x', `scrypt$${cost}${end}`), false, cost)
    assert.ok(!isPasswordHash(`scrypt$16384$8$1$AAAA$BBBB`), 'a hash of three bytes')
  })
})
