/**
 * Explaining requests: what ran, what SQLite does for it, which index would help, what is kept secret, and that nothing is changed by
 * asking.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import { RestEngine, auth, createServer, fromJson, resource } from '../../../lib/index.ts'
import type { EngineOptions, Explanation, PlanStep, RequestLine } from '../../../lib/index.ts'
import { entities as libraryEntities } from '../../../fixtures/library/index.ts'
import { cheapHash } from '../../helpers/cheap-hash.ts'
import { Command, runAll } from '../../helpers/command.ts'
import { watchStatements } from '../../helpers/statements.ts'

const MANY = 20_000

const Home = defineEntity({ name: 'Home', embeddable: true, properties: { city: p.string(), zip: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    country: p.string(),
    email: p.string().unique(),
    password: p.string().hidden().nullable(),
    home: () => p.embedded(Home).nullable(),
    sites: () => p.oneToMany(Site).mappedBy('user'),
  },
})
const Site = defineEntity({
  name: 'Site',
  properties: { id: p.integer().primary(), url: p.string(), user: () => p.manyToOne(User), tags: () => p.manyToMany(Tag) },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const entities = [User, Site, Tag]

const users = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY}) select i,
  'n' || (i * 7919 % ${MANY}), 'c' || (i % 100), 'e' || i || '@a.test', 'x' || (i % 500), 'z' || i from n`
const sites = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY}) select i, 'u' || i, i from n`

async function fill(engine: RestEngine): Promise<void> {
  await sql(engine, `insert into user (id, name, country, email, home_city, home_zip) ${users}`)
  await sql(engine, `insert into site (id, url, user_id) ${sites}`)
}

async function sql(engine: RestEngine, text: string): Promise<void> {
  await engine.orm.em.fork().getConnection().execute(text)
}

async function make(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  const engine = await RestEngine.create({ entities, ...options })
  await fill(engine)
  return engine
}

/** The engine that copies are made of: to fill one takes several times as long. */
let filled: Promise<RestEngine> | undefined

async function copy(): Promise<RestEngine> {
  return (await (filled ??= make())).fork()
}

/** A file of somebody else's: no index but those of the keys. */
function fileIn(folder: string, name = 'own.sqlite'): string {
  const path = join(folder, name)
  const db = new Database(path)
  db.exec(`
    create table users (id integer primary key, name text not null, country text, email text unique, home_city text, home_zip text);
    create table sites (id integer primary key, url text not null, user_id integer not null references users (id));
    create table tags (id integer primary key, label text);
    create table sites_tags (site_id integer references sites (id), tag_id integer references tags (id), primary key (site_id, tag_id));
    insert into users ${users};
    insert into sites ${sites};
    insert into tags values (1, 'a');
    insert into sites_tags select id, 1 from sites;
  `)
  db.close()
  return path
}

/** A connection of its own, which is closed at the end of the block. */
function opened(path: string): Database.Database & Disposable {
  const db = new Database(path)
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() })
}

function details(steps: readonly PlanStep[]): string[] {
  return steps.flatMap(({ detail, children }) => [detail, ...details(children)])
}

function costly({ statements }: Explanation): string[] {
  const visit = (steps: readonly PlanStep[]): string[] =>
    steps.flatMap(({ detail, isCostly, children }) => [...(isCostly ? [detail] : []), ...visit(children)])
  return statements.flatMap(({ plan }) => visit(plan))
}

let folder: string
/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-explain-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
}

