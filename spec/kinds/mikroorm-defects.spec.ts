/**
 * Defects of MikroORM that lib/ corrects, each shown with MikroORM alone. A test that fails here says that MikroORM has mended one: then
 * the file that its name names may go, or a part of it.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'

/** MikroORM as an application opens it, and the statements that change rows. */
type Opened = MikroORM & AsyncDisposable & { readonly writes: string[] }

async function open(entities: readonly object[]): Promise<Opened> {
  const writes: string[] = []
  const orm = await MikroORM.init({
    dbName: ':memory:',
    entities: entities as EntitySchema[],
    colors: false,
    debug: ['query'],
    logger: text => void (/\] (?:insert|update|delete)/.test(text) && writes.push(text)),
  })
  await orm.schema.create()
  return Object.assign(orm, { writes, [Symbol.asyncDispose]: () => orm.close() })
}

describe('MikroORM alone', () => {
  it('loses a change of a record whose key is a time and that another one links (orm/corrected-comparator.ts)', async () => {
    const Day = defineEntity({ name: 'Day', properties: { at: p.datetime().primary(), note: p.string() } })
    const Visit = defineEntity({ name: 'Visit', properties: { id: p.integer().primary(), day: () => p.manyToOne(Day) } })
    await using orm = await open([Day, Visit])
    const em = orm.em.fork()
    em.create(Visit, { id: 1, day: em.create(Day, { at: new Date('2026-01-02T03:04:05.678Z'), note: 'a' }) })
    await em.flush()
    const later = orm.em.fork()
    const day = await later.findOneOrFail(Day, { note: 'a' })
    const visit = await later.findOneOrFail(Visit, 1)
    assert.notEqual(visit.day, day)
  })

  it('makes one object of a list of embedded objects that a constructor takes (orm/corrected-manager.ts)', async () => {
    class Box {
      width: number
      constructor(width: number) {
        this.width = width
      }
    }
    class Shelf {
      id!: number
      boxes: Box[]
      constructor(boxes: Box[]) {
        this.boxes = boxes
      }
    }
    const BoxSchema = defineEntity({ class: Box, embeddable: true, properties: { width: p.integer() } })
    const ShelfSchema = defineEntity({
      class: Shelf,
      properties: { id: p.integer().primary(), boxes: () => p.embedded(BoxSchema).array() },
    })
    await using orm = await open([BoxSchema, ShelfSchema])
    assert.throws(() => orm.em.fork().create(Shelf, { boxes: [{ width: 1 }, { width: 2 }] }))
  })

  it('gives NULL for a default of the database to rows that are inserted behind one with a value (orm/grouped-rows.ts)', async () => {
    const Note = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), rank: p.integer().nullable().defaultRaw('(3 + 4)') },
    })
    await using orm = await open([Note])
    const em = orm.em.fork()
    em.create(Note, { id: 1, rank: 1 })
    em.create(Note, { id: 2 })
    await em.flush()
    const rows = await orm.em.fork().find(Note, {}, { orderBy: { id: 1 } })
    assert.deepEqual(
      rows.map(({ rank }) => rank),
      [1, null],
    )
  })

  it('writes the default of a JSON property as [object Object] (orm/json-defaults.ts)', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), tags: p.json().default({ a: 1 } as never) } })
    const orm = await MikroORM.init({ dbName: ':memory:', entities: [Note] })
    try {
      const sql = await orm.schema.getCreateSchemaSQL()
      assert.match(sql, /\[object Object\]/)
    } finally {
      await orm.close()
    }
  })

  it('does not write a change of a lazy relation whose target is not loaded (orm/correct-metadata.ts)', async () => {
    const User = defineEntity({ name: 'User', properties: { id: p.integer().primary() } })
    const Post = defineEntity({ name: 'Post', properties: { id: p.integer().primary(), user: () => p.manyToOne(User).ref().lazy() } })
    await using orm = await open([User, Post])
    const em = orm.em.fork()
    em.create(Post, { id: 1, user: em.create(User, { id: 1 }) })
    em.create(User, { id: 2 })
    await em.flush()
    const later = orm.em.fork()
    const post = await later.findOneOrFail(Post, 1)
    later.assign(post, { user: 2 })
    orm.writes.length = 0
    await later.flush()
    assert.deepEqual(orm.writes, [])
  })

  it('calls onUpdate for a new record that links another new one of its entity (orm/on-update.ts)', async () => {
    const User = defineEntity({
      name: 'User',
      properties: {
        id: p.integer().primary(),
        boss: () => p.manyToOne(User).nullable(),
        changed: p
          .integer()
          .nullable()
          .onUpdate(() => 1),
      },
    })
    await using orm = await open([User])
    const em = orm.em.fork()
    const boss = em.create(User, {})
    em.create(User, { boss })
    await em.flush()
    const changed = (await orm.em.fork().find(User, {})).map(user => user.changed)
    assert.ok(changed.includes(1), JSON.stringify(changed))
  })

  it('takes Date types of columns named otherwise for changed (orm/correct-metadata.ts)', async () => {
    const Visit = defineEntity({
      name: 'Visit',
      properties: { id: p.integer().primary(), at: p.datetime().type('timestamptz' as never), n: p.integer() },
    })
    await using orm = await open([Visit])
    const em = orm.em.fork()
    em.create(Visit, { id: 1, at: new Date(1_700_000_000_000), n: 1 })
    await em.flush()
    const later = orm.em.fork()
    const visit = await later.findOneOrFail(Visit, 1)
    visit.at = new Date(visit.at)
    orm.writes.length = 0
    await later.flush()
    assert.equal(orm.writes.length, 1)
  })

  it('writes a list of one empty text as an empty list (sqlite/orm/driver.ts)', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), tags: p.array() } })
    await using orm = await open([Note])
    const em = orm.em.fork()
    em.create(Note, { id: 1, tags: [''] })
    await em.flush()
    const [note] = await orm.em.fork().find(Note, {})
    assert.deepEqual(note!.tags, [])
  })

  it('takes the record that a link by another key leads to for a new one (orm/target-keys.ts)', async () => {
    const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string().unique(), name: p.string() } })
    const Post = defineEntity({
      name: 'Post',
      properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).targetKey('email') },
    })
    await using orm = await open([User, Post])
    const em = orm.em.fork()
    em.create(Post, { id: 1, title: 'a', author: em.create(User, { id: 1, email: 'a@x', name: 'Ann' }) })
    await em.flush()
    const later = orm.em.fork()
    const post = await later.findOneOrFail(Post, 1)
    post.title = 'b'
    await assert.rejects(() => later.flush())
  })

  it('cannot remove a record that only another target of a polymorphic relation lists (orm/correct-metadata.ts)', async () => {
    const Photo = defineEntity({ name: 'Photo', properties: { id: p.integer().primary() } })
    const Post = defineEntity({
      name: 'Post',
      properties: { id: p.integer().primary(), likes: () => p.oneToMany(Like).mappedBy('target' as never) },
    })
    const Like = defineEntity({ name: 'Like', properties: { id: p.integer().primary(), target: () => p.manyToOne([Photo, Post]) } })
    await using orm = await open([Photo, Post, Like])
    const em = orm.em.fork()
    em.create(Like, { id: 1, target: em.create(Photo, { id: 1 }) } as never)
    await em.flush()
    const later = orm.em.fork()
    const like = await later.findOneOrFail(Like, 1)
    await assert.rejects(async () => later.remove(like).flush())
  })

  it('inserts a record of a class below again that was deleted while a loaded one links it (orm/correct-metadata.ts)', async () => {
    const User = defineEntity({
      name: 'User',
      discriminatorColumn: 'kind',
      discriminatorValue: 'user',
      properties: { id: p.integer().primary(), kind: p.string() },
    })
    const Admin = defineEntity({ name: 'Admin', extends: User, discriminatorValue: 'admin', properties: { level: p.integer() } })
    const Post = defineEntity({
      name: 'Post',
      properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).nullable().deleteRule('set null') },
    })
    await using orm = await open([User, Admin, Post])
    const em = orm.em.fork()
    em.create(Post, { id: 1, title: 'a', author: em.create(Admin, { id: 1, kind: 'admin', level: 1 } as never) })
    await em.flush()
    const later = orm.em.fork()
    const post = await later.findOneOrFail(Post, 1)
    const admin = await later.findOneOrFail(Admin, 1)
    await later.remove(admin).flush()
    orm.writes.length = 0
    post.title = 'b'
    await later.flush()
    assert.ok(
      orm.writes.some(text => text.includes('insert into `user`')),
      orm.writes.join(', '),
    )
  })

  it('gives a number for a key that is a text in code (sqlite/orm/text-keys.ts)', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.string().primary().autoincrement(), text: p.string() } })
    await using orm = await open([Note])
    const em = orm.em.fork()
    em.create(Note, { text: 'a' } as never)
    await em.flush()
    const later = orm.em.fork()
    const [note] = await later.find(Note, {})
    assert.equal(typeof note!.id, 'number')
  })
})
