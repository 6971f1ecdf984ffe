/** Entities that were written for PostgreSQL or MySQL, unchanged: what they mean, what SQLite says of it, and what the engine notes. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntitySchema } from '@mikro-orm/core'
import { FullTextType } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { AuditEvent, entities } from '../../fixtures/postgres-model/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'

type Row = Record<string, unknown>
type Columns = Record<string, unknown>

/** An engine with one entity, `Thing`, that has a key and these properties. */
async function engineOf(properties: object, more: object = {}): Promise<RestEngine> {
  const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), ...properties }, ...more } as never) as unknown
  return await RestEngine.create({ entities: [Thing as EntitySchema] })
}

async function post(engine: RestEngine, body: Row = {}): Promise<Row> {
  const made = await engine.handle('POST', '/v1/things', undefined, body)
  assert.equal(made.status, 200, JSON.stringify(made.body))
  return (made.body as { thing: Row }).thing
}

describe('a shop written for PostgreSQL', () => {
  it('is served, made up and seeded, with a note for all that is mapped', async () => {
    await using engine = await RestEngine.create({ entities })
    assert.equal(internalsOf(engine).model.resources.length, 13)
    for (const { singular, plural } of internalsOf(engine).model.resources) {
      await engine.given(singular)
      const { status, body } = await engine.handle('GET', `/v1/${plural}`)
      assert.equal(status, 200)
      assert.ok((body as { count: number }).count > 0, plural)
    }
    await engine.seed({ organizations: [{ name: 'Acme', slug: 'acme', billing: { street: 'A 1', city: 'B', country: 'DE' } }] })
    const notes = engine.notes.join('\n')
    for (const note of [
      /^Organization, .*: the schema "public" is left out/m,
      /Organization\.createdAt, .*: the type timestamptz is datetime here/,
      /Organization\.slug, Member\.email, Customer\.email: citext is text that is unique without regard to case/,
      /Order\.number: the engine numbers its rows/,
      /"organization_settings_idx" is one that SQLite does not have/,
      /Address\.city: SQLite has no collation "de-x-icu"/,
    ]) {
      assert.match(notes, note)
    }
  })

  it('has what PostgreSQL would have filled in', async () => {
    await using engine = await RestEngine.create({ entities, clock: () => new Date('2026-01-31T12:00:00.250Z') })
    const member = await engine.given('member', { name: 'ANN', email: 'Ann@example.test' })
    assert.match(String(member['id']), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.equal(member['createdAt'], '2026-01-31T12:00:00.250Z')
    assert.equal(member['label'], 'ann <Ann@example.test>')
    assert.deepEqual(member['roles'], [])
    const key = await engine.given('api_key', { member: member['id'] as string })
    assert.deepEqual([key['scopes'], key['expiresAt']], [['read'], '2026-05-01T12:00:00.250Z'])
    const line = await engine.given('order_line', { quantity: 3, unitPrice: '2.50' })
    assert.equal(line['total'], 7.5)
    const { body } = await engine.handle('GET', `/v1/orders/${String(line['order'])}`, { attributes: 'number,status,lineCount' })
    assert.deepEqual((body as { order: Row }).order, { number: '1', status: 'open', lineCount: 1 })
    assert.deepEqual((await engine.given('payment'))['payload'], {})
  })

  it('keeps its rules: unique without regard to case, checks, enums, records that are marked as deleted', async () => {
    await using engine = await RestEngine.create({ entities })
    await engine.given('customer', { email: 'Ann@example.test' })
    const again = await engine.handle('POST', '/v1/customers', undefined, {
      email: 'ANN@example.test',
      shipping: { street: 'A 1', city: 'B', country: 'DE' },
    })
    assert.equal(again.status, 409)
    const count = async (query: Row): Promise<unknown> =>
      ((await engine.handle('GET', '/v1/customers', query as never)).body as Row)['count']
    assert.deepEqual(
      [await count({ email: 'ann@example.test' }), await count({ 'email~=': 'ann@example.test' }), await count({ email: 'An*' })],
      [0, 1, 1],
    )
    const short = await engine.handle('POST', '/v1/products', undefined, { sku: 'ab', title: 'A' })
    assert.equal(short.status, 422)
    const product = await engine.given('product', { sku: 'ABC-1' })
    assert.equal((await engine.handle('POST', '/v1/products', undefined, { sku: 'abc-1', title: 'A' })).status, 409)
    const em = engine.orm.em.fork()
    await em.nativeUpdate('Product' as never, { id: product['id'] }, { deletedAt: new Date() })
    assert.equal((await engine.handle('GET', `/v1/products/${String(product['id'])}`)).status, 404)
  })

  it('is the same in a fork, after a reset, and in a file, which is opened again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-foreign-'))
    try {
      const database = join(folder, 'shop.db')
      {
        await using engine = await RestEngine.create({ entities, database })
        await engine.given('product', { title: 'Lamp' })
        await using fork = await engine.fork()
        await fork.given('coupon')
        await fork.reset()
        await fork.given('coupon')
      }
      await using engine = await RestEngine.create({ entities, database })
      const { body } = await engine.handle('GET', '/v1/products')
      assert.equal((body as { count: number }).count, 1)
      // What a schema says without functions of other databases, other programs can write to.
      const other = new Database(database)
      other.exec("insert into category (path) values ('a.b'); insert into event (action) values ('x')")
      assert.match(String(other.prepare('select at from event').pluck().get()), /^\d{13}$/)
      other.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('leaves the entities as they are, for a database of their own', async () => {
    await using first = await RestEngine.create({ entities: [...entities] })
    await using second = await RestEngine.create({ entities: [...entities] })
    assert.deepEqual(second.notes, first.notes)
    assert.ok(entities.includes(AuditEvent))
  })
})

describe('defaults of another database', () => {
  const defaults: readonly (readonly [string, () => object, unknown])[] = [
    [
      'a list as a text',
      () =>
        p
          .array()
          .columnType('text[]')
          .default('{}' as never),
      [],
    ],
    ['a list with items', () => p.array().columnType('text[]').defaultRaw(`'{a,"b c"}'::text[]`), ['a', 'b c']],
    ['an array', () => p.array().columnType('text[]').defaultRaw("ARRAY['x','y']::character varying[]"), ['x', 'y']],
    ['a list of numbers', () => p.array().columnType('int[]').defaultRaw("'{1,2}'"), [1, 2]],
    ['a document as a text', () => p.json().columnType('jsonb').default('{"a":1}'), { a: 1 }],
    ['a document with a cast', () => p.json().defaultRaw(`'{"a":[]}'::jsonb`), { a: [] }],
    ['a function of documents', () => p.json().defaultRaw("jsonb_build_object('a', 1)"), { a: 1 }],
    ['a text with a cast', () => p.string().defaultRaw("'new'::character varying"), 'new'],
    ['a text with escapes', () => p.string().defaultRaw(String.raw`E'it\'s\tnew'`), "it's\tnew"],
    ['a text between dollars', () => p.string().defaultRaw("$q$it's -- new$q$"), "it's -- new"],
    ['a boolean', () => p.boolean().columnType('bool').defaultRaw("'t'::bool"), true],
    ["a boolean of MySQL's", () => p.boolean().columnType('tinyint(1)').defaultRaw("b'1'"), true],
    ['a decimal', () => p.decimal().precision(8).scale(2).defaultRaw('1.5::numeric(8,2)'), '1.50'],
    ['the time', () => p.datetime().columnType('timestamptz').defaultRaw('now()'), '2026-01-31T12:00:00.250Z'],
    ["MySQL's time", () => p.datetime(3).defaultRaw('CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)'), '2026-01-31T12:00:00.250Z'],
    ['the time in a zone', () => p.datetime().defaultRaw("(now() at time zone 'utc')"), '2026-01-31T12:00:00.250Z'],
    ['a later time', () => p.datetime().defaultRaw("now() + interval '1 day 02:00:00'"), '2026-02-01T14:00:00.250Z'],
    ['a given time', () => p.datetime().defaultRaw("'2020-02-03 04:05:06'::timestamp"), '2020-02-03T04:05:06.000Z'],
    ['the date', () => p.date().defaultRaw('now()'), '2026-01-31'],
    ['the time as a string', () => p.datetime().columnType('timestamptz').defaultRaw("'now'"), '2026-01-31T12:00:00.250Z'],
    ['the time as a bare name', () => p.datetime().columnType('timestamptz').defaultRaw('now'), '2026-01-31T12:00:00.250Z'],
    ['the time as a string with a cast', () => p.datetime().defaultRaw("'now'::timestamptz"), '2026-01-31T12:00:00.250Z'],
    ['the date as a string', () => p.date().defaultRaw("'today'"), '2026-01-31'],
    ['the string "now" of a string', () => p.string().defaultRaw("'now'"), 'now'],
  ]
  for (const [name, property, expected] of defaults) {
    it(`mean what they mean there: ${name}`, async () => {
      const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), value: property() as never } })
      await using engine = await RestEngine.create({ entities: [Thing], clock: () => new Date('2026-01-31T12:00:00.250Z') })
      assert.deepEqual((await post(engine))['value'], expected)
      assert.deepEqual((await engine.given('thing'))['value'], expected)
    })
  }

  it('are left out when SQLite cannot run them: the attribute must be given then', async () => {
    await using engine = await engineOf({ code: p.string().defaultRaw('make_code(1)') })
    assert.deepEqual(engine.notes, ['Thing.code: SQLite cannot run its default, make_code(1): it must be given.'])
    assert.equal((await engine.handle('POST', '/v1/things', undefined, {})).status, 422)
  })

  it('are in the words of SQLite, so that other programs can write', async () => {
    await using engine = await engineOf({
      code: p.uuid().defaultRaw('gen_random_uuid()'),
      other: p.uuid().defaultRaw('uuid_generate_v4()'),
      at: p.datetime().defaultRaw('current_timestamp(3)'),
    })
    const sql = await engine.orm.schema.getCreateSchemaSQL({ wrap: false })
    const other = new Database(':memory:')
    other.exec(`${sql}; insert into thing default values`)
    const { code, other: second, at } = other.prepare('select * from thing').get() as Row
    for (const uuid of [code, second]) assert.match(String(uuid), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.ok(Math.abs(Number(at) - Date.now()) < 60_000)
    other.close()
  })

  it('number rows: identity, serial and sequences, also beside the key', async () => {
    await using engine = await engineOf({
      number: p.integer().defaultRaw("nextval('numbers')"),
      place: p.integer().columnType('serial'),
      other: p.bigint().generated('always as identity'),
      large: p.bigint().columnType('bigserial'),
    })
    await post(engine, { number: 7 })
    const { number, place, other, large } = await post(engine)
    assert.deepEqual([number, place, other, large], [8, 2, '2', '2'])
  })
})

