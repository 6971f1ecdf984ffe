/**
 * The model of the property specs, twice: as MikroORM entities for the engine, and as the oracle's resources, written by hand so that a
 * mistake in reading metadata shows. To-one (nullable and not), 1:m, m:n, self references, 1:1, embedded both ways, keys of every sort.
 */
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { PlainAttribute, PlainType, RelationAttribute, Resource } from '../../helpers/oracle.ts'

const Place = defineEntity({
  name: 'Place',
  embeddable: true,
  properties: { city: p.string(), zip: p.integer().nullable() },
})

export const Publisher = defineEntity({
  name: 'Publisher',
  properties: {
    code: p.string().primary(),
    name: p.string().nullable(),
    office: () => p.embedded(Place).object().nullable(),
    users: () => p.oneToMany(User).mappedBy('publisher'),
    sites: () => p.oneToMany(Site).mappedBy('publisher'),
  },
})

export const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    email: p.string().unique(),
    age: p.integer().nullable(),
    score: p.double().nullable(),
    balance: p.decimal().precision(12).scale(2).nullable(),
    big: p.bigint().nullable(),
    active: p.boolean().nullable(),
    born: p.datetime().nullable(),
    day: p.date().nullable(),
    alarm: p.time().nullable(),
    token: p.uuid().nullable(),
    role: p.enum(['admin', 'user', 'guest']).default('user'),
    secret: p.string().hidden().nullable(),
    home: () => p.embedded(Place).nullable(),
    publisher: () => p.manyToOne(Publisher).nullable(),
    boss: () => p.manyToOne(User).nullable(),
    staff: () => p.oneToMany(User).mappedBy('boss'),
    profile: () => p.oneToOne(Profile).mappedBy('user').nullable(),
    sites: () => p.oneToMany(Site).mappedBy('user').orderBy({ clicks: 'desc' }),
    tags: () => p.manyToMany(Tag).inversedBy('users'),
    friends: () => p.manyToMany(User),
  },
})

export const Profile = defineEntity({
  name: 'Profile',
  properties: {
    id: p.integer().primary(),
    bio: p.text().nullable(),
    user: () => p.oneToOne(User).inversedBy('profile'),
  },
})

export const Site = defineEntity({
  name: 'Site',
  properties: {
    id: p.integer().primary(),
    url: p.string(),
    clicks: p.integer().nullable(),
    user: () => p.manyToOne(User),
    publisher: () => p.manyToOne(Publisher).nullable(),
    tags: () => p.manyToMany(Tag).inversedBy('sites'),
    visits: () => p.oneToMany(Visit).mappedBy('site'),
  },
})

export const Tag = defineEntity({
  name: 'Tag',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => crypto.randomUUID()),
    name: p.string().nullable(),
    weight: p.decimal().precision(6).scale(3).nullable(),
    users: () => p.manyToMany(User).mappedBy('tags'),
    sites: () => p.manyToMany(Site).mappedBy('tags'),
  },
})

export const Visit = defineEntity({
  name: 'Visit',
  properties: {
    site: () => p.manyToOne(Site).primary(),
    number: p.integer().primary(),
    at: p.datetime().nullable(),
    note: p.text().nullable(),
  },
})

export const entities = [Publisher, User, Profile, Site, Tag, Visit, Place]

const plain = (type: PlainType, nullable: boolean, more: Partial<PlainAttribute> = {}): PlainAttribute => ({
  kind: 'plain',
  type,
  nullable,
  ...more,
})
const one = (target: () => Resource, nullable: boolean): RelationAttribute => ({ kind: 'one', target, nullable })
const many = (target: () => Resource, orderBy: RelationAttribute['orderBy'] = []): RelationAttribute => ({
  kind: 'many',
  target,
  nullable: false,
  orderBy,
})
const place = { city: plain('text', false), zip: plain('integer', true) }

export const publishers: Resource = {
  name: 'publishers',
  singular: 'publisher',
  key: ['code'],
  attributes: {
    code: plain('text', false),
    name: plain('text', true),
    office: { kind: 'embedded', nullable: true, attributes: place },
    users: many(() => users),
    sites: many(() => sites),
  },
}

export const users: Resource = {
  name: 'users',
  singular: 'user',
  key: ['id'],
  attributes: {
    id: plain('integer', false),
    name: plain('text', true),
    email: plain('text', false),
    age: plain('integer', true),
    score: plain('double', true),
    balance: plain('decimal', true, { scale: 2 }),
    big: plain('bigint', true),
    active: plain('boolean', true),
    born: plain('datetime', true),
    day: plain('date', true),
    alarm: plain('time', true),
    token: plain('uuid', true),
    role: plain('enum', false, { items: ['admin', 'user', 'guest'] }),
    home: { kind: 'embedded', nullable: true, attributes: place },
    publisher: one(() => publishers, true),
    boss: one(() => users, true),
    staff: many(() => users),
    profile: one(() => profiles, true),
    sites: many(() => sites, [['clicks', 'desc']]),
    tags: many(() => tags),
    friends: many(() => users),
  },
}

export const profiles: Resource = {
  name: 'profiles',
  singular: 'profile',
  key: ['id'],
  attributes: { id: plain('integer', false), bio: plain('text', true), user: one(() => users, false) },
}

export const sites: Resource = {
  name: 'sites',
  singular: 'site',
  key: ['id'],
  attributes: {
    id: plain('integer', false),
    url: plain('text', false),
    clicks: plain('integer', true),
    user: one(() => users, false),
    publisher: one(() => publishers, true),
    tags: many(() => tags),
    visits: many(() => visits),
  },
}

export const tags: Resource = {
  name: 'tags',
  singular: 'tag',
  key: ['id'],
  attributes: {
    id: plain('uuid', false),
    name: plain('text', true),
    weight: plain('decimal', true, { scale: 3 }),
    users: many(() => users),
    sites: many(() => sites),
  },
}

export const visits: Resource = {
  name: 'visits',
  singular: 'visit',
  key: ['site', 'number'],
  attributes: {
    site: one(() => sites, false),
    number: plain('integer', false),
    at: plain('datetime', true),
    note: plain('text', true),
  },
}

export const resources = [publishers, users, profiles, sites, tags, visits] as const
