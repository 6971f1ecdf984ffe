/** Tokens end with the password that they were made under, and with their user, however these change. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { after, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import * as jose from 'jose'
import { auth, hashPassword, RestEngine } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import { HASH, Note, PASSWORD, START, User, bearer, logIn, refusal, world } from './world.ts'

const OTHER = await hashPassword('another')
const REVOKED = [401, 'token_revoked', 'Bearer error="invalid_token"']

async function ask(engine: RestEngine, token: string): Promise<unknown> {
  const { status, body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(token) })
  return status === 200 ? 200 : (body as { code: string }).code
}

async function rewrite(engine: RestEngine, id: number, password: string): Promise<void> {
  await engine.orm.em.fork().nativeUpdate(User, { id }, { password })
}

describeTargets('a changed password', world(), target => {
  const code = (token: string) => ask(target.engine, token)

  it('ends older tokens, those of nobody else', async () => {
    const first = (await logIn(target)).body.auth_token as string
    const second = target.engine.token(1)
    const others = target.engine.token(2)
    const changed = await target.call('PUT', '/v1/users/1', undefined, { password: OTHER }, bearer(first))
    assert.equal(changed.status, 200)
    for (const token of [first, second])
      assert.deepEqual(refusal(await target.call('GET', '/v1/notes', undefined, undefined, bearer(token))), REVOKED)
    assert.equal(await code(others), 200)
    assert.equal(await code(target.engine.token(1)), 200)
    const { auth_token: token } = (await logIn(target, { email: 'ann@example.test', password: 'another' })).body
    assert.equal(await code(token as string), 200)
    const key = await jose.importJWK({ ...target.engine.publicKey })
    const { payload } = await jose.jwtVerify(token as string, key, { currentDate: START })
    assert.deepEqual(Object.keys(payload), ['sub', 'iat', 'exp', 'jti'])
  })

  it('is one that is stored otherwise: other changes of the user leave tokens alone', async () => {
    const token = target.engine.token(1)
    for (const body of [{ name: 'Anna' }, { email: 'anna@example.test' }, { password: HASH }])
      assert.equal((await target.call('PUT', '/v1/users/1', undefined, body, bearer(token))).status, 200)
    assert.equal(await code(token), 200)
  })
})

describe('a password that is changed', () => {
  it('by other code than a request ends tokens, too', async () => {
    await using engine = await RestEngine.create(world())
    const token = engine.token(1)
    await rewrite(engine, 1, OTHER)
    assert.equal(await ask(engine, token), 'token_revoked')
    const next = engine.token(1)
    await engine.orm.em.getConnection().execute('update "user" set "password" = ? where "id" = 1', [HASH])
    assert.equal(await ask(engine, next), 'token_revoked')
    // The very state under which it was made.
    assert.equal(await ask(engine, token), 200)
  })

  it('in a transaction that is rolled back ends none', async () => {
    await using engine = await RestEngine.create(world())
    const token = engine.token(1)
    const work = engine.orm.em.fork().transactional(async em => {
      await em.nativeUpdate(User, { id: 1 }, { password: OTHER })
      await em.nativeDelete(User, { id: 2 })
      throw new Error('undone')
    })
    const others = engine.token(2)
    await assert.rejects(work, /undone/)
    assert.equal(await ask(engine, token), 200)
    assert.equal(await ask(engine, others), 200)
  })

  it('is known to a hook that mints a token in its own transaction', async () => {
    const tokens: string[] = []
    await using engine = await RestEngine.create(
      world(
        {},
        {
          routes: [
            {
              method: 'POST',
              path: '/v1/renew',
              handler: ctx =>
                ctx.em.transactional(async em => {
                  await em.nativeUpdate(User, { id: 1 }, { password: OTHER })
                  tokens.push(engine.token(1))
                  return { body: {} }
                }),
            },
          ],
        },
      ),
    )
    await engine.handle('POST', '/v1/renew', undefined, {}, { headers: bearer(engine.token(1)) })
    assert.equal(await ask(engine, tokens[0]!), 200)
  })

  it('while a log-in checks the old one ends the token of that log-in', async () => {
    await using engine = await RestEngine.create(world())
    const logging = engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: PASSWORD })
    await setTimeout(5)
    await rewrite(engine, 1, OTHER)
    const { status, body } = await logging
    if (status === 200) assert.equal(await ask(engine, (body as { auth_token: string }).auth_token), 'token_revoked')
    else assert.equal(status, 401)
  })

  it('goes back with a snapshot, and is of one world alone', async () => {
    await using engine = await RestEngine.create(world())
    const old = engine.token(1)
    const before = await engine.snapshot()
    await rewrite(engine, 1, OTHER)
    const young = engine.token(1)
    await using fork = await engine.fork()
    assert.deepEqual([await ask(fork, old), await ask(fork, young)], ['token_revoked', 200])
    await engine.restore(before)
    assert.deepEqual([await ask(engine, old), await ask(engine, young)], [200, 'token_revoked'])
    assert.deepEqual([await ask(fork, old), await ask(fork, young)], ['token_revoked', 200])
    await rewrite(fork, 1, HASH)
    assert.equal(await ask(fork, young), 'token_revoked')
  })
})

describe('a user with the ID of one who was removed', () => {
  it('is not reached by tokens of that one, though all that is stored is the same', async () => {
    await using engine = await RestEngine.create(world())
    const bob = { id: 2, name: 'Bob', email: 'bob@example.test', password: HASH }
    const headers = bearer(engine.token(1))
    const old = engine.token(2)
    await using fork = await engine.fork()
    const before = await engine.snapshot()
    assert.equal((await engine.handle('DELETE', '/v1/users/2', undefined, undefined, { headers })).status, 200)
    assert.equal((await engine.handle('POST', '/v1/users', undefined, bob, { headers })).status, 200)
    assert.equal(await ask(engine, old), 'token_invalid')
    const second = engine.token(2)
    assert.equal(await ask(engine, second), 200)
    await using later = await engine.fork()
    await later.orm.em.getConnection().execute('delete from "user" where "id" = 2')
    await later.seed({ users: [bob] })
    assert.deepEqual([await ask(later, old), await ask(later, second)], ['token_invalid', 'token_invalid'])
    assert.equal(await ask(fork, old), 200)
    await engine.restore(before)
    assert.equal(await ask(engine, old), 200)
    await engine.orm.em.fork().nativeDelete(User, { id: 2 })
    await engine.seed({ users: [bob] })
    assert.deepEqual([await ask(engine, old), await ask(engine, second)], ['token_invalid', 'token_invalid'])
  })

  it('is not reached where there is no password either', async () => {
    const Member = defineEntity({ name: 'Member', properties: { id: p.integer().primary(), name: p.string() } })
    await using engine = await RestEngine.create({
      entities: [Member, User, Note],
      auth: auth({ entity: Member, authenticate: () => 1 }),
      seed: { members: [{ id: 1, name: 'Ann' }] },
    })
    const { body } = await engine.handle('POST', '/v1/login', undefined, {})
    const { auth_token: old } = body as { auth_token: string }
    assert.equal(await ask(engine, old), 200)
    await engine.orm.em.getConnection().execute('delete from "member"')
    assert.equal(await ask(engine, old), 'token_invalid')
    await engine.orm.em.getConnection().execute(`insert into "member" values (1, 'Ann')`)
    assert.equal(await ask(engine, old), 'token_invalid')
    assert.equal(await ask(engine, engine.token(1)), 200)
    // Nor is one who comes to have an ID for which a token was made before.
    const early = engine.token(2)
    await engine.seed({ members: [{ id: 2, name: 'Bob' }] })
    assert.equal(await ask(engine, early), 'token_revoked')
  })

  it('is told by what identifies them, where the password is empty', async () => {
    const Guest = defineEntity({
      name: 'Guest',
      properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden().nullable() },
    })
    await using engine = await RestEngine.create({
      entities: [Guest, User, Note],
      auth: auth({ entity: Guest, authenticate: () => 1, secret: 'of guests' }),
      seed: { guests: [{ id: 1, email: 'ann@example.test' }] },
    })
    await using next = await RestEngine.create({
      entities: [Guest, User, Note],
      auth: auth({ entity: Guest, authenticate: () => 1, secret: 'of guests' }),
      seed: { guests: [{ id: 1, email: 'bob@example.test' }] },
    })
    const token = engine.token(1)
    assert.deepEqual([await ask(engine, token), await ask(next, token)], [200, 'token_revoked'])
  })
})

describe('engines with one secret', () => {
  const folder = mkdtemp(join(tmpdir(), 'mikro-ended-'))
  after(async () => rm(await folder, { recursive: true }))

  it('on one file see what the other one does to passwords', async () => {
    const database = join(await folder, 'shared.db')
    const { seed, ...others } = world({ secret: 's' })
    const options = { ...others, database }
    await using one = await RestEngine.create({ ...options, seed: seed! })
    await using two = await RestEngine.create(options)
    const token = one.token(1)
    assert.deepEqual([await ask(one, token), await ask(two, token)], [200, 200])
    await rewrite(two, 1, OTHER)
    assert.deepEqual([await ask(one, token), await ask(two, token)], ['token_revoked', 'token_revoked'])
    const next = two.token(1)
    assert.deepEqual([await ask(one, next), await ask(two, next)], [200, 200])
  })

  it('one after the other do not take a token for the next user of the ID', async () => {
    const database = join(await folder, 'reused.db')
    const db = new Database(database)
    // Without AUTOINCREMENT a file gives the highest ID out again.
    db.exec('create table "user" ("id" integer primary key, "name" text not null, "email" text not null, "password" text not null)')
    db.close()
    const { seed: _, ...others } = world({ secret: 's' })
    const options = { ...others, database }
    const first = await RestEngine.create({ ...options, seed: { users: [{ name: 'Ann', email: 'a@example.test', password: HASH }] } })
    const token = first.token(1)
    assert.equal(await ask(first, token), 200)
    await first.orm.em.fork().nativeDelete(User, { id: 1 })
    await first.close()
    await using second = await RestEngine.create({
      ...options,
      seed: { users: [{ name: 'Bob', email: 'b@example.test', password: OTHER }] },
    })
    assert.equal(await ask(second, second.token(1)), 200)
    assert.equal(await ask(second, token), 'token_revoked')
  })

  it('takes tokens of the next engine for a user who was made anew', async () => {
    const { seed } = world()
    await using one = await RestEngine.create(world({ secret: 's' }))
    await using two = await RestEngine.create(world({ secret: 's' }))
    const old = two.token(2)
    await one.orm.em.fork().nativeDelete(User, { id: 2 })
    await one.seed({ users: [(seed as { users: object[] }).users[1]!] })
    assert.deepEqual([await ask(one, old), await ask(one, two.token(2))], ['token_invalid', 200])
  })
})
