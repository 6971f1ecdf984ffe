/** `--eject`: what is written serves the same, has one property a line, and passes strict types. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { eject as ejectProject } from '../../lib/doors/cli/eject.ts'
import { RestEngine } from '../../lib/index.ts'
import { FileType } from '../../lib/databases/sqlite/introspect/file-type.ts'
import { Command, ROOT, runAll, send, ServedLines, type Ended } from '../helpers/command.ts'
import { declaredTypes, TSC } from '../helpers/declared-types.ts'

const ORM = import.meta.resolve('@mikro-orm/core')

/** Every kind of property and relation that code can be made of. */
const FEATURES = `
import { defineEntity, p } from '${ORM}'
const Address = defineEntity({ name: 'Address', embeddable: true, properties: { street: p.string().length(80), zip: p.string().length(10).nullable(), genre: () => p.manyToOne(Genre).nullable() } })
const Size = defineEntity({ name: 'Size', embeddable: true, properties: { width: p.float(), unit: p.enum(['mm', 'in']).default('mm'), of: () => p.manyToOne(Genre).nullable() } })
const Author = defineEntity({
  name: 'Author',
  tableName: 'writers',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(60).fieldName('full_name'),
    email: p.string().length(120).unique(),
    bio: p.text().nullable().comment('what\\'s "said"'),
    born: p.date().nullable(),
    wakesAt: p.time().nullable(),
    active: p.boolean().default(true),
    rating: p.float().nullable(),
    weight: p.double().nullable(),
    royalties: p.decimal().precision(12).scale(2).default('0.00'),
    fee: p.decimal('number').precision(8).scale(2).nullable(),
    followers: p.bigint().default(0),
    views: p.bigint('number').default(0),
    code: p.bigint('string').nullable(),
    role: p.enum(['writer', 'editor']).default('writer'),
    kind: p.enum(['a very long name of a kind', 'another very long name of a kind', 'one more']).nullable().default('one more'),
    passwordHash: p.string().hidden().nullable(),
    penName: p.string().serializedName('pen_name').nullable(),
    home: () => p.embedded(Address).nullable(),
    size: () => p.embedded(Size).object().nullable(),
    work: () => p.embedded(Address).prefix('at_').nullable(),
    createdAt: p.datetime().onCreate(() => new Date()),
    updatedAt: p.datetime().nullable().onUpdate(() => new Date()),
    version: p.integer().version(),
    token: p.uuid().onCreate(() => crypto.randomUUID()),
    meta: p.json().nullable(),
    cover: p.blob().nullable(),
    draft: p.boolean().persist(false).nullable(),
    since: p.string().defaultRaw("'x'"),
    mentor: () => p.manyToOne(Author).nullable(),
    pupils: () => p.oneToMany(Author).mappedBy('mentor'),
    profile: () => p.oneToOne(Profile).mappedBy('author').nullable(),
    books: () => p.oneToMany(Book).mappedBy('author').orderBy({ title: 'desc' }).orphanRemoval(),
  },
  uniques: [{ properties: ['name', 'born'] }],
  indexes: [{ properties: ['name', 'email'] }],
  filters: { active: { name: 'active', cond: { active: true }, default: false } },
})
const Profile = defineEntity({ name: 'Profile', properties: { id: p.integer().primary(), website: p.string(), author: () => p.oneToOne(Author).inversedBy('profile') } })
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    title: p.string().length(120).index(),
    edition: p.enum([1, 2, 3]).default(1),
    author: () => p.manyToOne(Author).deleteRule('cascade').joinColumn('writer'),
    editor: () => p.manyToOne(Author).nullable().deleteRule('no action'),
    genres: () => p.manyToMany(Genre).inversedBy('books').pivotTable('kinds_of_books'),
    similar: () => p.manyToMany(Book),
    reviews: () => p.oneToMany(Review).mappedBy('book').cascade('all'),
    remarks: () => p.oneToMany(Comment).mappedBy('about'),
  },
})
const Genre = defineEntity({ name: 'Genre', properties: { code: p.string().length(10).primary(), books: () => p.manyToMany(Book).mappedBy('genres') } })
const Review = defineEntity({
  name: 'Review',
  properties: { book: () => p.manyToOne(Book).primary(), number: p.integer().primary(), stars: p.smallint(), comments: () => p.oneToMany(Comment).mappedBy('review') },
})
const Comment = defineEntity({ name: 'Comment', properties: { id: p.integer().primary(), text: p.text(), review: () => p.manyToOne(Review).inversedBy('comments'),
  about: () => p.manyToOne([Book, Profile]).nullable(),
  cites: () => p.manyToOne([Genre, Coded]).discriminator('citing').discriminatorMap({ g: 'Genre', c: 'Coded' }).nullable(),
  reader: () => p.manyToOne(Author).targetKey('email').updateRule('cascade').joinColumn('read_by').nullable(),
} })
const Team = defineEntity({ name: 'Team', uniques: [{ properties: ['id', 'lead'] }], properties: { id: p.integer().primary(), lead: () => p.manyToOne(Author) } })
const Task = defineEntity({ name: 'Task', properties: { id: p.integer().primary(), lead: () => p.manyToOne(Author),
  team: () => p.manyToOne(Team).joinColumns('team_id', 'lead_id').referencedColumnNames('id', 'lead_id') } })
const Coded = defineEntity({ name: 'Coded', properties: { code: p.string().primary(), citations: () => p.oneToMany(Comment).mappedBy('cites') } })
export default {
  entities: [Author, Book, Genre, Review, Comment, Profile, Coded, Team, Task],
  versions: ['v1', 'v2'],
  limits: { maxLimit: 50 },
  createdStatus: 201,
  seed: {
    authors: [{ id: 1, name: 'Ann', email: 'a@x', token: '3d1f8a50-9c5e-4d8e-9d0e-0123456789ab', createdAt: '2026-01-01T00:00:00.000Z', size: { width: 1, unit: 'mm', of: 'x' }, home: { street: 's', zip: null, genre: 'x' }, meta: { a: [1] }, cover: 'AAEC' }],
    genres: [{ code: 'x' }],
    books: [{ id: 1, title: 'B', author: 1, genres: ['x'], similar: [2] }, { id: 2, title: 'C', author: 1, editor: 1 }],
    reviews: [{ book: 1, number: 1, stars: 4, comments: [{ text: 'yes', about: { type: 'book', id: 2 }, cites: { type: 'coded', id: 'z' }, reader: 1 }] }],
    codeds: [{ code: 'z' }],
    teams: [{ id: 1, lead: 1 }],
    tasks: [{ id: 1, lead: 1, team: 1 }],
    profiles: [{ website: 'w', author: 1 }],
  },
}
`

