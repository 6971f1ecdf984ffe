/** Keys of every type, and relations of every kind. */
import { BigIntType, defineEntity, p, Type } from '@mikro-orm/sqlite'

/** Stored with a prefix that nobody sees. */
class SlugType extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    if (typeof value === 'string' && !/^[a-z~ -]+$/.test(value)) throw new Error('not a slug')
    return typeof value === 'string' ? `slug:${value}` : value
  }

  override convertToJSValue(value: string): string {
    return typeof value === 'string' ? value.slice(5) : value
  }
}

/** A property `of` that links a record of the target, and a list on its other side: for each type of key. */
export const BigKey = defineEntity({
  name: 'BigKey',
  properties: { id: p.bigint().primary(), name: p.string().nullable(), links: () => p.oneToMany(Link).mappedBy('big') },
})
export const BigTextKey = defineEntity({
  name: 'BigTextKey',
  properties: {
    id: p.type(new BigIntType('string')).primary(),
    name: p.string().nullable(),
    links: () => p.oneToMany(Link).mappedBy('bigText'),
  },
})
export const DateKey = defineEntity({
  name: 'DateKey',
  properties: { day: p.date().primary(), name: p.string().nullable(), links: () => p.oneToMany(Link).mappedBy('date') },
})
export const TimeKey = defineEntity({
  name: 'TimeKey',
  properties: { at: p.datetime().primary(), name: p.string().nullable(), links: () => p.oneToMany(Link).mappedBy('time') },
})
export const SlugKey = defineEntity({
  name: 'SlugKey',
  properties: { slug: p.type(SlugType).primary(), name: p.string().nullable(), links: () => p.oneToMany(Link).mappedBy('slug') },
})
export const UuidKey = defineEntity({
  name: 'UuidKey',
  properties: { id: p.uuid().primary(), name: p.string().nullable(), links: () => p.oneToMany(Link).mappedBy('uuid') },
})
export const PairKey = defineEntity({
  name: 'PairKey',
  properties: {
    slug: p.type(SlugType).primary(),
    day: p.date().primary(),
    name: p.string().nullable(),
    links: () => p.oneToMany(Link).mappedBy('pair'),
  },
})
export const Link = defineEntity({
  name: 'Link',
  properties: {
    id: p.integer().primary(),
    big: () => p.manyToOne(BigKey).nullable(),
    bigText: () => p.manyToOne(BigTextKey).nullable(),
    date: () => p.manyToOne(DateKey).nullable(),
    time: () => p.manyToOne(TimeKey).nullable(),
    slug: () => p.manyToOne(SlugKey).nullable(),
    uuid: () => p.manyToOne(UuidKey).nullable(),
    pair: () => p.manyToOne(PairKey).nullable(),
    bigs: () => p.manyToMany(BigKey),
    slugs: () => p.manyToMany(SlugKey),
  },
})

/** The property holds the key, not an entity. */
export const Owner = defineEntity({
  name: 'Owner',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    pets: () => p.oneToMany(Pet).mappedBy('owner'),
    chip: () => p.oneToOne(Chip).mappedBy('owner'),
  },
})
export const Pet = defineEntity({
  name: 'Pet',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    owner: () => p.manyToOne(Owner).mapToPk().nullable(),
    scan: () => p.manyToOne(Scan).mapToPk().nullable(),
  },
})
export const Chip = defineEntity({
  name: 'Chip',
  properties: { owner: () => p.oneToOne(Owner).primary(), code: p.string(), scans: () => p.oneToMany(Scan).mappedBy('chip') },
})
export const Scan = defineEntity({
  name: 'Scan',
  properties: { chip: () => p.manyToOne(Chip).primary(), number: p.integer().primary(), note: p.string().nullable() },
})

/** A pivot entity with data of its own, and a list in the order in which it was given. */
export const Student = defineEntity({
  name: 'Student',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    courses: () =>
      p
        .manyToMany(Course)
        .pivotEntity(() => Enrolment)
        .inversedBy('students'),
    enrolments: () => p.oneToMany(Enrolment).mappedBy('student'),
    wishes: () => p.manyToMany(Course).fixedOrder(),
  },
})
export const Course = defineEntity({
  name: 'Course',
  properties: { id: p.integer().primary(), title: p.string(), students: () => p.manyToMany(Student).mappedBy('courses') },
})
export const Enrolment = defineEntity({
  name: 'Enrolment',
  properties: { student: () => p.manyToOne(Student).primary(), course: () => p.manyToOne(Course).primary(), grade: p.integer().default(0) },
})

/** Composite foreign keys that share a column: everything belongs to one tenant. */
export const Tenant = defineEntity({ name: 'Tenant', properties: { id: p.integer().primary(), name: p.string() } })
export const Room = defineEntity({
  name: 'Room',
  properties: {
    tenant: () => p.manyToOne(Tenant).primary(),
    number: p.integer().primary(),
    name: p.string(),
    desks: () => p.oneToMany(Desk).mappedBy('room'),
  },
})
export const Desk = defineEntity({
  name: 'Desk',
  properties: {
    tenant: () => p.manyToOne(Tenant).primary(),
    id: p.integer().primary(),
    room: () =>
      p
        .manyToOne(Room)
        .joinColumns('tenant_id', 'room_number')
        .referencedColumnNames('tenant_id', 'number')
        .ownColumns('room_number')
        .nullable(),
    label: p.string().nullable(),
  },
})

export const entities = [
  BigKey,
  BigTextKey,
  DateKey,
  TimeKey,
  SlugKey,
  UuidKey,
  PairKey,
  Link,
  Owner,
  Pet,
  Chip,
  Scan,
  Student,
  Course,
  Enrolment,
  Tenant,
  Room,
  Desk,
]
