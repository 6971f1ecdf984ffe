/**
 * A new record that links itself by the ID that its body gives: whichever way it is written, it is taken where the database would take it,
 * by one insert, and read back as such.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { resource, RestEngine, type RestResponse } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { describeStores, suiteEngine, type createEngine } from '../helpers/stores.ts'
import { pathOf } from '../sqlite/introspect/world.ts'

const Node = defineEntity({
  name: 'Node',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    version: p.integer().version(),
    changes: p
      .integer()
      .default(0)
      .onUpdate(() => 1),
    parent: () => p.manyToOne(Node).nullable(),
    children: () => p.oneToMany(Node).mappedBy('parent'),
    twin: () => p.oneToOne(Node).owner().inversedBy('twinOf').nullable(),
    twinOf: () => p.oneToOne(Node).mappedBy('twin').nullable(),
    friends: () => p.manyToMany(Node).owner().inversedBy('fans'),
    fans: () => p.manyToMany(Node).mappedBy('friends'),
    box: () => p.manyToOne(Box).nullable(),
  },
})
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    createdBy: () => p.manyToOne(User),
    created: () => p.oneToMany(User).mappedBy('createdBy'),
    box: () => p.manyToOne(Box).nullable(),
  },
})
/** What others are nested in. */
const Box = defineEntity({
  name: 'Box',
  properties: {
    id: p.integer().primary(),
    nodes: () => p.oneToMany(Node).mappedBy('box'),
    users: () => p.oneToMany(User).mappedBy('box'),
    node: () => p.manyToOne(Node).nullable(),
    user: () => p.manyToOne(User).nullable(),
    nodesOfOthers: () => p.manyToMany(Node),
    usersOfOthers: () => p.manyToMany(User),
  },
})

type Body = Readonly<Record<string, unknown>>
type Options = Parameters<typeof createEngine>[0]

const NEW = { name: null, version: 1, changes: 0, parent: null, children: [], twin: null, twinOf: null, friends: [], fans: [] }
/** By a body: the record. */
const LINKS: readonly (readonly [path: 'nodes' | 'users', body: Body, shown: Body])[] = [
  ['nodes', { id: 5, parent: 5 }, { ...NEW, parent: 5, children: [5] }],
  ['nodes', { id: 5, children: [5] }, { ...NEW, parent: 5, children: [5] }],
  ['nodes', { id: 5, children: { connect: [5] } }, { ...NEW, parent: 5, children: [5] }],
  ['nodes', { id: 5, twin: 5 }, { ...NEW, twin: 5, twinOf: 5 }],
  ['nodes', { id: 5, twinOf: 5 }, { ...NEW, twin: 5, twinOf: 5 }],
  ['nodes', { id: 5, friends: [5] }, { ...NEW, friends: [5], fans: [5] }],
  ['nodes', { id: 5, fans: [5] }, { ...NEW, friends: [5], fans: [5] }],
  [
    'nodes',
    { fans: [5], friends: [5], twinOf: 5, twin: 5, children: [5], parent: 5, id: 5 },
    { ...NEW, parent: 5, children: [5], twin: 5, twinOf: 5, friends: [5], fans: [5] },
  ],
  ['users', { id: 5, createdBy: 5 }, { name: null, createdBy: 5, created: [5] }],
  ['users', { id: 5, created: [5] }, { name: null, createdBy: 5, created: [5] }],
]

/** A kind of model, with a body that links itself, and the record. */
interface Kind {
  readonly path: string
  readonly body: Body
  readonly shown: Body
}

