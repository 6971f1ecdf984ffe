/**
 * A model with every kind of list, and of record that a body can nest: many-to-many lists, from both sides, in an order of their own, and
 * of the same entity; lists of records that may lose their link, that need it, that are removed without it, and that are of the same
 * entity; one-to-ones from both sides; and some that statements do not write: cascades, conditions, links to one of several entities.
 */
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

/** The entities for one engine. */
export class Clubs {
  readonly entities: unknown[]

  constructor() {
    const Tag = defineEntity({
      name: 'Tag',
      properties: {
        id: p.string().primary(),
        name: p.string().unique(),
        clubs: () => p.manyToMany(Club).mappedBy('tags'),
        ranked: () => p.manyToMany(Club).mappedBy('sponsors'),
      },
    })
    const Badge = defineEntity({
      name: 'Badge',
      properties: { id: p.integer().primary(), text: p.string(), club: () => p.oneToOne(Club).inversedBy('badge').nullable() },
    })
    const Ground = defineEntity({
      name: 'Ground',
      properties: {
        id: p.integer().primary(),
        name: p.string().unique(),
        club: () => p.oneToOne(Club).mappedBy('ground'),
        events: () => p.oneToMany(Event).mappedBy('place').cascade(Cascade.PERSIST, Cascade.REMOVE),
      },
    })
    const Club = defineEntity({
      name: 'Club',
      properties: {
        id: p.integer().primary(),
        name: p.string().unique(),
        version: p.integer().version(),
        changes: p
          .integer()
          .nullable()
          .onUpdate(() => 7),
        ground: () => p.oneToOne(Ground).inversedBy('club').nullable(),
        badge: () => p.oneToOne(Badge).mappedBy('club'),
        captain: () => p.manyToOne(Player).nullable(),
        players: () => p.oneToMany(Player).mappedBy('club'),
        teams: () => p.oneToMany(Team).mappedBy('club'),
        notes: () => p.oneToMany(Note).mappedBy('club').orphanRemoval(),
        events: () => p.oneToMany(Event).mappedBy('club'),
        parent: () => p.manyToOne(Club).nullable(),
        branches: () => p.oneToMany(Club).mappedBy('parent'),
        tags: () => p.manyToMany(Tag).inversedBy('clubs'),
        sponsors: () => p.manyToMany(Tag).inversedBy('ranked').fixedOrder(),
        friends: () => p.manyToMany(Club).inversedBy('friendOf'),
        friendOf: () => p.manyToMany(Club).mappedBy('friends'),
        fans: () => p.manyToMany(Player).pivotEntity(() => Fan),
      },
    })
    const Player = defineEntity({
      name: 'Player',
      properties: {
        id: p.bigint().primary().autoincrement(),
        name: p.string(),
        number: p.integer().nullable(),
        club: () => p.manyToOne(Club).nullable(),
        stamp: p
          .string()
          .nullable()
          .onUpdate(() => 'stamp'),
        version: p.integer().version(),
      },
      uniques: [{ properties: ['club', 'number'] }],
    })
    const Fan = defineEntity({
      name: 'Fan',
      properties: {
        club: () => p.manyToOne(Club).primary(),
        player: () => p.manyToOne(Player).primary(),
        since: p.integer().default(2000),
      },
    })
    const Team = defineEntity({
      name: 'Team',
      properties: { id: p.integer().primary(), name: p.string().unique(), club: () => p.manyToOne(Club).deleteRule('cascade') },
    })
    const Note = defineEntity({
      name: 'Note',
      properties: {
        id: p.integer().primary(),
        text: p.string(),
        club: () => p.manyToOne(Club),
        about: () => p.manyToOne(Player).nullable(),
      },
    })
    const Event = defineEntity({
      name: 'Event',
      properties: {
        id: p.integer().primary(),
        at: p.datetime().onCreate(() => new Date()),
        club: () => p.manyToOne(Club).nullable(),
        place: () => p.manyToOne(Ground).nullable(),
        about: () => p.manyToOne([Team, Note] as never).nullable(),
        version: p.integer().version(),
      },
    })
    this.entities = [Tag, Badge, Ground, Club, Player, Fan, Team, Note, Event]
  }
}

const small = fc.integer({ min: 1, max: 4 })
const word = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
/** Names that are unique, most of them free. */
const name = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 1, maxLength: 3 })
const big = small.map(String)
/** Values that are mostly right. */
const odd = <T>(values: Arbitrary<T>): Arbitrary<unknown> =>
  fc.oneof({ weight: 80, arbitrary: values }, fc.constantFrom<unknown>(null, 'x', 5, true, [], {}, 1.5, [1, 1]))
