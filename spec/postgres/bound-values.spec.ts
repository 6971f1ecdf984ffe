/**
 * Values that MikroORM's unit of work writes to PostgreSQL: they are bound, in no text of a statement, and mean what MikroORM's literals
 * would.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p, raw } from '@mikro-orm/postgresql'
import type { EntityManager } from '@mikro-orm/postgresql'
import { RestEngine } from '../../lib/index.ts'
import { watchStatements } from '../helpers/statements.ts'
import { findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** In every value that is written, as a text, a number, a date and bytes. */
const MARKS = /marked|41997|2041-09-09|6d61726b6564/i

const Tag = defineEntity({ name: 'Tag', properties: { code: p.string().primary() } })
const Item = defineEntity({
  name: 'Item',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    count: p.integer().nullable(),
    ratio: p.double().nullable(),
    amount: p.decimal().precision(10).scale(3).nullable(),
    big: p.bigint('string').nullable(),
    isOpen: p.boolean().nullable(),
    at: p.datetime().nullable(),
    day: p.date().nullable(),
    bytes: p.blob().nullable(),
    data: p.json<Record<string, unknown>>().nullable(),
    list: p.array().nullable(),
    kind: p.enum(['marked', 'plain']).nullable(),
    version: p.integer().version(),
    tags: () => p.manyToMany(Tag),
    parent: () => p.manyToOne(Item).nullable(),
  },
})

interface World extends AsyncDisposable {
  readonly engine: RestEngine
  readonly schema: OwnSchema
  readonly em: EntityManager
}

async function createWorld(work: (em: EntityManager) => Promise<unknown> = async () => {}): Promise<World> {
  const schema = ownSchema()
  const engine = await RestEngine.create({
    database: schema.database,
    entities: [Item, Tag],
    // A subscriber: all writes go by the unit of work.
    orm: { subscribers: [{ beforeCreate: ({ em }: { em: EntityManager }) => work(em) }] } as never,
  })
  return {
    engine,
    schema,
    em: engine.orm.em.fork() as unknown as EntityManager,
    async [Symbol.asyncDispose]() {
      await engine.close()
      await schema[Symbol.asyncDispose]()
    },
  }
}

const BODY = {
  name: "marked '\\ ? $1 \\? ",
  count: 41_997,
  ratio: 41_997.5,
  amount: '41997.125',
  big: '9007199254741997',
  isOpen: true,
  at: '2041-09-09T10:11:12.345Z',
  day: '2041-09-09',
  bytes: Buffer.from('marked').toString('base64'),
  data: { marked: ['marked', 41_997, null] },
  list: ['marked', 'mar"ked', 'a,marked'],
  kind: 'marked',
}

