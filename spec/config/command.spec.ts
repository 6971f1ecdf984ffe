/** `mikro-rest mikro-orm.config.ts`: a project with decorators of TypeScript, seeders and migrations, as processes of its own. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { ROOT, runAll } from '../helpers/command.ts'
import type { Ended } from '../helpers/command.ts'

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
  'src/entities/author.ts': `
    import { Collection } from '@mikro-orm/core'
    import { Entity, OneToMany, PrimaryKey, Property } from '@mikro-orm/decorators/legacy'
    import { Book } from './book'

    @Entity()
    export class Author {
      @PrimaryKey({ type: 'integer' }) id!: number
      @Property({ type: 'string' }) fullName!: string
      @OneToMany(() => Book, book => book.author) books = new Collection<Book>(this)
    }
  `,
  'src/entities/book.ts': `
    import type { Rel } from '@mikro-orm/core'
    import { Entity, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy'
    import { Author } from './author'

    @Entity()
    export class Book {
      @PrimaryKey({ type: 'integer' }) id!: number
      @Property({ type: 'string' }) title!: string
      @ManyToOne(() => Author) author!: Rel<Author>
    }
  `,
  'src/seeders/DatabaseSeeder.ts': `
    import { Seeder } from '@mikro-orm/seeder'
    import { Author } from '../entities/author'

    export class Helper {}
    export class DatabaseSeeder extends Seeder {
      async run(em) { em.create(Author, { fullName: 'Ann', books: [{ title: 'One' }] }) }
    }
  `,
  'src/migrations/Migration20260101000000.ts': `
    import { Migration } from '@mikro-orm/migrations'

    export class Migration20260101000000 extends Migration {
      async up() {
        this.addSql('create table \`author\` (\`id\` integer not null primary key autoincrement, \`full_name\` text not null)')
        this.addSql('create table \`book\` (\`id\` integer not null primary key autoincrement, \`title\` text not null, \`author_id\` integer not null references \`author\` (\`id\`))')
        this.addSql("insert into \`author\` (\`full_name\`) values ('Migrated')")
      }
    }
  `,
  'src/mikro-orm.config.ts': `
    import { defineConfig } from '@mikro-orm/sqlite'
    import { Author } from './entities/author'

    class MySqlDriver {}
    const shared = {
      debug: true,
      entities: ['dist/entities'],
      entitiesTs: ['src/entities'],
      migrations: { path: 'dist/migrations', pathTs: 'src/migrations' },
      seeder: { path: 'dist/seeders', pathTs: 'src/seeders' },
    }
    export default [
      defineConfig({ ...shared, dbName: 'app.sqlite' }),
      { ...shared, driver: MySqlDriver, dbName: 'shop', contextName: 'shop' },
      async name => name === 'late' ? { ...shared, dbName: ':memory:', contextName: name } : undefined,
    ]
  `,
  'index.js': 'throw new Error("the program of the project")',
  'served.ts': `
    import configs from './src/mikro-orm.config'
    export default { config: configs[0], database: ':memory:', schema: 'migrate', seed: true, versions: [] }
  `,
  'plain.cjs': `
    const { defineConfig, defineEntity, p } = require('@mikro-orm/sqlite')
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } })
    module.exports = defineConfig({ dbName: ':memory:', entities: [Note] })
  `,
  'typed/package.json': '{}',
  'typed/tsconfig.json': '{ "extends": "./tsconfig.base" }',
  'typed/tsconfig.base.json': '{ "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true } }',
  'typed/mikro-orm.config.ts': `
    import { defineConfig } from '@mikro-orm/sqlite'
    import { Entity, PrimaryKey, Property, ReflectMetadataProvider } from '@mikro-orm/decorators/legacy'

    @Entity()
    class Note {
      @PrimaryKey({ type: 'integer' }) id!: number
      @Property() text!: string
    }
    export default defineConfig({ dbName: ':memory:', entities: [Note], metadataProvider: ReflectMetadataProvider })
  `,
  // A loader that a project has for its TypeScript.
  'loaded/package.json': '{}',
  'loaded/tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true } }',
  'loaded/node_modules/ts-node/package.json': '{ "name": "ts-node", "exports": { "./register/transpile-only": "./hook.js" } }',
  'loaded/node_modules/ts-node/hook.js': `
    const { readFileSync } = require('node:fs')
    const { transformSync } = require('esbuild')
    require.extensions['.ts'] = (module, file) => module._compile(transformSync(readFileSync(file, 'utf8'), { loader: 'ts', format: 'cjs' }).code, file)
  `,
  'loaded/note.ts': `
    import { defineEntity, p } from '@mikro-orm/core'
    export const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), file: p.string().default(typeof module) } })
  `,
  'loaded/mikro-orm.config.ts': `
    export default { dbName: ':memory:', entitiesTs: [__dirname + '/note.ts'], entities: ['none.js'], dynamicImportProvider: () => { throw new Error('not for TypeScript') } }
  `,
  'seed.json': '{ "notes": [{}] }',
  'away.mjs': `
    import { defineConfig, defineEntity, p } from '@mikro-orm/postgresql'
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } })
    export default defineConfig({ host: '127.0.0.1', port: 1, dbName: 'shop', entities: [Note] })
  `,
  'copied/package.json': '{ "type": "module" }',
  'copied/served.mjs': `
    import { ArrayType, defineEntity, p } from '@mikro-orm/core'
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), tags: p.type(ArrayType) } })
    export default { config: { dbName: ':memory:', entities: [Note] }, seed: { notes: [{ tags: [['nested']] }] } }
  `,
  'old/package.json': '{ "type": "module" }',
  'old/node_modules/@mikro-orm/core/package.json': '{ "name": "@mikro-orm/core", "version": "6.4.3" }',
  'old/mikro-orm.config.js': 'export default { dbName: "x", entities: ["dist/entities"] }',
}

const LINES = {
  own: ['src/mikro-orm.config.ts', '--get', '/v1/authors'],
  project: ['.', '--get', '/v1/books'],
  migrated: ['src/mikro-orm.config.ts', '--migrate', '--seed', 'DatabaseSeeder', '--get', '/v1/authors'],
  migratedFile: ['there.sqlite', '--config', 'src/mikro-orm.config.ts', '--migrate', '--get', '/v1/authors'],
  migratedServer: ['away.mjs', '--migrate', '--get', '/v1/notes'],
  seeded: ['src/mikro-orm.config.ts', '--seed', 'src/seeders/DatabaseSeeder.ts', '--get', '/v1/books'],
  shop: ['src/mikro-orm.config.ts', '--context', 'shop', '--get', '/v1/authors'],
  late: ['src/mikro-orm.config.ts', '--context', 'late', '--get', '/v1/authors'],
  wrong: ['src/mikro-orm.config.ts', '--context', 'shops', '--get', '/v1/authors'],
  file: ['new.sqlite', '--config', 'src/mikro-orm.config.ts', '--get', '/v1/authors'],
  served: ['served.ts', '--get', '/authors'],
  plain: ['plain.cjs', '--get', '/v1/notes'],
  old: ['old/mikro-orm.config.js', '--get', '/'],
  typed: ['typed', '--get', '/v1/notes'],
  away: ['away.mjs', '--get', '/v1/notes'],
  awayInMemory: [':memory:', '--config', 'away.mjs', '--get', '/v1/notes'],
  copied: ['copied/served.mjs', '--get', '/v1/notes'],
  ejected: ['plain.cjs', '--eject', 'ejected'],
  noSeeder: ['src/mikro-orm.config.ts', '--seed', 'NoSeeder', '--get', '/v1/authors'],
  noConfig: ['--migrate', '--get', '/v1/users'],
  noContext: ['--context', 'shop', '--get', '/v1/users'],
} as const

describe('the command with the config of an application', () => {
  let folder = ''
  let ended: Record<keyof typeof LINES, Ended>
  let there: Buffer

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-command-'))
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await cp(join(ROOT, 'node_modules/@mikro-orm/core'), join(folder, 'copied/node_modules/@mikro-orm/core'), { recursive: true })
    new Database(join(folder, 'there.sqlite')).exec('create table other (id integer primary key)').close()
    there = bytesOf('there.sqlite')
    const names = Object.keys(LINES) as (keyof typeof LINES)[]
    const results = runAll(folder, Object.values(LINES))
    ended = Object.fromEntries(names.map((name, index) => [name, results[index]!])) as typeof ended
  })
  after(() => rm(folder, { recursive: true }))

  const bytesOf = (name: string): Buffer => readFileSync(join(folder, name))

  /** What was printed on standard output alone. */
  const answerOf = (name: keyof typeof LINES): Record<string, unknown> => {
    assert.equal(ended[name].code, 0, ended[name].stderr)
    return JSON.parse(ended[name].stdout) as Record<string, unknown>
  }

  it('serves its entities from sources, with answers alone on standard output, and leaves files as they are', () => {
    assert.equal(answerOf('own')['count'], 0)
    assert.match(ended.own.stderr, /\[discovery\]/)
    assert.equal(answerOf('project')['count'], 0)
    assert.equal(answerOf('file')['count'], 0)
    for (const name of ['app.sqlite', 'new.sqlite', 'dist', 'migrations', 'seeders', 'temp'])
      assert.equal(existsSync(join(folder, name)), false)
  })

  it('runs its migrations and its seeders, by name and by module', () => {
    assert.deepEqual(answerOf('migrated')['authors'], [
      { id: 1, fullName: 'Migrated', books: [] },
      { id: 2, fullName: 'Ann', books: [1] },
    ])
    assert.equal(answerOf('seeded')['count'], 1)
    assert.match(
      ended.noSeeder.stderr,
      /mikro-rest: seed: NoSeeder has failed, and nothing of it was written: Seeder class NoSeeder not found in /,
    )
  })

  it('runs migrations on a copy of a file for a single GET, and refuses them on a server', () => {
    assert.equal(answerOf('migratedFile')['count'], 1)
    assert.deepEqual(bytesOf('there.sqlite'), there)
    assert.equal(ended.migratedServer.code, 2)
    assert.match(
      ended.migratedServer.stderr,
      /^mikro-rest: --migrate would change .*, which --get, .* leave as it is: start the server with --migrate once, .*\n$/,
    )
  })

  it('chooses one of several by --context', () => {
    assert.equal(answerOf('shop')['count'], 0)
    assert.match(ended.shop.stderr, /Note: config: it is served from SQLite in memory, since MySqlDriver is no driver/)
    assert.equal(answerOf('late')['count'], 0)
    assert.match(ended.wrong.stderr, /no config of the context "shops"\. Did you mean "shop"\? Its contexts are default, shop;/)
  })

  it('takes engine options with a config, and a CommonJS module', () => {
    assert.equal(answerOf('served')['count'], 2)
    assert.equal(answerOf('plain')['count'], 0)
  })

  it('has one MikroORM where the project has a copy of its own, whose types are known', () => {
    assert.match(ended.copied.stderr, /mikro-rest: seed: .*"notes\.0\.tags" must be an array of plain values\./)
  })

  it('loads entities by what the project has for its TypeScript, where the compiler writes their types', () => {
    const [loaded] = runAll(folder, [['loaded/mikro-orm.config.ts', '--seed', 'seed.json', '--get', '/v1/notes']])
    assert.equal(loaded!.code, 0, loaded!.stderr)
    assert.deepEqual((JSON.parse(loaded!.stdout) as { notes: unknown }).notes, [{ id: 1, file: 'object' }])
    assert.match(
      ended.typed.stderr,
      /^mikro-rest: .*Note\.text.* The loader of TypeScript here \(tsx\) does not write these types: npm install --save-dev @oxc-node\/core .*\n$/,
    )
  })

  it('says how the model of a server that is away is served', () => {
    assert.match(ended.away.stderr, /cannot be opened: .* To serve the model in memory: mikro-rest :memory: --config away\.mjs\n$/)
    assert.equal(answerOf('awayInMemory')['count'], 0)
  })

  it('says in one line what is wrong', () => {
    assert.match(
      ended.old.stderr,
      /^mikro-rest: .*mikro-orm\.config\.js is of a project with MikroORM 6\.4\.3, and an engine takes the entities of MikroORM 7: .*\n$/,
    )
    assert.equal(ended.ejected.code, 2)
    assert.match(ended.ejected.stderr, /--eject writes a model as code: that of .*plain\.cjs is the code of an application already\.\n$/)
    assert.equal(ended.noConfig.code, 2)
    assert.match(
      ended.noConfig.stderr,
      /^mikro-rest: --migrate runs the migrations of an application: name its mikro-orm\.config\.ts, or a module with a config\.\n$/,
    )
    assert.equal(ended.noContext.code, 2)
    assert.match(ended.noContext.stderr, /^mikro-rest: --context chooses a config of MikroORM/)
  })
})