describe('engine.explain', () => {
  after(async () => {
    await (await filled)?.close()
    filled = undefined
  })
  begin()

  it('tells the statements of a request in order, with what was bound, and the answer', async () => {
    await using engine = await copy()
    const path = '/v1/sites?url=u7,u8&depth=0&expand=user&limit=2'
    const { result, sql: ran } = await watchStatements(() => engine.handle('GET', path))
    const explanation = await engine.explain('get', path)
    assert.deepEqual(
      explanation.statements.map(statement => statement.sql),
      ran,
    )
    assert.equal(explanation.statements.length, 3)
    const [rows] = explanation.statements
    assert.deepEqual(rows!.parameters, ['u7', 'u8', 2, 0])
    assert.equal(rows!.rows, 2)
    assert.deepEqual({ ...explanation.response.body, timestamp: 0 }, { ...result.body, timestamp: 0 })
    assert.deepEqual([explanation.method, explanation.path, explanation.status, explanation.cached], ['GET', path, 200, true])
    const sum = Object.values(explanation.timing).reduce((all, ms) => all + ms, 0)
    assert.ok(sum <= explanation.duration && sum > explanation.duration - 0.02, `${sum} of ${explanation.duration}`)
    const inSql = explanation.statements.reduce((all, { duration }) => all + duration, 0)
    assert.ok(inSql <= explanation.timing['sql']! + 0.01)
    assert.deepEqual(JSON.parse(JSON.stringify(explanation)), explanation, 'plain data')
  })

  it('shows the plans that SQLite itself shows', async () => {
    const path = fileIn(folder, 'plans.sqlite')
    await using engine = await RestEngine.create({ database: path })
    using db = opened(path)
    for (const target of [
      '/v1/users?sites.url=u1&sort=name',
      '/v1/sites?tags=1&user.country=c1&sort=tags.desc&limit=1',
      '/v1/users/5?depth=2',
    ]) {
      for (const { sql: text, parameters, plan } of (await engine.explain('GET', target)).statements) {
        const rows = db.prepare(`explain query plan ${text}`).all(...parameters) as { id: number; parent: number; detail: string }[]
        // A tree, walked as it is printed, gives the lines in the order of their numbers.
        assert.deepEqual(
          details(plan),
          rows.map(({ detail }) => detail),
          text,
        )
        assert.deepEqual(
          plan.map(({ detail }) => detail),
          rows.filter(({ parent }) => parent === 0).map(({ detail }) => detail),
        )
      }
    }
  })

  it('takes a query beside the path, and explains refusals', async () => {
    await using engine = await copy()
    const explanation = await engine.explain('GET', '/v1/users', { 'id>=': 5, limit: 1 })
    assert.equal(explanation.path, '/v1/users?id>=5&limit=1')
    assert.equal((await engine.explain('GET', '/v1/users?name=%41*&limit=1')).path, '/v1/users?name=%41*&limit=1')
    assert.equal((await engine.explain('GET', '/v1/users?name=%41*', 'limit=1')).path, '/v1/users?name=A*&limit=1')
    const refused = await engine.explain('GET', '/v1/users?nothing=1')
    assert.deepEqual([refused.status, refused.statements, refused.hints], [400, [], []])
    await assert.rejects(engine.explain(5 as never, '/v1/users'), TypeError)
    await engine.close()
    await assert.rejects(engine.explain('GET', '/v1/users'), /closed/)
  })

  it('meets no fault, and is in no journal, nor is what hooks ask meanwhile', async () => {
    await using engine = await make({
      resources: [
        resource(Tag, {
          list: async (ctx, next) => {
            await ctx.engine.handle('GET', '/v1/users/1')
            return next()
          },
        }),
      ],
    })
    using fault = engine.fail('*', { status: 503, times: 1 })
    const explanation = await engine.explain('GET', '/v1/tags')
    assert.equal(explanation.status, 200)
    assert.ok(
      explanation.statements.some(statement => statement.sql.includes('"user"')),
      'nested',
    )
    assert.equal(engine.requests.length, 0)
    assert.equal((await engine.handle('GET', '/v1/tags')).status, 503)
    void fault
  })

  describe('of a write', () => {
    it('tells all of it, to the commit, and changes nothing', async () => {
      await using engine = await copy()
      const body = { name: 'New', country: 'c', email: 'new@a.test', sites: [{ url: 'one' }, { url: 'two' }] }
      await using fork = await engine.fork()
      await fork.handle('POST', '/v1/tags', undefined, { name: 'first' })
      const { sql: ran } = await watchStatements(() => fork.handle('POST', '/v1/users', undefined, body))
      const before = await engine.handle('GET', '/v1/users?limit=0')
      const explanation = await engine.explain('POST', '/v1/users', undefined, body)
      assert.equal(explanation.status, 200)
      const texts = explanation.statements.map(statement => statement.sql)
      assert.deepEqual([texts[0], texts.at(-1)], ['begin immediate', 'commit'])
      // The engine asks SQLite for some things that belong to no request: they are no statements of it.
      let at = 0
      for (const text of texts) {
        at = ran.indexOf(text, at) + 1
        assert.ok(at > 0, text)
      }
      const written = (list: readonly string[]): string[] => list.filter(text => /^(?:insert|update|delete)/.test(text))
      assert.deepEqual(written(texts), written(ran))
      assert.deepEqual((await engine.handle('GET', '/v1/users?limit=0')).body.count, before.body.count)
      const created = await engine.handle('POST', '/v1/users', undefined, body)
      assert.equal(created.body.user.id, MANY + 1, 'no ID has been used up')
      assert.equal((await engine.explain('DELETE', '/v1/users/1')).status, 409)
      assert.equal((await engine.explain('DELETE', '/v1/sites/1')).status, 200)
      assert.equal((await engine.handle('GET', '/v1/sites/1')).status, 200)
    })

    it('leaves a file as it is', async () => {
      const path = fileIn(folder, 'untouched.sqlite')
      await using engine = await RestEngine.create({ database: path })
      const count = async (): Promise<unknown> => (await engine.handle('GET', '/v1/users?limit=0')).body.count
      const had = await count()
      const explanation = await engine.explain('PUT', '/v1/sites/1', undefined, { url: 'changed' })
      assert.equal(explanation.status, 200)
      assert.ok(explanation.statements.some(({ sql: text, rows }) => /^update [`"]sites[`"]/.test(text) && rows === 1))
      assert.equal((await engine.explain('POST', '/v1/users', undefined, { name: 'new' })).status, 200)
      using db = opened(path)
      assert.equal(db.prepare('select url from sites where id = 1').pluck().get(), 'u1')
      assert.equal(await count(), had)
    })
  })

  describe('hints', () => {
    const cases: [string, string, string[], string][] = [
      ['/v1/users?sort=name', 'sort', ['name'], 'create index "user_name_index" on "user" ("name")'],
      ['/v1/users?sort=name.desc', 'sort', ['name'], 'create index "user_name_index" on "user" ("name")'],
      ['/v1/users?sort=country,name', 'sort', ['country'], 'create index "user_country_index" on "user" ("country")'],
      ['/v1/users?country=c5&sort=name', 'scan', ['country'], 'create index "user_country_index" on "user" ("country")'],
      ['/v1/users?name=n5', 'scan', ['name'], 'create index "user_name_index" on "user" ("name")'],
      ['/v1/users?name=n12*', 'scan', ['name'], 'create index "user_name_index" on "user" ("name")'],
      ['/v1/users?name>n5&name<n6', 'scan', ['name'], 'create index "user_name_index" on "user" ("name")'],
      ['/v1/users?home.city=x5', 'scan', ['home.city'], 'create index "user_home_city_index" on "user" ("home_city")'],
      ['/v1/users?sites.url=u5', 'scan', ['url'], 'create index "site_url_index" on "site" ("url")'],
      ['/v1/sites?user.name=n5', 'scan', ['name'], 'create index "user_name_index" on "user" ("name")'],
    ]
    for (const [path, reason, attributes, text] of cases) {
      it(`name the index that ${path} lacks, and no longer once it is there`, async () => {
        await using engine = await copy()
        const explanation = await engine.explain('GET', `${path}${path.includes('?') ? '&' : '?'}depth=0`)
        assert.equal(explanation.status, 200)
        assert.deepEqual(
          explanation.hints.map(hint => [hint.reason, hint.attributes, hint.sql]),
          [[reason, attributes, text]],
        )
        assert.equal(explanation.hints[0]!.rows, MANY)
        assert.ok(costly(explanation).length > 0)
        await sql(engine, text)
        const after = await engine.explain('GET', `${path}&depth=0`)
        assert.deepEqual(after.hints, [])
        // A sort within what the index has brought together may be left.
        assert.deepEqual(
          costly(after).filter(detail => !detail.startsWith('USE TEMP')),
          [],
        )
        assert.deepEqual({ ...after.response.body, timestamp: 0 }, { ...explanation.response.body, timestamp: 0 })
      })
    }

    it('say it in the words of the model, for whom it concerns', async () => {
      await using engine = await copy()
      const [hint] = (await engine.explain('GET', '/v1/users?sort=name')).hints
      assert.deepEqual(
        { ...hint },
        {
          reason: 'sort',
          table: 'user',
          scanned: 'user',
          rows: MANY,
          resource: 'users',
          attributes: ['name'],
          sql: 'create index "user_name_index" on "user" ("name")',
          entity: 'User.name: .index()',
          detail: 'all 20,000 rows of "user" are sorted; an index on "name" of users would have them in order.',
        },
      )
      // What it says to write into the model is what it says to run.
      const Indexed = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string().index() } })
      await using other = await RestEngine.create({ entities: [Indexed] })
      const [row] = (await other.orm.em
        .fork()
        .getConnection()
        .execute("select lower(replace(sql, '`', '\"')) as text from sqlite_schema where name = 'user_name_index'")) as { text: string }[]
      assert.equal(row?.text, hint!.sql)
    })

    it('are absent where no index helps, where none is needed, and for small tables', async () => {
      await using engine = await copy()
      for (const path of [
        '/v1/users?name~=*5*',
        '/v1/users',
        '/v1/users?sort=id.desc',
        '/v1/users?email=e5@a.test',
        '/v1/users/5',
        '/v1/users?!name=n5',
      ]) {
        assert.deepEqual((await engine.explain('GET', `${path}${path.includes('?') ? '&' : '?'}depth=0`)).hints, [], path)
      }
      await using small = await RestEngine.create({
        entities,
        seed: { tags: Array.from({ length: 999 }, (_, id) => ({ id: id + 1, name: `t${id}` })) },
      })
      assert.deepEqual((await small.explain('GET', '/v1/tags?sort=name')).hints, [])
      await small.handle('POST', '/v1/tags', undefined, { name: 'one more' })
      assert.equal((await small.explain('GET', '/v1/tags?sort=name')).hints.length, 1)
    })

    it('find foreign keys of files that are served as they are', async () => {
      const path = fileIn(folder, 'foreign.sqlite')
      await using engine = await RestEngine.create({ database: path })
      for (const [target, expected] of [
        ['/v1/users/5', ['create index "sites_user_id_index" on "sites" ("user_id")']],
        ['/v1/tags/1/sites?depth=0&limit=1', ['create index "sites_tags_tag_id_index" on "sites_tags" ("tag_id")']],
        [
          '/v1/sites?user.name=n5&depth=0',
          ['create index "sites_user_id_index" on "sites" ("user_id")', 'create index "users_name_index" on "users" ("name")'],
        ],
      ] as const) {
        const { hints } = await engine.explain('GET', target)
        assert.deepEqual(hints.map(hint => hint.sql).toSorted(), expected, target)
        assert.ok(hints.every(({ entity }) => entity === undefined))
      }
      const [hint] = (await engine.explain('GET', '/v1/tags/1/sites?depth=0&limit=1')).hints
      assert.deepEqual([hint!.resource, hint!.attributes], [undefined, ['tag_id']])
    })

    it('come for JSON files', async () => {
      await using engine = await RestEngine.create(
        fromJson({ posts: Array.from({ length: 2000 }, (_, id) => ({ id: id + 1, title: `t${id}` })) }),
      )
      assert.deepEqual(
        (await engine.explain('GET', '/v1/posts?sort=title')).hints.map(({ resource: name, attributes }) => [name, attributes]),
        [['posts', ['title']]],
      )
    })

    it('come for files with statistics, which SQLite goes by', async () => {
      const path = fileIn(folder, 'analysed.sqlite')
      using db = opened(path)
      db.exec("update users set country = 'c' || (id % 2); create index both on users (country, name)")
      await using engine = await RestEngine.create({ database: path })
      const hinted = async (target: string): Promise<unknown> => (await engine.explain('GET', target)).hints.map(hint => hint.attributes)
      assert.deepEqual(await hinted('/v1/users?name=n5&depth=0'), [['name']])
      db.exec('analyze')
      await engine.close()
      await using knowing = await RestEngine.create({ database: path })
      // With few countries it skips through the index, as it now knows.
      const explanation = await knowing.explain('GET', '/v1/users?name=n5&depth=0')
      assert.match(JSON.stringify(explanation.statements), /ANY\(country\) AND name=\?/)
      assert.deepEqual(explanation.hints, [])
      assert.deepEqual(
        (await knowing.explain('GET', '/v1/users?sort=homeCity&depth=0')).hints.map(hint => hint.attributes),
        [['homeCity']],
      )
    })
  })

  it('keeps secrets: of columns, of bodies, of tokens, wherever they are bound', async () => {
    const secret = 'correct-horse-battery'
    const hash = cheapHash(secret)
    await using engine = await RestEngine.create({
      entities,
      auth: auth({ entity: User, public: ['GET /v1/*', 'POST /v1/*', 'PUT /v1/*'] }),
      seed: { users: [{ id: 1, name: 'Ann', country: 'c', email: 'ann@a.test', password: hash }] },
    })
    const token = engine.token(1)
    const requests: [string, string, unknown?][] = [
      ['POST', '/v1/login', { email: 'ann@a.test', password: secret }],
      ['POST', '/v1/users', { name: 'Bob', country: 'c', email: 'bob@a.test', password: secret }],
      ['PUT', '/v1/users/1', { password: secret }],
      ['PUT', '/v1/users/1/password', secret],
      ['GET', `/v1/users?name=${token}`],
    ]
    for (const [method, path, body] of requests) {
      const { response, ...rest } = await engine.explain(method, path, undefined, body, { headers: { authorization: `Bearer ${token}` } })
      assert.equal(response.status, 200, JSON.stringify(response.body))
      assert.ok(rest.statements.length > 0)
      const text = JSON.stringify(rest)
      for (const kept of [secret, hash, token, 'scrypt']) assert.equal(text.includes(kept), false, `${method} ${path}: ${text}`)
      if (method !== 'GET' && !path.endsWith('login')) assert.match(text, /\[secret\]/)
    }
    const update = (await engine.explain('PUT', '/v1/users/1', undefined, { password: secret, name: 'Eve' })).statements.find(statement =>
      statement.sql.startsWith('update'),
    )
    assert.deepEqual(new Set(update!.parameters), new Set([1, 'Eve', '[secret]']), 'nothing else is hidden')
  })
})