describe('types of another database', () => {
  const types: readonly (readonly [string, () => object, unknown])[] = [
    ['timestamptz', () => p.datetime().columnType('timestamptz'), '2026-01-31T12:00:00.250Z'],
    ['citext', () => p.string().columnType('citext'), '10'],
    ['inet', () => p.string().columnType('inet'), '10.0'],
    ['bytea', () => p.blob().columnType('bytea'), 'AAE='],
    ['int4', () => p.integer().columnType('int4'), 4],
    ['int8', () => p.bigint().columnType('int8'), '9007199254740993'],
    ['bool', () => p.boolean().columnType('bool'), true],
    ['real', () => p.float().columnType('real'), 1.5],
    ['longtext', () => p.text().columnType('longtext'), 'x'.repeat(300)],
    ['point', () => p.string().columnType('point'), '(1,2)'],
    ['vector(3)', () => p.string().columnType('vector(3)'), '[1,2,3]'],
    ['interval', () => p.string().columnType('interval'), '10'],
    ['int4[]', () => p.array().columnType('int4[]'), [1, 2]],
    ['bool[]', () => p.array().columnType('bool[]'), [true, false]],
    ['jsonb', () => p.json().columnType('jsonb'), { a: [1] }],
    ['numeric(8,2)', () => p.decimal().columnType('numeric(8,2)'), '1.50'],
    ['datetime(6)', () => p.datetime().columnType('datetime(6)'), '2026-01-31T12:00:00.250Z'],
    ['int unsigned', () => p.integer().columnType('int unsigned'), 5],
    ["enum('a','b')", () => p.string().columnType("enum('a','b')"), 'b'],
    ['geometry(Point,4326)', () => p.string().columnType('geometry(Point,4326)'), 'POINT(1 2)'],
  ]
  for (const [name, property, value] of types) {
    it(`hold and show the same: ${name}`, async () => {
      await using engine = await engineOf({ value: property() })
      assert.deepEqual((await post(engine, { value }))['value'], value)
      const { body } = await engine.handle('GET', '/v1/things')
      assert.deepEqual((body as { things: Row[] }).things, [{ id: 1, value }])
    })
  }

  it('limit the length that they name', async () => {
    await using engine = await engineOf({ code: p.string().columnType('character varying(3)') })
    assert.equal((await engine.handle('POST', '/v1/things', undefined, { code: 'abcd' })).status, 422)
  })

  it('hold the text that a full-text vector is made of', async () => {
    await using engine = await engineOf({ words: p.type(FullTextType).$type<string>().nullable() })
    assert.equal((await post(engine, { words: 'a quick fox' }))['words'], 'a quick fox')
    const { body } = await engine.handle('GET', '/v1/things', { 'words~=': '*QUICK*' })
    assert.deepEqual((body as { things: Row[] }).things, [{ id: 1, words: 'a quick fox' }])
    assert.match(engine.notes.join(), /^Thing\.words: a full-text vector is the text itself here, which filters search\.$/)
  })

  it('list the items of an enum that MySQL declares', async () => {
    await using engine = await engineOf({ size: p.string().columnType("enum('s','m')") })
    assert.equal((await engine.handle('POST', '/v1/things', undefined, { size: 'x' })).status, 422)
  })
})

