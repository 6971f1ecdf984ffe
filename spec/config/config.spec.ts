/** The config of an application's MikroORM: what `defineConfig` gives is served as it is, by whichever form it has, and stays as it is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EntityCaseNamingStrategy, EntityRepository, EntitySchema, MikroORM, defineConfig, defineEntity, p } from '@mikro-orm/sqlite'
import { defineConfig as definePostgres } from '@mikro-orm/postgresql'
import { RestEngine } from '../../lib/index.ts'
import config, { heard } from './app/mikro-orm.config.ts'
import { Author } from './app/entities/author.ts'
import { Book } from './app/entities/book.ts'
import { Tag } from './app/entities/tag.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), firstLine: p.string() } })

const namesOf = async (engine: RestEngine): Promise<string[]> =>
  Object.keys((await engine.handle('GET', '/')).body.resources as object).toSorted()

const refused = (options: unknown, text: RegExp): Promise<void> =>
  assert.rejects(RestEngine.create(options as never), (error: Error) => {
    assert.match(error.message, text)
    assert.doesNotMatch(error.message, /\n/)
    return true
  })

function freeze<T>(value: T, seen = new Set<unknown>()): T {
  if (typeof value !== 'object' || value === null || seen.has(value)) return value
  seen.add(value)
  if (![Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value) as never)) return value
  for (const each of Object.values(value)) freeze(each, seen)
  return Object.freeze(value)
}

describe('the config of an application', () => {
  it('is served: entities by patterns, decorators and definitions, custom types, filters, subscribers', async () => {
    await using engine = await RestEngine.create({ config })
    assert.deepEqual(engine.notes, [])
    assert.deepEqual(await namesOf(engine), ['authors', 'books', 'tags'])
    heard.length = 0
    const { body } = await engine.send('POST /v1/books', { body: { title: 'One', author: { fullName: 'Ann' } } })
    assert.deepEqual(body.book, { id: 1, title: 'One', language: 'en', author: 1 })
    assert.deepEqual(heard.toSorted(), ['Author', 'Book'])
    await engine.orm.em.getConnection().execute('update author set removed_at = 0')
    assert.equal((await engine.send('GET /v1/authors')).body.count, 0)
  })

  it('takes entities as classes', async () => {
    await using engine = await RestEngine.create({ config: defineConfig({ dbName: ':memory:', entities: [Author, Book, Tag] }) })
    assert.deepEqual(await namesOf(engine), ['authors', 'books', 'tags'])
  })

  it('keeps the naming strategy, the repository and other options of the application', async () => {
    class OwnRepository<T extends object> extends EntityRepository<T> {
      readonly isOwn = true
    }
    const own = defineConfig({
      dbName: ':memory:',
      entities: [Note],
      namingStrategy: EntityCaseNamingStrategy,
      entityRepository: OwnRepository,
    })
    await using engine = await RestEngine.create({ config: own })
    assert.equal(engine.orm.getMetadata().get(Note).properties.firstLine.fieldNames[0], 'firstLine')
    assert.equal((engine.orm.em.fork().getRepository(Note) as unknown as { isOwn: boolean }).isOwn, true)
  })

  it('stays as it is, as do its classes beside the MikroORM of the application', async () => {
    const filters = { visible: { cond: { firstLine: { $ne: 'x' } }, entity: [Note] } }
    const own = freeze(
      definePostgres({
        dbName: 'shop',
        entities: [Note],
        filters,
        extensions: [],
        discovery: { warnWhenNoEntities: false },
        migrations: {},
        seeder: {},
        metadataCache: { enabled: true, options: { cacheDir: 'none' } },
      }),
    )
    await using engine = await RestEngine.create({ config: own, database: ':memory:' })
    assert.equal((await engine.send('POST /v1/notes', { body: { firstLine: 'a' } })).status, 200)
    await using orm = await MikroORM.init({ ...config, dbName: ':memory:' })
    await orm.schema.create()
    await using beside = await RestEngine.create({ config, seed: { authors: [{ fullName: 'Ann' }] } })
    const em = orm.em.fork()
    em.create(Author, { fullName: 'Own' })
    await em.flush()
    assert.deepEqual(
      (await em.fork().find(Author, {})).map(({ fullName }) => fullName),
      ['Own'],
    )
    assert.equal((await beside.send('GET /v1/authors')).body.count, 1)
  })

  it('may be a function, a promise, or a module', async () => {
    const own = defineConfig({ dbName: ':memory:', entities: [Note] })
    const forms = [() => own, async () => own, Promise.resolve(own), import('./app/mikro-orm.config.ts'), [own], [async () => own]]
    for (const each of forms) {
      await using engine = await RestEngine.create({ config: each })
      assert.ok((await namesOf(engine)).length > 0)
    }
  })

  it('is chosen by its context of several, as the command of MikroORM does', async () => {
    const Report = defineEntity({ name: 'Report', properties: { id: p.integer().primary() } })
    const several = [
      defineConfig({ dbName: ':memory:', entities: [Note] }),
      defineConfig({ dbName: ':memory:', entities: [Report], contextName: 'reports' }),
      (name: string) => (name === 'made' ? defineConfig({ dbName: ':memory:', entities: [Note, Report], contextName: name }) : undefined),
    ]
    for (const [contextName, names] of [
      ['default', ['notes']],
      ['reports', ['reports']],
      ['made', ['notes', 'reports']],
    ] as const) {
      await using engine = await RestEngine.create({ config: several, orm: { contextName } })
      assert.deepEqual(await namesOf(engine), names)
    }
    await using engine = await RestEngine.create({ config: several })
    assert.deepEqual(await namesOf(engine), ['notes'])
    await refused(
      { config: several, orm: { contextName: 'report' } },
      /no config of the context "report"\. Did you mean "reports"\? Its contexts are default, reports; choose one by orm: \{ contextName: "default" \}\.$/,
    )
    await refused({ config: [several[0], several[0]] }, /has more than one config of the context "default"\.$/)
    await refused({ config: several[1], orm: { contextName: 'sales' } }, /is of the context "reports", and "sales" is asked for\.$/)
    process.env['MIKRO_ORM_CONTEXT_NAME'] = 'reports'
    try {
      await using chosen = await RestEngine.create({ config: several })
      assert.deepEqual(await namesOf(chosen), ['reports'])
    } finally {
      delete process.env['MIKRO_ORM_CONTEXT_NAME']
    }
  })

  it('goes with options of MikroORM, and entities, that stand above it', async () => {
    const own = defineConfig({ dbName: ':memory:', entities: [Note] })
    await using engine = await RestEngine.create({ config: own, orm: { namingStrategy: EntityCaseNamingStrategy } })
    assert.equal(engine.orm.getMetadata().get(Note).properties.firstLine.fieldNames[0], 'firstLine')
    const Other = new EntitySchema<{ id: number }>({ name: 'Other', properties: { id: { type: 'integer', primary: true } } })
    await using other = await RestEngine.create({ config: { autoLoadEntities: true, dbName: ':memory:' }, entities: [Other] })
    assert.deepEqual(await namesOf(other), ['others'])
    assert.match(other.notes.join(), /^config\.autoLoadEntities: not used: give the entities/)
  })

  it('has a note for each option that an engine cannot follow, and none for those that it can', async () => {
    const own = {
      ...definePostgres({
        entities: [Note],
        dbName: 'shop',
        host: 'db.example.test',
        user: 'ann',
        password: 'secret',
        pool: { max: 5 },
        schema: 'sales',
        debug: false,
        timezone: '+02:00',
        ensureDatabase: { create: true },
        disableTransactions: true,
        onQuery: sql => sql,
        onCreateConnection: async () => {},
        metadataCache: { enabled: true },
        ensureIndexes: false,
        allowGlobalContext: true,
      }),
      strict: true,
      registerRequestContext: false,
    }
    await using engine = await RestEngine.create({ config: own, database: ':memory:' })
    const noted = engine.notes.map(note => /^config\.(\w+)/.exec(note)?.[1] ?? '')
    assert.deepEqual(noted.toSorted(), [
      'disableTransactions',
      'ensureDatabase',
      'metadataCache',
      'onCreateConnection',
      'onQuery',
      'registerRequestContext',
      'schema',
      'strict',
      'timezone',
    ])
    assert.doesNotMatch(engine.notes.join(), /secret/)
    assert.match(engine.notes.join('\n'), /config\.strict is no option of MikroORM 7\.$/m)
    assert.equal((await engine.send('POST /v1/notes', { body: { firstLine: 'a' } })).status, 200)
  })

  it('is refused in one line where it is none', async () => {
    for (const each of [3, 'mikro-orm.config.ts', null])
      await refused({ config: each }, /"config" must be the config of MikroORM, as defineConfig gives it/)
    await refused({ config: () => undefined }, /"config" must be the config of MikroORM.* Got undefined\.$/)
    await refused({ config: Author }, /"config" has the class Author\. It takes what defineConfig gives: \{ entities: \[Author\] \}\.$/)
    await refused({ config: defineConfig({ dbName: 'x', entities: [] }) }, /"config" has no entities: give them by the option "entities"/)
    await using engine = await RestEngine.create({ entities: [Note] })
    for (const each of [engine.orm, engine.orm.config]) await refused({ config: each }, /is of a MikroORM that is made already/)
  })

  it('is named where it stands in the wrong place', async () => {
    const own = defineConfig({ dbName: ':memory:', entities: [Note] })
    await refused(
      own,
      /unknown option "driver", which is one of MikroORM\. The config of an application is given as a whole: RestEngine\.create\(\{ config \}\)\.$/,
    )
    await refused({ entities: [Note], orm: own }, /or give the config of an application as a whole: RestEngine\.create\(\{ config \}\)\.$/)
    await refused({ mikroOrm: own }, /unknown option "mikroOrm"\. Did you mean "config"\?$/)
  })
})
