/** JSON data as their owner means them, on both databases: what is required, and what links to what. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fromJson } from '../../lib/index.ts'
import type { RestEngine, RestResponse } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** The records of a list, or the record. */
function records({ status, body }: RestResponse): unknown {
  assert.equal(status, 200, JSON.stringify(body))
  const envelope = body as Record<string, unknown>
  return envelope[envelope['resource'] as string]
}

async function get(engine: RestEngine, path: string): Promise<unknown> {
  return records(await engine.handle('GET', path))
}

describeStores('fromJson', () => {
  it('takes a record that lacks what every record has, as json-server does, holds its types, and says what could be required', async () => {
    const data = {
      users: [{ id: 1, name: 'Ann', age: 5 }],
      posts: [{ id: 1, title: 'a', draft: null, userId: 1, tagIds: [1] }],
      tags: [{ id: 1 }],
      profile: { name: 'x' },
    }
    await using engine = await createEngine({ ...fromJson(data) })
    assert.deepEqual(engine.notes, [
      'new records may lack what every record has; --required, or fromJson(data, { required: true }), would require ' +
        'users.name, users.age, posts.title, posts.userId.',
    ])
    assert.deepEqual(records(await engine.handle('POST', '/v1/users', '', { name: 'Bob' })), { id: 2, name: 'Bob', age: null, posts: [] })
    assert.deepEqual(records(await engine.handle('POST', '/v1/posts', '', {})), {
      id: 2,
      title: null,
      draft: null,
      userId: null,
      tagIds: [],
    })
    assert.deepEqual(records(await engine.handle('PATCH', '/v1/posts/1', '', { title: null })), { ...data.posts[0], title: null })
    for (const body of [{ name: 5 }, { age: '5' }, { age: 1.5 }])
      assert.equal((await engine.handle('POST', '/v1/users', '', body)).status, 422, JSON.stringify(body))
    assert.equal((await engine.handle('POST', '/v1/posts', '', { userId: 9 })).status, 422)
    // As version 1 of json-server does.
    assert.equal((await engine.handle('DELETE', '/v1/users/1')).status, 200)
    assert.deepEqual(await get(engine, '/v1/posts/1'), { ...data.posts[0], title: null, userId: null })
  })

  it('with required refuses a record without what every record has, and to delete what others need', async () => {
    const data = { users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'a', draft: null, userId: 1 }] }
    await using engine = await createEngine({ ...fromJson(data, { required: true }) })
    assert.deepEqual(engine.notes, [])
    const { status, body } = await engine.handle('POST', '/v1/posts', '', {})
    const faults = (body as { errors: { code: string; attribute: string }[] }).errors.map(({ code, attribute }) => [code, attribute])
    assert.deepEqual([status, faults], [422, ['title', 'userId'].map(name => ['required', name])])
    assert.equal((await engine.handle('DELETE', '/v1/users/1')).status, 409)
    assert.throws(() => fromJson(data, { requird: true } as never), /required/)
  })

  it('relates records to their parents in the same collection, by its IDs', async () => {
    const data = {
      categories: [
        { id: 'a', parentId: null },
        { id: 'b', parentId: 'a' },
        { id: 'c', parentId: 'a' },
      ],
      nodes: [
        { id: 1, parent: null, parent_ids: [] },
        { id: 2, parent: 1, parent_ids: [1, 2] },
      ],
      // Zero is no ID, and says that there is no parent.
      menus: [
        { id: 1, parentId: 0 },
        { id: 2, parentId: 1 },
      ],
    }
    await using engine = await createEngine({ ...fromJson(data) })
    assert.deepEqual(await get(engine, '/v1/categories?parent.id=a&expand=parent&attributes=id,parent'), [
      { id: 'b', parent: { id: 'a', parentId: null, categories: ['b', 'c'] } },
      { id: 'c', parent: { id: 'a', parentId: null, categories: ['b', 'c'] } },
    ])
    assert.deepEqual(await get(engine, '/v1/nodes/1'), { ...data.nodes[0], nodes: [2], nodesAsParents: [2] })
    assert.deepEqual(await get(engine, '/v1/nodes/2'), { ...data.nodes[1], nodes: [], nodesAsParents: [2] })
    assert.deepEqual(await get(engine, '/v1/menus'), data.menus)
    assert.match(engine.notes.join(), /menus\.parentId is a plain attribute: 0 of menus\[0\] is not the ID of any record of menus\./)
    assert.equal((await engine.handle('PATCH', '/v1/categories/a', '', { parentId: 'z' })).status, 422)
    const named = { parents: [{ id: 1 }], pupils: [{ id: 1, parentId: 1 }] }
    await using other = await createEngine({ ...fromJson(named) })
    assert.deepEqual(await get(other, '/v1/parents?expand=pupils&attributes=pupils'), [{ pupils: named.pupils }])
  })

  it('shows a link to a missing record as null, and notes it; more such links than others end the relation', async () => {
    const data = {
      users: [{ id: 1 }, { id: 2 }],
      posts: [
        { id: 1, userId: 1, userIds: [2, 9, 1] },
        { id: 2, userId: 7, userIds: [] },
        { id: 3, userId: 2, userIds: [9] },
      ],
      notes: [
        { id: 1, userId: 7, postId: 0 },
        { id: 2, userId: 8, postId: 1 },
        { id: 3, userId: 1, postId: 2 },
      ],
      likes: [{ id: 1, userId: 7 }],
    }
    await using engine = await createEngine({ ...fromJson(data) })
    assert.deepEqual(await get(engine, '/v1/posts?attributes=id,userId,userIds'), [
      { id: 1, userId: 1, userIds: [2, 1] },
      { id: 2, userId: null, userIds: [] },
      { id: 3, userId: 2, userIds: [] },
    ])
    assert.deepEqual(await get(engine, '/v1/posts?user.id=2&attributes=id'), [{ id: 3 }])
    assert.deepEqual(await get(engine, '/v1/notes'), data.notes)
    assert.deepEqual(await get(engine, '/v1/likes'), [{ id: 1, userId: null }])
    assert.deepEqual(engine.notes.slice(0, -1), [
      'posts[1].userId is 7, the ID of no record of users, so it is null here.',
      'posts[0].userIds has 9, the ID of no record of users, and 1 more such links, so it is left out here.',
      'notes.userId is a plain attribute: 7 of notes[0] is not the ID of any record of users.',
      'notes.postId is a plain attribute: 0 of notes[0] is not the ID of any record of posts.',
      'likes[0].userId is 7, the ID of no record of users, so it is null here.',
    ])
    assert.throws(() => fromJson(data, { strict: true }), /posts\[1\]\.userId is 7, the ID of no record of users\./)
    await using strict = await createEngine({ ...fromJson({ users: data.users, posts: data.posts }, { required: true }) })
    assert.equal((await strict.handle('PATCH', '/v1/posts/2', '', { userIds: [2] })).status, 200)
  })

  it('lets links of texts and IDs of numbers meet, and the other way round', async () => {
    const data = {
      users: [{ id: 1 }, { id: 2 }],
      tags: [{ id: '1' }, { id: 'x' }],
      posts: [
        { id: 1, userId: '1', tagIds: [1], userIds: ['2', 1], ownerUserId: '2', user_code: '1' },
        { id: 2, userId: '2', tagIds: ['x', '1'], userIds: [], ownerUserId: null, user_code: '2' },
      ],
      odd: [{ id: 1, userId: '01', user: '1' }],
    }
    await using engine = await createEngine({ ...fromJson(data) })
    assert.deepEqual(await get(engine, '/v1/posts'), [
      { id: 1, userId: 1, tagIds: ['1'], userIds: [2, 1], ownerUserId: 2, user_code: '1' },
      { id: 2, userId: 2, tagIds: ['x', '1'], userIds: [], ownerUserId: null, user_code: '2' },
    ])
    assert.deepEqual(await get(engine, '/v1/posts?userId=1&user.id=1&attributes=id'), [{ id: 1 }])
    assert.deepEqual(await get(engine, '/v1/odd'), data.odd)
    assert.equal(engine.notes[0], 'posts.userId has strings, and the IDs of users are integers, so it has integers here.')
    assert.equal(engine.notes[1], 'posts.tagIds has integers, and the IDs of tags are strings, so it has strings here.')
  })

  it('shows an object without an ID that the data do not have, and lets an empty one learn', async () => {
    await using engine = await createEngine({ ...fromJson({ profile: { name: 'x', ownerId: 1 }, settings: {}, owners: [{ id: 1 }] }) })
    assert.deepEqual(await get(engine, '/v1/profile?expand=owner'), { name: 'x', ownerId: 1, owner: { id: 1 } })
    assert.deepEqual(records(await engine.handle('PATCH', '/v1/profile', '', { ownerId: null })), { name: 'x', ownerId: null })
    assert.deepEqual(records(await engine.handle('PATCH', '/v1/settings', '', { theme: 'dark' })), { theme: 'dark' })
    assert.equal((await engine.handle('GET', '/v1/profile/1')).status, 404)
  })
})
