/** Log-in on PostgreSQL: tables of its own, made where somebody asks for log-in, on which all processes that serve the database agree. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine, auth } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { HASH, Note, PASSWORD, START, User, bearer, world } from '../auth/world.ts'
import { SERVER_URL, findNoServer, ownDatabase, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const TABLES =
  "select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname like 'mikro%' order by 1"

async function listTables(schema: OwnSchema): Promise<unknown[]> {
  return (await schema.run(TABLES)).map(({ relname }) => relname)
}

const { seed, ...unseeded } = world()
const open = (schema: OwnSchema, options: Partial<EngineOptions> = {}): Promise<RestEngine> =>
  RestEngine.create({ ...unseeded, ...options, database: schema.database })

async function ask(engine: RestEngine, token: string): Promise<unknown> {
  const { status, body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(token) })
  return status === 200 ? 200 : body.code
}

async function logIn(engine: RestEngine, password = PASSWORD, email = 'ann@example.test'): Promise<[number, string]> {
  const { status, body, headers } = await engine.handle('POST', '/v1/login', undefined, { email, password })
  return [status, status === 429 ? headers['retry-after']! : (body.auth_token as string)]
}

const logOut = (engine: RestEngine, token: string): ReturnType<RestEngine['handle']> =>
  engine.handle('POST', '/v1/logout', undefined, undefined, { headers: bearer(token) })

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('log-in on PostgreSQL', { skip: NO_SERVER }, () => {
  it('makes its tables, and engines without log-in make none', async () => {
    await using schema = ownSchema()
    await using plain = await RestEngine.create({ entities: [User, Note], database: schema.database })
    assert.equal((await plain.handle('GET', '/v1/users')).status, 200)
    assert.deepEqual(await listTables(schema), ['mikro_changes'])
    await using engine = await open(schema)
    assert.equal((await engine.handle('GET', '/v1/users')).status, 401)
    assert.deepEqual(await listTables(schema), ['mikro_changes', 'mikro_ended', 'mikro_logins', 'mikro_tokens'])
    await using served = await RestEngine.create({ database: schema.database })
    assert.deepEqual(
      internalsOf(served)
        .model.resources.map(({ plural }) => plural)
        .toSorted(),
      ['notes', 'users'],
    )
  })

  it('needs a secret, which is said in one line', async () => {
    await assert.rejects(
      RestEngine.create({ entities: [User, Note], auth: auth({ entity: User }), database: SERVER_URL }),
      /^TypeError: RestEngine\.create: "auth" needs a "secret" with PostgreSQL, [^\n]*$/,
    )
  })

  it('is refused in one line where the user may not create its tables, and takes tables that are there', async () => {
    await using schema = ownSchema()
    const { schema: name, url } = schema.database
    const role = `${name}_role`
    await schema.run(`create schema ${name}; set search_path = ${name}; create table other (a int)`)
    await using first = await open(schema, { seed: seed! })
    await schema.run('drop table mikro_ended, mikro_logins, mikro_tokens')
    await schema.run(
      `create role ${role} login; grant usage on schema ${name} to ${role}; grant select on all tables in schema ${name} to ${role}`,
    )
    try {
      const poor = new URL(url)
      poor.username = role
      const refused = /^Error: RestEngine\.create: "auth" keeps [^\n]* may not create \(permission denied [^\n]*create table "[^\n]*$/
      const options = { ...unseeded, schema: 'keep', database: { ...schema.database, url: poor.href } } as EngineOptions
      await assert.rejects(RestEngine.create(options), refused)
      await using again = await open(schema)
      await assert.rejects(
        RestEngine.create(options),
        /needs the rights to select, insert, update, delete on the table "[^\n]*mikro_[a-z]*"/,
      )
      await schema.run(`grant select, insert, update, delete on mikro_ended, mikro_logins, mikro_tokens to ${role}`)
      await using engine = await RestEngine.create(options)
      const token = engine.token(1)
      assert.deepEqual([await ask(engine, token), await ask(again, token)], [200, 200])
    } finally {
      await schema.run(`drop owned by ${role}; drop role ${role}`)
    }
    assert.equal(first.notes.length, 0)
  })

  it('ends a token for all engines of the database at once', async () => {
    await using schema = ownSchema()
    await using one = await open(schema, { seed: seed! })
    await using two = await open(schema)
    for (const token of [(await logIn(one))[1], one.token(1)]) {
      assert.deepEqual([await ask(one, token), await ask(two, token)], [200, 200])
      assert.equal((await logOut(two, token)).status, 200)
      assert.deepEqual([await ask(one, token), await ask(two, token)], ['token_revoked', 'token_revoked'])
    }
    // An engine that only reads minds what others have ended, and writes nothing itself.
    await using reading = await open(schema, { readOnly: true })
    const [, ended] = await logIn(one)
    const [, own] = await logIn(reading)
    assert.deepEqual([await ask(reading, ended), await ask(two, own)], [200, 200])
    await logOut(one, ended)
    const before = await schema.run('select count(*) from mikro_ended')
    await logOut(reading, own)
    assert.deepEqual([await ask(reading, ended), await ask(reading, own)], ['token_revoked', 'token_revoked'])
    assert.deepEqual(await schema.run('select count(*) from mikro_ended'), before)
  })

  it('keeps ended tokens as long as they would live', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: seed! })
    for (const ttl of [60, 7200]) await logOut(engine, engine.token(1, { ttl }))
    engine.clock.advance('1h')
    const token = engine.token(1)
    assert.equal(await ask(engine, token), 200)
    await logOut(engine, token)
    assert.deepEqual(await schema.run('select count(*)::int as n from mikro_ended'), [{ n: 2 }])
    assert.deepEqual(await schema.run('select count(*)::int as n from mikro_tokens'), [{ n: 2 }])
  })

  it('counts failures over all engines, and lets right ones through beside each other', async () => {
    await using schema = ownSchema()
    await using one = await open(schema, { seed: seed! })
    await using two = await open(schema)
    const both = (count: number, password: string): Promise<[number, string][]> =>
      Promise.all(Array.from({ length: count }, (_, index) => logIn(index % 2 === 0 ? one : two, password)))
    assert.deepEqual(new Set((await both(12, PASSWORD)).map(([status]) => status)), new Set([200]))
    const wrong = await both(16, 'wrong')
    assert.equal(wrong.filter(([status]) => status === 401).length, 5)
    assert.deepEqual(await logIn(two), [429, '60'])
    assert.equal((await logIn(two, PASSWORD, 'bob@example.test'))[0], 200)
    // The identifiers are in no table.
    const [{ name } = {}] = await schema.run('select name from mikro_logins')
    assert.match(String(name), /^[\w+/]{43}=$/)
    for (const engine of [one, two]) engine.clock.advance('60s')
    assert.equal((await logIn(one))[0], 200)
    assert.deepEqual(await schema.run('select count(*)::int as n from mikro_logins'), [{ n: 0 }])
  })

  it('counts failures by the user found, where the column compares without blanks at the end', async () => {
    await using schema = ownSchema()
    const Member = defineEntity({
      name: 'Member',
      properties: { id: p.integer().primary(), email: p.string().columnType('char(20)').unique(), password: p.string().hidden() },
    })
    await using engine = await RestEngine.create({
      entities: [Member],
      auth: auth({ entity: Member, secret: 's' }),
      database: schema.database,
      seed: { members: [{ email: 'ann', password: HASH }] },
    })
    assert.equal((await logIn(engine, PASSWORD, 'ann   '))[0], 200)
    const statuses: number[] = []
    for (let blanks = 0; blanks < 7; blanks++) statuses.push((await logIn(engine, 'wrong', `ann${' '.repeat(blanks)}`))[0])
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
  })

  it('answers an identifier that no text can be', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: seed! })
    assert.equal((await logIn(engine, PASSWORD, 'a\0b'))[0], 401)
    assert.equal((await logIn(engine, PASSWORD, '\uD800'))[0], 401)
    const Member = defineEntity({ name: 'Member', properties: { id: p.integer().primary(), password: p.string().hidden() } })
    const module = auth({ entity: Member, identifier: 'id', secret: 's' })
    await using other = await RestEngine.create({ entities: [Member], auth: module, database: schema.database })
    assert.equal((await other.handle('POST', '/v1/login', undefined, { id: 'abc', password: PASSWORD })).status, 401)
  })

  it('is undone by reset and snapshots with the rest of the world, in a database that an engine has made', async () => {
    await using own = await ownDatabase()
    await using engine = await RestEngine.create({ ...world(), database: own.database })
    const token = engine.token(1)
    await logOut(engine, token)
    for (let attempt = 0; attempt < 5; attempt++) await logIn(engine, 'wrong')
    const bad = await engine.snapshot()
    await using fork = await engine.fork()
    const state = async (of: RestEngine): Promise<unknown> => [await ask(of, token), (await logIn(of))[0]]
    assert.deepEqual(await state(engine), ['token_revoked', 429])
    await engine.reset()
    // A token that `engine.token` has made outlives it, as on SQLite.
    assert.deepEqual(await state(engine), [200, 200])
    assert.deepEqual(await state(fork), ['token_revoked', 429])
    assert.equal(await ask(fork, engine.token(2)), 200)
    await engine.restore(bad)
    assert.deepEqual(await state(engine), ['token_revoked', 429])
  })

  it('ends the tokens of a user who is removed, by whatever removes them', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: { code: p.string().primary(), part: p.integer().primary(), name: p.string() },
    })
    await using schema = ownSchema()
    const module = auth({ entity: Member, identifier: 'name', authenticate: () => 'a%7Eb~1', secret: 's' })
    await using engine = await RestEngine.create({ entities: [Member, Note, User], auth: module, database: schema.database })
    const insert = "insert into member (code, part, name) values ('a~b', 1, 'Ann')"
    await schema.run(insert)
    const old = (await engine.handle('POST', '/v1/login', undefined, {})).body.auth_token as string
    assert.equal(await ask(engine, old), 200)
    await schema.run('delete from member')
    assert.equal(await ask(engine, old), 'token_invalid')
    await schema.run(insert)
    assert.equal(await ask(engine, old), 'token_invalid')
    assert.equal(await ask(engine, engine.token('a%7Eb~1')), 200)
  })

  it('leaves the tables of others without triggers', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}; set search_path = ${schema.database.schema}; create table other (a int)`)
    await using engine = await open(schema, { seed: seed! })
    assert.equal(await ask(engine, engine.token(1)), 200)
    assert.deepEqual(await schema.run('select tgname from pg_trigger where not tgisinternal and tgrelid = to_regclass(\'"user"\')'), [])
    assert.deepEqual(await listTables(schema), ['mikro_ended', 'mikro_logins', 'mikro_tokens'])
  })
})

describe('engine.token on PostgreSQL', { skip: NO_SERVER }, () => {
  it('makes a token of the state in the transaction that asks for it', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed: seed! })
    const before = engine.token(1)
    // The state of a token is read behind `engine.token`; a change in the meantime would be part of the state.
    assert.equal(await ask(engine, before), 200)
    const em = engine.orm.em.fork()
    let inside = ''
    await em.transactional(async tx => {
      await tx.nativeUpdate(User, { id: 1 }, { password: `${HASH} ` })
      inside = engine.token(1)
    })
    assert.deepEqual([await ask(engine, before), await ask(engine, inside)], ['token_revoked', 200])
    assert.equal(START.getTime(), engine.clock.now().getTime())
  })
})
