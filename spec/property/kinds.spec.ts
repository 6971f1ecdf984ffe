/**
 * Random models: a few entities with random kinds of properties and random relations, and random rows. Whatever the model, the API agrees with plain
 * JavaScript on rendering at each depth, on filters with their complements, on counts and orders, and gives back what was written.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { ArrayType, defineEntity, p, Type } from '@mikro-orm/sqlite'
import { describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { compareText } from '../helpers/oracle.ts'
import { escapeText } from './world/queries.ts'

type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json }

class MoneyType extends Type<number | null, number | null> {
  override convertToDatabaseValue(value: number | null): number | null {
    if (value !== null && typeof value !== 'number') throw new TypeError('not an amount')
    return value === null ? null : Math.round(value * 100)
  }

  override convertToJSValue(value: number | null): number | null {
    return value === null ? null : value / 100
  }

  override getColumnType(): string {
    return 'integer'
  }
}

class PointType extends Type<{ x: number; y: number } | null, string | null> {
  override convertToDatabaseValue(value: { x: number; y: number } | null): string | null {
    return value === null ? null : `${value.x},${value.y}`
  }

  override convertToJSValue(value: string | null): { x: number; y: number } | null {
    if (value === null) return null
    const [x, y] = value.split(',').map(Number)
    return { x: x!, y: y! }
  }
}

const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string(), zip: p.integer().nullable() } })

/** A kind of property: how it is defined, what values it has, and how they compare. */
interface Kind {
  readonly define: () => unknown
  readonly value: fc.Arbitrary<Json>
  /** The text of a filter; undefined for what cannot be filtered by. */
  readonly text?: (value: Json) => string
  /** Whether values are less than, equal to or greater than each other. */
  readonly compare?: (a: Json, b: Json) => number
}

const less = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0)
const numbers = (a: Json, b: Json): number => less(Number(a), Number(b))
const bigints = (a: Json, b: Json): number => less(BigInt(a as string), BigInt(b as string))
const texts = (a: Json, b: Json): number => compareText(a as string, b as string)
const asText = (value: Json): string => escapeText(value as string)
const word = fc
  .oneof(
    fc.constantFrom('', 'a', 'A', 'null', 'a*', 'a,b', '\\', 'é', '\u{1F600}', '%', 'true', '5'),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  .map(text => text.replaceAll('\0', ''))
const whole = fc.integer({ min: -3, max: 3 })
const cents = fc.integer({ min: -999_999, max: 999_999 })
const place = fc.record({ city: word, zip: fc.option(whole) }, { noNullPrototype: true })

const KINDS: Record<string, Kind> = {
  integer: { define: () => p.integer().nullable(), value: whole, text: String, compare: numbers },
  bigint: {
    define: () => p.bigint().nullable(),
    value: fc.oneof(
      fc.constantFrom('9007199254740993', '9007199254740992', '-9223372036854775808'),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    ),
    text: String,
    compare: bigints,
  },
  decimal: {
    define: () => p.decimal().precision(12).scale(2).nullable(),
    value: cents.map(value => (value / 100).toFixed(2)),
    text: String,
    compare: numbers,
  },
  double: {
    define: () => p.double().nullable(),
    value: fc.constantFrom(0.1, 0.2, 0.30000000000000004, -1.5, 1e300, 3),
    text: String,
    compare: numbers,
  },
  string: { define: () => p.string().nullable(), value: word, text: asText, compare: texts },
  lazy: { define: () => p.text().lazy().nullable(), value: word, text: asText, compare: texts },
  boolean: { define: () => p.boolean().nullable(), value: fc.boolean(), text: String, compare: numbers },
  datetime: {
    define: () => p.datetime().nullable(),
    value: fc.integer({ min: 0, max: 5 }).map(day => new Date(day * 86_400_123).toISOString()),
    text: String,
    compare: texts,
  },
  date: {
    define: () => p.date().nullable(),
    value: fc.integer({ min: 0, max: 5 }).map(day => new Date(day * 86_400_000).toISOString().slice(0, 10)),
    text: String,
    compare: texts,
  },
  uuid: { define: () => p.uuid().nullable(), value: fc.uuid(), text: String, compare: texts },
  choice: { define: () => p.enum(['a', 'b', 'c']).nullable(), value: fc.constantFrom('a', 'b', 'c'), text: String, compare: texts },
  money: { define: () => p.type(MoneyType).nullable(), value: cents.map(value => value / 100), text: String, compare: numbers },
  point: {
    define: () => p.type(PointType).nullable(),
    value: fc.record({ x: whole.map(n => n + 0), y: fc.constantFrom(0.5, 2) }, { noNullPrototype: true }),
    text: value => escapeText(JSON.stringify(value)),
  },
  json: {
    define: () => p.json().nullable(),
    value: fc.oneof(
      fc.record({ a: whole, b: fc.array(word, { maxLength: 2 }) }, { noNullPrototype: true }),
      fc.array(whole, { maxLength: 2 }),
      word,
    ),
    text: value => escapeText(JSON.stringify(value)),
  },
  tags: { define: () => p.array().nullable(), value: fc.array(word, { maxLength: 3 }) },
  figures: {
    define: () => p.type(new ArrayType<number>(item => +item)).nullable(),
    value: fc.array(
      whole.map(n => n + 0),
      { maxLength: 3 },
    ),
  },
  choices: { define: () => p.enum(['a', 'b']).array().nullable(), value: fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }) },
  blob: { define: () => p.blob().nullable(), value: fc.uint8Array({ maxLength: 4 }).map(bytes => Buffer.from(bytes).toString('base64')) },
  place: { define: () => () => p.embedded(Place).nullable(), value: place },
  placeDoc: { define: () => () => p.embedded(Place).object().nullable(), value: place },
  places: { define: () => () => p.embedded(Place).array().nullable(), value: fc.array(place, { maxLength: 2 }) },
}
const NAMES = Object.keys(KINDS)

