/**
 * Bench of customisation: the same requests with rules, and without; those that read are compared first. Both take turns in one process.
 * Takes a few seconds.
 *
 *     npm run bench:customise
 *     npm run bench:customise -- --rounds 21 token    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:customise -- --docs               writes the table into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, resource, RestEngine } from '../lib/index.ts'
import type { EngineOptions, HookContext, Wire } from '../lib/index.ts'
import { jsonServer } from '../lib/wires/json-server/index.ts'
import { postgrest } from '../lib/wires/postgrest/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { wordsOf } from './words.ts'

const RECORDS = 1000

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), password: p.string().hidden() },
})
const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    body: p.string(),
    status: p.string().index(),
    views: p.integer(),
    created_at: p.datetime(),
    author: () => p.manyToOne(User),
  },
})
const Channel = defineEntity({
  name: 'Channel',
  properties: { id: p.integer().primary(), name: p.string(), articles: () => p.manyToMany(Article) },
})

const password = await hashPassword('bench')
const options: EngineOptions = {
  entities: [User, Article, Channel],
  seed: {
    users: Array.from({ length: 10 }, (_, index) => ({
      id: index + 1,
      name: `User ${index}`,
      email: `user-${index}@example.test`,
      password,
    })),
    articles: Array.from({ length: RECORDS }, (_, index) => ({
      title: `Article ${index}`,
      body: 'Lorem ipsum dolor sit amet. '.repeat(4),
      status: 'published',
      views: index,
      created_at: '2026-01-01T00:00:00.000Z',
      author: (index % 10) + 1,
    })),
    channels: [{ id: 1, name: 'Channel' }],
  },
}

await using plain = await RestEngine.create(options)
await using ruled = await RestEngine.create({
  ...options,
  resources: [
    resource(Article, {
      scope: () => ({ status: 'published' }),
      attributes: { title: { render: title => title } },
    }),
  ],
})
await using guarded = await RestEngine.create({ ...options, auth: auth({ entity: User }) })
const yes = (): boolean => true
const access = { get: yes, list: yes, create: yes, update: yes, delete: yes }
await using accessed = await RestEngine.create({
  ...options,
  resources: [resource(Article, { access }), resource(Channel, { access })],
})
await using scoped = await RestEngine.create({ ...options, resources: [resource(Article, { scope: () => ({ status: 'published' }) })] })
await using shaped = await RestEngine.create({
  ...options,
  envelope: { list: { '{plural}': 'records', '{plural}Count': 'count' }, record: { '{singular}': 'record' } },
})
await using owned = await RestEngine.create({
  ...options,
  auth: auth({ entity: User }),
  resources: [resource(Article, { scope: ctx => ({ author: Number(ctx.user!['id']) }) })],
})

const expression = (first: unknown) => ({
  isOwn: { type: 'boolean' as const, sql: (row: string) => ({ sql: `${row}.author_id = ?`, params: [first as number] }) },
})
await using same = await RestEngine.create({ ...options, resources: [resource(Article, { computed: expression(1) })] })
await using callers = await RestEngine.create({
  ...options,
  resources: [resource(Article, { computed: expression((ctx: HookContext) => Number(ctx.headers['x-user'] ?? 1)) })],
})
await using written = await RestEngine.create({
  ...options,
  resources: [resource(Article, { write: () => ({ status: 'published' }) }), resource(Channel, { write: () => true })],
})
await using filled = await RestEngine.create({
  ...options,
  resources: [resource(Article, { attributes: { author: { fill: () => 1 } } })],
})

type Requests = (engine: RestEngine, call: number, headers: Record<string, string>) => Promise<void>

interface Asked {
  readonly engine: RestEngine
  /** In place of those of the trial. */
  readonly requests?: Requests
  readonly headers?: Record<string, string>
}

interface Trial {
  readonly name: string
  /** The requests of one call; the path of a GET. */
  readonly path: string | Requests
  readonly base: Asked
  readonly own: Asked
  /** Calls that are timed together. */
  readonly batch: number
  readonly aim?: number
  /** Microseconds that it may take more. */
  readonly excess?: number
  /** The rule of a write, whose ratios are one row of the docs. */
  readonly rule?: string
  /** Whether another list or record shows as much, so that the terminal alone shows the trial. */
  readonly printedOnly?: boolean
}

const token = { authorization: `Bearer ${owned.token(1, { ttl: 1e6 })}` }

