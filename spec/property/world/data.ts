/**
 * Random data for the world model: what fast-check draws (`worldData`), the oracle's rows made of it (`buildWorld`), and the same rows
 * written through MikroORM into an engine (`loadWorld`). Texts are drawn from a small alphabet of troublesome characters, so that equal
 * values, prefixes and case pairs are common.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { RestEngine } from '../../../lib/index.ts'
import { isRow, type Resource, type Row, type Value } from '../../helpers/oracle.ts'
import { Profile, profiles, Publisher, publishers, Site, sites, Tag, tags, User, users, Visit, visits } from './entities.ts'

/** Case pairs that ASCII folding misses, wildcards of three languages, separators, quotes, a combining mark, and both sides of U+FFFF. */
const CHARACTERS = [
  ...Array.from('aAbBkKiIsSéÉßẞςσΣſİıЖж\u212A\u0301'),
  ...Array.from('%_*,[]^?\\~!|=<>().-+&# \'"`01'),
  ...Array.from('\n\t\0\u{E000}\uFFFD\u{10400}\u{10428}\u{1F600}'),
]
const WORDS = [
  '',
  'null',
  'NULL',
  'nul',
  'Ann',
  'ann',
  'ANN',
  '100%',
  'a,b',
  '*x',
  'a*b',
  '\\',
  'a\\b',
  'É',
  'é',
  'e\u0301',
  'Häbïto',
  'a_b',
  'a\0b',
  'a\0c',
  'true',
]

export const text: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 4 }).map(parts => parts.join('')),
)
const maybe = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | null> => fc.option(arbitrary, { freq: 3, nil: null })
/** Points at one of the rows of another resource, whatever their number: the index is taken modulo it. */
const pointer = fc.nat({ max: 30 })
const id = fc.integer({ min: 1, max: 120 })
const scaled = (digits: number, scale: number): Arbitrary<string> =>
  fc
    .oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -(10 ** digits) + 1, max: 10 ** digits - 1 }))
    .map(unscaled => fixed(unscaled, scale))
const fixed = (unscaled: number, scale: number): string => {
  const figures = String(Math.abs(unscaled)).padStart(scale + 1, '0')
  return `${unscaled < 0 ? '-' : ''}${figures.slice(0, -scale)}.${figures.slice(-scale)}`
}
const HOUR = 3_600_000
const datetime = fc.oneof(
  fc.constantFrom(0, Date.UTC(2024, 1, 29), Date.UTC(2024, 1, 29, 23, 59, 59, 999), Date.UTC(1969, 6, 20, 20, 17)),
  fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) }),
  fc.integer({ min: 0, max: 200 }).map(hours => Date.UTC(2024, 0) + hours * HOUR),
)
const day = fc.integer({ min: 0, max: 400 }).map(days => new Date(Date.UTC(2023, 11, 20) + days * 24 * HOUR).toISOString().slice(0, 10))
const time = fc.integer({ min: 0, max: 86_399 }).map(seconds => new Date(seconds * 1000).toISOString().slice(11, 19))
const place = fc.record({ city: text, zip: maybe(fc.integer({ min: -5, max: 99_999 })) })
/** Doubles that JSON and SQLite both keep, without -0, which JSON has not. */
const double = fc
  .oneof(
    fc.integer({ min: -8, max: 8 }).map(eighths => eighths / 8),
    fc.constantFrom(0.1, 0.2, 0.30000000000000004, 123456.789, -99999.5),
  )
  .map(value => value + 0)
