/**
 * A model with all that can be added to the values of a body: defaults, `onCreate` and `onUpdate`, initialisers of a class, a version,
 * types that make something of null, unique values, checks. Its functions count their calls, so that two engines with a model each show the
 * same values after the same calls.
 */
import { Type, defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { MoneyType, SlugType } from '../models/kinds.ts'

/** A text that is never NULL in the database. */
class NeverNullType extends Type<string | null, string> {
  override convertToDatabaseValue(value: string | null): string {
    return value ?? '-'
  }

  override convertToJSValue(value: string): string | null {
    return value === '-' ? null : value
  }
}

/** A text that SQL makes capitals of. */
class LoudType extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }

  override getColumnType(): string {
    return 'text'
  }
}

/** The entities for one engine. */
export class Cars {
  readonly entities: unknown[]
  #count = 0

  constructor() {
    const next = (): number => ++this.#count
    const uuid = (): string => `00000000-0000-4000-8000-${String(next()).padStart(12, '0')}`
    const Maker = defineEntity({
      name: 'Maker',
      properties: {
        id: p.uuid().primary().onCreate(uuid),
        name: p.string().unique(),
        country: p.string().length(2).default('DE'),
        founded: p.integer().nullable().default(1900),
        logo: p.blob().nullable(),
        loud: p.type(LoudType).nullable(),
        note: p.type(NeverNullType).nullable(),
      },
    })
    const CarSchema = defineEntity({
      name: 'Car',
      checks: [{ name: 'price_is_positive', expression: 'price >= 0' }],
      properties: {
        id: p.integer().primary(),
        plate: p.string().unique(),
        price: p.integer().nullable(),
        maker: () => p.manyToOne(Maker).nullable(),
        twin: () => p.oneToOne(CarSchema).nullable(),
        cost: p.type(MoneyType).default(1.5),
        slug: p.type(SlugType).nullable(),
        colour: p.string().onCreate(() => `colour ${next()}`),
        hue: p
          .string()
          .nullable()
          .onCreate(() => (next() % 2 === 0 ? null : 'hue') as string),
        born: p.datetime().onCreate(() => new Date()),
        changed: p
          .datetime()
          .nullable()
          .onUpdate(() => new Date()),
        changes: p
          .integer()
          .nullable()
          .onUpdate(() => next()),
        state: p.string().defaultRaw("'new'"),
        secret: p.string().hidden().default('s'),
        document: p.json<unknown>().nullable(),
        list: p.array().nullable(),
        level: p.decimal().precision(10).scale(2).nullable(),
        at: p.datetime().nullable(),
        day: p.date().nullable(),
        token: p.uuid().nullable(),
        big: p.bigint().nullable(),
        active: p.boolean().nullable().default(true),
        lazy: p.text().lazy().nullable(),
        wheels: p.integer(),
        made: p.datetime(),
        version: p.integer().version(),
      },
    })
    class Car extends CarSchema.class {
      override wheels = 4
      override made = new Date()
    }
    CarSchema.setClass(Car)
    const Trip = defineEntity({
      name: 'Trip',
      uniques: [{ properties: ['car', 'number'] }],
      properties: {
        id: p.bigint().primary().autoincrement(),
        car: () => p.manyToOne(CarSchema),
        number: p.integer(),
        spare: () => p.manyToOne(CarSchema).nullable().deleteRule('cascade'),
        length: p.double().default(0.5),
        stamp: p
          .string()
          .nullable()
          .onUpdate(() => `stamp ${next()}`),
      },
    })
    this.entities = [Maker, CarSchema, Trip]
  }
}

