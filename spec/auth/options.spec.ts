/** The options of the module, and the hashes of passwords. */
import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, hashPassword, resource } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { verifyPassword } from '../../lib/engine/auth/password.ts'
import { Note, User, world } from './world.ts'

describe('auth', () => {
  it('has defaults', () => {
    assert.deepEqual(auth({ entity: User }).options, {
      entity: User,
      identifier: 'email',
      password: 'password',
      ttl: 3600,
      paths: { login: 'login', logout: 'logout' },
      public: [],
    })
  })

  const refused: [string, unknown, RegExp][] = [
    ['no options', undefined, /options must be an object/],
    ['no entity', {}, /"entity" is needed/],
    ['an unknown option', { entity: User, identifer: 'email' }, /unknown option "identifer"\. Did you mean "identifier"\?/],
    ['a ttl of 0', { entity: User, ttl: 0 }, /"ttl" must be a number of seconds above 0/],
    ['a ttl below 0', { entity: User, ttl: -5 }, /"ttl"/],
    ['a ttl as text', { entity: User, ttl: '1h' }, /"ttl"/],
    ['an endless ttl', { entity: User, ttl: Infinity }, /"ttl"/],
    ['an empty secret', { entity: User, secret: '' }, /"secret" must be a string/],
    ['a secret that is no text', { entity: User, secret: 5 }, /"secret"/],
    ['an identifier that is no name', { entity: User, identifier: 5 }, /"identifier" must be the name of a property/],
    ['an authenticate that is no function', { entity: User, authenticate: true }, /"authenticate" must be a function/],
    ['public that is no list', { entity: User, public: 'GET /v1/notes' }, /"public" must be an array/],
    ['a pattern without method', { entity: User, public: ['/v1/notes'] }, /"\/v1\/notes" must be like "GET \/v1\/posts\*"/],
    ['a pattern in lower case', { entity: User, public: ['get /v1/notes'] }, /must be like/],
    ['a pattern without slash', { entity: User, public: ['GET v1/notes'] }, /must be like/],
  ]
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => assert.throws(() => auth(options as AuthOptions), message))
  }

  it('refuses, with the engine, properties that the entity does not have, with the nearest ones', async () => {
    await assert.rejects(RestEngine.create(world({ identifier: 'emial' })), /User has no property "emial"\. Did you mean "email"\?/)
    await assert.rejects(RestEngine.create(world({ password: 'pasword' })), /User has no property "pasword"\. Did you mean "password"\?/)
    await using engine = await RestEngine.create(world({ identifier: 'pin', authenticate: () => 1 }))
    assert.ok(engine, 'a custom check may know others')
  })

  it('refuses, with the engine, an entity that is not its own, or not served', async () => {
    const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary() } })
    await assert.rejects(RestEngine.create({ entities: [Note, User], auth: auth({ entity: Other }) }), /Other/)
    await assert.rejects(RestEngine.create({ entities: [Note, User], auth: auth({ entity: 'users' }) }), {
      name: 'TypeError',
      message:
        'auth: "entity" must be the entity of the users, or its name, and there is no entity "users". Did you mean "User"? ' +
        'The entities are User, Note.',
    })
    await assert.rejects(
      RestEngine.create({ ...world(), resources: [resource(User, { versions: [] })] }),
      /auth: User is not served in any version/,
    )
  })

  it('refuses, with the engine, options that were not given to auth()', async () => {
    for (const module of [{ entity: User }, true, auth]) {
      await assert.rejects(
        RestEngine.create({ entities: [User, Note], auth: module as never }),
        /must be made by auth\(\{ entity, \.\.\. \}\)/,
      )
    }
  })

  it('refuses a route of its own that log-in would shadow', async () => {
    const routes = [{ method: 'POST', path: '/{version}/login', handler: () => ({}) }]
    await assert.rejects(RestEngine.create(world({}, { routes })), /can never be reached/)
  })
})

describe('hashPassword', () => {
  it('gives a scrypt hash that names its parameters, with a salt of its own', async () => {
    const [one, two] = await Promise.all([hashPassword('secret'), hashPassword('secret')])
    assert.notEqual(one, two)
    const [scheme, N, r, parallel, salt = '', hash = ''] = one.split('$')
    assert.deepEqual([scheme, N, r, parallel], ['scrypt', '16384', '8', '1'])
    assert.equal(Buffer.from(salt, 'base64').length, 16)
    assert.deepEqual(Buffer.from(hash, 'base64'), scryptSync('secret', Buffer.from(salt, 'base64'), 32, { N: 16_384, r: 8, p: 1 }))
    assert.ok(one.length < 120)
  })

  it('is verified by the parameters in the hash, so that old ones go on', async () => {
    const salt = Buffer.from('0123456789abcdef')
    const old = `scrypt$1024$8$2$${salt.toString('base64')}$${scryptSync('old', salt, 24, { N: 1024, r: 8, p: 2 }).toString('base64')}`
    assert.deepEqual(await Promise.all([verifyPassword('old', old), verifyPassword('new', old)]), [true, false])
  })

  it('is not matched by what is no hash', async () => {
    for (const stored of ['secret', '', null, undefined, 5, 'scrypt$1$1$1$$', '$2b$10$abc'])
      assert.equal(await verifyPassword('secret', stored), false)
  })
})