const Person = defineEntity({
  name: 'Person',
  discriminatorColumn: 'kind',
  discriminatorMap: { person: 'Person', boss: 'Boss' } as never,
  properties: {
    id: p.integer().primary(),
    kind: p.enum(['person', 'boss']),
    name: p.string().nullable(),
    friend: () => p.manyToOne(Person).nullable(),
    lead: () => p.manyToOne(Boss).nullable(),
    fans: () => p.oneToMany(Person).mappedBy('friend'),
    pals: () => p.manyToMany(Person),
  },
})
const Boss = defineEntity({ name: 'Boss', extends: Person, properties: { staff: () => p.oneToMany(Person).mappedBy('lead') } })
const Vehicle = defineEntity({
  name: 'Vehicle',
  inheritance: 'tpt',
  properties: {
    id: p.integer().primary(),
    tows: () => p.manyToOne(Vehicle),
    truck: () => p.manyToOne(Truck).nullable(),
    towed: () => p.oneToMany(Vehicle).mappedBy('tows'),
  },
})
const Truck = defineEntity({ name: 'Truck', extends: Vehicle, properties: { mate: () => p.manyToOne(Truck) } })
const Pair = defineEntity({
  name: 'Pair',
  properties: {
    a: p.integer().primary(),
    b: p.string().primary(),
    peer: () => p.manyToOne(Pair),
    peers: () => p.oneToMany(Pair).mappedBy('peer'),
    mates: () => p.manyToMany(Pair),
  },
})
const Tenant = defineEntity({ name: 'Tenant', properties: { id: p.integer().primary() } })
const Item = defineEntity({
  name: 'Item',
  properties: {
    tenant: () => p.manyToOne(Tenant).primary(),
    no: p.integer().primary(),
    up: () => p.manyToOne(Item),
    pals: () => p.manyToMany(Item),
  },
})
const Doc = defineEntity({ name: 'Doc', properties: { id: p.uuid().primary(), parent: () => p.manyToOne(Doc) } })
const Entry = defineEntity({ name: 'Entry', properties: { id: p.bigint().primary(), first: () => p.manyToOne(Entry) } })
const Day = defineEntity({ name: 'Day', properties: { id: p.datetime().primary(), begin: () => p.manyToOne(Day) } })
const Held = defineEntity({ name: 'Held', properties: { id: p.integer().primary(), by: () => p.manyToOne(Held).mapToPk() } })
const Coded = defineEntity({
  name: 'Coded',
  properties: {
    id: p.integer().primary(),
    code: p.string().unique().default('first'),
    next: () => p.manyToOne(Coded).referencedColumnNames('code'),
  },
})
const Notes = defineEntity({
  name: 'Notes',
  embeddable: true,
  properties: { text: p.string().nullable(), about: () => p.manyToOne(Noted).nullable() },
})
const Noted = defineEntity({
  name: 'Noted',
  properties: {
    id: p.integer().primary(),
    notes: () => p.embedded(Notes),
    json: () => p.embedded(Notes).object().nullable(),
    list: () => p.embedded(Notes).array().nullable(),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), about: () => p.manyToOne([Post, Tenant] as never) as never },
})
const Via = defineEntity({
  name: 'Via',
  properties: {
    id: p.integer().primary(),
    ends: () =>
      p
        .manyToMany(Via)
        .pivotEntity(() => Ship)
        .owner(),
  },
})
const Ship = defineEntity({
  name: 'Ship',
  properties: { from: () => p.manyToOne(Via).primary(), to: () => p.manyToOne(Via).primary(), weight: p.integer().default(3) },
})
const Ranked = defineEntity({
  name: 'Ranked',
  properties: { id: p.integer().primary(), list: () => p.manyToMany(Ranked).owner().fixedOrder() },
})
const Fit = defineEntity({
  name: 'Fit',
  properties: {
    id: p.integer().primary(),
    isFit: p.boolean().default(false),
    up: () => p.manyToOne(Fit).nullable(),
    fit: () => p.oneToMany(Fit).mappedBy('up').where({ isFit: true }),
  },
})
class Made {
  id!: number
  readonly up!: Made | undefined
  readonly label: string

