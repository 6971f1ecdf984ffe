/**
 * Planned writes in existing files: a value is a change where it differs from what is shown, whatever a column holds, and whichever way
 * writes it. Files as others make them, with values of any type in any column, are served twice, as they are; in one of the engines a
 * subscriber does nothing, so that all of its writes go through MikroORM's unit of work. Both get the same requests. Answers, journals and
 * whole files are the same.
 *
 * A long run by hand: `FC_RUNS=2000 node --import tsx --test spec/property/planned-files.spec.ts`.
 */
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { UnitsOfWork } from '../../lib/databases/sqlite/units-of-work.ts'
import { check } from '../helpers/check.ts'
import { contentOf } from '../helpers/content.ts'
import { fileOf, pathOf } from '../sqlite/introspect/world.ts'
import { Twins } from './world/twins.ts'
import type { Request } from './world/ways-of-writing.ts'

/** The tables of a file: with declared types, and without any. */
const TABLES = [
  `create table owner (id integer primary key, name text not null, born datetime, active boolean, worth decimal(10,2), score real, token uuid,
    big bigint, day date, extra json, raw blob, bare)`,
  `create table pet (id integer primary key autoincrement, name varchar(20), owner_id integer references owner (id) on delete set null, tail boolean not null default 1,
    seen timestamp default current_timestamp, unique (owner_id, name))`,
  `create table coin (code text primary key, worth numeric, owner int references owner (id) on delete cascade) without rowid`,
  'create table friend (owner_id integer not null references owner (id) ' +
    'on delete cascade, pet_id int references pet (id), primary key (owner_id, pet_id))',
  'create table purse (coin_code varchar(9) references coin (code) ' +
    'on delete cascade, owner_id bigint references owner (id), primary key (coin_code, owner_id))',
  'create table mint (coin_code references coin (code) ' +
    'on delete cascade not null, owner_id references owner (id) not null, primary key (coin_code, owner_id))',
] as const

const TRIGGERS = [
  '',
  '',
  'create trigger loud after update on pet begin update owner set score = coalesce(score, 0) + 1 where id = new.owner_id; end',
  'create trigger quiet before update of name on pet when new.name is null begin select raise(ignore); end',
  `create trigger stern before insert on coin when new.worth < 0 begin select raise(abort, 'worth'); end`,
  'create trigger nosy after insert on friend begin update owner set score = new.pet_id where id = new.owner_id; end',
  'create trigger broken before update on coin begin select nothing_of_the_kind(); end',
] as const

/** Values as SQL, of any type. */
const VALUES = [
  'null',
  '0',
  '1',
  '2',
  '-3',
  '1.5',
  '1.50',
  "'1.5'",
  "'1.50'",
  "'x'",
  "'X'",
  "''",
  "'true'",
  "'2024-01-01 10:00:00'",
  "'2024-01-01T10:00:00.000Z'",

  "'2024-01-01'",
  '1704103200',
  '1704103200000',
  '\'{"a":1}\'',
  '\'{ "a": 1 }\'',
  "x'00ff'",
  '9007199254740993',
  "'ABCDEF00-0000-4000-8000-000000000000'",
] as const

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  owner: ['name', 'born', 'active', 'worth', 'score', 'token', 'big', 'day', 'extra', 'raw', 'bare'],
  pet: ['name', 'owner_id', 'tail', 'seen'],
  coin: ['worth', 'owner'],
  friend: ['owner_id', 'pet_id'],
  purse: ['coin_code', 'owner_id'],
  mint: ['coin_code', 'owner_id'],
}

/** By what a row of a table is found, where that is no "id". */
const KEYS: Readonly<Record<string, string>> = { coin: 'code', friend: 'rowid', purse: 'rowid', mint: 'rowid' }

const value = fc.constantFrom(...VALUES)
const oddValue = fc
  .constantFrom('owner', 'pet', 'coin', 'friend', 'purse', 'mint')
  .chain(table =>
    fc
      .tuple(fc.constantFrom(...COLUMNS[table]!), value, fc.integer({ min: 1, max: 3 }))
      .map(([column, sql, row]) => `update or ignore ${table} set ${column} = ${sql} where ${KEYS[table] ?? 'id'} = '${row}'`),
  )

/** Values of bodies, of which most are of the type of some attribute, and many are spelled in another way than the file has them. */
const given = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  2,
  -3,
  1.5,
  '1.5',
  '1.50',
  'x',
  'X',
  '',
  '2024-01-01',
  '2024-01-01T10:00:00Z',
  '2024-01-01T11:00:00+01:00',
  '2024-01-01T10:00:00.000Z',
  '2024-01-01 10:00:00',
  { a: 1 },
  [],
  'AP8=',
  '9007199254740993',
  5,
  'abcdef00-0000-4000-8000-000000000000',
)
/** Bodies of lists: most are IDs of records that are there, some make new ones. */
const members = (ids: fc.Arbitrary<unknown>, anew: object): fc.Arbitrary<unknown> =>
  fc.array(fc.oneof({ weight: 8, arbitrary: ids }, { weight: 1, arbitrary: fc.constant(anew) }), { maxLength: 3 })
