/** Options of MikroORM that a config may have: the API reads and writes the same with each of them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineConfig, defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

function makeEntities(): object[] {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      nick: p.string().nullable(),
      profile: () => p.oneToOne(Profile).mappedBy('user').nullable(),
      posts: () => p.oneToMany(Post).mappedBy('user').orphanRemoval(),
    },
  })
  const Profile = defineEntity({
    name: 'Profile',
    properties: { id: p.integer().primary(), bio: p.string().nullable(), user: () => p.oneToOne(User).owner() },
  })
  const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.string().unique() } })
  const Post = defineEntity({
    name: 'Post',
    filters: { live: { name: 'live', cond: { hidden: false }, default: true } },
    properties: {
      id: p.integer().primary(),
      title: p.string(),
      hidden: p.boolean().default(false),
      meta: p.json().nullable(),
      user: () => p.manyToOne(User),
      tags: () => p.manyToMany(Tag).owner(),
    },
  })
  return [User, Profile, Tag, Post]
}

const REQUESTS: readonly (readonly [line: string, body?: unknown])[] = [
  [
    'POST /v1/users',
    { name: 'Ann', posts: [{ title: 'a', tags: [{ label: 'x' }], meta: { a: [1] } }, { title: 'b' }], profile: { bio: 'b' } },
  ],
  ['POST /v1/users', { name: 'Bob', nick: null }],
  ['PUT /v1/users/2', { nick: 'B', posts: [{ title: 'c' }] }],
  ['PUT /v1/users/2/posts', [{ title: 'd', tags: [1] }]],
  ['PUT /v1/posts/1', { user: 2, meta: { b: 1 } }],
  ['PUT /v1/posts/1', { title: null }],
  ['POST /v1/tags', { label: 'x' }],
  ['GET /v1/users?depth=2&sort=posts.desc'],
  ['GET /v1/posts?user.name=B*'],
  ['PUT /v1/users/1/profile', { bio: null }],
  ['DELETE /v1/users/2/posts?title=d'],
  ['DELETE /v1/users/1'],
  ['GET /v1/users?depth=2'],
  ['GET /v1/tags?depth=2'],
]

/** A subscriber has the unit of work write everything. */
async function answersWith(options: object): Promise<{ readonly answers: readonly unknown[]; readonly notes: readonly string[] }> {
  const config = defineConfig({ entities: makeEntities() as never, dbName: ':memory:', subscribers: [{ beforeUpdate() {} }], ...options })
  await using engine = await RestEngine.create({ config, clock: () => new Date(0) })
  const answers: unknown[] = []
  for (const [line, body] of REQUESTS) {
    const { status, body: answer } = await engine.send(line, body === undefined ? {} : { body })
    answers.push([line, status, answer])
  }
  return { answers, notes: engine.notes }
}

describe('options of MikroORM in a config', () => {
  it('change nothing of what requests read and write', async () => {
    const { answers } = await answersWith({})
    for (const [options, noted] of [
      [{ disableIdentityMap: true }, 'disableIdentityMap'],
      [{ disableTransactions: true }, 'disableTransactions'],
      [{ resultCache: { global: 5000 } }, 'resultCache.global'],
      [{ schemaGenerator: { skipTables: ['tag'], createForeignKeyConstraints: false } }, 'schemaGenerator'],
      [{ persistOnCreate: false }],
      [{ flushMode: 'commit' }],
      [{ populateWhere: 'infer', filtersOnRelations: false }],
      [{ validateRequired: false, processOnCreateHooksEarly: false }],
      [{ forceUndefined: true, initNullableProperties: true }],
      [{ batchSize: 1, useBatchInserts: false, useBatchUpdates: false }],
      [{ autoJoinOneToOneOwner: false, loadStrategy: 'select-in' }],
      [{ dataloader: true, forceEntityConstructor: true }],
      [{ serialization: { forceObject: true, includePrimaryKeys: false } }],
      [{ assign: { mergeObjectProperties: true, updateNestedEntities: false } }],
      [{ allowGlobalContext: true, contextName: 'shop', context: () => undefined }],
    ] as const) {
      const found = await answersWith(options)
      assert.deepEqual(found.answers, answers, JSON.stringify(options))
      if (noted === undefined) assert.deepEqual(found.notes, [])
      else assert.ok(found.notes.every(note => note.startsWith(`config.${noted}`)) && found.notes.length > 0, JSON.stringify(found.notes))
    }
  })

  it('are refused in "orm" where requests would not read or write what is stored', async () => {
    for (const [orm, name] of [
      [{ disableIdentityMap: true }, 'disableIdentityMap'],
      [{ disableTransactions: true }, 'disableTransactions'],
      [{ resultCache: { global: true } }, 'resultCache.global'],
    ] as const)
      await assert.rejects(RestEngine.create({ entities: makeEntities() as never, orm: orm as never }), {
        message: `RestEngine.create: "orm.${name}" is not possible: requests would not read or write what is stored.`,
      })
  })
})
