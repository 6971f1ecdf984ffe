/**
 * Stored forms: whatever a column of a file holds, a PUT of the record as it is shown changes no byte of its row, and a filter for what is
 * shown of a value finds the record. For files that are served as they are, and for entities over such files.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import { parseScalar } from '../../lib/foundation/values/scalar-type.ts'
import { check } from '../helpers/check.ts'

type Stored = string | number | bigint | Buffer | null
type Shown = Record<string, unknown>

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-forms-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Date-times as Django, SQLAlchemy, Home Assistant, SQLite and JavaScript store them. */
const moment = fc
  .tuple(
    fc.date({ min: new Date('1975-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.nat({ max: 999 }),
    fc.constantFrom('', '.123', '.123456', '.5', '.000001', '.999999', 'minutes', 'date'),
    fc.constantFrom(' ', 'T'),
    fc.constantFrom('', 'Z', '+00:00', '+02:00', '-0330', ' UTC'),
  )
  .map(([date, , fraction, separator, zone]) => {
    const iso = date.toISOString()
    if (fraction === 'date') return iso.slice(0, 10)
    if (fraction === 'minutes') return `${iso.slice(0, 10)}${separator}${iso.slice(11, 16)}`
    return `${iso.slice(0, 10)}${separator}${iso.slice(11, 19)}${fraction}${zone}`
  })
/** The numbers of one column are of one unit. */
const times: Arbitrary<Stored> = fc.oneof(
  { weight: 5, arbitrary: moment },
  fc.integer({ min: 1e8, max: 2e9 }).map(BigInt),
  fc.integer({ min: 1e8, max: 2e9 }).map(seconds => seconds + 0.123456),
)
const integers: Arbitrary<Stored> = fc.oneof(fc.integer().map(BigInt), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
const numbers: Arbitrary<Stored> = fc.oneof(
  fc.integer().map(BigInt),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0.1 + 0.2, 10.505, 1.005, 2.675, 1e21, 1e-7, 1e300),
  fc.integer({ min: -9999, max: 9999 }).map(cents => cents / 100),
)
const texts: Arbitrary<Stored> = fc.oneof(
  fc.constantFrom(
    'a',
    '',
    ' padded ',
    '007',
    'true',
    'NULL',
    'null',
    '1e3',
    '2021',
    '23:59',
    '7:5',
    '6FA459EA-EE8A-3CA4-894E-DB77E1603550',
  ),
  fc.string({ maxLength: 8 }).filter(text => !text.includes('\0')),
)
const blobs: Arbitrary<Stored> = fc.uint8Array({ maxLength: 5 }).map(bytes => Buffer.from(bytes))
const documents: Arbitrary<Stored> = fc
  .tuple(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(0, 1))
  .map(([value, indent]) => JSON.stringify(value, null, indent))
const anything: Arbitrary<Stored> = fc.oneof(times, numbers, texts, blobs, documents, fc.constant(null))

/** Declared types, with values that are of the type, in whatever form. */
const COLUMNS: readonly (readonly [string, Arbitrary<Stored>])[] = [
  ['integer', integers],
  ['bigint', integers],
  ['text', texts],
  ['varchar(5)', texts],
  ['real', numbers],
  // What is finer than the scale is shown rounded where an entity says so.
  [
    'numeric(10,2)',
    fc.oneof(
      fc.integer({ min: -99_999_999, max: 99_999_999 }).map(cents => cents / 100),
      fc.double({ min: -1e8, max: 1e8, noNaN: true }),
      fc.constantFrom(1.005, 2.675, 10.504999, -0.001, 1e-7, 0.125, -0.125, 1e22),
    ),
  ],
  ['decimal', numbers],
  ['boolean', fc.constantFrom<Stored>(0n, 1n)],
  ['date', moment.map(text => text.slice(0, 10))],
  ['time', fc.constantFrom<Stored>('10:11', '10:11:12', '10:11:12.123456')],
  ['datetime', times],
  ['timestamp', moment],
  ['json', documents],
  ['uuid', fc.uuid().chain(uuid => fc.constantFrom(uuid, uuid.toUpperCase()))],
  ['blob', blobs],
  ['', fc.oneof(numbers, texts)],
]
const fitting = fc.array(fc.tuple(...COLUMNS.map(([, values]) => fc.option(values, { freq: 8 }))), { minLength: 1, maxLength: 6 })
/** SQLite takes anything in any column. */
const odd = fc.array(fc.tuple(...COLUMNS.map(([, values]) => fc.oneof(values, anything))), { minLength: 1, maxLength: 4 })

function fileOf(rows: readonly (readonly Stored[])[]): string {
  const path = join(folder, `${crypto.randomUUID()}.sqlite`)
  const db = new Database(path)
  db.exec(`create table t (id integer primary key, ${COLUMNS.map(([type], index) => `c${index} ${type}`).join(', ')})`)
  const insert = db.prepare(`insert into t (${COLUMNS.map((_, index) => `c${index}`).join()}) values (${COLUMNS.map(() => '?').join()})`)
  for (const row of rows) insert.run(...row)
  db.close()
  return path
}

/** Integers that the number of an entity's property can hold. */
function safely(value: Stored, column: number): Stored {
  return typeof value === 'bigint' && column === 0 ? BigInt.asIntN(50, value) : value
}

/** The rows as SQLite has them, with the type of each value. */
function bytesOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true })
  const types = COLUMNS.map((_, index) => `typeof(c${index})`).join()
  const rows = db.prepare(`select *, ${types} from t order by id`).safeIntegers(true).raw().all()
  db.close()
  return rows
}

