/** `fill`: values by a function of the row, rows of a new entity out of another's, and values that are made up because a word says so. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { describeEvolved } from './evolved.ts'

const id = () => p.integer().primary()
const Tag = defineEntity({ name: 'Tag', properties: { id: id(), name: p.string() } })
const common = { id: id(), name: p.string(), bornAt: p.datetime(), score: p.float(), ok: p.boolean(), data: p.json(), big: p.bigint() }
const User = defineEntity({
  name: 'User',
  properties: { ...common, street: p.string(), homeTown: p.string().nullable(), tag: () => p.manyToOne(Tag) },
})
const SEED = {
  tags: [{ id: 4, name: 'x' }],
  users: [
    {
      id: 1,
      name: 'Ann Lee',
      bornAt: '2000-01-31T12:00:00.000Z',
      score: 1.5,
      ok: true,
      data: { a: 1 },
      big: '9007199254740993',
      street: 'A 1',
      homeTown: 'Rome',
      tag: 4,
    },
    { id: 2, name: 'Bob Ray', bornAt: '2001-01-31T12:00:00.000Z', score: 2, ok: false, data: [2], big: '5', street: 'B 2', tag: 4 },
  ],
}

describeEvolved('fill', (make, isServer) => {
  it('is not needed for a property whose default is a text with quotes, in old rows and new ones', async () => {
    await using own = make()
    await own.evolve([Tag], { seed: { tags: SEED.tags } })
    const Quoted = defineEntity({
      name: 'Tag',
      properties: {
        id: id(),
        name: p.string(),
        said: p.string().default("it's '"),
        note: p.text().nullable().default("'"),
        kind: p.enum(["it's", 'b']).default("it's"),
      },
    })
    await own.evolve([Quoted])
    await own.run("insert into tag (id, name) values (5, 'new')")
    const filled = { said: "it's '", note: "'", kind: "it's" }
    assert.deepEqual(await own.rows('select * from tag order by id'), [
      { id: 4, name: 'x', ...filled },
      { id: 5, name: 'new', ...filled },
    ])
    assert.deepEqual(await own.evolve([Quoted]), [])
  })

  it('notes the value of a JSON property as JSON', async () => {
    await using own = make()
    await own.evolve([Tag], { seed: { tags: SEED.tags } })
    const Noted = defineEntity({ name: 'Tag', properties: { id: id(), name: p.string(), data: p.json().default('{"a":["b"]}' as never) } })
    const notes = await own.evolve([Noted], { fill: { Tag: { data: { a: ['b'] } } } })
    assert.ok(
      notes.some(note => note.endsWith('1 row gets {"a":["b"]}.')),
      notes.join('\n'),
    )
  })

  it('asks a function of the old row, by names of properties, of columns, and of what the model lacks', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const seen: Record<string, unknown>[] = []
    const Next = defineEntity({
      name: 'User',
      properties: {
        ...common,
        first: p.string(),
        tag: () => p.manyToOne(Tag),
        year: p.integer(),
        note: p.string().nullable(),
        wanted: p.json(),
      },
    })
    const fill = {
      users: {
        first: (row: Record<string, string>) => row['name']!.split(' ')[0],
        year: (row: Record<string, string>) => Number(row['bornAt']!.slice(0, 4)),
        note: (row: Record<string, string>) => row['home_town'],
        wanted: (row: Record<string, unknown>) => {
          seen.push({ ...row })
          return { town: row['homeTown'] }
        },
      },
    }
    const notes = await own.evolve([Tag, Next], { fill })
    assert.ok(
      notes.some(note => note.includes('2 rows get what fill gives.')),
      notes.join('\n'),
    )
    assert.deepEqual(
      (await own.rows('select id, first, year, note, wanted from "user" order by id')).map(row => ({
        ...row,
        wanted: isServer ? row.wanted : JSON.parse(row.wanted),
      })),
      [
        { id: 1, first: 'Ann', year: 2000, note: 'Rome', wanted: { town: 'Rome' } },
        { id: 2, first: 'Bob', year: 2001, note: null, wanted: { town: null } },
      ],
    )
    assert.deepEqual(seen[0], {
      id: 1,
      name: 'Ann Lee',
      bornAt: '2000-01-31T12:00:00.000Z',
      born_at: '2000-01-31T12:00:00.000Z',
      score: 1.5,
      ok: true,
      data: { a: 1 },
      big: '9007199254740993',
      street: 'A 1',
      home_town: 'Rome',
      homeTown: 'Rome',
      tag: 4,
      tag_id: 4,
    })
    assert.deepEqual(await own.evolve([Tag, Next], { fill }), [])
  })

  it('fills rows without a value alone where a property becomes required', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const Next = defineEntity({
      name: 'User',
      properties: { ...common, street: p.string(), homeTown: p.string(), tag: () => p.manyToOne(Tag) },
    })
    await own.evolve([Tag, Next], { fill: { users: { homeTown: row => `near ${row['street']}` } } })
    assert.deepEqual(await own.rows('select home_town from "user" order by id'), [{ home_town: 'Rome' }, { home_town: 'near B 2' }])
  })

  it('names the rows for which a function gives nothing, something else, or fails', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const Next = defineEntity({
      name: 'User',
      properties: { ...common, street: p.string(), homeTown: p.string().nullable(), tag: () => p.manyToOne(Tag), days: p.integer() },
    })
    const entities = [Tag, Next]
    await own.refuse(
      entities,
      { fill: { users: { days: row => (row['id'] === 2 ? undefined : 1) } } },
      '"fill.users.days" gives nothing in 1 row (id 2), and must give an integer',
    )
    await own.refuse(
      entities,
      { fill: { users: { days: row => (row['id'] === 2 ? 'many' : 1) } } },
      '"fill.users.days" must give an integer, and gives "many" for id 2',
    )
    await own.refuse(
      entities,
      { fill: { users: { days: row => row['strete'].length } } },
      '"fill.users.days" fails for id 1: a row of "user" has no "strete". Did you mean "street"?',
    )
    await own.refuse(
      entities,
      { fill: { users: { days: async () => 1 } } },
      '"fill.users.days" gives a promise, and must give the value itself',
    )
  })

  it('makes rows of a new entity out of those of another, once, so that splitting an entity takes no SQL', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const Address = defineEntity({
      name: 'Address',
      properties: { id: id(), street: p.string(), town: p.string().nullable(), tags: () => p.manyToMany(Tag) },
    })
    const Next = defineEntity({ name: 'User', properties: { ...common, tag: () => p.manyToOne(Tag), address: () => p.manyToOne(Address) } })
    const entities = [Tag, Address, Next]
    const fill = {
      addresses: {
        from: 'users',
        each: (row: Record<string, number | string>) => ({ id: Number(row['id']) * 10, street: row['street'], town: row['homeTown'] }),
      },
      users: { address: (row: Record<string, number>) => row['id']! * 10 },
    }
    const notes = await own.evolve(entities, { fill, drop: ['user.street', 'user.homeTown'] })
    assert.ok(notes.includes('Evolved: address: 2 rows are made of the rows of "user".'), notes.join('\n'))
    assert.deepEqual(await own.rows('select id, street, town from address order by id'), [
      { id: 10, street: 'A 1', town: 'Rome' },
      { id: 20, street: 'B 2', town: null },
    ])
    assert.deepEqual(await own.rows('select id, address_id from "user" order by id'), [
      { id: 1, address_id: 10 },
      { id: 2, address_id: 20 },
    ])
    assert.deepEqual(await own.evolve(entities, { fill }), [])
    // IDs go on behind those that were given.
    await own.run("insert into address (street) values ('C 3')")
    assert.deepEqual(await own.rows("select id from address where street = 'C 3'"), [{ id: 21 }])
  })

  it('takes rows of a table that no entity has, several for one or none, into a new table, and fills no table that was emptied', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const Word = defineEntity({ name: 'Word', properties: { id: id(), text: p.string(), of: p.integer() } })
    const each = (row: Record<string, string>) => (row['ok'] ? row['name']!.split(' ').map(text => ({ text, of: row['id'] })) : undefined)
    const fill = { words: { from: 'users', each } }
    await own.evolve([Word], { fill })
    assert.deepEqual(await own.rows('select text, "of" from word order by id'), [
      { text: 'Ann', of: 1 },
      { text: 'Lee', of: 1 },
    ])
    await own.run('delete from word')
    assert.deepEqual(await own.evolve([Word], { fill }), [])
    const More = defineEntity({ name: 'Word', properties: { id: id(), text: p.string(), of: p.integer(), more: p.string().nullable() } })
    const notes = await own.evolve([More], { fill })
    assert.ok(
      notes.some(note => note.startsWith('word: the table is empty, and was there before, so "fill.words" makes no rows.')),
      notes.join('\n'),
    )
    assert.deepEqual(await own.rows('select * from word'), [])
    await own.run('drop table word')
    await own.refuse(
      [Word],
      { fill: { words: { from: 'usres', each } } },
      '"fill.words" takes rows of "usres", and the database has no such table',
    )
    await own.refuse(
      [Word],
      { fill: { words: { from: 'users', each: () => ({ txt: 1 }) } } },
      '"fill.words" fails for id 1: "txt" is no property that is stored in one column. Did you mean "text"?',
    )
    await own.refuse(
      [Word],
      { fill: { words: { from: 'users', each: () => ({ text: 'a' }) } } },
      '"fill.words" fails for id 1: "of" is required',
    )
    await own.refuse(
      [Word],
      { fill: { words: { from: 'users', each: () => ({ id: 1, text: 'a', of: 1 }) } } },
      'what "fill.words" makes of id 2 of "user" does not fit',
    )
  })

  it('makes values up where a word says so, for what is required and not given, and for nothing that may be an old column', async () => {
    await using own = make()
    await own.evolve([Tag, User], { seed: SEED })
    const Next = defineEntity({
      name: 'User',
      properties: {
        ...common,
        street: p.string(),
        homeTown: p.string().nullable(),
        tag: () => p.manyToOne(Tag),
        email: p.string().unique(),
        kind: p.enum(['x', 'y']),
        days: p.integer(),
        open: p.string().nullable(),
      },
    })
    await own.refuse([Tag, Next], {}, 'fill: { user: { days: 0 } }')
    for (const fill of [{ '*': 'made-up', users: { days: 7 } }, { users: 'made-up' }] as const) {
      await using other = make()
      await other.evolve([Tag, User], { seed: SEED })
      const notes = await other.evolve([Tag, Next], { fill })
      assert.ok(
        notes.some(note => note.includes('2 rows get made-up values.')),
        notes.join('\n'),
      )
      const rows = await other.rows('select email, kind, days, open from "user" order by id')
      assert.equal(new Set(rows.map(({ email }) => email)).size, 2)
      for (const row of rows) {
        assert.match(row.kind, /^[xy]$/)
        assert.equal(row.open, null)
        if ('*' in fill) assert.equal(row.days, 7)
        else assert.equal(typeof row.days, 'number')
      }
    }
    const Renamed = defineEntity({
      name: 'User',
      properties: { ...common, streetName: p.string(), homeTown: p.string().nullable(), tag: () => p.manyToOne(Tag) },
    })
    await own.refuse(
      [Tag, Renamed],
      { fill: { '*': 'made-up' } },
      'user.street_name is new and required, and may be "street" by a new name',
    )
    await own.refuse([Tag, Next], { fill: { '*': { a: 1 } } }, '"fill.*" must be "made-up"')
  })
})