describe('parameters', () => {
  begin()

  it('are told by their columns, and masked where that is not possible and the statement speaks of a secret one', async () => {
    const Key = defineEntity({
      name: 'Key',
      properties: {
        id: p.integer().primary(),
        label: p.string(),
        pin: p.integer().hidden(),
        password: p.string(),
        notes: () => p.oneToMany(Note).mappedBy('key'),
      },
    })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), key: () => p.manyToOne(Key) } })
    await using engine = await RestEngine.create({
      entities: [Key, Note],
      seed: {
        keys: [1, 2].map(id => ({ id, label: `l${id}`, pin: 1234, password: 'visible' })),
        notes: [1, 2, 3].map(id => ({ id, key: (id % 2) + 1 })),
      },
      routes: [
        {
          method: 'POST',
          path: '/v1/native',
          handler: async ctx => {
            const connection = ctx.em.getConnection()
            await connection.execute('update "key" set "pin" = "pin" + ?, "label" = ? where "id" in (?, ?)', [4321, 'x', 1, 2])
            await connection.execute('insert into "key" ("id", "label", "pin", "password") values (?, ?, ?, ?), (?, ?, ?, ?)', [
              7,
              'a',
              99,
              'p',
              8,
              'b',
              98,
              'q',
            ])
            await connection.execute('insert into "key" ("id", "label", "pin", "password") select ?, ?, ?, ?', [9, 'a', 99, 'p'])
            return { body: { done: true } }
          },
        },
      ],
    })
    const of = ({ statements }: Explanation, text: string): unknown[] =>
      statements.filter(statement => statement.sql.includes(text)).map(({ parameters }) => parameters)
    // A column that is called like a secret is one, also where the model shows it; the rest of the statement is not.
    assert.deepEqual(of(await engine.explain('GET', '/v1/keys?password=guess&label=l1&limit=5'), 'limit +?'), [['[secret]', 'l1', 5, 0]])
    assert.deepEqual(of(await engine.explain('GET', '/v1/keys'), 'json_each'), [['[1,2]']])
    const native = await engine.explain('POST', '/v1/native')
    assert.equal(native.status, 200, JSON.stringify(native.response.body))
    assert.deepEqual(of(native, 'update'), [['[secret]', 'x', 1, 2]])
    assert.deepEqual(of(native, 'insert'), [
      [7, 'a', '[secret]', '[secret]', 8, 'b', '[secret]', '[secret]'],
      ['[secret]', '[secret]', '[secret]', '[secret]'],
    ])
  })
})

