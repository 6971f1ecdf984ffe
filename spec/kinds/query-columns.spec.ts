/** Virtual entities and views whose query does not give a column that the entity declares. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User) },
})
const Listing = defineEntity({
  name: 'Listing',
  // The column of a relation is called "author_id" here.
  expression: em => (em as SqlEntityManager).createQueryBuilder(Post, 'a').select(['title', 'author']),
  properties: { title: p.string(), author: p.integer() },
})
const Named = defineEntity({
  name: 'Named',
  expression: em => (em as SqlEntityManager).createQueryBuilder(Post, 'a').select(['title', 'author']),
  properties: { title: p.string(), author: p.integer().fieldName('author_id') },
})
const Total = defineEntity({
  name: 'Total',
  view: true,
  expression: 'select id, title from post',
  properties: { id: p.integer().primary(), title: p.string(), comments: p.integer() },
})
const Broken = defineEntity({ name: 'Broken', expression: 'select gone from nowhere', properties: { gone: p.string() } })

describeStores('a column that a query does not give', store => {
  it('is null, which a note says with the column that was meant', async () => {
    const posts = [
      { title: 'A', author: 1 },
      { title: 'B', author: 1 },
    ]
    const seed = { users: [{ id: 1, name: 'Ann' }], posts }
    await using engine = await createEngine({ entities: [User, Post, Listing, Named, Total, Broken], seed })
    const list = async (path: string, query: Record<string, string> = {}): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', `/v1/${path}`, query)
      assert.equal(status, 200, JSON.stringify(body))
      return (body as Record<string, unknown>)[path]
    }
    const listings = [
      { title: 'A', author: null },
      { title: 'B', author: null },
    ]
    assert.deepEqual(await list('listings', { sort: 'title' }), listings)
    assert.deepEqual(await list('listings', { sort: 'author,title' }), listings)
    assert.deepEqual(await list('listings', { author: '1' }), [])
    assert.deepEqual(await list('nameds', { author: '1', sort: 'title.desc', limit: '1' }), [{ title: 'B', author: 1 }])
    assert.deepEqual(await list('totals', { title: 'A' }), [{ id: 1, title: 'A', comments: null }])
    const found = await engine.orm.em.fork().find(Listing, {}, { orderBy: { title: 'desc' } })
    assert.deepEqual(
      found.map(({ title }) => title),
      ['B', 'A'],
    )
    assert.deepEqual(engine.notes, [
      'Total.comments: the view has no column "comments", so it is null.',
      'Listing.author: the expression has no column "author", so it is null. Did you mean "author_id"?',
      store.name === 'memory'
        ? 'Broken: SQLite cannot run its expression (no such table: nowhere).'
        : 'Broken: PostgreSQL cannot run its expression (relation "nowhere" does not exist).',
    ])
  })

  it('is null whatever its type is, also in filters, sort keys and expanded relations', async () => {
    const Wide = defineEntity({
      name: 'Wide',
      view: true,
      expression: 'select id from "user"',
      properties: {
        id: p.integer().primary(),
        name: p.string(),
        age: p.integer(),
        big: p.bigint(),
        price: p.decimal(),
        on: p.boolean(),
        at: p.datetime(),
        day: p.date(),
        uid: p.uuid(),
        kind: p.enum(['a', 'b']),
        doc: p.json(),
        tags: p.array(),
        owner: () => p.manyToOne(User),
      },
    })
    await using engine = await createEngine({ entities: [User, Wide], seed: { users: [{ id: 1, name: 'Ann' }] } })
    const nothing = Object.fromEntries(Object.keys(Wide.properties).map(name => [name, null]))
    const find = async (query: string): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', `/v1/wides${query}`)
      assert.equal(status, 200, query + JSON.stringify(body))
      return (body as { readonly wides: unknown }).wides
    }
    const all = [{ ...nothing, id: 1 }]
    const sortable = 'name,age,big,price,on,at,day,uid,kind,owner'.split(',')
    for (const name of sortable)
      for (const query of [`?sort=${name}.desc`, `?${name}=null`]) assert.deepEqual(await find(query), all, query)
    assert.deepEqual(await find('?expand=owner&sort=owner.name'), all)
    const filters =
      'name=x name~=x age=1 age>1 age=1,2 big>1 price<3 on=true at>2020-01-01T00:00:00Z ' +
      'day>2020-01-01 uid=00000000-0000-0000-0000-000000000000 kind=a doc.a=1 owner=1 owner.name=Ann'
    for (const filter of filters.split(' ')) assert.deepEqual(await find(`?${filter}`), [], filter)
    assert.deepEqual(await find('?name!=x&age!=1&on!=true&kind!=a'), all)
    assert.equal(engine.notes.length, Object.keys(nothing).length - 1)
  })
})

describeStores('an expression that calls its columns as the properties', () => {
  const Writer = defineEntity({
    name: 'Writer',
    properties: { id: p.integer().primary(), firstName: p.string(), bornAt: p.datetime().nullable(), isLiving: p.boolean() },
  })
  const Summary = defineEntity({
    name: 'Summary',
    expression:
      `select id as "writerId", id as "theWriter", first_name || '!' as "fullName", born_at ` +
      'as "bornAt", is_living as "isLiving", 1 as plain, 7 as both_ways, 8 as "bothWays" from writer',
    properties: {
      writerId: p.integer(),
      theWriter: () => p.manyToOne(Writer),
      fullName: p.string(),
      bornAt: p.datetime().nullable(),
      isLiving: p.boolean(),
      plain: p.integer(),
      bothWays: p.integer(),
      notThere: p.integer(),
    },
  })
  const AT = '2026-01-31T12:00:00.000Z'
  const seed = {
    writers: [
      { firstName: 'Ann', bornAt: AT, isLiving: true },
      { firstName: 'Bob', isLiving: false },
    ],
  }

  it('is read as in MikroORM', async () => {
    await using engine = await createEngine({ entities: [Writer, Summary], seed })
    const ask = async (query: string): Promise<Record<string, unknown>[]> => {
      const { status, body } = await engine.handle('GET', `/v1/summaries?${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body.summaries
    }
    const records = await ask('sort=writerId')
    const [ann, bob] = records
    const rest = { plain: 1, bothWays: 7, notThere: null }
    assert.deepEqual(ann, { writerId: 1, theWriter: 1, fullName: 'Ann!', bornAt: AT, isLiving: true, ...rest })
    assert.deepEqual(bob, { writerId: 2, theWriter: 2, fullName: 'Bob!', bornAt: null, isLiving: false, ...rest })
    const found = (await engine.orm.em.fork().find(Summary, {})) as unknown as Record<string, unknown>[]
    for (const name of ['writerId', 'fullName', 'bothWays', 'plain'])
      assert.deepEqual(
        found.map(entity => entity[name]),
        records.map(record => record[name]),
        name,
      )
    assert.deepEqual(await ask('fullName=B*'), [bob])
    assert.deepEqual(await ask(`bornAt=${AT}`), [ann])
    assert.deepEqual(await ask('isLiving=false'), [bob])
    assert.deepEqual(await ask('theWriter.firstName=Ann'), [ann])
    assert.deepEqual(await ask('sort=fullName.desc&limit=1'), [bob])
    assert.deepEqual((await ask('writerId=1&depth=2'))[0]!['theWriter'], { id: 1, firstName: 'Ann', bornAt: AT, isLiving: true })
    assert.deepEqual(engine.notes, ['Summary.notThere: the expression has no column "not_there", so it is null.'])
  })
})