/** Tables of all sorts, a view, and what SQLite lets them hold. */
const TABLES = `
create table user (id integer primary key, name text collate nocase, born date, at timestamp, any_thing, flag boolean default 1, n int not null default (1+1), total generated always as (n*2), unique(name, born));
create table "Order" ("OrderNo" int primary key, user_id int references user(id) on delete cascade, placed datetime, total decimal(10,2), data json, note varchar(20));
create table order_tag (order_no int references "Order"("OrderNo"), tag_id text references tag(id), primary key(order_no, tag_id));
create table tag (id text primary key, kind text check(kind in ('a','b')), parent text references tag(id) on delete set null);
create table log (line text);
create table item (order_no int references "Order"("OrderNo"), pos int, big bigint, price real, primary key (order_no, pos)) without rowid;
create table profile (user_id integer primary key references user(id), bio text);
create table shelf (id integer primary key, code text not null unique);
create table box (id integer primary key, shelf_code text not null references shelf(code) on update cascade);
create view big_orders as select * from "Order" where total > 100;
insert into user(id,name,at,any_thing) values (1,'Ann',1700000000,'x'),(2,'bob',1700000001,2.5);
insert into "Order" values (5,1,'2020-01-02 03:04:05',12.5,'{"a":1}','n'),(7,null,'2021-01-02 03:04:05',200,null,null);
insert into tag values ('x','a',null),('y','b','x');
insert into order_tag values (5,'x'); insert into item values (5,1,9007199254740993,1.5); insert into log values ('l1'),('l0'); insert into profile values (1,'hi');
insert into shelf values (3, 'a1'); insert into box values (1, 'a1');
`

