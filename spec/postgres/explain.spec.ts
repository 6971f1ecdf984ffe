/** What a server does for the statements of a request, and the indexes that it would use. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import type { Explanation } from '../../lib/index.ts'
import { findNoServer, ownDatabase, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    code: p.string(),
    age: p.integer().nullable(),
    active: p.boolean(),
    secret: p.string().hidden(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author) },
})

const ROWS = `insert into author (name, code, age, active, secret)
    select 'Name ' || i * 7919 % 10007, 'c' || i, nullif(i % 90, 0), i % 3 > 0, 's' || i from generate_series(1, 6000) as i;
  insert into book (title, author_id) select 'Title ' || i, 1 + i % 6000 from generate_series(1, 6000) as i`

async function open(schema: OwnSchema): Promise<RestEngine> {
  const engine = await RestEngine.create({ entities: [Author, Book], database: schema.database })
  await schema.run(ROWS)
  await schema.run('analyze')
  return engine
}

function listScans({ statements }: Explanation): unknown {
  const found: unknown[] = []
  const visit = (steps: Explanation['statements'][number]['plan']): void => {
    for (const { table, rows, isCostly, children } of steps) {
      if (isCostly) found.push([table, rows])
      visit(children)
    }
  }
  for (const { plan } of statements) visit(plan)
  return found
}

/** The request, and what creates the index that it wants. */
const WANTED: readonly (readonly [query: string, columns: string])[] = [
  ['authors?code=c5', '"code"'],
  ['authors?name=Name 12*', '"name" collate "C"'],
  ['authors?sort=name', '"name" collate "C", "id"'],
  ['authors?sort=age', '"age" nulls first, "id"'],
  ['authors?sort=age.desc', '"age" desc nulls last, "id"'],
  ['authors?active=true&name>=Name 99', '"active", "name" collate "C"'],
  ['authors?books.title=Title 7', '"title"'],
]

describe('engine.explain on PostgreSQL', { skip: await findNoServer() }, () => {
  let schema: OwnSchema
  let engine: RestEngine
  before(async () => {
    schema = ownSchema()
    engine = await open(schema)
  })
  after(async () => {
    await engine?.close()
    await schema?.[Symbol.asyncDispose]()
  })

  it('advises the index that the server then uses', async () => {
    for (const [query, columns] of WANTED) {
      const path = `/v1/${query}&depth=0`
      const before = await engine.explain('GET', path)
      assert.notDeepEqual(listScans(before), [], query)
      const { hints } = before
      assert.deepEqual(
        hints.map(({ sql }) => sql.slice(sql.indexOf('('))),
        [`(${columns})`],
        query,
      )
      const answer = await engine.handle('GET', path)
      await schema.run(hints[0]!.sql)
      await schema.run('analyze')
      const after = await engine.explain('GET', path)
      assert.deepEqual([listScans(after), after.hints], [[], []], `${query}: ${JSON.stringify(after.statements.map(({ plan }) => plan))}`)
      assert.deepEqual((await engine.handle('GET', path)).body.authors, answer.body.authors)
      const made = await schema.run(
        "select indexname as name from pg_indexes where schemaname = current_schema() and indexname like '%idx'",
      )
      await schema.run(`drop index ${made.map(({ name }) => name as string).join(', ')}`)
    }
  })

  it('advises for rows that have just come, too, of which the server knows nothing', async () => {
    await using fresh = ownSchema()
    await using begun = await RestEngine.create({ entities: [Author, Book], database: fresh.database })
    for (const table of ['author', 'book']) await fresh.run(`alter table ${table} set (autovacuum_enabled = off)`)
    await fresh.run(ROWS)
    for (const [query, columns] of WANTED) {
      const { hints } = await begun.explain('GET', `/v1/${query}&depth=0`)
      assert.deepEqual(
        hints.map(({ sql }) => sql.slice(sql.indexOf('('))),
        [`(${columns})`],
        query,
      )
    }
  })

  it('says what the hint is about, and how the entity gets the index', async () => {
    const [plain] = (await engine.explain('GET', '/v1/authors?code=c5&depth=0')).hints
    assert.equal(plain!.entity, 'Author.code: .index()')
    assert.equal(plain!.detail, 'all 6,000 rows of "author" are gone through; an index on "code" of authors would find what is wanted.')
    // The index of a property has the collation of the database.
    const [text] = (await engine.explain('GET', '/v1/authors?sort=name&depth=0')).hints
    assert.deepEqual([text!.entity, text!.attributes], [undefined, ['name', 'id']])
  })

  it('counts beside a page only where the last one was full', async () => {
    const list = async (code: string): Promise<unknown> => {
      const { statements, response } = await engine.explain('GET', `/v1/authors?code=${code}&depth=0&limit=1`)
      return [statements.length, response.body.count]
    }
    assert.deepEqual(
      [await list('c5*'), await list('c5*'), await list('nobody*'), await list('nobody*')],
      [
        [2, 1111],
        [2, 1111],
        [2, 0],
        [1, 0],
      ],
    )
    assert.deepEqual(
      [await list('c5*'), await list('c5*')],
      [
        [2, 1111],
        [2, 1111],
      ],
    )
    // Behind the end, too, which a page shows of itself only without an offset.
    const behind = await engine.explain('GET', '/v1/authors?code=c5*&depth=0&limit=1&offset=5000')
    assert.equal(behind.response.body.count, 1111)
  })

  it('shows the parameters, and none that is secret', async () => {
    const { statements } = await engine.explain('GET', '/v1/authors?id<=2')
    assert.deepEqual(
      statements.map(({ parameters }) => parameters),
      [['2', 100, 0], ['2'], ['["1","2"]']],
    )
    await using own = await ownDatabase()
    await using writing = await RestEngine.create({ entities: [Author, Book], database: own.database })
    const created = await writing.explain('POST', '/v1/authors', undefined, { name: 'Ann', code: 'a', active: true, secret: 'mine' })
    assert.doesNotMatch(JSON.stringify(created.statements), /mine/)
  })

  it('advises none where most of a table is needed, an index is there, or there are few rows', async () => {
    for (const query of ['active=true', 'age=!null', 'name~=name*', 'id=5', 'limit=0'])
      assert.deepEqual((await engine.explain('GET', `/v1/authors?${query}&depth=0`)).hints, [], query)
    // No test follows that needs them.
    await schema.run('truncate book')
    await schema.run('delete from author where id > 500')
    await schema.run('analyze')
    assert.deepEqual((await engine.explain('GET', '/v1/authors?code=c5&depth=0')).hints, [])
  })
})
