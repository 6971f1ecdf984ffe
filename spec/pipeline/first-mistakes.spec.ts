/** What people get wrong first: each is one line that says what to do. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, hashPassword } from '../../lib/index.ts'
import type { AuthOptions, EngineOptions } from '../../lib/index.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden(), friends: () => p.manyToMany(User) },
})
const Pet = defineEntity({ name: 'Pet', properties: { id: p.integer().primary(), name: p.string(), age: p.integer().nullable() } })

class Plain {
  readonly id = 1
}

/** One line, a TypeError, and this text in it. */
function oneLine(text: RegExp): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof TypeError, String(error))
    assert.match(error.message, text)
    assert.doesNotMatch(error.message, /\n/)
    return true
  }
}

const refused = (options: unknown, text: RegExp): Promise<void> =>
  assert.rejects(async () => (await RestEngine.create(options as EngineOptions)).close(), oneLine(text))

describe('an engine', () => {
  it('is not made by new', () => {
    const Any = RestEngine as unknown as new (options?: unknown) => unknown
    for (const options of [undefined, {}, { entities: [User] }]) {
      assert.throws(() => new Any(options), oneLine(/await RestEngine\.create\(\{ entities: \[User\] \}\)/))
    }
  })

  it('needs options that are an object', async () => {
    for (const options of [undefined, null, [User], User])
      await refused(options, /options must be an object: \{ entities: \[User, Site\] \}/)
  })

  it('says which entity is undefined, and why that may be', async () => {
    await refused({ entities: [User, undefined] }, /"entities\[1\]", after User, is undefined: .* circular/)
    await refused({ entities: [undefined, User] }, /"entities\[0\]" is undefined/)
  })

  it('says which entity is none', async () => {
    await refused({ entities: [null] }, /"entities\[0\]" must be an entity .* got null\.$/)
    await refused({ entities: [User, 3] }, /"entities\[1\]", after User, must be an entity .* got 3\.$/)
    await refused({ entities: [[User]] }, /"entities\[0\]" must be an entity .* got an array\.$/)
    await refused({ entities: [Promise.resolve(User)] }, /"entities\[0\]" must be an entity .* got a promise \(await it\)\.$/)
    await refused({ entities: [{ name: 'User' }] }, /"entities\[0\]" must be an entity .* got an object with "name"\.$/)
    await refused({ entities: [{ default: User, User }] }, /got an object with "default", "User"\.$/)
    await refused({ entities: [{}] }, /got an empty object\.$/)
    await refused({ entities: ['User'] }, /"entities\[0\]" is the text "User": give the entity itself .* or a pattern of files/)
    await refused({ entities: [User, 'Pet'] }, /"entities\[1\]" is the text "Pet"/)
    await refused({ entities: ['./none/*.js'] }, /no file with an entity matches "\.\/none\/\*\.js", taken from /)
    await refused({ entities: [Plain] }, /"entities\[0\]" is the class Plain, which is not declared as an entity: .* defineEntity/)
    await refused({ entities: Date }, /must be an array of at least one entity.* Write \[User\]/)
  })

  it('says that a database server is not supported yet, and keeps its password to itself', async () => {
    for (const [url, name] of [
      ['mysql://ann:secret@localhost/shop', 'MySQL'],
      ['mongodb+srv://ann:secret@localhost/shop', 'MongoDB'],
    ] as const) {
      for (const entities of [[User], undefined]) {
        await refused({ entities, database: url }, new RegExp(`${name} is not supported yet\\. Leave "database" out`))
        await refused({ entities, database: url }, /^(?!.*secret)/)
      }
    }
    await refused(
      { entities: [User], database: 'file:///tmp/shop.sqlite?mode=ro' },
      /is a file: URL, which may name a path and nothing else/,
    )
    await refused({ entities: [User], database: 'sqlite://shop.sqlite' }, /is a URL: give the path of the file alone/)
    await refused({ entities: [User], database: 'sqlite:shop.sqlite' }, /is a URL: give the path of the file alone/)
    await refused({ entities: [User], database: 'postgresql:shop' }, /is a URL that cannot be read: "postgres:\/\//)
  })

  it('takes no misspelt memory for the name of a file', async () => {
    for (const database of ['memory', ':memory', 'sqlite::memory:'])
      await refused({ entities: [User], database }, /"database" is "\S+"\. Did you mean ":memory:"\?$/)
    await assert.rejects(RestEngine.create({ entities: [User], database: '.' }), /^Error: \. is a folder: give the path of a file in it\.$/)
  })

  it('knows what other libraries call its options, and which are of the server', async () => {
    for (const [name, meant] of Object.entries({
      entity: 'entities',
      models: 'entities',
      dbName: 'database',
      file: 'database',
      fixtures: 'seed',
    }))
      await refused({ entities: [User], [name]: 1 }, new RegExp(`unknown option "${name}"\\. Did you mean "${meant}"\\?$`))
    await refused({ entities: [User], port: 3000 }, /unknown option "port"\. .*createServer\(engine\)\.listen\(3000\)\.$/)
    await refused({ entities: [User], cors: true }, /unknown option "cors"\. It is one of a server: createServer\(engine, \{ cors: /)
    await refused({ entities: [User], public: [] }, /unknown option "public"\. It is one of the log-in: auth\(/)
    await refused({ entities: [User], limits: 100 }, /"limits" must be an object: \{ maxLimit: 500 \}\.$/)
  })

  it('needs a seed that is an object of lists', async () => {
    for (const seed of [[], [{ name: 'Ann' }], 'users', 3, null]) {
      await refused({ entities: [User], seed }, /"seed" must be an object of lists of records: \{ users: \[\{ name: 'Ann' \}\] \}\.$/)
      await using engine = await RestEngine.create({ entities: [User] })
      await assert.rejects(engine.seed(seed as never), oneLine(/the seed must be an object of lists of records/))
    }
  })

  it('names all options where none is near', async () => {
    await refused({ entities: [User], whatever: 1 }, /unknown option "whatever"\. Known are entities, database, persist, schema, /)
  })
})

describe('auth', () => {
  const wrong = (options: unknown, text: RegExp): void => assert.throws(() => auth(options as AuthOptions), oneLine(text))

  it('knows what other libraries call its options', () => {
    for (const [name, meant] of Object.entries({
      user: 'entity',
      model: 'entity',
      username: 'identifier',
      usernameField: 'identifier',
      login: 'identifier',
      passwordField: 'password',
      expiresIn: 'ttl',
      jwtSecret: 'secret',
      except: 'public',
      validate: 'authenticate',
    })) {
      wrong({ entity: User, [name]: 'x' }, new RegExp(`^auth: unknown option "${name}"\\. Did you mean "${meant}"\\?$`))
    }
    wrong({ entity: User, colour: 'x' }, /Known are entity, identifier, password, ttl, .*, public\b/)
  })

  it('takes an object, not the entity itself', () => {
    for (const options of [undefined, User, Date]) wrong(options, /the options must be an object: \{ entity: User \}/)
  })

  it('is a function', async () => {
    for (const module of [auth, { entity: User }, true, User])
      await refused({ entities: [User], auth: module }, /auth: auth\(\{ entity: User \}\)/)
  })

  it('says how the properties of the log-in are named', async () => {
    const text = /Pet has no property "email"\. The options "identifier" \(default "email"\) and "password" \(default "password"\)/
    await refused({ entities: [Pet], auth: auth({ entity: Pet }) }, text)
  })

  it('says what a log-in has to send, and what was sent instead', async () => {
    await using engine = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User }),
      seed: { users: [{ id: 1, email: 'a@example.test', password: await hashPassword('pw') }] },
    })
    const { status, body } = await engine.handle('POST', '/v1/login', undefined, { username: 'a@example.test', password: 'pw' })
    assert.equal(status, 422)
    assert.equal(body.detail, '"email" must be a string. The body has "username" instead.')
    const empty = await engine.handle('POST', '/v1/login', undefined, {})
    assert.equal(empty.body.detail, '"email" must be a string. "password" must be a string.')
  })
})