async function ask(engine: RestEngine, method: string, path: string, query: object | undefined, body?: unknown): Promise<Shown> {
  const answer = await engine.handle(method, `/v1/${path}`, query as never, body)
  assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(query ?? body)}: ${JSON.stringify(answer.body)}`)
  return answer.body as Shown
}

/** Kinds whose stored forms are many. */
const ORDERED: ReadonlySet<string> = new Set(['datetime', 'decimal', 'float'])

/** The place of an attribute's column in a row. */
function columnOf({ name }: { readonly name: string }): number {
  return name === 'id' ? 0 : Number(name.slice(1)) + 1
}

/** How a filter spells a value; undefined for what cannot be filtered by. */
function spelled(shown: unknown): string | undefined {
  if (shown === null) return 'null'
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown)
  const escaped = text.replaceAll(/[\\,*]/g, String.raw`\$&`)
  return text === 'null' ? String.raw`\null` : escaped
}

async function stays(path: string, plural: string, engine: RestEngine): Promise<void> {
  const before = bytesOf(path)
  const { [plural]: records } = (await ask(engine, 'GET', plural, undefined)) as { [name: string]: Shown[] }
  for (const record of records!) {
    const at = `${plural}/${String(record['id'])}`
    assert.deepEqual((await ask(engine, 'PUT', at, undefined, record))[plural.slice(0, -1)], record)
    assert.deepEqual(bytesOf(path), before, JSON.stringify(record))
    for (const [name, shown] of Object.entries(record)) {
      await ask(engine, 'PUT', `${at}/${name}`, undefined, shown)
    }
    assert.deepEqual(bytesOf(path), before, JSON.stringify(record))
  }
}

async function found(path: string, plural: string, engine: RestEngine): Promise<void> {
  const rows = bytesOf(path) as unknown[][]
  const { [plural]: records } = (await ask(engine, 'GET', plural, undefined)) as { [name: string]: Shown[] }
  const attributes = internalsOf(engine).model.byName.get(plural)!.attributes
  for (const [index, record] of records!.entries()) {
    for (const attribute of attributes) {
      // Bytes are shown, but not compared with anything.
      if (attribute.kind === 'scalar' && rows[index]![columnOf(attribute)] instanceof Buffer) continue
      if (attribute.kind !== 'scalar' || attribute.type.kind === 'blob' || attribute.type.kind === 'array') continue
      const filter = spelled(record[attribute.name])
      if (filter === undefined) continue
      const body = await ask(engine, 'GET', plural, { [attribute.name]: filter, attributes: 'id' })
      const ids = (body[plural] as Shown[]).map(({ id }) => id)
      assert.ok(
        ids.includes(record['id']),
        `${attribute.name} (${attribute.type.kind}): ${JSON.stringify(record[attribute.name])} finds ${String(ids)}`,
      )
      if (ORDERED.has(attribute.type.kind) && filter !== 'null' && parseScalar(filter, attribute.type) !== undefined) {
        for (const operator of ['>=', '<=', '>', '<']) {
          const ordered = await ask(engine, 'GET', plural, { [`${attribute.name}${operator}`]: filter, attributes: 'id' })
          const isThere = (ordered[plural] as Shown[]).some(({ id }) => id === record['id'])
          assert.equal(isThere, operator.endsWith('='), `${attribute.name}${operator}${filter}`)
        }
      }
    }
  }
}

const Entity = defineEntity({
  name: 'T',
  tableName: 't',
  properties: {
    id: p.integer().primary(),
    c0: p.integer().nullable(),
    c1: p.bigint().nullable(),
    c2: p.text().nullable(),
    c3: p.string().length(5).nullable(),
    c4: p.float().nullable(),
    c5: p.decimal().precision(10).scale(2).nullable(),
    c6: p.decimal('number').nullable(),
    c7: p.boolean().nullable(),
    c8: p.date().nullable(),
    c9: p.time().nullable(),
    c10: p.datetime().nullable(),
    c11: p.datetime().nullable(),
    c12: p.json().nullable(),
    c13: p.uuid().nullable(),
    c14: p.blob().nullable(),
  },
})

describe('what a file holds', () => {
  for (const [whose, options] of [
    ['the file alone', {}],
    ['entities over the file', { entities: [Entity], schema: 'keep' }],
  ] as const) {
    it(`stays as it is when it is written as it is shown, and is found by that (${whose})`, () =>
      check(
        fc.asyncProperty(fitting, async rows => {
          const path = fileOf('entities' in options ? rows.map(row => row.map(safely)) : rows)
          await using engine = await RestEngine.create({ ...options, database: path } as never)
          await stays(path, 'ts', engine)
          await found(path, 'ts', engine)
        }),
        { label: `stored forms, ${whose}`, runs: 6 },
      ))

    it(`stays and is found also where it does not fit its column (${whose})`, () =>
      check(
        fc.asyncProperty(odd, async rows => {
          const path = fileOf('entities' in options ? rows.map(row => row.map(safely)) : rows)
          await using engine = await RestEngine.create({ ...options, database: path } as never)
          await stays(path, 'ts', engine)
          await found(path, 'ts', engine)
        }),
        { label: `stored forms that do not fit, ${whose}`, runs: 6 },
      ))
  }
})