async function write(engine: RestEngine, method: string, path: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const answer = await engine.handle(method, path, undefined, body, { headers })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

const NEW = { title: 'New', body: 'Lorem', status: 'published', views: 1, created_at: '2026-01-01T00:00:00.000Z', author: 1 }

/** Writes, of articles that the first user has written. */
const WRITES: readonly { readonly name: string; readonly run: Requests }[] = [
  {
    name: 'update',
    run: async (engine, call, headers) => {
      await write(engine, 'PATCH', `/v1/articles/${1 + 10 * (call % 90)}`, { views: Math.floor(Math.random() * 1e9) }, headers)
    },
  },
  {
    name: 'create and delete',
    run: async (engine, _, headers) => {
      const { article } = (await write(engine, 'POST', '/v1/articles', NEW, headers)) as { article: { id: number } }
      await write(engine, 'DELETE', `/v1/articles/${article.id}`, undefined, headers)
    },
  },
  {
    name: 'replaced list of 3',
    run: async (engine, call, headers) => {
      await write(engine, 'PUT', '/v1/channels/1/articles', call % 2 === 0 ? [1, 11, 21] : [11, 21, 31], headers)
    },
  },
]

const { author: _, ...WITHOUT_AUTHOR } = NEW
/** Creates an article whose author the engine gives. */
const createFilled: Requests = async (engine, _call, headers) => {
  const { article } = (await write(engine, 'POST', '/v1/articles', WITHOUT_AUTHOR, headers)) as { article: { id: number } }
  await write(engine, 'DELETE', `/v1/articles/${article.id}`, undefined, headers)
}

const refused: Requests = async (engine, call) => {
  const { status } = await engine.handle('PATCH', `/v1/articles/${1 + 10 * (call % 90)}`, undefined, { views: 'many' })
  assert.equal(status, 422)
}

/** Reads the records of an answer, whatever stands around them. */
const reads = (path: string): Requests => {
  return async engine => {
    const { status, body } = await engine.handle('GET', path)
    assert.ok(status === 200 && ('article' in body || body.articles.length === 100))
  }
}

/** Asks for what a page of the application's own backend would have. */
const foreign: Wire = {
  async answer({ segments: [name, id], pairs }, api) {
    if (id !== undefined) return { status: 200, body: await api.get(name!, id) }
    const { records, count } = await api.list(name!, { limit: Number(pairs[0]![1]) })
    return { status: 200, body: { count, results: records } }
  },
  refuse: ({ status, detail }) => ({ status, body: { detail } }),
}
await using wired = await RestEngine.create({ ...options, wire: foreign })
await using asJsonServer = await RestEngine.create({ ...options, wire: jsonServer() })
await using asPostgrest = await RestEngine.create({ ...options, wire: postgrest() })

const fetches = (path: string): Requests => {
  return async engine => {
    const response = await engine.fetch(`http://bench.test${path}`)
    assert.equal(response.status, 200)
    await response.text()
  }
}

/** Both show the ID of the author: an article has no lists. */
const WIRES: readonly (Pick<Trial, 'name' | 'batch' | 'aim' | 'excess' | 'printedOnly' | 'own'> & {
  readonly plain: string
  readonly asked: string
})[] = [
  {
    name: 'list of 100, a wire',
    plain: '/v1/articles?limit=100',
    own: { engine: wired },
    asked: '/articles?size=100',
    batch: 100,
    aim: 1.3,
  },
  { name: 'one record, a wire', plain: '/v1/articles/5', own: { engine: wired }, asked: '/articles/5', batch: 400, aim: 1.2 },
  {
    name: 'list of 100, the wire of json-server',
    plain: '/v1/articles?limit=100',
    own: { engine: asJsonServer },
    asked: '/articles?_limit=100',
    batch: 100,
    aim: 1.3,
    printedOnly: true,
  },
  {
    name: 'list of 100, the wire of PostgREST',
    plain: '/v1/articles?limit=100',
    own: { engine: asPostgrest },
    asked: '/article?limit=100',
    batch: 100,
    aim: 1.3,
    printedOnly: true,
  },
]

const RULES = [
  { name: 'access functions', own: { engine: accessed }, aim: 1.3 },
  { name: 'a scope', own: { engine: scoped }, aim: 1.6 },
  { name: 'a rule for writing', own: { engine: written }, aim: 2 },
  { name: "a token and an owner's scope", own: { engine: owned, headers: token }, aim: 2 },
]

const Writer = defineEntity({ name: 'Writer', properties: { id: p.integer().primary(), name: p.string().unique() } })
const Topic = defineEntity({ name: 'Topic', properties: { id: p.integer().primary(), name: p.string().unique() } })
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    title: p.string(),
    body: p.string(),
    views: p.integer(),
    writer: () => p.manyToOne(Writer).index(),
    topics: () => p.manyToMany(Topic),
  },
})
const posts: EngineOptions = {
  entities: [Writer, Topic, Post],
  seed: {
    writers: Array.from({ length: 10 }, (_, index) => ({ id: index + 1, name: `writer-${index + 1}` })),
    topics: Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `topic-${index + 1}` })),
  },
}
await using byId = await RestEngine.create(posts)
await using byKey = await RestEngine.create({
  ...posts,
  resources: [resource(Writer, { key: 'name' }), resource(Topic, { key: 'name' }), resource(Post, { key: 'slug' })],
})
/** What stands for an ID: the ID, or the key. */
type IdOf = (kind: 'post' | 'writer' | 'topic', id: number) => string | number
const KEYED: readonly { readonly engine: RestEngine; readonly idOf: IdOf }[] = [
  { engine: byId, idOf: (_, id) => id },
  { engine: byKey, idOf: (kind, id) => `${kind}-${id}` },
]
for (const { engine, idOf } of KEYED) {
  await engine.seed({
    posts: Array.from({ length: RECORDS }, (_, index) => ({
      id: index + 1,
      slug: `post-${index + 1}`,
      title: `Post ${index}`,
      body: 'Lorem ipsum dolor sit amet. '.repeat(4),
      views: index,
      writer: idOf('writer', (index % 10) + 1),
      topics: [1, 7, 13].map(step => idOf('topic', ((index + step) % 50) + 1)),
    })),
  })
}

