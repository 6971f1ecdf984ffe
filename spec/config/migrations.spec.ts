/** Migrations of the application: they make the tables before an engine serves, in memory, in a file and on PostgreSQL. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Migration } from '@mikro-orm/migrations'
import { defineConfig as definePostgres } from '@mikro-orm/postgresql'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { RestEngine } from '../../lib/index.ts'
import config from './app/mikro-orm.config.ts'
import { Migration20260101000000 } from './app/migrations/Migration20260101000000.ts'
import { Migration20260102000000 } from './app/migrations/Migration20260102000000.ts'
import { DatabaseSeeder } from './app/seeders/DatabaseSeeder.ts'

/** The migrations of the application are of both databases, as those with one driver are not. */
const { driver: _driver, ...portable } = config
const APP = fileURLToPath(new URL('app', import.meta.url))

class Broken extends Migration {
  override async up(): Promise<void> {
    this.addSql('create table "half" ("id" int)')
    this.addSql('insert into "missing" values (1)')
  }
}

const count = async (engine: RestEngine, name: string): Promise<unknown> => (await engine.send(`GET /v1/${name}`)).body.count

describeStores('migrations', () => {
  it('make the tables and rows, to which reset goes back', async () => {
    await using engine = await createEngine({ config: portable, schema: 'migrate', seed: { tags: [{ label: 'new' }] } })
    assert.deepEqual(engine.notes, [])
    assert.equal(await count(engine, 'tags'), 2)
    assert.equal((await engine.send('POST /v1/books', { body: { title: 'One', author: { fullName: 'Ann' } } })).status, 200)
    await engine.reset()
    assert.deepEqual([await count(engine, 'tags'), await count(engine, 'books')], [2, 0])
    await using world = await engine.fork()
    await world.seed(DatabaseSeeder)
    assert.deepEqual([await count(world, 'books'), await count(engine, 'books')], [3, 0])
    assert.deepEqual(
      (await engine.orm.migrator.getExecuted()).map(({ name }) => name),
      ['Migration20260101000000', 'Migration20260102000000'],
    )
    // Nothing is written among the files of the application.
    assert.deepEqual(readdirSync(APP).toSorted(), ['entities', 'migrations', 'mikro-orm.config.ts', 'seeders'])
    assert.deepEqual(readdirSync(join(APP, 'migrations')).toSorted(), ['Migration20260101000000.ts', 'Migration20260102000000.ts'])
  })

  it('are named where one fails, and all of them taken back', async () => {
    const orm = { migrations: { migrationsList: [Migration20260101000000, Broken] } }
    await assert.rejects(createEngine({ config: portable, orm, schema: 'migrate' }), {
      message: /^The migration "Broken" has failed: .*missing.*/,
    })
  })

  it('leave notes of what the entities have and they do not make', async () => {
    class Half extends Migration {
      override async up(): Promise<void> {
        this.addSql('create table "tag" ("id" int not null primary key, "label" text not null)')
      }
    }
    await using engine = await createEngine({ config: portable, orm: { migrations: { migrationsList: [Half] } }, schema: 'migrate' })
    assert.equal(engine.notes.length, 1)
    assert.match(engine.notes[0]!, /"schema" is "migrate", so that it is not made: .*"author".* Requests for it fail until it is there\.$/)
    assert.equal(await count(engine, 'tags'), 0)
  })
})

describe('migrations of a file', () => {
  let folder = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('run once each', async () => {
    const database = join(folder, 'app.sqlite')
    for (const [migrationsList, tags] of [
      [[Migration20260101000000], 0],
      [[Migration20260101000000, Migration20260102000000], 1],
      [[Migration20260101000000, Migration20260102000000], 1],
    ] as const) {
      await using engine = await RestEngine.create({
        config: portable,
        orm: { migrations: { migrationsList: [...migrationsList] } },
        database,
        schema: 'migrate',
      })
      assert.equal(await count(engine, 'tags'), tags)
    }
    await using kept = await RestEngine.create({ config: portable, database, schema: 'keep', readOnly: true })
    assert.equal(await count(kept, 'tags'), 1)
  })

  it('leave no new file where they fail', async () => {
    const database = join(folder, 'broken.sqlite')
    const orm = { migrations: { migrationsList: [Migration20260101000000, Broken] } }
    await assert.rejects(RestEngine.create({ config: portable, orm, database, schema: 'migrate' }), {
      message: /^The migration "Broken" has failed: /,
    })
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('broken')),
      [],
    )
  })

  it('are asked for where there are none, and no folder is made', async () => {
    const baseDir = join(folder, 'empty')
    await mkdir(baseDir)
    const { migrations: _migrations, seeder: _seeder, ...plain } = portable
    const own = { ...plain, entities: ['*.ts'], entitiesTs: [join(APP, 'entities/*.ts')], baseDir }
    await assert.rejects(RestEngine.create({ config: own, schema: 'migrate' }), {
      message: /^"schema" is "migrate", and no migrations are configured: give the option "migrations" of MikroORM/,
    })
    await assert.rejects(RestEngine.create({ config: { ...own, migrations: { path: 'moved', pathTs: 'moved' } }, schema: 'migrate' }), {
      message: /^"schema" is "migrate", and the folder of the migrations is not there: .*moved\.$/,
    })
    assert.equal(existsSync(join(baseDir, 'migrations')), false)
    await mkdir(join(baseDir, 'migrations'))
    await assert.rejects(RestEngine.create({ config: own, schema: 'migrate' }), { message: /and there is no migration in .*migrations\.$/ })
  })

  it('are refused for another database than that of the config, and where nothing may be written', async () => {
    const own = definePostgres({ ...portable, dbName: 'shop' } as never)
    await assert.rejects(RestEngine.create({ config: own, database: ':memory:', schema: 'migrate' }), {
      message:
        /the migrations of the config are for PostgreSqlDriver, not for SQLite\. Say schema: 'update' \(the default\).*, or name a PostgreSQL server in "database"\.$/,
    })
    await assert.rejects(RestEngine.create({ config, database: 'postgres://localhost/shop', schema: 'migrate' }), {
      message: /the migrations of the config are for SqliteDriver, not for PostgreSQL\./,
    })
    await assert.rejects(RestEngine.create({ config, schema: 'migrate', readOnly: true }), {
      message: /that "readOnly" opens for reading only\.$/,
    })
  })
})