/** What is drawn: for each entity its kinds, the entities that its to-ones and lists lead to, and its rows, with pointers into the rows there. */
const drawn = fc
  .array(
    fc.record({
      kinds: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 6 }),
      ones: fc.array(fc.nat(9), { maxLength: 2 }),
      lists: fc.array(fc.nat(9), { maxLength: 1 }),
    }),
    { minLength: 2, maxLength: 4 },
  )
  .chain(entities =>
    fc.record({
      entities: fc.constant(entities),
      rows: fc.tuple(
        ...entities.map(({ kinds, ones, lists }) =>
          fc.array(
            fc.record({
              values: fc.tuple(...kinds.map(kind => fc.option(KINDS[kind]!.value, { freq: 3 }))),
              ones: fc.tuple(...ones.map(() => fc.option(fc.nat(9), { freq: 3 }))),
              lists: fc.tuple(...lists.map(() => fc.uniqueArray(fc.nat(9), { maxLength: 3 }))),
            }),
            { minLength: 1, maxLength: 5 },
          ),
        ),
      ),
      picks: fc.array(
        fc.record({ entity: fc.nat(9), attribute: fc.nat(9), row: fc.nat(9), operator: fc.constantFrom('', '!', '>=', '<', 'null') }),
        { minLength: 6, maxLength: 12 },
      ),
    }),
  )
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

interface Table {
  readonly plural: string
  readonly kinds: readonly string[]
  readonly ones: readonly { readonly name: string; readonly target: number }[]
  readonly lists: readonly { readonly name: string; readonly target: number }[]
  readonly inverses: readonly { readonly name: string; readonly source: number; readonly by: string }[]
  readonly rows: Record<string, Json>[]
}

function tablesOf({ entities, rows }: Drawn): Table[] {
  const at = (index: number): number => index % entities.length
  return entities.map(({ kinds, ones, lists }, index) => ({
    plural: `e${index}s`,
    kinds,
    ones: ones.map((target, number) => ({ name: `one${number}`, target: at(target) })),
    lists: lists.map((target, number) => ({ name: `list${number}`, target: at(target) })),
    inverses: entities.flatMap((other, source) =>
      other.ones.flatMap((target, number) =>
        at(target) === index ? [{ name: `of${source}by${number}`, source, by: `one${number}` }] : [],
      ),
    ),
    rows: rows[index]!.map((row, number) => ({
      id: number + 1,
      ...Object.fromEntries(kinds.map((kind, position) => [kind, row.values[position] ?? null])),
      ...Object.fromEntries(
        ones.map((target, position) => [`one${position}`, pointed(row.ones[position] ?? null, rows[at(target)]!.length)]),
      ),
      ...Object.fromEntries(
        lists.map((target, position) => {
          const ids = new Set((row.lists[position] ?? []).map(pointer => pointed(pointer, rows[at(target)]!.length)!))
          return [`list${position}`, [...ids].toSorted((a, b) => a - b)]
        }),
      ),
    })),
  }))
}

function pointed(pointer: number | null, count: number): number | null {
  return pointer === null ? null : (pointer % count) + 1
}

function entitiesOf(tables: readonly Table[]): unknown[] {
  const made: unknown[] = []
  const target = (index: number) => made[index] as never
  for (const [index, { kinds, ones, lists, inverses }] of tables.entries()) {
    made.push(
      defineEntity({
        name: `E${index}`,
        properties: {
          id: p.integer().primary(),
          ...Object.fromEntries(kinds.map(kind => [kind, KINDS[kind]!.define()])),
          ...Object.fromEntries(ones.map(one => [one.name, () => p.manyToOne(target(one.target)).nullable()])),
          ...Object.fromEntries(lists.map(list => [list.name, () => p.manyToMany(target(list.target))])),
          ...Object.fromEntries(inverses.map(({ name, source, by }) => [name, () => p.oneToMany(target(source)).mappedBy(by as never)])),
        } as never,
      }),
    )
  }
  return [...made, Place]
}

