/** JSON that people have: odd IDs, odd names, lists at the top, relations by other names. What can be served is served, and noted. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { RestEngine, fromJson } from '../../lib/index.ts'
import type { FromJsonOptions, JsonData } from '../../lib/index.ts'
import { Command, runAll, send } from '../helpers/command.ts'
import { cpuOf, leastOf } from '../helpers/least.ts'

type Json = Record<string, unknown>

async function serving(data: JsonData, options: FromJsonOptions = {}): Promise<RestEngine> {
  return RestEngine.create({ ...fromJson(data, options), onError: error => console.error(error) })
}

/** The records of a list, or the record. */
async function get(engine: RestEngine, path: string): Promise<unknown> {
  const { status, body } = await engine.handle('GET', `/v1/${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return (body as Json)[(body as Json)['resource'] as string]
}

/** What is served of data, and the notes. */
async function served(data: JsonData, path: string, options: FromJsonOptions = { required: true }): Promise<[unknown, readonly string[]]> {
  await using engine = await serving(data, options)
  return [await get(engine, path), engine.notes]
}

describe('fromJson of odd data', () => {
  it('numbers records whose ID is missing, null, of no use, or there already', async () => {
    const a = [{ id: 4 }, { id: 4, n: 1 }, { n: 2 }, { id: null, n: 3 }, { id: 1.5, n: 4 }, { id: { $oid: 'x' }, n: 5 }]
    assert.deepEqual(await served({ a }, 'a?sort=n'), [
      [
        { id: 4, n: null },
        { id: 5, n: 1 },
        { id: 6, n: 2 },
        { id: 7, n: 3 },
        { id: 8, n: 4 },
        { id: 9, n: 5 },
      ],
      [
        'a[0] and a[1] have the same "id", 4, so it is 5 here.',
        'a[2] has no "id", and a[0] has one, so it is 6 here.',
        'a[3] has no "id", and a[0] has one, so it is 7 here.',
        'the "id" of 2 more records, the last of them a[5], is not an ID of its own, so they are numbered, too.',
      ],
    ])
  })

  it('takes IDs of two types for texts', async () => {
    const [records, notes] = await served({ a: [{ id: 1 }, { id: 'x' }, { id: '1' }, {}] }, 'a')
    assert.deepEqual(records, [{ id: '1' }, { id: '2' }, { id: '3' }, { id: 'x' }])
    assert.equal(notes[0], 'the "id" of a[1] is "x" and that of a[0] is 1: they must be of one type, so all are strings.')
    assert.equal(notes.length, 3)
  })

  it('numbers all where none has a usable ID', async () => {
    assert.deepEqual((await served({ a: [{ id: null, n: 1 }, { n: 2 }] }, 'a'))[0], [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ])
  })

  it('notes an integer beyond 2^53, which the program that parsed it may have rounded', async () => {
    const data = { orders: [{ id: 1, data: { of: [Number('174322306148984899')] } }] }
    const said = 'orders.0.data.of.0 (174322306148984900) is beyond 2^53, where JavaScript rounds integers'
    assert.deepEqual((await served(data, 'orders'))[1], [`${said}, so it may be another than its text had: give it as a string.`])
    assert.throws(() => fromJson(data, { strict: true }), { message: `fromJson: ${said}.` })
  })

  it('finds records by "_id", "uuid" and "Id", or by the key that is said', async () => {
    await using engine = await serving({
      a: [{ _id: 'x', n: 1 }],
      b: [{ uuid: '3d1f8a50-9c5e-4d8e-9d0e-0123456789ab' }],
      c: [{ Id: 7 }],
      d: [{ _id: 'y', aId: 'x' }],
      odd: [{ _id: 1 }, { _id: 1 }],
    })
    assert.deepEqual(await get(engine, 'a/x'), { _id: 'x', n: 1, d: ['y'] })
    assert.deepEqual(await get(engine, 'd'), [{ _id: 'y', aId: 'x' }])
    assert.deepEqual(await get(engine, 'c/7'), { Id: 7 })
    assert.deepEqual(await get(engine, 'b/3d1f8a50-9c5e-4d8e-9d0e-0123456789ab'), { uuid: '3d1f8a50-9c5e-4d8e-9d0e-0123456789ab' })
    assert.deepEqual(await get(engine, 'odd'), [
      { id: 1, _id: 1 },
      { id: 2, _id: 1 },
    ])
    const created = (await engine.handle('POST', '/v1/c', undefined, {})).body as { c: Json }
    assert.deepEqual(created.c, { Id: 8 })
    const data = { books: [{ isbn: '1-2', id: 5 }], pages: [{ id: 1, bookId: '1-2' }] }
    assert.deepEqual((await served(data, 'books/1-2', { id: 'isbn' }))[0], { isbn: '1-2', id: 5, pages: [1] })
  })

  it('serves a list at the top, and a list of values', async () => {
    assert.deepEqual(await served([{ id: 1 }, { id: 2 }], 'records'), [
      [{ id: 1 }, { id: 2 }],
      ['the list at the top level is served as records.'],
    ])
    await using engine = await serving({ tags: ['a', 'b', null], users: [{ id: 1 }] })
    assert.deepEqual(await get(engine, 'tags'), [
      { id: 1, value: 'a' },
      { id: 2, value: 'b' },
      { id: 3, value: null },
    ])
    assert.equal((await engine.handle('POST', '/v1/tags', undefined, { value: 'c' })).status, 403)
    assert.match(engine.notes.join(), /each item of tags is the "value" of a record/)
  })

  it('leaves out what is no record, and what is no collection', async () => {
    const data = { version: '1.0', a: [{ id: 1 }, 'x', null, { id: 2 }] }
    assert.deepEqual(await served(data, 'a'), [
      [{ id: 1 }, { id: 2 }],
      [
        '"version" is a string; a collection is an array of objects, so it is left out.',
        'a[1] is a string; a collection is an array of objects, so 2 items of a are left out.',
      ],
    ])
  })

  it('gives collections a name that a path can have', async () => {
    const data = { 'blog posts': [{ id: 1 }], status: [{ id: 2 }], '---': [{ id: 3 }], größe: [{ id: 4 }], blog_posts: [{ id: 5, a: 1 }] }
    await using engine = await serving(data)
    for (const [index, name] of ['blog_posts', 'status_records', 'records', 'größe', 'blog_posts_2'].entries())
      assert.equal(((await get(engine, encodeURIComponent(name))) as Json[])[0]!['id'], index + 1, name)
    assert.match(engine.notes.join(), /"blog posts" cannot be the name of a collection.*, so it is blog_posts here/)
  })

  it('gives collections a class that MikroORM takes', async () => {
    const record = { id: 1, a: 1, b: 'x', c: true, d: 1.5, e: [1], f: { x: 1 } }
    for (const name of ['jsonTypes', 'double_types', 'constructor', 'Date', 'objects']) {
      await using engine = await serving({ [name]: [record] })
      assert.deepEqual(await get(engine, name), [record], name)
    }
  })

  it('leaves out what has more attributes than a table has columns', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1999 }, (_, index) => [`k${index}`, index]))
    const { k0: _, ...fitting } = wide
    await using engine = await serving({ wide, fitting, a: [{ id: 1 }] }, { open: true })
    assert.deepEqual(await get(engine, 'a'), [{ id: 1 }])
    assert.equal(Object.keys((await get(engine, 'fitting')) as Json).length, 1998)
    assert.equal((await engine.handle('GET', '/v1/wide')).status, 404)
    assert.match(engine.notes.join(), /wide has 1999 attributes; a table has 2000 columns at most, .*, so it is left out\./)
    assert.throws(() => fromJson({ wide, a: [] }, { strict: true }), /wide has 1999 attributes/)
  })

  it('leaves out an attribute "__proto__"', async () => {
    const data = JSON.parse('{ "a": [{ "id": 1, "__proto__": { "x": 1 }, "n": 2 }] }') as JsonData
    assert.deepEqual((await served(data, 'a'))[0], [{ id: 1, n: 2 }])
  })

  it('refuses unknown options', () => {
    assert.throws(() => fromJson({ a: [] }, { Strict: true } as never), /strict/)
  })
})

describe('fromJson', () => {
  const users = [{ id: 1 }, { id: 2 }]

  it('relates by what the values prove', async () => {
    await using engine = await serving(
      {
        users,
        subscriptionPlans: [{ id: 'free' }, { id: 'pro' }],
        tags: [{ id: 1 }, { id: 2 }],
        posts: [
          { id: 1, userId: 1, adminUserId: 2, planId: 'free', tags: [2, 1] },
          { id: 2, userId: 2, adminUserId: 2, planId: 'pro', tags: [] },
        ],
        likes: [{ id: 1, idUser: 2, post: 1 }],
      },
      { required: true },
    )
    assert.deepEqual(await get(engine, 'posts'), [
      { id: 1, userId: 1, adminUserId: 2, planId: 'free', tags: [2, 1], likes: [1] },
      { id: 2, userId: 2, adminUserId: 2, planId: 'pro', tags: [], likes: [] },
    ])
    assert.deepEqual(await get(engine, 'likes?expand=user&attributes=user'), [
      { user: { id: 2, posts: [2], postsAsAdminUser: [1, 2], likes: [1] } },
    ])
    assert.deepEqual(await get(engine, 'subscriptionPlans?posts=2'), [{ id: 'pro', posts: [2] }])
    assert.deepEqual(engine.notes, [])
  })

  it('says that a map of many records is one, and that no record has the key that was named', async () => {
    const map = Object.fromEntries(Array.from({ length: 2500 }, (_, index) => [`k${index}`, { n: index }]))
    await using engine = await serving({ map, users })
    assert.match(
      engine.notes.join('\n'),
      /^"map" is an object, so it is one record, and each member an attribute, as \/map\/k0; for a collection write a list: "map": \[\{ "id": "k0", .*left out/,
    )
    await using other = await RestEngine.create({ ...fromJson({ users }, { id: 'uid' }) })
    assert.deepEqual(other.notes, ['no record has a key "uid", which was named as the ID.'])
    assert.throws(() => fromJson({ users }, { id: 'uid', strict: true }), /no record has a key "uid"/)
  })

  it('does not guess where values do not prove it, and notes what comes near', async () => {
    const items = [
      { id: 1, ownerUserId: 0, tags: ['red', 'blue'], user: { name: 'x' }, userIds: '1', note: 1 },
      { id: 2, ownerUserId: 1, tags: [], user: null, userIds: null, note: 2 },
      { id: 3, ownerUserId: 2, tags: [], user: null, userIds: null, note: 7 },
    ]
    const data = { users, tags: [{ id: 1 }], items, notes: [{ id: 1 }, { id: 2 }], texts: [{ id: 1, user: '1' }] }
    await using engine = await serving(data, { required: true })
    assert.deepEqual(await get(engine, 'items'), items)
    assert.deepEqual(engine.notes, [
      'items.ownerUserId is a plain attribute: 0 of items[0] is not the ID of any record of users.',
      'items.userIds is a plain attribute: the value of items[0] is not an array.',
      'items.note is a plain attribute: 7 of items[2] is not the ID of any record of notes.',
      'texts.user is a plain attribute: "1" of texts[0] is a string, and the IDs of users are integers.',
    ])
  })

  it('relates nothing that could be of two collections', async () => {
    const data = { freePlans: [{ id: 1 }], proPlans: [{ id: 1 }], users: [{ id: 1, planId: 1 }] }
    const [records, notes] = await served(data, 'users')
    assert.deepEqual(records, data.users)
    assert.deepEqual(notes, ['users.planId is a plain attribute: its values are IDs of freePlans or proPlans.'])
  })
})

describe('Much data', () => {
  const users = Array.from({ length: 2000 }, (_, index) => ({ id: index + 1, name: `User ${index}`, isActive: index % 2 === 0 }))
  const posts = Array.from({ length: 20_000 }, (_, index) => ({
    id: `p${index}`,
    userId: 1 + (index % 2000),
    rating: index / 7,
    tags: [1 + (index % 2)],
    meta: { a: [index] },
  }))
  const data = { users, posts, tags: [{ id: 1 }, { id: 2 }] }

  it('is loaded in a few times of what statements by hand take', async () => {
    const byHand = (): void => {
      using db = new DatabaseSync(':memory:')
      db.exec(
        'create table users (id integer primary key, name text, active integer); create table posts (id text primary key, user ' +
          'integer references users, rating real, meta text); create table links (id integer primary key, post text, tag int); begin',
      )
      const [user, post, link] = ['users values (?, ?, ?)', 'posts values (?, ?, ?, ?)', 'links (post, tag) values (?, ?)'].map(into =>
        db.prepare(`insert into ${into}`),
      )
      for (const { id, name, isActive } of users) user!.run(id, name, Number(isActive))
      for (const { id, userId, rating, tags, meta } of posts) {
        post!.run(id, userId, rating, JSON.stringify(meta))
        for (const tag of tags) link!.run(id, tag)
      }
      db.exec('commit')
    }
    const load = async (): Promise<void> => {
      await using engine = await serving(data)
      assert.deepEqual(await get(engine, 'posts/p19999'), {
        id: 'p19999',
        userId: 2000,
        rating: 19_999 / 7,
        tags: [2],
        meta: { a: [19_999] },
      })
    }
    // Record by record it takes more than thirty times as long.
    const isQuick = (statements: number, loading: number): boolean => loading < 12 * statements
    const [statements, loading] = await leastOf([() => cpuOf(byHand), () => cpuOf(load)], isQuick)
    assert.ok(isQuick(statements, loading), `${loading} ms, by hand ${statements}`)
  })

  it('is loaded record by record where somebody listens, or has changed it', async () => {
    const model = fromJson({ users: [{ id: 1, name: 'a' }], posts: [{ id: 1, userId: 1 }] })
    const seen: unknown[] = []
    await using listened = await RestEngine.create({
      ...model,
      orm: { subscribers: [{ afterCreate: ({ entity }: { entity: unknown }) => void seen.push(entity) }] },
    })
    assert.equal(seen.length, 2)
    assert.deepEqual(await get(listened, 'users'), [{ id: 1, name: 'a', posts: [1] }])
    for (const [name, record, fault] of [
      ['users', { id: 2, name: 5 }, 'users.1.name'],
      ['users', { id: 2, nam: 'b' }, 'users.1.nam'],
      ['users', { id: 1, name: 'b' }, 'users.1'],
      ['posts', { id: 2, user: 9 }, 'posts.1.user'],
      ['posts', { id: 2 }, 'posts.1.user'],
    ] as const) {
      const changed = fromJson({ users: [{ id: 1, name: 'a' }], posts: [{ id: 1, userId: 1 }] }, { required: true })
      ;(changed.seed[name] as object[]).push(record)
      await assert.rejects(RestEngine.create({ ...changed }), (error: { errors?: { attribute?: string }[] }) => {
        assert.ok(
          error.errors?.some(({ attribute }) => attribute?.startsWith(fault)),
          `${fault}: ${JSON.stringify(error)}`,
        )
        return true
      })
    }
  })
})

describe('An odd JSON file', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-odd-json-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('with --save keeps what is not served, and what did not change', async () => {
    const text =
      '{ "version": 1,\n  "users": [{ "name": "a" }, { "id": 1 }, 5],\n  "empty": [\n  ], "list": [ "x" ],\n "two words": [{"id":1}] }\n'
    await writeFile(join(folder, 'odd.json'), text)
    await using command = new Command(folder, 'odd.json', '--save', '--port', '0')
    const origin = await command.origin()
    assert.equal((await send(origin, 'PUT', '/v1/users/2', { name: 'b' })).status, 200)
    assert.equal((await send(origin, 'DELETE', '/v1/users/1')).status, 200)
    assert.equal((await send(origin, 'POST', '/v1/users', { name: 'c' })).status, 200)
    assert.equal((await send(origin, 'POST', '/v1/two_words', {})).status, 200)
    assert.equal(await command.stop(), 0)
    assert.equal(
      await readFile(join(folder, 'odd.json'), 'utf8'),
      '{ "version": 1,\n  "users": [{ "name": "b" }, 5, { "name": "c", "id": 3 }],\n' +
        '  "empty": [\n  ], "list": [ "x" ],\n "two words": [{"id":1}, {"id":2}] }\n',
    )
  })

  it('that is a list is served under its own name, and saved', async () => {
    await writeFile(join(folder, 'users.json'), '[{"id":1,"name":"Ann"}]')
    await using command = new Command(folder, 'users.json', '--save', '--port', '0')
    const origin = await command.origin()
    assert.equal((await send(origin, 'POST', '/v1/users', { name: 'Bob' })).status, 200)
    assert.equal(await command.stop(), 0)
    assert.equal(await readFile(join(folder, 'users.json'), 'utf8'), '[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]')
  })

  it('is noted where an object looks like a list of records by their IDs', async () => {
    const push = '-NxR4_abcdefghijkl'
    await using engine = await serving({
      seven: { 7: { id: 7 }, 8: { id: 8, name: 'Ann' } },
      pushed: { [push]: { name: 'Ann' }, [`${push}m`]: { age: 7 } },
      alike: { ann: { age: 7 }, bob: { age: 8 } },
      settings: { light: { page: 'white' }, language: 'en' },
      themes: { light: { page: 'white' }, dark: { page: 'black', dim: true } },
    })
    assert.deepEqual(engine.notes, [
      '"seven" is an object, so it is one record, and each member an attribute, as /seven/7; for a collection write a list: "seven": [{ "id": 7, ... }].',
      `"pushed" is an object, so it is one record, and each member an attribute, as /pushed/${push}; for a collection write a list: "pushed": [{ "id": "${push}", ... }].`,
      '"alike" is an object, so it is one record, and each member an attribute, as /alike/ann; for a collection write a list: "alike": [{ "id": "ann", ... }].',
    ])
  })

  it('keeps integers beyond 2^53 as strings, relates by them, notes them and keys that stand twice, and saves only what changes', async () => {
    const text =
      '{ "orders": [{ "id": 174322306148984899, "total": 12345678901234567890 }, { "id": 7, "total": 5, "total": 6 }],\n' +
      '  "items": [{ "id": 1, "orderId": 174322306148984899, "n": 1, "size": 1.23456789012345678901 }, { "id": 2, "orderId": 7, "n": 1 }] }\n'
    await writeFile(join(folder, 'long.json'), text)
    await using command = new Command(folder, 'long.json', '--save', '--port', '0')
    const origin = await command.origin()
    const get = async (path: string): Promise<unknown> => {
      const { body } = await send(origin, 'GET', path)
      return (body as Json)[(body as Json)['resource'] as string]
    }
    const [order, other] = [
      { id: '174322306148984899', total: '12345678901234567890', items: [1] },
      { id: '7', total: 6, items: [2] },
    ]
    assert.deepEqual(await get('/v1/orders'), [order, other])
    assert.deepEqual(await get('/v1/orders/174322306148984899'), order)
    assert.deepEqual(await get('/v1/items?expand=order&attributes=orderId,order&sort=id'), [
      { orderId: order.id, order },
      { orderId: other.id, order: other },
    ])
    for (const id of [1, 2]) assert.equal((await send(origin, 'PUT', `/v1/items/${id}`, { n: 2 })).status, 200)
    assert.equal(await command.stop(), 0)
    assert.equal(await readFile(join(folder, 'long.json'), 'utf8'), text.replaceAll('"n": 1', '"n": 2'))
    for (const note of [
      'Note: a key stands twice in an object: orders[1].total, so the last one holds.',
      'Note: orders[0].id is 174322306148984899, orders[0].total is 12345678901234567890, items[0].orderId is 174322306148984899: ' +
        'an integer beyond 2^53 has more digits than a number keeps, so it is a string here.',
      'Note: items[0].size is 1.23456789012345678901: a fraction has more digits than a number keeps, so it is shown rounded.',
    ])
      assert.ok((command.stderr + command.stdout).includes(note), note)
  })

  it('is printed without what controls a terminal', async () => {
    const key = 'k\u001b[31m\u009b2J\u0007'
    await writeFile(
      join(folder, 'escape.json'),
      JSON.stringify({
        a: [
          { id: 1, [key]: key },
          { id: 1, [key]: 1 },
        ],
        [key]: [{ id: 2 }],
      }),
    )
    const answers = runAll(folder, [
      ['escape.json', '--get', '/v1/a'],
      ['escape.json', '--strict', '--get', '/v1/a'],
      ['escape.json', '--id', key, '--get', `/v1/${key}`],
      ['escape.json', '--diagram', '-'],
    ])
    await using command = new Command(folder, 'escape.json', '--port', '0')
    await command.origin()
    await command.stop()
    // oxlint-disable-next-line no-control-regex -- these are what is looked for
    const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
    for (const { stdout, stderr } of [...answers, command]) assert.doesNotMatch(stdout + stderr, control)
    // What is printed is the answer all the same.
    assert.equal((JSON.parse(answers[0]!.stdout) as { a: Json[] }).a[0]![key], key)
  })

  it('is refused as a seed where it holds numbers of too many digits', async () => {
    await writeFile(join(folder, 'seed.json'), '{ "users": [{ "name": "Ann", "age": 4634343214213523454 }] }')
    const [seeded] = runAll(folder, [['--seed', 'seed.json', '--get', '/v1/users']])
    assert.equal(seeded!.code, 1)
    assert.match(
      seeded!.stderr,
      /seed\.json holds a number that has too many digits, under "users\[0\]\.age": 4634343214213523454 would become/,
    )
  })

  it('is refused with --strict; --id names the key', async () => {
    await writeFile(join(folder, 'twice.json'), '{ "a": [{ "id": 1 }, { "id": 1 }], "b": [{ "slug": "x" }] }')
    const [strict, named, none] = runAll(folder, [
      ['twice.json', '--strict', '--get', '/v1'],
      ['twice.json', '--id', 'slug', '--get', '/v1/b/x'],
      ['--strict', '--get', '/v1'],
    ])
    assert.deepEqual([strict!.code, named!.code, none!.code], [1, 0, 2])
    assert.match(strict!.stderr, /^mikro-rest: twice\.json: a\[0\] and a\[1\] have the same "id", 1\.\n$/)
    assert.match(none!.stderr, /--strict is about how a JSON FILE is taken/)
  })

  it('has no temporary file beside it that an earlier process has left', async () => {
    await writeFile(join(folder, 'left.json'), '{ "a": [] }')
    const old = join(folder, `.left.json.${process.pid}.tmp`)
    await writeFile(old, '')
    await utimes(old, new Date(0), new Date(0))
    await using command = new Command(folder, 'left.json', '--save', '--port', '0')
    await command.origin()
    assert.deepEqual(
      (await readdir(folder)).filter(name => name.startsWith('.left')),
      [],
    )
  })
})
