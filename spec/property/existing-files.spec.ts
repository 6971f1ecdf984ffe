/**
 * Existing files: whatever is in a file, and whatever entities are put on it, all that was there is there afterwards: the text of its
 * schema and every row, value by value. A second start changes no byte, and neither does a creation that fails.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { contentOf } from '../helpers/content.ts'
import type { Content } from '../helpers/content.ts'
import { pathOf } from '../sqlite/introspect/world.ts'

const COLUMNS = ['a', 'b', 'c', 'd']
const TYPES = ['', 'integer', 'text', 'real', 'blob', 'numeric', 'varchar(20)', 'datetime', 'json', 'BIGINT']
const STRICT_TYPES = ['integer', 'text', 'real', 'blob', 'any']
const KEYS = ['integer primary key', 'integer primary key autoincrement', 'int primary key', 'text primary key', 'integer not null', '']

const columnArb = fc.record({
  type: fc.nat(),
  rule: fc.constantFrom(
    '',
    '',
    '',
    ' not null',
    ` not null default 'x'`,
    ' default 5',
    ' collate nocase',
    ' check (true)',
    ' references t0 (id)',
  ),
})
const columnsArb = fc.record({ a: columnArb, b: columnArb, c: columnArb, d: columnArb }, { requiredKeys: [] })
const objectArb = fc.constantFrom(
  'create index %i on %t (a)',
  'create unique index %i on %t (a)',
  'create unique index %i on %t (b, c) where a is not null',
  'create index %i on %t (lower(b), c desc)',
  'create index %t_a_index on %t (b)',
  'create trigger %i after insert on %t begin select 1; end',
  'create trigger %i before update of a on %t when new.a is null begin select raise(ignore); end',
  'create view %i as select * from %t where a is not null',
  'create view v0 (id, a) as select id, a from %t',
)
const valueArb = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom('x', 'X', '', '2020-01-01 00:00:00', '{"a":1}', '007', null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.uint8Array({ maxLength: 3 }).map(bytes => Buffer.from(bytes)),
)
const tableArb = fc.record({
  key: fc.constantFrom(...KEYS),
  columns: columnsArb,
  generated: fc.constantFrom('', '', ', g generated always as (id) virtual', ', g int as (1) stored'),
  // Comments are part of the text as well.
  style: fc.constantFrom('', '', ' strict', ' without rowid', ' /* end */'),
  constraint: fc.constantFrom('', '', ', unique (id, a)', ', constraint c1 check (1 = 1)', ' -- said\n'),
  objects: fc.array(objectArb, { maxLength: 4 }),
  rows: fc.array(fc.array(valueArb, { minLength: 5, maxLength: 5 }), { maxLength: 4 }),
})
type Table = typeof tableArb extends fc.Arbitrary<infer T> ? T : never

function textOf(table: Table, name: string): string {
  const types = table.style === ' strict' ? STRICT_TYPES : TYPES
  const columns = Object.entries(table.columns).map(([column, { type, rule }]) => `${column} ${types[type % types.length]}${rule}`)
  return `create table ${name} (id ${table.key}, ${[...columns, 'last any'].join(', ')}${table.generated}${table.constraint})${table.style}`
}

/** Makes the file; what SQLite does not let be in it is left out. */
function make(path: string, tables: readonly Table[], analyzed: boolean): void {
  const db = new Database(path)
  db.pragma('synchronous = off')
  db.pragma('foreign_keys = off')
  const tryTo = (sql: string, ...values: readonly unknown[]): void => {
    try {
      db.prepare(sql).run(...values)
    } catch {
      // Not possible in this file.
    }
  }
  for (const [index, table] of tables.entries()) {
    const name = `t${index}`
    tryTo(textOf(table, name))
    const columns = ['id', ...Object.keys(table.columns)]
    for (const values of table.rows)
      tryTo(`insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`, ...values.slice(0, columns.length))
    for (const [at, sql] of table.objects.entries()) tryTo(sql.replaceAll('%t', name).replaceAll('%i', `i${index}_${at}`))
  }
  if (analyzed) tryTo('analyze')
  db.close()
}