describe('schemas of another database', () => {
  it('are one: two tables of one name have two', async () => {
    const A = defineEntity({ name: 'A', tableName: 'user', schema: 'one', properties: { id: p.integer().primary() } })
    const B = defineEntity({ name: 'B', tableName: 'two.user', properties: { id: p.integer().primary(), a: () => p.manyToOne(A) } })
    await using engine = await RestEngine.create({ entities: [A, B] })
    await engine.given('b')
    assert.match(engine.notes.join('\n'), /^B: two schemas have a table "user"; that of "two" is called "two_user" here\.$/m)
  })

  it('are one where the app attaches databases, too, and a fork has them', async () => {
    const Log = defineEntity({ name: 'Log', schema: 'logs', properties: { id: p.integer().primary(), text: p.string() } })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), logs: () => p.manyToMany(Log) } })
    const orm = { attachDatabases: [{ name: 'logs', database: '/nowhere/logs.db' }] }
    await using engine = await RestEngine.create({ entities: [Log, Note], orm: orm as never })
    await engine.seed({ notes: [{ logs: [{ text: 'a' }] }] })
    await using fork = await engine.fork()
    const { body } = await fork.handle('GET', '/v1/notes', { 'logs.text': 'a', expand: 'logs' })
    assert.deepEqual((body as { notes: object[] }).notes, [{ id: 1, logs: [{ id: 1, text: 'a' }] }])
    assert.ok(engine.notes.some(note => note.startsWith('orm.attachDatabases is left out')))
  })
})