  constructor(up?: Made) {
    this.label = up === undefined ? 'of nobody' : 'of another'
  }
}
const MadeSchema = defineEntity({
  class: Made as never,
  className: 'Made',
  properties: { id: p.integer().primary(), label: p.string(), up: () => p.manyToOne(MadeSchema) },
} as never) as never
const Slug = defineEntity({
  name: 'Slug',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    up: () => p.manyToOne(Slug).nullable(),
    down: () => p.oneToMany(Slug).mappedBy('up'),
    near: () => p.manyToMany(Slug),
  },
})
const Need = defineEntity({
  name: 'Need',
  properties: { id: p.integer().primary(), slug: p.string().unique(), up: () => p.manyToOne(Need) },
})
const Known = defineEntity({
  name: 'Known',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => UUID),
    slug: p.string().unique(),
    up: () => p.manyToOne(Known),
  },
})

const UUID = '0b000000-0000-4000-8000-00000000000a'
const NOBODY = { id: 5, name: null, friend: null, lead: null, fans: [], pals: [] }

const KINDS: Readonly<Record<string, Kind>> = {
  'a key of several parts': {
    path: 'pairs',
    body: { a: 1, b: 'x y', peer: '1~x%20y', mates: ['1~x%20y'] },
    shown: { a: 1, b: 'x y', peer: '1~x%20y', peers: ['1~x%20y'], mates: ['1~x%20y'] },
  },
  'a key of several parts, named by a list': {
    path: 'pairs',
    body: { a: 1, b: 'x', peers: ['1~x'] },
    shown: { a: 1, b: 'x', peer: '1~x', peers: ['1~x'], mates: [] },
  },
  'a key that a new record is part of': {
    path: 'items',
    body: { tenant: { id: 1 }, no: 5, up: '1~5', pals: ['1~5'] },
    shown: { tenant: 1, no: 5, up: '1~5', pals: ['1~5'] },
  },
  'a UUID': { path: 'docs', body: { id: UUID, parent: UUID.toUpperCase() }, shown: { id: UUID, parent: UUID } },
  'a large number': {
    path: 'entries',
    body: { id: '9007199254740993', first: '9007199254740993' },
    shown: { id: '9007199254740993', first: '9007199254740993' },
  },
  'a time': {
    path: 'days',
    body: { id: '2025-01-01T00:00:00.000Z', begin: '2025-01-01T01:00:00.000+01:00' },
    shown: { id: '2025-01-01T00:00:00.000Z', begin: '2025-01-01T00:00:00.000Z' },
  },
  'a property that holds the key': { path: 'helds', body: { id: 5, by: 5 }, shown: { id: 5, by: 5 } },
  'a link by another attribute': {
    path: 'codeds',
    body: { id: 5, code: 'c', next: 5 },
    shown: { id: 5, code: 'c', next: 5 },
  },
  'a link by the default of another attribute': {
    path: 'codeds',
    body: { id: 5, next: 5 },
    shown: { id: 5, code: 'first', next: 5 },
  },
  'links in embedded objects': {
    path: 'noteds',
    body: { id: 5, notes: { text: 'n', about: 5 }, json: { about: 5 }, list: [{ about: 5 }] },
    shown: { id: 5, notes: { text: 'n', about: 5 }, json: { text: null, about: 5 }, list: [{ text: null, about: 5 }] },
  },
  'a link to one of several entities': {
    path: 'posts',
    body: { id: 5, about: { type: 'post', id: 5 } },
    shown: { id: 5, about: { type: 'post', id: 5 } },
  },
  'a link to a class above': {
    path: 'bosses',
    body: { id: 5, friend: 5, pals: [5] },
    shown: { ...NOBODY, kind: 'boss', friend: 5, fans: [5], pals: [5], staff: [] },
  },
  'a list of a class above, and a link to the own class': {
    path: 'people',
    body: { id: 5, kind: 'boss', fans: [5], lead: 5 },
    shown: { ...NOBODY, kind: 'boss', friend: 5, fans: [5], lead: 5, staff: [5] },
  },
  'a table for each class': {
    path: 'trucks',
    body: { id: 5, tows: 5, truck: 5, mate: 5 },
    shown: { id: 5, tows: 5, truck: 5, towed: [5], mate: 5 },
  },
  'a table for each class, and no class below': {
    path: 'vehicles',
    body: { id: 5, towed: [5] },
    shown: { id: 5, tows: 5, truck: null, towed: [5] },
  },
  'a table of links with more in it': { path: 'vias', body: { id: 5, ends: [5] }, shown: { id: 5, ends: [5] } },
  'a list with an order': { path: 'rankeds', body: { id: 5, list: [5] }, shown: { id: 5, list: [5] } },
  'a list with a condition': {
    path: 'fits',
    body: { id: 5, isFit: true, fit: [5] },
    shown: { id: 5, isFit: true, up: 5, fit: [5] },
  },
  'a constructor that takes the link': {
    path: 'mades',
    body: { id: 5, up: 5 },
    shown: { id: 5, label: 'of nobody', up: 5 },
  },
  'a key that clients know it by': {
    path: 'slugs',
    body: { up: 'a', near: ['a'], slug: 'a' },
    shown: { id: 1, slug: 'a', up: 'a', down: ['a'], near: ['a'] },
  },
  'a key that clients know it by, named by lists': {
    path: 'slugs',
    body: { down: ['a'], near: { connect: ['a'], create: true }, slug: 'a' },
    shown: { id: 1, slug: 'a', up: 'a', down: ['a'], near: ['a'] },
  },
  'a key that clients know it by, beside the one that they give': {
    path: 'needs',
    body: { id: 9, slug: 'a', up: 'a' },
    shown: { id: 9, slug: 'a', up: 'a' },
  },
  'a key that clients know it by, beside the one that the model makes': {
    path: 'knowns',
    body: { slug: 'a', up: 'a' },
    shown: { id: UUID, slug: 'a', up: 'a' },
  },
}

