/** A file behind the wire of json-server, exactly: its order, what its records lack, and what a save writes. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fromJson, type RestEngine } from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { Command } from '../helpers/command.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const posts = [
  { id: 9, title: 'Nine', views: 1, authorId: 2 },
  { id: 3, title: 'Three', authorId: null, deletedAt: null },
  { id: 5, title: null, meta: { color: null }, authorId: 1 },
  { id: 1, views: 1 },
]
const authors = [
  { id: 'z', name: 'Zoe' },
  { id: 'a', name: 'Ann', bossId: 'z' },
]
const data = {
  posts,
  authors: [
    { id: 2, name: 'Bob' },
    { id: 1, name: 'Ann', bossId: 2 },
  ],
  people: authors,
  profile: { name: 'x', age: null },
}

async function send(engine: RestEngine, line: string, body?: object): Promise<unknown> {
  const [method = '', path = ''] = line.split(' ')
  const content = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await engine.fetch(`http://api.test${path}`, { method, ...content })
  assert.ok(response.ok, `${line} ${response.status}`)
  return response.json()
}

describeStores('an exact file', () => {
  const create = (): Promise<RestEngine> => createEngine({ ...fromJson(data, { exact: true }), wire: jsonServer() })

  it('shows records as the file has them, in its order', async () => {
    await using engine = await create()
    assert.deepEqual(await send(engine, 'GET /posts'), posts)
    assert.deepEqual(await send(engine, 'GET /people'), authors)
    assert.deepEqual(await send(engine, 'GET /db'), data)
    assert.deepEqual(await send(engine, 'GET /posts/1'), { id: 1, views: 1 })
    assert.deepEqual(await send(engine, 'GET /posts?_page=2&_limit=3'), [{ id: 1, views: 1 }])
    const [bob, ann] = data.authors
    assert.deepEqual(await send(engine, 'GET /authors?_embed=posts'), [
      { ...bob, posts: [posts[0]] },
      { ...ann, posts: [posts[2]] },
    ])
    assert.deepEqual(await send(engine, 'GET /posts?id=9&id=3&_embed=author'), [{ ...posts[0], author: bob }, posts[1]])
  })

  it('shows a link to no record as the file has the link', async () => {
    const lost = { users: [{ id: 1 }, { id: 2 }], posts: [1, 2, 1, 2, 1, 2, 1, 2, 1, 99].map((userId, id) => ({ id, userId })) }
    await using engine = await createEngine({ ...fromJson(lost, { exact: true }), wire: jsonServer() })
    assert.deepEqual(await send(engine, 'GET /db'), lost)
    assert.deepEqual(await send(engine, 'GET /posts/9?_embed=user'), { id: 9, userId: 99 })
    assert.deepEqual(await send(engine, 'PATCH /posts/9', { userId: 2 }), { id: 9, userId: 2 })
    assert.deepEqual(await send(engine, 'POST /posts', { userId: 77, title: 'x' }), { id: 10, userId: 77, title: 'x' })
    assert.deepEqual(await send(engine, 'PATCH /posts/9', { userId: 'nobody' }), { id: 9, userId: 'nobody' })
    assert.deepEqual(await send(engine, 'GET /posts?userId=2&id_gte=9'), [])
    assert.deepEqual(await send(engine, 'PUT /posts/10', { userId: 1 }), { id: 10, userId: 1 })
    assert.deepEqual(await send(engine, 'GET /posts?userId=1&id_gte=9&_embed=user'), [{ id: 10, userId: 1, user: { id: 1 } }])
    const headers = { 'content-type': 'application/json' }
    const both = await engine.fetch('http://api.test/posts', { method: 'POST', headers, body: '{"id":9,"userId":77}' })
    assert.equal(both.status, 422)
    assert.equal((await engine.handle('PATCH', '/v1/posts/10', {}, { user: 5 })).status, 422)
  })

  it('keeps the order among equals of a sort, and sorts by IDs where they are asked for', async () => {
    await using engine = await create()
    const ids = async (query: string): Promise<unknown[]> =>
      ((await send(engine, `GET /posts?${query}`)) as { id: unknown }[]).map(({ id }) => id)
    assert.deepEqual(await ids('_sort=views'), [9, 1, 3, 5])
    assert.deepEqual(await ids('_sort=id'), [1, 3, 5, 9])
    assert.deepEqual(await ids('_sort=id&_order=desc'), [9, 5, 3, 1])
    assert.deepEqual(await ids('views=1'), [9, 1])
  })

  it('puts new records last, with what they were given', async () => {
    await using engine = await create()
    assert.deepEqual(await send(engine, 'POST /posts', { title: 'New', color: null }), { id: 10, title: 'New', color: null })
    assert.deepEqual(await send(engine, 'POST /posts', { id: 2, shape: 'x' }), { id: 2, shape: 'x' })
    assert.deepEqual(await send(engine, 'GET /posts'), [...posts, { id: 10, title: 'New', color: null }, { id: 2, shape: 'x' }])
    await using other = await engine.fork()
    await send(other, 'POST /posts', { id: 4 })
    assert.deepEqual(((await send(other, 'GET /posts')) as unknown[]).at(-1), { id: 4 })
    await engine.reset()
    assert.deepEqual(await send(engine, 'GET /posts'), posts)
  })

  it('tells null from lacking in changes, and a replaced record has what the body has', async () => {
    await using engine = await create()
    assert.deepEqual(await send(engine, 'PATCH /posts/1', { title: null }), { id: 1, title: null, views: 1 })
    const nulls = { title: null, meta: null, color: null }
    assert.deepEqual(await send(engine, 'PATCH /posts/1', nulls), { id: 1, title: null, views: 1, meta: null, color: null })
    assert.deepEqual(await send(engine, 'PATCH /posts/1', { title: 'One', color: 'red' }), {
      id: 1,
      title: 'One',
      views: 1,
      meta: null,
      color: 'red',
    })
    assert.deepEqual(await send(engine, 'PUT /posts/1', { authorId: null, views: 4 }), { id: 1, views: 4, authorId: null })
    assert.deepEqual(await send(engine, 'PUT /posts/9', { title: 'Nine' }), { id: 9, title: 'Nine' })
    assert.deepEqual(await send(engine, 'GET /posts'), [{ id: 9, title: 'Nine' }, posts[1], posts[2], { id: 1, views: 4, authorId: null }])
    assert.deepEqual(await send(engine, 'PATCH /profile', { age: 4 }), { name: 'x', age: 4 })
    assert.deepEqual(await send(engine, 'PUT /profile', { age: null }), { age: null })
  })

  it('keeps values of other types, which filters do not find', async () => {
    await using engine = await create()
    assert.deepEqual(await send(engine, 'PATCH /posts/1', { views: 1.5, title: ['a', { b: null }] }), {
      id: 1,
      title: ['a', { b: null }],
      views: 1.5,
    })
    assert.deepEqual(await send(engine, 'GET /posts?views=1.5'), [{ id: 1, title: ['a', { b: null }], views: 1.5 }])
    assert.deepEqual(await send(engine, 'POST /posts', { id: 'mine', views: 'many', title: 'New' }), {
      id: 10,
      views: 'many',
      title: 'New',
    })
    assert.deepEqual(await send(engine, 'GET /posts?views=many'), [])
    assert.deepEqual(await send(engine, 'PATCH /posts/10', { title: 'Same' }), { id: 10, views: 'many', title: 'Same' })
    assert.deepEqual(await send(engine, 'PATCH /posts/10', { views: 3 }), { id: 10, views: 3, title: 'Same' })
    assert.deepEqual(await send(engine, 'GET /posts?views=3'), [{ id: 10, views: 3, title: 'Same' }])
    assert.deepEqual(await send(engine, 'PATCH /posts/10', { views: false }), { id: 10, views: false, title: 'Same' })
    assert.deepEqual(await send(engine, 'PUT /posts/10', { views: null }), { id: 10, views: null })
    for (const odd of ['\ud800', 'a\0b', '\u0000', 1e300, -0, { '\0': '\udc00' }]) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ title: odd, views: odd, meta: odd, authorId: odd, more: odd })
      const { status } = await engine.fetch('http://api.test/posts', { method: 'POST', headers, body })
      assert.ok(status === 201 || status === 422, `${JSON.stringify(odd)} ${status}`)
      assert.equal((await engine.fetch('http://api.test/posts')).status, 200)
    }
  })

  it("shows null in the engine's own answers, in the order of the file", async () => {
    await using engine = await create()
    const { body } = await engine.handle('GET', '/v1/posts?depth=0')
    const shown = { title: null, views: null, deletedAt: null, meta: null, authorId: null }
    assert.deepEqual(
      body['posts'],
      posts.map(post => ({ ...shown, ...post })),
    )
    assert.deepEqual([body['sort'], body['posts'].length], [null, 4])
    const sorted = await engine.handle('GET', '/v1/posts?sort=id')
    assert.deepEqual(
      sorted.body['posts'].map(({ id }: { id: number }) => id),
      [1, 3, 5, 9],
    )
  })
})

describe('--as json-server --save', () => {
  let folder = ''
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'exact-file-'))))
  after(() => rm(folder, { recursive: true }))

  it('writes what a record has, and takes out what it lost', async () => {
    const file = join(folder, 'db.json')
    await writeFile(
      file,
      `{
  "posts": [
    {
      "title": "Tea",
      "views": 1.50,
      "id": 7,
      "tag": null
    },
    { "id": 2, "title": "Water" , "views": 3 }
  ]
}
`,
    )
    await using command = new Command(folder, 'db.json', '--as', 'json-server', '--save=sync', '--port', '0', '--quiet')
    const origin = await command.origin()
    const write = async (line: string, body: object): Promise<void> => {
      const [method = '', path = ''] = line.split(' ')
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${origin}${path}`, { method, headers, body: JSON.stringify(body) })
      assert.ok(response.ok, `${line} ${response.status}`)
    }
    await write('PUT /posts/2', { title: 'Water', views: 'many' })
    await write('PUT /posts/7', { views: 'none' })
    await write('PUT /posts/2', { title: 'Water' })
    await write('PATCH /posts/2', { tag: null, color: 'blue' })
    await write('POST /posts', { title: 'New', tag: null })
    await write('POST /posts', { title: 5.5, views: 'more' })
    await write('PUT /posts/7', { views: 1.5, id: 7 })
    await write('PUT /posts/2', { tag: null })
    assert.equal(
      await readFile(file, 'utf8'),
      `{
  "posts": [
    {
      "views": 1.5,
      "id": 7
    },
    { "id": 2, "tag": null },
    { "title": "New", "id": 8, "tag": null },
    { "title": "5.5", "views": "more", "id": 9 }
  ]
}
`,
    )
    assert.equal(await command.stop(), 0)
  })
})