const small = fc.integer({ min: 1, max: 5 })
const id = small.map(number => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`)
/** Values that are mostly right. */
const odd = <T>(values: Arbitrary<T>): Arbitrary<unknown> =>
  fc.oneof({ weight: 80, arbitrary: values }, fc.constantFrom<unknown>(null, 'x', 5, true, [], {}, 1.5, ''))

const maker = fc.record(
  {
    id: odd(id),
    name: odd(fc.string({ maxLength: 2 })),
    country: odd(fc.constantFrom('IT', 'FR')),
    founded: odd(fc.option(fc.integer())),
    logo: odd(fc.constantFrom(null, '', 'AQID')),
    loud: odd(fc.constantFrom('ann', null)),
    note: odd(fc.constantFrom('n', null)),
  },
  { requiredKeys: ['name'] },
)
const car = fc.record(
  {
    id: odd(small),
    plate: odd(fc.string({ unit: 'grapheme', maxLength: 2 })),
    price: odd(fc.integer({ min: -1, max: 9 })),
    maker: odd(fc.oneof(id, fc.constant(null))),
    twin: odd(fc.option(small)),
    cost: odd(fc.constantFrom(0.5, 2, 9.99)),
    slug: odd(fc.constantFrom('a', 'b', null)),
    colour: odd(fc.constant('red')),
    hue: odd(fc.constant(null)),
    born: odd(fc.constantFrom('2020-01-01T00:00:00Z', '2020-01-01T00:00:00.000Z')),
    changed: odd(fc.constantFrom('2020-01-01T00:00:00Z', null)),
    changes: odd(fc.constantFrom(3, null)),
    state: odd(fc.constantFrom('old', 'new')),
    secret: odd(fc.constantFrom('s', 'z')),
    document: odd(fc.oneof(fc.constantFrom<unknown>({ a: 1 }, { a: 1, b: null }, 'text', [], 0))),
    list: odd(fc.constantFrom<unknown>([], ['a'], ['a', ''])),
    level: odd(fc.constantFrom<unknown>('1.5', '1.50', 1.5, '0.01')),
    at: odd(fc.constantFrom('2024-01-01T10:00:00Z', '2020-01-01T00:00:00Z', '2020-01-01T01:00:00+01:00', '2020-01-01T00:00:00.001Z')),
    day: odd(fc.constantFrom('2024-02-29', '2024-02-30')),
    token: odd(fc.constantFrom('ABCDEF00-0000-4000-8000-000000000000', 'abcdef00-0000-4000-8000-000000000000')),
    big: odd(fc.constantFrom<unknown>('9007199254740993', 7, '7')),
    active: odd(fc.boolean()),
    lazy: odd(fc.constantFrom('l', null)),
    wheels: odd(fc.constantFrom(3, 4)),
    made: odd(fc.constant('2020-01-01T00:00:00Z')),
    version: odd(fc.constantFrom(1, 2)),
  },
  { requiredKeys: ['plate'] },
)
const trip = fc.record(
  {
    id: odd(small),
    car: odd(small),
    number: odd(small),
    spare: odd(fc.option(small)),
    length: odd(fc.constantFrom(0, 1.5, 3)),
    stamp: odd(fc.constant('s')),
  },
  { requiredKeys: ['car', 'number'] },
)

/** Few attributes of a body, as changes give them. */
const few = (bodies: Arbitrary<object>, always: readonly string[] = []): Arbitrary<object> =>
  fc.tuple(bodies, fc.nat(), fc.integer({ min: 0, max: 5 })).map(([body, from, count]) => {
    const names = Object.keys(body)
    const taken = Array.from({ length: count }, (_, index) => names[(from + index * 3) % names.length]!)
    return Object.fromEntries([...always, ...taken].map(name => [name, (body as Record<string, unknown>)[name]]))
  })
const headers = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  fc.constantFrom('"1"', '"2"', '*').chain(tag => fc.constantFrom({ 'if-match': tag }, { 'if-none-match': tag })),
)
const places = { makers: [maker, id, ['name']], cars: [car, small, ['plate']], trips: [trip, small, ['car', 'number']] } as const

/** A request that writes. */
export const carRequests = fc.constantFrom('makers' as const, 'cars' as const, 'cars' as const, 'trips' as const).chain(name => {
  const [bodies, ids, always] = places[name] as readonly [Arbitrary<object>, Arbitrary<string | number>, readonly string[]]
  const one = ids.map(key => `/v1/${name}/${key}`)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .oneof(few(bodies, always), few(bodies, always), bodies, few(bodies))
        .map(body => ({ method: 'POST', path: `/v1/${name}`, body })),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(one, fc.constantFrom('PUT', 'PATCH'), fc.oneof(few(bodies), few(bodies), bodies), headers)
        .map(([path, method, body, given]) => ({ method, path, body, headers: given })),
    },
    { weight: 1, arbitrary: fc.tuple(one, headers).map(([path, given]) => ({ method: 'DELETE', path, headers: given })) },
  )
})

/** Values that others leave in a column of a file, which are not of its type. */
export const ODD_VALUES = [
  "'many'",
  "'5'",
  '2',
  '1.5',
  "x'00ff'",
  "'2024-01-01 10:00:00'",
  "'2024-01-01T10:00:00.000Z'",
  '4.0',
  "'true'",
  "''",
]

/** Values for attributes of a car that a column of another type may show, or compare, as they are. */
export const NEAR_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  price: [5, 2, 4],
  twin: [2, 5, null],
  wheels: [5, 2, 4],
  active: [true, false],
  state: ['many', '5', 'AP8=', '2', ''],
  hue: ['AP8=', '5', '1.5', '4.0'],
  cost: [5, 1.5],
  at: ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00.000Z'],
  day: ['2024-01-01'],
  big: [5, '2'],
  level: ['5', '1.5', '1.50', '2'],
  document: [5, 'many', true, 2],
}

/**
 * MikroORM compares decimals as numbers: a word, which is none, is a change to it in each write of the record, whatever the body has. A
 * statement leaves it alone.
 */
const DECIMAL = 'level'

/** Statements by which others leave such values. */
export const oddRows = fc
  .tuple(fc.constantFrom(...Object.keys(NEAR_VALUES)), fc.constantFrom(...ODD_VALUES), small)
  .filter(([name, value]) => name !== DECIMAL || !Number.isNaN(Number(value.replaceAll("'", ''))))
  .map(([name, value, key]) => leaveOdd(name, value, key))

export function leaveOdd(name: string, value: string, key: number): string {
  return `update or ignore car set ${name === 'twin' ? 'twin_id' : name} = ${value} where id = ${key}`
}