describe('indexes of schemas that the engine creates', () => {
  begin()

  const library = { entities: libraryEntities }
  const posts = [{ id: 1, userId: 1, tagIds: [1], parentId: null }]
  const json = fromJson({ users: [{ id: 1 }], tags: [{ id: 1 }], posts, comments: [{ id: 'a', post_id: 1 }] })
  for (const [name, options] of [
    ['of entities', { entities }],
    ['of composite keys, self references and pivot tables', library],
    ['of JSON', json],
  ] as const) {
    it(`serve each foreign key: ${name}`, async () => {
      await using engine = await RestEngine.create(options)
      assert.deepEqual(await internalsOf(engine).unindexedLinks(-1), [])
    })
  }

  it('are asked of links inside embedded objects, too, that have a column but no constraint', async () => {
    const id = p.integer().primary()
    const Country = defineEntity({ name: 'Country', properties: { id } })
    const country = () => p.manyToOne(Country).createForeignKeyConstraint(false)
    const Place = defineEntity({ name: 'Place', embeddable: true, properties: { country } })
    const properties = { id, at: () => p.embedded(Place), doc: () => p.embedded(Place).object() }
    await using engine = await RestEngine.create({ entities: [Country, defineEntity({ name: 'House', properties })] })
    assert.deepEqual(await internalsOf(engine).unindexedLinks(-1), [])
    await engine.orm.em.fork().getConnection().execute('drop index house_at_country_id_index')
    assert.deepEqual(
      (await internalsOf(engine).unindexedLinks(-1)).map(({ table, columns }) => [table, columns]),
      [['house', ['at_country_id']]],
    )
  })

  it('are told apart from files that lack them, which stay as they are', async () => {
    const path = fileIn(folder, 'lacking.sqlite')
    using db = opened(path)
    const schema = db.prepare('select group_concat(sql) from sqlite_schema').pluck().get()
    await using engine = await RestEngine.create({ database: path })
    assert.deepEqual(
      (await internalsOf(engine).unindexedLinks(10_000)).map(({ table, columns }) => [table, columns]),
      [
        ['sites', ['user_id']],
        ['sites_tags', ['tag_id']],
      ],
    )
    assert.deepEqual(await internalsOf(engine).unindexedLinks(MANY), [])
    assert.equal(db.prepare('select group_concat(sql) from sqlite_schema').pluck().get(), schema)
    // A partial index serves some rows only; one that begins with another column serves none.
    db.exec('create index partial on sites (user_id) where user_id > 5; create index wrong on sites (url, user_id)')
    assert.equal((await internalsOf(engine).unindexedLinks(10_000)).length, 2)
    db.exec('create index right on sites (user_id, url)')
    assert.deepEqual(
      (await internalsOf(engine).unindexedLinks(10_000)).map(({ table }) => table),
      ['sites_tags'],
    )
  })
})

