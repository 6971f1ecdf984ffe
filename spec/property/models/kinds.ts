/**
 * The kinds of attributes of random models: how MikroORM defines each, what the oracle takes it for, and its values. The definition and the
 * oracle's description stand side by side and know nothing of each other.
 */
import { ArrayType, defineEntity, p, quote, Type } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { Opaque, toJson } from '../../helpers/oracle.ts'
import type { Attribute, Codec, EmbeddedValue, Json, PlainAttribute, PlainType, Scalar, Value } from '../../helpers/oracle.ts'
import { text } from '../world/data.ts'

/** Cents in the database, a decimal number everywhere else. */
export class MoneyType extends Type<number | null, number | null> {
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

/** An object in JSON, a text in the database. */
export class PointType extends Type<{ x: number; y: number } | null, string | null> {
  override convertToDatabaseValue(value: { x: number; y: number } | null): string | null {
    return value === null ? null : `${value.x},${value.y}`
  }

  override convertToJSValue(value: string | null): { x: number; y: number } | null {
    if (value === null) return null
    const [x, y] = value.split(',').map(Number)
    return { x: x!, y: y! }
  }
}

/** A text with a prefix that nobody sees; keys are made of it too. */
export class SlugType extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    if (typeof value === 'string' && !/^[a-z~ -]+$/.test(value)) throw new Error('not a slug')
    return typeof value === 'string' ? `slug:${value}` : value
  }

  override convertToJSValue(value: string): string {
    return typeof value === 'string' ? value.slice(5) : value
  }
}

const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string(), zip: p.integer().nullable() } })
const Pet = defineEntity({
  name: 'Pet',
  embeddable: true,
  abstract: true,
  discriminatorColumn: 'type',
  properties: { type: p.enum(['cat', 'dog']), call: p.string() },
})
const Cat = defineEntity({
  name: 'Cat',
  embeddable: true,
  extends: Pet,
  discriminatorValue: 'cat',
  properties: { lives: p.integer() },
})
const Dog = defineEntity({
  name: 'Dog',
  embeddable: true,
  extends: Pet,
  discriminatorValue: 'dog',
  properties: { tricks: p.integer().nullable(), day: p.date().nullable() },
})
/** An object with values that JSON holds in another form than columns. */
const Trunk = defineEntity({
  name: 'Trunk',
  embeddable: true,
  properties: { label: p.string(), big: p.bigint().nullable(), at: p.datetime().nullable(), cost: p.type(MoneyType).nullable() },
})

// Each builder of `p` has a type of its own; what is used here, all of them have.
type Builder = ReturnType<typeof p.string>

export interface Kind {
  /** The property, nullable or not. */
  readonly define: (nullable: boolean) => unknown
  /** What the oracle takes it for, but for whether it can be NULL. */
  readonly as: Attribute
  readonly value: Arbitrary<Exclude<Value, null>>
  /** The name in the API, where that is not the property's. */
  readonly shownAs?: string
  /** What an introspected file gives for a value in its JSON form; undefined for what does not survive it. */
  readonly inFile?: (json: Json) => Json
  /** Can be written as code by --eject. */
  readonly ejects?: boolean
  /** The same object may be NULL inside, so that a change of it merges. */
  readonly merges?: boolean
}

const optional = (make: () => unknown) => (nullable: boolean) => {
  const builder = make() as Builder
  return nullable ? builder.nullable() : builder
}
/** A property that names other entities is given as a function. */
const late = (make: () => unknown) => (nullable: boolean) => () => optional(make)(nullable)

const plain = (type: PlainType, more: Partial<PlainAttribute> = {}): PlainAttribute => ({ kind: 'plain', type, nullable: true, ...more })
const opaque = (json = false, paths: readonly string[] = []): Attribute => ({ kind: 'opaque', nullable: true, json, paths })
const as = (json: Json): Json => json

const money: Codec = {
  show: stored => Number(stored) / 100,
  parse: asked => (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(asked) ? Math.round(Number(asked) * 100) : null),
  spell: stored => String(Number(stored) / 100),
}
const point: Codec = {
  show: stored => {
    const [x, y] = String(stored).split(',').map(Number)
    return { x: x!, y: y! }
  },
  parse: asked => {
    const { x, y } = JSON.parse(asked) as { x: number; y: number }
    return `${x},${y}`
  },
  spell: stored => JSON.stringify(point.show(stored)),
}
export const slug: Codec = {
  show: stored => String(stored).slice(5),
  parse: asked => (/^[a-z~ -]+$/.test(asked) ? `slug:${asked}` : null),
  spell: stored => String(stored).slice(5),
}