const list = <T>(members: Arbitrary<T>): Arbitrary<unknown> => {
  const some = fc.array(fc.oneof({ weight: 80, arbitrary: members }, fc.constantFrom<unknown>(null, 'nope', {}, 77)), { maxLength: 4 })
  return odd(
    fc.oneof({ weight: 3, arbitrary: some }, fc.record({ connect: some, disconnect: some }, { requiredKeys: [], noNullPrototype: true })),
  )
}
/** An ID, or the body of a new record. */
const ref = <T, U>(id: Arbitrary<T>, body: Arbitrary<U>): Arbitrary<T | U> => fc.oneof({ weight: 2, arbitrary: id }, body)

/** The resource of the members of a list. */
const POSTED: Readonly<Record<string, string>> = {
  players: 'player',
  fans: 'player',
  teams: 'team',
  notes: 'note',
  events: 'event',
  tags: 'tag',
  sponsors: 'tag',
}

/** Lists whose records are deleted by their path. */
const DELETED: readonly string[] = [
  ...['notes', 'teams', 'events', 'tags', 'sponsors', 'players', 'fans', 'branches', 'friends'].map(list => `clubs/${list}`),
  'grounds/events',
]

/** The bodies of all resources, which nest each other a few levels deep. */
const bodies = fc.letrec<Record<string, unknown>>(tie => {
  const deep = (key: string): Arbitrary<unknown> => tie(key)
  const attributes = {
    players: { name: word, number: fc.option(small), club: ref(small, deep('club')) },
    teams: { name, club: ref(small, deep('club')) },
    notes: { text: word, club: ref(small, deep('club')), about: ref(big, deep('player')) },
    tags: { id: word, name, clubs: list(ref(small, deep('club'))), ranked: list(ref(small, deep('club'))) },
    badges: { text: word, club: fc.option(ref(small, deep('club'))) },
    grounds: { name, club: ref(small, deep('club')), events: list(ref(small, deep('event'))) },
    events: { club: ref(small, deep('club')), place: ref(small, deep('ground')) },
    clubs: {
      name,
      changes: fc.constantFrom(null, 3),
      version: fc.constantFrom(1, 2),
      ground: fc.option(ref(small, deep('ground'))),
      badge: fc.option(ref(small, deep('badge'))),
      captain: fc.option(ref(big, deep('player'))),
      players: list(ref(big, deep('player'))),
      teams: list(ref(small, deep('team'))),
      notes: list(ref(small, deep('note'))),
      events: list(ref(small, deep('event'))),
      parent: fc.option(ref(small, deep('club'))),
      branches: list(ref(small, deep('club'))),
      tags: list(ref(word, deep('tag'))),
      sponsors: list(ref(word, deep('tag'))),
      friends: list(ref(small, deep('club'))),
      friendOf: list(ref(small, deep('club'))),
      fans: list(ref(big, deep('player'))),
    },
  }
  const always: Readonly<Record<string, readonly string[]>> = {
    players: ['name'],
    teams: ['name'],
    notes: ['text'],
    tags: ['id', 'name'],
    badges: ['text'],
    grounds: ['name'],
    events: [],
    clubs: ['name'],
  }
  /** Up to two attributes beside those that a new record needs. */
  const few = (of: keyof typeof attributes, needed: boolean, most = 3): Arbitrary<unknown> => {
    const known: Record<string, Arbitrary<unknown>> = attributes[of]
    const names = Object.keys(known)
    return fc.uniqueArray(fc.constantFrom(...names), { minLength: needed ? 0 : 1, maxLength: most }).chain(chosen =>
      fc.record(Object.fromEntries([...(needed ? always[of]! : []), ...chosen].map(each => [each, known[each]!])), {
        noNullPrototype: true,
      }),
    )
  }
  const made = Object.fromEntries(
    (Object.keys(attributes) as (keyof typeof attributes)[]).flatMap(of => [
      [`new ${of}`, few(of, true)],
      [`some ${of}`, few(of, false)],
      [of.slice(0, -1), fc.oneof({ depthSize: 'small', withCrossShrink: true }, few(of, true, 0), few(of, true, 1))],
    ]),
  )
  return {
    ...made,
    request: fc.constantFrom(...(Object.keys(attributes) as (keyof typeof attributes)[]), 'clubs', 'clubs', 'clubs', 'clubs').chain(of => {
      const known: Record<string, Arbitrary<unknown>> = attributes[of]
      const id = of === 'tags' ? word : small
      const part = fc.tuple(id, fc.constantFrom(...Object.keys(known)))
      return fc.oneof(
        { weight: 4, arbitrary: deep(`new ${of}`).map(body => ({ method: 'POST', path: `/v1/${of}`, body })) },
        {
          weight: 6,
          arbitrary: fc
            .tuple(id, fc.constantFrom('PUT', 'PATCH'), deep(`some ${of}`))
            .map(([key, method, body]) => ({ method, path: `/v1/${of}/${key}`, body })),
        },
        {
          weight: 4,
          arbitrary: part.chain(([key, at]) => known[at]!.map(body => ({ method: 'PUT', path: `/v1/${of}/${key}/${at}`, body }))),
        },
        {
          weight: 3,
          arbitrary: part.chain(([key, at]) =>
            fc
              .oneof({ weight: 4, arbitrary: deep(POSTED[at] ?? 'club') }, fc.constantFrom<unknown>(1, 2, 3, '1', '2', 'a', 'b'))
              .map(body => ({ method: 'POST', path: `/v1/${of}/${key}/${at}`, body })),
          ),
        },
        // Deleting others, with a subscriber, MikroORM writes records again that refer to them.
        {
          weight: 1,
          arbitrary: fc
            .tuple(small, fc.constantFrom('notes', 'teams', 'events'))
            .map(([key, at]) => ({ method: 'DELETE', path: `/v1/${at}/${key}` })),
        },
        {
          weight: 2,
          arbitrary: fc
            .tuple(small, fc.constantFrom(...DELETED), fc.constantFrom('', '', '', '?id=1,2', '?id=a,b'))
            .map(([key, at, query]) => ({ method: 'DELETE', path: `/v1/${at.replace('/', `/${key}/`)}${query}` })),
        },
      )
    }),
  }
})