describe('createServer with explain', () => {
  begin()

  it('tells onRequest what ran, of each world', async () => {
    await using engine = await make()
    const lines: RequestLine[] = []
    const server = createServer(engine, { explain: true, testControls: true, onRequest: line => lines.push(line) }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const post = { method: 'POST', headers: { 'content-type': 'application/json', 'x-world': 'w' }, body: '{"name":"x"}' }
    for (const [path, init] of [
      ['/v1/users?sort=name&limit=1', {}],
      ['/v1/tags', post],
      ['/v1/nothing', {}],
      ['/_test', {}],
    ] as const) {
      await (await fetch(origin + path, init)).text()
    }
    await new Promise(resolve => server.close(resolve))
    const [list, created, unknown, control] = lines
    assert.equal(list!.explanation!.hints.length, 1)
    assert.equal(created!.status, 200)
    assert.ok(created!.explanation!.statements.some(statement => statement.sql.startsWith('insert into "tag"')))
    assert.deepEqual([unknown!.status, unknown!.explanation!.statements], [404, []])
    assert.equal(control!.explanation, undefined)
    assert.equal(engine.requests.length, 2, 'in the journal as always')
    assert.throws(() => createServer(engine, { explain: 'yes' as never }), {
      name: 'TypeError',
      message: /"explain" must be true or false/,
    })
  })
})

describe('mikro-rest --explain', () => {
  begin()

  it('prints below the line of each request what it ran, and what would help', async () => {
    const path = fileIn(folder, 'command.sqlite')
    await using command = new Command(folder, path, '--port', '0', '--explain')
    const origin = await command.origin()
    await (await fetch(`${origin}/v1/users?sort=name&limit=1&depth=0`)).text()
    await command.until('the hint', () => command.stdout.includes('create index "users_name_index"'))
    const printed = command.stdout.slice(command.stdout.indexOf('GET /v1/users'))
    assert.match(printed, /^GET \/v1\/users\?sort=name&limit=1&depth=0 200 [\d.]+ ms\n {2}parse /)
    assert.match(printed, /\n +order by t0\."name", t0\."id"\n +limit \+\? offset \?\n +\[1,0\]\n +! SCAN t0 {2}\(users: 20,000 rows\)\n/)
    assert.match(printed, / {2}hint: all 20,000 rows of "users" are sorted; an index on "name" of users would have them in order\.\n/)
    assert.equal(await command.stop(), 0)
  })

  it('says at the start which foreign keys of large tables have no index, unless it is to be quiet', async () => {
    const path = fileIn(folder, 'start.sqlite')
    await using command = new Command(folder, path, '--port', '0')
    await command.origin()
    await command.until('the lines', () => command.stdout.includes('sites_tags_tag_id_index'))
    assert.match(
      command.stdout,
      /Slow: foreign keys without an index\. [^\n]+\n {2}sites\.user_id \(more than 10,000 rows\): create index "sites_user_id_index" on "sites" \("user_id"\)\n/,
    )
    // Counting the sites of each user would go through all sites for each.
    assert.doesNotMatch(command.stdout, /sort=sites\.desc/)
    await command.stop()
    for (const others of [[path, '--quiet'], []]) {
      await using other = new Command(folder, ...others, '--port', '0')
      await other.origin()
      await other.stop()
      assert.doesNotMatch(other.stdout, /without an index/)
    }
  })

  it('explains the one request of --get, says of a JSON file what can be done there, and goes with no --quiet or --eject', async () => {
    const path = fileIn(folder, 'get.sqlite')
    const posts = Array.from({ length: 2000 }, (_, id) => ({ id: id + 1, title: `t${id}` }))
    await writeFile(join(folder, 'posts.json'), JSON.stringify({ posts }))
    const [explained, ofJson, quiet, ejected] = runAll(folder, [
      [path, '--get', '/v1/users?sort=name&limit=1', '--explain'],
      [join(folder, 'posts.json'), '--get', '/v1/posts?sort=title&limit=1', '--explain'],
      ['--explain', '--quiet'],
      ['--explain', '--eject', 'out'],
    ])
    assert.equal(explained!.code, 0)
    // Standard output is left to the answer.
    assert.equal(JSON.parse(explained!.stdout).count, MANY)
    assert.match(explained!.stderr, /^GET \/v1\/users\?sort=name&limit=1 200 /)
    assert.match(explained!.stderr, /hint: /)
    assert.match(
      ofJson!.stderr,
      /an index on "title" of posts would have them in order\.\n +A JSON file has no indexes: --eject DIR writes a model/,
    )
    assert.doesNotMatch(ofJson!.stderr, /create index|in the model,/)
    assert.deepEqual([quiet!.code, ejected!.code], [2, 2])
    assert.match(quiet!.stderr, /--explain .* --quiet/)
    assert.match(ejected!.stderr, /--eject .* --explain/)
  })
})