const propertyArb = fc.record({
  type: fc.constantFrom('integer', 'string', 'float', 'datetime', 'json', 'boolean'),
  nullable: fc.boolean(),
  rule: fc.constantFrom('', '', '', 'index', 'unique', 'default', 'generated'),
})
const entityArb = fc.record({
  // A view may have the name of an entity, and a table may be missing.
  table: fc.constantFrom('t0', 't1', 't2', 'v0', 'fresh'),
  key: fc.constantFrom('integer', 'string'),
  properties: fc.dictionary(fc.constantFrom(...COLUMNS, 'g', 'z'), propertyArb, { maxKeys: 4, noNullPrototype: true }),
  together: fc.boolean(),
  owner: fc.boolean(),
})
type Entity = typeof entityArb extends fc.Arbitrary<infer T> ? T : never

function propertyOf({ type, nullable, rule }: Entity['properties'][string]): object {
  const plain = { integer: p.integer, string: p.string, float: p.float, datetime: p.datetime, json: p.json, boolean: p.boolean }[type]()
  const property = (nullable ? plain.nullable() : plain) as ReturnType<typeof p.integer>
  if (rule === 'index') return property.index()
  if (rule === 'unique') return property.unique()
  if (rule === 'default') return property.default(1)
  return rule === 'generated' ? property.generated('(1) virtual') : property
}

function entitiesOf(drafts: readonly Entity[]): NonNullable<EngineOptions['entities']> {
  const made: object[] = []
  for (const { table, key, properties, together, owner } of drafts) {
    const members = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, propertyOf(property)]))
    const [first] = made
    const link = owner && first !== undefined ? { owner: () => p.manyToOne(first as never).nullable() } : {}
    const id = key === 'integer' ? p.integer().primary() : p.string().primary()
    const names = Object.keys(members)
    const uniques = together && names.length > 1 ? [{ properties: names.slice(0, 2) as never }] : []
    made.push(defineEntity({ name: table.toUpperCase(), tableName: table, properties: { id, ...members, ...link }, uniques }))
  }
  return made as NonNullable<EngineOptions['entities']>
}

/** All that was there is there, and what has been added to a table stands behind its columns. */
function assertKept(before: Content, after: Content): void {
  for (const object of before.schema) {
    const [type, name, , sql] = object as [string, string, string, string | null]
    const found = after.schema.find(other => other[0] === type && other[1] === name)
    assert.ok(found !== undefined, `${type} ${name} is there`)
    const text = found[3] as string | null
    if (text === sql) continue
    assert.equal(type, 'table', name)
    let common = 0
    while (common < sql!.length && text![common] === sql![common]) common++
    assert.ok(text!.endsWith(sql!.slice(common)) && text!.length > sql!.length, `${sql} has become ${text}`)
  }
  for (const [table, rows] of Object.entries(before.rows))
    assert.deepEqual(
      after.rows[table]!.map((row, index) => row.slice(0, rows[index]?.length)),
      rows,
      table,
    )
}

describe('an existing file', () => {
  it('keeps all that is in it, whatever the entities are', async () => {
    let served = 0
    const fileArb = fc.record({
      tables: fc.array(tableArb, { minLength: 1, maxLength: 3 }),
      analyzed: fc.boolean(),
      entities: fc.uniqueArray(entityArb, { minLength: 1, maxLength: 3, selector: ({ table }) => table }),
    })
    await check(
      fc.asyncProperty(fileArb, async ({ tables, analyzed, entities }) => {
        const path = pathOf()
        make(path, tables, analyzed)
        const [before, bytes] = [contentOf(path), readFileSync(path)]
        const errors: unknown[] = []
        const options = { database: path, journal: 0, onError: (error: unknown) => errors.push(error) }
        let notes: readonly string[]
        try {
          await using engine = await RestEngine.create({ ...options, entities: entitiesOf(entities) })
          notes = engine.notes
          for (const { plural } of internalsOf(engine).model.resources)
            assert.ok((await engine.handle('GET', `/v1/${plural}`)).status < 500, `${plural}: ${String(errors[0])}`)
        } catch (error) {
          const { message } = error as Error
          assert.ok(message.startsWith(`${path} does not fit the entities, and nothing in it was changed: `), (error as Error).stack)
          assert.doesNotMatch(message, /\n/)
          assert.ok(readFileSync(path).equals(bytes), 'a creation that fails changes nothing')
          return
        }
        served++
        assertKept(before, contentOf(path))
        const after = readFileSync(path)
        await using again = await RestEngine.create({ ...options, entities: entitiesOf(entities) })
        assert.deepEqual(again.notes, notes)
        assert.ok(readFileSync(path).equals(after), 'a second start changes nothing')
      }),
      { label: 'existing files', runs: 80 },
    )
    assert.ok(served > 10, `${served} files could be served`)
  })
})