const big = fc.oneof(
  fc.constantFrom(9007199254740993n, 9007199254740992n, -9007199254740993n, 9223372036854775807n, -9223372036854775808n, 0n, 10n, 9n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
)
/** A text key: no NUL and no dot segments, which no path can carry. */
export const code = text.map(value => value.replaceAll('\0', '')).filter(value => value !== '' && value !== '.' && value !== '..')

const userData = fc.record({
  id,
  name: maybe(text),
  email: text,
  age: maybe(fc.integer({ min: -3, max: 12 })),
  score: maybe(double),
  balance: maybe(scaled(12, 2)),
  big: maybe(big),
  active: maybe(fc.boolean()),
  born: maybe(datetime),
  day: maybe(day),
  alarm: maybe(time),
  token: maybe(fc.uuid()),
  role: fc.constantFrom('admin', 'user', 'guest'),
  home: maybe(place),
  publisher: maybe(pointer),
  boss: maybe(pointer),
  tags: fc.uniqueArray(pointer, { maxLength: 3 }),
  friends: fc.uniqueArray(pointer, { maxLength: 3 }),
})
const siteData = fc.record({
  id,
  url: text,
  clicks: maybe(fc.integer({ min: 0, max: 3 })),
  user: pointer,
  publisher: maybe(pointer),
  tags: fc.uniqueArray(pointer, { maxLength: 3 }),
})
const unique = <T>(arbitrary: Arbitrary<T>, by: (value: T) => unknown, minLength: number, maxLength: number): Arbitrary<T[]> =>
  fc.uniqueArray(arbitrary, { selector: by, minLength, maxLength, size: 'max' })

/** What fast-check draws. `size` is about the number of users. */
export const worldData = (size: number) =>
  fc.record({
    publishers: unique(fc.record({ code, name: maybe(text), office: maybe(place) }), row => row.code, 2, Math.ceil(size / 2)),
    users: unique(userData, row => row.id, Math.ceil(size / 2), size),
    profiles: unique(fc.record({ id, bio: maybe(text), user: pointer }), row => row.id, 0, size),
    sites: unique(siteData, row => row.id, Math.ceil(size / 2), Math.ceil(size * 1.5)),
    tags: unique(fc.record({ id: fc.uuid(), name: maybe(text), weight: maybe(scaled(6, 3)) }), row => row.id, 2, Math.ceil(size / 2)),
    visits: unique(
      fc.record({ site: pointer, number: fc.integer({ min: 1, max: 12 }), at: maybe(datetime), note: maybe(text) }),
      row => `${row.site} ${row.number}`,
      2,
      size,
    ),
  })

type WorldData = ReturnType<typeof worldData> extends Arbitrary<infer T> ? T : never

/** PostgreSQL stores no NUL in a text. */
export function withoutNul<T>(data: T): T {
  return JSON.parse(
    JSON.stringify(data, (_, value: unknown) => (typeof value === 'bigint' ? { $big: String(value) } : value)).replaceAll(
      '\\u0000',
      '\\u0001',
    ),
    (_, value: unknown) => {
      const { $big: big } = (value ?? {}) as { $big?: string }
      return big === undefined ? value : BigInt(big)
    },
  ) as T
}

/** The rows of each resource, by its name, in no particular order. */
export type World = Readonly<Record<string, readonly Row[]>>

/** Makes rows of drawn data: pointers become rows, both sides of each relation agree, and what must be unique is. */
export function buildWorld(data: WorldData): World {
  const row = (of: Resource, values: Record<string, Value>): Row => ({ of, values })
  const at = (rows: Row[], index: number | null): Row | null => (index === null ? null : (rows[index % rows.length] ?? null))
  const all = (rows: Row[], indexes: number[]): Row[] => [...new Set(indexes.flatMap(index => at(rows, index) ?? []))]
  const list = (owner: Row, name: string): Row[] => owner.values[name] as Row[]

  const publisherRows = data.publishers.map(each => row(publishers, { ...each, users: [], sites: [] }))
  const tagRows = data.tags.map(each => row(tags, { ...each, users: [], sites: [] }))
  const emails = new Set<string>()
  const userRows = data.users.map(each => {
    let email = each.email
    while (emails.has(email)) email += '+'
    emails.add(email)
    return row(users, {
      ...each,
      email,
      publisher: at(publisherRows, each.publisher),
      boss: null,
      staff: [],
      profile: null,
      sites: [],
      tags: all(tagRows, each.tags),
      friends: [],
    })
  })
  for (const [index, user] of userRows.entries()) {
    const boss = at(userRows, data.users[index]?.boss ?? null)
    user.values['boss'] = boss
    user.values['friends'] = all(userRows, data.users[index]?.friends ?? [])
    if (boss) list(boss, 'staff').push(user)
    const publisher = user.values['publisher']
    if (isRow(publisher)) list(publisher, 'users').push(user)
    for (const tag of list(user, 'tags')) list(tag, 'users').push(user)
  }
  const profileRows: Row[] = []
  for (const each of data.profiles) {
    const user = at(userRows, each.user)
    if (!user || user.values['profile'] !== null) continue
    const profile = row(profiles, { ...each, user })
    user.values['profile'] = profile
    profileRows.push(profile)
  }
  const siteRows: Row[] = []
  for (const each of data.sites) {
    const user = at(userRows, each.user)
    if (!user) continue
    const publisher = at(publisherRows, each.publisher)
    const site = row(sites, { ...each, user, publisher, tags: all(tagRows, each.tags), visits: [] })
    list(user, 'sites').push(site)
    if (publisher) list(publisher, 'sites').push(site)
    for (const tag of list(site, 'tags')) list(tag, 'sites').push(site)
    siteRows.push(site)
  }
  const visitRows: Row[] = []
  for (const each of data.visits) {
    const site = at(siteRows, each.site)
    if (!site || list(site, 'visits').some(visit => visit.values['number'] === each.number)) continue
    const visit = row(visits, { ...each, site })
    list(site, 'visits').push(visit)
    visitRows.push(visit)
  }
  return { publishers: publisherRows, users: userRows, profiles: profileRows, sites: siteRows, tags: tagRows, visits: visitRows }
}

/** Writes a world into an engine through its ORM, not through its API: what is read must not depend on what the API writes. */
export async function loadWorld(engine: RestEngine, world: World): Promise<void> {
  const em = engine.orm.em.fork()
  const made = new Map<Row, object>()
  const entityOf = (row: Value | undefined): object | null => (isRow(row) ? (made.get(row) ?? null) : null)
  const date = (value: Value | undefined): Date | null => (typeof value === 'number' ? new Date(value) : null)
  const create = (entity: unknown, row: Row, values: Record<string, unknown>): void => {
    made.set(row, em.create(entity as never, values as never))
  }
  const entitiesOf = (row: Row, name: string): (object | null)[] => (row.values[name] as Row[]).map(entityOf)

  for (const row of world['publishers'] ?? []) {
    const { code, name, office } = row.values
    create(Publisher, row, { code, name, office })
  }
  for (const row of world['tags'] ?? []) {
    const { id, name, weight } = row.values
    create(Tag, row, { id, name, weight })
  }
  for (const row of world['users'] ?? []) {
    const { staff: _staff, profile: _profile, sites: _sites, friends: _friends, boss: _boss, ...values } = row.values
    create(User, row, {
      ...values,
      secret: 'secret',
      born: date(values['born']),
      publisher: entityOf(values['publisher']),
      tags: entitiesOf(row, 'tags'),
    })
  }
  await em.flush()
  for (const row of world['users'] ?? []) {
    const user = made.get(row) as { boss: object | null; friends: { set(items: unknown[]): void } }
    user.boss = entityOf(row.values['boss'])
    user.friends.set(entitiesOf(row, 'friends'))
  }
  for (const row of world['profiles'] ?? []) {
    const { id, bio, user } = row.values
    create(Profile, row, { id, bio, user: entityOf(user) })
  }
  for (const row of world['sites'] ?? []) {
    const { id, url, clicks, user, publisher } = row.values
    create(Site, row, { id, url, clicks, user: entityOf(user), publisher: entityOf(publisher), tags: entitiesOf(row, 'tags') })
  }
  for (const row of world['visits'] ?? []) {
    const { site, number, at, note } = row.values
    create(Visit, row, { site: entityOf(site), number, at: date(at), note })
  }
  await em.flush()
}
