/** One entity with every kind of plain property that a table of ordinary columns can have, for the specs of kinds. */
import { ArrayType, BigIntType, defineEntity, p, quote, Type } from '@mikro-orm/sqlite'

export class Point {
  readonly x: number
  readonly y: number

  constructor(x: number, y: number) {
    this.x = x
    this.y = y
  }
}

/** A custom type of another JSON form than the stored one; it refuses nothing itself. */
class PointType extends Type<Point, string> {
  override convertToDatabaseValue(value: Point | null): string {
    if (value === null) return value as never
    return `${value.x},${value.y}`
  }

  override convertToJSValue(value: string): Point {
    const [x, y] = value.split(',').map(Number)
    return new Point(x!, y!)
  }

  override toJSON(value: Point): Point {
    return { x: value.x, y: value.y }
  }

  override getColumnType(): string {
    return 'text'
  }
}

/** Cents in the database, a decimal number everywhere else; its runtime type is known. */
class MoneyType extends Type<number, number> {
  override convertToDatabaseValue(value: number): number {
    if (value === null) return value
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('not an amount')
    return Math.round(value * 100)
  }

  override convertToJSValue(value: number): number {
    return value / 100
  }

  override compareAsType(): string {
    return 'number'
  }

  override getColumnType(): string {
    return 'integer'
  }
}

/** A text that is stored in another form, without a word on its runtime type; normalises what it is given. */
class EmailType extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    if (value === null) return value
    if (!value.includes('@')) throw new Error('not an address')
    return `mailto:${value.toLowerCase()}`
  }

  override convertToJSValue(value: string): string {
    return value.slice('mailto:'.length)
  }
}

/** A date-time that is stored as text. */
class TextTimeType extends Type<Date, string> {
  override convertToDatabaseValue(value: Date | string): string {
    if (value === null) return value
    const date = new Date(value)
    return date.toISOString().replace('T', ' ').slice(0, 19)
  }

  /** MikroORM makes a Date of what it reads before it asks a type that says so of itself. */
  override convertToJSValue(value: string | Date): Date {
    if (!(value instanceof Date)) throw new TypeError('not a Date')
    return value
  }

  override compareAsType(): string {
    return 'Date'
  }
}

/** A type with conversions in SQL: stored backwards. */
class ShoutType extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }

  override convertToJSValueSQL(key: string): string {
    return `(${key} || '!')`
  }
}

/** Derived from a type of MikroORM's: a 64-bit integer with a prefix. */
class TicketType extends BigIntType {
  override convertToDatabaseValue(value: unknown): string {
    if (value === null) return value as never
    if (typeof value !== 'string' || !/^T\d+$/.test(value)) throw new Error('not a ticket')
    return value.slice(1)
  }

  override convertToJSValue(value: unknown): never {
    return `T${String(value)}` as never
  }

  override toJSON(value: unknown): never {
    return value as never
  }

  override compareAsType(): string {
    return 'string'
  }
}

/** An embeddable with what is stored in another form inside a JSON document than in a column. */
export const Part = defineEntity({
  name: 'Part',
  embeddable: true,
  properties: {
    name: p.string(),
    size: p.integer().default(7),
    words: p.array().nullable(),
    choices: p.enum(['a', 'b']).array().nullable(),
    point: p.type(PointType).nullable(),
    blob: p.blob().nullable(),
    big: p.bigint().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    day: p.date().nullable(),
    made: p.datetime().nullable(),
    json: p.json<unknown>().nullable(),
  },
})

export const Animal = defineEntity({
  name: 'Animal',
  embeddable: true,
  abstract: true,
  discriminatorColumn: 'type',
  properties: { type: p.enum(['cat', 'dog']), name: p.string() },
})
export const Cat = defineEntity({
  name: 'Cat',
  embeddable: true,
  extends: Animal,
  discriminatorValue: 'cat',
  properties: { lives: p.integer() },
})
export const Dog = defineEntity({
  name: 'Dog',
  embeddable: true,
  extends: Animal,
  discriminatorValue: 'dog',
  properties: { tricks: p.integer().nullable() },
})

const PlainSchema = defineEntity({
  name: 'Plain',
  properties: {
    id: p.integer().primary(),
    integer: p.integer().nullable(),
    big: p.bigint().nullable(),
    bigText: p.bigint('string').nullable(),
    bigNumber: p.bigint('number').nullable(),
    float: p.float().nullable(),
    double: p.double().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    wide: p.decimal().precision(20).scale(4).nullable(),
    decimalNumber: p.decimal('number').precision(10).scale(2).nullable(),
    string: p.string().length(20).nullable(),
    text: p.text().nullable(),
    boolean: p.boolean().nullable(),
    datetime: p.datetime().nullable(),
    date: p.date().nullable(),
    time: p.time().nullable(),
    uuid: p.uuid().nullable(),
    choice: p.enum(['low', 'high']).nullable(),
    level: p.enum([1, 2, 3]).nullable(),
    json: p.json<unknown>().nullable(),
    blob: p.blob().nullable(),
    bytes: p.uint8array().nullable(),
    tags: p.array().nullable(),
    numbers: p.type(new ArrayType<number>(item => +item)).nullable(),
    choices: p.enum(['a', 'b', 'c']).array().nullable(),
    point: p.type(PointType).nullable(),
    money: p.type(MoneyType).nullable(),
    email: p.type(EmailType).nullable(),
    stamp: p.type(TextTimeType).nullable(),
    shout: p.type(ShoutType).nullable(),
    ticket: p.type(TicketType).nullable(),
    lazy: p.text().lazy().nullable(),
    lazyRef: p.text().lazy().ref().nullable(),
    upper: p
      .string()
      .generated(columns => quote`(upper(${columns.string!})) stored`)
      .nullable(),
    twice: p
      .integer()
      .generated(columns => quote`(${columns.integer!} * 2) virtual`)
      .nullable(),
    private: p.string().groups('private').nullable(),
    aka: p.string().serializedName('alias').nullable(),
    shown: p
      .datetime()
      .serializer((value: Date | null) => (value === null ? 'never' : `in ${value.getUTCFullYear()}`))
      .nullable(),
    part: () => p.embedded(Part).nullable(),
    partDoc: () => p.embedded(Part).object().nullable(),
    parts: () => p.embedded(Part).array().nullable(),
    pet: () => p.embedded([Cat, Dog]).nullable(),
    petDoc: () => p.embedded([Cat, Dog]).object().nullable(),
    pets: () => p.embedded([Cat, Dog]).array().nullable(),
    label: p.string().persist(false).getter(),
  },
})

export class Plain extends PlainSchema.class {
  /** Given by code, of what is stored. */
  override get label(): string {
    return `${this.string ?? 'nobody'} of ${this.datetime?.getUTCFullYear() ?? 'no year'}`
  }
}
PlainSchema.setClass(Plain)

export const entities = [Plain, Part, Animal, Cat, Dog]