describe('expressions of another database', () => {
  it('make formulas, generated columns, checks and indexes', async () => {
    await using engine = await engineOf(
      {
        name: p.string(),
        tags: p
          .array()
          .columnType('text[]')
          .default('{}' as never),
        meta: p.json().nullable(),
        at: p.datetime(),
        length: p.integer().formula(({ name }: Columns) => `char_length(${String(name)})::int`),
        year: p.integer().formula(({ at }: Columns) => `extract(year from ${String(at)})`),
        first: p.string().formula(({ name }: Columns) => `split_part(${String(name)}, ' ', 1)`),
        deep: p
          .string()
          .nullable()
          .formula(({ meta }: Columns) => `${String(meta)} #>> '{a,0}'`),
        isAnn: p.boolean().formula(({ name }: Columns) => `${String(name)} ~* '^ann'`),
        upper: p.string().generated('(upper(name::text)) stored'),
      },
      {
        checks: [{ name: 'long', expression: "length(name::text) > 2 and name not ilike 'x%'" }],
        uniques: [
          { name: 'lower_name', expression: 'create unique index lower_name on public.thing using btree (lower(name) text_pattern_ops)' },
        ],
        indexes: [{ name: 'tags_gin', expression: 'create index tags_gin on thing using gin (tags)' }],
      },
    )
    const made = await post(engine, { name: 'ANN Lee', at: '2026-01-31T12:00:00.250Z', meta: { a: ['z'] } })
    const { length, year, first, deep, isAnn, upper } = made
    assert.deepEqual(
      { length, year, first, deep, isAnn, upper },
      { length: 7, year: 2026, first: 'ANN', deep: 'z', isAnn: true, upper: 'ANN LEE' },
    )
    const refusal = async (name: string): Promise<number> =>
      (await engine.handle('POST', '/v1/things', undefined, { name, at: '2026-01-31T12:00:00Z' })).status
    assert.deepEqual([await refusal('Xaver'), await refusal('ann lee')], [422, 409])
  })

  it('count and join the items of lists as PostgreSQL does', async () => {
    await using engine = await engineOf({
      tags: p.array().columnType('text[]'),
      length: p
        .integer()
        .nullable()
        .formula(({ tags }: Columns) => `array_length(${String(tags)}, 1)`),
      size: p.integer().formula(({ tags }: Columns) => `cardinality(${String(tags)})`),
      joined: p.string().formula(({ tags }: Columns) => `array_to_string(${String(tags)}, ' | ')`),
      gathered: p
        .string()
        .formula(() => `(select array_to_string(array_agg(x), '+', 'none') from (select 'a,b' as x union all select null))`),
    })
    const shown = async (tags: readonly string[]): Promise<unknown[]> => {
      const { length, size, joined, gathered } = await post(engine, { tags })
      return [length, size, joined, gathered]
    }
    assert.deepEqual(await shown(['a, b', 'c', '', '[d', 'e]']), [5, 5, 'a, b | c |  | [d | e]', 'a,b+none'])
    assert.deepEqual(await shown(['"']), [1, 1, '"', 'a,b+none'])
    assert.deepEqual(await shown([]), [null, 0, '', 'a,b+none'])
  })

  it('cut and pad texts by characters', async () => {
    await using engine = await engineOf({
      name: p.string(),
      cut: p
        .string()
        .formula(({ name }: Columns) => `left(${String(name)}, 2) || '/' || left(${String(name)}, -1) || '/' || right(${String(name)}, 1)`),
      padded: p.string().formula(({ name }: Columns) => `lpad(${String(name)}, 5, '-+') || '/' || rpad(${String(name)}, 2, '-')`),
      second: p.integer().formula(() => `date_trunc('second', -1500)`),
    })
    const { cut, padded, second } = await post(engine, { name: 'a😀b' })
    assert.deepEqual([cut, padded, second], ['a😀/a😀/b', '-+a😀b/a😀', -2000])
  })

  it('know the zone UTC, and no other', async () => {
    await using engine = await engineOf({
      at: p.datetime(),
      made: p.datetime().nullable().defaultRaw("(now() at time zone 'Europe/Berlin')"),
      utc: p.integer().formula(({ at }: Columns) => `extract(hour from ${String(at)} at time zone 'UTC'::text)`),
      called: p.integer().formula(({ at }: Columns) => `extract(hour from timezone('Etc/UTC', ${String(at)}))`),
      berlin: p
        .integer()
        .nullable()
        .formula(({ at }: Columns) => `extract(hour from ${String(at)} at time zone 'Europe/Berlin')`),
      tokyo: p
        .integer()
        .nullable()
        .formula(({ at }: Columns) => `extract(hour from timezone('Asia/Tokyo', ${String(at)}))`),
    })
    const { utc, called, berlin, tokyo, made } = await post(engine, { at: '2026-07-31T23:30:00Z' })
    assert.deepEqual([utc, called, berlin, tokyo, made], [23, 23, null, null, null])
    for (const name of ['berlin', 'tokyo', 'made'])
      assert.ok(
        engine.notes.some(note => note.startsWith(`Thing.${name}: SQLite cannot run its `)),
        engine.notes.join('\n'),
      )
  })

  it('that SQLite cannot run are left out, with a note that names them', async () => {
    await using engine = await engineOf(
      {
        name: p.string(),
        odd: p
          .string()
          .nullable()
          .formula(({ name }: Columns) => `(${String(name)} <<>> 1)`),
        made: p.string().generated('(soundex_of(name)) stored'),
      },
      {
        checks: [{ name: 'tagged', expression: "name @> array['a']" }],
        indexes: [{ properties: ['name'], type: 'gin' }],
        triggers: [{ name: 'touch', timing: 'after', events: ['insert'], body: 'perform touch()' }],
      },
    )
    const { odd, made } = await post(engine, { name: 'a' })
    assert.deepEqual([odd, made], [null, null])
    for (const place of ['Thing.odd: ', 'Thing.made: ', 'Thing: SQLite cannot run the check "tagged"', 'Thing: the index', '"touch"']) {
      assert.ok(
        engine.notes.some(note => note.includes(place)),
        `${place}\n${engine.notes.join('\n')}`,
      )
    }
  })

  it('are errors with their table where it cannot be made', async () => {
    await assert.rejects(engineOf({ a: p.integer().fieldName('x'), b: p.integer().fieldName('X') }), /"thing".*duplicate column name: X/)
  })

  it('leave what SQLite runs as it is, without a note', async () => {
    await using engine = await engineOf({
      at: p.datetime().defaultRaw('current_timestamp'),
      n: p.integer().defaultRaw('(1 + 1)'),
      f: p.string().formula(() => "(select 'a' || 'b')"),
    })
    assert.deepEqual(engine.notes, [])
    assert.match(await engine.orm.schema.getCreateSchemaSQL({ wrap: false }), /default current_timestamp.*default \(1 \+ 1\)/)
  })
})