/** A row as an answer shows it. */
function rendered(tables: readonly Table[], index: number, row: Record<string, Json>, depth: number): Record<string, Json> {
  const table = tables[index]!
  const plain = { id: row['id']!, ...Object.fromEntries(table.kinds.map(kind => [kind, row[kind]!])) }
  if (depth === 0) return plain
  const shown = (target: number, id: Json): Json =>
    depth === 1
      ? id
      : rendered(
          tables,
          target,
          tables[target]!.rows.find(other => other['id'] === id)!,
          depth - 1,
        )
  return {
    ...plain,
    ...Object.fromEntries(table.ones.map(({ name, target }) => [name, row[name] === null ? null : shown(target, row[name]!)])),
    ...Object.fromEntries(table.lists.map(({ name, target }) => [name, (row[name] as Json[]).map(id => shown(target, id))])),
    ...Object.fromEntries(
      table.inverses.map(({ name, source, by }) => [
        name,
        tables[source]!.rows.filter(other => other[by] === row['id']).map(other => shown(source, other['id']!)),
      ]),
    ),
  }
}

type Body = Record<string, unknown>

describe('random models of random kinds', () => {
  it('agree with plain JavaScript', async () => {
    await check(
      fc.asyncProperty(drawn, async data => {
        const tables = tablesOf(data)
        const causes: unknown[] = []
        const seed = Object.fromEntries(tables.map(({ plural, rows }) => [plural, rows]))
        await using engine = await RestEngine.create({ entities: entitiesOf(tables) as never, seed, onError: error => causes.push(error) })
        const get = async (path: string, query: Record<string, string>): Promise<Body> => {
          const { status, body } = await engine.handle('GET', path, query)
          assert.equal(status, 200, `${path} ${JSON.stringify(query)}: ${JSON.stringify(body)} ${causes.splice(0).join()}`)
          return body as Body
        }
        for (const [index, { plural, rows }] of tables.entries()) {
          for (const depth of [0, 1, 2]) {
            const body = await get(`/v1/${plural}`, { depth: String(depth) })
            assert.deepEqual(
              body[plural],
              rows.map(row => rendered(tables, index, row, depth)),
            )
          }
        }
        for (const { entity, attribute, row, operator } of data.picks) {
          const { plural, kinds, rows } = tables[entity % tables.length]!
          const name = kinds[attribute % kinds.length]!
          const { text, compare } = KINDS[name]!
          const value = rows[row % rows.length]![name]!
          if (text === undefined || (value === null && operator !== 'null')) continue
          if ((operator === '>=' || operator === '<') && compare === undefined) continue
          const same = (other: Json): boolean =>
            compare === undefined ? JSON.stringify(other) === JSON.stringify(value) : compare(other, value) === 0
          const holds = ({ [name]: own }: Record<string, Json>): boolean => {
            if (operator === 'null') return own === null
            if (operator === '!') return own === null || !same(own!)
            if (own === null) return false
            return operator === '' ? same(own!) : operator === '>=' ? compare!(own!, value) >= 0 : compare!(own!, value) < 0
          }
          const key = operator === '!' ? `!${name}` : operator === 'null' ? name : `${name}${operator}`
          const asked = operator === 'null' ? 'null' : text(value)
          const sort = compare === undefined ? 'id' : `${name}.desc`
          const body = await get(`/v1/${plural}`, { [key]: asked, sort, depth: '0' })
          const ordered = rows
            .filter(holds)
            .toSorted(
              (a, b) =>
                (compare === undefined
                  ? 0
                  : a[name] === null || b[name] === null
                    ? Number(a[name] === null) - Number(b[name] === null)
                    : compare(b[name]!, a[name]!)) || Number(a['id']) - Number(b['id']),
            )
          assert.deepEqual(
            (body[plural] as Body[]).map(({ id }) => id),
            ordered.map(({ id }) => id),
            `${plural} ${key}=${asked} of ${JSON.stringify(rows)}`,
          )
          assert.equal(body['count'], ordered.length)
        }
        // What another row has is written to this one, attribute by attribute, and read back.
        for (const { entity, attribute, row } of data.picks) {
          const { plural, kinds, rows } = tables[entity % tables.length]!
          const name = kinds[attribute % kinds.length]!
          const [from, to] = [rows[row % rows.length]!, rows[0]!]
          const { status, body } = await engine.handle('PUT', `/v1/${plural}/1`, { attributes: name }, { [name]: from[name] })
          assert.equal(status, 200, `${name} ${JSON.stringify(from[name])}: ${JSON.stringify(body)} ${causes.splice(0).join()}`)
          const merged =
            isObject(from[name]!) && isObject(to[name]!) && name.startsWith('place') ? { ...to[name], ...from[name] } : from[name]!
          to[name] = merged
          assert.deepEqual((body as Body)[plural.slice(0, -1)], { [name]: merged })
        }
      }),
      { label: 'random models', runs: 30 },
    )
  })
})

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