const pets = members(fc.constantFrom(1, 2, 3, 9), { name: 'made' })
const coins = members(fc.constantFrom('1', '2', '3', '9'), { code: 'made' })
const owners = members(fc.constantFrom(1, 2, 3, 9), { name: 'made' })
const LISTS: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  owners: { pets, coins, petsViaFriend: pets, coinsViaPurse: coins, coinsViaMint: coins },
  pets: { owners },
  coins: { ownersViaPurse: owners, ownersViaMint: owners },
}
const PLACES = [
  ['owners', ['name', 'born', 'active', 'worth', 'score', 'token', 'big', 'day', 'extra', 'raw', 'bare']],
  ['pets', ['name', 'owner', 'tail', 'seen']],
  ['coins', ['worth', 'owner']],
] as const

const requests: fc.Arbitrary<Request> = fc.constantFrom(...PLACES).chain(([plural, names]) => {
  const id = fc.constantFrom('1', '2', '3', '7')
  const lists = Object.entries(LISTS[plural]!)
  const plain = fc.tuple(fc.constantFrom<string>(...names), given)
  const list = fc.constantFrom(...lists).chain(([name, value]) => fc.tuple(fc.constant(name), value))
  const body = fc
    .uniqueArray(fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: list }), {
      minLength: 1,
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map(entries => Object.fromEntries(entries))
  const path = id.map(key => `/v1/${plural}/${key}`)
  // No value of `VALUES`: see the test of link rows that wait for their record.
  const own = plural === 'coins' ? { code: fc.constantFrom('4', '5', 'y') } : plural === 'owners' ? { name: fc.constantFrom('n', 'm') } : {}
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ method: fc.constantFrom('PATCH', 'PUT'), path, body }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.record(own), body)
        .map(([needed, more]) => ({ method: 'POST', path: `/v1/${plural}`, body: { ...more, ...needed } as unknown })),
    },
    { weight: 1, arbitrary: path.map(each => ({ method: 'DELETE', path: each })) },
    { weight: 3, arbitrary: fc.tuple(path, list).map(([at, [name, value]]) => ({ method: 'PUT', path: `${at}/${name}`, body: value })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(path, list, body)
        .map(([at, [name], more]) => ({ method: 'POST', path: `${at}/${name}`, body: { ...more, name: 'n' } })),
    },
  )
})

/** A file with three rows in each table, whose values are then replaced. */
function makeFile(trigger: string, odd: readonly string[]): string {
  const rows = [1, 2, 3].map(
    id =>
      `insert into owner (id, name, active) values (${id}, 'o${id}', ${id % 2}); ` +
      `insert into pet (id, name, owner_id) values (${id}, 'p${id}', ${id}); ` +
      `insert into coin values ('${id}', ${id}, ${id}); insert into friend values (${id}, ${id}), (${id}, ${(id % 3) + 1}); ` +
      `insert into purse values ('${id}', ${id}); insert into mint values ('${id}', ${id});`,
  )
  return fileOf([...TABLES, ...rows, ...odd, trigger].filter(text => text !== '').join(';\n'))
}

/** Returns what a file holds. Nothing shows in which order the rows of a pivot table were inserted. */
function inAnyOrder(path: string): unknown {
  const { rows, ...rest } = contentOf(path)
  const isPivot = (table: string): boolean => ['friend', 'purse', 'mint'].includes(table)
  return { ...rest, rows: Object.entries(rows).map(([table, of]) => [table, isPivot(table) ? of.map(String).toSorted() : of]) }
}

/** How many units of work there have been. */
let units = 0
const { write } = UnitsOfWork.prototype
UnitsOfWork.prototype.write = function (work, end) {
  units++
  return write.call(this, work, end) as Promise<never>
}