async function read(engine: RestEngine, path: string): Promise<void> {
  const { status } = await engine.handle('GET', path)
  assert.equal(status, 200)
}

/**
 * A request by ID and by key. What relations show by key is a text of another table, which code by hand would join, too: that alone is a
 * third more for a list.
 */
interface ByKey extends Pick<Trial, 'name' | 'batch' | 'aim' | 'excess' | 'printedOnly'> {
  readonly run: (engine: RestEngine, idOf: IdOf, call: number) => Promise<void>
}

const BY_KEY: readonly ByKey[] = [
  { name: 'one record', batch: 200, excess: 5, run: (engine, idOf, call) => read(engine, `/v1/posts/${idOf('post', 1 + (call % 900))}`) },
  { name: 'list of 100', batch: 10, aim: 1.4, run: engine => read(engine, '/v1/posts?limit=100') },
  {
    name: 'list of a writer',
    printedOnly: true,
    batch: 10,
    aim: 1.4,
    run: (engine, idOf, call) => read(engine, `/v1/posts?writer=${idOf('writer', 1 + (call % 10))}`),
  },
  {
    name: 'update',
    batch: 100,
    excess: 10,
    run: async (engine, idOf, call) => {
      await write(engine, 'PATCH', `/v1/posts/${idOf('post', 1 + (call % 900))}`, { views: Math.floor(Math.random() * 1e9) }, {})
    },
  },
  {
    name: 'create and delete',
    batch: 100,
    aim: 1.25,
    run: async (engine, idOf) => {
      const links = { writer: idOf('writer', 3), topics: [idOf('topic', 2), idOf('topic', 4)] }
      const body = { slug: 'post-5000', title: 'New', body: 'Lorem', views: 1, ...links }
      const { post } = (await write(engine, 'POST', '/v1/posts', body, {})) as { post: { id: number; slug: string } }
      await write(engine, 'DELETE', `/v1/posts/${engine === byKey ? post.slug : post.id}`, undefined, {})
    },
  },
  {
    // Two look-ups more, of the record and of its members, which code by hand would make, too.
    name: 'replaced list of 3',
    batch: 100,
    excess: 15,
    run: async (engine, idOf, call) => {
      const topics = (call % 2 === 0 ? [1, 11, 21] : [11, 21, 31]).map(id => idOf('topic', id))
      await write(engine, 'PUT', `/v1/posts/${idOf('post', 1)}/topics`, topics, {})
    },
  },
]

