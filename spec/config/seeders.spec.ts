/** Seeders of MikroORM as seeds: with their factories, beside records, in scenarios, and what `reset` and `fork` make of them. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p, type EntityManager } from '@mikro-orm/core'
import { Seeder } from '@mikro-orm/seeder'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { RestEngine, auth, hashPassword } from '../../lib/index.ts'
import type { EngineOptions } from '../helpers/stores.ts'
import config, { heard } from './app/mikro-orm.config.ts'
import { Author } from './app/entities/author.ts'
import { AuthorSeeder, BrokenSeeder, DatabaseSeeder } from './app/seeders/DatabaseSeeder.ts'
import { Book } from './app/entities/book.ts'
import { Tag } from './app/entities/tag.ts'

const create = (options: EngineOptions): Promise<RestEngine> => createEngine({ entities: [Author, Book, Tag], ...options })
const count = async (engine: RestEngine, name: string): Promise<unknown> => (await engine.send(`GET /v1/${name}`)).body.count
const counts = async (engine: RestEngine): Promise<unknown[]> => [
  await count(engine, 'authors'),
  await count(engine, 'books'),
  await count(engine, 'tags'),
]

describeStores('a seeder as a seed', () => {
  it('fills the database with what it and its factories create, which reset goes back to and forks have', async () => {
    await using engine = await create({ seed: DatabaseSeeder })
    assert.deepEqual(await counts(engine), [2, 3, 0])
    const [bob, ann] = (await engine.send('GET /v1/authors?sort=id')).body.authors as { id: number; fullName: string; books: number[] }[]
    assert.deepEqual([bob!.fullName, ann!.fullName, ann!.books.length], ['Bob', 'Ann', 3])
    await engine.send('DELETE /v1/books')
    const made = await engine.send('POST /v1/authors', { body: { fullName: 'Cid' } })
    await engine.reset()
    assert.deepEqual(await counts(engine), [2, 3, 0])
    // IDs go on as after the seed.
    const again = await engine.send('POST /v1/authors', { body: { fullName: 'Cid' } })
    assert.deepEqual(again.body.author, made.body.author)
    await using world = await engine.fork()
    await world.seed(AuthorSeeder)
    assert.deepEqual(await counts(world), [4, 6, 0])
    assert.deepEqual(await counts(engine), [3, 3, 0])
  })

  it('stands in a list with records, which it finds, and in scenarios', async () => {
    class TagAll extends Seeder {
      async run(em: EntityManager): Promise<void> {
        for (const author of await em.find(Author, {}, { populate: ['tags'] })) author.tags.add(em.create(Tag, { label: author.fullName }))
      }
    }
    await using engine = await create({
      seed: [{ authors: [{ fullName: 'Dan' }] }, DatabaseSeeder, TagAll],
      scenarios: { ann: AuthorSeeder, empty: {} },
    })
    assert.deepEqual(await counts(engine), [3, 3, 3])
    await engine.scenario('ann')
    assert.deepEqual(await counts(engine), [1, 3, 0])
    await engine.scenario('empty')
    assert.deepEqual(await counts(engine), [0, 0, 0])
    await engine.seed([{ tags: [{ label: 'a' }] }, AuthorSeeder])
    assert.deepEqual(await counts(engine), [1, 3, 1])
  })

  it('is one transaction: one that fails leaves nothing, and is named', async () => {
    const text = /^seed: BrokenSeeder has failed, and nothing of it was written: the seeder is broken$/
    await assert.rejects(create({ seed: BrokenSeeder }), { message: text })
    await using engine = await create({})
    await assert.rejects(engine.seed([AuthorSeeder, BrokenSeeder]), { message: text })
    assert.deepEqual(await counts(engine), [1, 3, 0])
    assert.equal((await engine.send('POST /v1/authors', { body: { fullName: 'Eve' } })).status, 200)
  })

  it('persists what it creates where the application persists by hand, and leaves that as it was', async () => {
    await using engine = await create({ orm: { persistOnCreate: false }, seed: DatabaseSeeder })
    assert.deepEqual(await counts(engine), [2, 3, 0])
    assert.equal(engine.orm.config.get('persistOnCreate'), false)
    assert.equal((await engine.send('POST /v1/authors', { body: { fullName: 'Eve', books: [{ title: 'One' }] } })).status, 200)
    assert.deepEqual(await counts(engine), [3, 4, 0])
  })

  it('is that of the config by true, whose subscribers hear of it', async () => {
    heard.length = 0
    await using engine = await createEngine({ config, seed: true })
    assert.deepEqual(await counts(engine), [2, 3, 0])
    assert.equal(heard.length, 5)
    await using other = await createEngine({ config, orm: { seeder: { ...config.seeder, defaultSeeder: 'AuthorSeeder' } }, seed: true })
    assert.deepEqual(await counts(other), [1, 3, 0])
    await assert.rejects(createEngine({ config, orm: { seeder: { ...config.seeder, defaultSeeder: 'NoSeeder' } }, seed: true }), {
      message: /^seed: NoSeeder has failed, and nothing of it was written: Seeder class NoSeeder not found in /,
    })
  })

  it('leaves a note of users whose passwords are plain, and none where they are hashes', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() },
    })
    class Plain extends Seeder {
      override run(em: EntityManager): void {
        for (const email of ['ann', 'bob']) em.create(User, { email, password: 'secret' })
      }
    }
    class Hashed extends Seeder {
      override async run(em: EntityManager): Promise<void> {
        em.create(User, { email: 'cid', password: await hashPassword('secret') })
      }
    }
    await using engine = await createEngine({ entities: [User], auth: auth({ entity: User, secret: 'of these tests' }), seed: Hashed })
    assert.deepEqual(engine.notes, [])
    assert.equal((await engine.send('POST /v1/login', { body: { email: 'cid', password: 'secret' } })).status, 200)
    await engine.seed(Plain)
    assert.equal((await engine.send('POST /v1/login', { body: { email: 'ann', password: 'secret' } })).status, 401)
    assert.equal(engine.notes.length, 1)
    assert.match(engine.notes[0]!, /^users: 2 records have a plain "password" after Plain, and cannot log in: .*hashPassword/)
  })

  it('is there as engine.orm.seeder', async () => {
    await using engine = await create({})
    await engine.orm.seeder.seed(DatabaseSeeder)
    assert.deepEqual(await counts(engine), [2, 3, 0])
    await engine.orm.schema.clear()
    assert.deepEqual(await counts(engine), [0, 0, 0])
  })
})

describe('a seeder and a file', () => {
  let folder = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seeders-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('runs once: on a database that has rows it is left out, with a note', async () => {
    const database = join(folder, 'notes.sqlite')
    for (const isFirst of [true, false]) {
      await using engine = await RestEngine.create({ config, database, seed: [DatabaseSeeder, { tags: [{ label: 'a' }] }] })
      assert.deepEqual(await counts(engine), [2, 3, 1])
      assert.deepEqual(
        engine.notes,
        isFirst
          ? []
          : [
              'DatabaseSeeder is not run, because there is a row of tags already. ' +
                'A seeder fills an empty database; engine.seed runs it on any.',
              'tags: the seed is left out, because the table has a row already. ' +
                'A seed fills empty tables; engine.seed adds records to any.',
            ],
      )
    }
  })

  it('refuses what is no seeder', async () => {
    for (const [seed, text] of [
      [Author, /"seed" is Author, which is no seeder: a seeder is a class with a method run\(em\)/],
      [() => {}, /"seed" is seed, which is no seeder|"seed" is a function, which is no seeder/],
      [[DatabaseSeeder, 3], /"seed"\[1\] must be an object of lists of records/],
      [false, /"seed" must be an object of lists of records/],
    ] as const)
      await assert.rejects(RestEngine.create({ config, seed: seed as never }), { message: text })
  })
})
