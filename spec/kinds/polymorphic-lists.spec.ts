/** Many-to-many lists of several entities that share a pivot table, and lists whose members are of several. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Collection, EntitySchema } from '@mikro-orm/core'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

class Tag {
  declare id: number
  declare name: string
  posts = new Collection<Post>(this)
  clips = new Collection<Clip>(this)
  owners = new Collection<Post | Clip>(this)
}
class Post {
  declare id: number
  declare title: string
  tags = new Collection<Tag>(this)
  files = new Collection<Picture | Clip>(this)
}
class Clip {
  declare id: number
  tags = new Collection<Tag>(this)
  posts = new Collection<Post>(this)
}
class Picture {
  declare id: number
  posts = new Collection<Post>(this)
}
const ID = { type: 'integer', primary: true } as const
const SHARED = { kind: 'm:n', entity: () => Tag, pivotTable: 'taggings', discriminator: 'tagged', owner: true } as const
const entities = [
  new EntitySchema<Tag>({
    class: Tag,
    properties: {
      id: ID,
      name: { type: 'string' },
      posts: { kind: 'm:n', entity: () => Post, mappedBy: 'tags' },
      clips: { kind: 'm:n', entity: () => Clip, mappedBy: 'tags' },
      owners: { kind: 'm:n', entity: () => [Post, Clip] as never, mappedBy: 'tags' },
    },
  }),
  new EntitySchema<Post>({
    class: Post,
    properties: {
      id: ID,
      title: { type: 'string' },
      tags: { ...SHARED, inversedBy: 'posts' },
      files: { kind: 'm:n', entity: () => [Picture, Clip] as never, pivotTable: 'files', discriminator: 'file', owner: true },
    },
  }),
  new EntitySchema<Clip>({
    class: Clip,
    properties: { id: ID, tags: { ...SHARED, inversedBy: 'clips' }, posts: { kind: 'm:n', entity: () => Post, mappedBy: 'files' } },
  }),
  new EntitySchema<Picture>({ class: Picture, properties: { id: ID, posts: { kind: 'm:n', entity: () => Post, mappedBy: 'files' } } }),
]

async function start(): Promise<RestEngine> {
  return createEngine({
    entities,
    seed: {
      tags: [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
        { id: 3, name: 'c' },
      ],
      posts: [
        { id: 1, title: 'One', tags: [1, 2] },
        { id: 2, title: 'Two', tags: [] },
      ],
      clips: [{ id: 1, tags: [2, 3], posts: [2] }],
      pictures: [{ id: 1, posts: [1, 2] }],
    },
  })
}

async function get(engine: RestEngine, path: string, query?: Record<string, string | number>): Promise<unknown> {
  const { status, body } = await engine.handle('GET', `/v1${path}`, query)
  assert.equal(status, 200, JSON.stringify(body))
  return (body as Record<string, unknown>)[(body as { resource: string }).resource]
}

async function rows(engine: RestEngine): Promise<unknown> {
  return engine.orm.em.getConnection().execute('select tagged_type as type, tagged_id as id, tag_id as tag from taggings order by 1, 2, 3')
}

describeStores('many-to-many lists of several entities', () => {
  it('show on both sides what is of their own entity, whatever the IDs of the others', async () => {
    await using engine = await start()
    assert.deepEqual(await get(engine, '/posts'), [
      { id: 1, title: 'One', tags: [1, 2] },
      { id: 2, title: 'Two', tags: [] },
    ])
    assert.deepEqual(await get(engine, '/clips/1'), { id: 1, tags: [2, 3], posts: [2] })
    assert.deepEqual(await get(engine, '/tags', { sort: 'id' }), [
      { id: 1, name: 'a', posts: [1], clips: [] },
      { id: 2, name: 'b', posts: [1], clips: [1] },
      { id: 3, name: 'c', posts: [], clips: [1] },
    ])
    assert.deepEqual(await get(engine, '/pictures/1'), { id: 1, posts: [1, 2] })
  })

  it('are filtered, sorted, expanded, and read by their path', async () => {
    await using engine = await start()
    const ids = async (path: string, query: Record<string, string | number>): Promise<unknown> =>
      ((await get(engine, path, query)) as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(await ids('/posts', { tags: 2 }), [1])
    assert.deepEqual(await ids('/posts', { tags: 3 }), [])
    assert.deepEqual(await ids('/posts', { 'tags.name': 'b' }), [1])
    assert.deepEqual(await ids('/posts', { tags: 'null' }), [2])
    assert.deepEqual(await ids('/tags', { sort: 'posts.desc,clips.desc' }), [2, 1, 3])
    assert.deepEqual(await ids('/posts/1/tags', {}), [1, 2])
    assert.deepEqual(await ids('/tags/2/clips', {}), [1])
    assert.deepEqual(await get(engine, '/clips/1', { expand: 'tags', attributes: 'tags.name' }), { tags: [{ name: 'b' }, { name: 'c' }] })
  })

  it('are written from both sides', async () => {
    await using engine = await start()
    const put = async (path: string, body: object): Promise<unknown> => {
      const { status, body: answer } = await engine.handle('PUT', `/v1${path}`, undefined, body)
      assert.equal(status, 200, JSON.stringify(answer))
      return (answer as Record<string, unknown>)[(answer as { resource: string }).resource]
    }
    assert.deepEqual(await put('/posts/1', { tags: [3] }), { id: 1, title: 'One', tags: [3] })
    assert.deepEqual(await put('/tags/1', { clips: [1] }), { id: 1, name: 'a', posts: [], clips: [1] })
    assert.deepEqual(await rows(engine), [
      { type: 'clip', id: 1, tag: 1 },
      { type: 'clip', id: 1, tag: 2 },
      { type: 'clip', id: 1, tag: 3 },
      { type: 'post', id: 1, tag: 3 },
    ])
    const changes = engine.requests.at(-1)!.changes!.map(({ resource, id, after }) => ({ resource, id, after }))
    assert.deepEqual(changes, [{ resource: 'clips', id: 1, after: { tags: [1, 2, 3] } }])
  })

  it('lose a record that is deleted, though no foreign key keeps them', async () => {
    await using engine = await start()
    for (const path of ['/v1/tags/2', '/v1/clips/1']) assert.equal((await engine.handle('DELETE', path)).status, 200)
    assert.deepEqual(await rows(engine), [{ type: 'post', id: 1, tag: 1 }])
    await engine.orm.em.getConnection().execute("insert into taggings (tagged_type, tagged_id, tag_id) values ('post', 1, 99)")
    assert.deepEqual(await get(engine, '/posts/1'), { id: 1, title: 'One', tags: [1] })
  })

  it('of several kinds of members are left out, which a note says', async () => {
    await using engine = await start()
    const notes = engine.notes.filter(note => /^(?:Tag\.owners|Post\.files): /.test(note))
    assert.deepEqual(notes.length, 2, engine.notes.join('\n'))
    assert.equal((await engine.handle('GET', '/v1/taggings')).status, 404)
  })
})
