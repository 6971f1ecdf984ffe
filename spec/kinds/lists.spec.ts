/**
 * Lists of rare kinds: those of several entities whose owner has a key of two parts, and those through a pivot entity whose links may be
 * empty.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Post: EntitySchema = defineEntity({
  name: 'Post',
  properties: { number: p.integer().primary(), code: p.string().primary(), notes: () => p.oneToMany(Note).mappedBy('of') },
})
const Picture: EntitySchema = defineEntity({
  name: 'Picture',
  properties: { x: p.integer().primary(), y: p.string().primary(), notes: () => p.oneToMany(Note).mappedBy('of') },
})
const Note: EntitySchema = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string().nullable(), of: () => p.manyToOne([Post, Picture] as never).nullable() },
})

const Tag: EntitySchema = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string().nullable(), things: () => p.manyToMany(Thing).mappedBy('tags') },
})
const Thing: EntitySchema = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    tags: () =>
      p
        .manyToMany(Tag)
        .owner()
        .inversedBy('things')
        .pivotEntity(() => ThingTag),
  },
})
const ThingTag: EntitySchema = defineEntity({
  name: 'ThingTag',
  properties: {
    id: p.integer().primary(),
    thing: () => p.manyToOne(Thing).nullable(),
    tag: () => p.manyToOne(Tag).nullable(),
    note: p.string().nullable(),
  },
})

const failing = (error: unknown): void => {
  throw error
}

describeStores('lists of a polymorphic relation', () => {
  it('are written for an owner with a key of two parts', async () => {
    const seed = {
      posts: [{ number: 1, code: 'x' }],
      pictures: [{ x: 1, y: 'x' }],
      notes: [{ id: 1, of: { type: 'post', id: '1~x' } }, { id: 2 }, { id: 3, of: { type: 'picture', id: '1~x' } }],
    }
    await using engine = await createEngine({ entities: [Post, Picture, Note], seed, onError: failing })
    const put = async (path: string, body: unknown, notes: readonly number[]): Promise<void> => {
      const answer = await engine.handle('PUT', `/v1/posts/1~x${path}`, undefined, body)
      const read = await engine.handle('GET', '/v1/posts/1~x')
      assert.deepEqual([answer.status, answer.body['post'].notes, read.body['post'].notes], [200, notes, notes])
    }
    await put('', { notes: [] }, [])
    await put('', { notes: [2] }, [2])
    await put('', { notes: [1, { text: 'n' }] }, [1, 4])
    await put('/notes', [3], [3])
    const { body } = await engine.handle('GET', '/v1/notes?depth=1')
    assert.deepEqual(
      body['notes'].map(({ of }: { of: { type: string } | null }) => of?.type ?? null),
      [null, null, 'post', null],
    )
  })
})

describeStores('lists of a polymorphic relation that is required', () => {
  const Text: EntitySchema = defineEntity({
    name: 'Text',
    properties: { number: p.integer().primary(), code: p.string().primary(), marks: () => p.oneToMany(Mark).mappedBy('of') },
  })
  const Film: EntitySchema = defineEntity({
    name: 'Film',
    properties: { x: p.integer().primary(), y: p.string().primary(), marks: () => p.oneToMany(Mark).mappedBy('of') },
  })
  const Sound: EntitySchema = defineEntity({
    name: 'Sound',
    properties: { a: p.integer().primary(), b: p.string().primary(), marks: () => p.oneToMany(Mark).mappedBy('of').orphanRemoval() },
  })
  const Mark: EntitySchema = defineEntity({
    name: 'Mark',
    properties: { id: p.integer().primary(), of: () => p.manyToOne([Text, Film, Sound] as never) },
  })
  const seed = {
    texts: [{ number: 1, code: 'x' }],
    films: [{ x: 1, y: 'x' }],
    sounds: [{ a: 1, b: 'x' }],
    marks: ['text', 'film', 'sound'].map((type, index) => ({ id: index + 1, of: { type, id: '1~x' } })),
  }

  it('keep their members, whichever of the entities the owner is of', async () => {
    await using engine = await createEngine({ entities: [Text, Film, Sound, Mark], seed, onError: failing })
    for (const owner of ['texts', 'films']) {
      for (const [path, body] of [
        ['', { marks: [] }],
        ['/marks', []],
      ] as const) {
        const { status, body: answer } = await engine.handle('PUT', `/v1/${owner}/1~x${path}`, undefined, body)
        assert.deepEqual([status, answer.code], [409, 'owner_required'], owner + path)
      }
    }
    assert.deepEqual((await engine.handle('PUT', '/v1/sounds/1~x/marks', undefined, [])).body.sound.marks, [])
    assert.equal((await engine.handle('GET', '/v1/marks/3')).status, 404)
  })

  it('lose their links with an owner that is deleted, whichever of the entities it is of', async () => {
    await using engine = await createEngine({
      entities: [Post, Picture, Note],
      seed: {
        posts: [{ number: 1, code: 'x' }],
        pictures: [{ x: 1, y: 'x' }],
        notes: ['post', 'picture'].map((type, index) => ({ id: index + 1, of: { type, id: '1~x' } })),
      },
      onError: failing,
    })
    for (const owner of ['pictures', 'posts']) assert.equal((await engine.handle('DELETE', `/v1/${owner}/1~x`)).status, 200)
    const row = await engine.orm.em.fork().getConnection().execute('select of_type, of_number, of_code from note order by id')
    assert.deepEqual(
      row.map((each: object) => Object.values(each)),
      [
        [null, null, null],
        [null, null, null],
      ],
    )
  })
})

describeStores('lists through an entity whose links may be empty', () => {
  const seed = {
    tags: [{ id: 1, name: 'a' }, { id: 2 }],
    things: [{ id: 1 }, { id: 2 }],
    thing_tags: [
      { id: 1, thing: 1, tag: 1 },
      { id: 2, thing: 1, note: 'x' },
      { id: 3, tag: 2 },
      { id: 4, thing: 2 },
    ],
  }

  it('have only what is linked, in answers, filters, counts and orders', async () => {
    await using engine = await createEngine({ entities: [Tag, Thing, ThingTag], seed, onError: failing })
    const things = async (query: string): Promise<unknown> => (await engine.handle('GET', `/v1/things?${query}`)).body['things']
    const [one, two] = [
      { id: 1, tags: [1] },
      { id: 2, tags: [] },
    ]
    assert.deepEqual(await things(''), [one, two])
    assert.deepEqual((await engine.handle('GET', '/v1/tags')).body['tags'], [
      { id: 1, name: 'a', things: [1] },
      { id: 2, name: null, things: [] },
    ])
    assert.deepEqual(await things('tags=null'), [two])
    assert.deepEqual(await things('!tags=null'), [one])
    assert.deepEqual(await things('!tags.name=a'), [two])
    assert.deepEqual(await things('sort=tags'), [two, one])
    assert.deepEqual(await things('sort=tags.things,id.desc'), [two, one])
    assert.equal((await engine.handle('GET', '/v1/things/1/tags')).body['count'], 1)
  })

  it('are written without touching the rows that link nothing', async () => {
    await using engine = await createEngine({ entities: [Tag, Thing, ThingTag], seed, onError: failing })
    const answer = await engine.handle('PUT', '/v1/things/1', undefined, { tags: [2] })
    assert.deepEqual(answer.body['thing'], { id: 1, tags: [2] })
    const { body } = await engine.handle('GET', '/v1/thing_tags?attributes=thing,tag,note')
    assert.deepEqual(body['thing_tags'], [
      { thing: 1, tag: null, note: 'x' },
      { thing: null, tag: 2, note: null },
      { thing: 2, tag: null, note: null },
      { thing: 1, tag: 2, note: null },
    ])
  })
})

describeStores('an ordered list', () => {
  const Song: EntitySchema = defineEntity({
    name: 'Song',
    properties: { id: p.integer().primary(), albums: () => p.manyToMany(Album).mappedBy('songs') },
  })
  const Album: EntitySchema = defineEntity({
    name: 'Album',
    properties: { id: p.integer().primary(), songs: () => p.manyToMany(Song).owner().inversedBy('albums').fixedOrder() },
  })

  it('has a record once that is put into it from its other side', async () => {
    const seed = { songs: [1, 2, 3].map(id => ({ id })), albums: [{ id: 1, songs: [3, 1] }, { id: 2 }] }
    await using engine = await createEngine({ entities: [Song, Album], seed, onError: failing })
    const songs = async (id: number): Promise<unknown> => (await engine.handle('GET', `/v1/albums/${id}`)).body.album.songs
    const put = await engine.handle('PUT', '/v1/songs/2', undefined, { albums: [1, 2] })
    assert.deepEqual(put.body.song.albums, [1, 2])
    assert.deepEqual(await songs(1), [3, 1, 2])
    const post = await engine.handle('POST', '/v1/songs', undefined, { albums: [2, 2] })
    assert.equal(post.status, 200)
    assert.deepEqual(await songs(2), [2, 4])
    await engine.handle('PUT', '/v1/songs/3', undefined, { albums: [] })
    assert.deepEqual(await songs(1), [1, 2])
  })

  it('keeps its order where a record is put into others, too, from its other side', async () => {
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      const seed = {
        songs: [1, 2, 3].map(id => ({ id })),
        albums: [
          { id: 1, songs: [3, 1, 2] },
          { id: 2, songs: [2] },
        ],
      }
      await using engine = await createEngine({ entities: [Song, Album], seed, onError: failing, orm: { subscribers } })
      const songs = async (id: number): Promise<unknown> => (await engine.handle('GET', `/v1/albums/${id}`)).body.album.songs
      assert.equal((await engine.handle('PUT', '/v1/songs/3', undefined, { albums: [2, 1] })).status, 200)
      assert.deepEqual(
        [await songs(1), await songs(2)],
        [
          [3, 1, 2],
          [2, 3],
        ],
      )
      assert.equal((await engine.handle('PUT', '/v1/songs/1/albums', undefined, [2])).status, 200)
      assert.deepEqual(
        [await songs(1), await songs(2)],
        [
          [3, 2],
          [2, 3, 1],
        ],
      )
    }
  })
})

describeStores('a list whose other side is a property that is not stored', () => {
  it('is read-only: left out of a new record, or refused', async () => {
    const Owner: EntitySchema = defineEntity({
      name: 'Owner',
      properties: { id: p.integer().primary(), parts: () => p.oneToMany(Part).mappedBy('owner') },
    })
    const Part: EntitySchema = defineEntity({
      name: 'Part',
      properties: {
        id: p.integer().primary(),
        owner: () => p.manyToOne(Owner).persist(false).fieldName('number').nullable(),
        number: p.integer().nullable(),
      },
    })
    await using engine = await createEngine({ entities: [Owner, Part] })
    const { status, body } = await engine.handle('POST', '/v1/owners', undefined, {})
    assert.deepEqual([status, body.owner], [200, { id: 1, parts: [] }])
    const refused = await engine.handle('POST', '/v1/owners', undefined, { parts: [] })
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'read_only'])
  })
})

describeStores('a list whose members are removed with their link', () => {
  const Article: EntitySchema = defineEntity({
    name: 'Article',
    properties: { id: p.integer().primary(), comments: () => p.oneToMany(Comment).mappedBy('article').orphanRemoval() },
  })
  const Comment: EntitySchema = defineEntity({
    name: 'Comment',
    properties: { id: p.integer().primary(), number: p.integer().unique(), article: () => p.manyToOne(Article) },
  })
  const seed = {
    articles: [{ id: 1 }, { id: 2 }],
    comments: [1, 1, 2].map((article, index) => ({ id: index + 1, number: index + 1, article })),
  }

  for (const [way, subscribers] of [
    ['statements', []],
    ['the unit of work', [{ afterFlush: () => {} }]],
  ] as const)
    it(`gives a new member the unique value of one that leaves, and of no other, by ${way}`, async () => {
      await using engine = await createEngine({
        entities: [Article, Comment],
        seed,
        onError: failing,
        orm: { subscribers: [...subscribers] },
      })
      const change = (comments: unknown): ReturnType<typeof engine.handle> =>
        engine.handle('PATCH', '/v1/articles/1', undefined, { comments })
      const taken = await change([{ number: 3 }])
      assert.equal(taken.status, 409)
      assert.equal(taken.body.errors[0].attribute, 'comments.0.number')
      assert.equal((await change([1, 2, { number: 2 }])).status, 409)
      assert.equal((await change([1, { number: 2 }])).status, 200)
      const { comments } = (await engine.handle('GET', '/v1/comments?sort=number&attributes=number,article')).body
      assert.deepEqual(comments, [
        { number: 1, article: 1 },
        { number: 2, article: 1 },
        { number: 3, article: 2 },
      ])
    })
})