describe('values of the unit of work on PostgreSQL', { skip: await findNoServer() }, () => {
  it('are in no text of a statement: creates, changes, changes of many, links and deletes', async () => {
    await using world = await createWorld()
    const { engine, em } = world
    const { sql } = await watchStatements(async () => {
      const send = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
        const answer = await engine.handle(method, `/v1/${path}`, '', body)
        assert.ok(answer.status < 300, JSON.stringify(answer.body))
        return answer.body
      }
      await send('POST', 'tags', { code: 'marked1' })
      await send('POST', 'tags', { code: 'marked2' })
      const { item } = (await send('POST', 'items', { ...BODY, tags: ['marked1'] })) as { item: Record<string, unknown> }
      const { id: _, version: __, ...shown } = item
      assert.deepEqual(shown, { ...BODY, parent: null, tags: ['marked1'] })
      await send('POST', 'items', { name: 'marked', parent: 1, tags: ['marked1', 'marked2'] })
      await send('PUT', 'items/2', { ...BODY, name: 'marked other', tags: ['marked2'] })
      const items = await em.find(Item, { name: { $in: ['marked other', BODY.name] } }, { orderBy: { id: 1 }, populate: ['tags'] })
      assert.equal(items.length, 2)
      for (const [index, each] of items.entries()) {
        each.count = 419_970 + index
        each.at = new Date('2041-09-09T00:00:00Z')
        each.bytes = Buffer.from(`marked ${index}`)
        each.data = { at: index, text: `marked ${index}` }
        each.list = [`marked ${index}`]
        each.isOpen = index === 0
        each.ratio = index === 0 ? null : 41_997
      }
      await em.flush()
      assert.equal(await em.nativeUpdate(Item, { count: 419_970, at: new Date('2041-09-09T00:00:00Z') }, { big: '41997' }), 1)
      assert.equal(await em.count(Item, { data: { at: 1, text: 'marked 1' }, bytes: Buffer.from('marked 1') }), 1)
      const streamed = []
      for await (const each of em.stream(Item, { where: { name: 'marked other' } })) streamed.push(each.id)
      assert.deepEqual(streamed, [2])
      await send('DELETE', 'items/2')
      assert.equal(await em.nativeDelete(Item, { name: BODY.name, count: 419_970 }), 1)
      await send('DELETE', 'tags/marked1')
    })
    assert.deepEqual(
      sql.filter(text => MARKS.test(text)),
      [],
    )
    assert.deepEqual(
      ['insert', 'update', 'delete', 'select', 'declare'].filter(word => !sql.some(text => text.startsWith(word))),
      [],
    )
    assert.ok(sql.some(text => /^update .* case when/.test(text)))
  })

  it('are in no text of what a hook runs', async () => {
    let isFirst = true
    await using world = await createWorld(async em => {
      if (!isFirst) return
      isFirst = false
      await em.nativeUpdate(
        Item,
        { name: 'marked', list: { $contains: ['marked'] } },
        { name: raw<string>('concat(?, ?)', ['marked', 41_997]) },
      )
      await em.execute('update item set name = :name, data = :data where :none is null and name = :name', {
        name: 'marked',
        data: { marked: 1 },
        none: null,
      })
      await em.upsert(Tag, { code: 'marked' })
      await em.insertMany(Item, [{ name: 'marked' }, { name: 'marked 2', count: 41_997 }])
    })
    const { sql } = await watchStatements(async () => {
      const { status, body } = await world.engine.handle('POST', '/v1/items', '', { name: 'marked' })
      assert.equal(status, 200, JSON.stringify(body))
    })
    assert.deepEqual(
      sql.filter(text => MARKS.test(text)),
      [],
    )
    assert.equal(await world.em.count(Item), 3)
  })

  it('mean what their literals do', async () => {
    await using world = await createWorld()
    const { em, schema } = world
    await schema.run("insert into item (name, count, data, list, at) values ('a?', 5, '{\"a?\": [1]}', '{x,y}', '2026-01-02T03:04:05Z')")
    const cases: readonly (readonly [string, ...unknown[]])[] = [
      ['select ? as a, ? as b, ? as c, ? as d', 'x', 5, 1.5, true],
      ['select pg_typeof(?)::text as a, pg_typeof(?)::text as b, pg_typeof(?)::text as c, pg_typeof(?)::text as d', 5, 3e9, 1e30, -0.5],
      ['select coalesce(?, ?) as a, coalesce(?, ?) as b, nullif(?, ?) as c', null, 'x', null, 5, 'x', 'y'],
      ['select case when count = ? then ? else name end as a, case when count = ? then ? else ? end as b from item', 5, 'x', 6, null, 'z'],
      ['select concat(?, ?, ?) as a, jsonb_build_object(?, ?, ?, ?) as b, format(?, ?) as c', 'a', 1, null, 'k', 'v', 'n', 2, '%s!', 'x'],
      ['select ? is null as a, ? is not null as b, (?) is null as c, true is ? as d, true is not ? as e', 'x', null, 5, true, null],
      ['select id from item where (? is null or name = ?) and count is ?', 'a?', 'a?', null],
      ['select ?? as x, ??.?? as y from item where ?? = ?', 'name', 'item', 'count', 'count', 5],
      ['select id from item where count in (?) and (name, count) in ((?, ?), (?))', [4, 5], 'a?', 5, ['b', 6]],
      ["select at + interval ? as a, date ? as b, at at time zone ? as c from item where at > ? and at <> timestamptz '2020-01-01'"].concat(
        '1 day',
        '2026-01-01',
        'UTC',
        '2026-01-01',
      ) as [string],
      ['select id from item where at = ? and data = ? and list = ?', new Date('2026-01-02T03:04:05Z'), { 'a?': [1] }, '{x,y}'],
      ['select id from item where at > ? limit ? offset ?', new Date(0), 1, 0],
      ['select count % ? as n, count(*)::int as rows from item group by count % ? order by count % ?', 2, 2, 2],
      ['select ?::text as a, ? + 1 as b, 3 - ? as c, round(?, 1) as d', 5, '4', -1, 2.25],
      ['select ?::bytea as a, ? || name as b from item', Buffer.from('\u0000?'), '\\?'],
      ['with named as (select ? as n union select name from item) select n from named order by n', 'b'],
      ['values (?, ?), (?, ?)', 1, 'x', 2, null],
      ['select ? as a', raw('upper(?) || ?', ['x', raw('?', ["'"])])],
      ['select 41 as a;'],
    ]
    for (const [sql, ...params] of cases) {
      const literal = await em.getConnection().execute(em.getPlatform().formatQuery(sql, params))
      const bound = await em.getConnection().execute(sql, params)
      assert.deepEqual(bound, literal, sql)
    }
  })

  it('stand where a question mark is outside of texts, quoted names and comments', async () => {
    await using world = await createWorld()
    const ask = async (sql: string, ...params: unknown[]): Promise<unknown> =>
      Object.values((await world.em.execute(sql, params))[0] as object)
    assert.deepEqual(await ask(`select 'it''s ?' as "why?", E'\\'?' as e, /* or? */ ? as x -- is it?\n, ? as y`, 'a', 'b'), [
      "it's ?",
      "'?",
      'a',
      'b',
    ])
    assert.deepEqual(await ask(String.raw`select '{"a?": 1}'::jsonb \? ? as a, '["x"]'::jsonb \?| array[?] as b, '\?' as c`, 'a?', 'x'), [
      true,
      true,
      '?',
    ])
    assert.deepEqual(await ask('select $$?$$ as a, $q$ ? $$ ? $q$ as b, ? as c', 'x'), ['?', ' ? $$ ? ', 'x'])
  })

  it('are literals in what takes no parameters', async () => {
    await using world = await createWorld()
    const { em } = world
    const { sql } = await watchStatements(async () => {
      await em.execute('create view seen as select ? as a', ['first'])
      await em.execute('select ?; select ?', ['second', 'third'])
      await em.execute('select name from item group by name, name || ? order by name || ?', ['fourth', 'fifth'])
      const many = Array.from({ length: 65_536 }, (_, index) => index)
      assert.equal(await em.count(Item, { id: { $in: many } }), 0)
    })
    for (const value of ['first', 'second', 'third', 'fourth', 'fifth'])
      assert.ok(
        sql.some(text => text.includes(`'${value}'`)),
        value,
      )
    assert.ok(sql.some(text => text.includes(', 65535')))
  })
})