describe('a body in the place of the query', () => {
  const HINT =
    /The third argument of "handle" is the query, the fourth is the body: handle\("(?:POST|PUT|PATCH)", path, undefined, body\)\.$/

  it('is refused with its right place', async () => {
    await using engine = await RestEngine.create({ entities: [User, Pet], seed: { pets: [{ id: 1, name: 'Rex' }] } })
    for (const [method, path, query] of [
      ['POST', '/v1/pets', { name: 'Rex' }],
      ['post', '/v1/pets', { name: 'Rex' }],
      ['POST', '/v1/users', { email: 'x', friends: [{ email: 'y' }] }],
      ['PUT', '/v1/pets/1', { name: 'Max' }],
      ['PATCH', '/v1/pets/1', { name: 'Max' }],
      ['PUT', '/v1/pets/1/name', 'Max'],
    ] as const) {
      const { status, body } = await engine.handle(method, path, query)
      assert.equal(status, 400, JSON.stringify(query))
      assert.equal(body.code, 'parameter_invalid')
      assert.match(body.detail, HINT)
    }
    await assert.rejects(engine.handle('PUT', '/v1/pets/1/age', 5 as never), oneLine(/got number; the body is the fourth argument/))
  })

  it('is not suspected where there is a body, and where nobody could have mistaken an argument', async () => {
    await using engine = await RestEngine.create({ entities: [Pet] })
    assert.doesNotMatch((await engine.handle('POST', '/v1/pets', { colour: 1 }, { name: 'Rex' })).body.detail, HINT)
    assert.doesNotMatch((await engine.handle('GET', '/v1/pets', { colour: 1 })).body.detail, HINT)
    assert.doesNotMatch((await engine.handle('POST', '/v1/pets?colour=1')).body.detail, HINT)
    const response = await engine.fetch(new Request('http://api.test/v1/pets?colour=1', { method: 'POST' }))
    assert.doesNotMatch(((await response.json()) as { detail: string }).detail, HINT)
  })
})