/** A new node, the ways in which it links itself, and those that are nested in it. */
interface Draft {
  readonly own: readonly string[]
  readonly nested: readonly Draft[]
}

const nodeArb: fc.Arbitrary<Body> = fc
  .letrec<{ node: Draft }>(tie => ({
    node: fc.record({
      own: fc.subarray(['parent', 'twin', 'twinOf', 'children', 'friends', 'fans']),
      nested: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('node'), { maxLength: 2 })),
    }),
  }))
  .node.map(draft => makeBody(draft, { id: 1 }))

/** Gives a node, and those nested in it, their numbers. */
function makeBody({ own, nested }: Draft, next: { id: number }): Body {
  const id = next.id++
  const links: Record<string, unknown> = { id }
  for (const each of own) links[each] = each === 'children' ? [id] : each === 'fans' ? { connect: [id] } : id
  if (own.includes('friends') || nested.length > 0)
    links['friends'] = [...(own.includes('friends') ? [id] : []), ...nested.map(each => makeBody(each, next))]
  return links
}

const listNested = ({ friends = [] }: Body): Body[] => (friends as unknown[]).filter(each => typeof each === 'object') as Body[]
const listAll = (body: Body): Body[] => [body, ...listNested(body).flatMap(listAll)]

/** The links of a node to itself, as a change. */
function findOwn({ id, friends = [], ...own }: Body): Body {
  return (friends as unknown[]).includes(id) ? { ...own, friends: { connect: [id] } } : own
}

function withoutOwn(body: Body): Body {
  return { id: body['id'], friends: listNested(body).map(withoutOwn) }
}

const ANN = { id: 1, name: 'Ann', createdBy: 1 }
const ANN_SHOWN = { ...ANN, created: [1], box: null }