describe('planned writes in existing files', () => {
  it('answer and store as the unit of work, whatever the columns hold', () =>
    check(
      fc.asyncProperty(
        fc.constantFrom(...TRIGGERS),
        fc.array(oddValue, { maxLength: 12 }),
        fc.array(requests, { minLength: 10, maxLength: 30, size: 'max' }),
        async (trigger, odd, asked) => {
          const files = [makeFile(trigger, odd), pathOf()] as const
          copyFileSync(files[0], files[1])
          {
            await using twins = await Twins.of(() => undefined, {}, files)
            for (const request of asked) await twins.ask(request)
          }
          assert.deepEqual(inAnyOrder(files[0]), inAnyOrder(files[1]))
        },
      ),
      { label: 'foreign files', runs: 40 },
    ))

  it('are what the plain requests are, where nobody listens', async () => {
    const path = makeFile('', ["update owner set active = 2, worth = '1.50', born = '2024-01-01 10:00:00' where id = 1"])
    await using engine = await RestEngine.create({ database: path })
    const before = units
    const ask = async (method: string, at: string, body?: unknown): Promise<void> => {
      const answer = await engine.handle(method, `/v1/${at}`, {}, body)
      assert.ok(answer.status < 300, JSON.stringify(answer.body))
      assert.equal(units, before, `${method} ${at} ${JSON.stringify(body)}`)
    }
    for (const body of [
      { name: 'x' },
      { active: false },
      { active: true },
      { worth: '2.5' },
      { born: '2025-01-01T00:00:00Z' },
      { extra: { a: 2 } },
    ])
      await ask('PATCH', 'owners/1', body)
    for (const body of [{ big: '7' }, { day: '2024-02-02' }, { score: 2.5 }, { raw: 'AQID' }, { bare: 'b' }])
      await ask('PATCH', 'owners/1', body)
    await ask('PATCH', 'pets/1', { owner: 2 })
    await ask('POST', 'pets', { name: 'new', owner: 1 })
    await ask('POST', 'owners/1/pets', { name: 'newer' })
    await ask('DELETE', 'coins/1')
    await ask('PUT', 'owners/1/pets', [1, 2])
    await ask('PUT', 'owners/1/petsViaFriend', [3, { name: 'newest' }])
    await ask('PATCH', 'owners/1', { name: 'y', pets: [2, 3], coinsViaPurse: ['2'] })
    await ask('PATCH', 'pets/1', { owner: { name: 'nested' } })
    await ask('POST', 'owners', { name: 'z', pets: [1], coins: ['3'] })
    await ask('POST', 'owners', { name: 'zz', petsViaFriend: [1, 2], coinsViaPurse: ['3'] })
    await ask('POST', 'owners/1/petsViaFriend', { name: 'newer' })
  })

  it('take a link row that stood there before its record for a link, which the unit of work refuses', async () => {
    for (const [subscribers, status] of [[undefined, 200] as const, [[{ afterFlush: () => {} }], 409] as const]) {
      const path = makeFile('', ["update purse set coin_code = 'x' where owner_id = 2"])
      await using engine = await RestEngine.create({ database: path, orm: subscribers === undefined ? {} : { subscribers } })
      const answer = await engine.handle('POST', '/v1/coins', {}, { code: 'x', ownersViaPurse: [2] })
      assert.equal(answer.status, status)
      const linked = contentOf(path).rows['purse']!.map(String)
      assert.equal(linked.length, 3)
    }
  })

  it('leave a list to the unit of work where its link columns keep a key in several forms, or a trigger takes part', async () => {
    await using engine = await RestEngine.create({
      database: makeFile(
        TRIGGERS.find(text => text.includes('nosy'))!,
        [],
      ),
    })
    const cases = [
      ['coinsViaMint', ['1'], 1],
      ['petsViaFriend', [1], 1],
      ['coinsViaPurse', ['2'], 0],
    ] as const
    for (const [name, body, expected] of cases) {
      const before = units
      assert.equal((await engine.handle('PUT', `/v1/owners/1/${name}`, {}, [...body])).status, 200, name)
      assert.equal(units - before, expected, name)
    }
  })

  it('write a value that differs from what is shown, and leave alone one that is spelled in another way', async () => {
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      const path = makeFile('', [
        "update owner set active = 2, worth = '1.50', born = '2024-01-01 10:00:00', token = 'ABCDEF00-0000-4000-8000-000000000000' " +
          'where id = 1',
      ])
      {
        await using engine = await RestEngine.create({ database: path, orm: { subscribers } })
        const same = { worth: 1.5, born: '2024-01-01T11:00:00+01:00', token: 'abcdef00-0000-4000-8000-000000000000' }
        assert.equal((await engine.handle('PATCH', '/v1/owners/1', {}, same)).status, 200)
        assert.deepEqual(engine.requests.at(-1)!.changes, [])
        assert.equal((await engine.handle('PATCH', '/v1/owners/1', {}, { active: true })).status, 200)
      }
      const db = new Database(path, { readonly: true })
      assert.deepEqual(db.prepare('select active, worth, born from owner where id = 1').get(), {
        active: 1,
        worth: 1.5,
        born: '2024-01-01 10:00:00',
      })
      db.close()
    }
  })

  it('write a value of an entity that differs from what is shown, though MikroORM reads what is stored as that value', async () => {
    const Flag = defineEntity({ name: 'Flag', properties: { id: p.integer().primary(), on: p.boolean(), text: p.string() } })
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      const path = fileOf(
        'create table flag (id integer primary key, "on" boolean not null, text text); insert into flag values (1, 2, \'a\')',
      )
      {
        await using engine = await RestEngine.create({ database: path, entities: [Flag], orm: { subscribers } })
        const shown = (await engine.handle('GET', '/v1/flags/1')).body as { flag: { on: unknown } }
        assert.notEqual(shown.flag.on, true)
        assert.equal((await engine.handle('PATCH', '/v1/flags/1', {}, { on: true })).status, 200)
      }
      const db = new Database(path, { readonly: true })
      assert.deepEqual(db.prepare('select * from flag').get(), { id: 1, on: 1, text: 'a' })
      db.close()
    }
  })
})