const DAY = 86_400_000
const small = fc.integer({ min: -4, max: 4 })
const cents = fc.oneof(small, fc.integer({ min: -999_999, max: 999_999 }))
const whole = fc.oneof({ weight: 4, arbitrary: small }, fc.integer(), fc.constantFrom(2 ** 53 - 1, -(2 ** 53) + 1))
const fixed = (value: number, scale = 2): string => {
  const digits = String(Math.abs(value)).padStart(scale + 1, '0')
  return `${value < 0 ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
export const big = fc.oneof(
  fc.constantFrom(9007199254740993n, 9007199254740992n, -9007199254740993n, 9223372036854775807n, -9223372036854775808n, 0n, 7n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
)
const double = fc.oneof(
  fc.constantFrom(0.1, 0.2, 0.30000000000000004, -1.5, 1e300, 5e-324, 3, 0, 123456789.125),
  small.map(value => value / 8 + 0),
)
export const instant = fc.oneof(
  fc.integer({ min: 0, max: 5 }).map(day => day * (DAY + 123)),
  fc.constantFrom(-DAY, Date.UTC(2024, 1, 29, 23, 59, 59, 999), Date.UTC(1969, 6, 20)),
)
export const day = fc.integer({ min: -2, max: 5 }).map(days => new Date(days * DAY).toISOString().slice(0, 10))
const time = fc.constantFrom('00:00:00', '23:59:59', '12:30:00', '01:02:03')
const place = fc.record({ city: text, zip: fc.option(small) }, { noNullPrototype: true })
const pet = fc.oneof(
  fc.record({ type: fc.constant('cat'), call: text, lives: small }, { noNullPrototype: true }),
  fc.record({ type: fc.constant('dog'), call: text, tricks: fc.option(small), day: fc.option(day) }, { noNullPrototype: true }),
)
const trunk = fc.record({ label: text, big: fc.option(big), at: fc.option(instant), cost: fc.option(cents) }, { noNullPrototype: true })
const placeAttributes = { city: plain('text', { nullable: false }), zip: plain('integer') }
const petAttributes = {
  type: plain('enum', { nullable: false, items: ['cat', 'dog'] }),
  call: plain('text', { nullable: false }),
  lives: plain('integer'),
  tricks: plain('integer'),
  day: plain('date'),
}
const trunkAttributes = {
  label: plain('text', { nullable: false }),
  big: plain('bigint'),
  at: plain('datetime'),
  cost: plain('custom', { codec: money }),
}
const variants = { by: 'type', of: { cat: ['type', 'call', 'lives'], dog: ['type', 'call', 'tricks', 'day'] } }
const words = fc.array(text, { maxLength: 3 })
const wrapped = (json: Arbitrary<unknown>): Arbitrary<Opaque> => json.map(value => new Opaque(value as Json))
const figure = fc.oneof(small, fc.constantFrom(2.5, -0.5)).map(value => value + 0)
const json = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        a: fc.oneof(fc.option(figure), text, fc.constantFrom({}, [])),
        b: fc.array(fc.oneof(figure, text), { maxLength: 2 }),
        c: fc.option(fc.record({ d: fc.oneof(figure, text, fc.constant(null)) }, { noNullPrototype: true })),
      },
      { noNullPrototype: true, requiredKeys: ['b'] },
    ),
  },
  fc.array(figure, { maxLength: 2 }),
  text,
  figure,
  fc.boolean(),
)

export const KINDS = {
  integer: { define: optional(() => p.integer()), as: plain('integer'), value: whole, inFile: as, ejects: true },
  bigint: { define: optional(() => p.bigint()), as: plain('bigint'), value: big, inFile: as, ejects: true },
  bigNumber: {
    define: optional(() => p.bigint('number')),
    as: plain('bigint', { asNumber: true }),
    value: whole.map(BigInt),
    ejects: true,
  },
  decimal: {
    define: optional(() => p.decimal().precision(12).scale(2)),
    as: plain('decimal', { scale: 2 }),
    value: cents.map(value => fixed(value)),
    ejects: true,
  },
  decimalNumber: {
    define: optional(() => p.decimal('number').precision(12).scale(2)),
    as: plain('decimal', { asNumber: true }),
    value: cents.map(value => fixed(value)),
    ejects: true,
  },
  float: { define: optional(() => p.float()), as: plain('double'), value: double, inFile: as, ejects: true },
  double: { define: optional(() => p.double()), as: plain('double'), value: double, inFile: as, ejects: true },
  string: { define: optional(() => p.string()), as: plain('text'), value: text, inFile: as, ejects: true },
  lazy: { define: optional(() => p.text().lazy()), as: plain('text'), value: text, inFile: as, ejects: true },
  lazyScore: { define: optional(() => p.integer().lazy()), as: plain('integer'), value: whole, inFile: as, ejects: true },
  grouped: { define: optional(() => p.string().groups('private')), as: plain('text'), value: text },
  aka: { define: optional(() => p.string().serializedName('alias')), as: plain('text'), value: text, shownAs: 'alias', ejects: true },
  boolean: { define: optional(() => p.boolean()), as: plain('boolean'), value: fc.boolean(), ejects: true },
  datetime: { define: optional(() => p.datetime(3)), as: plain('datetime'), value: instant, ejects: true },
  date: { define: optional(() => p.date()), as: plain('date'), value: day, inFile: as, ejects: true },
  time: { define: optional(() => p.time()), as: plain('time'), value: time, inFile: as, ejects: true },
  uuid: { define: optional(() => p.uuid()), as: plain('uuid'), value: fc.uuid(), inFile: as, ejects: true },
  choice: {
    define: optional(() => p.enum(['a', 'b', 'c'])),
    as: plain('enum', { items: ['a', 'b', 'c'] }),
    value: fc.constantFrom('a', 'b', 'c'),
    inFile: as,
    ejects: true,
  },
  level: {
    define: optional(() => p.enum([1, 2, 3])),
    as: plain('integer', { items: [1, 2, 3] }),
    value: fc.constantFrom(1, 2, 3),
    inFile: as,
    ejects: true,
  },
  money: { define: optional(() => p.type(MoneyType)), as: plain('custom', { codec: money }), value: cents },
  point: {
    define: optional(() => p.type(PointType)),
    as: plain('custom', { codec: point }),
    value: fc.tuple(small, fc.constantFrom(0.5, 2)).map(([x, y]) => `${x + 0},${y}`),
  },
  slug: {
    define: optional(() => p.type(SlugType)),
    as: plain('custom', { codec: slug }),
    value: fc.constantFrom('slug:a', 'slug:b', 'slug:a-b', 'slug:x ~'),
  },
  json: {
    define: optional(() => p.json<unknown>()),
    as: opaque(true, ['a', 'b.0', 'b.1', 'c.d', 'c']),
    value: wrapped(json),
    ejects: true,
  },
  tags: { define: optional(() => p.array()), as: opaque(), value: wrapped(words) },
  figures: {
    define: optional(() => p.type(new ArrayType<number>(item => +item))),
    as: opaque(),
    value: wrapped(fc.array(figure, { maxLength: 3 })),
  },
  choices: {
    define: optional(() => p.enum(['a', 'b']).array()),
    as: opaque(),
    value: wrapped(fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 })),
  },
  blob: {
    define: optional(() => p.blob()),
    as: opaque(),
    value: wrapped(fc.uint8Array({ maxLength: 4 }).map(bytes => Buffer.from(bytes).toString('base64'))),
    inFile: as,
    ejects: true,
  },
  bytes: {
    define: optional(() => p.uint8array()),
    as: opaque(),
    value: wrapped(fc.uint8Array({ maxLength: 4 }).map(bytes => Buffer.from(bytes).toString('base64'))),
    inFile: as,
  },
  place: {
    define: late(() => p.embedded(Place)),
    as: { kind: 'embedded', nullable: true, attributes: placeAttributes },
    value: place,
    merges: true,
    ejects: true,
  },
  placeDoc: {
    define: late(() => p.embedded(Place).object()),
    as: { kind: 'embedded', nullable: true, attributes: placeAttributes },
    value: place,
    merges: true,
    ejects: true,
  },
  places: { define: late(() => p.embedded(Place).array()), as: opaque(), value: wrapped(fc.array(place, { maxLength: 2 })) },
  trunk: {
    define: late(() => p.embedded(Trunk)),
    as: { kind: 'embedded', nullable: true, attributes: trunkAttributes },
    value: trunk,
    merges: true,
  },
  trunkDoc: {
    define: late(() => p.embedded(Trunk).object()),
    as: { kind: 'embedded', nullable: true, attributes: trunkAttributes },
    value: trunk,
    merges: true,
  },
  pet: {
    define: late(() => p.embedded([Cat, Dog])),
    as: { kind: 'embedded', nullable: true, attributes: petAttributes, variants },
    value: pet,
  },
  petDoc: {
    define: late(() => p.embedded([Cat, Dog]).object()),
    as: { kind: 'embedded', nullable: true, attributes: petAttributes, variants },
    value: pet,
  },
  pets: { define: late(() => p.embedded([Cat, Dog]).array()), as: opaque(), value: wrapped(fc.array(pet, { maxLength: 2 })) },
} satisfies Record<string, Kind>
export type KindName = keyof typeof KINDS
export const KIND_NAMES = Object.keys(KINDS) as KindName[]
export const kindOf = (name: KindName): Kind => KINDS[name]

/** A generated column, of the property `base` that goes with it. */
export const twice = (): unknown =>
  p
    .integer()
    .generated(columns => quote`(${(columns as { base: string }).base} * 2) virtual`)
    .nullable()
/** A formula. */
export const negative = (): unknown => p.formula(columns => quote`-${(columns as { base: string }).base}`).type('integer' as never)

/** A value of the oracle as it is in bodies. */
export function bodyOf(attribute: Attribute, value: Value): Json {
  if (value === null) return null
  if (attribute.kind === 'opaque') return (value as Opaque).json
  if (attribute.kind === 'plain') return toJson(attribute, value as Scalar)
  if (attribute.kind !== 'embedded') throw new Error('a relation is no value')
  return Object.fromEntries(
    Object.entries(value as EmbeddedValue).map(([name, inner]) => [name, toJson(attribute.attributes[name]!, inner)]),
  )
}
