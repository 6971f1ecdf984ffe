/** Where the config of an application is served: its own SQLite file or PostgreSQL server, else SQLite in memory. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { PostgreSqlDriver, defineConfig as definePostgres } from '@mikro-orm/postgresql'
import { EntitySchema, SqliteDriver, defineConfig, defineEntity, p } from '@mikro-orm/sqlite'
import { findDatabase, withEnvironment } from '../../lib/engine/config/own-connection.ts'
import type { OrmConfig } from '../../lib/engine/config/choose-config.ts'
import { RestEngine } from '../../lib/index.ts'
import { ownSchema } from '../postgres/server-database.ts'
import { NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })

/** Drivers of packages that are not installed here: their classes are known by their names. */
const [MySqlDriver, LibSqlDriver, PgliteDriver] = ['MySqlDriver', 'LibSqlDriver', 'PgliteDriver'].map(name =>
  Object.defineProperty(class extends Object {}, 'name', { value: name }),
)
class OwnDriver extends SqliteDriver {}

const find = async (config: object): Promise<unknown> => (await findDatabase(config as OrmConfig)).database
const notesOf = async (config: object): Promise<string> => (await findDatabase(config as OrmConfig)).notes.join('\n')

describe('the database of a config', () => {
  let folder = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('is the file of SQLite that it names, made when missing, unless the engine is given another', async () => {
    const dbName = join(folder, 'own.sqlite')
    const config = defineConfig({ dbName, entities: [Note] })
    {
      await using engine = await RestEngine.create({ config, database: ':memory:' })
      assert.equal(existsSync(dbName), false)
      assert.deepEqual(engine.notes, [])
    }
    {
      await using engine = await RestEngine.create({ config })
      assert.equal((await engine.send('POST /v1/notes', { body: { text: 'a' } })).status, 200)
    }
    await using again = await RestEngine.create({ config: { ...config, driver: OwnDriver } })
    assert.equal((await again.send('GET /v1/notes')).body.count, 1)
  })

  it('is a file for each driver of files, and memory where the file has no name', async () => {
    assert.equal(await find({ driver: SqliteDriver, dbName: 'a.db' }), 'a.db')
    assert.equal(await find({ driver: LibSqlDriver, dbName: './a.db' }), './a.db')
    assert.equal(await find({ dbName: 'data/a.db' }), 'data/a.db')
    for (const config of [{ driver: SqliteDriver }, { driver: SqliteDriver, dbName: ':memory:' }, {}, { driver: SqliteDriver, dbName: '' }])
      assert.equal(await find(config), ':memory:')
    assert.equal(await find({ driver: PgliteDriver, dbName: 'memory://' }), 'pglite:')
    assert.equal(await find({ driver: PgliteDriver, dbName: './data' }), 'pglite:./data')
  })

  it('is memory, with a note, for the config of another driver', async () => {
    for (const config of [
      { driver: MySqlDriver, dbName: 'shop' },
      { clientUrl: 'mysql://ann:secret@localhost/shop' },
      { driver: LibSqlDriver, dbName: 'libsql://shop.example.test' },
      { dbName: 'shop' },
    ]) {
      assert.equal(await find(config), ':memory:')
      assert.match(await notesOf(config), /^config: it is served from SQLite in memory, since .*\. The option "database" says where else/)
      assert.doesNotMatch(await notesOf(config), /secret/)
    }
    await using engine = await RestEngine.create({ config: { driver: MySqlDriver, dbName: 'shop', entities: [Note] } })
    assert.match(engine.notes.join(), /since MySqlDriver is no driver of a SQLite file or a PostgreSQL server/)
    assert.equal((await engine.send('POST /v1/notes', { body: { text: 'a' } })).status, 200)
  })

  it('of MongoDB makes its keys itself, and so does the engine', async () => {
    const Shop = new EntitySchema<{ _id: string; name: string }>({
      name: 'Shop',
      properties: { _id: { type: 'ObjectId', primary: true }, name: { type: 'string' } },
    })
    const MongoDriver = Object.defineProperty(class extends Object {}, 'name', { value: 'MongoDriver' })
    await using engine = await RestEngine.create({ config: { driver: MongoDriver, dbName: 'shop', entities: [Shop] } })
    const made = [1, 2].map(() => engine.send('POST /v1/shops', { body: { name: 'A' } }))
    const [first = '', second = ''] = (await Promise.all(made)).map(({ body }) => (body.shop as { _id: string })['_id'])
    assert.match(first, /^[\da-f]{24}$/)
    assert.ok(first < second)
    assert.equal((await engine.send(`GET /v1/shops/${first}`)).status, 200)
  })

  it('is a server of PostgreSQL, by its URL or its parts', async () => {
    const driver = PostgreSqlDriver
    for (const [config, database] of [
      [{ driver, dbName: 'shop' }, { url: 'postgres://postgres@localhost:5432/shop' }],
      [
        { driver, dbName: 'a/b', user: 'an n', password: 'p@:', host: 'db', port: 5433 },
        { url: 'postgres://an%20n:p%40%3A@db:5433/a%2Fb' },
      ],
      [{ driver, dbName: 'shop', host: '::1' }, { url: 'postgres://postgres@[::1]:5432/shop' }],
      [{ driver, dbName: 'shop', host: '/run/pg' }, { url: 'postgres://postgres@localhost:5432/shop?host=%2Frun%2Fpg' }],
      [
        { driver, clientUrl: 'postgresql://ann:pw@db/shop?schema=sales' },
        { url: 'postgres://ann:pw@db/shop', schema: 'sales' },
      ],
      [{ clientUrl: 'postgres://ann@db/shop' }, { url: 'postgres://ann@db/shop' }],
      [{ driver, clientUrl: 'postgres://ann:pw@db/shop', dbName: 'other', schema: 'public' }, { url: 'postgres://ann:pw@db/other' }],
      [
        { driver, dbName: 'shop', schema: 'sales', pool: { min: 1, max: 4 } },
        { url: 'postgres://postgres@localhost:5432/shop', schema: 'sales', poolSize: 4 },
      ],
      [
        { driver, dbName: 'shop', driverOptions: { ssl: { rejectUnauthorized: false } } },
        { url: 'postgres://postgres@localhost:5432/shop?sslmode=no-verify' },
      ],
      [
        { driver, dbName: 'shop', driverOptions: { connection: { ssl: true } } },
        { url: 'postgres://postgres@localhost:5432/shop?sslmode=verify-full' },
      ],
      [{ driver, dbName: 'shop', password: async () => 'token' }, { url: 'postgres://postgres:token@localhost:5432/shop' }],
    ] as const)
      assert.deepEqual(await find(config), database)
    assert.match(await notesOf({ driver, dbName: 'shop', password: () => 'token' }), /config\.password is a function: it is asked once/)
    assert.match(await notesOf({ driver, dbName: 'shop', replicas: [{ host: 'b' }] }), /config\.replicas: not used/)
    assert.match(
      await notesOf({ driver, dbName: 'shop', driverOptions: { ssl: true, keepAlive: true } }),
      /config\.driverOptions: not used but for "ssl".*\(keepAlive\)/,
    )
    await assert.rejects(
      find({ driver, dbName: 'shop', driverOptions: { ssl: { ca: 'x' } } }),
      /"config\.driverOptions\.ssl" has ca: give the server as a URL/,
    )
  })

  it('is what variables of the environment say, below the config or above it', async () => {
    process.env['MIKRO_ORM_DB_NAME'] = 'env.db'
    process.env['MIKRO_ORM_PORT'] = '5499'
    try {
      const named = { driver: SqliteDriver, dbName: 'own.db' }
      assert.equal(withEnvironment({ driver: SqliteDriver, dbName: undefined } as never).dbName, 'env.db')
      assert.equal(withEnvironment(named as never).dbName, 'own.db')
      assert.equal(withEnvironment({ ...named, preferEnvVars: true } as never).dbName, 'env.db')
      assert.equal(withEnvironment(named as never).port, 5499)
      await using engine = await RestEngine.create({ config: { entities: [Note], preferEnvVars: true }, database: ':memory:' })
      assert.equal((await engine.send('GET /v1/notes')).status, 200)
    } finally {
      delete process.env['MIKRO_ORM_DB_NAME']
      delete process.env['MIKRO_ORM_PORT']
    }
  })

  it('is the own server of the config, in its schema', { skip: WITH_POSTGRES ? NO_SERVER : 'no PostgreSQL in this run' }, async () => {
    await using own = ownSchema()
    const url = new URL(own.database.url)
    const config = definePostgres({
      host: url.hostname,
      port: Number(url.port),
      user: url.username,
      ...(url.password === '' ? {} : { password: url.password }),
      dbName: url.pathname.slice(1),
      schema: own.database.schema,
      entities: [Note],
      pool: { max: 2 },
    })
    {
      await using engine = await RestEngine.create({ config })
      assert.deepEqual(engine.notes, [])
      assert.equal((await engine.send('POST /v1/notes', { body: { text: 'a' } })).status, 200)
    }
    // The schema of the config holds for another database of PostgreSQL, too.
    await using again = await RestEngine.create({ config, database: own.database.url })
    assert.equal((await again.send('GET /v1/notes')).body.count, 1)
  })
})