const TRIALS: readonly Trial[] = [
  {
    name: 'list of 100, a scope, a rendered value',
    path: '/v1/articles?limit=100&sort=views.desc',
    base: { engine: plain },
    own: { engine: ruled },
    batch: 10,
    aim: 1.3,
  },
  {
    name: 'one record, with a known token',
    path: '/v1/articles/5',
    base: { engine: plain },
    own: { engine: guarded, headers: { authorization: `Bearer ${guarded.token(1, { ttl: 1e6 })}` } },
    batch: 200,
    excess: 10,
  },
  {
    name: 'list of 100, an envelope of the application',
    path: reads('/v1/articles?limit=100&sort=views.desc'),
    base: { engine: plain },
    own: { engine: shaped },
    batch: 10,
    aim: 1.15,
  },
  {
    name: 'one record, an envelope of the application',
    path: reads('/v1/articles/5'),
    base: { engine: plain },
    own: { engine: shaped },
    batch: 200,
    printedOnly: true,
    aim: 1.15,
  },
  {
    name: "list of 100, a caller's attribute",
    path: '/v1/articles?limit=100&sort=views.desc',
    base: { engine: same },
    own: { engine: callers },
    batch: 10,
    aim: 1.15,
  },
  {
    name: "one record, a caller's attribute",
    path: '/v1/articles/5',
    base: { engine: same },
    own: { engine: callers },
    batch: 200,
    printedOnly: true,
    aim: 1.15,
  },
  {
    name: 'create and delete, a value that the engine fills in',
    path: WRITES[1]!.run,
    base: { engine: plain },
    own: { engine: filled, requests: createFilled },
    batch: 100,
    aim: 1.15,
  },
  {
    name: 'update, refused for a value of a wrong type',
    path: WRITES[0]!.run,
    base: { engine: plain },
    own: { engine: plain, requests: refused },
    batch: 100,
    aim: 2,
  },
  ...WIRES.map(({ plain: path, asked, own, ...measure }): Trial => {
    const base = { engine: plain, requests: fetches(path) }
    return { ...measure, path: base.requests, base, own: { ...own, requests: fetches(asked) } }
  }),
  ...RULES.flatMap(({ name, own, aim }) =>
    WRITES.map((deed): Trial => ({
      name: `${deed.name}, ${name}`,
      path: deed.run,
      base: { engine: plain },
      own,
      batch: 100,
      aim,
      rule: name,
    })),
  ),
  ...BY_KEY.map(({ name, run, ...measure }): Trial => {
    const [base, own] = KEYED.map(({ engine, idOf }): Asked => ({ engine, requests: (asked, call) => run(asked, idOf, call) })) as [
      Asked,
      Asked,
    ]
    return { name: `${name}, a key`, path: base.requests!, base, own, ...measure }
  }),
]

const { rounds, docs, isWanted } = wordsOf({ rounds: 61, names: TRIALS.map(({ name }) => name) })
const report = new Report('bench:customise', docs)
report.say(`Medians of ${rounds} rounds.`)
const ratios = new Map(RULES.map(({ name }) => [name, [name]]))
report.versus({ what: 'microseconds per call', base: 'without', own: 'with it' })
for (const { path, batch, rule, printedOnly = rule !== undefined, ...trial } of TRIALS.filter(({ name }) => isWanted(name))) {
  const ask = ({ engine, headers = {}, requests }: Asked, call: number): unknown => {
    if (requests !== undefined) return requests(engine, call, headers)
    return typeof path === 'string' ? engine.handle('GET', path, undefined, undefined, { headers }) : path(engine, call, headers)
  }
  if (typeof path === 'string') {
    const bodies = [await ask(trial.base, 0), await ask(trial.own, 0)].map(answer => {
      const { status, body } = answer as { status: number; body: object }
      assert.equal(status, 200, JSON.stringify(body))
      return { ...body, timestamp: undefined }
    })
    assert.deepEqual(bodies[1], bodies[0])
  }
  const time = (asked: Asked, calls: number) => () => microseconds(calls, async call => ask(asked, call))
  for (const asked of [trial.base, trial.own]) await time(asked, batch * 5)()
  const { base, own } = await samplesOf({ base: time(trial.base, batch), own: time(trial.own, batch) }, { rounds })
  const ratio = report.compare({ ...trial, base, own, paired: true, printedOnly })
  if (rule !== undefined) ratios.get(rule)!.push(`${ratio.toFixed(2)}${ratio > trial.aim! ? ', over' : ''}`)
}
// Words may have selected some of the writes.
const complete = [...ratios.values()].filter(cells => cells.length > WRITES.length)
if (complete.length > 0) report.table('ratio to a write without rules', ...WRITES.map(({ name }) => name))
for (const cells of complete) report.row(...cells)
await report.end()
