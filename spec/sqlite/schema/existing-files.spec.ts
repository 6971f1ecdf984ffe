/**
 * Entities on a file that is there already: what is missing is added, in one transaction, and nothing that is there is changed or dropped.
 */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'
import type { EngineOptions } from '../../../lib/index.ts'
import { contentOf } from '../../helpers/content.ts'
import { fileOf, pathOf, rowsOf } from '../introspect/world.ts'

const CHINOOK = fileURLToPath(new URL('../../../../shared/data/chinook.sqlite', import.meta.url))
const ABSENT = existsSync(CHINOOK) ? false : 'the file chinook.sqlite is not beside the repository'

type Entities = NonNullable<EngineOptions['entities']>

const PRODUCTS = `
  create table product (id integer primary key, name text not null, price real);
  insert into product values (1, 'Pen', 1.5), (2, 'Cup', 4), (3, 'Cup', 7);`

const Product = defineEntity({ name: 'Product', properties: { id: p.integer().primary(), name: p.string() } })

async function notesOf(path: string, ...entities: Entities): Promise<readonly string[]> {
  await using engine = await RestEngine.create({ entities, database: path })
  return engine.notes
}

/** Nothing is changed, and the error is one line that has what it must. */
async function assertRefused(path: string, entities: Entities, ...said: readonly (string | RegExp)[]): Promise<void> {
  const before = readFileSync(path)
  await assert.rejects(RestEngine.create({ entities, database: path }), ({ message }: Error) => {
    assert.doesNotMatch(message, /\n/)
    assert.ok(message.startsWith(`${path} does not fit the entities, and nothing in it was changed: `), message)
    for (const part of said) assert.ok(typeof part === 'string' ? message.includes(part) : part.test(message), message)
    return true
  })
  assert.ok(readFileSync(path).equals(before), 'not a byte has changed')
  assert.deepEqual(
    readdirSync(dirname(path)).filter(name => name.startsWith(`${basename(path)}-`)),
    [],
  )
}

