/** JSON files and plain data: what is inferred, what is served, what is saved, and how it ends. */
import assert from 'node:assert/strict'
import { chmod, copyFile, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { RestEngine, fromJson } from '../../lib/index.ts'
import type { RestResponse } from '../../lib/index.ts'
import { Command, ROOT, ServedLines, runAll, send } from '../helpers/command.ts'

type Data = Parameters<typeof fromJson>[0]

async function serving(data: Data): Promise<RestEngine> {
  return RestEngine.create({ ...fromJson(data), onError: error => console.error(error) })
}

/** The records of a list, or the record. */
function records({ status, body }: RestResponse): unknown {
  assert.equal(status, 200, JSON.stringify(body))
  const envelope = body as Record<string, unknown>
  return envelope[envelope['resource'] as string]
}

async function get(engine: RestEngine, path: string): Promise<unknown> {
  return records(await engine.handle('GET', path))
}

describe('fromJson', () => {
  it('serves each collection under its own name', async () => {
    const data = {
      posts: [{ id: 1 }],
      blogPosts: [{ id: 2 }],
      'news-items': [{ id: 3 }],
      user_roles: [{ id: 4 }],
      person: [{ id: 5 }],
      news: [{ id: 6 }],
      'v1.1~x': [{ id: 7, 一: [], 二: 1 }, { id: 8 }],
    }
    await using engine = await serving(data)
    for (const [name, expected] of Object.entries(data)) {
      const response = await engine.handle('GET', `/v1/${name}`)
      assert.equal((response.body as { resource: string }).resource, name)
      assert.deepEqual(records(response), name === 'v1.1~x' ? [expected[0], { id: 8, 一: null, 二: null }] : expected, name)
    }
    const one = await engine.handle('GET', '/v1/blogPosts/2')
    assert.deepEqual((one.body as { blogPost: unknown }).blogPost, { id: 2 })
  })

  it('keeps collections apart whose entities would be called the same', async () => {
    const data = { post: [{ id: 1 }], posts: [{ id: 2 }], Posts: [{ id: 3 }], objects: [{ id: 4 }], '2020': [{ id: 5 }] }
    await using engine = await serving(data)
    for (const [name, expected] of Object.entries(data)) assert.deepEqual(await get(engine, `/v1/${name}`), expected, name)
  })

  it('infers types, and null where a record has none', async () => {
    const data = {
      things: [
        { id: 1, count: 1, price: 1, name: 'a', on: true, maybe: null, when: '2026-01-02', inner: { a: 1 }, list: [1] },
        { id: 2, count: 2, price: 2.5, name: 'b', on: false, when: '2026-1-2', inner: {}, list: [] },
      ],
    }
    await using engine = await RestEngine.create({ ...fromJson(data, { required: true }) })
    assert.deepEqual(await get(engine, '/v1/things?count>=2&price<3&name=*b*&on=false&sort=when.desc'), [
      { id: 2, count: 2, price: 2.5, name: 'b', on: false, maybe: null, when: '2026-1-2', inner: {}, list: [] },
    ])
    const refused = await engine.handle('PUT', '/v1/things/1', undefined, {
      count: 1.5,
      price: 'x',
      name: 1,
      on: 'yes',
      when: null,
      inner: null,
    })
    assert.equal(refused.status, 422)
    const faults = (refused.body as { errors: { attribute: string }[] }).errors.map(({ attribute }) => attribute)
    assert.deepEqual(faults, ['count', 'price', 'name', 'on', 'when', 'inner'])
    assert.equal(
      (await engine.handle('PUT', '/v1/things/1', undefined, { price: 9.99, maybe: { any: ['thing'] }, inner: [1] })).status,
      200,
    )
    const [lacking] = ((await engine.handle('POST', '/v1/things', undefined, {})).body as { errors: { code: string }[] }).errors
    assert.equal(lacking?.code, 'required')
  })

  it('names the first of many attributes that could be required', () => {
    const record = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`k${index}`, index]))
    const [note] = fromJson({ a: [record], b: [{ n: 1 }] }).notes
    assert.match(note!, /would require a\.k0, .*, a\.k11 and 3 more\.$/)
  })

  it('keeps every value as it is', async () => {
    const values = [
      '',
      ' ',
      'null',
      '01',
      '5',
      'a\0b',
      '\ud83d\ude00',
      "it's",
      '2026-01-01T00:00:00+02:00',
      'C0FFEE00-0000-4000-8000-000000000000',
    ]
    const mixed = [1, '1', true, false, 'true', 1.5, [], {}, [null], { a: { b: [1, '2', null] } }, '', 1e300, -0.5, '\ud800', 'null']
    const numbers = [0, 1.5, -1e-7, 1e300, 2 ** 53, 5e-324, 123456789.125]
    const data = {
      texts: values.map((value, index) => ({ id: index, value })),
      mixes: mixed.map((value, index) => ({ id: index, value })),
      numbers: numbers.map((value, index) => ({ id: index, value })),
    }
    await using engine = await serving(data)
    for (const [name, expected] of Object.entries(data)) assert.deepEqual(await get(engine, `/v1/${name}`), expected, name)
    assert.deepEqual(await get(engine, '/v1/texts?value=01'), [{ id: 3, value: '01' }])
  })

  it('counts integer IDs on, and gives texts a UUID', async () => {
    await using engine = await serving({
      a: [{ id: 7 }, { id: 3 }],
      b: [{ id: 'x' }],
      c: [{ id: '3d1f8a50-9c5e-4d8e-9d0e-0123456789ab' }],
      d: [{ n: 1 }, { n: 2 }],
    })
    const created = async (path: string, body: object = {}): Promise<unknown> =>
      (records(await engine.handle('POST', path, undefined, body)) as { id: unknown }).id
    assert.equal(await created('/v1/a'), 8)
    assert.match((await created('/v1/b')) as string, /^[0-9a-f-]{36}$/)
    assert.equal(await created('/v1/b', { id: 'of my own' }), 'of my own')
    assert.match((await created('/v1/c')) as string, /^[0-9a-f-]{36}$/)
    assert.deepEqual(await get(engine, '/v1/d'), [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ])
    assert.equal(await created('/v1/d', { n: 3 }), 3)
  })

  it('relates both ways what refers to another collection', async () => {
    await using engine = await serving({
      users: [{ id: 'u1' }, { id: 'u2' }],
      blogPosts: [
        { id: 1, userId: 'u1' },
        { id: 2, userId: null },
      ],
      comments: [
        { id: 1, blog_post_id: 1, commentId: null, tag_ids: [2, 1] },
        { id: 2, blog_post_id: 1, commentId: 1 },
      ],
      tags: [{ id: 1 }, { id: 2 }],
    })
    assert.deepEqual(await get(engine, '/v1/blogPosts'), [
      { id: 1, userId: 'u1', comments: [1, 2] },
      { id: 2, userId: null, comments: [] },
    ])
    assert.deepEqual(await get(engine, '/v1/users?blogPosts.comments.id=2'), [{ id: 'u1', blogPosts: [1] }])
    assert.deepEqual(await get(engine, '/v1/comments'), [
      { id: 1, blog_post_id: 1, commentId: null, tag_ids: [2, 1], comments: [2] },
      { id: 2, blog_post_id: 1, commentId: 1, tag_ids: [], comments: [] },
    ])
    assert.deepEqual(await get(engine, '/v1/tags'), [
      { id: 1, comments: [1] },
      { id: 2, comments: [1] },
    ])
    const unknown = await engine.handle('PUT', '/v1/blogPosts/1', undefined, { userId: 'nobody' })
    assert.equal((unknown.body as { errors: { code: string }[] }).errors[0]?.code, 'reference_not_found')
  })

  it('leaves as they are keys that do not refer, or whose name is taken', async () => {
    const posts = [
      { id: 1, userId: 9, tagIds: [1, 1], parentId: 0, topicId: 1, topic: 'x', noteIds: 'n', nobodyId: 4 },
      { id: 2, userId: 8, tagIds: [1], parentId: 1, topicId: 1, topic: 'y', noteIds: 'm', nobodyId: 5 },
    ]
    const data = { posts, users: [{ id: 1 }], tags: [{ id: 1 }], topics: [{ id: 1 }], notes: [{ text: 'no IDs' }] }
    await using engine = await serving(data)
    assert.deepEqual(await get(engine, '/v1/posts'), posts)
    assert.deepEqual(await get(engine, '/v1/users'), [{ id: 1 }])
  })

  it('relates one way where the other side has the name already', async () => {
    await using engine = await serving({ posts: [{ id: 1, userId: 1 }], users: [{ id: 1, posts: 'many' }] })
    assert.deepEqual(await get(engine, '/v1/posts'), [{ id: 1, userId: 1 }])
    assert.deepEqual(await get(engine, '/v1/users'), [{ id: 1, posts: 'many' }])
  })

  it('takes records that refer to one another in a circle', async () => {
    await using engine = await serving({ users: [{ id: 1, teamId: 1, userId: 1 }], teams: [{ id: 1, userId: 1 }] })
    assert.deepEqual(await get(engine, '/v1/users'), [{ id: 1, teamId: 1, userId: 1, users: [1], teams: [1] }])
  })

  it('takes a new record that refers to itself by the ID that its body gives', async () => {
    const data = { people: [{ id: 1, personId: 1, person_ids: [1], name: 'Ann' }] }
    for (const orm of [{}, { subscribers: [{ beforeCreate() {} }] }]) {
      await using engine = await RestEngine.create({ ...fromJson(data), orm: orm as never })
      const bob = { id: 5, personId: 5, person_ids: [5], name: 'Bob' }
      assert.deepEqual(records(await engine.handle('POST', '/v1/people', undefined, bob)), bob)
      assert.deepEqual(await get(engine, '/v1/people'), [...data.people, bob])
    }
  })

  it('takes attributes of any name', async () => {
    const names = [
      'first name',
      'ID',
      'Id',
      'iD_',
      '__meta',
      'constructor',
      'toString',
      '$or',
      'a.b',
      '1',
      'größe',
      '',
      'then',
      'limit',
      '!',
      'x~y',
      '@id',
      'user_id',
    ]
    const things = [1, 2].map(id => ({ id, ...Object.fromEntries(names.map(name => [name, `${name} of ${id}`])) }))
    await using engine = await serving({ things, users: [{ id: 1 }] })
    assert.deepEqual(await get(engine, '/v1/things'), things)
    assert.deepEqual(await get(engine, '/v1/things?first%20name=first%20name%20of%202&attributes=id'), [{ id: 2 }])
    const created = { id: 3, ...Object.fromEntries(names.map(name => [name, 'x'])) }
    assert.deepEqual(records(await engine.handle('POST', '/v1/things', undefined, created)), created)
  })

  it('serves an object as its only record, which stays', async () => {
    await using engine = await serving({ profile: { name: 'x' }, $schema: 'not a collection' })
    assert.deepEqual((await engine.handle('GET', '/v1/profile')).body['profile'], { name: 'x' })
    assert.deepEqual((await engine.handle('PUT', '/v1/profile', undefined, { name: 'y' })).body['profile'], { name: 'y' })
    assert.deepEqual((await engine.handle('PATCH', '/v1/profile', undefined, { name: 'z' })).body['profile'], { name: 'z' })
    // The file has no ID, so no path and no parameter has one.
    for (const path of ['/v1/profile/1', '/v1/profile/1/name', '/v1/profile/id'])
      assert.equal((await engine.handle('GET', path)).status, 404, path)
    assert.equal((await engine.handle('GET', '/v1/profile?attributes=id')).status, 400)
    assert.equal((await engine.handle('PUT', '/v1/profile/name', undefined, 'me')).status, 200)
    assert.match(JSON.stringify((await engine.handle('GET', '/v1/profile/name')).body), /"value":"me"/)
    assert.equal((await engine.handle('GET', '/v1/profile/nam')).status, 404)
    for (const method of ['POST', 'DELETE']) {
      const { status, headers } = await engine.handle(method, '/v1/profile', undefined, { name: 'z' })
      assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD, QUERY, PUT, PATCH, OPTIONS'], method)
    }
    assert.equal((await engine.handle('DELETE', '/v1/profile/1')).status, 404)
    await using owned = await serving({ profile: { ownerId: 1 }, owners: [{ id: 1 }] })
    assert.deepEqual(await get(owned, '/v1/profile?expand=owner'), { ownerId: 1, owner: { id: 1 } })
    assert.deepEqual(await get(owned, '/v1/owners?depth=2'), [{ id: 1 }])
  })

  it('takes each member of an object that holds others by numbers for an attribute', async () => {
    await using engine = await serving({ users: { 1: { name: 'A' }, 2: { name: 'B' } }, note: { id: 'text', text: 'x' } })
    for (const [path, value] of [
      ['users/1', { name: 'A' }],
      ['users/2', { name: 'B' }],
      ['note/text', 'x'],
    ] as const) {
      const { status, body } = await engine.handle('GET', `/v1/${path}`)
      assert.deepEqual([status, (body as { value: unknown }).value], [200, value])
    }
    const put = await engine.handle('PUT', '/v1/users/1', undefined, { name: 'C' })
    assert.equal(put.status, 200)
    const { body } = await engine.handle('GET', '/v1/users')
    assert.deepEqual((body as { users: unknown }).users, { 1: { name: 'C' }, 2: { name: 'B' } })
    assert.equal((await engine.handle('GET', '/v1/users/3')).status, 404)
    await using later = await serving({ users: { 2: { name: 'B' } } })
    assert.equal((await later.handle('GET', '/v1/users/1')).status, 404)
    assert.deepEqual((await later.handle('GET', '/v1/users/2')).body['value'], { name: 'B' })
    assert.match(later.notes[0]!, /"users" is an object, so it is one record, and each member an attribute, as \/users\/2; for/)
  })

  it('serves an object by its own ID, with its relations, and relations to it', async () => {
    await using engine = await serving({
      settings: { id: 'main', ownerId: 2, name: 'owner' },
      owners: [{ id: 1 }, { id: 2, settingsId: 'main' }],
    })
    assert.deepEqual((await engine.handle('GET', '/v1/settings?expand=owner')).body['settings'].owner.id, 2)
    assert.equal((await engine.handle('GET', '/v1/settings/owner')).body['owner'].id, 2)
    assert.equal((await engine.handle('GET', '/v1/settings/main')).status, 200)
    assert.equal((await engine.handle('GET', '/v1/settings/other')).status, 404)
    assert.deepEqual((await engine.handle('GET', '/v1')).body['resources'], { settings: '/v1/settings', owners: '/v1/owners' })
  })

  it('knows nothing of an empty collection but its ID, until its first record', async () => {
    await using engine = await serving({ users: [{ id: 1 }], posts: [] })
    assert.deepEqual(records(await engine.handle('POST', '/v1/posts', undefined, {})), { id: 1 })
    assert.equal((await engine.handle('GET', '/v1/posts?title=x')).status, 400)
    assert.deepEqual(records(await engine.handle('POST', '/v1/posts', undefined, { title: 'x' })), { id: 2, title: 'x' })
    assert.deepEqual(records(await engine.handle('GET', '/v1/posts?title=x')), [{ id: 2, title: 'x' }])
    assert.equal((await engine.handle('POST', '/v1/posts', undefined, { titel: 'x' })).status, 422)
  })

  it('refuses what it cannot serve, and with strict what it would note, by collection and record', () => {
    const cases: [unknown, RegExp][] = [
      [[], /the top level must be an object of collections, got an array/],
      [{}, /there is no collection in it/],
      [{ a: 1 }, /"a" is a number; a collection is an array of objects/],
      [{ a: [{}, 'x'] }, /a\[1\] is a string; a collection is an array of objects/],
      [{ a: [[1]] }, /a\[0\] is an array/],
      [{ a: [{ id: 1 }, { id: 2 }, { id: 1 }] }, /a\[0\] and a\[2\] have the same "id", 1/],
      [{ a: [{ id: 1 }, { id: '2' }] }, /the "id" of a\[1\] is "2" and that of a\[0\] is 1: they must be of one type/],
      [{ a: [{ id: 1 }, { name: 'x' }] }, /a\[1\] has no "id", and a\[0\] has one/],
      [{ a: [{ id: 1.5 }] }, /the "id" of a\[0\] is 1\.5; an ID is an integer or a string/],
      [{ a: [{ id: null }] }, /the "id" of a\[0\] is null/],
      [{ a: [{ id: '' }] }, /the "id" of a\[0\] is ""/],
      [{ status: [{ id: 1 }] }, /"status" cannot be the name of a collection: it is a key of every answer/],
      [{ '---': [{ id: 1 }] }, /"---" cannot be the name of a collection/],
      [{ 'blog posts': [{ id: 1 }] }, /"blog posts" cannot be the name of a collection: it is made of letters, digits and/],
      [{ a: [{ id: 1, at: new Date() }] }, /fromJson\.a\.0\.at is a Date/],
      [{ a: [{ id: 1, n: Number.NaN }] }, /fromJson\.a\.0\.n is NaN/],
      [JSON.parse('{ "a": [{ "id": 1, "__proto__": 1 }] }'), /the records of a have an attribute "__proto__"/],
    ]
    for (const [data, message] of cases) assert.throws(() => fromJson(data as Data, { strict: true }), message, JSON.stringify(data))
  })
})