/** A request that writes. */
export const clubRequests = bodies['request'] as Arbitrary<{ method: string; path: string; body?: unknown }>

/** Records to begin with. */
export const CLUBS = {
  tags: [...'abcd'].map(id => ({ id, name: id })),
  players: [1, 2, 3, 4].map(number => ({ id: String(number), name: `p${number}`, number, club: (number % 2) + 1 })),
  grounds: ['ga', 'gb'].map((text, index) => ({ id: index + 1, name: text })),
  clubs: [
    { id: 1, name: 'ca', tags: ['a', 'b'], sponsors: ['c', 'a', 'b'], friends: [2] },
    { id: 2, name: 'cb', parent: 1, ground: 1, sponsors: ['a'], friends: [1, 3] },
    { id: 3, name: 'cc', parent: 1, tags: ['b', 'c'], fans: ['1', '2'] },
  ],
  badges: [
    { id: 1, text: 'b', club: 1 },
    { id: 2, text: 'c' },
  ],
  teams: [1, 2, 3].map(number => ({ id: number, name: `t${number}`, club: 1 + (number % 2) })),
  notes: [1, 2, 3].map(number => ({ id: number, text: `n${number}`, club: 1 + (number % 2) })),
  events: [
    { id: 1, club: 1, place: 1 },
    { id: 2, club: 1 },
  ],
}

const id = fc.option(fc.integer({ min: 5, max: 9 }), { nil: undefined, freq: 2 })
const seeded = <T>(records: Arbitrary<T>): Arbitrary<T[]> => fc.array(records, { maxLength: 3 })

/** Records of a seed, which link each other in any order, and which the database may refuse. */
export const clubSeeds = fc.record(
  {
    notes: seeded(fc.record({ text: word, club: fc.integer({ min: 1, max: 6 }), about: fc.option(big) }, { noNullPrototype: true })),
    badges: seeded(fc.record({ text: word, club: fc.option(fc.integer({ min: 1, max: 9 })) }, { noNullPrototype: true })),
    teams: seeded(fc.record({ id, name, club: small }, { noNullPrototype: true })),
    grounds: seeded(
      fc.record(
        {
          id,
          name,
          events: fc.array(fc.record({ club: fc.option(small) }, { requiredKeys: [], noNullPrototype: true }), { maxLength: 3 }),
        },
        { requiredKeys: ['name'], noNullPrototype: true },
      ),
    ),
    players: seeded(fc.record({ name: word, number: small }, { noNullPrototype: true })),
    events: seeded(
      fc.record(
        {
          id,
          club: fc.option(small),
          place: fc.option(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.record({ name }, { noNullPrototype: true }))),
        },
        { noNullPrototype: true },
      ),
    ),
    tags: seeded(fc.record({ id: fc.string({ unit: fc.constantFrom(...'abcdefgh'), maxLength: 2 }), name }, { noNullPrototype: true })),
  },
  { requiredKeys: [], noNullPrototype: true },
)
