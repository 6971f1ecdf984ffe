/** Members of a list that SQLite checks itself: nothing looks for them before, and what is refused says the same as ever. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../../lib/index.ts'
import type { EngineOptions } from '../../../lib/index.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), name: p.string(), tags: () => p.manyToMany(Tag).pivotTable('book_tags') },
})
const Loose = defineEntity({
  name: 'Loose',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    tags: () => p.manyToMany(Tag).pivotTable('loose_tags').createForeignKeyConstraint(false),
  },
})

const seed = {
  tags: [1, 2, 3, 4].map(id => ({ id, name: `Tag ${id}` })),
  books: [{ id: 1, name: 'Book', tags: [1] }],
  looses: [{ id: 1, name: 'Loose', tags: [1] }],
}

function create(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities: [Tag, Book, Loose], seed, ...options })
}

async function looksForTags(engine: RestEngine, path: string, body: unknown): Promise<boolean> {
  const { status, statements } = await engine.explain('PUT', path, undefined, body)
  assert.equal(status, 200)
  return statements.some(({ sql }) => sql.includes('from "tag"'))
}

const missing = (...places: (readonly [string, number])[]) =>
  places.map(([attribute, value]) => ({
    code: 'reference_not_found',
    detail: `"${attribute}": there is no tag with the ID ${value}.`,
    attribute,
    value,
  }))

describe('members of a list that SQLite checks', () => {
  it('are not looked for', async () => {
    await using engine = await create()
    assert.equal(await looksForTags(engine, '/v1/books/1/tags', [2, 3]), false)
    assert.equal(await looksForTags(engine, '/v1/books/1', { name: 'New', tags: [2, 3] }), false)
    assert.equal(await looksForTags(engine, '/v1/books/1', { tags: { connect: [2, 3] } }), false)
  })

  it('are all named where they are not there, and nothing is changed', async () => {
    await using engine = await create()
    for (const body of [[2, 8, 9], { connect: [2, 8, 9] }]) {
      const refused = await engine.handle('PUT', '/v1/books/1/tags', undefined, body)
      assert.equal(refused.status, 422)
      const within = Array.isArray(body) ? 'tags' : 'tags.connect'
      assert.deepEqual((refused.body as { errors: unknown }).errors, missing([`${within}.1`, 8], [`${within}.2`, 9]))
    }
    const { body } = await engine.handle('GET', '/v1/books/1')
    assert.deepEqual((body as { book: { tags: unknown } }).book.tags, [1])
  })

  it('say nothing of a record that is not there', async () => {
    await using engine = await create()
    for (const tags of [[2], [9]]) assert.equal((await engine.handle('PUT', '/v1/books/7/tags', undefined, tags)).status, 404)
  })

  it('are looked for where the table has no foreign key', async () => {
    await using engine = await create()
    assert.equal(await looksForTags(engine, '/v1/looses/1/tags', [2, 3]), true)
    assert.equal((await engine.handle('PUT', '/v1/looses/1/tags', undefined, [9])).status, 422)
  })

  it('are looked for inside of a transaction, in which references may have been deferred', async () => {
    const wrapped = resource(Book, { update: (_ctx, next) => next() })
    await using engine = await create({ resources: [wrapped] })
    assert.equal(await looksForTags(engine, '/v1/books/1', { tags: [2, 3] }), true)
  })
})
