/** Entities whose key is hidden: records are shown without it, and a note says so. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary().hidden(), name: p.string(), posts: () => p.oneToMany(Post).mappedBy('user') },
})
const Post = defineEntity({ name: 'Post', properties: { id: p.integer().primary(), user: () => p.manyToOne(User) } })

describeStores('a hidden key', () => {
  it('is noted, not shown, and found in paths and relations', async () => {
    await using engine = await createEngine({ entities: [User, Post] })
    assert.deepEqual(engine.notes, [
      'User: its key "id" is hidden: records are shown without it; paths and the IDs of relations have it all the same.',
    ])
    const created = await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', posts: [{}] })
    assert.equal(created.headers.location, '/v1/users/1')
    assert.deepEqual((await engine.handle('GET', '/v1/users/1')).body.user, { name: 'Ann', posts: [1] })
    assert.deepEqual((await engine.handle('GET', '/v1/posts')).body.posts, [{ id: 1, user: 1 }])
    assert.equal((await engine.handle('GET', '/v1/users', 'id=1')).status, 400)
  })
})
