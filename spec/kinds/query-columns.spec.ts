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

describeStores('a column that a query does not give', { except: 'query columns' }, () => {
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
      'Broken: SQLite cannot run its expression (no such table: nowhere).',
    ])
  })
})