describe('an existing file', () => {
  it('keeps the columns, triggers, views, indexes and rows that the entities do not know', async () => {
    const path = fileOf(`${PRODUCTS}
      create index by_price on product (price) where price > 2;
      create unique index by_both on product (name, price);
      create index by_length on product (length(name));
      create trigger shout after update on product begin select 1; end;
      create view cheap as select * from product where price < 5`)
    const before = contentOf(path)
    const bytes = readFileSync(path)
    assert.deepEqual(await notesOf(path, Product), [])
    assert.deepEqual(contentOf(path), before)
    assert.ok(readFileSync(path).equals(bytes))
  })

  it('is told of a foreign key that SQLite cannot apply at the start that adds its table, and at the next', async () => {
    const path = fileOf('create table place (id)')
    const Place = defineEntity({ name: 'Place', properties: { id: p.integer().primary() } })
    const Stay = defineEntity({ name: 'Stay', properties: { id: p.integer().primary(), place: () => p.manyToOne(Place) } })
    const first = await notesOf(path, Place, Stay)
    assert.ok(
      first.some(note => note.startsWith('Table "stay": SQLite cannot apply a foreign key of it (foreign key mismatch')),
      first.join('\n'),
    )
    assert.deepEqual(await notesOf(path, Place, Stay), first)
  })

  it('gets tables, columns and indexes that are missing, once', async () => {
    const path = fileOf(PRODUCTS)
    const Maker = defineEntity({ name: 'Maker', properties: { id: p.integer().primary(), name: p.string().unique() } })
    const More = defineEntity({
      name: 'Product',
      properties: {
        id: p.integer().primary(),
        name: p.string().index(),
        stock: p.integer().default(7),
        maker: () => p.manyToOne(Maker).nullable(),
        label: p.string().generated("(name || '!') virtual"),
      },
    })
    assert.deepEqual(await notesOf(path, More, Maker), [])
    const after = contentOf(path)
    assert.deepEqual(rowsOf(path, 'select id, name, price, stock, maker_id, label from product where id = 1'), [
      { id: 1, name: 'Pen', price: 1.5, stock: 7, maker_id: null, label: 'Pen!' },
    ])
    assert.deepEqual(
      rowsOf(path, "select name from sqlite_schema where name not like 'sqlite%' order by name").map(({ name }: { name: string }) => name),
      ['maker', 'maker_name_unique', 'product', 'product_maker_id_index', 'product_name_index'],
    )
    assert.match(rowsOf(path, 'select "table", "on_delete" from pragma_foreign_key_list(\'product\')')[0].table, /maker/)
    const bytes = readFileSync(path)
    assert.deepEqual(await notesOf(path, More, Maker), [])
    assert.deepEqual(contentOf(path), after)
    assert.ok(readFileSync(path).equals(bytes), 'the second start changes nothing')
  })

  it('is served with what differs, which is noted', async () => {
    const path = fileOf(`
      create table Product (id integer primary key, name text, code integer not null, since text not null, size integer not null);
      insert into product values (1, null, 7, '2020-01-01', 3)`)
    const Other = defineEntity({
      name: 'Product',
      properties: { id: p.integer().primary(), name: p.string(), code: p.string(), since: p.datetime().nullable() },
    })
    await using engine = await RestEngine.create({ entities: [Other], database: path, onError: error => assert.fail(String(error)) })
    assert.deepEqual(engine.notes, [
      'Product.name: nullable in the file, and not in the entity: records that hold nothing in it show null.',
      'Product.code: declared as "INTEGER" in the file, and as "text" in the entity: SQLite stores its values as numbers.',
      'Product.since: NOT NULL in the file, and nullable in the entity: null is refused.',
      'Product.size: NOT NULL without a default in the file, and no property of an entity: records of "Product" cannot be created.',
    ])
    const { body } = await engine.handle('GET', '/v1/products')
    assert.equal((body as { products: { name: unknown }[] }).products[0]!.name, null)
    const made = await engine.handle('POST', '/v1/products', undefined, { name: 'x', code: '8', since: '2020-01-01T00:00:00Z' })
    assert.deepEqual([made.status, (made.body as { code: string }).code], [422, 'validation_failed'])
    assert.match(JSON.stringify(made.body), /column \\"size\\" of the table \\"Product\\" must have a value/i)
    const emptied = await engine.handle('PUT', '/v1/products/1', undefined, { since: null })
    assert.equal(emptied.status, 422)
    assert.match(JSON.stringify(emptied.body), /since/)
    assert.equal((await engine.handle('PUT', '/v1/products/1', undefined, { name: 'y' })).status, 200)
  })

  it('gets no unique index that its rows break, and says so', async () => {
    const path = fileOf(PRODUCTS)
    const Unique = defineEntity({ name: 'Product', properties: { id: p.integer().primary(), name: p.string().unique() } })
    const bytes = readFileSync(path)
    for (let start = 0; start < 2; start++)
      assert.deepEqual(await notesOf(path, Unique), [
        'product: rows have the same values in "name" already, so that the unique index "product_name_unique" is left out.',
      ])
    assert.ok(readFileSync(path).equals(bytes))
  })

  it('has an index already that covers the same columns by another name', async () => {
    const path = fileOf(`${PRODUCTS} create unique index mine on product (name, price); create index other on product (price, name)`)
    const Indexed = defineEntity({
      name: 'Product',
      properties: { id: p.integer().primary().unique(), name: p.string().index(), price: p.float().index() },
      uniques: [{ properties: ['price', 'name'] }],
      indexes: [{ properties: ['price', 'name'] }],
    })
    const before = contentOf(path)
    assert.deepEqual(await notesOf(path, Indexed), [
      'product.price: nullable in the file, and not in the entity: records that hold nothing in it show null.',
    ])
    assert.deepEqual(contentOf(path), before)
  })

  it('leaves names of indexes that are taken', async () => {
    const path = fileOf(
      `${PRODUCTS} create table other (a); create index product_name_index on other (a); create table product_price_index (a)`,
    )
    const Indexed = defineEntity({
      name: 'Product',
      properties: { id: p.integer().primary(), name: p.string().index(), price: p.float().nullable().index() },
    })
    assert.deepEqual(await notesOf(path, Indexed), [
      'product: its index "product_name_index" is left out, since an index of "other" has that name.',
      'product: its index "product_price_index" is left out, since a table has that name.',
    ])
  })

  it('without the foreign keys, checks and defaults of the entities is noted', async () => {
    const path = fileOf(
      `create table maker (id integer primary key); create table product (id integer primary key, maker_id integer, n integer)`,
    )
    const Maker = defineEntity({ name: 'Maker', properties: { id: p.integer().primary() } })
    const Checked = defineEntity({
      name: 'Product',
      properties: { id: p.integer().primary(), maker: () => p.manyToOne(Maker).nullable(), n: p.integer().default(3).nullable() },
      checks: [{ name: 'positive', expression: 'n > 0' }],
    })
    assert.deepEqual(await notesOf(path, Maker, Checked), [
      'product.n: the file lacks the default of the entity (3), and stays as it is.',
      'product.maker_id: without a foreign key to "maker" in the file, to which none can be added.',
      'product: without the check "positive" of the entity in the file, to which none can be added.',
    ])
  })

  for (const key of ['id int primary key', 'id integer, primary key (id desc)', 'id integer primary key desc', 'id integer unique']) {
    it(`whose keys SQLite does not count (${key}) needs them in new records`, async () => {
      const [column, ...rest] = key.split(', ')
      const path = fileOf(`create table product (${column}, name text${rest.map(part => `, ${part}`).join('')})`)
      await using engine = await RestEngine.create({ entities: [Product], database: path, onError: error => assert.fail(String(error)) })
      const [note] = engine.notes.filter(text => text.startsWith('product.id'))
      if (key === 'id integer, primary key (id desc)') {
        assert.equal(note, undefined)
        return
      }
      assert.equal(note, 'product.id: SQLite does not number new rows of this table, so a new record must bring its own value.')
      assert.equal((await engine.handle('POST', '/v1/products', undefined, { name: 'x' })).status, 422)
      assert.equal((await engine.handle('POST', '/v1/products', undefined, { id: 5, name: 'x' })).status, 200)
      assert.deepEqual(rowsOf(path, 'select id from product'), [{ id: 5 }])
    })
  }

  it('that cannot have what the entities need is refused by name, before anything is touched', async () => {
    const Fresh = defineEntity({ name: 'Fresh', properties: { id: p.integer().primary() } })
    const withProperty = (properties: object): Entities => {
      const longer = { id: p.integer().primary(), name: p.string(), ...properties }
      return [Fresh, defineEntity({ name: 'Product', properties: longer })]
    }
    const path = fileOf(PRODUCTS)
    await assertRefused(
      path,
      withProperty({ sku: p.string(), code: p.string() }),
      'the column "product"."sku" cannot be added, since it is NOT NULL without a default, and the table has rows: ' +
        'make it nullable, or give it a default in SQL; the column "product"."code" cannot',
      "schema: 'evolve' (--evolve) changes tables with their rows, which get what fill says: " +
        'fill: { product: { sku: ... } } (--fill product.sku=...), { product: { code: ... } } (--fill product.code=...).',
    )
    await assertRefused(
      path,
      withProperty({ at: p.datetime().defaultRaw('current_timestamp') }),
      '"product"."at"',
      'its default is an expression',
    )
    await assertRefused(
      path,
      withProperty({ twice: p.integer().generated('(id * 2) stored') }),
      '"product"."twice"',
      'generated and stored',
    )
    await assertRefused(
      path,
      withProperty({ n: p.integer().nullable().generated('(absent * 2) virtual') }),
      /the column "product"."n" cannot be created: .*no such column: absent/,
    )
    const Keyed = defineEntity({ name: 'Product', properties: { sku: p.string().primary(), name: p.string() } })
    await assertRefused(path, [Fresh, Keyed], '"product"."sku" cannot be added, since it belongs to the primary key')
    const ByName = defineEntity({ name: 'Product', properties: { name: p.string().primary(), price: p.float().nullable() } })
    await assertRefused(path, [Fresh, ByName], 'rows of "product" have the same "name", or nothing in it, which is the primary key')
    const spelt = fileOf('create table PRODUCT (id integer primary key, NAME text not null)')
    await assertRefused(spelt, withProperty({}), `the column "PRODUCT"."NAME" is spelt "name" in the entity: say fieldName('NAME') there`)
    const strict = fileOf(`create table product (id integer primary key, name text) strict; insert into product values (1, 'x')`)
    await assertRefused(strict, withProperty({ at: p.datetime().nullable() }), '"product"."at"', 'unknown datatype')
    const view = fileOf(`create table thing (id integer primary key, name text); create view product as select * from thing`)
    await assertRefused(view, withProperty({ price: p.float().nullable() }), '"product"."price" cannot be added, since "product" is a view')
    const index = fileOf(`create table thing (id integer primary key, name text); create index product on thing (name)`)
    await assertRefused(index, withProperty({}), 'the table "product" cannot be created, since an index of "thing" has its name')
    const broken = fileOf(`create view product as select * from nowhere`)
    await assertRefused(broken, withProperty({}), '"product" cannot be read: no such table: main.nowhere')
  })

  it('is not touched when the model cannot be served, and a new one is not made', async () => {
    const More = defineEntity({ name: 'Product', properties: { id: p.integer().primary(), extra: p.string().nullable() } })
    const path = fileOf(PRODUCTS)
    const before = readFileSync(path)
    const options = { entities: [More], resources: [{}] as never }
    await assert.rejects(RestEngine.create({ ...options, database: path }))
    assert.ok(readFileSync(path).equals(before))
    const missing = pathOf()
    await assert.rejects(RestEngine.create({ ...options, database: missing }))
    assert.ok(!existsSync(missing) && !existsSync(`${missing}-wal`) && !existsSync(`${missing}-shm`))
    await using engine = await RestEngine.create({ entities: [More], database: missing })
    assert.equal((await engine.handle('GET', '/v1/products')).status, 200)
  })

  it('has views that stand for tables, and tables that stand for views', async () => {
    const path = fileOf(`${PRODUCTS}
      create view thing as select * from product;
      create table cheap (id integer, name text);
      create view dear as select id, name, price from product where price > 4`)
    const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), name: p.string() } })
    const viewOf = (name: string) =>
      defineEntity({
        name,
        view: true,
        expression: 'select id, name from product',
        properties: { id: p.integer().primary(), name: p.string() },
      })
    const before = contentOf(path)
    await using engine = await RestEngine.create({
      entities: [Product, Thing, viewOf('Cheap'), viewOf('Dear')],
      database: path,
      onError: error => assert.fail(String(error)),
    })
    assert.deepEqual(engine.notes, ['thing: the file has a view of this name without an INSTEAD OF trigger, so writes to it are refused.'])
    assert.equal(((await engine.handle('GET', '/v1/things')).body as { count: number }).count, 3)
    assert.equal((await engine.handle('PUT', '/v1/things/1', undefined, { name: 'x' })).status, 422)
    assert.equal(((await engine.handle('GET', '/v1/dears')).body as { count: number }).count, 1)
    assert.deepEqual(contentOf(path), before)
  })

  it('with untyped columns anywhere is served, with and without entities', async () => {
    const path = fileOf(`${PRODUCTS}
      create index by_name on product (name); analyze;
      create table loose (a, b);
      create virtual table words using fts5 (text);
      create virtual table old using fts4 (text);
      create virtual table boxes using rtree (id, x0, x1);
      insert into words values ('hello'); insert into old values ('hello'); insert into boxes values (1, 2, 3)`)
    const Loose = defineEntity({
      name: 'Words',
      tableName: 'words',
      properties: { id: p.integer().primary().fieldName('rowid'), text: p.string() },
    })
    const before = contentOf(path)
    assert.deepEqual(await notesOf(path, Product), [])
    assert.deepEqual(contentOf(path), before)
    await using engine = await RestEngine.create({ database: path })
    assert.equal((await engine.handle('GET', '/v1/products')).status, 200)
    await assertRefused(path, [Loose], '"words"."rowid" cannot be added, since "words" is a virtual table')
  })

  it('keeps all columns of Chinook under an entity of a few of them', { skip: ABSENT }, async () => {
    const path = pathOf()
    copyFileSync(CHINOOK, path)
    chmodSync(path, 0o644)
    const before = contentOf(path)
    const Customer = defineEntity({
      name: 'Customer',
      tableName: 'Customer',
      properties: { id: p.integer().primary().fieldName('CustomerId'), firstName: p.string().fieldName('FirstName') },
    })
    await using engine = await RestEngine.create({ entities: [Customer], database: path })
    assert.equal(((await engine.handle('GET', '/v1/customers')).body as { count: number }).count, 59)
    assert.deepEqual(contentOf(path), before)
  })
})