/** Sends a request that must not fail. */
async function send(engine: RestEngine, method: string, path: string, body: unknown): Promise<void> {
  const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
  assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(body)}: ${answer.body.detail}`)
}

const withBox = async (engine: RestEngine): Promise<void> => send(engine, 'POST', 'boxes', { id: 1 })

/** The ways to write a record. */
const WAYS: Readonly<Record<string, (engine: RestEngine, path: 'nodes' | 'users', body: Body) => Promise<void>>> = {
  POST: (engine, path, body) => send(engine, 'POST', path, body),
  'POST of an array': (engine, path, body) => send(engine, 'POST', path, [body, path === 'users' ? { id: 6, createdBy: 6 } : { id: 6 }]),
  'POST of a list': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'POST', `boxes/1/${path}`, body)
  },
  'POST of a many-to-many list': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'POST', `boxes/1/${path}OfOthers`, body)
  },
  'POST with the record in a list': (engine, path, body) => send(engine, 'POST', 'boxes', { [path]: [body] }),
  'POST with the record in a many-to-many list': (engine, path, body) => send(engine, 'POST', 'boxes', { [`${path}OfOthers`]: [body] }),
  'POST with the record in a link': (engine, path, body) => send(engine, 'POST', 'boxes', { [path.slice(0, -1)]: body }),
  'PUT with the record in a list': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'PUT', 'boxes/1', { [path]: [body] })
  },
  'PATCH with the record in a link': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'PATCH', 'boxes/1', { [path.slice(0, -1)]: body })
  },
  'PUT of a list': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'PUT', `boxes/1/${path}`, [body])
  },
  'PUT of a link': async (engine, path, body) => {
    await withBox(engine)
    await send(engine, 'PUT', `boxes/1/${path.slice(0, -1)}`, body)
  },
  seed: (engine, path, body) => engine.seed({ [path]: [body] }),
  'a seed of several': (engine, path, body) =>
    engine.seed({ boxes: [{ id: 1, [path.slice(0, -1)]: 5 }], [path]: [path === 'users' ? { id: 6, createdBy: 6 } : { id: 6 }, body] }),
  'a seed with the record in a list': (engine, path, body) => engine.seed({ boxes: [{ [path]: [body] }] }),
  given: async (engine, path, body) => void (await engine.given(path, body)),
}

/** The record of an answer, or the status with the codes of the refusal and their places. */
function outcome({ status, body }: RestResponse): unknown {
  if (status === 200) return body[body.resource]
  return [status, body.code, ...(body.errors ?? []).map((each: { code: string; attribute: string }) => `${each.code} ${each.attribute}`)]
}

/** As `suiteEngine`, of a SQLite file. */
function fileEngine(options: Options): () => RestEngine {
  let engine: RestEngine | undefined
  before(async () => {
    engine = await RestEngine.create({ ...options, database: pathOf() })
  })
  beforeEach(() => engine!.reset())
  after(() => engine?.close())
  return () => engine!
}

/** Who writes: the statements of plans, and MikroORM's unit of work. */
const WRITERS = { statements: {} as never, 'the unit of work': { subscribers: [{ beforeCreate() {} }] } as never }

const MODEL = {
  entities: [Node, User, Box, Person, Boss, Vehicle, Truck, Pair, Tenant, Item, Doc, Entry, Day, Held, Coded, Noted, Post].concat([
    Via,
    Ship,
    Ranked,
    Fit,
    MadeSchema,
    Slug,
    Need,
    Known,
  ] as never[]),
  resources: [resource(Slug, { key: 'slug' }), resource(Need, { key: 'slug' }), resource(Known, { key: 'slug' })],
}

describeStores('a new record that links itself', ({ name }) => {
  for (const [writer, orm] of Object.entries(WRITERS)) {
    for (const place of name === 'memory' ? ['memory', 'file'] : [name]) {
      describe(`by ${writer}, ${place}`, () => {
        const engine = place === 'file' ? fileEngine({ ...MODEL, orm }) : suiteEngine({ ...MODEL, orm })
        const post = async (path: string, body: unknown): Promise<unknown> =>
          outcome(await engine().handle('POST', `/v1/${path}`, undefined, body))

        for (const [way, write] of Object.entries(WAYS)) {
          it(`is made by ${way}`, async () => {
            for (const [path, body, shown] of LINKS) {
              await engine().reset()
              await write(engine(), path, body)
              const { box: _, ...found } = (await engine().handle('GET', `/v1/${path}/5`)).body[path.slice(0, -1)]
              assert.deepEqual(found, { id: 5, ...shown }, JSON.stringify(body))
            }
          })
        }

        for (const [kind, { path, body, shown }] of Object.entries(KINDS)) {
          it(`has ${kind}`, async () => {
            await send(engine(), 'POST', path, body)
            const find = async (): Promise<unknown> => outcome(await engine().handle('GET', `/v1/${path}`))
            assert.deepEqual(await find(), [shown])
            await engine().reset()
            await engine().seed({ [path]: [body] })
            assert.deepEqual(await find(), [shown], 'seed')
          })
        }

        it('is looked for where the body gives no ID, or another one', async () => {
          const missing = (...errors: string[]): unknown => [422, 'validation_failed', ...errors.map(each => `reference_not_found ${each}`)]
          assert.deepEqual(await post('users', { id: 1, createdBy: 2 }), missing('createdBy'))
          assert.deepEqual(await post('users', { createdBy: 1 }), missing('createdBy'))
          assert.deepEqual(await post('nodes', { children: [1] }), missing('children.0'))
          assert.deepEqual(await post('nodes', { id: 1, friends: [1, 2] }), missing('friends.1'))
          assert.deepEqual(await post('nodes', { id: 1, friends: [{ id: 2, parent: 1 }] }), missing('friends.0.parent'))
          assert.deepEqual(await post('people', { id: 5, kind: 'person', lead: 5 }), missing('lead'))
          assert.deepEqual(await post('vehicles', { id: 5, tows: 5, truck: 5 }), missing('truck'))
          assert.deepEqual(await post('posts', { id: 5, about: { type: 'tenant', id: 5 } }), missing('about.id'))
          assert.deepEqual(await post('slugs', { slug: 'a', up: 'b' }), missing('up'))
          assert.deepEqual(await post('slugs', { slug: 'a', near: [{ slug: 'b', up: 'a' }] }), missing('near.0.up'))
          assert.deepEqual(await post('users', ANN), ANN_SHOWN)
          assert.deepEqual(await post('users', ANN), [409, 'unique_conflict', 'not_unique id'])
          assert.deepEqual(await post('users', { id: 1, created: [1] }), [409, 'unique_conflict', 'not_unique id'])
          assert.deepEqual(await post('users', { createdBy: 1 }), { id: 2, name: null, createdBy: 1, created: [], box: null })
          assert.equal((await engine().handle('GET', '/v1/users', 'createdBy.createdBy=1')).body.count, 2)
        })

        it('may nest others that link themselves by the key that clients know them by', async () => {
          await send(engine(), 'POST', 'slugs', { near: [{ slug: 'b', up: 'b', near: ['b'] }], slug: 'a', up: 'a' })
          const { slugs } = (await engine().handle('GET', '/v1/slugs', 'sort=slug')).body
          const links = (slugs as Body[]).map(({ slug, up, near }) => ({ slug, up, near }))
          assert.deepEqual(links, [
            { slug: 'a', up: 'a', near: ['b'] },
            { slug: 'b', up: 'b', near: ['b'] },
          ])
        })

        it('says its key, too, where the database would make one, and the link is required', async () => {
          const refusal = [422, 'validation_failed', 'required id']
          assert.deepEqual(await post('needs', { slug: 'a', up: 'a' }), refusal)
          const detail = '"id" must be given: the need needs its "up", which leads to itself, when it is inserted.'
          const { body } = await engine().handle('POST', '/v1/needs', undefined, { slug: 'a', up: 'a' })
          assert.equal(body.detail, detail)
          await assert.rejects(engine().seed({ needs: [{ slug: 'a', up: 'a' }] }), ({ message }: Error) => {
            assert.equal(message, `seed: ${detail.replace('"id"', '"needs.0.id"')}`)
            return true
          })
          await engine().seed({
            needs: [
              { id: 3, slug: 'a', up: 'a' },
              { slug: 'b', up: 'a' },
            ],
          })
          assert.equal((await engine().handle('GET', '/v1/needs', 'up=a')).body.count, 2)
        })

        it('does not meet the condition of a list, and is refused', async () => {
          assert.deepEqual(await post('fits', { id: 5, fit: [5] }), [422, 'validation_failed', 'conflict fit.0'])
        })

        it('contradicts itself where another place of the body says something else', async () => {
          await send(engine(), 'POST', 'nodes', { id: 1 })
          for (const body of [
            { id: 5, parent: 1, children: [5] },
            { id: 5, parent: null, children: [5] },
            { id: 5, parent: 5, children: [] },
            { id: 5, parent: 5, children: [1] },
            { id: 5, twin: 1, twinOf: 5 },
            { id: 5, twin: 5, twinOf: null },
            { id: 5, friends: [5], fans: [] },
          ]) {
            const [status, code, error] = (await post('nodes', body)) as string[]
            assert.deepEqual([status, code, error?.split(' ')[0]], [422, 'validation_failed', 'conflict'], JSON.stringify(body))
          }
          assert.equal((await engine().handle('GET', '/v1/nodes')).body.count, 1)
          const body = { id: 5, children: [1, 5, { id: 6 }], friends: [1, 5, { id: 7, fans: { connect: [7] } }] }
          await send(engine(), 'POST', 'nodes', body)
          const { children, friends, fans } = (await engine().handle('GET', '/v1/nodes/5')).body.node
          assert.deepEqual([children, friends, fans], [[1, 5, 6], [1, 5, 7], [5]])
        })
      })
    }
  }

  describe('by each', () => {
    const engines = Object.values(WRITERS).map(orm => suiteEngine({ entities: [Node, User, Box], orm }))

    it('is the same by statements, by the unit of work, and by changes that follow', async () => {
      const read = async (engine: RestEngine): Promise<Body[]> => (await engine.handle('GET', '/v1/nodes')).body.nodes
      const holds = async (body: Body): Promise<void> => {
        const all: Body[][] = []
        for (const engine of engines) {
          await engine().reset()
          await send(engine(), 'POST', 'nodes', body)
          all.push(await read(engine()))
        }
        const [byStatements, byWork] = all
        assert.deepEqual(byWork, byStatements)
        const engine = engines[0]!()
        await engine.reset()
        await send(engine, 'POST', 'nodes', withoutOwn(body))
        for (const each of listAll(body)) await send(engine, 'PATCH', `nodes/${each['id'] as number}`, findOwn(each))
        const leave = (records: readonly Body[]): Body[] => records.map(({ version: _version, changes: _changes, ...rest }) => rest)
        assert.deepEqual(leave(byStatements!), leave(await read(engine)))
      }
      await check(fc.asyncProperty(nodeArb, holds), { label: 'nodes that link themselves', runs: 100 })
    })

    it('is written by the statements of a plan', { skip: name !== 'memory' && 'a fork of a database that others use' }, async () => {
      for (const [path, body] of LINKS) {
        const { writes } = await engines[0]!().explain('POST', `/v1/${path}`, undefined, body)
        // Two places of a body are about one record.
        if (Object.keys(body).length < 4) assert.deepEqual(writes, ['by statements of a plan'], JSON.stringify(body))
      }
    })
  })
})