/** Tables as several programs make them, in one file: what is ejected has a project to start. */
const OTHER_TABLES = [
  `create table "User" ("id" integer not null primary key autoincrement, "createdAt" datetime not null default current_timestamp, "updatedAt" datetime not null);
    insert into "User" values (1, 1700000000123, 1700000000456)`,
  `create table t (id integer primary key, c char(0), f text default "in double quotes"); insert into t (id, c) values (1, 'x')`,
  `create table Größe (id integer primary key, "Länge" int, "größe_id" int references Größe); insert into Größe values (1, 5, 1)`,
  'create table "a.b" (id integer primary key, n int); create table c (id integer primary key, ' +
    '"x.y" int, ab_id int references "a.b"); insert into "a.b" values (1, 2); insert into c values (1, 2, 1)',
]

/** Names that are no identifiers, and records without IDs. */
const ODD = {
  things: [1, 2].map(number => ({ 'first name': `n${number}`, ID: number, 'a.b': "it's", größe: null, 一: true, constructor: 'c' })),
  'blog-posts': [{ id: 'x', userId: 1 }],
  users: [{ id: 1 }],
  user: [{ id: 5 }],
  profile: { a: 1 },
  none: [],
}

/** Modules of the entities above, as they are ejected. */
const WRITTEN = {
  'entities/team.ts': `import { defineEntity, p } from '@mikro-orm/core'
import { Author } from './author.ts'

export const Team = defineEntity({
  name: 'Team',
  properties: {
    id: p.integer().primary(),
    lead: () => p.manyToOne(Author),
  },
  uniques: [
    { properties: ['id', 'lead'] },
  ],
})
`,
  'index.ts': `import type { EngineOptions } from 'mikro-rest'
import { Author } from './entities/author.ts'
import { Book } from './entities/book.ts'
import { Coded } from './entities/coded.ts'
import { Comment } from './entities/comment.ts'
import { Genre } from './entities/genre.ts'
import { Profile } from './entities/profile.ts'
import { Review } from './entities/review.ts'
import { Task } from './entities/task.ts'
import { Team } from './entities/team.ts'
import seed from './seed.json' with { type: 'json' }

export default {
  entities: [
    Author,
    Book,
    Genre,
    Review,
    Comment,
    Profile,
    Coded,
    Team,
    Task,
  ],
  versions: ['v1', 'v2'],
  limits: { maxLimit: 50 },
  createdStatus: 201,
  seed,
} satisfies EngineOptions
`,
}

/** Two properties of a longer module: no length breaks a line. */
const AUTHOR = `
    kind: p.enum(['a very long name of a kind', 'another very long name of a kind', 'one more']).nullable().default('one more'),
    passwordHash: p.string().nullable().hidden(),
`

/** A resource of a JSON file whose options have objects in them. */
const RESOURCES = `
  resources: [
    resource(Post, {
      attributes: {
        user: { ids: 'userId' },
        tags: { ids: 'tagIds' },
      },
    }),
`

/** Those that are ejected, and then checked for their types. */
const PROJECTS = ['blog', 'features', 'shop']

/** Those that are ejected once more, from what was ejected. */
const AGAIN = ['blog', 'features']

/** Options that do not go with --eject. */
const OTHERS = [['--watch'], ['--save'], ['--get', '/v1'], ['--read-only']]

/** A module with one entity and something beside it. */
function moduleWith(properties: string, options = ''): string {
  return `
    import { defineEntity, p } from '${ORM}'
    const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), ${properties} } })
    export default { entities: [Book], ${options} }
  `
}