describe('a JSON file', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-json-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  const text = async (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

  const SECRET = '{"users":[{"id":1,"name":"Ann","password":"x"}]}'

  it('is served, tells what it was taken for, and neither shows nor loses a secret that is hidden', async () => {
    await copyFile(join(ROOT, 'fixtures', 'blog.json'), join(folder, 'blog.json'))
    await file('odd.json', '{ "users": [{ "id": 1 }], "posts": [{ "id": 1, "userId": 1 }, { "id": 2, "userId": 7 }], "empty": [] }')
    await file('secret.json', SECRET)
    await using command = new ServedLines(
      folder,
      [['blog.json'], ['odd.json'], ['secret.json', '--hide', 'users.password', '--save']].map(line => [...line, '--port', '0']),
    )
    const [printed = '', odd = '', hiding = ''] = await command.printed()
    const [origin = '', , hidden = ''] = await command.origins()
    assert.match(
      printed,
      /Inferred from blog\.json:\n {2}users {5}3 records {2}id integer, name text, .*address json\?, newsletter boolean/,
    )
    assert.match(printed, /\n {2}posts .*rating number\?, userId → users \(user\), tagIds → tags\[\] \(tags\), comments ← comments\.post\n/)
    assert.match(printed, /\n {2}profile {3}an object {2}name text, since integer\n/)
    const { body } = await send(origin, 'GET', '/v1/posts?user.name=Ann*&sort=views.desc&expand=tags&attributes=title,tags')
    assert.deepEqual(body['posts'], [
      {
        title: 'Rain again',
        tags: [
          { id: 'weather', label: 'Weather', posts: [1, 4] },
          { id: 'home', label: 'At home', posts: [1] },
        ],
      },
      { title: 'Drafts', tags: [] },
    ])
    assert.match(odd, /Note: posts\[1\]\.userId is 7, the ID of no record of users, so it is null here\./)
    assert.match(odd, /Note: empty is empty: only its "id" is known/)
    // A secret that is hidden is neither shown nor lost.
    assert.doesNotMatch(hiding, /secret, and/)
    assert.deepEqual((await send(hidden, 'PATCH', '/v1/users/1', { name: 'Bob' })).body['user'], { id: 1, name: 'Bob' })
    const before = await text('blog.json')
    assert.equal((await send(origin, 'DELETE', '/v1/comments/1')).status, 200)
    assert.equal(await command.stop(), 0)
    assert.equal(await text('blog.json'), before, 'without --save nothing is written')
    assert.equal(await text('secret.json'), '{"users":[{"id":1,"name":"Bob","password":"x"}]}')
  })

  it('prints notes with --get on standard error, where they do not mix with the answer: of what looks like a secret, too', async () => {
    await file('noted.json', '{ "users": [{ "id": 1 }], "empty": [] }')
    await file('shown.json', SECRET)
    const line = ['noted.json', '--get', '/v1/users']
    const [noted, quiet, shown] = runAll(folder, [line, [...line, '--quiet'], ['shown.json', '--required', '--get', '/v1/users']])
    assert.match(noted!.stderr, /^mikro-rest: Note: empty is empty: only its "id" is known/)
    assert.equal((JSON.parse(noted!.stdout) as { count: number }).count, 1)
    assert.equal(quiet!.stderr, '')
    assert.match(
      shown!.stderr,
      /^mikro-rest: Note: users\.password looks like a secret, and is shown: hide it with --hide users\.password,/,
    )
  })

  it('that cannot be served is told in one line', async () => {
    const cases: [string, string | Buffer, RegExp][] = [
      ['broken.json', '{\n  "a": [,]\n}', /broken\.json is not JSON: unexpected "," at line 2, column 9 \(position 10\)\./],
      ['short.json', '{ "a": [', /short\.json is not JSON: the text ends too early at line 1, column 9/],
      ['text.json', '"x"', /text\.json: the top level must be an object of collections, got a string/],
      ['scalar.json', '{ "a": 1 }', /scalar\.json: there is no collection in it/],
      ['latin.json', Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x7d]), /latin\.json is not UTF-8 text/],
      ['empty.json', '', /empty\.json is not JSON: the text ends too early/],
      ['huge.json', '{ "a": [{ "id": 1, "n": 1e999 }] }', /huge\.json\.a\.0\.n is Infinity/],
    ]
    for (const [name, content] of cases) await writeFile(join(folder, name), content)
    const ended = runAll(
      folder,
      cases.map(([name]) => [name, '--get', '/v1']),
    )
    for (const [index, { code, stderr, stdout }] of ended.entries()) {
      const [name, , message] = cases[index]!
      assert.match(stderr, message)
      assert.match(stderr, /^mikro-rest: [^\n]+\n$/)
      assert.deepEqual([code, stdout], [1, ''], name)
    }
  })

  it('goes with the options that make sense', async () => {
    await file('one.json', '{ "a": [{ "id": 1 }] }')
    const cases: [string[], RegExp][] = [
      [['one.json', '--save', '--read-only'], /--save .* does not go with --read-only/],
      [['one.json', '--save', '--get', '/v1'], /--save .* does not go with --get/],
      [['one.json', '--save', '--seed', 'one.json'], /--save .* does not go with --seed/],
      [['--save'], /--save goes with a JSON FILE/],
      [['one.json', '--save=often'], /^mikro-rest: --save takes no value but "sync", got "often"\.\n$/],
    ]
    const last = ['one.json', '--get', '/v3/a/1', '--api-version', 'v3']
    const ended = runAll(folder, [...cases.map(([args]) => args), last])
    for (const [index, [, message]] of cases.entries()) {
      const { code, stderr } = ended[index]!
      assert.match(stderr, message)
      assert.equal(code, 2)
    }
    assert.deepEqual((JSON.parse(ended.at(-1)!.stdout) as { a: unknown }).a, { id: 1 })
  })

  it('with --save holds what was changed, and otherwise every character as it was', async () => {
    const content = [
      '\ufeff{',
      '\t"$schema": "./schema.json",',
      '\t"users": [',
      '\t\t{ "id": 1, "name": "Ann", "age": 5.0 },',
      '\t\t{ "id": 2, "name": "B\\u00f6b", "age": 1e2 }, { "id": 3, "name": "Cy", "age": 3 }',
      '\t],',
      '\t"posts": [',
      '\t\t{',
      '\t\t\t"title":  "a", "id": 1,',
      '\t\t\t"userId": 1, "tagIds": [2,   1]',
      '\t\t}',
      '\t],',
      '\t"tags": [{"id":1,"big":12345678901234567890},{"id":2}],',
      '\t"profile": { "name": "typicode" },',
      '\t"none": []',
      '}',
      '',
    ].join('\r\n')
    const path = await file('styled.json', content)
    await chmod(path, 0o640)
    await symlink('styled.json', join(folder, 'link.json'))
    await using command = new Command(folder, 'link.json', '--save', '--port', '0')
    const origin = await command.origin()
    assert.equal((await send(origin, 'PUT', '/v1/users/1', { name: 'Ann' })).status, 200)
    await wait(150)
    assert.equal(await text('styled.json'), content)
    await send(origin, 'POST', '/v1/users', { name: 'Di', age: 9 })
    await send(origin, 'DELETE', '/v1/users/3')
    await send(origin, 'PUT', '/v1/posts/1', { user: 2, tags: [1] })
    await send(origin, 'POST', '/v1/posts', { title: 'new', user: 4, tags: [] })
    await send(origin, 'PUT', '/v1/tags/2', { big: 0.5 })
    await send(origin, 'PUT', '/v1/profile', { name: 'me' })
    await send(origin, 'POST', '/v1/none', {})
    assert.equal((await send(origin, 'POST', '/v1/users', { name: 1 })).status, 422)
    assert.equal(await command.stop(), 0)
    const expected = content
      .replace('{ "id": 3, "name": "Cy", "age": 3 }', '{ "id": 4, "name": "Di", "age": 9 }')
      .replace('"userId": 1, "tagIds": [2,   1]', '"userId": 2, "tagIds": [1]')
      .replace(
        '\t\t}\r\n\t],',
        '\t\t},\r\n\t\t{\r\n\t\t\t"title": "new",\r\n\t\t\t"id": 2,\r\n\t\t\t"userId": 4,\r\n\t\t\t"tagIds": []\r\n\t\t}\r\n\t],',
      )
      .replace('{"id":2}', '{"id":2,"big":0.5}')
      .replace('typicode', 'me')
      .replace('"none": []', '"none": [\r\n\t\t{\r\n\t\t\t"id": 1\r\n\t\t}\r\n\t]')
    assert.equal(await text('styled.json'), expected)
    assert.equal((await stat(path)).mode & 0o777, 0o640)
    assert.equal(await text('link.json'), expected, 'a link stays a link')
  })

  it('with --save has links and IDs in the form of the file, and no new link where a missing ID is given to a new record', async () => {
    const before = [
      '{ "users": [{ "id": 1 }, { "id": 2 }], "tags": [{ "id": "10" }, { "id": "x" }],',
      '  "orders": [{ "id": 174322306148984899, "total": 12345678901234567890, "of": "12345678901234567890" }, { "id": 7 }],',
      '  "posts": [{ "id": 1, "userId": "1", "tagIds": [10, 99], "orderId": 7 },',
      '    { "id": 2, "userId": "2", "tagIds": [], "orderId": 174322306148984899 },',
      '    { "id": 3, "userId": "3", "tagIds": [10], "orderId": null } ],',
      '  "carts": [{ "id": 1, "orderIds": [174322306148984899, 7] }, { "id": 2, "orderIds": [174322306148984899, 9007199254740993] },',
      '    { "id": 3, "orderIds": [7] }] }',
    ].join('\n')
    await file('forms.json', before)
    await using command = new Command(folder, 'forms.json', '--save', '--quiet', '--port', '0')
    const origin = await command.origin()
    for (const [method, path, body] of [
      ['PATCH', '/v1/posts/1', { userId: 2, orderId: '174322306148984899' }],
      ['PATCH', '/v1/posts/2', { tagIds: ['x', '10'], userId: null }],
      ['POST', '/v1/users', {}],
      ['POST', '/v1/orders', { id: '9007199254740993', total: '9007199254740995', of: '9007199254740997' }],
      ['POST', '/v1/posts', { userId: 3, tagIds: ['10'], orderId: '9007199254740993' }],
    ] as const)
      assert.equal((await send(origin, method, path, body)).status, 200, path)
    assert.equal(await command.stop(), 0)
    const after = before
      .replace('"userId": "1", "tagIds": [10, 99], "orderId": 7', '"userId": "2", "tagIds": [10, 99], "orderId": 174322306148984899')
      .replace('"userId": "2", "tagIds": []', '"userId": null, "tagIds": ["x", 10]')
      .replace('"userId": "3"', '"userId": null')
      .replace('{ "id": 2 }]', '{ "id": 2 }, { "id": 3 }]')
      .replace('{ "id": 7 }]', '{ "id": 7 }, { "id": 9007199254740993, "total": 9007199254740995, "of": "9007199254740997" }]')
      .replace('"orderId": null } ]', '"orderId": null },\n    { "id": 4, "userId": "3", "tagIds": [10], "orderId": 9007199254740993 } ]')
      .replace('[174322306148984899, 9007199254740993]', '[174322306148984899]')
    assert.equal(await text('forms.json'), after)
  })

  it('with --save is written soon after a change', async () => {
    await file('soon.json', '{"a":[{"id":1,"n":1}]}')
    await using command = new Command(folder, 'soon.json', '--save', '--quiet', '--port', '0')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/a', { n: 2 })
    await command.until('the new record', async () => (await text('soon.json')) === '{"a":[{"id":1,"n":1},{"id":2,"n":2}]}')
    assert.equal(command.stdout.includes('POST'), false)
  })

  it('with --save leaves alone what another program has changed, and says so', async () => {
    await file('shared.json', '{"a":[{"id":1}]}')
    await using command = new Command(folder, 'shared.json', '--save', '--port', '0')
    const origin = await command.origin()
    await file('shared.json', '{"a":[{"id":7}]}')
    await send(origin, 'POST', '/v1/a', {})
    await command.until('the complaint', () => command.stderr.includes('shared.json was changed by another program'))
    assert.equal(await command.stop(), 1)
    assert.equal(await text('shared.json'), '{"a":[{"id":7}]}')
    assert.equal(command.stderr.split('\n').length, 2, 'it is said once')
  })

  it('with --save is whole whenever the process is killed', async () => {
    const records = Array.from({ length: 300 }, (_, index) => ({ id: index + 1, text: 'x'.repeat(500) }))
    for (let round = 0; round < 2; round++) {
      await file('killed.json', JSON.stringify({ a: records }, undefined, 2))
      // As a process leaves it whose number no process has.
      await file('.killed.json.99999999.tmp', '{ "a": [')
      await using command = new Command(folder, 'killed.json', '--save', '--quiet', '--port', '0')
      const origin = await command.origin()
      // What such an end leaves behind goes with the next start.
      assert.deepEqual(
        (await readdir(folder)).filter(name => name.endsWith('.tmp')),
        [],
      )
      const writing = (async () => {
        while (command.child.exitCode === null && command.child.signalCode === null)
          await send(origin, 'POST', '/v1/a', { text: 'y'.repeat(500) }).catch(() => {})
      })()
      await wait(80 + round * 97)
      command.child.kill('SIGKILL')
      await command.ended
      await writing
      const found = JSON.parse(await text('killed.json')) as { a: { id: number }[] }
      assert.deepEqual(
        found.a.map(({ id }) => id),
        found.a.map((_, index) => index + 1),
      )
      assert.ok(found.a.length >= 300)
    }
  })

  it('with --save=sync has what was answered, whenever the process is killed', async () => {
    await file('synced.json', '{ "a": [{ "id": 1, "n": 0 }] }')
    await using command = new Command(folder, 'synced.json', '--save=sync', '--quiet', '--port', '0')
    const origin = await command.origin()
    const answered: unknown[] = []
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 1; n <= 200; n++) {
        const { status, body } = await send(origin, 'POST', '/v1/a', { n: writer * 1000 + n }).catch(() => ({ status: 0, body: {} }))
        if (status !== 200) return
        answered.push((body as { a: { n: number } }).a.n)
      }
    })
    await command.until('some answers', () => answered.length >= 12)
    command.child.kill('SIGKILL')
    await Promise.all([command.ended, ...writing])
    const saved = (JSON.parse(await text('synced.json')) as { a: { n: number }[] }).a.map(({ n }) => n)
    assert.deepEqual(
      answered.filter(n => !saved.includes(n as number)),
      [],
    )
  })

  it('with --save=sync holds a record that refers to itself', async () => {
    await file('itself.json', '{ "people": [{ "id": 1, "personId": 1, "person_ids": [1] }] }')
    await using command = new Command(folder, 'itself.json', '--save=sync', '--quiet', '--port', '0')
    const { status } = await send(await command.origin(), 'POST', '/v1/people', { id: 5, personId: 5, person_ids: [5] })
    assert.equal(status, 200)
    const people = [1, 5].map(id => ({ id, personId: id, person_ids: [id] }))
    assert.deepEqual(JSON.parse(await text('itself.json')), { people })
  })

  it('with --save=sync answers with a failure what cannot be saved', async () => {
    await file('lost.json', '{"a":[{"id":1}]}')
    await using command = new Command(folder, 'lost.json', '--save=sync', '--port', '0')
    const origin = await command.origin()
    await file('lost.json', '{"a":[{"id":7}]}')
    assert.equal((await send(origin, 'POST', '/v1/a', {})).status, 500)
    assert.match(command.stderr, /lost\.json was changed by another program/)
    assert.equal(await command.stop(), 1)
  })

  it('with --save has what test controls have made of the data', async () => {
    const content = '{"a":[{"id":1,"n":1},{"id":2,"n":2}],"b":[{"id":1,"aIds":[2,1]}]}'
    await file('reset.json', content)
    await using command = new Command(folder, 'reset.json', '--save', '--workbench', '--port', '0')
    const origin = await command.origin()
    await send(origin, 'DELETE', '/v1/a/2')
    await send(origin, 'POST', '/v1/a', { n: 9 })
    const saved = '{"a":[{"id":1,"n":1},{"id":3,"n":9}],"b":[{"id":1,"aIds":[1]}]}'
    await command.until('both changes', async () => (await text('reset.json')) === saved)
    await fetch(`${origin}/_test/reset`, { method: 'POST' })
    await command.until('the records of the beginning alone', async () => (await text('reset.json')) === content)
    assert.equal(await command.stop(), 0)
  })

  it('with --watch keeps its port, and while it is half-written the data of before', async () => {
    const path = await file('half.json', '{"a":[{"id":1}]}')
    await using command = new Command(folder, 'half.json', '--watch', '--port', '0')
    const origin = await command.origin()
    await writeFile(path, '{"a":[{"id":1},{"id":2')
    await command.until('a warning', () => /half\.json is not JSON: .*: the data of before is served\.\n/.test(command.stderr))
    assert.equal((await send(origin, 'GET', '/v1/a')).body['count'], 1)
    await writeFile(path, '{"a":[{"id":1},{"id":2}]}')
    assert.equal(await command.origin(2), origin)
    assert.equal((await send(origin, 'GET', '/v1/a')).body['count'], 2)
  })

  it('with --watch is served anew when others change it, and not when it is saved', async () => {
    await file('watched.json', '{"a":[{"id":1}]}')
    await using command = new Command(folder, 'watched.json', '--watch', '--save', '--port', '0')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/a', {})
    await command.until('the new record', async () => (await text('watched.json')) === '{"a":[{"id":1},{"id":2}]}')
    await wait(400)
    assert.doesNotMatch(command.stdout, /starting again/)
    await file('watched.json', '{"b":[{"id":5}]}')
    const again = await command.origin(2)
    assert.deepEqual((await send(again, 'GET', '/v1/b')).body['b'], [{ id: 5 }])
    await file('watched.json', '{"b":[{"id":5')
    await command.until('the complaint', () => command.stderr.includes('watched.json is not JSON'))
    await file('watched.json', '{"c":[{"id":6}]}')
    assert.deepEqual((await send(await command.origin(3), 'GET', '/v1/c')).body['c'], [{ id: 6 }])
    assert.equal(await command.stop(), 0)
  })
})
