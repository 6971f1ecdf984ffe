/** Entities in schemas of their own, on a PostgreSQL server. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { findNoServer, ownSchema } from './server-database.ts'

/** Two tables of one name in two schemas, a table in the schema of the connection, and lists across. */
function makeEntities(schema: string) {
  const Shop = defineEntity({
    name: 'Shop',
    properties: { id: p.integer().primary(), name: p.string(), people: () => p.oneToMany(Person).mappedBy('shop') },
  })
  const Person = defineEntity({
    name: 'Person',
    tableName: 'person',
    schema,
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      mail: p.string().unique().nullable(),
      shop: () => p.manyToOne(Shop).nullable(),
      tags: () => p.manyToMany(Tag),
    },
  })
  const Visitor = defineEntity({ name: 'Visitor', tableName: 'person', properties: { id: p.integer().primary(), name: p.string() } })
  const Tag = defineEntity({
    name: 'Tag',
    properties: { id: p.integer().primary(), name: p.string(), people: () => p.manyToMany(Person).mappedBy('tags') },
  })
  return [Shop, Person, Visitor, Tag]
}

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('entities in schemas of their own', { skip: NO_SERVER }, () => {
  it('are created, read and written there', async () => {
    await using main = ownSchema()
    await using other = ownSchema()
    const { schema } = other.database
    const entities = makeEntities(schema)
    await using engine = await RestEngine.create({
      entities,
      database: main.database,
      seed: { shops: [{ name: 'A' }], tags: [{ name: 'x' }, { name: 'y' }], visitors: [{ name: 'Vic' }] },
    })
    const created = await engine.handle('POST', '/v1/people', undefined, { name: 'Ann', mail: 'a', shop: 1, tags: [1, 2] })
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const { body } = await engine.handle('GET', '/v1/people?expand=tags,shop&sort=shop.name&tags.name=y')
    assert.deepEqual(body.people[0].tags, [
      { id: 1, name: 'x', people: [1] },
      { id: 2, name: 'y', people: [1] },
    ])
    assert.deepEqual((await engine.handle('GET', '/v1/tags?expand=people')).body.tags[0].people[0].name, 'Ann')
    assert.deepEqual((await engine.handle('GET', '/v1/visitors')).body.visitors, [{ id: 1, name: 'Vic' }])
    assert.deepEqual(await other.run('select name from person'), [{ name: 'Ann' }])
    assert.deepEqual((await other.run('select count(*)::int as count from person_tags'))[0], { count: 2 })
    const given = await engine.handle('POST', '/v1/people', undefined, { id: 7, name: 'Bob', mail: 'b' })
    assert.equal(given.status, 200, JSON.stringify(given.body))
    const next = await engine.handle('POST', '/v1/people', undefined, { name: 'Cy' })
    assert.equal(next.body.person.id, 8)
    const same = await engine.handle('POST', '/v1/people', undefined, { name: 'Eve', mail: 'a' })
    assert.deepEqual([same.status, same.body.errors[0].attribute], [409, 'mail'])
    assert.equal((await engine.handle('PATCH', '/v1/people/1', undefined, { tags: [2] })).status, 200)
    assert.equal((await engine.handle('DELETE', '/v1/people/1')).status, 200)
    assert.deepEqual((await other.run('select count(*)::int as count from person_tags'))[0], { count: 0 })
    await using again = await RestEngine.create({ entities, database: main.database })
    assert.deepEqual(again.notes, [])
    assert.equal((await again.handle('GET', '/v1/people')).body.count, 2)
  })

  it('have views of their own, whatever others of that name there are', async () => {
    const Tall = defineEntity({
      name: 'Tall',
      properties: { id: p.integer().primary(), name: p.string() },
      view: true,
      expression: 'select 1 as id, 2 as name',
    })
    await using one = ownSchema()
    await using other = ownSchema()
    for (const { database } of [one, other]) {
      await using engine = await RestEngine.create({ entities: [Tall], database })
      assert.deepEqual(engine.notes, [])
      assert.equal((await engine.handle('GET', '/v1/talls')).body.count, 1)
    }
    assert.deepEqual(await other.run('select table_name from information_schema.views where table_schema = current_schema()'), [
      { table_name: 'tall' },
    ])
  })

  it('are found missing by a database that is only read, and are never those of every schema', async () => {
    await using main = ownSchema()
    await using other = ownSchema()
    const { schema } = other.database
    await main.run(`create schema ${main.database.schema}`)
    const entities = makeEntities(schema)
    await assert.rejects(
      RestEngine.create({ entities, database: main.database, readOnly: true }),
      new RegExp(`^Error: The database lacks the tables .*"${schema}\\.person"`),
    )
    await assert.rejects(
      RestEngine.create({ entities: makeEntities('*'), database: main.database }),
      /^Error: Person is an entity of every schema \("\*"\)/,
    )
  })
})

describe('an entity whose table is a view of the database', { skip: NO_SERVER }, () => {
  const Total = defineEntity({
    name: 'Total',
    tableName: 'total_of_all',
    properties: { id: p.integer().primary(), count: p.integer().nullable(), last: () => p.manyToOne(Post).nullable() },
  })
  const Post = defineEntity({ name: 'Post', properties: { id: p.integer().primary(), title: p.string().index() } })
  const views = (columns: string): string => `create table post (id int primary key, title text); insert into post values (7, 'A');
    create view total_of_all as select 1 as id${columns}`

  it('is served where the view has its columns', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(views(', 3 as count, 7 as last_id'))
    await using engine = await RestEngine.create({ entities: [Total, Post], database: schema.database })
    const { body } = await engine.handle('GET', '/v1/totals?expand=last&attributes=id,count,last.title')
    assert.deepEqual((body as { totals: unknown }).totals, [{ id: 1, count: 3, last: { title: 'A' } }])
  })

  it('that is not there is noted where the database is kept as it is, as a table is', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run('create table "post" (id integer primary key, title text)')
    await using engine = await RestEngine.create({ entities: [Total, Post], database: schema.database, schema: 'keep' })
    assert.ok(
      engine.notes.some(note =>
        /^The database lacks what the entities need, .*: "(?:\w+\.)?total_of_all"\. Requests for it fail/.test(note),
      ),
      engine.notes.join('\n'),
    )
    await schema.run('drop table "post"')
    await schema.run(views(', 3 as count, 7 as last_id'))
    await using whole = await RestEngine.create({ entities: [Total, Post], database: schema.database, schema: 'keep' })
    assert.deepEqual(
      whole.notes.filter(note => note.includes('lacks')),
      [],
    )
  })

  it('is refused where it lacks one, since nothing can be added to a view', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(views(''))
    await assert.rejects(RestEngine.create({ entities: [Total, Post], database: schema.database }), {
      message:
        'The database does not fit the entities, and nothing in it was changed: the column "total_of_all"."count" cannot be added, ' +
        'since "total_of_all" is a view; the column "total_of_all"."last_id" cannot be added, since "total_of_all" is a view.',
    })
    await assert.rejects(RestEngine.create({ entities: [Total, Post], database: schema.database, readOnly: true }), {
      message:
        'The database lacks what the entities need: the view "total_of_all" has no column "count"; ' +
        'the view "total_of_all" has no column "last_id".',
    })
  })
})