/** Modules with options that are functions. */
const FUNCTIONS: [string, RegExp][] = [
  [moduleWith(`name: p.string().onCreate(() => 'x'.repeat(3))`), /Book\.name cannot be written as code: its "onCreate" is code already/],
  [moduleWith(`double: p.integer().formula(() => 'id * 2')`), /Book\.double cannot be written as code/],
  [
    moduleWith('name: p.string()', 'routes: [{ method: "GET", path: "/{version}/x", handler: () => ({}) }]'),
    /The option "routes" cannot be written as code/,
  ],
  [moduleWith('name: p.string()', 'orm: { subscribers: [] }'), /The option "orm" cannot be written as code/],
  [
    moduleWith('name: p.string()', 'resources: [{ entity: Book, config: { access: () => true } }]'),
    /resource\(Book\) cannot be written as code: its "access" contains functions/,
  ],
]

describe('--eject', () => {
  let folder: string
  /** What is ejected and what came of it, beside each other. */
  let served: ServedLines
  const origins = new Map<string, string>()
  /** What else was asked of the same process: refusals. */
  let refused: Ended[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-eject-'))
    await copyFile(join(ROOT, 'fixtures', 'blog.json'), join(folder, 'blog.json'))
    await writeFile(join(folder, 'features.mjs'), FEATURES)
    const db = new Database(join(folder, 'shop.sqlite'))
    db.exec(TABLES)
    db.close()
    await copyFile(join(folder, 'shop.sqlite'), join(folder, 'same.sqlite'))
    const others = new Database(join(folder, 'others.sqlite'))
    for (const sql of OTHER_TABLES) others.exec(sql)
    others.close()
    await writeFile(join(folder, 'odd.json'), JSON.stringify(ODD))
    // One by itself, as users do, and the others in one process.
    await assertEjected(await run('blog.json', '--eject', 'blog'), 'blog')
    const files = ['features.mjs', 'shop.sqlite', 'others.sqlite', 'odd.json']
    await mkdir(join(folder, 'full'))
    await writeFile(join(folder, 'full', 'precious.txt'), 'mine')
    for (const [index, [text]] of FUNCTIONS.entries()) await writeFile(join(folder, `code-${index}.mjs`), text)
    refused = await ejectAll(
      [...files.map(file => [file, file.split('.')[0]!] as const), ...AGAIN.map(name => [name, `${name}-again`] as const)],
      [
        ...['full', 'blog.json'].map(to => ['blog.json', '--eject', to]),
        ...OTHERS.map(other => ['blog.json', '--eject', 'never', ...other]),
        ...FUNCTIONS.map((_, index) => [`code-${index}.mjs`, '--eject', 'refused']),
      ],
    )
    const all = ['blog.json', 'features.mjs', 'same.sqlite', 'others.sqlite', 'odd.json', 'blog', 'features', 'shop', 'others', 'odd']
    served = new ServedLines(
      folder,
      all.map(file => [file, '--port', '0']),
    )
    for (const [index, origin] of (await served.origins()).entries()) origins.set(all[index]!, origin)
  })
  after(async () => {
    await served[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (...args: string[]): Promise<Ended> => {
    await using command = new Command(folder, ...args)
    const { code } = await command.ended
    return { code, stdout: command.stdout, stderr: command.stderr }
  }

  /** Asserts that what was ejected is listed. */
  async function assertEjected({ code, stderr, stdout }: Ended, to: string): Promise<void> {
    assert.deepEqual([code, stderr], [0, ''])
    const content = await readdir(join(folder, to), { recursive: true })
    for (const name of content.filter(each => each.includes('.'))) assert.ok(stdout.includes(`  ${name}\n`), name)
  }

  /** Ejects in one process, and returns what becomes of other command lines there. */
  async function ejectAll(pairs: readonly (readonly [file: string, to: string])[], others: readonly string[][]): Promise<Ended[]> {
    const results = runAll(folder, [...pairs.map(([file, to]) => [file, '--eject', to]), ...others])
    for (const [index, [, to]] of pairs.entries()) await assertEjected(results[index]!, to)
    return results.slice(pairs.length)
  }

  /** Asserts that two servers answer requests alike. What was generated by chance is left out. */
  async function sameAnswers(file: string, to: string, requests: readonly (readonly [string, string, unknown?])[]): Promise<void> {
    const [a = '', b = ''] = [file, to].map(each => origins.get(each)!)
    const comparable = ({ status, body }: { status: number; body: unknown }): unknown => [
      status,
      JSON.parse(
        JSON.stringify(body)
          .replaceAll(/"(timestamp|createdAt|updatedAt)":"[^"]+"/g, '"$1":"now"')
          .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid'),
      ),
    ]
    for (const [method, path, body] of requests) {
      const [left, right] = [await send(a, method, path, body), await send(b, method, path, body)]
      assert.deepEqual(comparable(right), comparable(left), `${method} ${path}`)
      assert.ok(left.status < 500)
    }
  }

  it('of a JSON file serves the same', async () => {
    await sameAnswers('blog.json', 'blog', [
      ['GET', '/v1'],
      ...['users', 'posts', 'comments', 'tags', 'settings', 'profile'].flatMap(
        name =>
          [
            ['GET', `/v1/${name}?depth=2`],
            ['GET', `/v1/${name}/1`],
            ['POST', `/v1/${name}`, {}],
            ['OPTIONS', `/v1/${name}`],
          ].filter(([method]) => method !== 'OPTIONS') as [string, string, unknown?][],
      ),
      ['GET', '/v1/posts?user.name=A*&sort=comments.desc,title&expand=tags'],
      ['GET', '/v1/posts?published=null'],
      ['POST', '/v1/posts', { title: 'n', body: 'b', views: 1.5, user: 9, tags: ['nope'] }],
      ['POST', '/v1/posts', { title: 'n', body: 'b', views: 1, user: 2, tags: ['travel', 'home'] }],
      ['POST', '/v1/tags', { label: 'New' }],
      ['PUT', '/v1/settings/2', { value: [1, { a: null }] }],
      ['DELETE', '/v1/users/3'],
      ['DELETE', '/v1/comments/1'],
      ['GET', '/v1/users?sort=posts.desc&depth=2'],
    ])
  })

  it('of files of other programs serves the same', async () => {
    const paths = ['users', 'ts', encodeURIComponent('größe'), 'a_bs', 'cs']
    await sameAnswers('others.sqlite', 'others', [['GET', '/v1'], ...paths.map(path => ['GET', `/v1/${path}?depth=2`] as const)])
  })

  it('of a module serves the same, in its versions', async () => {
    await sameAnswers('features.mjs', 'features', [
      ['GET', '/v1'],
      ['GET', '/v3/books'],
      ...['authors', 'books', 'genres', 'reviews', 'comments', 'profiles'].map(name => ['GET', `/v2/${name}?depth=2`] as [string, string]),
      ['POST', '/v1/authors', { name: 'x'.repeat(61), email: 1, role: 'none', born: 'never', version: 2, token: 'x' }],
      [
        'POST',
        '/v1/authors',
        { name: 'Ben', email: 'b@x', pen_name: 'Q', books: [{ title: 'D', edition: 2, genres: [{ code: 'y' }] }], size: { width: 2 } },
      ],
      ['PUT', '/v1/authors/1', { bio: 'B', version: 1, royalties: '1.5', work: { street: 't' } }],
      ['PUT', '/v1/authors/1', { bio: 'C', version: 1 }],
      ['GET', '/v1/authors?books.title=B&pen_name=null&sort=name.desc'],
      ['PUT', '/v1/books/1/similar', []],
      ['DELETE', '/v1/books/1'],
      ['GET', '/v1/reviews'],
      ['DELETE', '/v1/authors/1'],
    ])
  })

  it('of a SQLite file serves the same', async () => {
    const names = ['users', 'orders', 'tags', 'logs', 'items', 'profiles', 'big_orders']
    await sameAnswers('same.sqlite', 'shop', [
      ['GET', '/v1'],
      ...names.flatMap(
        name =>
          [
            ['GET', `/v1/${name}?depth=2`],
            ['POST', `/v1/${name}`, {}],
            ['GET', `/v1/${name}/1`],
          ] as [string, string, unknown?][],
      ),
      ['GET', '/v1/orders?placed>=2020-06-01&sort=placed.desc'],
      ['GET', '/v1/users?name=ANN'],
      ['GET', '/v1/users?anyThing=2.5'],
      ['POST', '/v1/orders', { orderNo: 9, placed: '2026-05-04T03:02:01Z', total: 'much', note: 'x'.repeat(21), user: 77 }],
      [
        'POST',
        '/v1/orders',
        { orderNo: 9, placed: '2026-05-04T03:02:01Z', total: 3.25, user: 2, tags: ['y'], items: [{ pos: 3, big: '12' }], data: [1] },
      ],
      ['GET', '/v1/orders/9?depth=2'],
      ['GET', '/v1/orders?placed=2026-05-04T03:02:01Z'],
      ['PUT', '/v1/users/1', { at: '2026-01-01T00:00:00Z', flag: false, n: 4, born: '2000-01-01' }],
      ['PUT', '/v1/users/1', { total: 4 }],
      ['DELETE', '/v1/orders/5'],
      ['DELETE', '/v1/users/2'],
      ['DELETE', '/v1/tags/x'],
      ...names.map(name => ['GET', `/v1/${name}`] as [string, string]),
    ])
    const [a, b] = ['shop.sqlite', 'same.sqlite'].map(name => {
      const db = new Database(join(folder, name), { readonly: true })
      const rows = db.prepare('select * from "Order"').all()
      const schema = db.prepare('select sql from sqlite_master').all()
      db.close()
      return { rows, schema }
    })
    assert.deepEqual(a, b, 'what is stored has the same form')
  })

  it('writes what passes strict types', async () => {
    await mkdir(join(folder, 'node_modules', 'mikro-rest'), { recursive: true })
    const installed = join(folder, 'node_modules', 'mikro-rest')
    await symlink(declaredTypes(), join(installed, 'dist'), 'junction')
    await writeFile(join(installed, 'package.json'), JSON.stringify({ type: 'module', exports: { types: './dist/lib/index.d.ts' } }))
    for (const name of ['@mikro-orm', '@types', 'kysely', 'better-sqlite3']) {
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
    }
    // Their settings are the same, so that one program takes all of them.
    const settings = await Promise.all(PROJECTS.map(project => readFile(join(folder, project, 'tsconfig.json'), 'utf8')))
    assert.deepEqual(new Set(settings).size, 1)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: `./${PROJECTS[0]}/tsconfig.json`, include: PROJECTS }))
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', join(folder, 'tsconfig.json')], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
    await rm(join(folder, 'node_modules'), { recursive: true })
  })

  it('writes one property a line, and breaks a value that has an object in it', async () => {
    for (const [file, expected] of Object.entries(WRITTEN)) assert.equal(await readFile(join(folder, 'features', file), 'utf8'), expected)
    const author = await readFile(join(folder, 'features', 'entities', 'author.ts'), 'utf8')
    assert.ok(author.includes(AUTHOR), author)
    const posts = await readFile(join(folder, 'blog', 'index.ts'), 'utf8')
    assert.ok(posts.includes(RESOURCES), posts)
  })

  it('can be ejected again, to the same text', async () => {
    for (const project of AGAIN) {
      for (const name of await readdir(join(folder, project), { recursive: true })) {
        if (!/\.(ts|json)$/.test(name)) continue
        const [text, again] = await Promise.all([project, `${project}-again`].map(each => readFile(join(folder, each, name), 'utf8')))
        // What was guessed of a file is no guess of the project.
        assert.equal(again, text!.replaceAll(/^\/\/ .*\n/gm, ''), name)
      }
    }
  })

  it('keeps names that are no identifiers, and records without IDs', async () => {
    const code = await readFile(join(folder, 'odd', 'index.ts'), 'utf8')
    assert.match(code, /^\/\/ none is empty: [^\n]+\n(?:\/\/ [^\n]+\n)*export default \{/m, 'what was guessed is a comment')
    await sameAnswers('odd.json', 'odd', [
      ['GET', '/v1'],
      ...['things', 'blog-posts', 'users', 'user', 'none'].flatMap(
        name =>
          [
            ['GET', `/v1/${name}`],
            ['POST', `/v1/${name}`, { ID: 3 }],
          ] as [string, string, unknown?][],
      ),
      ['DELETE', '/v1/profile/1'],
    ])
  })

  it('leaves alone a folder with something in it', async () => {
    const [full, file] = refused as [Ended, Ended]
    assert.equal(full.stderr, 'mikro-rest: full is not empty: --eject writes into a new or empty folder.\n')
    assert.equal(full.code, 1)
    assert.deepEqual(await readdir(join(folder, 'full')), ['precious.txt'])
    assert.match(file.stderr, /blog\.json is not a folder/)
  })

  it('refuses options that are functions, and leaves nothing behind', async () => {
    const results = refused.slice(-FUNCTIONS.length)
    for (const [index, { code, stderr }] of results.entries()) {
      assert.match(stderr, FUNCTIONS[index]![1])
      assert.match(stderr, /^mikro-rest: [^\n]+\n$/)
      assert.equal(code, 1)
    }
    assert.ok(!(await readdir(folder)).includes('refused'))
  })

  it('leaves out a column that cannot be written, or would not serve the same, and says so', async () => {
    const file = join(folder, 'columns.sqlite')
    const db = new Database(file)
    db.exec(`create table item (id integer primary key, name text not null unique, "odd one" text, other text not null, n integer);
      insert into item values (1, 'a', 'b', 'c', 5)`)
    db.close()
    const options = { database: file }
    const loaded = { options, running: options, seed: undefined, title: 'columns.sqlite', examples: undefined }
    await using engine = await RestEngine.create(options)
    const { properties } = [...engine.orm.getMetadata()].find(({ className }) => className === 'Item')!
    // As of a column that a later version of the introspection describes, and --eject does not know yet.
    Object.assign(properties['oddOne' as never] as object, { groups: ['x'] })
    Object.assign(properties['other' as never] as object, { customType: new FileType({ kind: 'date', loose: true }) })
    const { notes } = await ejectProject(engine, loaded, join(folder, 'columns'))
    const now = (column: string) => `To serve it, write a property of the column "${column}" into its module in entities/.`
    assert.deepEqual(notes, [
      'Item.oddOne is left out: it cannot be written as code, because it has "groups", for which --eject writes nothing; ' +
        `records are read and written without it. ${now('odd one')}`,
      'Item.other is left out: the code of it would not serve the same; ' +
        `records are read without it, and none can be created, because it must be given. ${now('other')}`,
    ])
    const { stdout, code } = await run('columns', '--get', '/v1/item/1')
    assert.equal(code, 0)
    assert.deepEqual((JSON.parse(stdout) as { item: unknown }).item, { id: 1, name: 'a', n: 5 })
    const index = await readFile(join(folder, 'columns', 'index.ts'), 'utf8')
    for (const note of notes) assert.ok(index.includes(`// ${note}`), index)
    assert.deepEqual((await readdir(join(folder, 'columns'))).toSorted(), [
      'README.md',
      'entities',
      'index.ts',
      'package.json',
      'tsconfig.json',
    ])
    // What other parts of the entity need is refused, as a whole.
    Object.assign(properties['name' as never] as object, { groups: ['x'] })
    await assert.rejects(ejectProject(engine, loaded, join(folder, 'none')), /^CommandError: Item\.name cannot be written as code/)
    assert.ok(!(await readdir(folder)).includes('none'))
  })

  it('goes alone', () => {
    for (const [index, { code, stderr }] of refused.slice(2, 2 + OTHERS.length).entries()) {
      assert.match(stderr, new RegExp(`--eject writes a project and ends: it does not go with ${OTHERS[index]![0]}`))
      assert.equal(code, 2)
    }
  })
})
