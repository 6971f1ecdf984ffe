/**
 * The seam takes a database that answers later: readings send what needs nothing of each other in one message, and nothing relies on an
 * answer at once.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import type { Connection } from '../../lib/records/database/connection.ts'
import type { Reading } from '../../lib/records/database/dialect.ts'
import { SqliteConnection } from '../../lib/databases/sqlite/connection.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    boss: () => p.manyToOne(User).nullable(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User), tags: () => p.manyToMany(Tag) },
})

const SEED = {
  tags: [1, 2, 3].map(id => ({ id, name: `t${id}` })),
  users: [1, 2].map(id => ({ id, name: `u${id}`, boss: id === 1 ? null : 1 })),
  posts: [1, 2, 3, 4, 5].map(id => ({
    id,
    title: `p${id}`,
    author: 1 + (id % 2),
    tags: [1 + (id % 3), 3].filter((tag, at, all) => all.indexOf(tag) === at),
  })),
}

const QUERIES = [
  '/v1/posts?limit=2&depth=0',
  '/v1/posts?limit=2&depth=1',
  '/v1/posts?limit=2&depth=2',
  '/v1/posts?limit=0',
  '/v1/posts?limit=2&offset=4',
  '/v1/posts?limit=2&offset=9',
  '/v1/posts/3?depth=2',
  '/v1/posts/3?expand=author.posts,tags',
  '/v1/users/1/posts?depth=2&limit=1',
  '/v1/users/2/boss',
  '/v1/users?sort=posts.desc',
]

/** The statements of each message of a reading. */
let messages: string[][] = []

/**
 * Passes on what a reading yields, and notes it. `all` runs every statement of a message, needed or not, as a database does that is sent
 * all at once.
 */
function* noted<T>(reading: Reading<T>, all: boolean): Reading<T> {
  let step = reading.next()
  while (step.done !== true) {
    messages.push(step.value.map(({ statement }) => statement.sql))
    // A step may be an object that makes its members when they are asked for.
    const steps = all
      ? step.value.map(asked => ({ ...asked, statement: asked.statement, parameters: asked.parameters, isNeeded: () => true }))
      : step.value
    step = reading.next(yield steps)
  }
  return step.value
}

describe('a database that answers later', () => {
  const { explain, unindexedLinks, deferReferences } = SqliteConnection.prototype
  let engine: RestEngine
  let connection: Connection
  let read: Connection['read']
  before(async () => {
    engine = await RestEngine.create({ entities: [User, Post, Tag], seed: SEED })
    connection = internalsOf(engine).parts.connection
    read = connection.read
  })
  afterEach(() => {
    connection.read = read
    Object.assign(SqliteConnection.prototype, { explain, unindexedLinks, deferReferences })
  })
  after(() => engine.close())

  it('reads a page and its count in one message, and the relations of each level in one', async () => {
    connection.read = (reading, end) => read(() => noted(reading(), false), end)
    const sizes = async (path: string): Promise<number[]> => {
      messages = []
      assert.equal((await engine.handle('GET', path)).status, 200)
      return messages.map(({ length }) => length)
    }
    assert.deepEqual(await sizes('/v1/posts?depth=0'), [2])
    assert.deepEqual(await sizes('/v1/posts?depth=1'), [2, 1])
    assert.deepEqual(await sizes('/v1/posts?depth=2'), [2, 2, 1])
    assert.deepEqual(await sizes('/v1/posts?limit=0'), [1])
    assert.deepEqual(await sizes('/v1/posts/3?depth=2'), [1, 2, 1])
  })

  it('gives the same answers', async () => {
    const atOnce = await Promise.all(QUERIES.map(async path => engine.handle('GET', path)))
    connection.read = (reading, end) => turn().then(() => read(() => noted(reading(), true), end))
    for (const [index, path] of QUERIES.entries()) {
      const { status, body } = await engine.handle('GET', path)
      const { timestamp: _, ...shown } = body as { timestamp?: string }
      const { timestamp: __, ...expected } = atOnce[index]!.body as { timestamp?: string }
      assert.deepEqual([status, shown], [atOnce[index]!.status, expected], path)
    }
  })

  it('is explained, and seeded', async () => {
    const links = await internalsOf(engine).unindexedLinks(-1)
    SqliteConnection.prototype.explain = function (statements) {
      return turn().then(() => explain.call(this, statements))
    }
    SqliteConnection.prototype.unindexedLinks = function (resources, rows) {
      return turn().then(() => unindexedLinks.call(this, resources, rows))
    }
    SqliteConnection.prototype.deferReferences = function () {
      return turn().then(() => deferReferences.call(this)) as never
    }
    const { statements } = await engine.explain('GET', '/v1/posts?depth=2')
    assert.equal(statements.length, 4)
    assert.ok(statements.every(({ plan }) => plan.length > 0))
    assert.deepEqual(await internalsOf(engine).unindexedLinks(-1), links)
    await using other = await RestEngine.create({ entities: [User, Post, Tag], seed: SEED })
    const { body } = await other.handle('GET', '/v1/posts?limit=0')
    assert.equal((body as { count: number }).count, 5)
  })
})
